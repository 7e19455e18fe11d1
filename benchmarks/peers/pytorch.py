#===- pytorch.py - PyTorch: eager, channels last, compiled -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""PyTorch, as it is called: eager, eager with channels last, and compiled by
inductor with frozen weights."""
import os

import numpy as np
import torch
import torch.nn.functional as F

from harness import problem


def tensor(array):
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(np.ascontiguousarray(array).view(np.int16)).view(
            torch.bfloat16)
    return torch.from_numpy(np.ascontiguousarray(array))


class Network(torch.nn.Module):
    """A problem as a module, its weights as parameters."""

    def __init__(self, p):
        super().__init__()
        self.p, self.a = p.op, p.attributes
        for name, array in p.weights.items():
            self.register_buffer("p_" + name, tensor(array))
        if self.a.get("ep") == "bn_relu":
            self.register_buffer("mean", -self.p_bias)
            self.register_buffer("variance", torch.full_like(self.p_bias, 1 - 1e-5))

    def forward(self, *inputs):
        return getattr(self, self.p)(*inputs)

    def conv(self, x):
        a = self.a
        function = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[a["rank"]]
        bias = self.p_bias if a["ep"] == "bias_relu" else None
        y = function(x, self.p_w, bias, a["stride"], a["pad"], a["dilation"],
                     a["groups"])
        if a["ep"] == "bn_relu":
            y = F.batch_norm(y, self.mean, self.variance, self.p_scale, self.p_offset)
        return F.relu(y) if a["ep"] else y

    def deconv(self, x):
        return F.conv_transpose2d(x, self.p_w, None, self.a["stride"], self.a["pad"])

    def matmul(self, a, b=None):
        if b is None:
            b = self.p_b
        if a.dtype == torch.int8:
            return torch._int_mm(a, b)
        ep = self.a["ep"]
        if not ep:
            return torch.matmul(a, b)
        y = torch.addmm(self.p_bias, a, b)
        return F.relu(y) if ep == "bias_relu" else F.gelu(y)

    def norm(self, x):
        return torch.linalg.vector_norm(x, dim=(1, 2))

    def softmax(self, x):
        return F.softmax(x, -1)

    def layernorm(self, x):
        return F.layer_norm(x, x.shape[-1:], self.p_gamma, self.p_beta, 1e-5)

    def scores(self, q, k):
        q, k = q.transpose(-3, -2), k.transpose(-3, -2)
        return F.softmax(torch.matmul(q, k.transpose(-2, -1)), -1)


class Eager:
    channels_last = False
    version = torch.__version__

    def __init__(self, threads, folder):
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.folder = folder

    def load(self, row, request):
        self.p = problem.describe(row)
        if self.p.op == "network":
            import networks
            with torch.enable_grad():
                network, _ = networks.build(row.name)
        else:
            network = Network(self.p).eval()
        self.inputs = [tensor(a) for a in self.p.inputs.values()]
        if self.channels_last:
            if (self.p.op not in ("conv", "deconv", "network")
                    or self.inputs[0].dim() < 4):
                raise ValueError("no channels")
            form = (torch.channels_last if self.inputs[0].dim() == 4
                    else torch.channels_last_3d)
            network = network.to(memory_format=form)
            self.inputs = [x.to(memory_format=form) for x in self.inputs]
        self.network = self.prepare(network)

    def prepare(self, network):
        return network

    def call(self):
        self.result = self.network(*self.inputs)

    def values(self):
        self.call()
        result = self.result
        if result.dtype in (torch.bfloat16, torch.float16):
            result = result.float()
        return self.p.restore(result.contiguous().numpy())


class ChannelsLast(Eager):
    channels_last = True


class Compiled(Eager):

    def __init__(self, threads, folder):
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR",
                              os.path.join(folder, "inductor"))
        super().__init__(threads, folder)
        import torch._inductor.config as config
        config.freezing = True

    def prepare(self, network):
        torch._dynamo.reset()
        return torch.compile(network)
