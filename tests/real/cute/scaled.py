"""A matrix product with tcgen05 and scales for blocks, which tcgen05.cp brings into Tensor Memory."""

import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
import cutlass.utils as utils
import cutlass.utils.blackwell_helpers as sm100
import cutlass.utils.blockscaled_layout as scales
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, tcgen05
from cutlass.cute.runtime import make_fake_compact_tensor

BLACKWELL = ["sm_100"]
THREADS = 128
F32 = cutlass.Float32


@cute.jit
def into_memory(source: cute.Tensor, target: cute.Tensor, kind: cutlass.Constexpr):
    """The copy of scales, and what it reads and writes."""
    op = tcgen05.Cp4x32x128bOp(tcgen05.CtaGroup.ONE)
    copy = tcgen05.make_s2t_copy(cute.make_copy_atom(op, kind), cute.filter_zeros(target))
    each = copy.get_slice(0)
    read = tcgen05.get_s2t_smem_desc_tensor(copy, each.partition_S(cute.filter_zeros(source)))
    return copy, read, each.partition_D(cute.filter_zeros(target))


@cute.kernel
def gemm_kernel(
    mma: cute.TiledMma, copy_a: cute.CopyAtom, a: cute.Tensor, copy_b: cute.CopyAtom, b: cute.Tensor,
    copy_sa: cute.CopyAtom, sa: cute.Tensor, copy_sb: cute.CopyAtom, sb: cute.Tensor, c: cute.Tensor,
    layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout, layout_sa: cute.Layout, layout_sb: cute.Layout,
    kinds: cutlass.Constexpr, tile: cutlass.Constexpr, block: cutlass.Constexpr, depth: cutlass.Constexpr,
):
    kind, scale = kinds
    thread, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    x, y, _ = cute.arch.block_idx()
    memory = utils.SmemAllocator()
    left = memory.allocate_tensor(kind, layout_a.outer, 1024, swizzle=layout_a.inner)
    right = memory.allocate_tensor(kind, layout_b.outer, 1024, swizzle=layout_b.inner)
    left_scales = memory.allocate_tensor(scale, layout_sa, 1024)
    right_scales = memory.allocate_tensor(scale, layout_sb, 1024)
    bytes = (
        cute.size_in_bytes(kind, cute.select(layout_a, mode=[0, 1, 2]))
        + cute.size_in_bytes(kind, cute.select(layout_b, mode=[0, 1, 2]))
        + cute.size_in_bytes(scale, cute.slice_(layout_sa, (None, None, None, 0)))
        + cute.size_in_bytes(scale, cute.slice_(layout_sb, (None, None, None, 0)))
    )
    one = pipeline.CooperativeGroup(pipeline.Agent.Thread)
    producer, consumer = pipeline.PipelineTmaUmma.create(
        num_stages=depth, producer_group=one, consumer_group=one, tx_count=bytes
    ).make_participants()
    done_producer, done_consumer = pipeline.PipelineUmmaAsync.create(
        num_stages=1, producer_group=one, consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, THREADS)
    ).make_participants()
    columns = utils.TmemAllocator(barrier_for_retrieve=pipeline.NamedBarrier(barrier_id=1, num_threads=THREADS))
    columns.allocate(512)

    slice = mma.get_slice(0)
    single = cute.make_layout(1)

    def parts(copy, whole, shape, at, target, partition):
        tiles = partition(cute.local_tile(whole, shape, at))
        return cpasync.tma_partition(
            copy, 0, single, cute.group_modes(cute.filter_zeros(target), 0, 3), cute.group_modes(cute.filter_zeros(tiles), 0, 3)
        )

    of_a, of_b = cute.select(tile, mode=[0, 2]), cute.select(tile, mode=[1, 2])
    to_left, from_a = parts(copy_a, a, of_a, (x, None), left, slice.partition_A)
    to_right, from_b = parts(copy_b, b, of_b, (y, None), right, slice.partition_B)
    to_left_scales, from_sa = parts(copy_sa, sa, of_a, (x, None), left_scales, slice.partition_A)
    to_right_scales, from_sb = parts(copy_sb, sb, of_b, (y, None), right_scales, slice.partition_B)
    part_c = slice.partition_C(cute.local_tile(c, cute.select(tile, mode=[0, 1]), (x, y)))
    fragment_a, fragment_b = mma.make_fragment_A(left), mma.make_fragment_B(right)

    columns.wait_for_alloc()
    pointer = columns.retrieve_ptr(F32)
    total = cute.make_tensor(pointer, mma.make_fragment_C(mma.partition_shape_C(tile[:2])).layout)
    after = tcgen05.find_tmem_tensor_col_offset(total)
    memory_sa = cute.make_tensor(
        cute.recast_ptr(pointer + after, dtype=scale),
        scales.make_tmem_layout_sfa(mma, tile, block, cute.slice_(layout_sa, (None, None, None, 0))),
    )
    memory_sb = cute.make_tensor(
        cute.recast_ptr(pointer + after + tcgen05.find_tmem_tensor_col_offset(memory_sa), dtype=scale),
        scales.make_tmem_layout_sfb(mma, tile, block, cute.slice_(layout_sb, (None, None, None, 0))),
    )
    bring_a, read_a, write_a = into_memory(left_scales, memory_sa, scale)
    bring_b, read_b, write_b = into_memory(right_scales, memory_sb, scale)

    steps = cute.size(from_a, mode=[1])
    if warp == 0:
        done_producer.acquire()
        for step in cutlass.range(steps, prefetch_stages=depth - 1):
            slot = producer.acquire_and_advance()
            cute.copy(copy_a, from_a[None, slot.count], to_left[None, slot.index], tma_bar_ptr=slot.barrier)
            cute.copy(copy_b, from_b[None, slot.count], to_right[None, slot.index], tma_bar_ptr=slot.barrier)
            cute.copy(copy_sa, from_sa[None, slot.count], to_left_scales[None, slot.index], tma_bar_ptr=slot.barrier)
            cute.copy(copy_sb, from_sb[None, slot.count], to_right_scales[None, slot.index], tma_bar_ptr=slot.barrier)
            ready = consumer.wait_and_advance()
            place = (None, None, None, None, ready.index)
            cute.copy(bring_a, read_a[place], write_a)
            cute.copy(bring_b, read_b[place], write_b)
            for i in cutlass.range_constexpr(cute.size(fragment_a, mode=[2])):
                mma.set(tcgen05.Field.ACCUMULATE, step > 0 or i > 0)
                mma.set(tcgen05.Field.SFA, memory_sa[None, None, i].iterator)
                mma.set(tcgen05.Field.SFB, memory_sb[None, None, i].iterator)
                where = (None, None, i, ready.index)
                cute.gemm(mma, total, fragment_a[where], fragment_b[where], total)
            ready.release()
        done_producer.commit()

    columns.relinquish_alloc_permit()
    finished = done_consumer.wait_and_advance()
    load = tcgen05.make_tmem_copy(
        cute.make_copy_atom(tcgen05.Ld32x32bOp(tcgen05.Repetition.x64), F32), total[(None, None), 0, 0]
    )
    each = load.get_slice(thread)
    from_total, to_c = each.partition_S(total[(None, None), 0, 0]), each.partition_D(part_c[(None, None), 0, 0])
    for i in cutlass.range(cute.size(from_total, mode=[2])):
        values = cute.make_rmem_tensor(to_c[None, None, 0].shape, F32)
        cute.copy(load, from_total[None, None, i], values)
        cute.arch.fence_view_async_tmem_load()
        result = cute.make_rmem_tensor(values.shape, c.element_type)
        result.store(values.load().to(c.element_type))
        cute.autovec_copy(result, to_c[None, None, i])
    finished.release()
    pipeline.sync(barrier_id=2)
    columns.free(pointer)


