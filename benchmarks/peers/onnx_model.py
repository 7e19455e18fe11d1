#===- onnx_model.py - Rows as ONNX models -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""A problem as an ONNX model, its weights as initializers."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16,
         "bfloat16": TensorProto.BFLOAT16, "int8": TensorProto.INT8,
         "int32": TensorProto.INT32}


def build(p):
    if p.op == "network":
        return open(p.attributes["stem"] + ".onnx", "rb").read()
    nodes, initializers = [], []
    count = 0

    def add(op, *inputs, **attributes):
        nonlocal count
        count += 1
        nodes.append(helper.make_node(op, list(inputs), [f"v{count}"], **attributes))
        return f"v{count}"

    def constant(name, array):
        initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name
    inputs = [helper.make_tensor_value_info(name, TYPES[a.dtype.name], a.shape)
              for name, a in p.inputs.items()]
    w = {name: constant("w_" + name, a) for name, a in p.weights.items()}
    a = p.attributes
    ep = a.get("ep", "")
    result_type = TensorProto.FLOAT
    if p.op == "conv":
        operands = ["x", w["w"]] + ([w["bias"]] if ep else [])
        y = add("Conv", *operands, strides=a["stride"], dilations=a["dilation"],
                group=a["groups"], pads=a["pad"] * 2)
        if ep == "bn_relu":
            ones = np.ones_like(p.weights["bias"])
            y = add("BatchNormalization", y, w["scale"], w["offset"],
                    constant("mean", 0 * ones), constant("variance", ones * (1 - 1e-5)),
                    epsilon=1e-5)
        if ep:
            y = add("Relu", y)
    elif p.op == "deconv":
        y = add("ConvTranspose", "x", w["w"], strides=[a["stride"]] * 2,
                pads=[a["pad"]] * 4)
    elif p.op == "matmul":
        left, right = a["types"]
        b = w.get("b", "b")
        if left == "i8":
            y, result_type = add("MatMulInteger", "a", b), TensorProto.INT32
        elif ep:
            y = add("Gemm", "a", b, w["bias"])
            y = add("Relu", y) if ep == "bias_relu" else add("Gelu", y)
        else:
            y = add("MatMul", "a", b)
            result_type = TYPES[p.inputs["a"].dtype.name]
    elif p.op == "norm":
        y = add("ReduceL2", "x", constant("axes", np.array([1, 2], np.int64)),
                keepdims=0)
    elif p.op == "softmax":
        y = add("Softmax", "x", axis=-1)
    elif p.op == "layernorm":
        y = add("LayerNormalization", "x", w["gamma"], w["beta"], axis=-1, epsilon=1e-5)
    elif p.op == "scores":
        lead = list(range(a["rank"] - 3))
        b = len(lead)
        q = add("Transpose", "q", perm=[*lead, b + 1, b, b + 2])
        k = add("Transpose", "k", perm=[*lead, b + 1, b + 2, b])
        y = add("Softmax", add("MatMul", q, k), axis=-1)
    else:
        raise ValueError(f"no ONNX form of {p.op}")
    nodes[-1].output[0] = "y"
    graph = helper.make_graph(
        nodes, "row", inputs,
        [helper.make_tensor_value_info("y", result_type, None)], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    return model.SerializeToString()
