"""Runs the cases of `cases.txt` on a GPU (sm_90a) with the driver: python3 run.py RESULTS

Writes for each case the 4 KiB that a load leaves in shared memory, or the bytes of the tensor after a store or reduction.
"""
import ctypes, os, struct, sys

TYPES = dict(u8=0, u16=1, u32=2, s32=3, u64=4, s64=5, f16=6, f32=7, f64=8, bf16=9, f32ftz=10, tf32=11, tf32ftz=12)
SIZES = dict(u8=1, u16=2, u32=4, s32=4, u64=8, s64=8, f16=2, f32=4, f64=8, bf16=2, f32ftz=4, tf32=4, tf32ftz=4)
FLOATS = dict(f16=(5, 10), bf16=(8, 7), f32=(8, 23), f32ftz=(8, 23), f64=(11, 52))
SPECIAL = [0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x7f800000, 0xff800000, 0x7fc12345, 0x7f812345, 0x3f801000,
           0x3f803000, 0x3f800fff, 0x3f801001, 0x7f7fffff, 0xff7ff000]
HERE = os.path.dirname(os.path.abspath(__file__))


def mix(seed, i):
    h = (i * 0x9E3779B1 + seed * 0x85EBCA6B + 0x1234567) & 0xffffffff
    h ^= h >> 15
    h = h * 0x2C1B3C6D & 0xffffffff
    h ^= h >> 12
    h = h * 0x297A2D39 & 0xffffffff
    return h ^ h >> 15


def word(gen, ty, seed, i):
    """Four bytes of data: all bits, small integers, or floats of moderate size with some special values."""
    h = mix(seed, i)
    if gen == "small":
        return h & 7
    if gen == "raw":
        return h
    special = h >> 5 & 7 == 0
    if ty in ("f16", "bf16"):
        def half(v):
            if ty == "f16" or special:
                return v
            return v & 0x807f | (120 + (v >> 7 & 15)) << 7
        return half(h & 0xffff) | half(mix(seed + 77, i) & 0xffff) << 16
    if ty == "f64":
        if i & 1 == 0:
            return h
        return SPECIAL[h >> 8 & 15] if special else h & 0x800fffff | (1015 + (h >> 20 & 15)) << 20
    return SPECIAL[h >> 8 & 15] if special else h & 0x807fffff | (120 + (h >> 23 & 15)) << 23


