#===- onnxruntime_peer.py - onnxruntime -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""onnxruntime's CPU provider, inputs and outputs bound once."""
import numpy as np
import onnxruntime as ort

from harness import problem
from peers import onnx_model


class OnnxRuntime:
    version = ort.__version__

    def __init__(self, threads, folder):
        self.options = ort.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 3

    def load(self, row, request):
        self.p = problem.describe(row)
        self.session = ort.InferenceSession(onnx_model.build(self.p), self.options,
                                            providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        for name, array in self.p.inputs.items():
            self.binding.bind_cpu_input(name, np.ascontiguousarray(array))
        outputs = self.session.run(None, {n: np.ascontiguousarray(a)
                                          for n, a in self.p.inputs.items()})
        self.out = ort.OrtValue.ortvalue_from_numpy(outputs[0])
        self.binding.bind_ortvalue_output("y", self.out)

    def call(self):
        self.session.run_with_iobinding(self.binding)

    def values(self):
        self.call()
        return self.p.restore(self.out.numpy())
