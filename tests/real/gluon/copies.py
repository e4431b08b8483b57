"""Copies through shared memory: cp.async rings, TMA in and out, reductions, gathers, im2col, stores into a peer."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.blackwell import tma as tma_of_blackwell
from triton.experimental.gluon.language.nvidia.hopper import async_store, cluster, fence_async_shared, mbarrier, tma

NEW = ["sm_90", "sm_100", "sm_120"]
ALL = ["sm_80", *NEW]
ROWS = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))


@gluon.jit
def transpose(x, out, m, n, BLOCK: gl.constexpr):
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    tile = gl.allocate_shared_memory(x.dtype.element_ty, [BLOCK, BLOCK], flat)
    rows = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, gl.SliceLayout(1, ROWS))
    columns = gl.program_id(1) * BLOCK + gl.arange(0, BLOCK, gl.SliceLayout(0, ROWS))
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tile.store(gl.load(x + rows[:, None] * n + columns[None, :], inside, other=0.0))
    turned = tile.permute((1, 0)).load(ROWS)
    rows = gl.program_id(1) * BLOCK + gl.arange(0, BLOCK, gl.SliceLayout(1, ROWS))
    columns = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, gl.SliceLayout(0, ROWS))
    gl.store(out + rows[:, None] * m + columns[None, :], turned, (rows[:, None] < n) & (columns[None, :] < m))


@gluon.jit
def ring_of_async_copies(x, y, out, n, BLOCK: gl.constexpr, DEPTH: gl.constexpr):
    line: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    xs = gl.allocate_shared_memory(gl.float32, [DEPTH, BLOCK], flat)
    ys = gl.allocate_shared_memory(gl.float32, [DEPTH, BLOCK], flat)
    at = gl.arange(0, BLOCK, line)
    for stage in gl.static_range(DEPTH - 1):
        async_copy.async_load(xs.index(stage), x + stage * BLOCK + at, stage * BLOCK + at < n)
        async_copy.async_load(ys.index(stage), y + stage * BLOCK + at, stage * BLOCK + at < n)
        async_copy.commit_group()
    read, write = 0, DEPTH - 1
    for start in range(0, n, BLOCK):
        ahead = start + (DEPTH - 1) * BLOCK + at
        async_copy.async_load(xs.index(write % DEPTH), x + ahead, ahead < n, cache_modifier=".cg")
        async_copy.async_load(ys.index(write % DEPTH), y + ahead, ahead < n)
        async_copy.commit_group()
        async_copy.wait_group(DEPTH - 1)
        total = xs.index(read % DEPTH).load(line) + ys.index(read % DEPTH).load(line)
        gl.store(out + start + at, total, start + at < n)
        read += 1
        write += 1
    async_copy.wait_group(0)


@gluon.jit
def copies_that_arrive(x, out, BLOCK: gl.constexpr):
    line: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    tile = gl.allocate_shared_memory(gl.float32, [BLOCK], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    at = gl.arange(0, BLOCK, line)
    async_copy.async_load(tile, x + at)
    async_copy.mbarrier_arrive(bar)
    mbarrier.arrive(bar)
    mbarrier.wait(bar, 0)
    gl.store(out + at, tile.load(line) * 2)
    mbarrier.invalidate(bar)


@gluon.jit
def add_one(source, target, M: gl.constexpr, N: gl.constexpr, REDUCE: gl.constexpr):
    tile = gl.allocate_shared_memory(source.dtype, [M, N], source.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, source.nbytes_per_cta)
    tma.async_load(source, [gl.program_id(0) * M, gl.program_id(1) * N], bar, tile)
    mbarrier.wait(bar, phase=0)
    mbarrier.invalidate(bar)
    tile.store(tile.load(ROWS) + 1)
    fence_async_shared()
    if REDUCE:
        tma.async_atomic_add(target, [gl.program_id(0) * M, gl.program_id(1) * N], tile)
    else:
        tma.async_store(target, [gl.program_id(0) * M, gl.program_id(1) * N], tile)
    tma.store_wait(0)


@gluon.jit
def pipelined(x, y, out, n, M: gl.constexpr, N: gl.constexpr, DEPTH: gl.constexpr):
    xs = gl.allocate_shared_memory(x.dtype, [DEPTH, M, N], x.layout)
    ys = gl.allocate_shared_memory(y.dtype, [DEPTH, M, N], y.layout)
    result = gl.allocate_shared_memory(out.dtype, [2, M, N], out.layout)
    bars = mbarrier.allocate_mbarrier(batch=DEPTH)
    for i in gl.static_range(DEPTH):
        mbarrier.init(bars.index(i), count=1)
    row = gl.program_id(0) * M
    steps = gl.cdiv(n, N)
    for i in gl.static_range(DEPTH - 1):
        mbarrier.expect(bars.index(i), x.nbytes_per_cta * 2, pred=i < steps)
        tma.async_load(x, [row, i * N], bars.index(i), xs.index(i), pred=i < steps)
        tma.async_load(y, [row, i * N], bars.index(i), ys.index(i), pred=i < steps)
    for step in range(steps):
        ahead = step + DEPTH - 1
        at = ahead % DEPTH
        mbarrier.expect(bars.index(at), x.nbytes_per_cta * 2, pred=ahead < steps)
        tma.async_load(x, [row, ahead * N], bars.index(at), xs.index(at), pred=ahead < steps)
        tma.async_load(y, [row, ahead * N], bars.index(at), ys.index(at), pred=ahead < steps)
        mbarrier.wait(bars.index(step % DEPTH), step // DEPTH & 1)
        total = xs.index(step % DEPTH).load(ROWS) + ys.index(step % DEPTH).load(ROWS)
        tma.store_wait(1)
        result.index(step % 2).store(total)
        fence_async_shared()
        tma.async_store(out, [row, step * N], result.index(step % 2))
    tma.store_wait(0)
    for i in gl.static_range(DEPTH):
        mbarrier.invalidate(bars.index(i))


@gluon.jit
def gather_and_scatter(source, index, target, N: gl.constexpr):
    tile = gl.allocate_shared_memory(source.dtype, [32, N], source.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    line: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0]))
    rows = gl.load(index + gl.arange(0, 32, line))
    mbarrier.expect(bar, 32 * N * 2)
    tma_of_blackwell.async_gather(source, rows, gl.program_id(0) * N, bar, tile)
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    tma_of_blackwell.async_scatter(target, rows, gl.program_id(0) * N, tile)
    tma.store_wait(0)


@gluon.jit
def image_to_columns(source, out, PIXELS: gl.constexpr, CHANNELS: gl.constexpr):
    tile = gl.allocate_shared_memory(source.dtype, [PIXELS, CHANNELS], source.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    total = gl.zeros([PIXELS, CHANNELS], gl.float32, ROWS)
    phase = 0
    for r in range(3):
        for s in range(3):
            mbarrier.expect(bar, source.nbytes_per_cta)
            tma.async_load_im2col(
                source, [gl.program_id(0), gl.program_id(1), 0, gl.program_id(2) * CHANNELS],
                [r.to(gl.int16), s.to(gl.int16)], bar, tile,
            )
            mbarrier.wait(bar, phase)
            phase ^= 1
            total += tile.load(ROWS).to(gl.float32)
    mbarrier.invalidate(bar)
    rows = gl.arange(0, PIXELS, gl.SliceLayout(1, ROWS))
    columns = gl.arange(0, CHANNELS, gl.SliceLayout(0, ROWS))
    gl.store(out + rows[:, None] * CHANNELS + columns[None, :], total)


@gluon.jit
def into_the_peer(x, out, M: gl.constexpr, N: gl.constexpr):
    halves: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=[[1, 0]])
    other: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=[[0, 1]])
    tile = gl.allocate_shared_memory(gl.float32, [M, N], other)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    cluster.barrier()
    rows = gl.arange(0, M, gl.SliceLayout(1, halves))
    columns = gl.arange(0, N, gl.SliceLayout(0, halves))
    value = gl.load(x + rows[:, None] * N + columns[None, :])
    mbarrier.expect(bar, M * N * 4 // 2)
    async_store(tile, value, bar)
    mbarrier.wait(bar, 0)
    turned: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=[[0, 1]])
    result = tile.load(turned)
    rows = gl.arange(0, M, gl.SliceLayout(1, turned))
    columns = gl.arange(0, N, gl.SliceLayout(0, turned))
    gl.store(out + rows[:, None] * N + columns[None, :], result)
    cluster.barrier()
    mbarrier.invalidate(bar)


@gluon.jit
def counts(x, out, n, BINS: gl.constexpr, BLOCK: gl.constexpr):
    line: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    bins = gl.allocate_shared_memory(gl.int32, [BINS], flat, gl.zeros([BINS], gl.int32, line))
    for start in range(gl.program_id(0) * BLOCK, n, gl.num_programs(0) * BLOCK):
        at = start + gl.arange(0, BLOCK, line)
        v = gl.load(x + at, at < n, other=0)
        bins.atomic_scatter_add(gl.full([BLOCK], 1, gl.int32, line), v % BINS, 0, mask=at < n)
    gl.barrier()
    place = gl.arange(0, BINS, line)
    gl.atomic_add(out + place, bins.load(line))


def swizzled(kind, *shape, bits=16, **rest):
    layout = gl.NVMMASharedLayout(128, bits, len(shape), **rest)
    return f"tensordesc<{kind}[{','.join(map(str, shape))}],{layout!r}>"


def plain(kind, *shape, bits=32):
    return f"tensordesc<{kind}[{','.join(map(str, shape))}],{gl.NVMMASharedLayout(0, bits, len(shape))!r}>"


def entry(kernel, runtime, targets=NEW, options=None, **constants):
    return dict(kernel=kernel, runtime=runtime, constants=constants, targets=targets, options=options or {})


MODULES = {
    "transpose": entry(transpose, dict(x="*fp32", out="*fp32", m="i32", n="i32:16"), ALL, BLOCK=64),
    "async_copies": entry(
        ring_of_async_copies, dict(x="*fp32", y="*fp32", out="*fp32", n="i32:16"), ALL, BLOCK=512, DEPTH=4
    ),
    "copies_that_arrive": entry(copies_that_arrive, dict(x="*fp32", out="*fp32"), ALL, BLOCK=512),
    "tma_add": entry(
        add_one, dict(source=plain("fp32", 32, 64), target=plain("fp32", 32, 64)), M=32, N=64, REDUCE=False
    ),
    "tma_reduce": entry(
        add_one, dict(source=swizzled("fp16", 64, 64), target=swizzled("fp16", 64, 64)), M=64, N=64, REDUCE=True
    ),
    "tma_pipelined": entry(
        pipelined,
        dict(x=plain("fp32", 32, 64), y=plain("fp32", 32, 64), out=plain("fp32", 32, 64), n="i32"),
        M=32, N=64, DEPTH=3,
    ),
    "tma_gather": entry(
        gather_and_scatter, dict(source=swizzled("fp16", 1, 128), index="*i32", target=swizzled("fp16", 1, 128)),
        ["sm_100"], N=128,
    ),
    "im2col": entry(
        image_to_columns,
        dict(source=swizzled("fp16", 64, 64).replace("tensordesc", "tensordesc_im2col"), out="*fp32"),
        ["sm_90", "sm_100"], PIXELS=64, CHANNELS=64,
    ),
    "into_the_peer": entry(
        into_the_peer, dict(x="*fp32", out="*fp32"), ["sm_90", "sm_100"], dict(num_ctas=2), M=64, N=64
    ),
    "counts": entry(counts, dict(x="*i32", out="*i32", n="i32"), ALL, BINS=128, BLOCK=512),
}
