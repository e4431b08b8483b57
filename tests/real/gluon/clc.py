"""Cluster launch control: a kernel that takes over tiles, one that overlaps the request with its work, warp-specialised ones."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout, allocate_tensor_memory, clc, fence_async_shared, mbarrier, tcgen05_commit, tcgen05_mma, tma,
)

BLACKWELL = ["sm_100"]
FLAT = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))


@gluon.jit
def scale(x, out, n, BLOCK: gl.constexpr):
    line: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    answer = gl.allocate_shared_memory(gl.int64, [2], FLAT)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
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
        gl.barrier()
        fence_async_shared()
    mbarrier.invalidate(bar)


@gluon.jit
def two_dimensions(x, out, m, n, M: gl.constexpr, N: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    answer = gl.allocate_shared_memory(gl.int64, [2], FLAT)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    row, column = gl.program_id(0), gl.program_id(1)
    phase = 0
    more = True
    while more:
        mbarrier.expect(bar, 16)
        clc.try_cancel(answer, bar)
        r = row * M + gl.arange(0, M, gl.SliceLayout(1, rows))
        c = column * N + gl.arange(0, N, gl.SliceLayout(0, rows))
        inside = (r[:, None] < m) & (c[None, :] < n)
        gl.store(out + r[:, None] * n + c[None, :], gl.exp(gl.load(x + r[:, None] * n + c[None, :], inside, other=0.0)), inside)
        mbarrier.wait(bar, phase)
        phase ^= 1
        result = clc.load_result(answer)
        more = result.is_canceled()
        if more:
            row = result.program_id(0)
            column = result.program_id(1)
        gl.barrier()
        fence_async_shared()
    mbarrier.invalidate(bar)


@gluon.jit
def next_tile(answers, ready, used, count):
    """The answer of request `count`, given back once it has been read."""
    at = count % 2
    mbarrier.wait(ready.index(at), count // 2 & 1)
    result = clc.load_result(answers.index(at))
    more = result.is_canceled()
    tile = result.program_id(0)
    mbarrier.arrive(used.index(at), count=1)
    return more, tile


@gluon.jit
def requests(answers, ready, used):
    count = 0
    more = True
    while more:
        at = count % 2
        mbarrier.wait(used.index(at), count // 2 & 1 ^ 1)
        mbarrier.expect(ready.index(at), 16)
        clc.try_cancel(answers.index(at), ready.index(at))
        mbarrier.wait(ready.index(at), count // 2 & 1)
        more = clc.load_result(answers.index(at)).is_canceled()
        count += 1


@gluon.jit
def loads(a, b, left, right, full, empty, answers, ready, used, columns, k,
          M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    tile = gl.program_id(0)
    step, count = 0, 0
    more = True
    while more:
        for start in range(0, k, K):
            at = step % DEPTH
            mbarrier.wait(empty.index(at), step // DEPTH & 1 ^ 1)
            mbarrier.expect(full.index(at), a.nbytes_per_cta + b.nbytes_per_cta)
            tma.async_load(a, [tile // columns * M, start], full.index(at), left.index(at))
            tma.async_load(b, [start, tile % columns * N], full.index(at), right.index(at))
            step += 1
        more, tile = next_tile(answers, ready, used, count)
        count += 1


@gluon.jit
def products(left, right, totals, full, empty, done, free, answers, ready, used, k, K: gl.constexpr, DEPTH: gl.constexpr):
    step, count = 0, 0
    more = True
    while more:
        at = count % 2
        mbarrier.wait(free.index(at), count // 2 & 1 ^ 1)
        for start in range(0, k, K):
            slot = step % DEPTH
            mbarrier.wait(full.index(slot), step // DEPTH & 1)
            tcgen05_mma(left.index(slot), right.index(slot), totals.index(at), use_acc=start > 0, mbarriers=[empty.index(slot)])
            step += 1
        tcgen05_commit(done.index(at))
        more, _ = next_tile(answers, ready, used, count)
        count += 1


@gluon.jit
def stores(c, totals, done, free, answers, ready, used, columns, M: gl.constexpr, N: gl.constexpr):
    tile = gl.program_id(0)
    count = 0
    more = True
    result = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    while more:
        at = count % 2
        mbarrier.wait(done.index(at), count // 2 & 1)
        value = totals.index(at).load().to(c.dtype)
        mbarrier.arrive(free.index(at), count=1)
        tma.store_wait(0)
        result.store(value)
        fence_async_shared()
        tma.async_store(c, [tile // columns * M, tile % columns * N], result)
        more, tile = next_tile(answers, ready, used, count)
        count += 1
    tma.store_wait(0)


@gluon.jit
def matmul(a, b, c, n, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    left = gl.allocate_shared_memory(a.dtype, [DEPTH, M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [DEPTH, K, N], b.layout)
    totals = allocate_tensor_memory(gl.float32, [2, M, N], TensorMemoryLayout([M, N], 1))
    answers = gl.allocate_shared_memory(gl.int64, [2, 2], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for i in gl.static_range(DEPTH):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    done = mbarrier.allocate_mbarrier(batch=2)
    free = mbarrier.allocate_mbarrier(batch=2)
    ready = mbarrier.allocate_mbarrier(batch=2)
    used = mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(done.index(i), count=1)
        mbarrier.init(free.index(i), count=1)
        mbarrier.init(ready.index(i), count=1)
        mbarrier.init(used.index(i), count=3)
    columns = gl.cdiv(n, N)
    gl.warp_specialize([
        (stores, (c, totals, done, free, answers, ready, used, columns, M, N)),
        (loads, (a, b, left, right, full, empty, answers, ready, used, columns, k, M, N, K, DEPTH)),
        (products, (left, right, totals, full, empty, done, free, answers, ready, used, k, K, DEPTH)),
        (requests, (answers, ready, used)),
    ], [1, 1, 1], [24, 24, 24])


def tiles(kind, *shape):
    return f"tensordesc<{kind}[{','.join(map(str, shape))}],{gl.NVMMASharedLayout(128, 16, 2)!r}>"


def entry(kernel, runtime, options=None, targets=BLACKWELL, **constants):
    return dict(kernel=kernel, runtime=runtime, constants=constants, targets=targets, options=options or {})


MODULES = {
    "clc_scale": entry(scale, dict(x="*fp32", out="*fp32", n="i32:16"), targets=["sm_100", "sm_120"], BLOCK=1024),
    "clc_two_dimensions": entry(
        two_dimensions, dict(x="*fp32", out="*fp32", m="i32", n="i32:16"), targets=["sm_100", "sm_120"], M=64, N=64
    ),
    "clc_matmul": entry(
        matmul, dict(a=tiles("fp16", 128, 64), b=tiles("fp16", 64, 128), c=tiles("fp16", 128, 128), n="i32:16", k="i32:16"),
        M=128, N=128, K=64, DEPTH=4,
    ),
}
