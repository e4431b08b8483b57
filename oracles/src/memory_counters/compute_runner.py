"""Launches the kernels that compute.py has written: python3 compute_runner.py MODULE PATTERN, beside `MODULE.cubin` and `MODULE.json`.
Only kernels whose name has a match of the pattern."""

import ctypes
import json
import re
import sys

from runner import allocate, call, load


def tensor_map(buffer):
    """Rows of 64 elements of 2 bytes, 500 of them; a box of 64 by 16 with a swizzle of 128 bytes."""
    memory = (ctypes.c_ubyte * 256)()
    address = (ctypes.addressof(memory) + 63) // 64 * 64
    sizes, strides = (ctypes.c_uint64 * 2)(64, 500), (ctypes.c_uint64 * 1)(128)
    box, steps = (ctypes.c_uint32 * 2)(64, 16), (ctypes.c_uint32 * 2)(1, 1)
    # two dimensions of 16-bit integers, no interleave, a swizzle of 128 bytes, no promotion, zeros outside
    call("cuTensorMapEncodeTiled", ctypes.c_void_p(address), 1, 2, buffer, sizes, strides, box, steps, 0, 3, 0, 0)
    return (ctypes.c_ubyte * 128)(*memory[address - ctypes.addressof(memory) :][:128])


def main(name, pattern):
    module = load(f"{name}.cubin")
    buffer, out = allocate(1 << 16), allocate(1 << 16)
    values = (buffer, out, tensor_map(buffer))
    arguments = (ctypes.c_void_p * 3)(*[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
    for kernel, ctas, threads, _ in json.load(open(f"{name}.json")):
        if not re.search(pattern, kernel):
            continue
        function = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        call("cuLaunchKernel", function, ctas, 1, 1, threads, 1, 1, 0, None, arguments, None)
        call("cuCtxSynchronize")


main(sys.argv[1], sys.argv[2])
