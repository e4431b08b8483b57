"""Reductions, scans, sorts, histograms, gathers and atomics."""

import triton
import triton.language as tl
from triton.language.extra import cuda

ALL = ["sm_80", "sm_90", "sm_100", "sm_120"]


@triton.jit
def sums(x, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, at < n, other=0.0)
    tl.atomic_add(out, tl.sum(total, 0))


@triton.jit
def products(a, b, M: tl.constexpr, N: tl.constexpr, x, out):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at)
    tl.store(a + tl.arange(0, M), tl.sum(v, 1))
    tl.store(b + tl.arange(0, N), tl.max(v, 0))
    tl.store(out, tl.xor_sum(tl.xor_sum(v.to(tl.int32), 1), 0))


@triton.jit
def arguments(x, best, least, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row + at, at < n, other=-float("inf"))
    tl.store(best + tl.program_id(0), tl.argmax(v, 0))
    tl.store(least + tl.program_id(0), tl.argmin(v, 0, tie_break_left=False))


@triton.jit
def merge(mean_a, m2_a, weight_a, mean_b, m2_b, weight_b):
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    share = tl.where(weight == 0.0, 0.0, weight_b / weight)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * weight_a * share, weight


@triton.jit
def welford(x, means, variances, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, at < n, other=0.0)
    one = (at < n).to(tl.float32)
    mean, m2, weight = tl.reduce((v, tl.zeros_like(v), one), 0, merge)
    tl.store(means + row, mean)
    tl.store(variances + row, m2 / weight)


@triton.jit
def scans(x, out, products, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, at < n, other=0.0)
    tl.store(out + row * n + at, tl.cumsum(v, 0), at < n)
    tl.store(products + row * n + at, tl.cumprod(v, 0, reverse=True), at < n)


