"""Clusters of two and four CTAs: multicast for tcgen05 and its pairs, cluster launch control, sums over a cluster."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout, allocate_tensor_memory, clc, cluster, fence_async_shared, mbarrier, tcgen05_commit, tcgen05_mma,
    tcgen05_mma_barrier_count, tma,
)

BLACKWELL = ["sm_100"]


@gluon.jit
def loads(a, b, left, right, full, empty, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    for step in range(gl.cdiv(k, K)):
        at = step % DEPTH
        mbarrier.wait(empty.index(at), step // DEPTH & 1 ^ 1)
        mbarrier.expect(full.index(at), a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [gl.program_id(0) * M, step * K], full.index(at), left.index(at), multicast=True)
        tma.async_load(b, [step * K, gl.program_id(1) * N], full.index(at), right.index(at), multicast=True)


@gluon.jit
def products(left, right, total, full, empty, done, k, K: gl.constexpr, DEPTH: gl.constexpr):
    for step in range(gl.cdiv(k, K)):
        at = step % DEPTH
        mbarrier.wait(full.index(at), step // DEPTH & 1)
        tcgen05_mma(left.index(at), right.index(at), total, use_acc=step > 0, multicast=True, mbarriers=[empty.index(at)])
    tcgen05_commit(done, descs=[left.index(0), right.index(0)])


@gluon.jit
def stores(c, total, done, M: gl.constexpr, N: gl.constexpr):
    mbarrier.wait(done, 0)
    result = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    result.store(total.load().to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [gl.program_id(0) * M, gl.program_id(1) * N], result)
    tma.store_wait(0)


@gluon.jit
def multicast(a, b, c, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr, BASES: gl.constexpr,
              PAIR: gl.constexpr):
    left = gl.allocate_shared_memory(a.dtype, [DEPTH, M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [DEPTH, K, N], b.layout)
    layout: gl.constexpr = TensorMemoryLayout([128, 128], 1, cga_layout=BASES, two_ctas=PAIR)
    total = allocate_tensor_memory(gl.float32, [M, N], layout)
    full = mbarrier.allocate_mbarrier(batch=DEPTH, two_ctas=PAIR)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    done = mbarrier.allocate_mbarrier()
    count: gl.constexpr = tcgen05_mma_barrier_count([left.index(0), right.index(0)], True, PAIR)
    for i in gl.static_range(DEPTH):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=count)
    mbarrier.init(done, count=count)
    cluster.barrier()
    gl.warp_specialize([
        (stores, (c, total, done, M, N)),
        (loads, (a, b, left, right, full, empty, k, M, N, K, DEPTH)),
        (products, (left, right, total, full, empty, done, k, K, DEPTH)),
    ], [1, 1], [24, 24])
    cluster.barrier()


@gluon.jit
def taken_over(x, out, n, BLOCK: gl.constexpr):
    line: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0], cga_layout=[[1], [2]])
    both: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=[[0], [0]])
    answer = gl.allocate_shared_memory(gl.int64, [2], both)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    cluster.barrier()
    tile = gl.program_id(0)
    phase = 0
    more = True
    while more:
        mbarrier.expect(bar, 16)
        clc.try_cancel(answer, bar)
        at = tile * BLOCK + gl.arange(0, BLOCK, line)
        gl.store(out + at, gl.load(x + at, at < n, other=0.0) * 2, at < n)
        mbarrier.wait(bar, phase)
        phase ^= 1
        result = clc.load_result(answer)
        more = result.is_canceled()
        tile = result.program_id(0)
        fence_async_shared(cluster=True)
        cluster.barrier()
    mbarrier.invalidate(bar)


@gluon.jit
def sums(x, out, M: gl.constexpr, N: gl.constexpr):
    """A row is spread over the CTAs of a cluster."""
    wide: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0], cga_layout=[[0, 1], [0, 2]])
    rows = gl.arange(0, M, gl.SliceLayout(1, wide))
    columns = gl.arange(0, N, gl.SliceLayout(0, wide))
    value = gl.load(x + (gl.program_id(0) * M + rows)[:, None] * N + columns[None, :])
    most = gl.max(value, 1)
    value = gl.exp(value - most[:, None])
    value = value / gl.sum(value, 1)[:, None]
    gl.store(out + (gl.program_id(0) * M + rows)[:, None] * N + columns[None, :], value)


def tiles(kind, *shape, **rest):
    return f"tensordesc<{kind}[{','.join(map(str, shape))}],{gl.NVMMASharedLayout(128, 16, 2, **rest)!r}>"


def entry(kernel, runtime, options, targets=BLACKWELL, **constants):
    return dict(kernel=kernel, runtime=runtime, constants=constants, targets=targets, options=options)


def product(m, n, bases, of_a, of_b, pair):
    runtime = dict(
        a=tiles("fp16", m, 64, cga_layout=of_a), b=tiles("fp16", 64, n, cga_layout=of_b), c=tiles("fp16", m, n, cga_layout=bases),
        k="i32:16",
    )
    return entry(multicast, runtime, dict(num_ctas=2 ** len(bases)), M=m, N=n, K=64, DEPTH=3, BASES=bases, PAIR=pair)


MODULES = {
    "multicast_two": product(256, 128, [[1, 0]], [[1, 0]], [[0, 0]], False),
    "multicast_four": product(256, 256, [[1, 0], [0, 1]], [[1, 0], [0, 0]], [[0, 0], [0, 1]], False),
    "multicast_pair": product(256, 128, [[1, 0]], [[1, 0]], [[0, 1]], True),
    "multicast_two_pairs": product(512, 128, [[1, 0], [2, 0]], [[1, 0], [2, 0]], [[0, 1], [0, 0]], True),
    "clc_cluster": entry(taken_over, dict(x="*fp32", out="*fp32", n="i32:16"), dict(num_ctas=4), BLOCK=2048),
    "cluster_softmax": entry(sums, dict(x="*fp32", out="*fp32"), dict(num_ctas=4), ["sm_90", "sm_100"], M=4, N=2048),
}
