"""Writes kernels whose arithmetic, tensor operations and copies Nsight Compute counts: python3 compute.py DIRECTORY writes
`compute.ptx` and `compute.json`, a list of the kernels with their CTAs, threads and CTAs of a cluster; and the same of `rates`, whose
kernels have so many `wgmma` that they take as long as these.

All kernels have the same parameters: a buffer of 64 KiB, another one, and a tensor map of the first as rows of 64 elements of 2 bytes, 500
rows, with a box of 64 by 16 and a swizzle of 128 bytes.
"""

import json
import pathlib
import sys

HEAD = ".version 9.1\n.target sm_90a\n.address_size 64\n.const .align 4 .b8 numbers[1024];\n"
TURNS = 5


def kernel(name, registers, body, threads=64, cluster=1, ready="", shared=0, turns=TURNS):
    """A kernel with a loop of some turns around `body`; `ready` runs before it."""
    directives = f".reqntid {threads}" + (f" .reqnctapercluster {cluster}" if cluster > 1 else "")
    memory = f".shared .align 1024 .b8 s[{shared}];\n .shared .align 8 .b64 bar;\n" if shared else ""
    return f""".visible .entry {name}(.param .u64 buf, .param .u64 out, .param .align 64 .b8 map[128]) {directives}
{{ {memory} .reg .pred %p, %q, %lane; .reg .b32 %t, %turn, %a, %b, %m, %n; .reg .b64 %x, %y, %o, %d, %e; {registers}
 ld.param.u64 %x, [buf]; ld.param.u64 %y, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 16; add.u64 %y, %y, %o; add.u64 %d, %x, %o;
 and.b32 %a, %t, 1; setp.eq.u32 %lane, %a, 0; setp.eq.u32 %q, %t, 0; mov.b64 %e, map; cvta.param.u64 %e, %e;
 {ready}
 mov.u32 %turn, 0;
again:
 {body}
 add.u32 %turn, %turn, 1; setp.lt.u32 %p, %turn, {turns};
 @%p bra again;
"""


def arithmetic():
    """One operation on values of a type, whose result is its first operand in the next turn."""
    types = {
        "f32": (".f32", "ld.global.f32 {}, [%d+{}];", "st.global.f32 [%y], {};"),
        "f64": (".f64", "ld.global.f64 {}, [%d+{}];", "st.global.f64 [%y], {};"),
        "f16": (".b16", "ld.global.b16 {}, [%d+{}];", "st.global.b16 [%y], {};"),
        "f16x2": (".b32", "ld.global.b32 {}, [%d+{}];", "st.global.b32 [%y], {};"),
        "s32": (".b32", "ld.global.b32 {}, [%d+{}];", "st.global.b32 [%y], {};"),
        "u64": (".b64", "ld.global.b64 {}, [%d+{}];", "st.global.b64 [%y], {};"),
    }
    types["bf16"], types["bf16x2"] = types["f16"], types["f16x2"]
    forms = {}
    for ty in ("f32", "f64"):
        for op, n in (("add.rn", 2), ("sub.rn", 2), ("mul.rn", 2), ("fma.rn", 3), ("min", 2)):
            forms[f"{op}.{ty}"] = (ty, n)
    for ty in ("f16", "f16x2"):
        for op, n in (("add.rn", 2), ("mul.rn", 2), ("fma.rn", 3), ("max", 2)):
            forms[f"{op}.{ty}"] = (ty, n)
    for op, n in (("add.rn", 2), ("fma.rn", 3)):
        forms[f"{op}.bf16x2"] = ("bf16x2", n)
    for op in ("ex2.approx.f32", "rcp.approx.f32", "rsqrt.approx.f32", "tanh.approx.f32", "abs.f32", "neg.f32"):
        forms[op] = ("f32", 1)
    forms |= {"add.s32": ("s32", 2), "mad.lo.s32": ("s32", 3), "xor.b32": ("s32", 2), "add.u64": ("u64", 2), "popc.b32": ("s32", 1)}
    for form, (ty, n) in forms.items():
        reg, load, store = types[ty]
        size = 8 if reg in (".f64", ".b64") else 4
        sources = [f"%v{i}" for i in range(n)]
        ready = " ".join(load.format(v, i * size) for i, v in enumerate(sources))
        operation = f"{form} %v0, {', '.join(sources)};"
        name = form.replace(".", "_")
        yield name, kernel(name, f".reg {reg} %v<3>;", operation, ready=ready) + " " + store.format("%v0") + "\n ret; }\n"
        if form in ("fma.rn.f32", "add.rn.f64"):
            # only every second lane
            name += "_half"
            yield name, kernel(name, f".reg {reg} %v<3>;", "@%lane " + operation, ready=ready) + " " + store.format("%v0") + "\n ret; }\n"


