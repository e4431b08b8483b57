"""A matrix product with TMA and tcgen05: one tile a CTA, by CTA pairs and clusters, warp-specialised and persistent."""

import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
import cutlass.utils as utils
import cutlass.utils.blackwell_helpers as sm100
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, tcgen05
from cutlass.cute.runtime import make_fake_compact_tensor

BLACKWELL = ["sm_100"]
THREADS = 128
F16, F32, F8 = cutlass.Float16, cutlass.Float32, cutlass.Float8E4M3FN


@cute.kernel
def gemm_kernel(
    mma: cute.TiledMma, copy_a: cute.CopyAtom, a: cute.Tensor, copy_b: cute.CopyAtom, b: cute.Tensor, c: cute.Tensor,
    layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout, cluster: cute.Layout, kind: cutlass.Constexpr,
    tile: cutlass.Constexpr, depth: cutlass.Constexpr,
):
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    x, y, _ = cute.arch.block_idx()
    pair = cute.size(mma.thr_id.shape)
    rank = cute.arch.make_warp_uniform(cute.arch.block_idx_in_cluster())
    place = cluster.get_flat_coord(rank)
    leader = place[0] == 0
    at = (x // pair, y, None)

    memory = utils.SmemAllocator()
    left = memory.allocate_tensor(kind, layout_a.outer, 1024, swizzle=layout_a.inner)
    right = memory.allocate_tensor(kind, layout_b.outer, 1024, swizzle=layout_b.inner)
    bytes = pair * (
        cute.size_in_bytes(kind, cute.select(layout_a, mode=[0, 1, 2]))
        + cute.size_in_bytes(kind, cute.select(layout_b, mode=[0, 1, 2]))
    )
    one = pipeline.CooperativeGroup(pipeline.Agent.Thread)
    partners = cute.size(cluster, mode=[1]) + cute.size(cluster, mode=[2]) - 1
    producer, consumer = pipeline.PipelineTmaUmma.create(
        num_stages=depth,
        producer_group=one,
        consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, partners),
        tx_count=bytes,
        cta_layout_vmnk=cluster,
    ).make_participants()
    done_producer, done_consumer = pipeline.PipelineUmmaAsync.create(
        num_stages=1,
        producer_group=one,
        consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, THREADS * pair),
        cta_layout_vmnk=cluster,
    ).make_participants()
    columns = utils.TmemAllocator(
        barrier_for_retrieve=pipeline.NamedBarrier(barrier_id=1, num_threads=THREADS), is_two_cta=pair == 2
    )
    columns.allocate(512)

    slice = mma.get_slice(place[0])
    tile_a = cute.local_tile(a, cute.select(tile, mode=[0, 2]), (at[0], None))
    tile_b = cute.local_tile(b, cute.select(tile, mode=[1, 2]), (at[1], None))
    tile_c = cute.local_tile(c, cute.select(tile, mode=[0, 1]), at[:2])
    part_c = slice.partition_C(tile_c)
    to_left, from_a = cpasync.tma_partition(
        copy_a, place[2], cute.make_layout(cute.size(cluster, mode=[2])), cute.group_modes(left, 0, 3),
        cute.group_modes(slice.partition_A(tile_a), 0, 3),
    )
    to_right, from_b = cpasync.tma_partition(
        copy_b, place[1], cute.make_layout(cute.size(cluster, mode=[1])), cute.group_modes(right, 0, 3),
        cute.group_modes(slice.partition_B(tile_b), 0, 3),
    )
    fragment_a, fragment_b = mma.make_fragment_A(left), mma.make_fragment_B(right)
    mask_a, mask_b = None, None
    if cutlass.const_expr(cute.size(cluster) > 1):
        mask_a = cpasync.create_tma_multicast_mask(cluster, place, mcast_mode=2)
        mask_b = cpasync.create_tma_multicast_mask(cluster, place, mcast_mode=1)
    columns.wait_for_alloc()
    total = cute.make_tensor(
        columns.retrieve_ptr(F32), mma.make_fragment_C(mma.partition_shape_C(tile[:2])).layout
    )

    steps = cute.size(from_a, mode=[1])
    if warp == 0:
        if leader:
            done_producer.acquire()
        for step in cutlass.range(steps, prefetch_stages=depth - 2):
            slot = producer.acquire_and_advance()
            cute.copy(copy_a, from_a[None, slot.count], to_left[None, slot.index], tma_bar_ptr=slot.barrier, mcast_mask=mask_a)
            cute.copy(copy_b, from_b[None, slot.count], to_right[None, slot.index], tma_bar_ptr=slot.barrier, mcast_mask=mask_b)
            if leader:
                ready = consumer.wait_and_advance()
                for i in cutlass.range_constexpr(cute.size(fragment_a, mode=[2])):
                    mma.set(tcgen05.Field.ACCUMULATE, step > 0 or i > 0)
                    cute.gemm(mma, total, fragment_a[None, None, i, ready.index], fragment_b[None, None, i, ready.index], total)
                ready.release()
        if leader:
            done_producer.commit()

    columns.relinquish_alloc_permit()
    finished = done_consumer.wait_and_advance()
    load = tcgen05.make_tmem_copy(
        cute.make_copy_atom(tcgen05.Ld32x32bOp(tcgen05.Repetition.x32), F32), total[(None, None), 0, 0]
    )
    each = load.get_slice(thread)
    from_total = each.partition_S(total[(None, None), 0, 0])
    to_c = each.partition_D(part_c[(None, None), 0, 0])
    for i in cutlass.range(cute.size(from_total, mode=[2])):
        values = cute.make_rmem_tensor(to_c[None, None, 0].shape, F32)
        cute.copy(load, from_total[None, None, i], values)
        result = cute.make_rmem_tensor(values.shape, c.element_type)
        result.store(values.load().to(c.element_type))
        cute.autovec_copy(result, to_c[None, None, i])
    finished.release()
    if warp == 0:
        producer.tail()
    pipeline.sync(barrier_id=2)
    columns.free(columns.retrieve_ptr(F32))


