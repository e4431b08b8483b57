"""Matrix products with pointers: masks, groups of tiles, many types, split sums, batches."""

import triton
import triton.language as tl

ALL = ["sm_80", "sm_90", "sm_100", "sm_120"]


@triton.jit
def tile_of(pid, m, n, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    rows, columns = tl.cdiv(m, BM), tl.cdiv(n, BN)
    first = pid // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    inside = pid % (GROUP * columns)
    return first + inside % height, inside // height


@triton.jit
def matmul(
    a, b, c, m, n, k, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, SUM: tl.constexpr, RELU: tl.constexpr,
):
    row, column = tile_of(tl.program_id(0), m, n, BM, BN, GROUP)
    rows = row * BM + tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    at_a = a + (rows % m)[:, None] * am + depth[None, :] * ak
    at_b = b + depth[:, None] * bk + (columns % n)[None, :] * bn
    total = tl.zeros((BM, BN), SUM)
    for step in range(tl.cdiv(k, BK)):
        left = tl.load(at_a, depth[None, :] < k - step * BK, other=0.0)
        right = tl.load(at_b, depth[:, None] < k - step * BK, other=0.0)
        total = tl.dot(left, right, total, out_dtype=SUM)
        at_a += BK * ak
        at_b += BK * bk
    if RELU:
        total = tl.maximum(total, 0)
    at_c = c + rows[:, None] * cm + columns[None, :] * cn
    tl.store(at_c, total.to(c.dtype.element_ty), (rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def split(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.program_id(2) * BK + tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK * tl.num_programs(2)):
        left = tl.load(a + rows[:, None] * k + (start + depth)[None, :])
        right = tl.load(b + (start + depth)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total, input_precision="tf32x3")
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.atomic_add(c + rows[:, None] * n + columns[None, :], total, inside, sem="relaxed")


@triton.jit
def batched(a, b, c, n, B: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    batch = tl.program_id(1) * B + tl.arange(0, B)[:, None, None]
    rows = tl.arange(0, BM)[None, :, None]
    columns = tl.program_id(0) * BN + tl.arange(0, BN)[None, None, :]
    left = tl.load(a + batch * BM * BK + rows * BK + tl.arange(0, BK)[None, None, :])
    right = tl.load(b + batch * BK * n + tl.arange(0, BK)[None, :, None] * n + columns)
    tl.store(c + batch * BM * n + rows * n + columns, tl.dot(left, right).to(c.dtype.element_ty))


@triton.jit
def weights_of_4_bits(a, b, scales, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        half = start // 2 + tl.arange(0, BK // 2)
        left = tl.load(a + rows[:, None] * k + depth[None, :], rows[:, None] < m, other=0.0)
        packed = tl.load(b + columns[:, None] * (k // 2) + half[None, :])
        low = ((packed & 15) - 8).to(tl.float16)
        high = ((packed >> 4) - 8).to(tl.float16)
        right = tl.trans(tl.interleave(low, high))
        scale = tl.load(scales + start // BK * n + columns)
        total += tl.dot(left, right) * scale[None, :]
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16), rows[:, None] < m)


@triton.jit
def grouped(pointers, sizes, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    done = 0
    for group in range(groups):
        m = tl.load(sizes + group * 3)
        n = tl.load(sizes + group * 3 + 1)
        k = tl.load(sizes + group * 3 + 2)
        tiles = tl.cdiv(m, BM) * tl.cdiv(n, BN)
        while tile >= done and tile < done + tiles:
            a = tl.load(pointers + group * 3).to(tl.pointer_type(tl.float16))
            b = tl.load(pointers + group * 3 + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(pointers + group * 3 + 2).to(tl.pointer_type(tl.float16))
            columns_of_tiles = tl.cdiv(n, BN)
            rows = (tile - done) // columns_of_tiles * BM + tl.arange(0, BM)
            columns = (tile - done) % columns_of_tiles * BN + tl.arange(0, BN)
            total = tl.zeros((BM, BN), tl.float32)
            for start in range(0, k, BK):
                tl.multiple_of(start, BK)
                depth = start + tl.arange(0, BK)
                left = tl.load(a + rows[:, None] * k + depth[None, :])
                right = tl.load(b + depth[:, None] * n + columns[None, :])
                total = tl.dot(left, right, total)
            tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))
            tile += tl.num_programs(0)
        done += tiles


def product(source, result, total, targets=ALL, tile=(128, 128, 32), relu=False, **options):
    bm, bn, bk = tile
    return dict(
        kernel=matmul,
        runtime=dict(
            a=f"*{source}", b=f"*{source}", c=f"*{result}", m="i32:16", n="i32:16", k="i32:16", am="i32:16", bk="i32:16",
            cm="i32:16",
        ),
        constants=dict(ak=1, bn=1, cn=1, BM=bm, BN=bn, BK=bk, GROUP=8, SUM=total, RELU=relu),
        targets=targets,
        options=options,
    )


MODULES = {
    "matmul_f16": product("fp16", "fp16", tl.float32, relu=True, num_warps=4, num_stages=4),
    "matmul_f16_f16": product("fp16", "fp16", tl.float16, num_warps=4),
    "matmul_bf16": product("bf16", "bf16", tl.float32, tile=(128, 256, 64), num_warps=8, num_stages=3),
    "matmul_tf32": product("fp32", "fp32", tl.float32, tile=(64, 64, 32), num_stages=3),
    "matmul_i8": product("i8", "i32", tl.int32, tile=(64, 128, 64)),
    "matmul_f8": product("fp8e4nv", "fp16", tl.float32, ["sm_90", "sm_100", "sm_120"], tile=(128, 128, 64)),
    "matmul_f64": product("fp64", "fp64", tl.float64, ["sm_80", "sm_90"], tile=(32, 32, 16)),
    "matmul_small": product("fp16", "fp32", tl.float32, tile=(16, 16, 16), num_warps=1, num_stages=1),
    "matmul_two_ctas": product("fp16", "fp16", tl.float32, ["sm_90"], tile=(128, 128, 64), num_ctas=2),
    "matmul_split": dict(
        kernel=split,
        runtime=dict(a="*fp32", b="*fp32", c="*fp32", m="i32:16", n="i32:16", k="i32:16"),
        constants=dict(BM=64, BN=64, BK=32),
        targets=ALL,
    ),
    "matmul_batched": dict(
        kernel=batched,
        runtime=dict(a="*fp16", b="*fp16", c="*fp16", n="i32:16"),
        constants=dict(B=2, BM=32, BN=64, BK=64),
        targets=ALL,
    ),
    "matmul_i4": dict(
        kernel=weights_of_4_bits,
        runtime=dict(a="*fp16", b="*u8", scales="*fp16", c="*fp16", m="i32", n="i32:16", k="i32:16"),
        constants=dict(BM=32, BN=64, BK=64),
        targets=ALL,
    ),
    "matmul_grouped": dict(
        kernel=grouped,
        runtime=dict(pointers="*i64", sizes="*i32", groups="i32"),
        constants=dict(BM=64, BN=64, BK=32),
        targets=ALL,
    ),
}
