"""mma.sync with ldmatrix and cp.async, dot products without tensor cores, cache policies, inline assembly."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import (
    CachePolicy, FractionalEvictionPolicy, async_copy, mma_v2,
)

ALL = ["sm_80", "sm_90", "sm_100", "sm_120"]


@gluon.jit
def matmul(a, b, c, m, n, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DEPTH: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    width: gl.constexpr = 32 // a.dtype.element_ty.primitive_bitwidth
    of_a: gl.constexpr = gl.DotOperandLayout(0, mma, width)
    of_b: gl.constexpr = gl.DotOperandLayout(1, mma, width)
    load: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    left = gl.allocate_shared_memory(a.dtype.element_ty, [DEPTH, M, K], gl.SwizzledSharedLayout(8, 2, 4, [1, 0]))
    right = gl.allocate_shared_memory(a.dtype.element_ty, [DEPTH, K, N], gl.SwizzledSharedLayout(8, 1, 8, [1, 0]))
    rows = gl.program_id(0) * M + gl.arange(0, M, gl.SliceLayout(1, load))
    columns = gl.program_id(1) * N + gl.arange(0, N, gl.SliceLayout(0, load))
    across = gl.arange(0, K, gl.SliceLayout(0, load))
    down = gl.arange(0, K, gl.SliceLayout(1, load))
    at_a = a + rows[:, None] * k + across[None, :]
    at_b = b + down[:, None] * n + columns[None, :]
    steps = gl.cdiv(k, K)
    for i in gl.static_range(DEPTH - 1):
        async_copy.async_load(left.index(i), at_a + i * K, (rows < m)[:, None] & (across + i * K < k)[None, :])
        async_copy.async_load(right.index(i), at_b + i * K * n, (down + i * K < k)[:, None] & (columns < n)[None, :])
        async_copy.commit_group()
    total = gl.zeros([M, N], gl.float32, mma)
    for step in range(steps):
        async_copy.wait_group(DEPTH - 2)
        gl.barrier()
        ahead = step + DEPTH - 1
        async_copy.async_load(
            left.index(ahead % DEPTH), at_a + ahead * K, (rows < m)[:, None] & (across + ahead * K < k)[None, :]
        )
        async_copy.async_load(
            right.index(ahead % DEPTH), at_b + ahead * K * n, (down + ahead * K < k)[:, None] & (columns < n)[None, :]
        )
        async_copy.commit_group()
        total = mma_v2(left.index(step % DEPTH).load(of_a), right.index(step % DEPTH).load(of_b), total)
    async_copy.wait_group(0)
    result = gl.convert_layout(total.to(c.dtype.element_ty), load)
    gl.store(c + rows[:, None] * n + columns[None, :], result, (rows < m)[:, None] & (columns < n)[None, :])


@gluon.jit
def without_tensor_cores(a, b, c, k, M: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4, 4], [8, 4], [2, 2], [1, 0])
    rows = gl.program_id(0) * M + gl.arange(0, M, gl.SliceLayout(1, layout))
    columns = gl.program_id(1) * N + gl.arange(0, N, gl.SliceLayout(0, layout))
    total = gl.zeros([M, N], gl.float32, layout)
    for i in range(k):
        total += gl.load(a + rows * k + i)[:, None] * gl.load(b + i * N + columns)[None, :]
    gl.store(c + rows[:, None] * N + columns[None, :], total)


@gluon.jit
def policies(x, out, n, BLOCK: gl.constexpr):
    line: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    first: gl.constexpr = CachePolicy(l1="no_allocate", l2=FractionalEvictionPolicy("evict_first", 1.0), l2_prefetch_size=128)
    last: gl.constexpr = CachePolicy(l2=FractionalEvictionPolicy("evict_last", 0.5, "evict_unchanged"))
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, line)
    v = gl.load(x + at, at < n, other=0.0, cache_policy=first)
    v = gl.where(v > 0, gl.exp(v), v * 0.5) + gl.max(v, 0) + gl.sum(gl.abs(v), 0)
    gl.store(out + at, v, at < n, cache_policy=last)


def product(kind, m, n, k, depth):
    runtime = dict(a=f"*{kind}", b=f"*{kind}", c="*fp16", m="i32", n="i32:16", k="i32:16")
    return dict(kernel=matmul, runtime=runtime, constants=dict(M=m, N=n, K=k, DEPTH=depth), targets=ALL)


MODULES = {
    "mma_f16": product("fp16", 128, 128, 32, 3),
    "mma_bf16": product("bf16", 64, 64, 64, 4),
    "outer_products": dict(
        kernel=without_tensor_cores,
        runtime=dict(a="*fp32", b="*fp32", c="*fp32", k="i32:16"),
        constants=dict(M=64, N=64),
        targets=ALL,
    ),
    "policies": dict(kernel=policies, runtime=dict(x="*fp32", out="*fp32", n="i32:16"), constants=dict(BLOCK=1024), targets=ALL),
}
