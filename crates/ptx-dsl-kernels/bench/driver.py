"""The CUDA driver through ctypes: modules, launches and tensor maps, in the context and on the stream of torch."""

import ctypes

import torch

cuda = ctypes.CDLL("libcuda.so.1")
MAX_DYNAMIC_SHARED = 8
PROMOTION = 2
SWIZZLES = {32: 1, 64: 2, 128: 3}
CLUSTER, PROGRAMMATIC = 4, 6
ELEMENTS = {torch.uint8: 0, torch.float16: 6, torch.float32: 7, torch.bfloat16: 9, torch.float8_e4m3fn: 0}


class Value(ctypes.Union):
    _fields_ = [("pad", ctypes.c_char * 64), ("number", ctypes.c_int), ("sizes", ctypes.c_uint * 3)]


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", Value)]


class Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


def check(code):
    """Raises the error of a call."""
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"CUDA error {code}: {text.value and text.value.decode()}")


class Map:
    """A tensor map over a row-major matrix, or over several of them, with the swizzle of the box's width. `box` is innermost first."""

    def __init__(self, tensor, box):
        assert tensor.is_contiguous()
        swizzle = SWIZZLES[box[0] * tensor.element_size()]
        self.tensor = tensor
        self.memory = ctypes.create_string_buffer(128 + 64)
        self.address = (ctypes.addressof(self.memory) + 63) // 64 * 64
        sizes, width = list(reversed(tensor.shape)), tensor.element_size()
        steps, total = [], width
        for size in sizes[:-1]:
            total *= size
            steps.append(total)
        rank = len(sizes)
        check(cuda.cuTensorMapEncodeTiled(
            ctypes.c_void_p(self.address), ELEMENTS[tensor.dtype], rank, ctypes.c_void_p(tensor.data_ptr()),
            (ctypes.c_uint64 * rank)(*sizes), (ctypes.c_uint64 * max(rank - 1, 1))(*steps), (ctypes.c_uint32 * rank)(*box),
            (ctypes.c_uint32 * rank)(*[1] * rank), 0, swizzle, PROMOTION, 0))


class Kernel:
    """An entry of a cubin of that name."""

    def __init__(self, folder, name, shared=0):
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        image = (folder / f"{name}.cubin").read_bytes()
        torch.cuda.current_stream()
        check(cuda.cuModuleLoadData(ctypes.byref(module), image))
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, name.encode()))
        check(cuda.cuFuncSetAttribute(self.function, MAX_DYNAMIC_SHARED, shared))
        self.shared = shared

    def prepare(self, grid, block, arguments, programmatic=False, cluster=1):
        """A function that launches on torch's current stream. Arguments: tensors, maps, `ctypes` numbers."""
        kept = []
        addresses = []
        for argument in arguments:
            if isinstance(argument, Map):
                addresses.append(argument.address)
                kept.append(argument)
                continue
            value = ctypes.c_uint64(argument.data_ptr()) if isinstance(argument, torch.Tensor) else argument
            kept += [value, argument]
            addresses.append(ctypes.addressof(value))
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        attributes = (Attribute * 2)()
        count = 0
        if programmatic:
            attributes[count].id, attributes[count].value.number = PROGRAMMATIC, 1
            count += 1
        if cluster > 1:
            attributes[count].id, attributes[count].value.sizes = CLUSTER, (cluster, 1, 1)
            count += 1
        config = Config(tuple(grid), tuple(block), self.shared, None, attributes, count)

        def launch(_kept=kept):
            config.stream = torch.cuda.current_stream().cuda_stream
            check(cuda.cuLaunchKernelEx(ctypes.byref(config), self.function, pointers, None))

        return launch
