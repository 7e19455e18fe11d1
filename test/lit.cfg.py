import os
import platform
import shutil
import sys

import lit.formats

config.name = "ANSOR"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.ansor_obj_root, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.ansor_obj_root, "bin"), config.llvm_tools_dir,
     os.environ["PATH"]])
config.environment["OMP_NUM_THREADS"] = "2"
config.environment["ANSOR_TOOLS"] = os.path.join(config.ansor_obj_root, "bin")
config.substitutions.append(("%ansor_src", config.ansor_src_root))
config.substitutions.append(("%ansor_obj", config.ansor_obj_root))
config.substitutions.append(("%ansor_lib", os.path.join(config.ansor_obj_root, "lib")))
config.substitutions.append(("%llvm_lib", config.llvm_lib_dir))
config.substitutions.append(("%models", os.path.join(config.ansor_src_root, "test", "Inputs", "models")))
config.substitutions.append(("%kernels", os.path.join(config.ansor_src_root, "test", "Inputs", "kernels")))
config.substitutions.append(("%bugs", os.path.join(config.ansor_src_root, "test", "Inputs", "bugs")))
config.substitutions.append(("%plugin", os.path.join(config.ansor_obj_root, "lib", "AnsorPlugin.so")))
config.substitutions.append(("%package_flags", config.package_flags))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%check_values", sys.executable + " " + os.path.join(config.ansor_src_root, "test", "Inputs", "check_values.py")))
# Random candidates a task: -Dsamples=20 checks more of them, -Dseed=2 others;
# -Dthreads=2 runs them in parallel.
config.substitutions.append(("%sample_and_check", " ".join([
    sys.executable,
    os.path.join(config.ansor_src_root, "test", "Inputs", "sample_and_check.py"),
    "--samples=" + lit_config.params.get("samples", "3"),
    "--seed=" + lit_config.params.get("seed", "1"),
    "--threads=" + lit_config.params.get("threads", "1")])))
# -Dlong runs what takes minutes, too.
if "long" in lit_config.params:
    config.available_features.add("long")

# A tool that was left out of the build takes its tests along.
for tool in ("ansor-tune", "ansor-run", "ansor-builder", "ansor-runner"):
    if os.path.exists(os.path.join(config.ansor_obj_root, "bin", tool)):
        config.available_features.add(tool)

# Objects for Arm run in an emulator; Debian's qemu-user, g++-aarch64-linux-gnu
# and libc6-arm64-cross have what it takes.
if (all(shutil.which(tool) for tool in ("qemu-aarch64", "aarch64-linux-gnu-g++"))
        and os.path.isdir("/usr/aarch64-linux-gnu")):
    config.available_features.add("arm-emulator")

config.available_features.add(platform.machine() + "-host")
