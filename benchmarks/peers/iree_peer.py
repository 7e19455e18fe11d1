#===- iree_peer.py - IREE -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""IREE: the row's own module, weights as constants, compiled for this CPU at O3
with data tiling; one thread runs local-sync, more local-task."""
import hashlib
import os
import shutil
import subprocess
import sys

import numpy as np

import iree.runtime as rt
import iree.compiler.version as version

from harness import values

FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3",
         "--iree-opt-data-tiling"]
TIMEOUT = 120


class Iree:
    version = getattr(version, "VERSION", "")

    def __init__(self, threads, folder):
        self.folder = os.path.join(folder, "iree")
        os.makedirs(self.folder, exist_ok=True)
        beside = os.path.join(os.path.dirname(sys.executable), "iree-compile")
        self.compiler = beside if os.path.exists(beside) else shutil.which("iree-compile")
        if not self.compiler:
            raise RuntimeError("no iree-compile")
        if threads > 1:
            rt.flags.parse_flags(f"--task_topology_max_group_count={threads}")
        self.config = rt.Config("local-sync" if threads == 1 else "local-task")

    def compile(self, row, arrays):
        if row.kind == "network":  # hundreds of megabytes of text otherwise
            constants = {}
        else:
            constants = {a.name: arrays[a.name] for a in row.args
                         if a.role == "weight"}
        self.held = set(constants)
        text = row.text(constants, destination=False)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        stem = os.path.join(self.folder, f"{row.name}.{digest}")
        if os.path.exists(stem + ".failed"):
            raise RuntimeError(open(stem + ".failed").read())
        if not os.path.exists(stem + ".vmfb"):
            with open(stem + ".mlir", "w") as file:
                file.write(text)
            reason = ""
            try:
                done = subprocess.run([self.compiler, stem + ".mlir", *FLAGS, "-o",
                                       stem + ".part"], text=True, capture_output=True,
                                      timeout=TIMEOUT)
                if done.returncode:
                    reason = "iree-compile: " + (done.stderr.strip().split("\n")[0][-200:])
            except subprocess.TimeoutExpired:
                reason = f"iree-compile took more than {TIMEOUT} s"
            os.remove(stem + ".mlir")
            if reason:
                with open(stem + ".failed", "w") as file:
                    file.write(reason)
                raise RuntimeError(reason)
            os.replace(stem + ".part", stem + ".vmfb")
        return stem + ".vmfb"

    def load(self, row, request):
        arrays = values.arguments(row)
        path = self.compile(row, arrays)
        self.context = rt.SystemContext(config=self.config)
        module = rt.VmModule.mmap(self.config.vm_instance, path)
        self.context.add_vm_module(module)
        self.function = module.lookup_function("main")
        self.inputs = [rt.asdevicearray(self.config.device,
                                        np.ascontiguousarray(arrays[a.name]))
                       for a in row.args
                       if a.role != "out" and a.name not in self.held]
        self.row = row
        self.call()

    def call(self):
        inputs = rt.VmVariantList(len(self.inputs))
        for array in self.inputs:
            inputs.push_ref(array._buffer_view)
        self.outputs = rt.VmVariantList(1)
        self.context.vm_context.invoke(self.function, inputs, self.outputs)

    def values(self):
        self.call()
        view = self.outputs.get_as_ref(0).deref(rt.HalBufferView)
        out = rt.DeviceArray(self.config.device, view).to_host()
        return np.array(out).reshape(self.row.result_shape)