@triton.jit
def recurrence(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def linear_recurrence(gates, tokens, out, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = rows[:, None] * n + tl.arange(0, BLOCK)[None, :]
    inside = tl.arange(0, BLOCK)[None, :] < n
    g = tl.load(gates + at, inside, other=1.0)
    t = tl.load(tokens + at, inside, other=0.0)
    _, result = tl.associative_scan((g, t), 1, recurrence)
    tl.store(out + at, result, inside)


@triton.jit
def sorted_rows(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, at < n, other=float("inf"))
    tl.store(out + row * n + at, tl.sort(v), at < n)


@triton.jit
def largest(x, out, n, BLOCK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, at < n, other=-float("inf"))
    tl.store(out + row * K + tl.arange(0, K), tl.topk(v, K))


@triton.jit
def bins(x, out, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, at < n, other=0)
    counts = tl.histogram(v, BINS, mask=at < n)
    tl.atomic_add(out + tl.arange(0, BINS), counts, sem="relaxed")


@triton.jit
def gather_rows(x, index, out, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + rows * N + columns)
    i = tl.load(index + rows * N + columns)
    tl.store(out + rows * N + columns, tl.gather(v, i, 1))


@triton.jit
def shuffles(x, out, N: tl.constexpr):
    rows, columns = tl.arange(0, 32)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + rows * N + columns)
    v = tl.flip(tl.trans(v), 1)
    a, b = tl.split(tl.reshape(v, (N, 16, 2)))
    joined = tl.reshape(tl.join(b, a), (N, 32))
    tl.store(out + tl.arange(0, N)[:, None] * 64 + tl.arange(0, 64)[None, :], tl.cat(joined, v, dim=1))


@triton.jit
def atomics(words, wide, halves, floats, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.atomic_max(words + at, at, inside)
    a ^= tl.atomic_min(words + n + at, at, inside, sem="release")
    a ^= tl.atomic_and(words + 2 * n + at, at, inside, sem="acquire", scope="cta")
    a ^= tl.atomic_or(words + 3 * n + at, a, inside, scope="sys")
    a ^= tl.atomic_xor(words + 4 * n + at, a, inside)
    a ^= tl.atomic_xchg(words + 5 * n + at, a, inside)
    a ^= tl.atomic_cas(words + at, a, at)
    tl.atomic_add(wide + at, a.to(tl.int64), inside)
    tl.atomic_add(halves + at, a.to(tl.float16), inside)
    tl.atomic_max(floats + at, a.to(tl.float32), inside)
    tl.store(out + at, a, inside)


@triton.jit
def last_block(x, partial, count, out, n, BLOCK: tl.constexpr, BLOCKS: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial + pid, tl.sum(tl.load(x + at, at < n, other=0.0), 0))
    tl.debug_barrier()
    if tl.atomic_add(count, 1, sem="acq_rel") == tl.num_programs(0) - 1:
        each = tl.load(partial + tl.arange(0, BLOCKS), tl.arange(0, BLOCKS) < tl.num_programs(0), other=0.0, volatile=True)
        tl.store(out, tl.sum(each, 0))


@triton.jit
def assembly(x, out, times, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, at < n, other=0)
    w = tl.inline_asm_elementwise(
        "{ .reg .b32 t; prmt.b32 t, $1, $2, 0x5140; shf.l.wrap.b32 $0, t, t, 8; }", "=r,r,r", [v, v + 1], tl.int32, True, 1
    )
    packed = tl.inline_asm_elementwise("cvt.rn.f16x2.f32 $0, $2, $1;", "=r,r,r", [w.to(tl.float32)], tl.float16, True, 2)
    tl.store(out + at, packed, at < n)
    tl.store(times + tl.program_id(0), cuda.globaltimer() + cuda.smid())


@triton.jit
def dependent(x, out, n, BLOCK: tl.constexpr):
    cuda.gdc_wait()
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, at < n)
    cuda.gdc_launch_dependents()
    tl.store(out + at, v * 2, at < n)


@triton.jit
def checked(x, index, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = tl.load(index + at, at < n, other=0)
    tl.device_assert((i >= 0) & (i < n), "index out of range")
    v = tl.load(x + i, at < n)
    tl.device_print("value", v)
    tl.store(out + at, v, at < n)


@triton.jit(noinline=True)
def bound(a, b, c):
    if a > b:
        return a + c
    return tl.maximum(b, 1.0) * c


@triton.jit
def calls(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, at < n, other=0.0)
    scale = bound(tl.sum(v, 0), tl.max(v, 0), tl.load(x))
    tl.store(out + at, v * scale + bound(scale, 2.0, 0.5), at < n)


def entry(kernel, runtime, targets=ALL, options=None, **constants):
    return dict(kernel=kernel, runtime=runtime, constants=constants, targets=targets, options=options or {})


MODULES = {
    "sums": entry(sums, dict(x="*fp32", out="*fp32", n="i32"), BLOCK=1024),
    "reduce_matrix": entry(products, dict(a="*fp32", b="*fp32", x="*fp32", out="*i32"), M=64, N=128, options=dict(num_warps=8)),
    "arguments": entry(arguments, dict(x="*fp16", best="*i32", least="*i64", n="i32"), BLOCK=1024),
    "welford": entry(welford, dict(x="*fp32", means="*fp32", variances="*fp32", n="i32"), BLOCK=1024),
    "scans": entry(scans, dict(x="*fp32", out="*fp32", products="*fp32", n="i32"), BLOCK=2048),
    "linear_recurrence": entry(
        linear_recurrence, dict(gates="*fp32", tokens="*fp32", out="*fp32", n="i32:16"), ROWS=4, BLOCK=256
    ),
    "sort": entry(sorted_rows, dict(x="*fp32", out="*fp32", n="i32"), BLOCK=512),
    "top": entry(largest, dict(x="*fp16", out="*fp16", n="i32"), BLOCK=256, K=8, options=dict(num_warps=2)),
    "histogram": entry(bins, dict(x="*i32", out="*i32", n="i32"), BINS=128, BLOCK=1024),
    "gather_rows": entry(gather_rows, dict(x="*fp32", index="*i32", out="*fp32"), M=64, N=64),
    "shuffles": entry(shuffles, dict(x="*i16", out="*i16"), N=64),
    "atomics": entry(
        atomics, dict(words="*i32", wide="*u64", halves="*fp16", floats="*fp32", out="*i32", n="i32"), BLOCK=256
    ),
    "last_block": entry(
        last_block, dict(x="*fp32", partial="*fp32", count="*i32", out="*fp32", n="i32"), BLOCK=1024, BLOCKS=256
    ),
    "assembly": entry(assembly, dict(x="*i32", out="*fp16", times="*i64", n="i32"), BLOCK=256),
    "dependent": entry(
        dependent, dict(x="*fp32", out="*fp32", n="i32"), ["sm_90", "sm_100", "sm_120"], dict(launch_pdl=True), BLOCK=256
    ),
    "checked": entry(checked, dict(x="*fp32", index="*i64", out="*fp32", n="i32"), options=dict(debug=True), BLOCK=256),
    "calls": entry(calls, dict(x="*fp32", out="*fp32", n="i32"), BLOCK=256),
}