def special(ty):
    """Bit patterns of a type at which reductions differ: zeros, subnormals, ties, limits, infinities, NaNs; limits of integers."""
    if ty in FLOATS:
        exponent, mantissa = FLOATS[ty]
        one, infinity = (1 << exponent - 1) - 1 << mantissa, (1 << exponent) - 1 << mantissa
        half = mantissa + 1 << mantissa
        near = [1, (1 << mantissa) - 1, 1 << mantissa, (1 << mantissa) + 1, (2 << mantissa) - 1, 2 << mantissa]
        near += [one, one + 1, one - half, one - half + 1, infinity - 1, infinity - (1 << mantissa) - half]
        all = [0] + near + [infinity, infinity | 1 << mantissa - 1 | 5, infinity | 5]
        return all + [v | 1 << exponent + mantissa for v in all]
    ones = (1 << 8 * SIZES[ty]) - 1
    least = (ones >> 1) + 1
    return [0, 1, 2, 3, 4, 100, 0x80, least - 2, least - 1, least, least + 1, ones // 3, ones // 3 * 2, ones - 15, ones - 1, ones]


def edge(ty, seed, size):
    """All pairs of special values: the first of a pair where the seed is 1, the second elsewhere."""
    values, width = special(ty), SIZES[ty]
    digit = lambda i: i % len(values) if seed == 1 else i // len(values) % len(values)
    return b"".join(values[digit(i)].to_bytes(width, "little") for i in range(-(-size // width)))[:size]


def data(gen, ty, seed, size):
    if gen == "edge":
        return edge(ty, seed, size)
    return b"".join(struct.pack("<I", word(gen, ty, seed, i)) for i in range((size + 3) // 4))[:size]


class Case:
    def __init__(self, line):
        words = line.split()
        self.kernel, self.ty = words[0], words[1]
        fields = dict(w.split("=") for w in words[2:])
        numbers = lambda name: [int(v) for v in fields[name].split(",")] if name in fields else []
        one = lambda name, default=0: int(fields.get(name, default))
        self.dims, self.box = numbers("dims"), numbers("box")
        self.strides, self.estr = numbers("strides"), numbers("estr") or [1] * 5
        self.low, self.up, self.at, self.off = numbers("low"), numbers("up"), numbers("at"), numbers("off")
        self.ch, self.px, self.place = one("ch"), one("px"), one("place")
        self.swizzle, self.interleave, self.fill = one("swizzle"), one("interleave"), one("fill")
        self.gen, self.map = fields.get("gen", "raw"), fields.get("map", "im2col" if "im2col" in words[0] else "tiled")
        size = SIZES[self.ty]
        if self.dims and not self.strides:
            stride = self.dims[0] * size
            for d in self.dims[1:]:
                self.strides.append(stride)
                stride *= d
        self.strides = self.strides[:max(len(self.dims) - 1, 0)]
        self.size = 0
        if self.dims:
            # with spare bytes behind it
            self.size = 32 + self.dims[-1] * (self.strides[-1] if self.strides else size)
        if self.map == "rank2":
            self.dims, self.strides = self.dims[:2], self.strides[:1]
        # a slice of an interleaved layout is one element of the innermost dimension; a copy has one slice of channels
        slice_bytes = 16 * self.interleave
        if self.px:
            self.bytes = self.px * (slice_bytes or self.ch * size)
        else:
            self.bytes = slice_bytes or size
            for i, b in enumerate(self.box):
                step = self.estr[i] if i > 0 or self.interleave else 1
                self.bytes *= 1 if self.interleave and i == len(self.box) - 2 else -(-b // step)


def text(lines):
    """The module: the kernels of tensors, and for each `bulk.add.u32` or the like an instance of its template."""
    read = lambda name: open(f"{HERE}/{name}.ptx").read()
    module, templates = read("kernels"), {name: read(name) for name in ("bulk", "cluster")}
    for kernel in sorted({l.split()[0] for l in lines if "." in l.split()[0]}):
        template, operation = kernel.split(".", 1)
        module += templates[template].replace("$NAME", kernel.replace(".", "_")).replace("$OPERATION", operation)
    return module


def main(path):
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *args):
        code = getattr(cuda, name)(*args)
        if code:
            raise RuntimeError(f"{name}: {code}")

    call("cuInit", 0)
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    lines = [l for l in open(f"{HERE}/cases.txt").read().splitlines() if l]
    call("cuModuleLoadData", ctypes.byref(module), text(lines).encode() + b"\0")

    def device(content):
        at = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(len(content)))
        call("cuMemcpyHtoD_v2", at, content, ctypes.c_size_t(len(content)))
        return at

    def back(at, size):
        to = ctypes.create_string_buffer(size)
        call("cuMemcpyDtoH_v2", to, at, ctypes.c_size_t(size))
        return to.raw

    results = open(path, "ab")
    first = int(os.environ.get("FIRST", "0"))
    for number, line in enumerate(lines[first:], first):
        c = Case(line)
        raw = ctypes.create_string_buffer(256)
        at = (ctypes.addressof(raw) + 127) & ~127
        loads = c.kernel.startswith("load")
        bulk = "." in c.kernel
        try:
            if bulk:
                tensor = None
                buffer = device(data(c.gen, c.ty, 2, 4096) + data(c.gen, c.ty, 1, 4096))
            else:
                tensor = device(data(c.gen, c.ty, 1, c.size))
                buffer = device(b"\0" * 4112 if loads else data(c.gen, c.ty, 2, 4096))
                u64 = lambda v: (ctypes.c_uint64 * 5)(*v)
                u32 = lambda v: (ctypes.c_uint32 * 5)(*v)
                ints = lambda v: (ctypes.c_int * 5)(*v)
                tail = (u32(c.estr), c.interleave, c.swizzle, 0, c.fill)
                head = (ctypes.c_void_p(at), TYPES[c.ty], len(c.dims), ctypes.c_void_p(tensor.value), u64(c.dims), u64(c.strides))
                if c.map == "im2col":
                    call("cuTensorMapEncodeIm2col", *head, ints(c.low), ints(c.up), c.ch, c.px, *tail)
                else:
                    call("cuTensorMapEncodeTiled", *head, u32(c.box), *tail)
        except RuntimeError as e:
            print(number, e, line, flush=True)
            results.write(struct.pack("<II", number, 0xffffffff))
            results.flush()
            continue
        function = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(function), module, c.kernel.replace(".", "_").encode())
        pad = lambda v, n: list(v) + [0] * (n - len(v))
        values = [
            (ctypes.c_char * 128).from_address(at),
            ctypes.c_uint64(buffer.value),
            (ctypes.c_int * 5)(*pad(c.at, 5)),
            (ctypes.c_int * 3)(*pad(c.off, 3)),
            ctypes.c_uint32(c.bytes),
            ctypes.c_uint32(c.place),
        ]
        pointers = (ctypes.c_void_p * 6)(*[ctypes.addressof(v) for v in values])
        try:
            call("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, None, pointers, None)
            call("cuCtxSynchronize")
            out = back(buffer, 4112) if loads else back(buffer, 8192)[4096:] if bulk else back(tensor, c.size)
        except RuntimeError as e:
            print(number, e, line, flush=True)
            results.write(struct.pack("<II", number, 0xfffffffe))
            results.flush()
            os.environ["FIRST"] = str(number + 1)
            os.execv(sys.executable, [sys.executable] + sys.argv)
        if loads:
            if not out[4096]:
                print(number, "no completion", line, flush=True)
            out = out[:4096] + out[4096:4097]
        results.write(struct.pack("<II", number, len(out)) + out)
    results.close()
    print("done", flush=True)


main(sys.argv[1])
