"""A matrix product with cp.async, ldmatrix and mma.sync; on sm_120 also one that TMA feeds."""

import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
import cutlass.utils as utils
from cutlass.cute.nvgpu import cpasync, warp
from cutlass.cute.runtime import make_fake_compact_tensor

ALL = ["sm_80", "sm_90", "sm_100", "sm_120"]
THREADS = 128
F16, F32 = cutlass.Float16, cutlass.Float32


def box(kind, rows, deep, depth):
    """Rows of 64 elements, swizzled so that ldmatrix meets each bank once."""
    atom = cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout((8, deep), stride=(deep, 1)))
    return cute.tile_to_shape(atom, (rows, deep, depth), (0, 1, 2))


@cute.jit
def multiply(mma, read_a, read_b, from_left, from_right, to_a, to_b, fragment_a, fragment_b, total):
    for i in cutlass.range_constexpr(cute.size(fragment_a, mode=[2])):
        cute.copy(read_a, from_left[None, None, i], to_a[None, None, i])
        cute.copy(read_b, from_right[None, None, i], to_b[None, None, i])
        cute.gemm(mma, total, fragment_a[None, None, i], fragment_b[None, None, i], total)


@cute.kernel
def asynchronous(
    a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout,
    copy: cute.TiledCopy, mma: cute.TiledMma, tile: cutlass.Constexpr, depth: cutlass.Constexpr,
):
    thread, _, _ = cute.arch.thread_idx()
    x, y, _ = cute.arch.block_idx()
    memory = utils.SmemAllocator()
    left = memory.allocate_tensor(a.element_type, layout_a, 128)
    right = memory.allocate_tensor(b.element_type, layout_b, 128)
    tile_a = cute.local_tile(a, (tile[0], tile[2]), (x, None))
    tile_b = cute.local_tile(b, (tile[1], tile[2]), (y, None))
    tile_c = cute.local_tile(c, tile[:2], (x, y))
    places_a = cute.local_tile(cute.make_identity_tensor(a.shape), (tile[0], tile[2]), (x, None))
    places_b = cute.local_tile(cute.make_identity_tensor(b.shape), (tile[1], tile[2]), (y, None))
    loader = copy.get_slice(thread)
    from_a, to_left, at_a = loader.partition_S(tile_a), loader.partition_D(left), loader.partition_S(places_a)
    from_b, to_right, at_b = loader.partition_S(tile_b), loader.partition_D(right), loader.partition_S(places_b)
    inside_a = cute.make_rmem_tensor((1, from_a.shape[1], 1), cutlass.Boolean)
    inside_b = cute.make_rmem_tensor((1, from_b.shape[1], 1), cutlass.Boolean)
    for i in cutlass.range_constexpr(from_a.shape[1]):
        inside_a[0, i, 0] = cute.elem_less(at_a[0, i, 0, 0][0], a.shape[0])
    for i in cutlass.range_constexpr(from_b.shape[1]):
        inside_b[0, i, 0] = cute.elem_less(at_b[0, i, 0, 0][0], b.shape[0])
    steps = cute.size(tile_a, mode=[2])
    for i in cutlass.range_constexpr(depth - 1):
        if i < steps:
            cute.copy(copy, from_a[None, None, None, i], to_left[None, None, None, i], pred=inside_a)
            cute.copy(copy, from_b[None, None, None, i], to_right[None, None, None, i], pred=inside_b)
        cute.arch.cp_async_commit_group()

    group = mma.get_slice(thread)
    fragment_a = mma.make_fragment_A(group.partition_A(left[None, None, 0]))
    fragment_b = mma.make_fragment_B(group.partition_B(right[None, None, 0]))
    part_c = group.partition_C(tile_c)
    total = mma.make_fragment_C(part_c)
    total.fill(0.0)
    atom = cute.make_copy_atom(warp.LdMatrix8x8x16bOp(False, 4), a.element_type)
    read_a, read_b = cute.make_tiled_copy_A(atom, mma), cute.make_tiled_copy_B(atom, mma)
    from_left, to_a = read_a.get_slice(thread).partition_S(left), read_a.get_slice(thread).retile(fragment_a)
    from_right, to_b = read_b.get_slice(thread).partition_S(right), read_b.get_slice(thread).retile(fragment_b)
    for step in range(steps):
        cute.arch.cp_async_wait_group(depth - 2)
        cute.arch.sync_threads()
        ahead = step + depth - 1
        if ahead < steps:
            cute.copy(copy, from_a[None, None, None, ahead], to_left[None, None, None, ahead % depth], pred=inside_a)
            cute.copy(copy, from_b[None, None, None, ahead], to_right[None, None, None, ahead % depth], pred=inside_b)
        cute.arch.cp_async_commit_group()
        now = step % depth
        multiply(
            mma, read_a, read_b, from_left[None, None, None, now], from_right[None, None, None, now], to_a, to_b, fragment_a,
            fragment_b, total,
        )
    cute.arch.cp_async_wait_group(0)
    result = cute.make_rmem_tensor_like(total, c.element_type)
    result.store(total.load().to(c.element_type))
    places = group.partition_C(cute.local_tile(cute.make_identity_tensor(c.shape), tile[:2], (x, y)))
    for i in cutlass.range_constexpr(cute.size(result)):
        if cute.elem_less(places[i], c.shape):
            part_c[i] = result[i]


