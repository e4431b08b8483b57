"""Runs the kernels that `MATRIX_WRITE=DIRECTORY cargo test --test matrix` wrote, assembled as mN.cubin: gpu.py DIRECTORY RESULTS.

RESULTS/results0.bin and so on get what they store, in the order of list.txt. Each module runs in a process of its own, so that one that
fails leaves the others alone.
"""

import ctypes
import multiprocessing
import pathlib
import sys

CLASSES = 8
PART = 12 << 20

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    if status:
        raise RuntimeError(f"{name}: {status}")


def to_device(data):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(len(data), 8)))
    call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
    return address


def module(job):
    """The results of the kernels of a module."""
    directory, name, kernels = job
    results = []
    try:
        device, context, image = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        call("cuInit", 0)
        call("cuDeviceGet", ctypes.byref(device), 0)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        call("cuCtxSetCurrent", context)
        call("cuModuleLoadData", ctypes.byref(image), (directory / f"{name}.cubin").read_bytes())
        pools = {}
        for kernel, threads, outputs, shared, *names in kernels:
            for pool in names:
                if pool not in pools:
                    pools[pool] = to_device(bytes(8) if pool == "-" else (directory / f"{pool}.pool").read_bytes())
            size = CLASSES * threads * outputs * 4
            out, function = to_device(bytes(size)), ctypes.c_void_p()
            call("cuModuleGetFunction", ctypes.byref(function), image, kernel.encode())
            call("cuFuncSetAttribute", function, 8, shared)  # the most dynamic shared memory
            given = [pools[pool] for pool in names] + [out]
            arguments = (ctypes.c_void_p * len(given))(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in given))
            call("cuLaunchKernel", function, CLASSES, 1, 1, threads, 1, 1, shared, None, arguments, None)
            call("cuCtxSynchronize")
            data = ctypes.create_string_buffer(size)
            call("cuMemcpyDtoH_v2", data, out, ctypes.c_size_t(size))
            call("cuMemFree_v2", out)
            results.append(data.raw)
    except Exception as error:
        print(name, len(results), error)
    for kernel, threads, outputs, *_ in kernels[len(results):]:
        results.append(bytes(CLASSES * threads * outputs * 4))
    return b"".join(results)


def main():
    directory, to = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    to.mkdir(parents=True, exist_ok=True)
    modules = {}
    for line in (directory / "list.txt").read_text().splitlines():
        name, kernel, threads, outputs, shared, *names = line.split(" ")[:11]
        modules.setdefault(name, []).append((kernel, int(threads), int(outputs), int(shared), *names))
    jobs = [(directory, name, kernels) for name, kernels in modules.items()]
    with multiprocessing.get_context("spawn").Pool(8, maxtasksperchild=1) as workers:
        results = b"".join(workers.imap(module, jobs))
    for i in range(0, len(results), PART):
        (to / f"results{i // PART}.bin").write_bytes(results[i : i + PART])
    print(f"{len(results)} bytes of {sum(map(len, modules.values()))} kernels")


if __name__ == "__main__":
    main()
