"""Writes kernels with one memory instruction each, whose addresses and active lanes are data, and launches of them.

python3 make.py DIRECTORY writes `kernels.ptx` and, for each group of counters, `GROUP.json`: a list of launches, each of them a kernel,
the offset of each of the 32 lanes in bytes, and the mask of active lanes.
"""

import json
import pathlib
import random
import sys

HEAD = ".version 9.1\n.target sm_90a\n.address_size 64\n"
WHOLE = 0xFFFFFFFF


def kernel(name, space, op):
    """A kernel of one warp; `A` in `op` is the address of a lane, `B` a constant place of 16 bytes of each lane in shared memory."""
    shared = ".shared .align 128 .b8 s[32768];" if space in ("shared", "copy") else ""
    local = ".local .align 16 .b8 l[1024];" if space == "local" else ""
    address = {
        "shared": "mov.u32 %b, s; add.u32 %a, %b, %o;",
        "global": "cvt.u64.u32 %w, %o; ld.param.u64 %g, [buf]; add.u64 %g, %g, %w;",
        "copy": "cvt.u64.u32 %w, %o; ld.param.u64 %g, [buf]; add.u64 %g, %g, %w; mov.u32 %a, s; mad.lo.u32 %a, %t, 16, %a;",
        "local": "mov.u64 %g, l; cvt.u64.u32 %w, %o; add.u64 %g, %g, %w;",
    }[space]
    op = op.replace("A", "%a" if space == "shared" else "%g").replace("B", "%a")
    return f""".visible .entry {name}(.param .u64 idx, .param .u64 buf, .param .u64 out, .param .u32 mask)
{{ {shared}{local} .reg .pred %p; .reg .b32 %t, %o, %a, %b, %m, %c, %x<8>; .reg .f32 %f; .reg .b64 %g, %w, %i, %q, %d<4>;
 ld.param.u64 %i, [idx]; ld.param.u64 %q, [out]; ld.param.u32 %m, [mask]; mov.u32 %t, %tid.x; mad.wide.u32 %i, %t, 4, %i;
 ld.global.u32 %o, [%i]; shr.u32 %c, %m, %t; and.b32 %c, %c, 1; setp.ne.u32 %p, %c, 0; mad.wide.u32 %q, %t, 16, %q;
 mov.u32 %x0, %t; mov.u32 %x1, %t; mov.u32 %x2, %t; mov.u32 %x3, %t; mov.u64 %d0, %q; mov.u64 %d1, %q; mov.b32 %f, 0f3f800000;
 {address}
 {op}
 ret; }}
"""


def uses(n):
    """Stores what was loaded, so that the load stays."""
    return {
        1: "st.global.u32 [%q], %x0;",
        2: "st.global.v2.u32 [%q], {%x0,%x1};",
        4: "st.global.v4.u32 [%q], {%x0,%x1,%x2,%x3};",
    }[n]