def tiled_mma(kind, tile):
    return cute.make_tiled_mma(
        warp.MmaF16BF16Op(kind, F32, (16, 8, 16)), cute.make_layout((2, 2, 1)), permutation_mnk=(32, 32, 16)
    )


@cute.jit
def gemm(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tile: cutlass.Constexpr, depth: cutlass.Constexpr):
    atom = cute.make_copy_atom(
        cpasync.CopyG2SOp(cache_mode=cpasync.LoadCacheMode.GLOBAL), a.element_type, num_bits_per_copy=128
    )
    across = tile[2] // 8
    threads = cute.make_layout((THREADS // across, across), stride=(across, 1))
    copy = cute.make_tiled_copy_tv(atom, threads, cute.make_layout((1, 8)))
    asynchronous(
        a, b, c, box(a.element_type, tile[0], tile[2], depth), box(b.element_type, tile[1], tile[2], depth), copy,
        tiled_mma(a.element_type, tile), tile, depth,
    ).launch(grid=[*cute.ceil_div(c.shape, tile[:2]), 1], block=[THREADS, 1, 1])


@cute.kernel
def described(
    copy_a: cute.CopyAtom, a: cute.Tensor, copy_b: cute.CopyAtom, b: cute.Tensor, c: cute.Tensor, layout_a: cute.ComposedLayout,
    layout_b: cute.ComposedLayout, mma: cute.TiledMma, kind: cutlass.Constexpr, tile: cutlass.Constexpr, depth: cutlass.Constexpr,
):
    """Four warps multiply, a fifth loads."""
    thread, _, _ = cute.arch.thread_idx()
    x, y, _ = cute.arch.block_idx()
    number = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    memory = utils.SmemAllocator()
    left = memory.allocate_tensor(kind, layout_a.outer, 1024, swizzle=layout_a.inner)
    right = memory.allocate_tensor(kind, layout_b.outer, 1024, swizzle=layout_b.inner)
    bytes = (tile[0] + tile[1]) * tile[2] * kind.width // 8
    producer, consumer = pipeline.PipelineTmaAsync.create(
        num_stages=depth,
        producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
        consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, THREADS // 32),
        tx_count=bytes,
    ).make_participants()
    tile_a = cute.local_tile(a, (tile[0], tile[2]), (x, None))
    tile_b = cute.local_tile(b, (tile[1], tile[2]), (y, None))
    tile_c = cute.local_tile(c, tile[:2], (x, y))
    one = cute.make_layout(1)
    to_left, from_a = cpasync.tma_partition(copy_a, 0, one, cute.group_modes(left, 0, 2), cute.group_modes(tile_a, 0, 2))
    to_right, from_b = cpasync.tma_partition(copy_b, 0, one, cute.group_modes(right, 0, 2), cute.group_modes(tile_b, 0, 2))
    steps = cute.size(tile_a, mode=[2])
    if number == THREADS // 32:
        for _ in cutlass.range(steps, unroll=1):
            slot = producer.acquire_and_advance()
            cute.copy(copy_a, from_a[None, slot.count], to_left[None, slot.index], tma_bar_ptr=slot.barrier)
            cute.copy(copy_b, from_b[None, slot.count], to_right[None, slot.index], tma_bar_ptr=slot.barrier)
        producer.tail()
    else:
        group = mma.get_slice(thread)
        fragment_a = mma.make_fragment_A(group.partition_A(left[None, None, 0]))
        fragment_b = mma.make_fragment_B(group.partition_B(right[None, None, 0]))
        part_c = group.partition_C(tile_c)
        total = mma.make_fragment_C(part_c)
        total.fill(0.0)
        atom = cute.make_copy_atom(warp.LdMatrix8x8x16bOp(False, 4), kind)
        read_a, read_b = cute.make_tiled_copy_A(atom, mma), cute.make_tiled_copy_B(atom, mma)
        from_left, to_a = read_a.get_slice(thread).partition_S(left), read_a.get_slice(thread).retile(fragment_a)
        from_right, to_b = read_b.get_slice(thread).partition_S(right), read_b.get_slice(thread).retile(fragment_b)
        for _ in cutlass.range(steps, unroll=1):
            slot = consumer.wait_and_advance()
            multiply(
                mma, read_a, read_b, from_left[None, None, None, slot.index], from_right[None, None, None, slot.index], to_a,
                to_b, fragment_a, fragment_b, total,
            )
            slot.release()
        result = cute.make_rmem_tensor_like(total, c.element_type)
        result.store(total.load().to(c.element_type))
        cute.autovec_copy(result, part_c)


@cute.jit
def gemm_of_descriptors(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tile: cutlass.Constexpr, depth: cutlass.Constexpr):
    layout_a = utils.sm90.make_smem_layout_a(utils.LayoutEnum.from_tensor(a), tile, a.element_type, depth)
    layout_b = utils.sm90.make_smem_layout_b(utils.LayoutEnum.from_tensor(b), tile, b.element_type, depth)
    load = cpasync.CopyBulkTensorTileG2SOp()
    copy_a, map_a = cpasync.make_tiled_tma_atom(load, a, cute.slice_(layout_a, (None, None, 0)), (tile[0], tile[2]))
    copy_b, map_b = cpasync.make_tiled_tma_atom(load, b, cute.slice_(layout_b, (None, None, 0)), (tile[1], tile[2]))
    described(
        copy_a, map_a, copy_b, map_b, c, layout_a, layout_b, tiled_mma(a.element_type, tile), a.element_type, tile, depth
    ).launch(grid=[*cute.ceil_div(c.shape, tile[:2]), 1], block=[THREADS + 32, 1, 1])


def matrix(kind):
    shape = (cute.sym_int(divisibility=16), cute.sym_int(divisibility=16))
    return make_fake_compact_tensor(kind, shape, stride_order=(1, 0), assumed_align=16)


def entry(kernel, kind, tile, depth, targets=ALL):
    return dict(kernel=kernel, arguments=(matrix(kind), matrix(kind), matrix(F16), tile, depth), targets=targets)


MODULES = {
    "mma_gemm": entry(gemm, F16, (128, 128, 64), 3),
    "mma_gemm_bf16": entry(gemm, cutlass.BFloat16, (64, 128, 64), 4),
    "mma_gemm_tma": entry(gemm_of_descriptors, F16, (128, 128, 64), 2, ["sm_90", "sm_120"]),
}
