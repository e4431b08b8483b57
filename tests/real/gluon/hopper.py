"""wgmma: synchronous, pipelined, with an operand in registers, warp-specialised with a ring, multicast over a cluster."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    cluster, fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_init, warpgroup_mma_wait,
)

HOPPER = ["sm_90"]


@gluon.jit
def one_tile(a, b, c, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, ASYNC: gl.constexpr, FROM_REGISTERS: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 256 // a.dtype.primitive_bitwidth])
    left = gl.allocate_shared_memory(a.dtype, [M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [N, K], b.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    total = gl.zeros([M, N], gl.float32, mma)
    phase = 0
    for start in range(0, k, K):
        mbarrier.expect(bar, a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [gl.program_id(0) * M, start], bar, left)
        tma.async_load(b, [gl.program_id(1) * N, start], bar, right)
        mbarrier.wait(bar, phase)
        phase ^= 1
        if FROM_REGISTERS:
            operand: gl.constexpr = gl.DotOperandLayout(0, mma, 32 // a.dtype.primitive_bitwidth)
            value = left.load(operand) * 2
            total = warpgroup_mma(value, right.permute((1, 0)), total, is_async=ASYNC)
        else:
            total = warpgroup_mma(left, right.permute((1, 0)), total, is_async=ASYNC)
        if ASYNC:
            total = warpgroup_mma_wait(0, deps=(total,))
    mbarrier.invalidate(bar)
    result = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    result.store(total.to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [gl.program_id(0) * M, gl.program_id(1) * N], result)
    tma.store_wait(0)


@gluon.jit
def fetch(a, b, row, column, step, pred, bars, left, right, K: gl.constexpr, DEPTH: gl.constexpr):
    at = step % DEPTH
    mbarrier.expect(bars.index(at), a.nbytes_per_cta + b.nbytes_per_cta, pred=pred)
    tma.async_load(a, [row, step * K], bars.index(at), left.index(at), pred=pred)
    tma.async_load(b, [step * K, column], bars.index(at), right.index(at), pred=pred)


@gluon.jit
def pipelined(a, b, c, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, 128, 256 // a.dtype.primitive_bitwidth])
    left = gl.allocate_shared_memory(a.dtype, [DEPTH, M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [DEPTH, K, N], b.layout)
    bars = mbarrier.allocate_mbarrier(batch=DEPTH)
    for i in gl.static_range(DEPTH):
        mbarrier.init(bars.index(i), count=1)
    row, column = gl.program_id(0) * M, gl.program_id(1) * N
    steps = gl.cdiv(k, K)
    for i in gl.static_range(DEPTH - 2):
        fetch(a, b, row, column, i, i < steps, bars, left, right, K, DEPTH)
    total = warpgroup_mma_init(gl.zeros([M, N], gl.float32, mma))
    for step in range(steps):
        mbarrier.wait(bars.index(step % DEPTH), step // DEPTH & 1)
        total = warpgroup_mma_wait(1, deps=(total,))
        # what the last product but one has read is free only now
        ahead = step + DEPTH - 2
        fetch(a, b, row, column, ahead, ahead < steps, bars, left, right, K, DEPTH)
        total = warpgroup_mma(left.index(step % DEPTH), right.index(step % DEPTH), total, is_async=True)
    total = warpgroup_mma_wait(0, deps=(total,))
    for i in gl.static_range(DEPTH):
        mbarrier.invalidate(bars.index(i))
    result = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    result.store(total.to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [row, column], result)
    tma.store_wait(0)


@gluon.jit
def producer(a, b, left, right, full, empty, m, n, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    step = 0
    columns = gl.cdiv(n, N)
    for tile in range(gl.program_id(0), gl.cdiv(m, M) * columns, gl.num_programs(0)):
        row, column = tile // columns * M, tile % columns * N
        for start in range(0, k, K):
            at = step % DEPTH
            mbarrier.wait(empty.index(at), step // DEPTH & 1 ^ 1)
            mbarrier.expect(full.index(at), a.nbytes_per_cta + b.nbytes_per_cta)
            tma.async_load(a, [row, start], full.index(at), left.index(at))
            tma.async_load(b, [start, column], full.index(at), right.index(at))
            step += 1


@gluon.jit
def consumer(c, left, right, result, full, empty, m, n, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr,
             DEPTH: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, N, 16])
    step = 0
    columns = gl.cdiv(n, N)
    for tile in range(gl.program_id(0), gl.cdiv(m, M) * columns, gl.num_programs(0)):
        total = gl.zeros([M, N], gl.float32, mma)
        for _ in range(0, k, K):
            at = step % DEPTH
            mbarrier.wait(full.index(at), step // DEPTH & 1)
            total = warpgroup_mma(left.index(at), right.index(at), total)
            mbarrier.arrive(empty.index(at), count=1)
            step += 1
        tma.store_wait(0)
        result.store(total.to(c.dtype))
        fence_async_shared()
        tma.async_store(c, [tile // columns * M, tile % columns * N], result)
    tma.store_wait(0)


@gluon.jit
def specialised(a, b, c, m, n, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    left = gl.allocate_shared_memory(a.dtype, [DEPTH, M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [DEPTH, K, N], b.layout)
    result = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for i in gl.static_range(DEPTH):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    gl.warp_specialize([
        (consumer, (c, left, right, result, full, empty, m, n, k, M, N, K, DEPTH)),
        (producer, (a, b, left, right, full, empty, m, n, k, M, N, K, DEPTH)),
    ], [1], [24])


@gluon.jit
def multicast(a, b, c, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    """Each CTA of a pair has half of the rows; what both read of B is fetched once."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16], cga_layout=[[1, 0]])
    left = gl.allocate_shared_memory(a.dtype, [DEPTH, M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [DEPTH, K, N], b.layout)
    bars = mbarrier.allocate_mbarrier(batch=DEPTH)
    for i in gl.static_range(DEPTH):
        mbarrier.init(bars.index(i), count=1)
    cluster.barrier()
    row, column = gl.program_id(0) * M, gl.program_id(1) * N
    total = gl.zeros([M, N], gl.float32, mma)
    for step in range(gl.cdiv(k, K)):
        at = step % DEPTH
        mbarrier.expect(bars.index(at), a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [row, step * K], bars.index(at), left.index(at))
        tma.async_load(b, [step * K, column], bars.index(at), right.index(at), multicast=True)
        mbarrier.wait(bars.index(at), step // DEPTH & 1)
        total = warpgroup_mma(left.index(at), right.index(at), total)
        cluster.barrier()
    rows = row + gl.arange(0, M, gl.SliceLayout(1, mma))
    columns = column + gl.arange(0, N, gl.SliceLayout(0, mma))
    gl.store(c + rows[:, None] * 4096 + columns[None, :], total.to(gl.float16))
    for i in gl.static_range(DEPTH):
        mbarrier.invalidate(bars.index(i))


def tiles(kind, *shape, bits=16, **rest):
    return f"tensordesc<{kind}[{','.join(map(str, shape))}],{gl.NVMMASharedLayout(128, bits, 2, **rest)!r}>"


def entry(kernel, runtime, options=None, **constants):
    return dict(kernel=kernel, runtime=runtime, constants=constants, targets=HOPPER, options=options or {})


def tile(kind, bits, m, n, k, asynchronous=True, registers=False):
    runtime = dict(a=tiles(kind, m, k, bits=bits), b=tiles(kind, n, k, bits=bits), c=tiles("fp16", m, n), k="i32:16")
    return entry(one_tile, runtime, M=m, N=n, K=k, ASYNC=asynchronous, FROM_REGISTERS=registers)


def ring(kernel, sizes, m, n, k, depth, **options):
    runtime = dict(a=tiles("fp16", m, k), b=tiles("fp16", k, n), c=tiles("fp16", m, n))
    runtime.update((size, "i32:16") for size in sizes)
    return entry(kernel, runtime, options, M=m, N=n, K=k, DEPTH=depth)


MODULES = {
    "wgmma_f16": tile("fp16", 16, 64, 64, 64, asynchronous=False),
    "wgmma_bf16": tile("bf16", 16, 64, 128, 64),
    "wgmma_f8": tile("fp8e4nv", 8, 64, 128, 128),
    "wgmma_tf32": tile("fp32", 32, 64, 64, 32),
    "wgmma_registers": tile("fp16", 16, 64, 128, 64, registers=True),
    "wgmma_pipelined": ring(pipelined, "k", 128, 128, 64, 4, num_warps=4),
    "wgmma_pipelined_wide": ring(pipelined, "k", 128, 256, 64, 3, num_warps=8),
    "wgmma_special": ring(specialised, "mnk", 64, 128, 64, 4, num_warps=4),
    "wgmma_special_wide": ring(specialised, "mnk", 128, 128, 64, 3, num_warps=8),
    "wgmma_multicast": entry(
        multicast,
        dict(a=tiles("fp16", 128, 64, cga_layout=[[1, 0]]), b=tiles("fp16", 64, 128, cga_layout=[[0, 0]]), c="*fp16", k="i32:16"),
        dict(num_ctas=2),
        M=128, N=128, K=64, DEPTH=3,
    ),
}
