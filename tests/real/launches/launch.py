"""What a launch is made of: buffers, tensor maps, numbers, and the results that NumPy expects."""

import dataclasses

import numpy as np

KINDS = {"f2": "f16", "f4": "f32", "f8": "f64", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8", "u2": "u16",
         "u4": "u32", "u8": "u64"}


@dataclasses.dataclass
class Buffer:
    """An array in global memory. `kind` is its type if NumPy lacks it: "bf16" in `uint16`, floats of 8 bits in `uint8`."""

    array: np.ndarray
    kind: str = ""
    #: What the kernel should leave here, as `float64`, integers or the exact bits; and the largest difference that is allowed.
    expected: np.ndarray = None
    bound: object = 0.0

    def element(self):
        return self.kind if self.kind == "bf16" else KINDS[self.array.dtype.str[1:]]

    def values(self, array=None):
        return decode(self.array if array is None else array, self.kind)


@dataclasses.dataclass
class Map:
    """A tensor map of a buffer; the outermost dimension of the box comes first, as in Python."""

    buffer: Buffer
    box: tuple
    swizzle: int = 128
    #: More fields, as `ptx-dsl run` takes them.
    fields: str = ""


@dataclasses.dataclass
class Struct:
    """The bytes of a struct that is passed by value."""

    bytes: bytes


NULL = object()


@dataclasses.dataclass
class Launch:
    """A kernel of a module, and what it gets. Numbers are passed as they are."""

    arguments: list
    grid: tuple
    size: str
    block: tuple = None
    cluster: tuple = None


def decode(array, kind):
    """The values of an array, as float64."""
    if kind == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind in ("e4m3", "e5m2"):
        return EIGHT[kind][array]
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def table_of(exponent, mantissa, bias):
    """The values of all codes of a float of 8 bits."""
    codes = np.arange(256)
    e, m = codes >> mantissa & (1 << exponent) - 1, codes & (1 << mantissa) - 1
    value = np.where(e == 0, m * 2.0 ** (1 - bias - mantissa), (1 + m / 2.0**mantissa) * 2.0 ** (e - bias))
    value = np.where(codes & 0x80, -value, value)
    if exponent == 5:
        value = np.where(e == 31, np.where(m == 0, np.copysign(np.inf, value), np.nan), value)
    else:
        value = np.where(codes & 0x7F == 0x7F, np.nan, value)
    return value


EIGHT = {"e4m3": table_of(4, 3, 7), "e5m2": table_of(5, 2, 15)}
FOUR = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])

#: Half of the distance of two numbers, relative to them: what one rounding may change.
HALF_STEP = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53, "i32": 0.0, "e4m3": 2.0**-4, "e5m2": 2.0**-3}
#: Below this a number is subnormal, and a rounding changes it by up to half of this times 2 ** -(bits of the mantissa).
SUBNORMAL_STEP = {"f16": 2.0**-25, "bf16": 2.0**-134, "f32": 2.0**-150, "e4m3": 2.0**-10, "e5m2": 2.0**-17}


def rounded(expected, kind, slack=0.0):
    """The bound of a result that is rounded once, plus `slack`."""
    return np.abs(expected) * HALF_STEP[kind] + SUBNORMAL_STEP.get(kind, 0.0) + slack


def bf16(values):
    """Rounds to nearest even."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)


RANDOM = np.random.default_rng(20)


def random(kind, *shape, scale=1.0):
    """A buffer of normal numbers, or of integers."""
    if kind in ("e4m3", "e5m2"):
        finite = np.flatnonzero(np.abs(EIGHT[kind]) <= 4)
        return Buffer(RANDOM.choice(finite, shape).astype(np.uint8), kind)
    if kind[0] in "iu":
        low, high = (-100, 100) if kind[0] == "i" else (0, 200)
        return Buffer(RANDOM.integers(low, high, shape).astype(f"{kind[0]}{int(kind[1:]) // 8}"))
    values = RANDOM.standard_normal(shape) * scale
    return Buffer(bf16(values), "bf16") if kind == "bf16" else Buffer(values.astype(f"f{int(kind[1:]) // 8}"))


def result(kind, expected, bound, initial=None):
    """A buffer for a result. It starts with a pattern that no result has."""
    types = {"bf16": "u2", "e4m3": "u1", "e5m2": "u1"}
    dtype = np.dtype(types.get(kind) or f"{kind[0]}{int(kind[1:]) // 8}")
    array = np.frombuffer(b"\x7B" * (expected.size * dtype.itemsize), dtype).reshape(expected.shape).copy()
    array = array if initial is None else initial
    return Buffer(array, kind if kind in types else "", expected, bound)
