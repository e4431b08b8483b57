"""Attention: on Hopper with wgmma, on Blackwell with tcgen05, by one partition of warps and by five."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout, allocate_tensor_memory, tcgen05_commit, tcgen05_mma,
)
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait,
)


@gluon.jit
def hopper(q, k, v, out, scale, length, ROWS: gl.constexpr, COLUMNS: gl.constexpr, WIDTH: gl.constexpr):
    scores: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, COLUMNS, 16])
    values: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, WIDTH, 16])
    query = gl.allocate_shared_memory(q.dtype, [ROWS, WIDTH], q.layout)
    keys = gl.allocate_shared_memory(k.dtype, [2, COLUMNS, WIDTH], k.layout)
    rows = gl.allocate_shared_memory(v.dtype, [2, COLUMNS, WIDTH], v.layout)
    bars = mbarrier.allocate_mbarrier(batch=3)
    for i in gl.static_range(3):
        mbarrier.init(bars.index(i), count=1)
    base = gl.program_id(1) * length
    first = base + gl.program_id(0) * ROWS
    mbarrier.expect(bars.index(2), q.nbytes_per_cta)
    tma.async_load(q, [first, 0], bars.index(2), query)
    mbarrier.expect(bars.index(0), k.nbytes_per_cta + v.nbytes_per_cta)
    tma.async_load(k, [base, 0], bars.index(0), keys.index(0))
    tma.async_load(v, [base, 0], bars.index(0), rows.index(0))
    mbarrier.wait(bars.index(2), 0)
    most = gl.full([ROWS], float("-inf"), gl.float32, gl.SliceLayout(1, scores))
    weight = gl.zeros([ROWS], gl.float32, gl.SliceLayout(1, scores))
    total = gl.zeros([ROWS, WIDTH], gl.float32, values)
    steps = gl.cdiv(length, COLUMNS)
    for step in range(steps):
        at, ahead = step % 2, (step + 1) % 2
        more = step + 1 < steps
        mbarrier.wait(bars.index(at), step // 2 & 1)
        zero = gl.zeros([ROWS, COLUMNS], gl.float32, scores)
        score = warpgroup_mma(query, keys.index(at).permute((1, 0)), zero, is_async=True)
        mbarrier.expect(bars.index(ahead), k.nbytes_per_cta + v.nbytes_per_cta, pred=more)
        tma.async_load(k, [base + (step + 1) * COLUMNS, 0], bars.index(ahead), keys.index(ahead), pred=more)
        tma.async_load(v, [base + (step + 1) * COLUMNS, 0], bars.index(ahead), rows.index(ahead), pred=more)
        score = warpgroup_mma_wait(0, deps=(score,)) * scale
        larger = gl.maximum(most, gl.max(score, 1))
        old = gl.exp2(most - larger)
        p = gl.exp2(score - larger[:, None])
        weight = weight * old + gl.sum(p, 1)
        total = total * gl.convert_layout(old, gl.SliceLayout(1, values))[:, None]
        p = gl.convert_layout(p.to(v.dtype), gl.DotOperandLayout(0, values, 2))
        total = warpgroup_mma(p, rows.index(at), total)
        most = larger
    for i in gl.static_range(3):
        mbarrier.invalidate(bars.index(i))
    result = total / gl.convert_layout(weight, gl.SliceLayout(1, values))[:, None]
    query.store(result.to(q.dtype))
    fence_async_shared()
    tma.async_store(out, [first, 0], query)
    tma.store_wait(0)


@gluon.jit
def blackwell(q, k, v, out, scale, length, ROWS: gl.constexpr, COLUMNS: gl.constexpr, WIDTH: gl.constexpr):
    query = gl.allocate_shared_memory(q.dtype, [ROWS, WIDTH], q.layout)
    keys = gl.allocate_shared_memory(k.dtype, [COLUMNS, WIDTH], k.layout)
    rows = gl.allocate_shared_memory(v.dtype, [COLUMNS, WIDTH], v.layout)
    score_memory = allocate_tensor_memory(gl.float32, [ROWS, COLUMNS], TensorMemoryLayout([ROWS, COLUMNS], 1))
    p_memory = allocate_tensor_memory(v.dtype, [ROWS, COLUMNS], TensorMemoryLayout([ROWS, COLUMNS], 1))
    total = allocate_tensor_memory(gl.float32, [ROWS, WIDTH], TensorMemoryLayout([ROWS, WIDTH], 1))
    loaded = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(done, count=1)
    layout: gl.constexpr = score_memory.get_reg_layout()
    total.store(gl.zeros([ROWS, WIDTH], gl.float32, total.get_reg_layout()))
    most = gl.full([ROWS], float("-inf"), gl.float32, gl.SliceLayout(1, layout))
    weight = gl.zeros([ROWS], gl.float32, gl.SliceLayout(1, layout))
    base = gl.program_id(1) * length
    first = base + gl.program_id(0) * ROWS
    mbarrier.expect(loaded, q.nbytes_per_cta)
    tma.async_load(q, [first, 0], loaded, query)
    mbarrier.wait(loaded, 0)
    phase = 1
    asked = 0
    for start in range(0, length, COLUMNS):
        mbarrier.expect(loaded, k.nbytes_per_cta + v.nbytes_per_cta)
        tma.async_load(k, [base + start, 0], loaded, keys)
        tma.async_load(v, [base + start, 0], loaded, rows)
        mbarrier.wait(loaded, phase)
        phase ^= 1
        tcgen05_mma(query, keys.permute((1, 0)), score_memory, use_acc=False, mbarriers=[done])
        mbarrier.wait(done, asked)
        asked ^= 1
        score = score_memory.load(layout) * scale
        larger = gl.maximum(most, gl.max(score, 1))
        old = gl.exp2(most - larger)
        p = gl.exp2(score - larger[:, None])
        weight = weight * old + gl.sum(p, 1)
        p_memory.store(gl.convert_layout(p.to(v.dtype), p_memory.get_reg_layout()))
        wide: gl.constexpr = total.get_reg_layout()
        total.store(total.load(wide) * gl.convert_layout(old, gl.SliceLayout(1, wide))[:, None])
        tcgen05_mma(p_memory, rows, total, mbarriers=[done])
        mbarrier.wait(done, asked)
        asked ^= 1
        most = larger
    mbarrier.invalidate(loaded)
    mbarrier.invalidate(done)
    wide: gl.constexpr = total.get_reg_layout()
    result = total.load(wide) / gl.convert_layout(weight, gl.SliceLayout(1, wide))[:, None]
    query.store(result.to(q.dtype))
    fence_async_shared()
    tma.async_store(out, [first, 0], query)
    tma.store_wait(0)


@gluon.jit
def loads(q, k, v, query, keys, rows, loaded, full, empty, length, ROWS: gl.constexpr, COLUMNS: gl.constexpr,
          DEPTH: gl.constexpr):
    base = gl.program_id(1) * length
    mbarrier.expect(loaded, q.nbytes_per_cta)
    tma.async_load(q, [base + gl.program_id(0) * ROWS, 0], loaded, query)
    for step in range(gl.cdiv(length, COLUMNS)):
        at = step % DEPTH
        mbarrier.wait(empty.index(at), step // DEPTH & 1 ^ 1)
        mbarrier.expect(full.index(at), k.nbytes_per_cta + v.nbytes_per_cta)
        tma.async_load(k, [base + step * COLUMNS, 0], full.index(at), keys.index(at))
        tma.async_load(v, [base + step * COLUMNS, 0], full.index(at), rows.index(at))


@gluon.jit
def products(query, keys, rows, scores, p, total, loaded, full, empty, scored, made, corrected, summed, length,
             COLUMNS: gl.constexpr, DEPTH: gl.constexpr):
    mbarrier.wait(loaded, 0)
    for step in range(gl.cdiv(length, COLUMNS)):
        at = step % DEPTH
        mbarrier.wait(full.index(at), step // DEPTH & 1)
        tcgen05_mma(query, keys.index(at).permute((1, 0)), scores, use_acc=False, mbarriers=[scored])
        mbarrier.wait(made, step & 1)
        mbarrier.wait(corrected, step & 1)
        tcgen05_mma(p, rows.index(at), total, use_acc=step > 0, mbarriers=[empty.index(at)])
    tcgen05_commit(summed)


@gluon.jit
def exponentials(scores, p, factors, scored, made, factored, used, scale, length, weights, ROWS: gl.constexpr,
                 COLUMNS: gl.constexpr):
    layout: gl.constexpr = scores.get_reg_layout()
    flat: gl.constexpr = gl.SliceLayout(1, layout)
    most = gl.full([ROWS], float("-inf"), gl.float32, flat)
    weight = gl.zeros([ROWS], gl.float32, flat)
    for step in range(gl.cdiv(length, COLUMNS)):
        mbarrier.wait(scored, step & 1)
        score = scores.load(layout) * scale
        larger = gl.maximum(most, gl.max(score, 1))
        old = gl.exp2(most - larger)
        mbarrier.wait(used, step & 1 ^ 1)
        factors.store(old)
        mbarrier.arrive(factored, count=1)
        value = gl.exp2(score - larger[:, None])
        p.store(gl.convert_layout(value.to(p.dtype), p.get_reg_layout()))
        mbarrier.arrive(made, count=1)
        weight = weight * old + gl.sum(value, 1)
        most = larger
    weights.store(weight)
    mbarrier.arrive(factored, count=1)


@gluon.jit
def corrections(out, query, total, factors, factored, used, corrected, summed, weights, length,
                ROWS: gl.constexpr, COLUMNS: gl.constexpr):
    wide: gl.constexpr = total.get_reg_layout()
    flat: gl.constexpr = gl.SliceLayout(1, wide)
    steps = gl.cdiv(length, COLUMNS)
    for step in range(steps):
        mbarrier.wait(factored, step & 1)
        old = factors.load(flat)
        mbarrier.arrive(used, count=1)
        if step > 0:
            total.store(total.load(wide) * old[:, None])
        mbarrier.arrive(corrected, count=1)
    mbarrier.wait(factored, steps & 1)
    weight = weights.load(flat)
    mbarrier.wait(summed, 0)
    query.store((total.load(wide) / weight[:, None]).to(query.dtype))
    fence_async_shared()
    tma.async_store(out, [gl.program_id(1) * length + gl.program_id(0) * ROWS, 0], query)
    tma.store_wait(0)


@gluon.jit
def specialised(q, k, v, out, scale, length, ROWS: gl.constexpr, COLUMNS: gl.constexpr, WIDTH: gl.constexpr, DEPTH: gl.constexpr):
    line: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    query = gl.allocate_shared_memory(q.dtype, [ROWS, WIDTH], q.layout)
    keys = gl.allocate_shared_memory(k.dtype, [DEPTH, COLUMNS, WIDTH], k.layout)
    rows = gl.allocate_shared_memory(v.dtype, [DEPTH, COLUMNS, WIDTH], v.layout)
    factors = gl.allocate_shared_memory(gl.float32, [ROWS], line)
    weights = gl.allocate_shared_memory(gl.float32, [ROWS], line)
    scores = allocate_tensor_memory(gl.float32, [ROWS, COLUMNS], TensorMemoryLayout([ROWS, COLUMNS], 1))
    p = allocate_tensor_memory(v.dtype, [ROWS, COLUMNS], TensorMemoryLayout([ROWS, COLUMNS], 1))
    total = allocate_tensor_memory(gl.float32, [ROWS, WIDTH], TensorMemoryLayout([ROWS, WIDTH], 1))
    full = mbarrier.allocate_mbarrier(batch=DEPTH)
    empty = mbarrier.allocate_mbarrier(batch=DEPTH)
    for i in gl.static_range(DEPTH):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    bars = mbarrier.allocate_mbarrier(batch=7)
    for i in gl.static_range(7):
        mbarrier.init(bars.index(i), count=1)
    loaded, scored, made, corrected = bars.index(0), bars.index(1), bars.index(2), bars.index(3)
    factored, used, summed = bars.index(4), bars.index(5), bars.index(6)
    gl.warp_specialize([
        (corrections, (out, query, total, factors, factored, used, corrected, summed, weights, length, ROWS, COLUMNS)),
        (exponentials, (scores, p, factors, scored, made, factored, used, scale, length, weights, ROWS, COLUMNS)),
        (products, (query, keys, rows, scores, p, total, loaded, full, empty, scored, made, corrected, summed, length, COLUMNS,
                    DEPTH)),
        (loads, (q, k, v, query, keys, rows, loaded, full, empty, length, ROWS, COLUMNS, DEPTH)),
    ], [4, 1, 1], [192, 24, 24])


def tiles(*shape):
    return f"tensordesc<fp16[{','.join(map(str, shape))}],{gl.NVMMASharedLayout(128, 16, 2)!r}>"


def entry(kernel, target, rows, columns, width, **more):
    runtime = dict(
        q=tiles(rows, width), k=tiles(columns, width), v=tiles(columns, width), out=tiles(rows, width), scale="fp32",
        length="i32:16",
    )
    return dict(kernel=kernel, runtime=runtime, constants=dict(ROWS=rows, COLUMNS=columns, WIDTH=width, **more), targets=[target])


MODULES = {
    "attention_wgmma": entry(hopper, "sm_90", 64, 64, 64),
    "attention_wgmma_wide": entry(hopper, "sm_90", 64, 128, 128),
    "attention_tcgen05": entry(blackwell, "sm_100", 128, 64, 64),
    "attention_tcgen05_special": entry(specialised, "sm_100", 128, 128, 64, DEPTH=2),
}
