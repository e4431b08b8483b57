"""tcgen05 with block scaling: scales written by threads or copied from shared memory, FP8, FP6 and FP4, CTA pairs."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout, TensorMemoryScalesLayout, allocate_tensor_memory, fence_async_shared, mbarrier, tcgen05_commit,
    tcgen05_copy, tcgen05_mma_scaled, tma,
)

BLACKWELL = ["sm_100"]


@gluon.jit
def scales_of_threads(
    a, b, a_scales, b_scales, c, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, A: gl.constexpr, B: gl.constexpr,
    BLOCK: gl.constexpr,
):
    PACK_A: gl.constexpr = 2 if A == "e2m1" and not a.layout.fp4_padded else 1
    PACK_B: gl.constexpr = 2 if B == "e2m1" and not b.layout.fp4_padded else 1
    left = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
    right = gl.allocate_shared_memory(b.dtype, b.block_shape, b.layout)
    total = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], 1))
    kind: gl.constexpr = a_scales.dtype.element_ty
    left_scale = allocate_tensor_memory(kind, [M, K // BLOCK], TensorMemoryScalesLayout())
    right_scale = allocate_tensor_memory(kind, [N, K // BLOCK], TensorMemoryScalesLayout())
    loaded = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(done, count=1)
    of_left: gl.constexpr = left_scale.get_reg_layout()
    of_right: gl.constexpr = right_scale.get_reg_layout()
    row, column = gl.program_id(0) * M, gl.program_id(1) * N
    at_left = (row + gl.arange(0, M, gl.SliceLayout(1, of_left)))[:, None] * (k // BLOCK) + gl.arange(
        0, K // BLOCK, gl.SliceLayout(0, of_left))[None, :]
    at_right = (column + gl.arange(0, N, gl.SliceLayout(1, of_right)))[:, None] * (k // BLOCK) + gl.arange(
        0, K // BLOCK, gl.SliceLayout(0, of_right))[None, :]
    phase = 0
    for start in range(0, k, K):
        mbarrier.expect(loaded, a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [row, start // PACK_A], loaded, left)
        tma.async_load(b, [column, start // PACK_B], loaded, right)
        left_scale.store(gl.load(a_scales + at_left + start // BLOCK))
        right_scale.store(gl.load(b_scales + at_right + start // BLOCK))
        mbarrier.wait(loaded, phase)
        tcgen05_mma_scaled(left, right.permute((1, 0)), total, left_scale, right_scale, A, B, use_acc=start > 0)
        tcgen05_commit(done)
        mbarrier.wait(done, phase)
        phase ^= 1
    mbarrier.invalidate(loaded)
    mbarrier.invalidate(done)
    result = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    result.store(total.load().to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [row, column], result)
    tma.store_wait(0)


@gluon.jit
def as_scales(tile, ROWS: gl.constexpr, COLUMNS: gl.constexpr):
    """The order of the scales in memory, 32 x 4 x 4 a piece, as rows and columns."""
    five = tile.reshape((ROWS // 128, COLUMNS // 4, 32, 4, 4))
    return five.permute((0, 3, 2, 1, 4)).reshape((ROWS, COLUMNS))


@gluon.jit
def scales_by_copies(
    a, b, a_scales, b_scales, c, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, A: gl.constexpr, BLOCK: gl.constexpr,
    DEPTH: gl.constexpr,
):
    PACK: gl.constexpr = 2 if A == "e2m1" else 1
    left = gl.allocate_shared_memory(a.dtype, [DEPTH, M, K // PACK], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [DEPTH, N, K // PACK], b.layout)
    left_scales = gl.allocate_shared_memory(a_scales.dtype, [DEPTH] + a_scales.block_shape, a_scales.layout)
    right_scales = gl.allocate_shared_memory(b_scales.dtype, [DEPTH] + b_scales.block_shape, b_scales.layout)
    total = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], 1))
    left_memory = allocate_tensor_memory(a_scales.dtype, [M, K // BLOCK], TensorMemoryScalesLayout())
    right_memory = allocate_tensor_memory(b_scales.dtype, [N, K // BLOCK], TensorMemoryScalesLayout())
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for i in gl.static_range(DEPTH):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    row, column = gl.program_id(0), gl.program_id(1)
    steps = gl.cdiv(k, K)
    for step in range(steps):
        at = step % DEPTH
        mbarrier.wait(empty.index(at), step // DEPTH & 1 ^ 1)
        bytes: gl.constexpr = a.nbytes_per_cta + b.nbytes_per_cta + a_scales.nbytes_per_cta + b_scales.nbytes_per_cta
        mbarrier.expect(full.index(at), bytes)
        tma.async_load(a, [row * M, step * (K // PACK)], full.index(at), left.index(at))
        tma.async_load(b, [column * N, step * (K // PACK)], full.index(at), right.index(at))
        each: gl.constexpr = K // BLOCK // 4
        tma.async_load(a_scales, [0, row * (M // 128), step * each, 0, 0], full.index(at), left_scales.index(at))
        tma.async_load(b_scales, [0, column * (N // 128), step * each, 0, 0], full.index(at), right_scales.index(at))
        mbarrier.wait(full.index(at), step // DEPTH & 1)
        tcgen05_copy(as_scales(left_scales.index(at), M, K // BLOCK), left_memory)
        tcgen05_copy(as_scales(right_scales.index(at), N, K // BLOCK), right_memory)
        tcgen05_mma_scaled(
            left.index(at), right.index(at).permute((1, 0)), total, left_memory, right_memory, A, A, use_acc=step > 0,
            mbarriers=[empty.index(at)],
        )
    last = steps - 1
    mbarrier.wait(empty.index(last % DEPTH), last // DEPTH & 1)
    result = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    result.store(total.load().to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [row * M, column * N], result)
    tma.store_wait(0)


def tiles(kind, *shape, bits=8, swizzle=128, **rest):
    return f"tensordesc<{kind}[{','.join(map(str, shape))}],{gl.NVMMASharedLayout(swizzle, bits, len(shape), **rest)!r}>"


def operand(kind, rows, depth, padded):
    if kind == "e2m1":
        return tiles("u8", rows, depth // 2, fp4_padded=padded)
    return tiles({"e4m3": "fp8e4nv", "e5m2": "fp8e5"}[kind], rows, depth)


def by_threads(a, b, block, scale="u8", m=128, n=128, k=128, **options):
    mixed = a != b
    return dict(
        kernel=scales_of_threads,
        runtime=dict(
            a=operand(a, m, k, mixed), b=operand(b, n, k, mixed), a_scales=f"*{scale}", b_scales=f"*{scale}",
            c=tiles("fp16", m, n, bits=16), k="i32:16",
        ),
        constants=dict(M=m, N=n, K=k, A=a, B=b, BLOCK=block),
        targets=BLACKWELL,
        options=options,
    )


def by_copies(kind, block, scale="u8", m=128, n=128, k=128, depth=3, **options):
    each = k // block // 4
    return dict(
        kernel=scales_by_copies,
        runtime=dict(
            a=operand(kind, m, k, False), b=operand(kind, n, k, False),
            a_scales=tiles(scale, 1, m // 128, each, 2, 256, swizzle=0),
            b_scales=tiles(scale, 1, n // 128, each, 2, 256, swizzle=0),
            c=tiles("fp16", m, n, bits=16), k="i32:16",
        ),
        constants=dict(M=m, N=n, K=k, A=kind, BLOCK=block, DEPTH=depth),
        targets=BLACKWELL,
        options=options,
    )


MODULES = {
    "scaled_f8": by_threads("e4m3", "e4m3", 32),
    "scaled_f8_f4": by_threads("e5m2", "e2m1", 32),
    "scaled_f4": by_threads("e2m1", "e2m1", 32, k=256),
    "scaled_nvf4": by_threads("e2m1", "e2m1", 16, "fp8e4nv", n=256, k=256, num_warps=8),
    "scaled_copied_f8": by_copies("e4m3", 32),
    "scaled_copied_f4": by_copies("e2m1", 32, n=256, k=256),
    "scaled_copied_nvf4": by_copies("e2m1", 16, "fp8e4nv", n=256, k=256, depth=2, num_warps=8),
}
