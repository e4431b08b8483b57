"""Clusters and barriers by hand: a softmax over the shared memory of peers, sums that TMA adds, a handshake of two warps."""

import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
import cutlass.utils as utils
from cutlass.cute.nvgpu import cpasync
from cutlass.cute.runtime import make_fake_compact_tensor

NEW = ["sm_90", "sm_100"]
THREADS = 128
F32 = cutlass.Float32


@cute.jit
def of_warp(value: cutlass.Float32, largest: cutlass.Constexpr):
    return cute.arch.warp_reduction(value, cute.arch.fmax if cutlass.const_expr(largest) else lambda a, b: a + b)


@cute.jit
def of_cluster(
    value: cutlass.Float32, parts: cute.Tensor, bar: cute.Pointer, size: cutlass.Constexpr, largest: cutlass.Constexpr
):
    """Each warp sends what it has to all CTAs of the cluster; each CTA counts the bytes that come."""
    warp, lane = cute.arch.warp_idx(), cute.arch.lane_idx()
    rank = cute.arch.block_idx_in_cluster()
    value = of_warp(value, largest)
    if warp == 0:
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(bar, size * (THREADS // 32) * 4)
    if lane < size:
        there = parts.iterator + cute.crd2idx((warp, rank), parts.layout)
        cute.arch.store_async_dsmem(there, value, bar, lane)
    cute.arch.mbarrier_wait(bar, 0)
    result = F32(-3.0e38 if cutlass.const_expr(largest) else 0.0)
    if lane < cute.size(parts):
        result = parts[lane]
    return of_warp(result, largest)


@cute.kernel
def softmax_kernel(x: cute.Tensor, out: cute.Tensor, size: cutlass.Constexpr):
    t, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.cluster_idx()
    rank = cute.arch.block_idx_in_cluster()
    memory = utils.SmemAllocator()
    parts = memory.allocate_tensor(F32, cute.make_layout((THREADS // 32, size, 2)), 16)
    bars = memory.allocate_array(cutlass.Int64, 2)
    if t == 0:
        for i in cutlass.range_constexpr(2):
            cute.arch.mbarrier_init(bars + i, 1)
        cute.arch.mbarrier_init_fence()
    cute.arch.cluster_arrive_relaxed()
    cute.arch.cluster_wait()
    most, total = F32(-3.0e38), F32(0)
    for i in range(rank * THREADS + t, x.shape[1], size * THREADS):
        most = cute.arch.fmax(most, x[row, i])
    most = of_cluster(most, parts[None, None, 0], bars, size, True)
    for i in range(rank * THREADS + t, x.shape[1], size * THREADS):
        total += cute.math.exp(x[row, i] - most, fastmath=True)
    total = of_cluster(total, parts[None, None, 1], bars + 1, size, False)
    for i in range(rank * THREADS + t, x.shape[1], size * THREADS):
        out[row, i] = cute.math.exp(x[row, i] - most, fastmath=True) / total
    cute.arch.cluster_arrive()
    cute.arch.cluster_wait()


@cute.jit
def softmax(x: cute.Tensor, out: cute.Tensor, size: cutlass.Constexpr):
    softmax_kernel(x, out, size).launch(grid=[x.shape[0] * size, 1, 1], block=[THREADS, 1, 1], cluster=[size, 1, 1])


@cute.kernel
def added_kernel(load: cute.CopyAtom, x: cute.Tensor, add: cute.CopyAtom, out: cute.Tensor, tile: cutlass.Constexpr):
    t, _, _ = cute.arch.thread_idx()
    row, column, _ = cute.arch.block_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    memory = utils.SmemAllocator()
    box = memory.allocate_tensor(F32, cute.make_layout(tile, stride=(tile[1], 1)), 128)
    bar = memory.allocate_array(cutlass.Int64, 1)
    if warp == 0:
        cpasync.prefetch_descriptor(load)
        with cute.arch.elect_one():
            cute.arch.mbarrier_init(bar, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    single = cute.make_layout(1)
    to_box, from_x = cpasync.tma_partition(
        load, 0, single, cute.group_modes(box, 0, 2), cute.group_modes(cute.local_tile(x, tile, (row, column)), 0, 2)
    )
    from_box, to_out = cpasync.tma_partition(
        add, 0, single, cute.group_modes(box, 0, 2), cute.group_modes(cute.local_tile(out, tile, (0, column)), 0, 2)
    )
    if warp == 0:
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(bar, tile[0] * tile[1] * 4)
        cute.copy(load, from_x, to_box, tma_bar_ptr=bar)
    cute.arch.mbarrier_wait(bar, 0)
    for i in cutlass.range_constexpr(tile[0] * tile[1] // THREADS):
        at = i * THREADS + t
        box[at // tile[1], at % tile[1]] = box[at // tile[1], at % tile[1]] * 2.0
    cute.arch.fence_proxy("async.shared", space="cta")
    cute.arch.sync_threads()
    if warp == 0:
        cute.copy(add, from_box, to_out)
        cute.arch.cp_async_bulk_commit_group()
        cute.arch.cp_async_bulk_wait_group(0, read=True)


@cute.jit
def added(x: cute.Tensor, out: cute.Tensor):
    tile = (16, 64)
    layout = cute.make_layout(tile, stride=(tile[1], 1))
    load, from_x = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), x, layout, tile)
    add, to_out = cpasync.make_tiled_tma_atom(cpasync.CopyReduceBulkTensorTileS2GOp(cute.ReductionOp.ADD), out, layout, tile)
    added_kernel(load, from_x, add, to_out, tile).launch(grid=[*cute.ceil_div(x.shape, tile), 1], block=[THREADS, 1, 1])


@cute.kernel
def handshake_kernel(x: cute.Tensor, out: cute.Tensor, depth: cutlass.Constexpr):
    """One warp squares, the other sums; a pipeline without TMA is between them."""
    warp, lane = cute.arch.make_warp_uniform(cute.arch.warp_idx()), cute.arch.lane_idx()
    box = utils.SmemAllocator().allocate_tensor(F32, cute.make_layout((32, depth)), 16)
    group = pipeline.CooperativeGroup(pipeline.Agent.Thread, 32)
    producer, consumer = pipeline.PipelineAsync.create(
        num_stages=depth, producer_group=group, consumer_group=group
    ).make_participants()
    steps = cute.size(x) // 32
    if warp == 0:
        for i in cutlass.range(steps, unroll=1):
            slot = producer.acquire_and_advance()
            value = x[i * 32 + lane]
            box[lane, slot.index] = value * value
            slot.commit()
        producer.tail()
    else:
        total = F32(0)
        for _ in cutlass.range(steps, unroll=1):
            slot = consumer.wait_and_advance()
            total += box[lane, slot.index]
            slot.release()
        out[lane] = total


@cute.jit
def handshake(x: cute.Tensor, out: cute.Tensor):
    handshake_kernel(x, out, 3).launch(grid=[1, 1, 1], block=[64, 1, 1])


def matrix(kind):
    shape = (cute.sym_int(), cute.sym_int(divisibility=4))
    return make_fake_compact_tensor(kind, shape, stride_order=(1, 0), assumed_align=16)


def vector(kind):
    return make_fake_compact_tensor(kind, (cute.sym_int(),), assumed_align=16)


def entry(kernel, *arguments, targets=NEW):
    return dict(kernel=kernel, arguments=arguments, targets=targets)


MODULES = {
    "cluster_softmax": entry(softmax, matrix(F32), matrix(F32), 4),
    "tma_added": entry(added, matrix(F32), matrix(F32), targets=["sm_90", "sm_100", "sm_120"]),
    "handshake": entry(handshake, vector(F32), vector(F32), targets=["sm_90", "sm_100", "sm_120"]),
}
