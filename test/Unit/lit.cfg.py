# The GoogleTest binaries, each test case of theirs a test here.
import os

import lit.formats

config.name = "ANSOR-Unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = os.path.join(config.ansor_obj_root, "unittests")
config.test_exec_root = config.test_source_root
# The workers that measuring starts.
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.ansor_obj_root, "bin"), os.environ["PATH"]])