def kernels():
    """The kernels by name: group, state space, instructions, bytes of a lane's access."""
    k = {}
    for space in ("shared", "global"):
        ld = st = space
        if space == "global":
            ld, st = "global_ld", "global_st"
        for bits in (8, 16, 32):
            k[f"{space}_ld_{bits}"] = (ld, space, f"@%p ld.{space}.u{bits} %x0, [A]; " + uses(1), bits // 8)
            k[f"{space}_st_{bits}"] = (st, space, f"@%p st.{space}.u{bits} [A], %x0;", bits // 8)
        for n in (2, 4):
            regs = ",".join(f"%x{i}" for i in range(n))
            k[f"{space}_ld_{32 * n}"] = (ld, space, f"@%p ld.{space}.v{n}.u32 {{{regs}}}, [A]; " + uses(n), 4 * n)
            k[f"{space}_st_{32 * n}"] = (st, space, f"@%p st.{space}.v{n}.u32 [A], {{{regs}}};", 4 * n)
        atom, red = ("shared_atom", "shared_atom") if space == "shared" else ("global_atom", "global_red")
        k[f"{space}_atom_32"] = (atom, space, f"@%p atom.{space}.add.u32 %x0, [A], %t; " + uses(1), 4)
        k[f"{space}_cas_32"] = (atom, space, f"@%p atom.{space}.cas.b32 %x0, [A], %t, %x1; " + uses(1), 4)
        k[f"{space}_red_32"] = (red, space, f"@%p red.{space}.add.u32 [A], %t;", 4)
        k[f"{space}_atom_64"] = (atom, space, f"@%p atom.{space}.add.u64 %d0, [A], %d1; st.global.u64 [%q], %d0;", 8)
        k[f"{space}_exch_32"] = (atom, space, f"@%p atom.{space}.exch.b32 %x0, [A], %t; " + uses(1), 4)
        k[f"{space}_min_32"] = (atom, space, f"@%p atom.{space}.min.u32 %x0, [A], %t; " + uses(1), 4)
        if space == "global":
            k["global_cas_64"] = (atom, space, "@%p atom.global.cas.b64 %d0, [A], %d1, %d0; st.global.u64 [%q], %d0;", 8)
            k["global_red_f32"] = (red, space, "@%p red.global.add.f32 [A], %f;", 4)
            k["global_red_64"] = (red, space, "@%p red.global.add.u64 [A], %d1;", 8)
    for n in (1, 2, 4):
        regs = ",".join(f"%x{i}" for i in range(n))
        for t in ("", ".trans"):
            name = f"x{n}{t.replace('.', '_')}"
            form = f"sync.aligned.m8n8.x{n}{t}.shared.b16"
            k[f"shared_ldmatrix_{name}"] = ("matrix", "shared", f"ldmatrix.{form} {{{regs}}}, [A]; " + uses(n), 16)
            k[f"shared_stmatrix_{name}"] = ("matrix", "shared", f"stmatrix.{form} [A], {{{regs}}};", 16)
    for n in (4, 8, 16):
        how = "cg" if n == 16 else "ca"
        k[f"copy_{n}"] = ("copy", "copy", f"@%p cp.async.{how}.shared.global [B], [A], {n}; cp.async.wait_all;", n)
    for bits in (8, 32):
        k[f"local_{bits}"] = (
            "local",
            "local",
            f"@%p st.volatile.local.u{bits} [A], %x0; @%p ld.volatile.local.u{bits} %x1, [A]; mov.u32 %x0, %x1; " + uses(1),
            bits // 8,
        )
    k["local_128"] = (
        "local",
        "local",
        "@%p st.volatile.local.v4.u32 [A], {%x0,%x1,%x2,%x3}; @%p ld.volatile.local.v4.u32 {%x0,%x1,%x2,%x3}, [A]; " + uses(4),
        16,
    )
    return k


def patterns(name, group, size):
    """The offsets and the active lanes of the launches of a kernel."""
    r, out = random.Random(name), []
    limit = 1024 if group == "local" else 16384
    partial = group != "matrix"

    def add(offset, mask=WHOLE):
        out.append((name, [offset(lane) % limit // size * size for lane in range(32)], mask))

    def scattered(words, mask=WHOLE):
        add(lambda _: r.randrange(words) * 4, mask)

    add(lambda l: l * size)
    add(lambda l: 0)
    add(lambda l: l * 128)
    add(lambda l: l * (128 + max(size, 4)))
    add(lambda l: l * 2 * size)
    add(lambda l: (l // 2) * size)
    if partial:
        add(lambda l: l * size, 0x55555555)
        add(lambda l: l * 128, 0xF00FF00F)
    scattered(64)
    scattered(1024)
    if "atom" in group or "red" in group:
        for words in (16, 32, 48, 96, 128):
            scattered(words)
    add(lambda l: (l % 16) * size)
    add(lambda l: (l % 8) * size)
    add(lambda l: (l ^ 1) * size)
    add(lambda l: l * 3 * size)
    if partial:
        scattered(512, r.getrandbits(32) or 1)
        scattered(96, r.getrandbits(32) or 1)
        add(lambda l: l * size, 0xFFFF)
        add(lambda l: l * size, 1)
    if group.startswith("global"):
        add(lambda l: l * size + 16)
        add(lambda l: l * size + size)
    scattered(256)
    scattered(4096)
    return out


def main(directory):
    directory.mkdir(parents=True, exist_ok=True)
    k = kernels()
    (directory / "kernels.ptx").write_text(HEAD + "".join(kernel(n, space, op) for n, (_, space, op, _) in k.items()))
    groups = {}
    for name, (group, _, _, size) in k.items():
        groups.setdefault(group, []).append(patterns(name, group, size))
    for group, lists in groups.items():
        # of every kernel the first pattern, then the second: a run that ends early has seen them all
        rows = [row for i in range(max(map(len, lists))) for row in (l[i] for l in lists if i < len(l))]
        (directory / f"{group}.json").write_text(json.dumps(rows))
        print(group, len(lists), "kernels", len(rows), "launches")


main(pathlib.Path(sys.argv[1]))