@cute.jit
def gemm(
    a: cute.Tensor, b: cute.Tensor, sa: cute.Tensor, sb: cute.Tensor, c: cute.Tensor, tile: cutlass.Constexpr,
    block: cutlass.Constexpr, depth: cutlass.Constexpr,
):
    kind, scale = a.element_type, sa.element_type
    mma = sm100.make_blockscaled_trivial_tiled_mma(
        kind, kind, OperandMajorMode.K, OperandMajorMode.K, scale, block, tcgen05.CtaGroup.ONE, tile[:2]
    )
    layout_a = sm100.make_smem_layout_a(mma, tile, kind, depth)
    layout_b = sm100.make_smem_layout_b(mma, tile, kind, depth)
    layout_sa = scales.make_smem_layout_sfa(mma, tile, block, depth)
    layout_sb = scales.make_smem_layout_sfb(mma, tile, block, depth)
    whole_sa = cute.make_tensor(sa.iterator, scales.tile_atom_to_shape_SF((*a.shape, 1), block))
    whole_sb = cute.make_tensor(sb.iterator, scales.tile_atom_to_shape_SF((*b.shape, 1), block))
    load = cpasync.CopyBulkTensorTileG2SOp()
    first = lambda layout: cute.slice_(layout, (None, None, None, 0))
    atom = lambda make, whole, layout, **more: make(load, whole, first(layout), tile, mma, (1, 1, 1, 1), **more)
    copy_a, map_a = atom(cute.nvgpu.make_tiled_tma_atom_A, a, layout_a)
    copy_b, map_b = atom(cute.nvgpu.make_tiled_tma_atom_B, b, layout_b)
    copy_sa, map_sa = atom(cute.nvgpu.make_tiled_tma_atom_A, whole_sa[None, None, 0], layout_sa, internal_type=cutlass.Int16)
    copy_sb, map_sb = atom(cute.nvgpu.make_tiled_tma_atom_B, whole_sb[None, None, 0], layout_sb, internal_type=cutlass.Int16)
    gemm_kernel(
        mma, copy_a, map_a, copy_b, map_b, copy_sa, map_sa, copy_sb, map_sb, c, layout_a, layout_b, layout_sa, layout_sb,
        (kind, scale), tile, block, depth,
    ).launch(grid=[*cute.ceil_div(c.shape, tile[:2]), 1], block=[THREADS, 1, 1])


def matrix(kind):
    shape = (cute.sym_int(divisibility=128), cute.sym_int(divisibility=256))
    return make_fake_compact_tensor(kind, shape, stride_order=(1, 0), assumed_align=32)


def entry(kind, scale, tile, block, depth):
    numbers = make_fake_compact_tensor(scale, (cute.sym_int(divisibility=512),), assumed_align=32)
    arguments = (matrix(kind), matrix(kind), numbers, numbers, matrix(cutlass.Float16), tile, block, depth)
    return dict(kernel=gemm, arguments=arguments, targets=BLACKWELL)


MODULES = {
    "tcgen05_scaled_f8": entry(cutlass.Float8E4M3FN, cutlass.Float8E8M0FNU, (128, 128, 128), 32, 4),
    "tcgen05_scaled_f4": entry(cutlass.Float4E2M1FN, cutlass.Float8E8M0FNU, (128, 128, 256), 32, 3),
    "tcgen05_scaled_nvf4": entry(cutlass.Float4E2M1FN, cutlass.Float8E4M3FN, (128, 128, 256), 16, 3),
}
