"""Launches of tests/real/triton, with the results that NumPy expects in `float64` from the same rounded inputs."""

import numpy as np

from launch import FOUR, RANDOM, Buffer, Launch, Map, bf16, random, result, rounded

OLD = ["sm_80", "sm_90", "sm_100"]
NEW = ["sm_90", "sm_100"]
#: Of a sum in float32, relative to the sum of the magnitudes: tensor cores drop bits below the 24th of the largest summand.
SUM = 2.0**-20
#: Tensor cores of sm_90 keep 14 bits in sums of products of floats of 8 bits, and drop the rest at each step.
COARSE = 2.0**-10


def product(a, b, kind, initial=None, sums=SUM):
    """a @ b.T as a result of this kind."""
    left, right = a.values(), b.values()
    expected = left @ right.T
    slack = np.abs(left) @ np.abs(right.T) * sums
    return result(kind, expected, rounded(expected, kind, slack), initial)


def add(kind, n):
    def make():
        x, y = random(kind, n), random(kind, n)
        expected = x.values() + y.values()
        return Launch([x, y, result(kind, expected, rounded(expected, kind)), n], (-(-n // 512),), str(n))

    return make


def gelu():
    n = 5000
    x = random("f16", n)
    v = x.values()
    expected = 0.5 * v * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3)))
    return Launch([x, result("f16", expected, rounded(expected, "f16", 1e-6)), n], (3,), str(n))


def integers():
    n = 1000
    a, b = random("i32", n), random("i32", n)
    b.array[b.array == 0] = 7
    x, y = a.array.astype(np.int64), b.array.astype(np.int64)
    quotient = np.trunc(x / y).astype(np.int64)
    q = quotient + (x - quotient * y)
    high = np.array([(int(i) % 2**32 * (int(j) % 2**32)) >> 32 for i, j in zip(x, y)])
    expected = (q ^ (x >> 3) | (high << 1)).astype(np.int64).astype(np.int32)
    return Launch([a, b, result("i32", expected.astype(np.int64), 0), n], (4,), str(n))


def convert(source, kind, n=4000):
    def make():
        x = random(source, n)
        v = x.values().astype(np.float64)
        return Launch([x, result(kind, v, rounded(v, kind)), n], (4,), str(n))

    return make


def row_softmax(v):
    e = np.exp(v - v.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def softmax(kind, rows, columns, programs):
    def make():
        x = random(kind, rows, columns, scale=3)
        expected = row_softmax(x.values())
        out = result(kind, expected, rounded(expected, kind, np.abs(expected) * 2.0**-18))
        return Launch([x, out, columns, rows, columns], (programs,), f"{rows} x {columns}")

    return make


def softmax_online():
    x = random("bf16", 6, 2500, scale=3)
    expected = row_softmax(x.values())
    out = result("bf16", expected, rounded(expected, "bf16", expected * 2.0**-18))
    return Launch([x, out, 2500, 2500], (6,), "6 x 2500")


def layer_norm():
    rows, n = 8, 1600
    x, w, b = random("f16", rows, n), random("f16", n), random("f16", n)
    v = x.values()
    mean = v.mean(1)
    scale = 1 / np.sqrt(v.var(1) + 1e-5)
    expected = (v - mean[:, None]) * scale[:, None] * w.values() + b.values()
    slack = 1e-5 * (np.abs(w.values()) + np.abs(b.values()))
    out = result("f16", expected, rounded(expected, "f16", slack))
    means, scales = result("f32", mean, 1e-6), result("f32", scale, scale * 1e-5)
    return Launch([x, out, w, b, means, scales, n, n, 1e-5], (rows,), f"{rows} x {n}")


def layer_norm_gradients():
    rows, n, groups = 96, 1000, 64
    x, g, w = random("f16", rows, n), random("f16", rows, n), random("f16", n)
    v = x.values()
    mean, scale = v.mean(1).astype(np.float32), (1 / np.sqrt(v.var(1) + 1e-5)).astype(np.float32)
    normal = (v - mean[:, None]) * scale[:, None].astype(np.float64)
    wg = w.values() * g.values()
    dx = (wg - (normal * (normal * wg).mean(1)[:, None] + wg.mean(1)[:, None])) * scale[:, None]
    of_weight, of_bias = np.zeros((groups, n)), np.zeros((groups, n))
    for row in range(rows):
        of_weight[row % groups] += g.values()[row] * normal[row]
        of_bias[row % groups] += g.values()[row]
    zeros = lambda: np.zeros(groups, np.int32)
    taken = Buffer(zeros(), "", np.ones(groups, np.int64), 0)
    locks = Buffer(zeros(), "", np.zeros(groups, np.int64), 0)
    arguments = [
        x, g, w, Buffer(mean), Buffer(scale), result("f16", dx, rounded(dx, "f16", 1e-5)), result("f32", of_weight, 1e-4),
        result("f32", of_bias, 1e-4), locks, taken, n, n,
    ]
    return Launch(arguments, (rows,), f"{rows} x {n}")


def rms_norm():
    rows, n = 4, 3200
    x, r, w = random("bf16", rows, n), random("bf16", rows, n), random("bf16", n)
    v = x.values() + r.values()
    expected = v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-6) * w.values()
    residual = Buffer(r.array, "bf16", v, rounded(v, "bf16"))
    out = result("bf16", expected, rounded(expected, "bf16", np.abs(expected) * 1e-5))
    return Launch([x, residual, w, out, n, 1e-6], (rows,), f"{rows} x {n}")


