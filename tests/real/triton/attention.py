"""Attention: forward with pointers and with tensor descriptors, warp-specialised, decoding over a paged cache, backward."""

import triton
import triton.language as tl

ALL = ["sm_80", "sm_90", "sm_100", "sm_120"]
NEW = ["sm_90", "sm_100", "sm_120"]
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def forward(
    q, k, v, out, logsum, scale, length, heads, row, head,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr, CAUSAL: tl.constexpr,
):
    first = tl.program_id(0) * ROWS
    batch_head = tl.program_id(1)
    at = (batch_head // heads).to(tl.int64) * heads * head + (batch_head % heads).to(tl.int64) * head
    rows = first + tl.arange(0, ROWS)
    wide = tl.arange(0, WIDTH)
    query = tl.load(q + at + rows[:, None] * row + wide[None, :], rows[:, None] < length, other=0.0)
    most = tl.full((ROWS,), float("-inf"), tl.float32)
    weight = tl.zeros((ROWS,), tl.float32)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    end = tl.minimum(first + ROWS, length) if CAUSAL else length
    for start in range(0, end, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        inside = columns < length
        key = tl.load(k + at + columns[None, :] * row + wide[:, None], inside[None, :], other=0.0)
        score = tl.dot(query, key) * (scale * LOG2E)
        seen = inside[None, :] & (rows[:, None] >= columns[None, :]) if CAUSAL else inside[None, :]
        score = tl.where(seen, score, float("-inf"))
        larger = tl.maximum(most, tl.max(score, 1))
        p = tl.exp2(score - larger[:, None])
        old = tl.exp2(most - larger)
        weight = weight * old + tl.sum(p, 1)
        total = total * old[:, None]
        value = tl.load(v + at + columns[:, None] * row + wide[None, :], inside[:, None], other=0.0)
        total = tl.dot(p.to(value.dtype), value, total)
        most = larger
    total = total / weight[:, None]
    tl.store(out + at + rows[:, None] * row + wide[None, :], total.to(out.dtype.element_ty), rows[:, None] < length)
    tl.store(logsum + batch_head * length + rows, most + tl.log2(weight), rows < length)


@triton.jit
def with_descriptors(
    q, k, v, out, scale, length,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr, SPECIAL: tl.constexpr, EIGHT: tl.constexpr,
):
    base = tl.program_id(1) * length
    first = base + tl.program_id(0) * ROWS
    query = q.load([first, 0])
    most = tl.full((ROWS,), float("-inf"), tl.float32)
    weight = tl.full((ROWS,), 1.0, tl.float32)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in tl.range(0, length, COLUMNS, warp_specialize=SPECIAL, disallow_acc_multi_buffer=SPECIAL):
        start = tl.multiple_of(start, COLUMNS)
        score = tl.dot(query, k.load([base + start, 0]).T)
        larger = tl.maximum(most, tl.max(score, 1) * scale)
        p = tl.exp2(score * scale - larger[:, None])
        old = tl.exp2(most - larger)
        total = total * old[:, None]
        value = v.load([0, base + start]).T if EIGHT else v.load([base + start, 0])
        total = tl.dot(p.to(value.dtype), value, total)
        weight = weight * old + tl.sum(p, 1)
        most = larger
    out.store([first, 0], (total / weight[:, None]).to(out.dtype))


@triton.jit
def decode(
    q, k, v, pages, lengths, partial, sums, scale, stride, most_pages,
    PAGE: tl.constexpr, WIDTH: tl.constexpr, GROUP: tl.constexpr, PARTS: tl.constexpr,
):
    sequence, head, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths + sequence)
    each = tl.cdiv(tl.cdiv(length, PAGE), PARTS)
    group, wide, within = tl.arange(0, GROUP), tl.arange(0, WIDTH), tl.arange(0, PAGE)
    query = tl.load(q + ((sequence * tl.num_programs(1) + head) * GROUP + group)[:, None] * WIDTH + wide[None, :])
    most = tl.full((GROUP,), float("-inf"), tl.float32)
    weight = tl.zeros((GROUP,), tl.float32)
    total = tl.zeros((GROUP, WIDTH), tl.float32)
    for i in range(part * each, tl.minimum((part + 1) * each, tl.cdiv(length, PAGE))):
        page = tl.load(pages + sequence * most_pages + i).to(tl.int64)
        at = page * stride + head * PAGE * WIDTH
        inside = i * PAGE + within < length
        key = tl.load(k + at + within[None, :] * WIDTH + wide[:, None], inside[None, :], other=0.0)
        score = tl.where(inside[None, :], tl.dot(query, key) * scale, float("-inf"))
        larger = tl.maximum(most, tl.max(score, 1))
        p = tl.exp(score - larger[:, None])
        old = tl.exp(most - larger)
        value = tl.load(v + at + within[:, None] * WIDTH + wide[None, :], inside[:, None], other=0.0)
        total = tl.dot(p.to(value.dtype), value, total * old[:, None])
        weight = weight * old + tl.sum(p, 1)
        most = larger
    place = ((sequence * tl.num_programs(1) + head) * PARTS + part) * GROUP + group
    tl.store(partial + place[:, None] * WIDTH + wide[None, :], total / weight[:, None])
    tl.store(sums + place, most + tl.log(weight))


@triton.jit
def gradients(
    q, k, v, dout, logsum, delta, dq, dk, dv, scale, length, row, head,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr,
):
    start = tl.program_id(0) * COLUMNS
    at = tl.program_id(1).to(tl.int64) * head
    wide = tl.arange(0, WIDTH)
    columns = start + tl.arange(0, COLUMNS)
    key = tl.load(k + at + columns[:, None] * row + wide[None, :])
    value = tl.load(v + at + columns[:, None] * row + wide[None, :])
    of_key = tl.zeros((COLUMNS, WIDTH), tl.float32)
    of_value = tl.zeros((COLUMNS, WIDTH), tl.float32)
    for first in range(start // ROWS * ROWS, length, ROWS):
        rows = first + tl.arange(0, ROWS)
        query = tl.load(q + at + rows[:, None] * row + wide[None, :])
        gradient = tl.load(dout + at + rows[:, None] * row + wide[None, :])
        shift = tl.load(logsum + tl.program_id(1) * length + rows)
        p = tl.exp2(tl.dot(key, tl.trans(query)) * (scale * LOG2E) - shift[None, :])
        p = tl.where(rows[None, :] >= columns[:, None], p, 0.0)
        of_value = tl.dot(p.to(gradient.dtype), gradient, of_value)
        mean = tl.load(delta + tl.program_id(1) * length + rows)
        ds = (p * (tl.dot(value, tl.trans(gradient)) - mean[None, :])).to(query.dtype)
        of_key = tl.dot(ds, query, of_key)
        tl.atomic_add(dq + at + rows[:, None] * row + wide[None, :], tl.dot(tl.trans(ds), key) * scale)
    tl.store(dk + at + columns[:, None] * row + wide[None, :], (of_key * scale).to(dk.dtype.element_ty))
    tl.store(dv + at + columns[:, None] * row + wide[None, :], of_value.to(dv.dtype.element_ty))


def pointers(causal, kind="fp16", **options):
    return dict(
        kernel=forward,
        runtime=dict(
            q=f"*{kind}", k=f"*{kind}", v=f"*{kind}", out=f"*{kind}", logsum="*fp32", scale="fp32", length="i32", heads="i32",
            row="i32:16", head="i32:16",
        ),
        constants=dict(ROWS=128, COLUMNS=64, WIDTH=64, CAUSAL=causal),
        targets=ALL,
        options=options,
    )


def tma(special, kind="fp16", rows=128, columns=64, width=64, targets=NEW, **options):
    eight = kind.startswith("fp8")
    tile = lambda a, b: f"tensordesc<{kind}[{a},{b}]>"
    return dict(
        kernel=with_descriptors,
        runtime=dict(
            q=tile(rows, width), k=tile(columns, width), v=tile(width, columns) if eight else tile(columns, width),
            out=f"tensordesc<fp16[{rows},{width}]>", scale="fp32", length="i32:16",
        ),
        constants=dict(ROWS=rows, COLUMNS=columns, WIDTH=width, SPECIAL=special, EIGHT=eight),
        targets=targets,
        options=options,
    )


BIG = ["sm_90", "sm_100"]
MODULES = {
    "attention": pointers(False, num_warps=4, num_stages=3),
    "attention_causal": pointers(True, num_warps=8, num_stages=2),
    "attention_bf16": pointers(True, "bf16"),
    "attention_tma": tma(False, num_stages=2),
    "attention_tma_wide": tma(False, columns=128, width=128, targets=BIG, num_warps=8, num_stages=3),
    "attention_tma_f8": tma(False, "fp8e4nv", columns=128, width=128, targets=BIG, num_warps=8),
    "attention_special": tma(True, targets=["sm_100"], num_stages=2),
    "attention_special_wide": tma(True, columns=128, width=128, targets=["sm_100"], num_stages=3, num_warps=8, maxnreg=128),
    "attention_special_hopper": tma(True, targets=["sm_90"], num_warps=8, num_stages=2),
    "attention_decode": dict(
        kernel=decode,
        runtime=dict(
            q="*fp16", k="*fp16", v="*fp16", pages="*i32", lengths="*i32", partial="*fp32", sums="*fp32", scale="fp32",
            stride="i32:16", most_pages="i32",
        ),
        constants=dict(PAGE=32, WIDTH=128, GROUP=16, PARTS=4),
        targets=ALL,
    ),
    "attention_gradients": dict(
        kernel=gradients,
        runtime=dict(
            q="*fp16", k="*fp16", v="*fp16", dout="*fp16", logsum="*fp32", delta="*fp32", dq="*fp32", dk="*fp16", dv="*fp16",
            scale="fp32", length="i32:16", row="i32:16", head="i32:16",
        ),
        constants=dict(ROWS=32, COLUMNS=64, WIDTH=64),
        targets=ALL,
        options=dict(num_warps=4, num_stages=2),
    ),
}
