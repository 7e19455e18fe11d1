#===- machine.py - What the machine can do -*- python -*-===#
#
# Part of ansor-mlir, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Measures the peak of multiply-adds and the bandwidth of each level of memory
on the spot, and gives the roofline of a row."""
import ctypes
import glob
import os
import subprocess
import threading

HERE = os.path.dirname(os.path.abspath(__file__))


def build_timing(folder, cc="cc"):
    """Compiles timing.c into the folder."""
    source, output = os.path.join(HERE, "timing.c"), os.path.join(folder, "timing.so")
    if not os.path.exists(output) or os.path.getmtime(output) < os.path.getmtime(source):
        command = [cc, "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC",
                   source, "-o", output]
        if os.uname().machine == "x86_64":
            command.insert(1, "-mprefer-vector-width=512")
        subprocess.run(command, check=True)
    return output


def cache_sizes():
    """Bytes of each data cache of the first core, from the first level."""
    sizes = {}
    for path in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*"):
        read = lambda name: open(os.path.join(path, name)).read().strip()
        if read("type") == "Instruction":
            continue
        text = read("size")
        scale = {"K": 1 << 10, "M": 1 << 20}.get(text[-1], 1)
        sizes[int(read("level"))] = int(text.rstrip("KM")) * scale
    return [sizes[level] for level in sorted(sizes)] or [32 << 10, 1 << 20, 16 << 20]


def cpu_name():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return os.uname().machine


def measure(folder, threads, seconds=0.3):
    """{"flops", "levels": [(bytes, bytes/s)]}: levels with the working set of
    all threads that they serve. Threads run together; each is timed by its
    processor time, so that other processes don't count."""
    library = ctypes.CDLL(build_timing(folder))
    library.bench_fma.restype = library.bench_read.restype = ctypes.c_double
    library.bench_fma.argtypes = [ctypes.c_double, ctypes.c_int]
    library.bench_read.argtypes = [ctypes.c_double, ctypes.c_int64, ctypes.c_int]

    def together(function, *args):
        results = [0.0] * threads

        def work(i):
            results[i] = function(seconds, *args, 2)
        workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return sum(results)
    flops = max(together(library.bench_fma) for _ in range(3))
    caches = cache_sizes()
    levels = []
    for level, size in enumerate(caches):
        shared = level == len(caches) - 1 and level > 1
        each = size // 2 // (threads if shared else 1) // 1024 * 1024
        each = min(each, 8 << 20)  # the last one may be shared with others
        rate = max(together(library.bench_read, each) for _ in range(3))
        levels.append([size if shared else size * threads, rate])
    each = max(64 << 20, 2 * caches[-1]) // threads
    levels.append([1 << 62, max(together(library.bench_read, each) for _ in range(2))])
    return {"cpu": cpu_name(), "threads": threads, "flops": flops, "levels": levels}


def roofline(row, machine):
    """Seconds that the row takes at least: its operations at the peak, or its
    bytes once from the level that holds them (not from the first, as arguments
    come from elsewhere)."""
    levels = machine["levels"][1:] or machine["levels"]
    rate = next(r for size, r in levels if row.bytes <= size)
    return max(row.flops / machine["flops"], row.bytes / rate)
