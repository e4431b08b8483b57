"""Elementwise kernels, a transposition, reductions, a softmax, atomics, a ring of cp.async copies."""

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync
from cutlass.cute.runtime import make_fake_compact_tensor

ALL = ["sm_80", "sm_90", "sm_100", "sm_120"]
THREADS = 128
TILE = 32


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = block * THREADS + t
    if i < cute.size(a):
        c[i] = a[i] + b[i]


@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    add_kernel(a, b, c).launch(grid=[cute.ceil_div(cute.size(a), THREADS), 1, 1], block=[THREADS, 1, 1])


@cute.kernel
def scale_kernel(
    x: cute.Tensor, out: cute.Tensor, places: cute.Tensor, factor: cutlass.Float32, copy: cute.TiledCopy, shape: cute.Shape
):
    t, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    mine = copy.get_slice(t)
    here = ((None, None), block)
    source = mine.partition_S(x[here])
    target = mine.partition_D(out[here])
    at = mine.partition_S(places[here])
    inside = cute.make_rmem_tensor((1, source.shape[1], source.shape[2]), cutlass.Boolean)
    for i in cutlass.range_constexpr(source.shape[1]):
        for j in cutlass.range_constexpr(source.shape[2]):
            inside[0, i, j] = cute.elem_less(at[0, i, j], shape)
    values = cute.make_rmem_tensor_like(source)
    values.fill(0)
    cute.copy(copy, source, values, pred=inside)
    values.store((values.load().to(cutlass.Float32) * factor).to(out.element_type))
    cute.copy(copy, values, target, pred=inside)


@cute.jit
def scale(x: cute.Tensor, out: cute.Tensor, factor: cutlass.Float32):
    wide = cutlass.const_expr(128 // x.element_type.width)
    threads = cute.make_ordered_layout((4, 32), order=(1, 0))
    tiler, _ = cute.make_layout_tv(threads, cute.make_ordered_layout((4, wide), order=(1, 0)))
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), x.element_type, num_bits_per_copy=128)
    copy = cute.make_tiled_copy_tv(atom, threads, cute.make_layout((1, wide)))
    tiles = cute.zipped_divide(x, tiler)
    places = cute.zipped_divide(cute.make_identity_tensor(x.shape), tiler)
    scale_kernel(tiles, cute.zipped_divide(out, tiler), places, factor, copy, x.shape).launch(
        grid=[cute.size(tiles, mode=[1]), 1, 1], block=[THREADS, 1, 1]
    )


@cute.kernel
def transpose_kernel(x: cute.Tensor, out: cute.Tensor):
    t, u, _ = cute.arch.thread_idx()
    column, row, _ = cute.arch.block_idx()
    memory = cutlass.utils.SmemAllocator()
    tile = memory.allocate_tensor(x.element_type, cute.make_layout((TILE, TILE), stride=(TILE + 1, 1)), 16)
    for i in cutlass.range_constexpr(0, TILE, 8):
        if row * TILE + u + i < x.shape[0] and column * TILE + t < x.shape[1]:
            tile[u + i, t] = x[row * TILE + u + i, column * TILE + t]
    cute.arch.sync_threads()
    for i in cutlass.range_constexpr(0, TILE, 8):
        if column * TILE + u + i < x.shape[1] and row * TILE + t < x.shape[0]:
            out[column * TILE + u + i, row * TILE + t] = tile[t, u + i]


@cute.jit
def transpose(x: cute.Tensor, out: cute.Tensor):
    transpose_kernel(x, out).launch(
        grid=[cute.ceil_div(x.shape[1], TILE), cute.ceil_div(x.shape[0], TILE), 1], block=[TILE, 8, 1]
    )


