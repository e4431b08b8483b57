"""Launches the kernels that make.py has written: python3 runner.py LAUNCHES.json SECONDS, beside `kernels.cubin`. Ends after some seconds."""

import ctypes
import json
import sys
import time

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    if status:
        raise SystemExit(f"{name}: {status}")


def allocate(size):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    call("cuMemsetD8_v2", address, ctypes.c_ubyte(0), ctypes.c_size_t(size))
    return address


def load(path):
    """The module of a file, on the first GPU."""
    device, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoad", ctypes.byref(module), path.encode())
    return module


def main(launches, seconds):
    end = time.time() + seconds
    module = load("kernels.cubin")
    offsets, buffer, out = allocate(128), allocate(1 << 16), allocate(1 << 16)
    functions, done = {}, 0
    for name, lanes, mask in launches:
        if time.time() > end:
            break
        if name not in functions:
            functions[name] = ctypes.c_void_p()
            call("cuModuleGetFunction", ctypes.byref(functions[name]), module, name.encode())
        call("cuMemcpyHtoD_v2", offsets, (ctypes.c_uint32 * 32)(*lanes), ctypes.c_size_t(128))
        values = (offsets, buffer, out, ctypes.c_uint32(mask))
        arguments = (ctypes.c_void_p * 4)(*[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
        call("cuLaunchKernel", functions[name], 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
        call("cuCtxSynchronize")
        done += 1
    print(done, "of", len(launches), "launches", file=sys.stderr)


if __name__ == "__main__":
    main(json.load(open(sys.argv[1])), float(sys.argv[2]))