def cross_entropy():
    rows, n = 8, 10000
    logits = random("bf16", rows, n, scale=2)
    labels = RANDOM.integers(0, n, rows)
    labels[3] = -100
    v = logits.values()
    most = v.max(1)
    losses = most + np.log(np.exp(v - most[:, None]).sum(1)) - v[np.arange(rows), labels]
    losses[3] = 0
    return Launch([logits, Buffer(labels), result("f32", losses, 2e-5), n, 2**64 - 100], (rows,), f"{rows} x {n}")


def rotary():
    tokens, heads, half = 6, 20, 64
    x = random("bf16", tokens, heads, 2, half)
    angle = RANDOM.uniform(0, 6, (tokens, half))
    c, s = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    a, b = x.values()[:, :, 0], x.values()[:, :, 1]
    c64, s64 = c[:, None].astype(np.float64), s[:, None].astype(np.float64)
    expected = np.stack([a * c64 - b * s64, b * c64 + a * s64], 2)
    out = result("bf16", expected, rounded(expected, "bf16", 1e-6))
    return Launch([x, Buffer(c), Buffer(s), out, heads], (tokens,), f"{tokens} x {heads} x 128")


def quantize_rows():
    rows, n = 5, 1600
    x = random("f16", rows, n)
    scale = np.abs(x.values()).max(1) / 127 + 1e-8
    # a quotient near a half may go either way
    quotient = x.values() / scale[:, None]
    near = np.abs(np.abs(quotient - np.trunc(quotient)) - 0.5) < 1e-4
    out = result("i8", np.rint(quotient).astype(np.int64), np.where(near, 1, 0))
    return Launch([x, out, result("f32", scale, scale * 1e-6), n], (rows,), f"{rows} x {n}")


