"""A persistent product with a warp for each task: TMA, tcgen05, TMA stores; tiles by number or by launch control."""

import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
import cutlass.utils as utils
import cutlass.utils.blackwell_helpers as sm100
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, tcgen05
from cutlass.cute.runtime import make_fake_compact_tensor

BLACKWELL = ["sm_100"]
F16, F32, F8 = cutlass.Float16, cutlass.Float32, cutlass.Float8E4M3FN


class Product:
    def __init__(self, tile, cluster, depth, control):
        self.tile, self.cluster, self.depth, self.control = tile, cluster, depth, control
        self.use_2cta_instrs = tile[0] == 256
        self.cta_tile_shape_mnk = (tile[0] // 2 if self.use_2cta_instrs else tile[0], *tile[1:])
        self.epilogue_warp_id = (0, 1, 2, 3)
        self.mma_warp, self.load_warp, self.schedule_warp = 4, 5, 6
        self.threads = 32 * (7 if control else 6)
        self.epilog_sync_bar_id, self.num_c_stage = 1, 2
        self.acc_dtype = F32

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, most: cutlass.Int32):
        group = tcgen05.CtaGroup.TWO if cutlass.const_expr(self.use_2cta_instrs) else tcgen05.CtaGroup.ONE
        self.kind, self.c_dtype = a.element_type, c.element_type
        self.c_layout = utils.LayoutEnum.from_tensor(c)
        mma = sm100.make_trivial_tiled_mma(
            self.kind, self.kind, OperandMajorMode.K, OperandMajorMode.K, F32, group, self.tile[:2]
        )
        layout_a = sm100.make_smem_layout_a(mma, self.tile, self.kind, self.depth)
        layout_b = sm100.make_smem_layout_b(mma, self.tile, self.kind, self.depth)
        part = sm100.compute_epilogue_tile_shape(
            self.cta_tile_shape_mnk, self.use_2cta_instrs, self.c_layout, self.c_dtype
        )
        layout_c = sm100.make_smem_layout_epi(self.c_dtype, self.c_layout, part, self.num_c_stage)
        cluster = cute.tiled_divide(cute.make_layout((*self.cluster, 1)), (mma.thr_id,))
        copy_a, map_a = cute.nvgpu.make_tiled_tma_atom_A(
            sm100.cluster_shape_to_tma_atom_A(self.cluster, mma.thr_id), a, cute.select(layout_a, mode=[0, 1, 2]), self.tile, mma,
            cluster.shape,
        )
        copy_b, map_b = cute.nvgpu.make_tiled_tma_atom_B(
            sm100.cluster_shape_to_tma_atom_B(self.cluster, mma.thr_id), b, cute.select(layout_b, mode=[0, 1, 2]), self.tile, mma,
            cluster.shape,
        )
        copy_c, map_c = cpasync.make_tiled_tma_atom(
            cpasync.CopyBulkTensorTileS2GOp(), c, cute.select(layout_c, mode=[0, 1]), part
        )
        tiles = cute.zipped_divide(c, tiler=(*self.cta_tile_shape_mnk[:2], 1)).shape[1]
        if cutlass.const_expr(self.control):
            schedule = utils.ClcDynamicPersistentTileSchedulerParams(tiles, (*self.cluster, 1))
            grid = utils.ClcDynamicPersistentTileScheduler.get_grid_shape(schedule)
        else:
            schedule = utils.PersistentTileSchedulerParams(tiles, (*self.cluster, 1))
            grid = utils.StaticPersistentTileScheduler.get_grid_shape(schedule, most)
        self.kernel(
            mma, copy_a, map_a, copy_b, map_b, copy_c, map_c, layout_a, layout_b, layout_c, part, cluster, schedule
        ).launch(grid=grid, block=[self.threads, 1, 1], cluster=(*self.cluster, 1))

    @cute.kernel
    def kernel(
        self, mma: cute.TiledMma, copy_a: cute.CopyAtom, a: cute.Tensor, copy_b: cute.CopyAtom, b: cute.Tensor,
        copy_c: cute.CopyAtom, c: cute.Tensor, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout,
        layout_c: cute.ComposedLayout, part: cute.Tile, cluster: cute.Layout, schedule,
    ):
        thread, _, _ = cute.arch.thread_idx()
        warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
        x, _, _ = cute.arch.block_idx()
        pair = cute.size(mma.thr_id.shape)
        place = cluster.get_flat_coord(cute.arch.make_warp_uniform(cute.arch.block_idx_in_cluster()))
        leader = x % pair == 0
        if warp == self.load_warp:
            for atom in (copy_a, copy_b, copy_c):
                cpasync.prefetch_descriptor(atom)

        memory = utils.SmemAllocator()
        one = pipeline.CooperativeGroup(pipeline.Agent.Thread)
        partners = cute.size(cluster, mode=[1]) + cute.size(cluster, mode=[2]) - 1
        bytes = pair * (
            cute.size_in_bytes(self.kind, cute.select(layout_a, mode=[0, 1, 2]))
            + cute.size_in_bytes(self.kind, cute.select(layout_b, mode=[0, 1, 2]))
        )
        loads = pipeline.PipelineTmaUmma.create(
            num_stages=self.depth, producer_group=one,
            consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, partners), tx_count=bytes, cta_layout_vmnk=cluster,
            defer_sync=True,
        )
        totals = pipeline.PipelineUmmaAsync.create(
            num_stages=2, producer_group=one,
            consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, 4 * pair), cta_layout_vmnk=cluster, defer_sync=True,
        )
        if cutlass.const_expr(self.control):
            answer = memory.allocate_array(cutlass.Int32, 4, byte_alignment=16)
            answers = pipeline.PipelineClcFetchAsync.create(
                num_stages=1, producer_group=one,
                consumer_group=pipeline.CooperativeGroup(
                    pipeline.Agent.Thread, 32 * (1 + cute.size(cluster) * 6)
                ),
                tx_count=16, cta_layout_vmnk=cluster, defer_sync=True,
            )
        columns = utils.TmemAllocator(
            barrier_for_retrieve=pipeline.NamedBarrier(barrier_id=2, num_threads=32 * 5), is_two_cta=pair == 2,
            allocator_warp_id=0,
        )
        pipeline.pipeline_init_arrive(cluster_shape_mn=cluster, is_relaxed=True)

        left = memory.allocate_tensor(self.kind, layout_a.outer, 1024, swizzle=layout_a.inner)
        right = memory.allocate_tensor(self.kind, layout_b.outer, 1024, swizzle=layout_b.inner)
        result = memory.allocate_tensor(self.c_dtype, layout_c.outer, 1024, swizzle=layout_c.inner)
        mask_a, mask_b = None, None
        if cutlass.const_expr(cute.size(cluster) > 1):
            mask_a = cpasync.create_tma_multicast_mask(cluster, place, mcast_mode=2)
            mask_b = cpasync.create_tma_multicast_mask(cluster, place, mcast_mode=1)
        slice = mma.get_slice(place[0])
        tiles_a = slice.partition_A(cute.local_tile(a, cute.slice_(self.tile, (None, 0, None)), (None, None, None)))
        tiles_b = slice.partition_B(cute.local_tile(b, cute.slice_(self.tile, (0, None, None)), (None, None, None)))
        tiles_c = slice.partition_C(cute.local_tile(c, cute.slice_(self.tile, (None, None, 0)), (None, None, None)))
        to_left, from_a = cpasync.tma_partition(
            copy_a, place[2], cute.make_layout(cute.size(cluster, mode=[2])), cute.group_modes(left, 0, 3),
            cute.group_modes(tiles_a, 0, 3),
        )
        to_right, from_b = cpasync.tma_partition(
            copy_b, place[1], cute.make_layout(cute.size(cluster, mode=[1])), cute.group_modes(right, 0, 3),
            cute.group_modes(tiles_b, 0, 3),
        )
        fragment_a, fragment_b = mma.make_fragment_A(left), mma.make_fragment_B(right)
        shape = cute.append(mma.partition_shape_C(self.tile[:2]), 2)
        like = mma.make_fragment_C(shape)
        pipeline.pipeline_init_wait(cluster_shape_mn=cluster)

        if cutlass.const_expr(self.control):
            scheduler = utils.ClcDynamicPersistentTileScheduler.create(
                schedule, cute.arch.block_idx(), cute.arch.grid_dim(), answer
            )
        else:
            scheduler = utils.StaticPersistentTileScheduler.create(schedule, cute.arch.block_idx(), cute.arch.grid_dim())
        asked = None
        if cutlass.const_expr(self.control):
            asked = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, 1)

        if warp == self.load_warp:
            state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, self.depth)
            work = scheduler.initial_work_tile_info()
            while work.is_valid_tile:
                at = work.tile_idx
                mine_a = from_a[None, at[0] // pair, None, at[2]]
                mine_b = from_b[None, at[1], None, at[2]]
                for step in cutlass.range(cute.size(mine_a, mode=[1]), unroll=1):
                    loads.producer_acquire(state)
                    bar = loads.producer_get_barrier(state)
                    cute.copy(copy_a, mine_a[None, step], to_left[None, state.index], tma_bar_ptr=bar, mcast_mask=mask_a)
                    cute.copy(copy_b, mine_b[None, step], to_right[None, state.index], tma_bar_ptr=bar, mcast_mask=mask_b)
                    state.advance()
                if cutlass.const_expr(self.control):
                    answers.consumer_wait(asked)
                    work = scheduler.get_current_work()
                    answers.consumer_release(asked)
                    asked.advance()
                else:
                    scheduler.advance_to_next_work()
                    work = scheduler.get_current_work()
            loads.producer_tail(state)

        if cutlass.const_expr(self.control):
            if warp == self.schedule_warp and cute.arch.make_warp_uniform(cute.arch.block_idx_in_cluster()) == 0:
                wanted = pipeline.make_pipeline_state(pipeline.PipelineUserType.ProducerConsumer, 1)
                work = scheduler.initial_work_tile_info()
                while work.is_valid_tile:
                    answers.producer_acquire(wanted)
                    scheduler.advance_to_next_work(answers.producer_get_barrier(wanted))
                    wanted.advance()
                    answers.consumer_wait(asked)
                    work = scheduler.get_current_work()
                    answers.consumer_release(asked)
                    asked.advance()
                answers.producer_tail(wanted)

        if warp == self.mma_warp:
            columns.wait_for_alloc()
            total = cute.make_tensor(columns.retrieve_ptr(F32), like.layout)
            state = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, self.depth)
            turn = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, 2)
            steps = cute.size(from_a, mode=[2])
            work = scheduler.initial_work_tile_info()
            while work.is_valid_tile:
                if leader:
                    mine = total[None, None, None, turn.index]
                    totals.producer_acquire(turn)
                    for step in cutlass.range(steps):
                        loads.consumer_wait(state)
                        for i in cutlass.range_constexpr(cute.size(fragment_a, mode=[2])):
                            mma.set(tcgen05.Field.ACCUMULATE, step > 0 or i > 0)
                            where = (None, None, i, state.index)
                            cute.gemm(mma, mine, fragment_a[where], fragment_b[where], mine)
                        loads.consumer_release(state)
                        state.advance()
                    totals.producer_commit(turn)
                turn.advance()
                if cutlass.const_expr(self.control):
                    answers.consumer_wait(asked)
                    work = scheduler.get_current_work()
                    answers.consumer_release(asked)
                    asked.advance()
                else:
                    scheduler.advance_to_next_work()
                    work = scheduler.get_current_work()
            totals.producer_tail(turn)

        if warp < self.mma_warp:
            columns.allocate(512)
            columns.wait_for_alloc()
            pointer = columns.retrieve_ptr(F32)
            total = cute.make_tensor(pointer, like.layout)
            turn = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, 2)
            stores = pipeline.PipelineTmaStore.create(
                num_stages=self.num_c_stage, producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, 128)
            )
            work = scheduler.initial_work_tile_info()
            done = cutlass.Int32(0)
            while work.is_valid_tile:
                at = work.tile_idx
                turn = utils.gemm.sm100.epilogue_tma_store(
                    self, thread, warp, copy_c, total, result, tiles_c, part, done, lambda v: v,
                    (at[0] // pair, at[1], at[2]), turn, totals, stores,
                )
                done += 1
                if cutlass.const_expr(self.control):
                    answers.consumer_wait(asked)
                    work = scheduler.get_current_work()
                    answers.consumer_release(asked)
                    asked.advance()
                else:
                    scheduler.advance_to_next_work()
                    work = scheduler.get_current_work()
            columns.relinquish_alloc_permit()
            pipeline.NamedBarrier(barrier_id=3, num_threads=128).arrive_and_wait()
            columns.free(pointer)
            stores.producer_tail()


def tensor(kind):
    shape = (cute.sym_int(divisibility=16), cute.sym_int(divisibility=16), cute.sym_int())
    return make_fake_compact_tensor(kind, shape, stride_order=(1, 0, 2), assumed_align=16)


def entry(kind, tile, cluster, depth, control=False, result=F16):
    arguments = (tensor(kind), tensor(kind), tensor(result), cutlass.Int32(148))
    return dict(kernel=Product(tile, cluster, depth, control), arguments=arguments, targets=BLACKWELL)


MODULES = {
    "tcgen05_persistent": entry(F16, (128, 128, 64), (1, 1), 4),
    "tcgen05_persistent_pair": entry(F16, (256, 256, 64), (2, 1), 3, result=F32),
    "tcgen05_persistent_multicast": entry(F8, (256, 128, 128), (4, 2), 4),
    "tcgen05_launch_control": entry(F16, (128, 256, 64), (1, 1), 3, control=True),
    "tcgen05_launch_control_pair": entry(cutlass.BFloat16, (256, 128, 64), (2, 2), 4, control=True),
}
