"""tcgen05: one tile, pipelined, persistent with warp specialisation, CTA pairs, operands in Tensor Memory, reductions on load."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout, allocate_tensor_memory, cluster, fence_async_shared, mbarrier, tcgen05_commit, tcgen05_copy, tcgen05_mma,
    tma,
)

BLACKWELL = ["sm_100"]


@gluon.jit
def one_tile(a, b, c, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    left = gl.allocate_shared_memory(a.dtype, [M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [N, K], b.layout)
    total = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], 1))
    loaded = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(done, count=1)
    phase = 0
    for start in range(0, k, K):
        mbarrier.expect(loaded, a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [gl.program_id(0) * M, start], loaded, left)
        tma.async_load(b, [gl.program_id(1) * N, start], loaded, right)
        mbarrier.wait(loaded, phase)
        tcgen05_mma(left, right.permute((1, 0)), total, use_acc=start > 0)
        tcgen05_commit(done)
        mbarrier.wait(done, phase)
        phase ^= 1
    mbarrier.invalidate(loaded)
    mbarrier.invalidate(done)
    result = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    result.store(total.load().to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [gl.program_id(0) * M, gl.program_id(1) * N], result)
    tma.store_wait(0)


@gluon.jit
def pipelined(a, b, c, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    left = gl.allocate_shared_memory(a.dtype, [DEPTH, M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [DEPTH, K, N], b.layout)
    total = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], 1))
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for i in gl.static_range(DEPTH):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    row, column = gl.program_id(0) * M, gl.program_id(1) * N
    steps = gl.cdiv(k, K)
    for step in range(steps + DEPTH - 1):
        at = step % DEPTH
        wanted = step < steps
        mbarrier.wait(empty.index(at), step // DEPTH & 1 ^ 1, pred=wanted)
        mbarrier.expect(full.index(at), a.nbytes_per_cta + b.nbytes_per_cta, pred=wanted)
        tma.async_load(a, [row, step * K], full.index(at), left.index(at), pred=wanted)
        tma.async_load(b, [step * K, column], full.index(at), right.index(at), pred=wanted)
        behind = step - (DEPTH - 1)
        ready = behind >= 0
        place = (behind + DEPTH) % DEPTH
        mbarrier.wait(full.index(place), behind // DEPTH & 1, pred=ready)
        tcgen05_mma(
            left.index(place), right.index(place), total, use_acc=behind > 0, pred=ready, mbarriers=[empty.index(place)],
            mbarrier_preds=[ready],
        )
    last = steps - 1
    mbarrier.wait(empty.index(last % DEPTH), last // DEPTH & 1)
    result = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    result.store(total.load().to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [row, column], result)
    tma.store_wait(0)
    for i in gl.static_range(DEPTH):
        mbarrier.invalidate(full.index(i))
        mbarrier.invalidate(empty.index(i))


@gluon.jit
def loads(a, b, left, right, full, empty, m, n, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    step = 0
    columns = gl.cdiv(n, N)
    for tile in range(gl.program_id(0), gl.cdiv(m, M) * columns, gl.num_programs(0)):
        for start in range(0, k, K):
            at = step % DEPTH
            mbarrier.wait(empty.index(at), step // DEPTH & 1 ^ 1)
            mbarrier.expect(full.index(at), a.nbytes_per_cta + b.nbytes_per_cta)
            tma.async_load(a, [tile // columns * M, start], full.index(at), left.index(at))
            tma.async_load(b, [start, tile % columns * N], full.index(at), right.index(at))
            step += 1


@gluon.jit
def products(left, right, totals, full, empty, ready, free, m, n, k,
             M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    step, done = 0, 0
    for _ in range(gl.program_id(0), gl.cdiv(m, M) * gl.cdiv(n, N), gl.num_programs(0)):
        mbarrier.wait(free.index(done % 2), done // 2 & 1 ^ 1)
        total = totals.index(done % 2)
        for start in range(0, k, K):
            at = step % DEPTH
            mbarrier.wait(full.index(at), step // DEPTH & 1)
            tcgen05_mma(left.index(at), right.index(at), total, use_acc=start > 0, mbarriers=[empty.index(at)])
            step += 1
        tcgen05_commit(ready.index(done % 2))
        done += 1


@gluon.jit
def stores(c, totals, ready, free, m, n, M: gl.constexpr, N: gl.constexpr, PARTS: gl.constexpr):
    done = 0
    columns = gl.cdiv(n, N)
    part: gl.constexpr = N // PARTS
    result = gl.allocate_shared_memory(c.dtype, [M, part], c.layout)
    for tile in range(gl.program_id(0), gl.cdiv(m, M) * columns, gl.num_programs(0)):
        mbarrier.wait(ready.index(done % 2), done // 2 & 1)
        total = totals.index(done % 2)
        for i in gl.static_range(PARTS):
            value = total.slice(i * part, part).load().to(c.dtype)
            if i == PARTS - 1:
                mbarrier.arrive(free.index(done % 2), count=1)
            tma.store_wait(0)
            result.store(value)
            fence_async_shared()
            tma.async_store(c, [tile // columns * M, tile % columns * N + i * part], result)
        done += 1
    tma.store_wait(0)


@gluon.jit
def specialised(a, b, c, m, n, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr, PARTS: gl.constexpr):
    left = gl.allocate_shared_memory(a.dtype, [DEPTH, M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [DEPTH, K, N], b.layout)
    totals = allocate_tensor_memory(gl.float32, [2, M, N], TensorMemoryLayout([M, N], 1))
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for i in gl.static_range(DEPTH):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    ready = mbarrier.allocate_mbarrier(batch=2)
    free = mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(ready.index(i), count=1)
        mbarrier.init(free.index(i), count=1)
    gl.warp_specialize([
        (stores, (c, totals, ready, free, m, n, M, N, PARTS)),
        (loads, (a, b, left, right, full, empty, m, n, k, M, N, K, DEPTH)),
        (products, (left, right, totals, full, empty, ready, free, m, n, k, M, N, K, DEPTH)),
    ], [1, 1], [24, 24])


@gluon.jit
def pair(a, b, c, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    """Two CTAs with half of the rows of A, half of the columns of B and half of the result each."""
    left = gl.allocate_shared_memory(a.dtype, [M, K], a.layout)
    right = gl.allocate_shared_memory(b.dtype, [K, N], b.layout)
    layout: gl.constexpr = TensorMemoryLayout([128, N], 1, cga_layout=[[1, 0]], two_ctas=True)
    total = allocate_tensor_memory(gl.float32, [M, N], layout)
    loaded = mbarrier.allocate_mbarrier(two_ctas=True)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(done, count=1)
    cluster.barrier()
    phase = 0
    for start in range(0, k, K):
        mbarrier.expect(loaded, a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [gl.program_id(0) * M, start], loaded, left)
        tma.async_load(b, [start, gl.program_id(1) * N], loaded, right)
        mbarrier.wait(loaded, phase)
        tcgen05_mma(left, right, total, use_acc=start > 0, multicast=True, mbarriers=[done])
        mbarrier.wait(done, phase)
        phase ^= 1
    result = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    result.store(total.load().to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [gl.program_id(0) * M, gl.program_id(1) * N], result)
    tma.store_wait(0)
    cluster.barrier()
    mbarrier.invalidate(loaded)
    mbarrier.invalidate(done)


@gluon.jit
def left_in_tensor_memory(a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    at = gl.arange(0, M, gl.SliceLayout(1, rows))[:, None] * K + gl.arange(0, K, gl.SliceLayout(0, rows))[None, :]
    value = gl.load(a + at)
    across: gl.constexpr = gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1])
    at = gl.arange(0, N, gl.SliceLayout(0, across))[None, :] * K + gl.arange(0, K, gl.SliceLayout(1, across))[:, None]
    right = gl.allocate_shared_memory(gl.float16, [K, N], gl.NVMMASharedLayout(128, 16, 2, transposed=True), gl.load(b + at))
    left = allocate_tensor_memory(gl.float16, [M, K], TensorMemoryLayout([M, K], 1))
    left.store(gl.convert_layout(value * 2, left.get_reg_layout()))
    total = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], 1))
    total.store(gl.full([M, N], 1.0, gl.float32, total.get_reg_layout()))
    fence_async_shared()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    tcgen05_mma(left, right, total, mbarriers=[done])
    mbarrier.wait(done, 0)
    mbarrier.invalidate(done)
    out: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0])
    at = gl.arange(0, M, gl.SliceLayout(1, out))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, out))[None, :]
    gl.store(c + at, gl.convert_layout(total.load(), out))


@gluon.jit
def through_tensor_memory(x, out, M: gl.constexpr, N: gl.constexpr, VARIANT: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [gl.num_warps(), 1], [1, 0])
    at = gl.arange(0, M, gl.SliceLayout(1, rows))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, rows))[None, :]
    tile = gl.allocate_shared_memory(gl.float32, [M, N], gl.NVMMASharedLayout(32, 32, 2), gl.load(x + at))
    fence_async_shared()
    memory = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], 1))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    tcgen05_copy(tile, memory)
    tcgen05_commit(done)
    mbarrier.wait(done, 0)
    mbarrier.invalidate(done)
    value = memory.load(memory.get_reg_layout(instr_variant=VARIANT))
    gl.store(out + at, gl.convert_layout(value, rows))


@gluon.jit
def largest(x, best, M: gl.constexpr, N: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0])
    at = gl.arange(0, M, gl.SliceLayout(1, rows))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, rows))[None, :]
    memory = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], 1))
    memory.store(gl.convert_layout(gl.load(x + at), memory.get_reg_layout()))
    value, top = memory.load_max(abs=True)
    total = gl.sum(value, 1)
    place: gl.constexpr = gl.SliceLayout(1, rows)
    line = gl.arange(0, M, place)
    gl.store(best + line, gl.convert_layout(top, place) + gl.convert_layout(total, place))


def tiles(kind, *shape, bits=16, **rest):
    return f"tensordesc<{kind}[{','.join(map(str, shape))}],{gl.NVMMASharedLayout(128, bits, 2, **rest)!r}>"


def entry(kernel, runtime, options=None, targets=BLACKWELL, **constants):
    return dict(kernel=kernel, runtime=runtime, constants=constants, targets=targets, options=options or {})


def tile(kind, bits, m, n, k, **options):
    runtime = dict(a=tiles(kind, m, k, bits=bits), b=tiles(kind, n, k, bits=bits), c=tiles("fp16", m, n), k="i32:16")
    return entry(one_tile, runtime, options, M=m, N=n, K=k)


def ring(kernel, sizes, m, n, k, depth, parts=1, options=None, **constants):
    runtime = dict(a=tiles("fp16", m, k), b=tiles("fp16", k, n), c=tiles("fp16", m, n // parts))
    runtime.update((size, "i32:16") for size in sizes)
    return entry(kernel, runtime, options, M=m, N=n, K=k, DEPTH=depth, **constants)


def copy(variant, m, n, **options):
    return entry(through_tensor_memory, dict(x="*fp32", out="*fp32"), options, M=m, N=n, VARIANT=variant)


MODULES = {
    "tcgen05_f16": tile("fp16", 16, 128, 128, 64),
    "tcgen05_m64": tile("bf16", 16, 64, 64, 64),
    "tcgen05_f8": tile("fp8e4nv", 8, 128, 256, 128, num_warps=8),
    "tcgen05_tf32": tile("fp32", 32, 128, 64, 32),
    "tcgen05_pipelined": ring(pipelined, "k", 128, 128, 64, 3),
    "tcgen05_pipelined_wide": ring(pipelined, "k", 128, 256, 64, 4, options=dict(num_warps=8)),
    "tcgen05_special": ring(specialised, "mnk", 128, 128, 64, 4, PARTS=1),
    "tcgen05_special_parts": ring(specialised, "mnk", 128, 256, 64, 3, parts=4, PARTS=4, options=dict(num_warps=8)),
    "tcgen05_pair": entry(
        pair,
        dict(
            a=tiles("fp16", 256, 64, cga_layout=[[1, 0]]), b=tiles("fp16", 64, 256, cga_layout=[[0, 1]]),
            c=tiles("fp16", 256, 256, cga_layout=[[1, 0]]), k="i32:16",
        ),
        dict(num_ctas=2),
        M=256, N=256, K=64,
    ),
    "tcgen05_left_in_memory": entry(left_in_tensor_memory, dict(a="*fp16", b="*fp16", c="*fp32"), M=128, N=128, K=64),
    "tcgen05_copy": copy("32x32b", 128, 64),
    "tcgen05_copy_16x256b": copy("16x256b", 128, 32, num_warps=8),
    "tcgen05_copy_16x64b": copy("16x64b", 128, 64),
    "tcgen05_largest": entry(largest, dict(x="*fp32", best="*fp32"), targets=["sm_103"], M=128, N=64),
}
