"""Times the kernels beside torch on a GPU: `python3 bench.py gemm memory`, in a folder with the cubins of all instances.

Both sides run in one process, as replays of CUDA graphs, in turns of random order: they share the power that the card may draw, so that only
ratios of neighbouring batches mean something. Inputs are random; a warm-up comes first; the numbers are medians of batches.
"""

import ctypes
import os
import pathlib
import random
import re
import statistics
import sys
import time

import torch
import torch.nn.functional as F

from driver import Kernel, Map

FOLDER = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path(os.environ.get("OUT", FOLDER))
U32, U64, F32 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_float
MULTIPROCESSORS = torch.cuda.get_device_properties(0).multi_processor_count
ROUNDS = int(os.environ.get("ROUNDS", "7"))
BATCH_MS = float(os.environ.get("BATCH_MS", "40"))
rows = []


def graph(call, calls):
    """A graph of some calls."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
        call()
    stream.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured, stream=stream):
        for _ in range(calls):
            call()
    return captured


def milliseconds(replay, times):
    """The time of some replays."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def race(contenders, warm_ms=200.0, rounds=None):
    """Medians of the milliseconds of a call of each contender."""
    once = {name: graph(call, 1) for name, call in contenders.items()}
    graphs = {}
    for name, call in contenders.items():
        one = milliseconds(once[name].replay, 3) / 3
        calls = max(1, min(50, int(BATCH_MS / 4 / max(one, 1e-3))))
        graphs[name] = (graph(call, calls), calls)
    spent = 0.0
    while spent < warm_ms:
        spent += sum(milliseconds(g.replay, 1) for g, _ in graphs.values())
    times = {name: max(1, round(BATCH_MS / max(milliseconds(g.replay, 1), 1e-3))) for name, (g, _) in graphs.items()}
    taken = {name: [] for name in contenders}
    for _ in range(rounds or ROUNDS):
        names = list(contenders)
        random.shuffle(names)
        for name in names:
            g, calls = graphs[name]
            taken[name].append(milliseconds(g.replay, times[name]) / times[name] / calls)
    return {name: statistics.median(values) for name, values in taken.items()}


def report(group, name, values, error=""):
    """Prints a row and keeps it for the table."""
    rows.append((group, name, values, error))
    print(f"{group:10} {name:34} " + "  ".join(f"{k} {v:.4g}" for k, v in values.items()) + f"  {error}", flush=True)


def relative(c, exact):
    """The relative error of a matrix in the 2-norm."""
    return (torch.linalg.vector_norm(c.float() - exact) / torch.linalg.vector_norm(exact)).item()


# ---- matrix products

TYPES = {torch.bfloat16: 0, torch.float16: 1, torch.float8_e4m3fn: 2}


COSTS = {256: 100, 192: 74, 144: 57, 128: 51, 64: 26}
TILE, EXCHANGE = 400, 470


def clusters(size):
    """As `Cluster::resident` estimates it."""
    return MULTIPROCESSORS // size * {1: 1, 2: 1, 3: 8 / 9, 4: 8 / 9, 5: 8 / 9}.get(size, 7 / 8) // 1


