"""Launches of tests/real/numba. An array is seven arguments, nine if it has two axes."""

import numpy as np

from launch import NULL, RANDOM, Buffer, Launch, random, result

ALL = ["sm_80", "sm_90", "sm_100"]


def array(buffer):
    """Two pointers of the interpreter, the number of elements, their size, the data, the shape, the strides."""
    a = buffer.array
    return [NULL, NULL, a.size, a.itemsize, buffer, *a.shape, *a.strides]


def arrays(*buffers):
    return [field for buffer in buffers for field in array(buffer)]


def saxpy():
    x, y = random("f32", 1000), random("f32", 1000)
    expected = y.values() + 2.5 * x.values()
    return Launch([2.5, *arrays(x, Buffer(y.array, "", expected, 1e-6))], (4,), "1000", (256,))


def integers():
    a, b = random("i64", 512), random("i64", 512)
    b.array[b.array == 0] = 3
    x, y = a.array, b.array
    # Python binds `^` looser than `-` and `<<`
    expected = x // y + x % y - (x >> 3) ^ (y << 2) | np.where(x > y, x, y)
    return Launch(arrays(a, b, result("i64", expected, 0)), (2,), "512", (256,))


def stencil():
    x = random("f32", 1000)
    w = np.array([1, 4, 6, 4, 1.0])
    expected = np.full(1000, -1.0)
    expected[2:-2] = sum(w[k] * x.values()[k : 996 + k] for k in range(5)) / 16
    out = Buffer(np.full(1000, -1, np.float32), "", expected, 1e-6)
    return Launch(arrays(x, out), (4,), "1000", (256,))


def local():
    n, threads = 40, 128
    x = random("f32", threads * n)
    space = np.zeros((threads, 32))
    for k in range(n):
        space[:, k % 32] = x.values().reshape(threads, n)[:, k]
    expected = sum(space[:, k * n % 32] for k in range(32))
    return Launch([*arrays(x, result("f32", expected, 1e-4)), n], (1,), f"{threads} x {n}", (128,))


def sums():
    x = Buffer(RANDOM.standard_normal(10000).astype(np.float32))
    out = Buffer(np.zeros(1, np.float32), "", x.values().sum(keepdims=True), np.abs(x.values()).sum() * 1e-6)
    return Launch(arrays(x, out), (4,), "10000", (256,))


def warp_sums():
    x = Buffer(RANDOM.standard_normal(1000))
    expected = np.array([x.array[i : i + 256].sum() for i in range(0, 1000, 256)])
    return Launch(arrays(x, result("f64", expected, 1e-12)), (4,), "1000", (256,))


def scan():
    x = random("i32", 700)
    expected = np.concatenate([np.cumsum(x.array[i : i + 256]) for i in range(0, 700, 256)])
    return Launch(arrays(x, result("i32", expected, 0)), (3,), "700", (256,))


def matmul():
    a, b = random("f32", 70, 50), random("f32", 50, 90)
    expected = a.values() @ b.values()
    return Launch(arrays(a, b, result("f32", expected, 2e-5)), (6, 5), "70 x 90 x 50", (16, 16))


def dynamic():
    x = Buffer(RANDOM.standard_normal(512))
    expected = x.array.reshape(4, 128)[:, ::-1].reshape(512)
    return Launch(arrays(x, result("f64", expected, 0)), (4,), "512", (128,))


def sort():
    x = random("f32", 1024)
    expected = np.sort(x.values().reshape(2, 512), 1).reshape(1024)
    return Launch(arrays(Buffer(x.array, "", expected, 0)), (2,), "1024", (256,))


def histogram():
    x = Buffer(RANDOM.integers(0, 256, 5000).astype(np.uint8))
    out = Buffer(np.zeros(256, np.uint32), "", np.bincount(x.array, minlength=256), 0)
    return Launch(arrays(x, out), (3,), "5000", (256,))


def counted():
    x = Buffer(RANDOM.integers(0, 4, 128).astype(np.int32))
    n = (x.array > 0).sum() + int((x.array > 1).all()) + int((x.array > 2).any())
    return Launch(arrays(x, result("i32", np.full(128, n), 0)), (1,), "128", (128,))


def last_block():
    x = random("f32", 1024)
    zeros = lambda n, kind: np.zeros(n, kind)
    sums = x.values().reshape(4, 256).sum(1)
    partial = Buffer(zeros(4, np.float32), "", sums, 1e-4)
    count = Buffer(zeros(1, np.int32), "", np.array([4]), 0)
    out = result("f32", sums.sum(keepdims=True), 1e-3)
    return Launch(arrays(x, partial, count, out), (4,), "1024", (256,))


LAUNCHES = {
    "saxpy": (ALL, saxpy),
    "integers": (ALL, integers),
    "stencil": (ALL, stencil),
    "local": (ALL, local),
    "sums_debug": (ALL, local),
    "sums": (ALL, sums),
    "warp_sums": (ALL, warp_sums),
    "scan": (ALL, scan),
    "matmul": (ALL, matmul),
    "matmul_strided": (ALL, matmul),
    "dynamic": (ALL, dynamic),
    "sort": (ALL, sort),
    "histogram": (ALL, histogram),
    "counted": (ALL, counted),
    "last_block": (ALL, last_block),
}
