"""Runs the kernels of `cargo xtask hardware --write DIRECTORY` on a GPU: python3 gpu.py DIRECTORY RESULTS.

It runs NAME.O0.cubin and NAME.O3.cubin, assembled from NAME.ptx by ptxas. RESULTS/digests.txt gets digests of the results where both
agree. Results that differ between the two, or from the host, are in different.bin, listed in different.txt. near.txt gets the results
of approximations.
"""

import ctypes
import pathlib
import sys

import numpy as np

PARTS = 4
BLOCK = 128
LEVELS = ("O3", "O0")

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    if status:
        raise RuntimeError(f"{name}: {status}")


def to_device(data):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
    call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
    return address


def to_host(address, size):
    data = ctypes.create_string_buffer(size)
    call("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(size))
    return np.frombuffer(data.raw, dtype="<u8")


def digest(results, first):
    """What `digest` of main.txt gives for results[output, thread], of which the first has this number."""
    output, thread = np.indices(results.shape, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = results ^ ((thread + np.uint64(first)) << np.uint64(3) | output) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        total = np.sum(z ^ z >> np.uint64(31), dtype=np.uint64)
    return int((total ^ total >> np.uint64(32)) & np.uint64(0xFFFFFFFF))


def run(image, name, operands, count, total):
    """The results of a kernel, results[output, thread]."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), image)
    call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
    memory = [to_device(operands), to_device(bytes(count * 8)), to_device(bytes(count * 8 * total))]
    arguments = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in memory))
    call("cuLaunchKernel", function, count // BLOCK, 1, 1, BLOCK, 1, 1, 0, None, arguments, None)
    call("cuCtxSynchronize")
    results = to_host(memory[2], count * 8 * total).reshape(total, count)
    for address in memory:
        call("cuMemFree_v2", address)
    call("cuModuleUnload", module)
    return results


def main():
    directory, to = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    to.mkdir(parents=True, exist_ok=True)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    host = {}
    for line in (directory / "host.txt").read_text().splitlines():
        name, form, *digests = line.split()
        host[name, int(form)] = [int(d, 16) for d in digests]
    listed, different = open(to / "different.txt", "w"), open(to / "different.bin", "wb")
    digests, near = open(to / "digests.txt", "w"), open(to / "near.txt", "w")
    wrong = forms = 0
    for line in (directory / "kernels.txt").read_text().splitlines():
        name, set_name, count, *outputs = line.split()
        count, outputs = int(count), [int(n) for n in outputs]
        operands = (directory / f"{set_name}.bin").read_bytes()
        images = [(directory / f"{name}.{level}.cubin").read_bytes() for level in LEVELS]
        results = [run(image, name, operands, count, sum(outputs)) for image in images]
        part = count // PARTS
        at = 0
        for form, n in enumerate(outputs):
            own = [r[at : at + n] for r in results]
            at += n
            forms += 1
            if name.startswith("near"):
                print(name, form, *(f"{v:x}" for v in own[0][0]), file=near)
                continue
            parts = [slice(p * part, (p + 1) * part) for p in range(PARTS)]
            found = [[digest(r[:, p], p.start) for p in parts] for r in own]
            if found[0] == found[1]:
                print(name, form, *(f"{d:08x}" for d in found[0]), file=digests)
            wrong += found[0] != host[name, form] or found[1] != host[name, form]
            for level, r, all_digests in zip(LEVELS, own, found):
                for p, d in enumerate(all_digests):
                    if d != host[name, form][p]:
                        print(name, form, p, level, n, file=listed)
                        different.write(np.ascontiguousarray(r[:, parts[p]]).tobytes())
    print(f"{wrong} of {forms} forms give something else")


main()