def matmul(kind, out, m, n, k, tile, relu=False, sums=SUM):
    def make(target):
        a, b = random(kind, m, k), random(kind, k, n)
        left, right = (v.values().astype(np.float64 if kind[0] != "i" else np.int64) for v in (a, b))
        expected = left @ right
        if relu:
            expected = np.maximum(expected, 0)
        if kind == "i8":
            c = result(out, expected, 0)
        else:
            slack = np.abs(left) @ np.abs(right) * (COARSE if kind == "e4m3" and target == "sm_90" else sums)
            c = result(out, expected, rounded(expected, out, slack))
        programs = -(-m // tile[0]) * -(-n // tile[1])
        return Launch([a, b, c, m, n, k, k, n, n], (programs,), f"{m} x {n} x {k}")

    return make


def matmul_split():
    m, n, k = 96, 80, 256
    a, b = random("f32", m, k), random("f32", k, n)
    expected = a.values() @ b.values()
    slack = np.abs(a.values()) @ np.abs(b.values()) * 2.0**-18
    c = Buffer(np.zeros((m, n), np.float32), "", expected, slack)
    # a whole number of tiles of the inputs is read
    a.array, b.array = np.pad(a.array, ((0, 32), (0, 0))), b.array
    b.array = np.ascontiguousarray(b.array)
    tail = np.zeros((1, n), np.float32)
    b.array = np.concatenate([b.array, tail])
    return Launch([a, b, c, m, n, k], (2, 2, 2), f"{m} x {n} x {k}")


def matmul_batched():
    batches, m, n, k = 4, 32, 128, 64
    a, b = random("f16", batches, m, k), random("f16", batches, k, n)
    expected = a.values() @ b.values()
    out = result("f16", expected, rounded(expected, "f16", np.abs(a.values()) @ np.abs(b.values()) * SUM))
    return Launch([a, b, out, n], (n // 64, batches // 2), f"{batches} x {m} x {n} x {k}")


def matmul_i4():
    m, n, k = 40, 128, 192
    a, scales = random("f16", m, k), random("f16", k // 64, n)
    packed = Buffer(RANDOM.integers(0, 256, (n, k // 2)).astype(np.uint8))
    codes = np.stack([packed.array & 15, packed.array >> 4], 2).reshape(n, k)
    # the kernel subtracts in 8 bits without a sign
    codes = (codes - np.uint8(8)).astype(np.float64)
    weights = codes * np.repeat(scales.values().T, 64, 1)
    expected = a.values() @ weights.T
    out = result("f16", expected, rounded(expected, "f16", np.abs(a.values()) @ np.abs(weights.T) * SUM))
    return Launch([a, packed, scales, out, m, n, k], (2, n // 64), f"{m} x {n} x {k}")


def descriptor(buffer, *block, swizzle=128):
    """A tensor descriptor of Triton: the map, the shape, the strides."""
    size = buffer.array.dtype.itemsize
    box = (*block[:-1], min(block[-1], swizzle // size) if swizzle else block[-1])
    shape = buffer.array.shape
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    return [Map(buffer, box, swizzle), *shape, *strides]


def described(kind, tile, m, n, k, sizes="k", transposed=True, programs=None, halves=1, ctas=1):
    """C = A B with three descriptors; `programs`: a persistent kernel's."""

    def make(target):
        bm, bn, bk = tile
        a, b = random(kind, m, k), random(kind, n, k)
        out = "f16" if kind in ("f16", "e4m3") else kind
        slack = COARSE if kind == "e4m3" and target == "sm_90" else 2.0**-9 if kind == "f32" else SUM
        c = product(a, b, out, sums=slack)
        if not transposed:
            b = Buffer(np.ascontiguousarray(b.array.T), b.kind)
        box_b = (bn, bk) if transposed else (bk, bn)
        maps = descriptor(a, bm // ctas, bk) + descriptor(b, *box_b) + descriptor(c, bm // ctas, bn // halves)
        grid = (programs,) if programs else (m // bm * ctas, n // bn)
        return Launch(maps + [dict(m=m, n=n, k=k)[size] for size in sizes], grid, f"{m} x {n} x {k}")

    return make


def attention(kind, causal):
    def make():
        batches, heads, length, width = 1, 2, 200, 64
        q, k, v = (random(kind, batches, heads, length, width) for _ in range(3))
        out, logsum = forward(q, k, v, 0.125, causal)
        step = 2.0**-10 if kind == "f16" else 2.0**-7
        out = result(kind, out, rounded(out, kind, step * np.abs(v.values()).max()))
        logsum = result("f32", logsum, 1e-3)
        return Launch(
            [q, k, v, out, logsum, 0.125, length, heads, width, length * width], (-(-length // 128), batches * heads),
            f"{heads} heads, {length} x {width}",
        )

    return make


def forward(q, k, v, scale, causal):
    score = q.values() @ np.swapaxes(k.values(), -1, -2) * scale
    if causal:
        length = score.shape[-1]
        score = np.where(np.tril(np.ones((length, length), bool)), score, -np.inf)
    most = score.max(-1, keepdims=True)
    weights = np.exp(score - most)
    total = weights.sum(-1, keepdims=True)
    return weights / total @ v.values(), (most + np.log(total))[..., 0] * np.log2(np.e)


def attention_tma(kind="f16", rows=128, columns=64, width=64):
    def make(target):
        heads, length = 2, 256
        q, k, v = (random(kind, heads * length, width) for _ in range(3))
        each = lambda buffer: Buffer(buffer.array.reshape(heads, length, width), buffer.kind)
        # the scale is in powers of two, and the first maximum does not count in the sum of weights
        scale = 0.125
        score = each(q).values() @ np.swapaxes(each(k).values(), -1, -2) * scale
        most = np.maximum.accumulate(score.reshape(heads, length, -1, columns).max(-1), -1)
        weights = np.exp2(score - most[..., -1:])
        first = np.exp2(-np.inf)
        total = weights.sum(-1, keepdims=True) + first
        expected = (weights / total @ each(v).values()).reshape(heads * length, width)
        step = 2.0**-3 if kind == "e4m3" else 2.0**-10
        out = result("f16", expected, rounded(expected, "f16", step * np.abs(v.values()).max()))
        if kind == "e4m3":
            v = Buffer(np.ascontiguousarray(v.array.T), v.kind)
        maps = descriptor(q, rows, width) + descriptor(k, columns, width)
        maps += descriptor(v, *((width, columns) if kind == "e4m3" else (columns, width))) + descriptor(out, rows, width)
        return Launch(maps + [scale, length], (length // rows, heads), f"{heads} heads, {length} x {width}")

    return make


def attention_decode():
    sequences, heads, parts, page, width, group, most_pages = 2, 2, 4, 32, 128, 16, 8
    count = sequences * most_pages
    lengths = np.array([250, 70], np.int32)
    pages = RANDOM.permutation(count).astype(np.int32).reshape(sequences, most_pages)
    q = random("f16", sequences, heads, group, width)
    k, v = random("f16", count, heads, page, width), random("f16", count, heads, page, width)
    scale = 0.088
    partial, sums = np.zeros((sequences, heads, parts, group, width)), np.zeros((sequences, heads, parts, group))
    for s in range(sequences):
        used = -(-lengths[s] // page)
        each = -(-used // parts)
        for h in range(heads):
            for part in range(parts):
                mine = pages[s, part * each : min((part + 1) * each, used)]
                if not len(mine):
                    partial[s, h, part], sums[s, h, part] = np.nan, -np.inf
                    continue
                seen = min(lengths[s] - part * each * page, len(mine) * page)
                key = k.values()[mine, h].reshape(-1, width)[:seen]
                value = v.values()[mine, h].reshape(-1, width)[:seen]
                score = q.values()[s, h] @ key.T * scale
                most = score.max(1, keepdims=True)
                weights = np.exp(score - most)
                partial[s, h, part] = weights / weights.sum(1, keepdims=True) @ value
                sums[s, h, part] = most[:, 0] + np.log(weights.sum(1))
    arguments = [
        q, k, v, Buffer(pages), Buffer(lengths), result("f32", partial, 4e-3), result("f32", sums, 1e-3), scale,
        heads * page * width, most_pages,
    ]
    return Launch(arguments, (sequences, heads, parts), f"{sequences} sequences, {heads} x 16 heads, {width} wide")


def attention_gradients():
    heads, length, width, scale = 2, 128, 64, 0.125
    q, k, v, g = (random("f16", heads, length, width) for _ in range(4))
    out, logsum = forward(q, k, v, scale, True)
    delta = (out * g.values()).sum(-1)
    score = q.values() @ np.swapaxes(k.values(), 1, 2) * scale
    p = np.where(np.tril(np.ones((length, length), bool)), np.exp2(score * np.log2(np.e) - logsum[..., None]), 0)
    ds = p * (g.values() @ np.swapaxes(v.values(), 1, 2) - delta[..., None])
    dq, dk = ds @ k.values() * scale, np.swapaxes(ds, 1, 2) @ q.values() * scale
    dv = np.swapaxes(p, 1, 2) @ g.values()
    bound = lambda v: 2.0**-9 * np.abs(v).max()
    arguments = [
        q, k, v, g, Buffer(logsum.astype(np.float32)), Buffer(delta.astype(np.float32)),
        result("f32", dq, bound(dq), np.zeros(dq.shape, np.float32)), result("f16", dk, bound(dk)), result("f16", dv, bound(dv)),
        scale, length, width, length * width,
    ]
    return Launch(arguments, (length // 64, heads), f"{heads} heads, {length} x {width}")


def scaled(a_kind, b_kind, block):
    """A product of blocks with a scale each."""

    def operand(kind, rows, k, scale_kind):
        if kind == "e2m1":
            packed = Buffer(RANDOM.integers(0, 256, (rows, k // 2)).astype(np.uint8))
            values = FOUR[np.stack([packed.array & 15, packed.array >> 4], 2).reshape(rows, k)]
        else:
            packed = random(kind, rows, k)
            values = packed.values()
        if scale_kind == "e4m3":
            # the sign bit of a scale does not count
            scales = Buffer(random("e4m3", rows, k // block).array & 127, "e4m3")
            factor = scales.values()
        else:
            scales = Buffer(RANDOM.integers(124, 131, (rows, k // block)).astype(np.uint8))
            factor = 2.0 ** (scales.array.astype(np.float64) - 127)
        return packed, scales, values * np.repeat(factor, block, 1)

    def make(target):
        m, n, k = 128, 128, 256
        scale_kind = "e4m3" if block == 16 else "u8"
        a, a_scales, left = operand(a_kind, m, k, scale_kind)
        b, b_scales, right = operand(b_kind, n, k, scale_kind)
        expected = left @ right.T
        c = result("f16", expected, rounded(expected, "f16", np.abs(left) @ np.abs(right.T) * SUM))
        wide = lambda kind: 64 if kind == "e2m1" else 128
        maps = [descriptor(a, 128, wide(a_kind), swizzle=wide(a_kind)), descriptor(b, 128, wide(b_kind), swizzle=wide(b_kind))]
        if target == "sm_100" and a_kind != b_kind:
            # floats of 4 bits beside others have a byte each in shared memory
            maps[1][0] = Map(b, (128, 128), 128, f", type=b4x16_p64, dims={k}x{n}, strides={k // 2}")
        return Launch([*maps[0], *maps[1], a_scales, b_scales, *descriptor(c, 128, 128), k], (1, 1), f"{m} x {n} x {k}")

    return make


SQUARE = (128, 128, 64)
LAUNCHES = {
    "add_f32": (OLD, add("f32", 10000)),
    "add_bf16": (OLD, add("bf16", 5001)),
    "gelu_f16": (OLD, gelu),
    "integers": (OLD, integers),
    "f32_to_f8": (NEW, convert("f32", "e4m3")),
    "bf16_to_f8": (OLD, convert("bf16", "e5m2")),
    "f8_to_bf16": (OLD, convert("e5m2", "bf16")),
    "i8_to_f16": (OLD, convert("i8", "f16")),
    "softmax": (OLD, softmax("f16", 10, 784, 4)),
    "softmax_f32": (OLD, softmax("f32", 5, 3001, 2)),
    "softmax_online": (OLD, softmax_online),
    "layer_norm": (OLD, layer_norm),
    "layer_norm_gradients": (OLD, layer_norm_gradients),
    "rms_norm": (OLD, rms_norm),
    "cross_entropy": (OLD, cross_entropy),
    "rotary": (OLD, rotary),
    "quantize_rows": (OLD, quantize_rows),
    "matmul_f16": (OLD, matmul("f16", "f16", 256, 384, 208, (128, 128), relu=True)),
    "matmul_bf16": (OLD, matmul("bf16", "bf16", 128, 256, 192, (128, 256))),
    "matmul_tf32": (OLD, matmul("f32", "f32", 128, 64, 160, (64, 64), sums=2.0**-9)),
    "matmul_i8": (OLD, matmul("i8", "i32", 128, 256, 128, (64, 128))),
    "matmul_f8": (NEW, matmul("e4m3", "f16", 128, 128, 192, (128, 128))),
    "matmul_f64": (["sm_80", "sm_90"], matmul("f64", "f64", 64, 96, 64, (32, 32), sums=2.0**-48)),
    "matmul_small": (OLD, matmul("f16", "f32", 48, 32, 80, (16, 16))),
    "matmul_split": (OLD, matmul_split),
    "matmul_batched": (OLD, matmul_batched),
    "matmul_i4": (OLD, matmul_i4),
    "tma_f16": (NEW, described("f16", SQUARE, 256, 256, 256)),
    "tma_rows": (NEW, described("f16", SQUARE, 128, 256, 256, transposed=False)),
    "tma_f8": (NEW, described("e4m3", (128, 128, 128), 128, 256, 256)),
    "tma_f32": (NEW, described("f32", (64, 64, 32), 128, 64, 128)),
    "tma_wide": (NEW, described("bf16", (128, 256, 64), 256, 256, 256)),
    "tma_two_ctas": (NEW, described("f16", (256, 128, 64), 256, 256, 256, ctas=2)),
    "persistent": (NEW, described("f16", SQUARE, 384, 256, 256, "mnk", programs=3)),
    "persistent_flat": (NEW, described("f16", SQUARE, 384, 256, 256, "mnk", programs=3)),
    "persistent_halves": (NEW, described("f16", SQUARE, 256, 256, 128, "mnk", programs=3, halves=2)),
    "persistent_special": (["sm_100"], described("f16", SQUARE, 384, 256, 256, "mnk", programs=3)),
    "persistent_special_hopper": (["sm_90"], described("f16", SQUARE, 384, 256, 256, "mnk", programs=3)),
    "persistent_special_low": (NEW, described("f16", (64, 128, 64), 192, 256, 256, "mnk", programs=3)),
    "persistent_special_halves": (NEW, described("f16", SQUARE, 256, 256, 256, "mnk", programs=3, halves=2)),
    "persistent_special_f8": (NEW, described("e4m3", (128, 256, 128), 256, 512, 256, "mnk", programs=2)),
    "special": (["sm_100"], described("f16", SQUARE, 256, 256, 256)),
    "special_wide": (NEW, described("f16", (128, 256, 64), 256, 256, 256)),
    "scaled_f8": (NEW, scaled("e4m3", "e4m3", 32)),
    "scaled_f8_f4": (NEW, scaled("e5m2", "e2m1", 32)),
    "scaled_f4": (NEW, scaled("e2m1", "e2m1", 32)),
    "scaled_nvf4": (["sm_100"], scaled("e2m1", "e2m1", 16)),
    "attention": (OLD, attention("f16", False)),
    "attention_causal": (OLD, attention("f16", True)),
    "attention_bf16": (OLD, attention("bf16", True)),
    "attention_tma": (NEW, attention_tma()),
    "attention_tma_wide": (NEW, attention_tma(columns=128, width=128)),
    "attention_tma_f8": (NEW, attention_tma("e4m3", columns=128, width=128)),
    "attention_special": (["sm_100"], attention_tma()),
    "attention_special_wide": (["sm_100"], attention_tma(columns=128, width=128)),
    "attention_special_hopper": (["sm_90"], attention_tma()),
    "attention_decode": (OLD, attention_decode),
    "attention_gradients": (OLD, attention_gradients),
}