def registers(prefix, count):
    return "{" + ", ".join(f"%{prefix}{i}" for i in range(count)) + "}"


def matrices():
    """`mma`: name, form, registers of d, a, b, and their types."""
    forms = [
        ("m16n8k16_f32_f16", "m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, "f32", "b32"),
        ("m16n8k8_f32_f16", "m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, "f32", "b32"),
        ("m16n8k16_f16_f16", "m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, "b32", "b32"),
        ("m16n8k16_f32_bf16", "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, "f32", "b32"),
        ("m16n8k8_f32_tf32", "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, "f32", "b32"),
        ("m16n8k4_f32_tf32", "m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, "f32", "b32"),
        ("m16n8k32_s32_s8", "m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, "b32", "b32"),
        ("m8n8k16_s32_s8", "m8n8k16.row.col.s32.s8.s8.s32", 2, 1, 1, "b32", "b32"),
        ("m8n8k4_f64", "m8n8k4.row.col.f64.f64.f64.f64", 2, 1, 1, "f64", "f64"),
        ("m16n8k16_f64", "m16n8k16.row.col.f64.f64.f64.f64", 4, 8, 4, "f64", "f64"),
        ("m16n8k32_f32_e4m3", "m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, "f32", "b32"),
        ("m16n8k256_b1", "m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, "b32", "b32"),
    ]
    for name, form, d, a, b, acc, ty in forms:
        name = "mma_" + name
        zero = {"f32": "mov.f32 {}, 0f00000000;", "f64": "mov.f64 {}, 0d0000000000000000;", "b32": "mov.b32 {}, 0;"}[acc]
        size = 8 if ty == "f64" else 4
        ready = " ".join(zero.format(f"%d{i}") for i in range(d))
        ready += " ".join(f" ld.global.{ty} %a{i}, [%d+{i * size}];" for i in range(a))
        ready += " ".join(f" ld.global.{ty} %b{i}, [%d+{i * size + 64}];" for i in range(b))
        body = f"mma.sync.aligned.{form} {registers('d', d)}, {registers('a', a)}, {registers('b', b)}, {registers('d', d)};"
        store = " ".join(f"st.global.{acc} [%y+{i % 2 * 8}], %d{i};" for i in range(d))
        yield name, kernel(name, f".reg .{acc} %d<{d}>; .reg .{ty} %a<{a}>, %b<{b}>;", body, ready=ready) + f" {store}\n ret; }}\n"
    name = "mma_sp_m16n8k32_f32_f16"
    ready = " ".join(f"mov.f32 %d{i}, 0f00000000;" for i in range(4)) + "mov.b32 %m, 0x44444444;"
    ready += " ".join(f" ld.global.b32 %a{i}, [%d+{i * 4}]; ld.global.b32 %b{i}, [%d+{i * 4}];" for i in range(4))
    body = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%d0, %d1, %d2, %d3}, %m, 0;"
    store = "st.global.f32 [%y], %d0; st.global.f32 [%y+4], %d1; st.global.f32 [%y+8], %d2; st.global.f32 [%y+12], %d3;"
    yield name, kernel(name, ".reg .f32 %d<4>; .reg .b32 %a<4>, %b<4>;", body, ready=ready) + f" {store}\n ret; }}\n"


def warpgroups(rates=False):
    """`wgmma` of matrices in shared memory: B of `n` columns, swizzles, A in registers. With `rates`, many of them for the time they take."""
    swizzles = {"none": (0, 128, 256), "32": (3, 16, 256), "64": (2, 16, 512), "128": (1, 16, 1024)}
    cases = [(n, "128", "f16", 16, False) for n in (8, 64, 128, 256)]
    cases += [(128, swizzle, "f16", 16, False) for swizzle in ("none", "32", "64")]
    cases += [(128, "128", "f16", 16, True), (128, "128", "bf16", 16, False), (128, "128", "e4m3", 32, False), (128, "128", "tf32", 8, False)]
    if rates:
        cases = [(n, "128", "f16", 16, r) for n in (8, 16, 32, 64, 96, 128, 192, 256) for r in (False, True)]
    for n, swizzle, ty, k, of_registers in cases:
        code, leading, stride = swizzles[swizzle]
        name = f"wgmma_m64n{n}k{k}_{ty}_{swizzle}" + ("_registers" if of_registers else "")
        name = "rate_" + name if rates else name
        count = n // 2
        fields = (leading >> 4) << 16 | (stride >> 4) << 32 | code << 62
        ready = " ".join(f"mov.f32 %d{i}, 0f00000000;" for i in range(count))
        ready += f"""
 mov.u32 %a, s; and.b32 %a, %a, 0x3ffff; shr.u32 %a, %a, 4; cvt.u64.u32 %d, %a; or.b64 %d, %d, {fields}; add.u64 %e, %d, {8192 >> 4};
 mov.b32 %r0, 0; mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0; mul.lo.u32 %n, %t, 4; mov.u32 %m, s; add.u32 %m, %m, %n; mov.u32 %n, 0;
fill:
 st.shared.b32 [%m], %n; add.u32 %m, %m, 512; add.u32 %n, %n, 512; setp.lt.u32 %p, %n, 49152;
 @%p bra fill;
 mov.u32 %n, 0; fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;"""
        a = "{%r0, %r1, %r2, %r3}" if of_registers else "%d"
        transposed = {"f16": ", 0, 0", "bf16": ", 0, 0"}.get(ty, "")
        if of_registers:
            transposed = ", 0"
        body = (
            f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.f32.{ty}.{ty} {registers('d', count)}, {a}, %e, 1, 1, 1{transposed};\n"
        )
        body = body * (32 if rates else 1) + " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
        store = " ".join(f"st.global.f32 [%y], %d{i};" for i in range(count))
        regs = f".reg .f32 %d<{count}>; .reg .b32 %r<4>;"
        yield name, kernel(name, regs, body, threads=128, ready=ready, shared=49152, turns=100 if rates else TURNS) + f" {store}\n ret; }}\n"


INIT = "@%q mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; bar.sync 0; mov.u32 %a, s; mov.u32 %b, bar;"
WAIT = """and.b32 %m, %turn, 1;
wait:
 mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], %m;
 @!%p bra wait;
 bar.sync 0;"""


def copies():
    """Bulk and tensor copies by one thread in each turn."""
    load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a], [%x], {0}, [bar];"
    box = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%a], [%e, {{0, {0}}}], [bar];"
    expect = "@%q mbarrier.arrive.expect_tx.shared.b64 _, [bar], {0};\n @%q "
    end = " ld.shared.u32 %m, [%a]; st.global.u32 [%y], %m;\n ret; }\n"
    for bytes_ in (16, 1024, 4096):
        name = f"bulk_load_{bytes_}"
        body = (expect + load).format(bytes_) + WAIT
        yield name, kernel(name, "", body, ready=INIT, shared=8192) + end
    for name, row in (("tensor_load", 0), ("tensor_load_tail", 496), ("tensor_load_outside", 512), ("tensor_load_before", -3)):
        body = expect.format(2048) + box.format(row) + WAIT
        yield name, kernel(name, "", body, ready=INIT, shared=8192) + end
    for name, what in (
        ("bulk_store_1024", "cp.async.bulk.global.shared::cta.bulk_group [%x], [%a], 1024;"),
        ("bulk_reduce_1024", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%x], [%a], 1024;"),
        ("tensor_store", "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%e, {0, 0}], [%a];"),
        ("tensor_store_tail", "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%e, {0, 496}], [%a];"),
    ):
        ready = "mul.lo.u32 %m, %t, 4; mov.u32 %a, s; add.u32 %m, %m, %a; mov.u32 %n, 0;\nfill:\n st.shared.b32 [%m], 0; add.u32 %m, %m, 256; add.u32 %n, %n, 256; setp.lt.u32 %p, %n, 8192;\n @%p bra fill;\n fence.proxy.async; bar.sync 0;"
        body = f"@%q {what}\n @%q cp.async.bulk.commit_group; @%q cp.async.bulk.wait_group 0;"
        yield name, kernel(name, "", body, ready=ready, shared=8192) + " st.global.u32 [%y], %t;\n ret; }\n"
    # both CTAs of a cluster get the box that the first one loads
    name = "tensor_multicast"
    ready = INIT + " barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mov.u32 %n, %cluster_ctarank; setp.eq.and.u32 %lane, %n, 0, %q; .reg .b16 %both; mov.b16 %both, 3;"
    body = expect.format(2048).replace("@%q \n", "").rsplit("@%q ", 1)[0]
    body += "@%lane cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%a], [%e, {0, 0}], [bar], %both;"
    body += WAIT + " barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    yield name, kernel(name, "", body, ready=ready, shared=8192, cluster=2) + end


def others():
    """Constant memory, atomics with equal addresses, barriers."""
    for name, lanes in (("const_uniform", 0), ("const_2", 1), ("const_8", 7), ("const_32", 31)):
        ready = f"mov.u64 %e, numbers; and.b32 %a, %t, {lanes}; mul.wide.u32 %o, %a, 8; add.u64 %e, %e, %o; mov.u32 %b, 0; ld.global.u32 %n, [%d];"
        # the buffer has zeros, which ptxas does not know
        body = "ld.const.u32 %m, [%e]; add.u32 %b, %b, %m; mul.wide.u32 %o, %n, 4; add.u64 %e, %e, %o;"
        yield name, kernel(name, "", body, ready=ready) + " st.global.u32 [%y], %b;\n ret; }\n"
    yield "barriers", kernel("barriers", "", "bar.sync 0; bar.warp.sync 0xffffffff;", threads=128) + " st.global.u32 [%y], %t;\n ret; }\n"
    for name, lanes in (("reduce_same", 0), ("reduce_4", 3)):
        ready = f"and.b32 %a, %t, {lanes}; mul.wide.u32 %o, %a, 4; add.u64 %x, %x, %o;"
        yield name, kernel(name, "", "red.global.add.f32 [%x], 0f3f800000;", ready=ready) + " st.global.u32 [%y], %t;\n ret; }\n"


def main(directory):
    directory.mkdir(parents=True, exist_ok=True)
    compute = (arithmetic, matrices, warpgroups, others, copies)
    for module, makers in (("compute", compute), ("rates", (lambda: warpgroups(rates=True),))):
        text, launches = HEAD, []
        for make in makers:
            for name, source in make():
                text += source
                threads = int(source.split(".reqntid ")[1].split()[0])
                cluster = 2 if ".reqnctapercluster" in source else 1
                launches.append((name, 2, threads, cluster))
        (directory / f"{module}.ptx").write_text(text)
        (directory / f"{module}.json").write_text(json.dumps(launches))
        print(module, len(launches), "kernels")


main(pathlib.Path(sys.argv[1]))