def plans(m, n, k):
    """As `gemm::Plan::all` lists them: width, CTAs that split K, whether CTAs are pairs; the estimated time first."""
    found = []
    for width in COSTS:
        height = 64 if width == 64 else 128
        for split, pair in [(1, 0), (1, 1)] + [(split, 0) for split in range(2, 9)]:
            size = 2 if pair else split
            tiles = -(-m // (height << pair)) * -(-n // width)
            room = int(clusters(size))
            if split > 1 and (tiles > room or -(-k // 64) < split):
                continue
            percent = (103 if pair else 100) if k % 64 == 0 else (120 if pair else 140)
            cost = -(-tiles * size // MULTIPROCESSORS) * (-(-(-(-k // 64)) // split) * COSTS[width] * percent // 100 + TILE + EXCHANGE * (split > 1))
            ctas = -(-tiles // -(-tiles // room)) * size
            found.append((cost, width, split, pair, ctas))
    return sorted(found)


def gemm_call(a, b, c, plan, scale=1.0, scales=None):
    """A launch of C = scale A B^T, or of products of e4m3 with scales of rows."""
    (m, k), n = a.shape, b.shape[0]
    _, width, split, pair, ctas = plan
    height = 64 if width == 64 else 128
    wide = int(c.dtype == torch.float32)
    result, stage = 2 * height * width, (height + width) * 128 + 16
    shared = (231424 - result) // stage * stage + result
    kernel = Kernel(FOLDER, f"gemm_{width}_{TYPES[a.dtype] + 4 * wide}_{pair}", shared)
    block = 128 // a.element_size()
    box = {144: 32, 64: 64}.get(width, 128)
    maps = [Map(a, (block, height)), Map(b, (block, width >> pair)), Map(c, (box // c.element_size(), 64))]
    numbers = [U32(m), U32(n), U32(k), F32(scale), U32(bool(scales))] + list(scales or (U64(0), U64(0)))
    return kernel.prepare((ctas, 1, 1), (128 + 2 * height, 1, 1), maps + numbers, programmatic=True, cluster=2 if pair else split)


def gemm_case(m, n, k, dtype=torch.bfloat16, out=None, others=0, rounds=None):
    """One shape beside cuBLAS, with the plan of the crate and with others."""
    out = out or dtype
    a, b = (torch.randn(rows, k, device="cuda", dtype=dtype) for rows in (m, n))
    c, d = (torch.zeros(m, n, device="cuda", dtype=out) for _ in range(2))
    listed = plans(m, n, k)[: 1 + others]
    names = [f"{width}{f'/{split}' if split > 1 else ''}{'+' if pair else ''}" for _, width, split, pair, _ in listed]
    calls = {name: gemm_call(a, b, c, plan) for name, plan in zip(names, listed)}
    worst = 0.0
    exact = a.float() @ b.float().t()
    for call in calls.values():
        c.zero_()
        call()
        worst = max(worst, relative(c, exact))
    if out == dtype:
        calls["cublas"] = lambda: torch.mm(a, b.t(), out=d)
    else:
        calls["cublas"] = lambda: torch.mm(a, b.t(), out_dtype=out)
    limit = 4e-3 if out != torch.float32 else 2e-4
    del exact
    ms = race(calls, rounds=rounds)
    tera = {name: 2e-9 * m * n * k / t for name, t in ms.items()}
    values = dict(tera, ratio=tera[names[0]] / tera["cublas"], best=max(tera[name] for name in names) / tera["cublas"])
    kind = f"{str(dtype)[6:]}>{str(out)[6:]}"
    report("gemm", f"{kind} {m}x{n}x{k}", values, f"error {worst:.1e}" + ("" if worst < limit else " WRONG"))
    return values


OTHERS = int(os.environ.get("OTHERS", "0"))
SHAPES = [
    (8192, 8192, 4096), (16384, 1024, 4096), (1024, 16384, 4096), (4096, 4096, 512), (4096, 14336, 4096), (8192, 1024, 8192),
    (512, 8192, 8192), (128, 8192, 8192), (64, 4096, 4096), (3000, 5000, 2000), (4104, 4104, 4104), (2048, 2048, 16384),
    (8192, 8192, 128), (1000, 1000, 1000), (2048, 11008, 4096), (1536, 1536, 1536),
]


def gemm():
    """The sizes of the table, then other shapes."""
    for size in (2048, 4096, 8192):
        gemm_case(size, size, size, rounds=11)
    for size in (2048, 4096, 8192):
        gemm_case(size, size, size, dtype=torch.float16)
    gemm_case(4096, 4096, 4096, out=torch.float32)


def ampere():
    """The product by `mma.sync`, which also runs on this card."""
    for size in (4096,):
        a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        c, d = (torch.zeros(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        ours = Kernel(FOLDER, "gemm_mma_0", 3 * 32768).prepare((size // 128, size // 128, 1), (256, 1, 1), [a, b, c] + [U32(size)] * 3)
        ours()
        error = relative(c, a.float() @ b.float().t())
        tera = {name: 2e-9 * size**3 / t for name, t in race({"ours": ours, "cublas": lambda: torch.mm(a, b.t(), out=d)}).items()}
        report("gemm", f"mma.sync, bfloat16 {size}x{size}x{size}", dict(tera, ratio=tera["ours"] / tera["cublas"]), f"error {error:.1e}" + ("" if error < 4e-3 else " WRONG"))


def row_scales():
    """Products of e4m3 with a scale for each row of A and of B, beside torch's."""
    m, n, k = 4096, 8192, 4096
    a, b = (torch.randn(rows, k, device="cuda").to(torch.float8_e4m3fn) for rows in (m, n))
    c = torch.zeros(m, n, device="cuda", dtype=torch.bfloat16)
    scales = [torch.rand(rows, device="cuda") + 0.5 for rows in (m, n)]
    ours = gemm_call(a, b, c, plans(m, n, k // 2)[0], scales=scales)
    ours()
    error = relative(c, a.float() @ b.float().t() * scales[0][:, None] * scales[1][None, :])
    theirs = lambda: torch._scaled_mm(a, b.t(), scale_a=scales[0][:, None], scale_b=scales[1][None, :], out_dtype=torch.bfloat16, use_fast_accum=True)
    tera = {name: 2e-9 * m * n * k / t for name, t in race({"ours": ours, "torch": theirs}).items()}
    report("gemm", f"e4m3>bfloat16, scales of rows {m}x{n}x{k}", dict(tera, ratio=tera["ours"] / tera["torch"]), f"error {error:.1e}" + ("" if error < 1e-2 else " WRONG"))


def fp8():
    """Products of e4m3 beside torch's scaled product, with and without its fast sums."""
    for size in (4096, 8192):
        a, b = (torch.randn(size, size, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
        c = torch.zeros(size, size, device="cuda", dtype=torch.bfloat16)
        one = torch.ones((), device="cuda")
        ours = gemm_call(a, b, c, plans(size, size, size // 2)[0], 1.0)
        ours()
        error = relative(c, a.float() @ b.float().t())
        calls = {"ours": ours}
        for name, fast in (("torch", False), ("fast", True)):
            calls[name] = lambda fast=fast: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=fast)
        other = relative(torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True), a.float() @ b.float().t())
        tera = {name: 2e-9 * size**3 / t for name, t in race(calls).items()}
        tera["ratio"] = tera["ours"] / max(tera["torch"], tera["fast"])
        report("gemm", f"e4m3>bfloat16 {size}x{size}x{size}", tera, f"error {error:.1e} (torch, fast: {other:.1e})" + ("" if error < 1e-2 else " WRONG"))


def shapes():
    """Sixteen other shapes and their geometric mean."""
    ratios = [gemm_case(*shape, others=OTHERS, rounds=5) for shape in SHAPES]
    for key in ("ratio", "best"):
        report("gemm", f"geometric mean, {key}", {key: statistics.geometric_mean(r[key] for r in ratios)})


# ---- kernels that memory limits

N = 1 << 28


def memory_case(name, moved, calls, check, copies):
    """One kernel beside torch and a copy; bytes moved by a call."""
    try:
        error = check()
    except Exception as problem:  # the row says what is wrong, the others still run
        error = f"WRONG {problem}"
    ms = race(dict(calls, **copies), warm_ms=60.0, rounds=5)
    rates = {who: (8 * N if who in ("copy", "memcpy") else moved) / t / 1e9 for who, t in ms.items()}
    ratio = {"ratio": rates["ours"] / rates["torch"]} if "torch" in rates else {}
    report("memory", name, dict(rates, of_copy=rates["ours"] / rates["copy"], **ratio), error)


def close(got, wants, tolerance):
    """The greatest error in terms of the tolerance."""
    worst = ((got.double() - wants.double()).abs().max()).item()
    return f"error {worst:.1e}" + ("" if worst <= tolerance else " WRONG")


def memory():
    """Kernels on 2^28 elements of f32, in TB/s."""
    x, y, z = (torch.empty(N, device="cuda") for _ in range(3))
    x.normal_()

    # a copy by a kernel, and one by the driver
    copies = {"copy": lambda: torch.neg(x, out=z), "memcpy": lambda: z.copy_(x)}

    for op, name in ((0, "sum"), (1, "max")):
        partials, ticket, result = torch.zeros(528, device="cuda"), torch.zeros(1, device="cuda", dtype=torch.int32), torch.zeros(1, device="cuda")
        ours = Kernel(FOLDER, f"reduce_{op}").prepare((528, 1, 1), (512, 1, 1), [x, partials, ticket, result, U64(N)])
        theirs = (lambda: torch.sum(x)) if op == 0 else (lambda: torch.max(x))

        def check():
            ours()
            return close(result, x.double().sum() if op == 0 else x.max(), 2.0 if op == 0 else 0.0)

        memory_case(f"reduce {name}", 4 * N, {"ours": ours, "torch": theirs}, check, copies)

    for columns in (1024, 8192, 32768):
        height = N // columns
        group = 32 if columns <= 1024 else 256 if columns <= 8192 else 1024
        grid, block = (height // 8 if group == 32 else height, 1, 1), (max(group, 256), 1, 1)
        a, b = x.view(height, columns), y.view(height, columns)
        ours = Kernel(FOLDER, f"softmax_rows_{group}_4").prepare(grid, block, [x, y, U32(height), U32(columns)])

        def check():
            ours()
            return close(b[:512], torch.softmax(a[:512].double(), -1), 1e-6)

        memory_case(f"softmax {height} x {columns}", 8 * N, {"ours": ours, "torch": lambda: torch.softmax(a, -1, out=z.view_as(a))}, check, copies)
        weights = torch.rand(columns, device="cuda")
        norm = Kernel(FOLDER, f"rms_norm_rows_{group}_4").prepare(
            grid, block, [x, weights, y, U32(height), U32(columns), F32(1e-6)])

        def check_norm():
            norm()
            return close(b[:512], F.rms_norm(a[:512].double(), (columns,), weights.double(), 1e-6), 1e-5)

        memory_case(f"rms_norm {height} x {columns}", 8 * N, {"ours": norm, "torch": lambda: F.rms_norm(a, (columns,), weights, 1e-6)}, check_norm, copies)

    for height in (16384, 4096):
        width = N // height
        a, b = x.view(height, width), y.view(width, height)
        ours = Kernel(FOLDER, "transpose_pieces").prepare((width // 64, height // 64, 1), (256, 1, 1), [x, y, U32(height), U32(width)])

        def check():
            ours()
            return "" if torch.equal(a.t(), b) else "WRONG"

        memory_case(f"transpose {height} x {width}", 8 * N, {"ours": ours, "torch": lambda: z.view(width, height).copy_(a.t())}, check, copies)

    for columns, k in ((8192, 64), (32768, 256), (1024, 8)):
        height = N // 4 // columns
        a = x[: N // 4].view(height, columns)
        best, where = torch.empty(height, k, device="cuda"), torch.empty(height, k, device="cuda", dtype=torch.int32)
        ours = Kernel(FOLDER, "top_k_rows_4", 4 * columns).prepare((height, 1, 1), (512, 1, 1), [x, best, where, U32(columns), U32(k)])

        def check():
            ours()
            wants = torch.topk(a, k)
            same = torch.equal(best, wants.values) and torch.equal(torch.gather(a, 1, where.long()), best)
            return "" if same else "WRONG"

        memory_case(f"top {k} of {height} x {columns}", N, {"ours": ours, "torch": lambda: torch.topk(a, k)}, check, copies)

    # the bytes of the floats; torch's counts need a synchronisation, which no graph has
    counts = torch.zeros(256, device="cuda", dtype=torch.int32)
    count = Kernel(FOLDER, "histogram_bytes").prepare((2 * MULTIPROCESSORS, 1, 1), (1024, 1, 1), [x, counts, U64(4 * N)])

    def check():
        counts.zero_()
        count()
        return "" if torch.equal(counts.long(), torch.bincount(x.view(torch.uint8), minlength=256)) else "WRONG"

    memory_case("histogram of 2^30 bytes", 4 * N, {"ours": count}, check, copies)

    numbers = torch.randint(-1000, 1000, (N,), device="cuda", dtype=torch.int32)
    sums = torch.empty_like(numbers)
    for which, source, to in ((0, numbers, sums), (1, x, y)):
        tiles = N // 16384
        state = torch.zeros(tiles * 2 + 1, device="cuda", dtype=torch.int32)
        kernel = Kernel(FOLDER, f"scan_{which}").prepare(
            (tiles, 1, 1), (512, 1, 1), [source, to, state, state[tiles * 2:], U64(N)])

        def ours():
            state.zero_()
            kernel()

        def check():
            ours()
            if which == 0:
                return "" if torch.equal(to, torch.cumsum(source, 0, dtype=torch.int32)) else "WRONG"
            exact = torch.cumsum(source[: 1 << 24].double(), 0)
            return close(to[: 1 << 24], exact, 0.1)

        kind = source.dtype
        theirs = lambda: torch.cumsum(source, 0, dtype=kind, out=z.view(kind))
        memory_case(f"scan {str(kind)[6:]}", 8 * N, {"ours": ours, "torch": theirs}, check, copies)


# ---- attention

def attention_call(inputs, o, causal, starts=None):
    """A launch for Q, K and V as heads x rows x elements; with `starts` the rows are those of several sequences."""
    heads, total, width = o.shape
    height, stages, scale = (192, 4, width**-0.5) if width == 64 else (128, 2, width**-0.5)
    length = max(b - a for a, b in zip(starts.tolist(), starts.tolist()[1:])) if starts is not None else total
    tiles = -(-length // height)
    pieces = -(-tiles // 2) if causal else tiles
    works = pieces * heads * (len(starts) - 1 if starts is not None else 1)
    shared = width // 64 * 128 * (3 * height + 2 * stages * 128) + 32 * stages + 32
    kernel = Kernel(FOLDER, f"attention_{width}_{int(causal)}_{int(starts is not None)}", shared)
    maps = [Map(inputs[0], (64, height, 1))] + [Map(t, (64, 128, 1)) for t in inputs[1:]] + [Map(o, (64, 64, 1))]
    numbers = [U32(length), U32(length), U32(pieces), U32(heads), U32(works), F32(scale * 1.4426950408889634)]
    rest = [U64(0) if starts is None else starts, o, U32(total)]
    return kernel.prepare((min(works, MULTIPROCESSORS), 1, 1), (640 - 2 * width, 1, 1), maps + numbers + rest)


def lengths():
    """Sequences of several lengths beside torch's attention for them, which has another layout."""
    from torch.nn.attention.varlen import varlen_attn

    for width, heads in ((128, 16), (64, 32)):
        for causal in (False, True):
            sizes = [random.randint(1, 4096) for _ in range(16)]
            total = sum(sizes)
            starts = torch.tensor([0] + sizes, device="cuda", dtype=torch.int32).cumsum(0, dtype=torch.int32)
            inputs = [torch.randn(heads, total, width, device="cuda", dtype=torch.bfloat16) for _ in range(3)]
            o = torch.zeros_like(inputs[0])
            ours = attention_call(inputs, o, causal, starts)
            ours()
            rows = [t.transpose(0, 1).contiguous() for t in inputs]
            window = {"window_size": (-1, 0)} if causal else {}
            theirs = lambda: varlen_attn(*rows, starts, starts, max(sizes), max(sizes), **window)
            error = relative(o.transpose(0, 1), theirs().float())
            ms = race({"ours": ours, "varlen_attn": theirs}, rounds=5)
            flop = 4e-9 * heads * width * sum(size * size for size in sizes) / (2 if causal else 1)
            tera = {name: flop / t for name, t in ms.items()}
            report("attention", f"16 sequences, {heads} heads of {width}{' causal' if causal else ''}", dict(tera, ratio=tera["ours"] / tera["varlen_attn"]),
                   f"error {error:.1e}" + ("" if error < 1e-2 else " WRONG"))


def attention_case(batch, heads, length, width, causal):
    """One shape beside the backends of torch."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.randn(batch, heads, length, width, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    o = torch.zeros_like(q)
    flat = [t.view(batch * heads, length, width) for t in (q, k, v)]
    scale = width**-0.5
    ours = attention_call(flat, o.view(batch * heads, length, width), causal)
    ours()
    exact = torch.softmax((q[-1, -1].float() @ k[-1, -1].float().t() * scale).masked_fill(
        torch.ones(length, length, device="cuda", dtype=torch.bool).triu(1) if causal else torch.zeros((), device="cuda", dtype=torch.bool),
        float("-inf")), -1) @ v[-1, -1].float()
    error = relative(o[-1, -1], exact)
    calls = {"ours": ours}
    for name, backend in (("flash", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION), ("efficient", SDPBackend.EFFICIENT_ATTENTION)):
        def theirs(backend=backend):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        try:
            theirs()
            calls[name] = theirs
        except RuntimeError as problem:
            print(f"# {name}: {str(problem)[:100]}")
    ms = race(calls, rounds=5)
    flop = 4e-9 * batch * heads * length * length * width / (2 if causal else 1)
    tera = {name: flop / t for name, t in ms.items()}
    tera["ratio"] = tera["ours"] / max(value for name, value in tera.items() if name in ("flash", "cudnn", "efficient"))
    report("attention", f"{batch}x{heads}x{length}x{width}{' causal' if causal else ''}", tera, f"error {error:.1e}" + ("" if error < 1e-2 else " WRONG"))


def attention():
    """Forward attention in bf16."""
    for width, heads in ((128, 16), (64, 32)):
        for causal in (False, True):
            for batch, length in ((2, 8192), (16, 1024)):
                attention_case(batch, heads, length, width, causal)


def main():
    torch.manual_seed(1)
    random.seed(1)
    properties = torch.cuda.get_device_properties(0)
    version = pathlib.Path("/proc/driver/nvidia/version")
    found = re.search(r"\d+\.\d+(\.\d+)?", version.read_text()) if version.exists() else None
    driver = found[0] if found else "unknown"
    print(f"{properties.name}, driver {driver}, torch {torch.__version__}, CUDA {torch.version.cuda}, {MULTIPROCESSORS} multiprocessors", flush=True)
    begin = time.time()
    for name in sys.argv[1:] or ("gemm", "fp8", "row_scales", "ampere", "shapes", "attention", "lengths", "memory"):
        try:
            globals()[name]()
        except Exception as problem:
            print(f"{name} FAILED: {problem!r}", flush=True)
            raise
        finally:
            print(f"# {name}: {time.time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
