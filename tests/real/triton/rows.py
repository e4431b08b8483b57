"""Kernels that work row by row: softmax, norms and their gradients, losses, rotary embeddings, quantisation."""

import triton
import triton.language as tl
from triton.language.extra import libdevice

ALL = ["sm_80", "sm_90", "sm_100", "sm_120"]


@triton.jit
def softmax(x, out, stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        at = tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + at, at < columns, other=-float("inf")).to(tl.float32)
        e = tl.exp(v - tl.max(v, 0))
        tl.store(out + row * stride + at, (e / tl.sum(e, 0)).to(out.dtype.element_ty), at < columns)


@triton.jit
def online_softmax(x, out, stride, columns, BLOCK: tl.constexpr):
    x += tl.program_id(0).to(tl.int64) * stride
    out += tl.program_id(0).to(tl.int64) * stride
    most = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + at, at < columns, other=-1e30).to(tl.float32)
        larger = tl.maximum(most, v)
        total = total * tl.exp(most - larger) + tl.exp(v - larger)
        most = larger
    top = tl.max(most, 0)
    whole = tl.sum(total * tl.exp(most - top), 0)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + at, at < columns, other=0.0).to(tl.float32)
        tl.store(out + at, (tl.exp(v - top) / whole).to(out.dtype.element_ty), at < columns)