@cute.jit
def gemm(
    a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tile: cutlass.Constexpr, shape: cutlass.Constexpr, depth: cutlass.Constexpr
):
    pair = tile[0] == 256
    group = tcgen05.CtaGroup.TWO if cutlass.const_expr(pair) else tcgen05.CtaGroup.ONE
    mma = sm100.make_trivial_tiled_mma(
        a.element_type, b.element_type, OperandMajorMode.K, OperandMajorMode.K, F32, group, tile[:2]
    )
    layout_a = sm100.make_smem_layout_a(mma, tile, a.element_type, depth)
    layout_b = sm100.make_smem_layout_b(mma, tile, b.element_type, depth)
    cluster = cute.tiled_divide(cute.make_layout((*shape, 1)), (mma.thr_id,))
    load_a = sm100.cluster_shape_to_tma_atom_A(shape, mma.thr_id)
    load_b = sm100.cluster_shape_to_tma_atom_B(shape, mma.thr_id)
    copy_a, map_a = cute.nvgpu.make_tiled_tma_atom_A(
        load_a, a, cute.select(layout_a, mode=[0, 1, 2]), tile, mma, cluster.shape
    )
    copy_b, map_b = cute.nvgpu.make_tiled_tma_atom_B(
        load_b, b, cute.select(layout_b, mode=[0, 1, 2]), tile, mma, cluster.shape
    )
    grid = cute.round_up(
        (cute.ceil_div(a.shape[0], tile[0] // (2 if cutlass.const_expr(pair) else 1)), cute.ceil_div(b.shape[0], tile[1]), 1),
        (*shape, 1),
    )
    gemm_kernel(mma, copy_a, map_a, copy_b, map_b, c, layout_a, layout_b, cluster, a.element_type, tile, depth).launch(
        grid=grid, block=[THREADS, 1, 1], cluster=(*shape, 1)
    )


def matrix(kind, divisible=16):
    shape = (cute.sym_int(divisibility=divisible), cute.sym_int(divisibility=divisible))
    return make_fake_compact_tensor(kind, shape, stride_order=(1, 0), assumed_align=16)


def entry(kind, tile, shape, depth, result=F16):
    return dict(kernel=gemm, arguments=(matrix(kind), matrix(kind), matrix(result), tile, shape, depth), targets=BLACKWELL)


MODULES = {
    "tcgen05_gemm": entry(F16, (128, 128, 64), (1, 1), 4),
    "tcgen05_gemm_f8": entry(F8, (128, 256, 128), (1, 1), 3),
    "tcgen05_gemm_pair": entry(F16, (256, 128, 64), (2, 1), 4),
    "tcgen05_gemm_cluster": entry(F16, (256, 256, 64), (4, 2), 3, F32),
    "tcgen05_gemm_multicast": entry(cutlass.BFloat16, (128, 128, 64), (2, 2), 4),
}
