#===- openvino_peer.py - OpenVINO -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""OpenVINO's CPU plugin, in 32-bit floats, for latency."""
import openvino as ov

from harness import problem
from peers import onnx_model


class OpenVino:
    version = ov.__version__.split("-")[0]

    def __init__(self, threads, folder):
        self.core = ov.Core()
        self.config = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
                       "PERFORMANCE_HINT": "LATENCY",
                       "INFERENCE_PRECISION_HINT": "f32"}

    def load(self, row, request):
        self.p = problem.describe(row)
        config = dict(self.config)
        if {a.dtype for a in row.args} & {"f16", "bf16"}:
            del config["INFERENCE_PRECISION_HINT"]
        model = self.core.read_model(onnx_model.build(self.p))
        self.request = self.core.compile_model(model, "CPU", config).create_infer_request()
        for name, array in self.p.inputs.items():
            tensor = ov.Tensor(array.copy(order="C"), shared_memory=False)
            self.request.set_tensor(name, tensor)
        self.call = self.request.infer

    def values(self):
        self.request.infer()
        return self.p.restore(self.request.get_output_tensor(0).data.copy())
