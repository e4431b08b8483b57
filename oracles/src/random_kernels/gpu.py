"""Runs the kernels of `cargo xtask kernels --write DIRECTORY` on a GPU, through the CUDA driver: python3 gpu.py DIRECTORY.

If there is a NAME.cubin, assembled from NAME.ptx by ptxas, it runs that: the assemblers of drivers are older.
"""

import ctypes
import pathlib
import sys

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
    return data.raw


# As `tensors.rs`: sizes, box, steps, swizzle (0 to 3: none, 32, 64, 128 bytes).
TENSORS = [
    ([64], [16], [1], 0),
    ([16, 4], [4, 4], [1, 1], 0),
    ([16, 4], [8, 4], [1, 1], 1),
    ([16, 4], [16, 3], [1, 1], 2),
    ([32, 2], [32, 3], [1, 1], 3),
    ([8, 8], [8, 6], [1, 2], 1),
    ([8, 2, 4], [4, 2, 3], [1, 1, 1], 0),
    ([4, 2, 2, 4], [4, 2, 1, 3], [1, 1, 1, 2], 0),
]


class TensorMap(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint8 * 256)]

    def at(self):
        """The driver wants maps at multiples of 64."""
        return ctypes.c_void_p((ctypes.addressof(self) + 63) & ~63)


def tensor_map(table, which):
    dims, boxed, steps, swizzle = TENSORS[which]
    rank, pitch, strides = len(dims), 4, []
    for size in dims[:-1]:
        pitch *= size
        strides.append(pitch)
    u64s = lambda values: (ctypes.c_uint64 * max(len(values), 1))(*values)
    u32s = lambda values: (ctypes.c_uint32 * len(values))(*values)
    result = TensorMap()
    # 2: words without a sign
    call("cuTensorMapEncodeTiled", result.at(), 2, rank, table, u64s(dims), u64s(strides), u32s(boxed), u32s(steps), 0, swizzle, 0, 0)
    return result


def run(directory, name, grid, x, y, n, tensor):
    """What the kernel leaves: the result, then the totals."""
    expected = (directory / f"{name}.bin").read_bytes()
    size = len(expected) - 16
    assembled = directory / f"{name}.cubin"
    image = assembled.read_bytes() if assembled.exists() else (directory / f"{name}.ptx").read_bytes() + b"\0"
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), image)
    call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
    blank = b"".join((i * 0x01014001 & 0xFFFFFFFF).to_bytes(4, "little") for i in range(size // 4))
    memory = [to_device(data) for data in (blank, (directory / "table.bin").read_bytes(), bytes(16))]
    values = memory + [ctypes.c_uint32(n)]
    maps = tensor_map(memory[1], tensor)
    places = [ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values] + [maps.at()]
    arguments = (ctypes.c_void_p * 5)(*places)
    call("cuLaunchKernel", function, grid, 1, 1, x, y, 1, 0, None, arguments, None)
    call("cuCtxSynchronize")
    found = to_host(memory[0], size) + to_host(memory[2], 16)
    for address in memory:
        call("cuMemFree_v2", address)
    call("cuModuleUnload", module)
    return found, expected


def main():
    directory = pathlib.Path(sys.argv[1])
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    wrong = 0
    kernels = (directory / "kernels.txt").read_text().split("\n")[:-1]
    for line in kernels:
        name, *numbers = line.split()
        found, expected = run(directory, name, *map(int, numbers))
        if found != expected:
            wrong += 1
            at = next(i for i in range(0, len(found), 4) if found[i : i + 4] != expected[i : i + 4])
            values = [hex(int.from_bytes(data[at : at + 4], "little")) for data in (found, expected)]
            print(f"{name}: thread {at // 160}, word {at // 4 % 40}: {values[0]} instead of {values[1]}")
    print(f"{wrong} of {len(kernels)} kernels do not leave what they should")
    sys.exit(wrong > 0)


main()