@cute.jit
def of_block(value: cutlass.Float32, partial: cute.Tensor, largest: cutlass.Constexpr):
    """The sum or the maximum over a block, in all of its threads."""
    combine = cute.arch.fmax if cutlass.const_expr(largest) else lambda a, b: a + b
    warp = cute.arch.warp_idx()
    value = cute.arch.warp_reduction(value, combine)
    if cute.arch.lane_idx() == 0:
        partial[warp] = value
    cute.arch.sync_threads()
    result = partial[0]
    for i in cutlass.range_constexpr(1, THREADS // 32):
        result = combine(result, partial[i])
    cute.arch.sync_threads()
    return result


@cute.kernel
def softmax_kernel(x: cute.Tensor, out: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    partial = cutlass.utils.SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(THREADS // 32), 16)
    columns = x.shape[1]
    most = cutlass.Float32(-3.0e38)
    for i in range(t, columns, THREADS):
        most = cute.arch.fmax(most, x[row, i].to(cutlass.Float32))
    most = of_block(most, partial, True)
    total = cutlass.Float32(0)
    for i in range(t, columns, THREADS):
        total += cute.math.exp(x[row, i].to(cutlass.Float32) - most, fastmath=True)
    total = of_block(total, partial, False)
    for i in range(t, columns, THREADS):
        value = cute.math.exp(x[row, i].to(cutlass.Float32) - most, fastmath=True) / total
        out[row, i] = value.to(out.element_type)


@cute.jit
def softmax(x: cute.Tensor, out: cute.Tensor):
    softmax_kernel(x, out).launch(grid=[x.shape[0], 1, 1], block=[THREADS, 1, 1])


@cute.kernel
def sums_kernel(x: cute.Tensor, out: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    blocks, _, _ = cute.arch.grid_dim()
    partial = cutlass.utils.SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(THREADS // 32), 16)
    total = cutlass.Float32(0)
    for i in range(block * THREADS + t, cute.size(x), blocks * THREADS):
        total += x[i]
    total = of_block(total, partial, False)
    if t == 0:
        cute.arch.atomic_add(out.iterator.llvm_ptr, total, sem="relaxed", scope="gpu")


@cute.jit
def sums(x: cute.Tensor, out: cute.Tensor):
    sums_kernel(x, out).launch(grid=[128, 1, 1], block=[THREADS, 1, 1])


@cute.kernel
def ring_kernel(x: cute.Tensor, out: cute.Tensor, depth: cutlass.Constexpr):
    t, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    each = 128 // x.element_type.width
    box = cutlass.utils.SmemAllocator().allocate_tensor(
        x.element_type, cute.make_layout((depth, THREADS, each), stride=(THREADS * each, each, 1)), 128
    )
    atom = cute.make_copy_atom(
        cpasync.CopyG2SOp(cache_mode=cpasync.LoadCacheMode.GLOBAL), x.element_type, num_bits_per_copy=128
    )
    pieces = cute.zipped_divide(x[row, None], (each,))
    steps = cute.size(pieces, mode=[1]) // THREADS
    for i in cutlass.range_constexpr(depth - 1):
        if i < steps:
            cute.copy(atom, pieces[None, i * THREADS + t], box[i, t, None])
        cute.arch.cp_async_commit_group()
    total = cute.make_rmem_tensor((each,), cutlass.Float32)
    total.fill(0.0)
    for i in range(steps):
        cute.arch.cp_async_wait_group(depth - 2)
        cute.arch.sync_threads()
        total.store(total.load() + box[i % depth, t, None].load().to(cutlass.Float32))
        ahead = i + depth - 1
        if ahead < steps:
            cute.copy(atom, pieces[None, ahead * THREADS + t], box[ahead % depth, t, None])
        cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)
    for i in cutlass.range_constexpr(each):
        out[row, t * each + i] = total[i]


@cute.jit
def ring(x: cute.Tensor, out: cute.Tensor):
    ring_kernel(x, out, 3).launch(grid=[x.shape[0], 1, 1], block=[THREADS, 1, 1])


def vector(kind):
    return make_fake_compact_tensor(kind, (cute.sym_int(),), assumed_align=16)


def matrix(kind, divisible=8):
    shape = (cute.sym_int(), cute.sym_int(divisibility=divisible))
    return make_fake_compact_tensor(kind, shape, stride_order=(1, 0), assumed_align=16)


def entry(kernel, *arguments, targets=ALL):
    return dict(kernel=kernel, arguments=arguments, targets=targets)


F32, F16, BF16 = cutlass.Float32, cutlass.Float16, cutlass.BFloat16
MODULES = {
    "add": entry(add, vector(F32), vector(F32), vector(F32)),
    "scale_f16": entry(scale, matrix(F16), matrix(F16), F32(2.0)),
    "scale_f32": entry(scale, matrix(F32), matrix(F32), F32(2.0)),
    "transpose": entry(transpose, matrix(F32), matrix(F32)),
    "softmax": entry(softmax, matrix(BF16), matrix(BF16)),
    "sums": entry(sums, vector(F32), vector(F32)),
    "ring": entry(ring, matrix(F16, 8 * THREADS), matrix(F32)),
}
