"""A matrix product with TMA and wgmma: a producer warp, consumers of a warp group each, clusters that multicast."""

import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
import cutlass.utils as utils
import cutlass.utils.hopper_helpers as sm90
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, warpgroup
from cutlass.cute.runtime import make_fake_compact_tensor

HOPPER = ["sm_90"]
F16, F32, F8 = cutlass.Float16, cutlass.Float32, cutlass.Float8E4M3FN


class Product:
    def __init__(self, tile, cluster, depth, special):
        self.tile, self.cluster, self.depth, self.special = tile, cluster, depth, special
        self.groups = tile[0] // 64 if tile[0] < 256 else 2
        self.threads = 128 * (self.groups + (1 if special else 0))

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
        self.kind, self.result = a.element_type, c.element_type
        order = utils.LayoutEnum.from_tensor(a)
        mma = sm90.make_trivial_tiled_mma(
            self.kind, self.kind, OperandMajorMode.K, OperandMajorMode.K, F32, (self.groups, 1, 1), (64, self.tile[1])
        )
        layout_a = sm90.make_smem_layout_a(order, self.tile, self.kind, self.depth)
        layout_b = sm90.make_smem_layout_b(utils.LayoutEnum.from_tensor(b), self.tile, self.kind, self.depth)
        part = (64, 32)
        layout_c = sm90.make_smem_layout_epi(self.result, utils.LayoutEnum.from_tensor(c), part, 4)
        copies = [
            cpasync.CopyBulkTensorTileG2SMulticastOp() if cutlass.const_expr(n > 1) else cpasync.CopyBulkTensorTileG2SOp()
            for n in (self.cluster[1], self.cluster[0])
        ]
        copy_a, map_a = cpasync.make_tiled_tma_atom(
            copies[0], a, cute.slice_(layout_a, (None, None, 0)), (self.tile[0], self.tile[2]), num_multicast=self.cluster[1]
        )
        copy_b, map_b = cpasync.make_tiled_tma_atom(
            copies[1], b, cute.slice_(layout_b, (None, None, 0)), (self.tile[1], self.tile[2]), num_multicast=self.cluster[0]
        )
        copy_c, map_c = cpasync.make_tiled_tma_atom(
            cpasync.CopyBulkTensorTileS2GOp(), c, cute.slice_(layout_c, (None, None, 0)), part
        )
        grid = cute.round_up((*cute.ceil_div(c.shape, self.tile[:2]), 1), (*self.cluster, 1))
        self.kernel(mma, copy_a, map_a, copy_b, map_b, copy_c, map_c, layout_a, layout_b, layout_c, part).launch(
            grid=grid, block=[self.threads, 1, 1], cluster=(*self.cluster, 1), min_blocks_per_mp=1
        )

    @cute.kernel
    def kernel(
        self, mma: cute.TiledMma, copy_a: cute.CopyAtom, a: cute.Tensor, copy_b: cute.CopyAtom, b: cute.Tensor,
        copy_c: cute.CopyAtom, c: cute.Tensor, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout,
        layout_c: cute.ComposedLayout, part: cute.Tile,
    ):
        thread, _, _ = cute.arch.thread_idx()
        warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
        x, y, _ = cute.arch.block_idx()
        cluster = cute.make_layout((*self.cluster, 1))
        place = cluster.get_flat_coord(cute.arch.make_warp_uniform(cute.arch.block_idx_in_cluster()))
        if warp == 0:
            cpasync.prefetch_descriptor(copy_a)
            cpasync.prefetch_descriptor(copy_b)

        memory = utils.SmemAllocator()
        left = memory.allocate_tensor(self.kind, layout_a.outer, 1024, swizzle=layout_a.inner)
        right = memory.allocate_tensor(self.kind, layout_b.outer, 1024, swizzle=layout_b.inner)
        result = memory.allocate_tensor(self.result, layout_c.outer, 1024, swizzle=layout_c.inner)
        bytes = cute.size_in_bytes(self.kind, cute.slice_(layout_a, (None, None, 0))) + cute.size_in_bytes(
            self.kind, cute.slice_(layout_b, (None, None, 0))
        )
        partners = self.cluster[0] + self.cluster[1] - 1
        loads = pipeline.PipelineTmaAsync.create(
            num_stages=self.depth,
            producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
            consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, partners * self.groups * 4),
            tx_count=bytes,
            cta_layout_vmnk=cute.make_layout((1, *self.cluster, 1)),
        )
        mask_a, mask_b = 0, 0
        if cutlass.const_expr(self.cluster[1] > 1):
            mask_a = cute.make_layout_image_mask(cluster, place, mode=1)
        if cutlass.const_expr(self.cluster[0] > 1):
            mask_b = cute.make_layout_image_mask(cluster, place, mode=0)

        tile_a = cute.local_tile(a, (self.tile[0], self.tile[2]), (x, None))
        tile_b = cute.local_tile(b, (self.tile[1], self.tile[2]), (y, None))
        tile_c = cute.local_tile(c, self.tile[:2], (x, y))
        to_left, from_a = cpasync.tma_partition(
            copy_a, place[1], cute.make_layout(self.cluster[1]), cute.group_modes(left, 0, 2), cute.group_modes(tile_a, 0, 2)
        )
        to_right, from_b = cpasync.tma_partition(
            copy_b, place[0], cute.make_layout(self.cluster[0]), cute.group_modes(right, 0, 2), cute.group_modes(tile_b, 0, 2)
        )
        steps = cute.size(tile_a, mode=[2])

        if cutlass.const_expr(self.special):
            if warp >= self.groups * 4:
                cute.arch.setmaxregister_decrease(40)
                if warp == self.groups * 4:
                    self.fetch(loads, copy_a, from_a, to_left, mask_a, copy_b, from_b, to_right, mask_b, steps)
            else:
                cute.arch.setmaxregister_increase(232)
                total = self.multiply(loads, mma, left, right, steps, thread)
                self.store(total, mma, copy_c, tile_c, result, part, thread, warp)
        else:
            state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, self.depth)
            read = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, self.depth)
            free = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, self.depth)
            ahead = cutlass.min(self.depth, steps)
            if warp == 0:
                for _ in cutlass.range(ahead, unroll=1):
                    self.one(loads, state, copy_a, from_a, to_left, mask_a, copy_b, from_b, to_right, mask_b)
                    state.advance()
            group = mma.get_slice(thread)
            fragment_a, fragment_b = mma.make_fragment_A(group.partition_A(left)), mma.make_fragment_B(group.partition_B(right))
            total = cute.make_rmem_tensor(mma.partition_shape_C(self.tile[:2]), F32)
            mma.set(warpgroup.Field.ACCUMULATE, False)
            for step in cutlass.range(steps, unroll=1):
                loads.consumer_wait(read)
                warpgroup.fence()
                for i in cutlass.range_constexpr(cute.size(fragment_a, mode=[2])):
                    where = (None, None, i, read.index)
                    cute.gemm(mma, total, fragment_a[where], fragment_b[where], total)
                    mma.set(warpgroup.Field.ACCUMULATE, True)
                warpgroup.commit_group()
                read.advance()
                if step > 0:
                    warpgroup.wait_group(1)
                    loads.consumer_release(free)
                    free.advance()
                    if warp == 0 and step - 1 + self.depth < steps:
                        self.one(loads, state, copy_a, from_a, to_left, mask_a, copy_b, from_b, to_right, mask_b)
                        state.advance()
            warpgroup.wait_group(0)
            self.store(total, mma, copy_c, tile_c, result, part, thread, warp)
        if cutlass.const_expr(cute.size(cluster) > 1):
            cute.arch.cluster_arrive()
            cute.arch.cluster_wait()

    @cute.jit
    def one(self, loads, state, copy_a, from_a, to_left, mask_a, copy_b, from_b, to_right, mask_b):
        loads.producer_acquire(state)
        bar = loads.producer_get_barrier(state)
        cute.copy(copy_a, from_a[None, state.count], to_left[None, state.index], tma_bar_ptr=bar, mcast_mask=mask_a)
        cute.copy(copy_b, from_b[None, state.count], to_right[None, state.index], tma_bar_ptr=bar, mcast_mask=mask_b)
        loads.producer_commit(state)

    @cute.jit
    def fetch(self, loads, copy_a, from_a, to_left, mask_a, copy_b, from_b, to_right, mask_b, steps):
        state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, self.depth)
        for _ in cutlass.range(steps, unroll=1):
            self.one(loads, state, copy_a, from_a, to_left, mask_a, copy_b, from_b, to_right, mask_b)
            state.advance()
        loads.producer_tail(state)

    @cute.jit
    def multiply(self, loads, mma, left, right, steps, thread):
        group = mma.get_slice(thread)
        fragment_a, fragment_b = mma.make_fragment_A(group.partition_A(left)), mma.make_fragment_B(group.partition_B(right))
        total = cute.make_rmem_tensor(mma.partition_shape_C(self.tile[:2]), F32)
        total.fill(0.0)
        mma.set(warpgroup.Field.ACCUMULATE, True)
        read = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, self.depth)
        free = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, self.depth)
        for step in cutlass.range(steps, unroll=1):
            loads.consumer_wait(read)
            warpgroup.fence()
            for i in cutlass.range_constexpr(cute.size(fragment_a, mode=[2])):
                where = (None, None, i, read.index)
                cute.gemm(mma, total, fragment_a[where], fragment_b[where], total)
            warpgroup.commit_group()
            read.advance()
            warpgroup.wait_group(1)
            if step > 0:
                loads.consumer_release(free)
                free.advance()
        warpgroup.wait_group(0)
        loads.consumer_release(free)
        return total

    @cute.jit
    def store(self, total, mma, copy_c, tile_c, result, part, thread, warp):
        atom = cute.make_copy_atom(cute.nvgpu.warp.StMatrix8x8x16bOp(False, 4), self.result)
        base = cute.make_tiled_copy_C_atom(cute.make_copy_atom(cute.nvgpu.warp.StMatrix8x8x16bOp(False, 4), self.result), mma)
        copy = cute.make_tiled_copy_S(atom, base)
        each = copy.get_slice(thread)
        to_result = each.partition_D(result)
        from_total = copy.retile(total)
        width = cute.size(to_result[None, None, None, 0])
        values = cute.make_rmem_tensor(cute.shape(to_result[None, None, None, 0]), F32)
        pieces = cute.zipped_divide(tile_c, part)
        from_result, to_c = cpasync.tma_partition(
            copy_c, 0, cute.make_layout(1), cute.group_modes(result, 0, 2), pieces
        )
        bar = pipeline.NamedBarrier(barrier_id=1, num_threads=self.groups * 128)
        stores = pipeline.PipelineTmaStore.create(
            num_stages=4, producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, self.groups * 128)
        )
        count = cute.size(to_c, mode=[1])
        shape = to_c.shape[1]
        order = cute.make_layout(shape, stride=(shape[1], 1))
        bar.arrive_and_wait()
        for piece in cutlass.range_constexpr(count):
            for i in cutlass.range_constexpr(width):
                values[i] = from_total[piece * width + i]
            narrow = cute.make_rmem_tensor(values.shape, self.result)
            narrow.store(values.load().to(self.result))
            cute.copy(copy, narrow, to_result[None, None, None, piece % 4])
            cute.arch.fence_proxy("async.shared", space="cta")
            bar.arrive_and_wait()
            if warp == 0:
                cute.copy(copy_c, from_result[None, piece % 4], to_c[None, order.get_hier_coord(piece)])
                stores.producer_commit()
                stores.producer_acquire()
            bar.arrive_and_wait()
        if warp == 0:
            stores.producer_tail()


def matrix(kind):
    shape = (cute.sym_int(divisibility=16), cute.sym_int(divisibility=16))
    return make_fake_compact_tensor(kind, shape, stride_order=(1, 0), assumed_align=16)


def entry(kind, tile, cluster, depth, special):
    return dict(
        kernel=Product(tile, cluster, depth, special), arguments=(matrix(kind), matrix(kind), matrix(F16)), targets=HOPPER
    )


MODULES = {
    "wgmma_gemm": entry(F16, (64, 128, 64), (1, 1), 4, False),
    "wgmma_gemm_wide": entry(cutlass.BFloat16, (64, 256, 64), (1, 1), 4, False),
    "wgmma_gemm_cluster": entry(F16, (64, 128, 64), (2, 1), 4, False),
    "wgmma_gemm_special": entry(F16, (64, 128, 64), (1, 1), 4, True),
    "wgmma_gemm_special_f8": entry(F8, (64, 128, 128), (1, 2), 4, True),
    "wgmma_gemm_special_cluster": entry(F16, (64, 256, 64), (2, 2), 3, True),
}
