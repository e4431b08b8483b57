"""Launches of tests/real/gluon."""

import numpy as np

from launch import RANDOM, Buffer, Launch, Map, random, result, rounded
from of_triton import COARSE, NEW, OLD, SUM, descriptor

HOPPER, BLACKWELL = ["sm_90"], ["sm_100"]


def product(kind, tile, m, n, k, sizes="k", transposed=False, programs=None, parts=1, factor=1, ctas=(1, 1, 1), plain=None):
    """C = A B. `transposed`: B is stored as N x K. `ctas`: in how many CTAs the tiles of A, B and C are split by rows."""

    def make(target):
        bm, bn, bk = tile
        a, b = random(kind, m, k), random(kind, n, k)
        left, right = a.values() * factor, b.values()
        expected = left @ right.T
        sums = COARSE if kind == "e4m3" and target == "sm_90" else 2.0**-9 if kind == "f32" else SUM
        wide = plain or n
        whole = np.zeros((m, wide))
        whole[:, :n] = expected
        slack = np.zeros((m, wide))
        slack[:, :n] = rounded(expected, "f16", np.abs(left) @ np.abs(right.T) * sums)
        c = result("f16", whole, slack, np.zeros((m, wide), np.float16) if plain else None)
        if not transposed:
            b = Buffer(np.ascontiguousarray(b.array.T), b.kind)
        box_b = (bn, bk) if transposed else (bk, bn)
        arguments = descriptor(a, bm // ctas[0], bk) + descriptor(b, box_b[0], box_b[1] // ctas[1])
        arguments += [c] if plain else descriptor(c, bm // ctas[2], bn // parts)
        grid = (programs,) if programs else (m // bm * max(ctas), n // bn)
        return Launch(arguments + [dict(m=m, n=n, k=k)[size] for size in sizes], grid, f"{m} x {n} x {k}")

    return make


def mma(kind, tile, m, n, k):
    def make():
        a, b = random(kind, m, k), random(kind, k, n)
        expected = a.values() @ b.values()
        c = result("f16", expected, rounded(expected, "f16", np.abs(a.values()) @ np.abs(b.values()) * SUM))
        return Launch([a, b, c, m, n, k], (-(-m // tile[0]), -(-n // tile[1])), f"{m} x {n} x {k}")

    return make


def outer_products():
    m, n, k = 128, 64, 48
    a, b = random("f32", m, k), random("f32", k, n)
    expected = a.values() @ b.values()
    return Launch([a, b, result("f32", expected, np.abs(a.values()) @ np.abs(b.values()) * SUM), k], (2, 1), f"{m} x {n} x {k}")


def transpose():
    x = random("f32", 150, 112)
    return Launch([x, result("f32", x.values().T, 0), 150, 112], (3, 2), "150 x 112")


def async_copies():
    x, y = random("f32", 5008), random("f32", 5008)
    return Launch([x, y, result("f32", (x.array + y.array).astype(np.float64), 0), 5008], (1,), "5008")


def copies_that_arrive():
    x = random("f32", 512)
    return Launch([x, result("f32", x.values() * 2, 0)], (1,), "512")


def tma_add():
    x = random("f32", 96, 128)
    out = result("f32", (x.array + np.float32(1)).astype(np.float64), 0)
    return Launch(descriptor(x, 32, 64, swizzle=0) + descriptor(out, 32, 64, swizzle=0), (3, 2), "96 x 128")


def tma_reduce():
    x, y = random("f16", 128, 128), random("f16", 128, 128)
    more = (x.array + np.float16(1)).astype(np.float16)
    out = Buffer(y.array, "", (y.array + more).astype(np.float64), 0)
    return Launch(descriptor(x, 64, 64) + descriptor(out, 64, 64), (2, 2), "128 x 128")


def tma_pipelined():
    x, y = random("f32", 64, 320), random("f32", 64, 320)
    out = result("f32", (x.array + y.array).astype(np.float64), 0)
    maps = [field for buffer in (x, y, out) for field in descriptor(buffer, 32, 64, swizzle=0)]
    return Launch([*maps, 320], (2,), "64 x 320")


def tma_gather():
    x, rows = random("f16", 100, 256), RANDOM.permutation(100)[:32].astype(np.int32)
    start = np.zeros(x.array.shape, np.float16)
    expected = np.zeros(x.array.shape)
    expected[rows] = x.values()[rows]
    out = Buffer(start, "", expected, 0)
    return Launch([*descriptor(x, 1, 128), Buffer(rows), *descriptor(out, 1, 128)], (2,), "32 rows of 100 x 256")


def into_the_peer():
    x = random("f32", 64, 64)
    return Launch([x, result("f32", x.values(), 0)], (2,), "64 x 64")


def counts():
    x = Buffer(RANDOM.integers(0, 1000, 3000).astype(np.int32))
    out = Buffer(np.zeros(128, np.int32), "", np.bincount(x.array % 128, minlength=128), 0)
    return Launch([x, out, 3000], (3,), "3000")


def left_in_memory():
    a, b = random("f16", 128, 64), random("f16", 128, 64)
    expected = 2 * a.values() @ b.values().T + 1
    return Launch([a, b, result("f32", expected, (np.abs(a.values()) @ np.abs(b.values().T) * 2 + 1) * SUM)], (1,), "128 x 128 x 64")


def copy(m, n):
    def make():
        x = random("f32", m, n)
        return Launch([x, result("f32", x.values(), 0)], (1,), f"{m} x {n}")

    return make


LAUNCHES = {
    "mma_f16": (OLD, mma("f16", (128, 128), 200, 256, 144)),
    "mma_bf16": (OLD, mma("bf16", (64, 64), 100, 128, 320)),
    "outer_products": (OLD, outer_products),
    "transpose": (OLD, transpose),
    "async_copies": (OLD, async_copies),
    "copies_that_arrive": (OLD, copies_that_arrive),
    "counts": (OLD, counts),
    "tma_add": (NEW, tma_add),
    "tma_reduce": (NEW, tma_reduce),
    "tma_pipelined": (NEW, tma_pipelined),
    "tma_gather": (BLACKWELL, tma_gather),
    "into_the_peer": (NEW, into_the_peer),
    "wgmma_f16": (HOPPER, product("f16", (64, 64, 64), 128, 128, 256, transposed=True)),
    "wgmma_bf16": (HOPPER, product("bf16", (64, 128, 64), 128, 128, 256, transposed=True)),
    "wgmma_f8": (HOPPER, product("e4m3", (64, 128, 128), 128, 128, 256, transposed=True)),
    "wgmma_tf32": (HOPPER, product("f32", (64, 64, 32), 64, 128, 128, transposed=True)),
    "wgmma_registers": (HOPPER, product("f16", (64, 128, 64), 128, 128, 256, transposed=True, factor=2)),
    "wgmma_pipelined": (HOPPER, product("f16", (128, 128, 64), 256, 256, 512)),
    "wgmma_pipelined_wide": (HOPPER, product("f16", (128, 256, 64), 256, 256, 320)),
    "wgmma_special": (HOPPER, product("f16", (64, 128, 64), 256, 256, 384, "mnk", programs=3)),
    "wgmma_special_wide": (HOPPER, product("f16", (128, 128, 64), 256, 384, 320, "mnk", programs=3)),
    "wgmma_multicast": (HOPPER, product("f16", (128, 128, 64), 128, 256, 256, ctas=(2, 1, 1), plain=4096)),
    "tcgen05_f16": (BLACKWELL, product("f16", (128, 128, 64), 256, 128, 256, transposed=True)),
    "tcgen05_m64": (BLACKWELL, product("bf16", (64, 64, 64), 128, 64, 256, transposed=True)),
    "tcgen05_f8": (BLACKWELL, product("e4m3", (128, 256, 128), 128, 256, 384, transposed=True)),
    "tcgen05_tf32": (BLACKWELL, product("f32", (128, 64, 32), 128, 128, 96, transposed=True)),
    "tcgen05_pipelined": (BLACKWELL, product("f16", (128, 128, 64), 256, 256, 512)),
    "tcgen05_pipelined_wide": (BLACKWELL, product("f16", (128, 256, 64), 256, 256, 512)),
    "tcgen05_special": (BLACKWELL, product("f16", (128, 128, 64), 384, 256, 384, "mnk", programs=3)),
    "tcgen05_special_parts": (BLACKWELL, product("f16", (128, 256, 64), 256, 512, 320, "mnk", programs=2, parts=4)),
    "tcgen05_pair": (BLACKWELL, product("f16", (256, 256, 64), 256, 512, 256, ctas=(2, 2, 2))),
    "tcgen05_left_in_memory": (BLACKWELL, left_in_memory),
    "tcgen05_copy": (BLACKWELL, copy(128, 64)),
    "tcgen05_copy_16x256b": (BLACKWELL, copy(128, 32)),
    "tcgen05_copy_16x64b": (BLACKWELL, copy(128, 64)),
}
