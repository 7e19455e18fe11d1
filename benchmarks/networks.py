#!/usr/bin/env python3
#===- networks.py - The networks that are measured ------------*- python -*-===//
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Makes the networks of the benchmark, with seeded random weights, batch 1:

    networks.py --out DIR [NAME…]

writes for each DIR/<name>.mlir (linalg on tensors by torch-mlir, weights lifted
to arguments), .json (arguments, operations), .npz (the arguments' values) and
.onnx (for peers that read that). Needs torch, torchvision, transformers,
torch-mlir and onnx in this interpreter; run.py only needs the files.
"""
import argparse
import json
import os

NAMES = ["resnet50", "mobilenet_v2", "bert_base", "dcgan", "resnet3d_18"]
SEED = 0


def build(name):
    """The network in evaluation mode, and its inputs."""
    import torch
    from torch import nn
    torch.manual_seed(SEED)
    if name in ("resnet50", "mobilenet_v2"):
        import torchvision
        network = getattr(torchvision.models, name)(weights=None)
        inputs = [torch.randn(1, 3, 224, 224)]
    elif name == "resnet3d_18":
        import torchvision
        network = torchvision.models.video.r3d_18(weights=None)
        inputs = [torch.randn(1, 3, 16, 112, 112)]
    elif name == "bert_base":
        from transformers import BertConfig, BertModel
        config = BertConfig(attn_implementation="eager")

        class Encoder(nn.Module):
            """Hidden states of the last layer; no mask."""

            def __init__(self):
                super().__init__()
                model = BertModel(config, add_pooling_layer=False)
                self.embeddings, self.layers = model.embeddings, model.encoder.layer

            def forward(self, ids):
                hidden = self.embeddings(ids)
                for layer in self.layers:
                    hidden = layer(hidden)
                    hidden = hidden[0] if isinstance(hidden, tuple) else hidden
                return hidden
        network = Encoder()
        inputs = [torch.randint(0, config.vocab_size, (1, 128))]
    elif name == "dcgan":
        layers = [nn.ConvTranspose2d(100, 512, 4, 1, 0, bias=False)]
        for ci, co in ((512, 256), (256, 128), (128, 64)):
            layers += [nn.BatchNorm2d(ci), nn.ReLU(),
                       nn.ConvTranspose2d(ci, co, 4, 2, 1, bias=False)]
        layers += [nn.BatchNorm2d(64), nn.ReLU(),
                   nn.ConvTranspose2d(64, 3, 4, 2, 1, bias=False), nn.Tanh()]
        network = nn.Sequential(*layers)
        inputs = [torch.randn(1, 100, 1, 1)]
    else:
        raise SystemExit(f"no network '{name}': one of {', '.join(NAMES)}")
    # Statistics that keep values in range, as training would.
    for module in network.modules():
        if isinstance(module, (nn.BatchNorm2d, nn.BatchNorm3d)):
            module.momentum = None
    network.train()
    if any(isinstance(m, (nn.BatchNorm2d, nn.BatchNorm3d)) for m in network.modules()):
        with torch.no_grad():
            network(torch.cat([inputs[0], inputs[0].flip(-1) * 0.5], 0))
    return network.eval(), inputs


def export(name, folder):
    import numpy as np
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    from torch_mlir import fx
    network, inputs = build(name)
    state = {n: t for n, t in [*network.named_parameters(), *network.named_buffers()]
             if t.is_floating_point()}
    names = list(state)
    weights = [t.detach().clone() for t in state.values()]

    class Lifted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = [network]

        def forward(self, *args):
            values = dict(zip(names, args[:len(names)]))
            return torch.func.functional_call(self.hidden[0], values,
                                              tuple(args[len(names):]))
    stem = os.path.join(folder, name)
    with torch.no_grad():
        expected = network(*inputs)
        with FlopCounterMode(display=False) as counter:
            network(*inputs)
        module = fx.export_and_import(Lifted(), *weights, *inputs,
                                      output_type="linalg-on-tensors",
                                      func_name="main")
        with open(stem + ".mlir", "w") as file:
            file.write(str(module))
        torch.onnx.export(network, tuple(inputs), stem + ".onnx", dynamo=False,
                          input_names=[f"x{i}" for i in range(len(inputs))],
                          output_names=["y"], opset_version=17)
    dtypes = {"float32": "f32", "int64": "i64"}
    arrays = [t.numpy() for t in [*weights, *inputs]]
    np.savez(stem + ".npz", *arrays, expected=expected.numpy())
    with open(stem + ".json", "w") as file:
        json.dump({"flops": counter.get_total_flops(), "result": list(expected.shape),
                   "args": [[f"arg{i}", list(a.shape), dtypes[a.dtype.name],
                             "weight" if i < len(weights) else "data"]
                            for i, a in enumerate(arrays)]}, file)


class Network:
    """What operators.py's kinds give, from the files."""

    def __init__(self, row):
        self.stem = row.sizes["stem"]
        facts = json.load(open(self.stem + ".json"))
        from operators import Argument
        self.args = [Argument(n, tuple(s), d, r) for n, s, d, r in facts["args"]]
        self.flops, self.result_shape = facts["flops"], tuple(facts["result"])

    def text(self, constants, destination):
        return open(self.stem + ".mlir").read()


def rows(folder):
    from operators import Row
    return [Row(n, "network", {"stem": os.path.join(folder, n)}) for n in NAMES
            if os.path.exists(os.path.join(folder, n + ".json"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("names", nargs="*", default=[], metavar="NAME",
                        help="of " + ", ".join(NAMES))
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    for name in args.names or NAMES:
        export(name, args.out)
        print(name, flush=True)


if __name__ == "__main__":
    main()
