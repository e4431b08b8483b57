"""Matrix products with tensor descriptors: one tile a program, persistent, warp-specialised, scaled, cluster launch control."""

import triton
import triton.language as tl

NEW = ["sm_90", "sm_100", "sm_120"]


@triton.jit
def described(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TRANSPOSED: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        left = a.load([row, start])
        right = b.load([column, start]).T if TRANSPOSED else b.load([start, column])
        total = tl.dot(left, right, total)
    c.store([row, column], total.to(c.dtype))


@triton.jit
def made_on_device(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    at_a = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    at_b = tl.make_tensor_descriptor(b, [n, k], [k, 1], [BN, BK])
    at_c = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        total = tl.dot(at_a.load([row, start]), at_b.load([column, start]).T, total)
    at_c.store([row, column], total.to(tl.float16))


@triton.jit
def persistent(
    a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    SPECIAL: tl.constexpr, FLAT: tl.constexpr, HALVES: tl.constexpr,
):
    columns = tl.cdiv(n, BN)
    tiles = tl.cdiv(m, BM) * columns
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=FLAT, warp_specialize=SPECIAL):
        row, column = tile // columns * BM, tile % columns * BN
        total = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            total = tl.dot(a.load([row, start]), b.load([column, start]).T, total)
        if HALVES:
            halves = tl.permute(tl.reshape(total, (BM, 2, BN // 2)), (0, 2, 1))
            left, right = tl.split(halves)
            c.store([row, column], left.to(c.dtype))
            c.store([row, column + BN // 2], right.to(c.dtype))
        else:
            c.store([row, column], total.to(c.dtype))


@triton.jit
def inner_special(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for start in tl.range(0, k, BK, warp_specialize=True):
        total = tl.dot(a.load([row, start]), b.load([column, start]).T, total)
    c.store([row, column], total.to(c.dtype))


@triton.jit
def scaled(
    a, b, a_scales, b_scales, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    A: tl.constexpr, B: tl.constexpr, BLOCK: tl.constexpr,
):
    PACK_A: tl.constexpr = 2 if A == "e2m1" else 1
    PACK_B: tl.constexpr = 2 if B == "e2m1" else 1
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    rows, columns = row + tl.arange(0, BM), column + tl.arange(0, BN)
    scales = tl.arange(0, BK // BLOCK)
    wide = k // BLOCK
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        left = a.load([row, start // PACK_A])
        right = b.load([column, start // PACK_B]).T
        left_scale = tl.load(a_scales + rows[:, None] * wide + start // BLOCK + scales[None, :])
        right_scale = tl.load(b_scales + columns[:, None] * wide + start // BLOCK + scales[None, :])
        total = tl.dot_scaled(left, left_scale, A, right, right_scale, B, total)
    c.store([row, column], total.to(c.dtype))


@triton.jit
def blocked_scales(
    a, b, a_scales, b_scales, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, A: tl.constexpr,
):
    """Scales in the order in which the tensor core wants them, 32 x 4 x 4 a piece."""
    PACK: tl.constexpr = 2 if A == "e2m1" else 1
    row, column = tl.program_id(0), tl.program_id(1)
    total = tl.zeros((BM, BN), tl.float32)
    for step in tl.range(0, tl.cdiv(k, BK), num_stages=3):
        left = a.load([row * BM, step * (BK // PACK)])
        right = b.load([column * BN, step * (BK // PACK)])
        left_scale = a_scales.load([0, row * (BM // 128), step * (BK // 128), 0, 0])
        right_scale = b_scales.load([0, column * (BN // 128), step * (BK // 128), 0, 0])
        left_scale = left_scale.reshape(BM // 128, BK // 128, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BM, BK // 32)
        right_scale = right_scale.reshape(BN // 128, BK // 128, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BN, BK // 32)
        total = tl.dot_scaled(left, left_scale, A, right.T, right_scale, A, total)
    c.store([row * BM, column * BN], total.to(c.dtype))


def tiles(kind, *shape):
    return f"tensordesc<{kind}[{','.join(map(str, shape))}]>"


def product(kernel, kind="fp16", tile=(128, 128, 64), targets=NEW, transposed=True, extra=None, sizes="k", halves=1, **options):
    bm, bn, bk = tile
    runtime = dict(
        a=tiles(kind, bm, bk),
        b=tiles(kind, bn, bk) if transposed else tiles(kind, bk, bn),
        c=tiles("fp16" if "fp8" in kind else kind, bm, bn // halves),
    )
    runtime.update((size, "i32:16") for size in sizes)
    return dict(
        kernel=kernel,
        runtime=runtime,
        constants=dict(BM=bm, BN=bn, BK=bk, **(extra or {})),
        targets=targets,
        options=options,
    )


def steady(special=False, flat=False, halves=False, **rest):
    extra = dict(SPECIAL=special, FLAT=flat, HALVES=halves)
    return product(persistent, extra=extra, sizes="mnk", halves=2 if halves else 1, **rest)


def with_scales(a, b, block, targets, scale="u8"):
    tile = (128, 128, 128)
    shape = lambda kind: tiles("u8" if kind == "e2m1" else EIGHT[kind], 128, 64 if kind == "e2m1" else 128)
    return dict(
        kernel=scaled,
        runtime=dict(
            a=shape(a), b=shape(b), a_scales=f"*{scale}", b_scales=f"*{scale}", c=tiles("fp16", 128, 128), k="i32:16"
        ),
        constants=dict(BM=tile[0], BN=tile[1], BK=tile[2], A=a, B=b, BLOCK=block),
        targets=targets,
    )


def with_blocked_scales(kind, stages):
    wide = 64 if kind == "e2m1" else 128
    element = "u8" if kind == "e2m1" else "fp8e4nv"
    return dict(
        kernel=blocked_scales,
        runtime=dict(
            a=tiles(element, 128, wide), b=tiles(element, 256, wide), a_scales=tiles("u8", 1, 1, 1, 2, 256),
            b_scales=tiles("u8", 1, 2, 1, 2, 256), c=tiles("fp16", 128, 256), k="i32:16",
        ),
        constants=dict(BM=128, BN=256, BK=128, A=kind),
        targets=["sm_100"],
        options=dict(num_stages=stages),
    )


EIGHT = {"e4m3": "fp8e4nv", "e5m2": "fp8e5"}
BIG = ["sm_90", "sm_100"]
MODULES = {
    "tma_f16": product(described, extra=dict(TRANSPOSED=True)),
    "tma_rows": product(described, transposed=False, extra=dict(TRANSPOSED=False), num_warps=8),
    "tma_f8": product(described, "fp8e4nv", (128, 128, 128), extra=dict(TRANSPOSED=True)),
    "tma_f32": product(described, "fp32", (64, 64, 32), extra=dict(TRANSPOSED=True)),
    "tma_wide": product(described, "bf16", (128, 256, 64), BIG, extra=dict(TRANSPOSED=True), num_warps=8, num_stages=3),
    "tma_two_ctas": product(described, tile=(256, 128, 64), targets=BIG, extra=dict(TRANSPOSED=True), num_ctas=2, num_warps=4),
    "tma_clc": product(described, targets=["sm_100"], extra=dict(TRANSPOSED=True), clc=True),
    "tma_on_device": dict(
        kernel=made_on_device,
        runtime=dict(a="*fp16", b="*fp16", c="*fp16", m="i32:16", n="i32:16", k="i32:16"),
        constants=dict(BM=128, BN=128, BK=64),
        targets=["sm_80", *NEW],
    ),
    "persistent": steady(),
    "persistent_flat": steady(flat=True, num_stages=4),
    "persistent_halves": steady(halves=True, num_stages=3, num_warps=8),
    "persistent_special": steady(special=True, targets=["sm_100", "sm_120"]),
    "persistent_special_hopper": steady(special=True, targets=["sm_90"], num_warps=8),
    "persistent_special_low": steady(special=True, tile=(64, 128, 64)),
    "persistent_special_halves": steady(special=True, flat=True, halves=True, num_stages=3),
    "persistent_special_f8": steady(special=True, kind="fp8e4nv", tile=(128, 256, 128), targets=BIG, num_stages=3, num_warps=8),
    "persistent_clc": steady(targets=["sm_100"], clc=True),
    "special": product(inner_special, targets=["sm_100", "sm_120"]),
    "special_checked": product(inner_special, targets=["sm_100"], num_stages=2, instrumentation_mode="consan"),
    "tma_checked": product(
        described, targets=["sm_90"], extra=dict(TRANSPOSED=True), num_stages=2, instrumentation_mode="consan"
    ),
    "tma_simulated": product(
        described, tile=(64, 64, 32), extra=dict(TRANSPOSED=True), num_stages=2, instrumentation_mode="fpsan"
    ),
    "special_wide": product(inner_special, tile=(128, 256, 64), targets=BIG, num_warps=8, num_stages=3),
    "scaled_f8": with_scales("e4m3", "e4m3", 32, NEW),
    "scaled_f8_f4": with_scales("e5m2", "e2m1", 32, NEW),
    "scaled_f4": with_scales("e2m1", "e2m1", 32, NEW),
    "scaled_nvf4": with_scales("e2m1", "e2m1", 16, ["sm_100", "sm_120"], "fp8e4nv"),
    "scaled_blocked_f8": with_blocked_scales("e4m3", 3),
    "scaled_blocked_f4": with_blocked_scales("e2m1", 4),
}