@triton.jit
def layer_norm(x, out, weight, bias, means, scales, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, at < n, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / n
    centred = tl.where(at < n, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / n + eps)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    w = tl.load(weight + at, at < n, other=0.0)
    b = tl.load(bias + at, at < n, other=0.0)
    tl.store(out + row * stride + at, (centred * scale * w + b).to(out.dtype.element_ty), at < n)


@triton.jit
def layer_norm_gradients(
    x, dout, weight, means, scales, dx, dweight, dbias, locks, counts, stride, n, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + row * stride + at, inside, other=0.0).to(tl.float32)
    g = tl.load(dout + row * stride + at, inside, other=0.0).to(tl.float32)
    w = tl.load(weight + at, inside, other=0.0).to(tl.float32)
    scale = tl.load(scales + row)
    normal = tl.where(inside, (v - tl.load(means + row)) * scale, 0.0)
    wg = w * g
    a = tl.sum(normal * wg, 0) / n
    b = tl.sum(wg, 0) / n
    tl.store(dx + row * stride + at, ((wg - (normal * a + b)) * scale).to(dx.dtype.element_ty), inside)
    group = row % GROUPS
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    of_weight, of_bias = g * normal, g
    if tl.load(counts + group) == 0:
        tl.atomic_xchg(counts + group, 1)
    else:
        of_weight += tl.load(dweight + group * n + at, inside, other=0.0)
        of_bias += tl.load(dbias + group * n + at, inside, other=0.0)
    tl.store(dweight + group * n + at, of_weight, inside)
    tl.store(dbias + group * n + at, of_bias, inside)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def rms_norm_and_add(x, residual, weight, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row + at, at < n, other=0.0).to(tl.float32) + tl.load(residual + row + at, at < n, other=0.0)
    tl.store(residual + row + at, v.to(residual.dtype.element_ty), at < n)
    scale = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(out + row + at, (v * scale * tl.load(weight + at, at < n, other=0.0)).to(out.dtype.element_ty), at < n)


@triton.jit
def cross_entropy(logits, labels, losses, n, ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels + row)
    most, total = -float("inf"), 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(logits + row.to(tl.int64) * n + at, at < n, other=-float("inf")).to(tl.float32)
        larger = tl.maximum(most, tl.max(v, 0))
        total = total * tl.exp(most - larger) + tl.sum(tl.exp(v - larger), 0)
        most = larger
    if label == ignored:
        tl.store(losses + row, 0.0)
    else:
        tl.store(losses + row, most + tl.log(total) - tl.load(logits + row.to(tl.int64) * n + label).to(tl.float32))


@triton.jit
def rotary(x, cosines, sines, out, heads, HALF: tl.constexpr, HEADS: tl.constexpr):
    token = tl.program_id(0)
    head = tl.arange(0, HEADS)[:, None]
    at = tl.arange(0, HALF)[None, :]
    place = (token * heads + head) * (2 * HALF) + at
    inside = (head < heads) & (at < HALF)
    c = tl.load(cosines + token * HALF + at)
    s = tl.load(sines + token * HALF + at)
    a = tl.load(x + place, inside, other=0.0).to(tl.float32)
    b = tl.load(x + place + HALF, inside, other=0.0).to(tl.float32)
    tl.store(out + place, (a * c - b * s).to(out.dtype.element_ty), inside)
    tl.store(out + place + HALF, (b * c + a * s).to(out.dtype.element_ty), inside)


@triton.jit
def quantize_rows(x, out, scales, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, at < n, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(v), 0) / 127.0 + 1e-8
    tl.store(scales + row, scale)
    tl.store(out + row * n + at, libdevice.rint(v / scale).to(tl.int8), at < n)


@triton.jit
def quantize_blocks(x, out, scales, n, BLOCK: tl.constexpr, EACH: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    at = start + tl.arange(0, BLOCK)
    v = tl.load(x + at, at < n, other=0.0).to(tl.float32)
    blocks = tl.reshape(v, (BLOCK // EACH, EACH))
    scale = tl.max(tl.abs(blocks), 1) / 448.0 + 1e-10
    result = tl.reshape(blocks / scale[:, None], (BLOCK,)).to(tl.float8e4nv)
    tl.store(out + at, result, at < n)
    tl.store(scales + start // EACH + tl.arange(0, BLOCK // EACH), scale)


def entry(kernel, runtime, targets=ALL, options=None, **constants):
    return dict(kernel=kernel, runtime=runtime, constants=constants, targets=targets, options=options or {})


MODULES = {
    "softmax": entry(
        softmax, dict(x="*fp16", out="*fp16", stride="i32:16", rows="i32", columns="i32"), BLOCK=1024, STAGES=4,
        options=dict(num_warps=8),
    ),
    "softmax_f32": entry(
        softmax, dict(x="*fp32", out="*fp32", stride="i32", rows="i32", columns="i32"), BLOCK=4096, STAGES=2,
        options=dict(num_warps=16),
    ),
    "softmax_online": entry(online_softmax, dict(x="*bf16", out="*bf16", stride="i64", columns="i32"), BLOCK=1024),
    "layer_norm": entry(
        layer_norm,
        dict(x="*fp16", out="*fp16", weight="*fp16", bias="*fp16", means="*fp32", scales="*fp32", stride="i32:16", n="i32",
             eps="fp32"),
        BLOCK=2048,
        options=dict(num_warps=8),
    ),
    "layer_norm_gradients": entry(
        layer_norm_gradients,
        dict(x="*fp16", dout="*fp16", weight="*fp16", means="*fp32", scales="*fp32", dx="*fp16", dweight="*fp32", dbias="*fp32",
             locks="*i32", counts="*i32", stride="i32:16", n="i32"),
        GROUPS=64, BLOCK=1024,
    ),
    "rms_norm": entry(
        rms_norm_and_add, dict(x="*bf16", residual="*bf16", weight="*bf16", out="*bf16", n="i32:16", eps="fp32"), BLOCK=4096,
        options=dict(num_warps=8, launch_pdl=True),
    ),
    "cross_entropy": entry(
        cross_entropy, dict(logits="*bf16", labels="*i64", losses="*fp32", n="i32", ignored="i64"), BLOCK=4096,
    ),
    "rotary": entry(
        rotary, dict(x="*bf16", cosines="*fp32", sines="*fp32", out="*bf16", heads="i32"), HALF=64, HEADS=32,
    ),
    "quantize_rows": entry(quantize_rows, dict(x="*fp16", out="*i8", scales="*fp32", n="i32:16"), BLOCK=2048),
    "quantize_blocks": entry(
        quantize_blocks, dict(x="*bf16", out="*fp8e4nv", scales="*fp32", n="i32:16"), ["sm_90", "sm_100", "sm_120"],
        BLOCK=2048, EACH=128,
    ),
}
