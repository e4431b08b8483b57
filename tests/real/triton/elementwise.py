"""Elementwise kernels: loads and stores under masks, conversions, math of libdevice, random numbers."""

import triton
import triton.language as tl
from triton.language.extra import libdevice

ALL = ["sm_80", "sm_90", "sm_100", "sm_120"]


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    for start in range(first, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + at, at < n, other=0.0).to(tl.float32)
        inner = 0.7978845608 * (v + 0.044715 * v * v * v)
        tl.store(out + at, (0.5 * v * (1 + libdevice.tanh(inner))).to(out.dtype.element_ty), at < n)


@triton.jit
def math(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, at < n, other=1.0)
    v = tl.exp(tl.sin(v)) + tl.log2(tl.abs(v) + 1) * libdevice.pow(v, 0.25) + tl.erf(v) - tl.rsqrt(v * v + 1)
    v = tl.where(v > 0, tl.floor(v), libdevice.cbrt(v)) + tl.cos(v * 100.0)
    tl.store(out + at, tl.fma(v, v, tl.maximum(v, 0.5)), at < n)


@triton.jit
def wide_math(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, at < n, other=1.0)
    v = tl.sqrt(v * v + 1) / (tl.exp(v) + 2) + libdevice.atan2(v, v + 1) + libdevice.lgamma(v) * tl.floor(v)
    tl.store(out + at, libdevice.fmod(v, 3 + tl.abs(v)), at < n)


@triton.jit
def integers(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, at < n, other=1)
    b = tl.load(y + at, at < n, other=1)
    q = a // b + a % b
    tl.store(out + at, q ^ (a >> 3) | (tl.umulhi(a, b) << 1), at < n)


@triton.jit
def dropout(x, out, n, seed, p, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    v = tl.load(x + at, at < n, other=0.0)
    tl.store(out + at, tl.where(keep, v / (1 - p), 0.0), at < n)


@triton.jit
def convert(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, at < n, cache_modifier=".cg")
    tl.store(out + at, v.to(out.dtype.element_ty), at < n, cache_modifier=".wt")


@triton.jit
def convert_once(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, at < n, eviction_policy="evict_first")
    tl.store(out + at, v.to(out.dtype.element_ty), at < n, eviction_policy="evict_last")


def unary(kernel, source, result, targets=ALL, **options):
    return dict(
        kernel=kernel,
        runtime=dict(x=f"*{source}", out=f"*{result}", n="i32"),
        constants=dict(BLOCK=1024),
        targets=targets,
        options=options,
    )


MODULES = {
    "add_f32": dict(
        kernel=add,
        runtime=dict(x="*fp32", y="*fp32", out="*fp32", n="i32:16"),
        constants=dict(BLOCK=1024),
        targets=ALL,
    ),
    "add_bf16": dict(
        kernel=add,
        runtime=dict(x="*bf16", y="*bf16", out="*bf16", n="i32"),
        constants=dict(BLOCK=512),
        targets=ALL,
    ),
    "gelu_f16": unary(gelu, "fp16", "fp16"),
    "math_f32": unary(math, "fp32", "fp32"),
    "math_f64": unary(wide_math, "fp64", "fp64", ["sm_80", "sm_100"]),
    "integers": dict(
        kernel=integers,
        runtime=dict(x="*i32", y="*i32", out="*i32", n="i32"),
        constants=dict(BLOCK=256),
        targets=ALL,
    ),
    "dropout": dict(
        kernel=dropout,
        runtime=dict(x="*fp32", out="*fp32", n="i32", seed="i32", p="fp32"),
        constants=dict(BLOCK=1024),
        targets=ALL,
    ),
    "f32_to_f8": unary(convert, "fp32", "fp8e4nv", ["sm_90", "sm_100", "sm_120"]),
    "f8_to_bf16": unary(convert, "fp8e5", "bf16", num_warps=8),
    "bf16_to_f8": unary(convert_once, "bf16", "fp8e5"),
    "i8_to_f16": unary(convert, "i8", "fp16"),
}
