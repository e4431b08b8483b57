//! Kernels of matrix instructions. A CTA has operands of one class; its threads take words of pools, and store what they get.

use std::fmt::Write;

use super::inputs::{CLASSES, Class, Side, Ty};
use ptx_dsl_test_support::random::Random;

/// Words of a pool for each class.
pub const POOL: usize = 20_480;
/// Bytes of shared memory that A and B of a `wgmma` may take.
const SHARED: [usize; 2] = [20 << 10, 68 << 10];

/// A stream of words that operands are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    Elements(Ty, Side),
    /// Sparsity metadata: eight indices, each of two positions in order, or in any order.
    Ordered,
    Unordered,
    Tf32,
}

impl Pool {
    /// Its name in lists of kernels.
    pub fn name(self) -> String {
        match self {
            Pool::Elements(ty, side) => format!("{ty:?}{side:?}").to_lowercase(),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    /// Its words.
    pub fn words(self) -> Vec<u32> {
        let mut all = Vec::with_capacity(CLASSES.len() * POOL);
        let seed =
            self.name().bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        for (i, class) in CLASSES.into_iter().enumerate() {
            let mut r = Random::from_state(seed ^ (i as u64) << 56);
            while all.len() < (i + 1) * POOL {
                self.more(class, &mut r, &mut all);
            }
        }
        all
    }

    fn more(self, class: Class, r: &mut Random, to: &mut Vec<u32>) {
        match self {
            Pool::Elements(Ty::F64, side) => to.extend(Ty::F64.words(class, side, r)),
            Pool::Elements(ty, side) => to.push(ty.word(class, side, r)),
            _ => to.push((0..8).fold(0, |word, i| {
                let ordered = [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110];
                let any = [0b0001, 0b0010, 0b0011, 0b0110, 0b0111, 0b1011];
                let index: u32 = match (self, r.below(12) as usize) {
                    (Pool::Tf32, n) => [0b0100, 0b1110][n % 2],
                    (Pool::Unordered, n @ 6..) => any[n - 6],
                    (_, n) => ordered[n % 6],
                };
                word | index << (4 * i)
            })),
        }
    }
}

/// An operand of a warp's instruction.
#[derive(Debug, Clone)]
pub enum Operand {
    /// So many registers of elements.
    Fragment {
        ty: Ty,
        side: Side,
        registers: u32,
    },
    Metadata {
        tf32: bool,
        ordered: bool,
    },
    /// A register of scale factors.
    Factors(Ty, Side),
    Constant(String),
}

/// A `wgmma`.
#[derive(Debug, Clone)]
pub struct Wgmma {
    pub n: u32,
    pub k: u32,
    pub d: &'static str,
    pub types: [&'static str; 2],
    pub in_registers: bool,
    /// Of A and B: swizzling mode, transposed, leading and stride offset and start in bytes.
    pub descriptors: [(u64, bool, u32, u32, u32); 2],
    pub negate: [bool; 2],
    pub scale_d: bool,
    pub saturate: bool,
    /// Elements of 16 bits: they can be transposed.
    pub wide: bool,
    /// The selector.
    pub sparse: Option<u32>,
}

/// A kernel.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// What identifies it.
    pub label: String,
    pub target: &'static str,
    /// Threads of a CTA.
    pub threads: u32,
    /// In the order of `PARAMETERS`.
    pub pools: [Option<Pool>; PARAMETERS.len()],
    /// Words that a thread stores.
    pub outputs: usize,
    pub shared: usize,
    body: String,
}

/// Pools: A, B, C, metadata, scale factors of A and B.
const PARAMETERS: [&str; 6] = ["a", "b", "c", "e", "f", "g"];

/// Threads of a CTA of warp instructions.
const THREADS: u32 = 192;

struct Text {
    out: String,
    threads: u32,
    registers: usize,
    pools: [Option<Pool>; PARAMETERS.len()],
}

impl Text {
    fn new(threads: u32) -> Text {
        Text { out: String::new(), threads, registers: 0, pools: [None; PARAMETERS.len()] }
    }

    fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.out, "    {}", text.as_ref());
    }

    fn register(&mut self, wide: bool) -> String {
        self.registers += 1;
        let name = format!("%r{}", self.registers);
        self.line(format!(".reg .b{} {name};", if wide { 64 } else { 32 }));
        name
    }

    /// A register with word `j` of the thread, of a pool.
    fn word(&mut self, pool: Pool, j: usize) -> String {
        let which = match pool {
            Pool::Elements(_, side) => side as usize,
            _ => 3,
        };
        self.pools[which] = Some(pool);
        let wide = matches!(pool, Pool::Elements(Ty::F64, _));
        let name = self.register(wide);
        let at = j * self.threads as usize * if wide { 8 } else { 4 };
        let p = PARAMETERS[which];
        if wide {
            self.line(format!("ld.global.b64 {name}, [%wide_{p}+{at}];"));
        } else {
            self.line(format!("ld.global.b32 {name}, [%{p}+{at}];"));
        }
        name
    }

    fn fragment(&mut self, ty: Ty, side: Side, count: u32) -> String {
        let all: Vec<String> = (0..count as usize).map(|j| self.word(Pool::Elements(ty, side), j)).collect();
        format!("{{{}}}", all.join(", "))
    }

    /// A register of scale factors.
    fn factors(&mut self, ty: Ty, side: Side) -> String {
        let which = 4 + side as usize;
        self.pools[which] = Some(Pool::Elements(ty, side));
        let name = self.register(false);
        self.line(format!("ld.global.b32 {name}, [%{}];", PARAMETERS[which]));
        name
    }

    fn results(&mut self, wide: bool, count: u32) -> Vec<String> {
        (0..count).map(|_| self.register(wide)).collect()
    }

    /// Stores results; returns the number of words.
    fn store(&mut self, wide: bool, results: &[String]) -> usize {
        for (i, name) in results.iter().enumerate() {
            // lanes side by side, all results of a CTA together
            let at = i * self.threads as usize * if wide { 8 } else { 4 };
            if wide {
                self.line(format!("st.global.b64 [%wide_out+{at}], {name};"));
            } else {
                self.line(format!("st.global.b32 [%out+{at}], {name};"));
            }
        }
        results.len() * if wide { 2 } else { 1 }
    }
}

impl Kernel {
    fn make(target: &'static str, label: String, text: Text, outputs: usize, shared: usize) -> Kernel {
        Kernel { label, target, threads: text.threads, pools: text.pools, outputs, shared, body: text.out }
    }

    /// A warp's product: D, then the other operands.
    pub fn warp(target: &'static str, instr: &str, d: Operand, operands: Vec<Operand>) -> Kernel {
        let mut t = Text::new(THREADS);
        let Operand::Fragment { ty, registers, .. } = d else { panic!("D is a fragment") };
        let mut given = Vec::new();
        for operand in operands {
            given.push(match operand {
                Operand::Fragment { ty, side, registers } => t.fragment(ty, side, registers),
                Operand::Metadata { tf32: true, .. } => t.word(Pool::Tf32, 0),
                Operand::Metadata { ordered: true, .. } => t.word(Pool::Ordered, 0),
                Operand::Metadata { .. } => t.word(Pool::Unordered, 0),
                Operand::Factors(ty, side) => t.factors(ty, side),
                Operand::Constant(value) => value,
            });
        }
        let selector = if instr.contains(".sp") { format!(" {}", given[given.len() - 1]) } else { String::new() };
        let results = t.results(ty == Ty::F64, registers);
        t.line(format!("{instr} {{{}}}, {};", results.join(", "), given.join(", ")));
        let outputs = t.store(ty == Ty::F64, &results);
        Kernel::make(target, format!("{instr}{selector}"), t, outputs, 0)
    }

    /// Matrices through shared memory of the warp: loads, product, store.
    pub fn wmma(
        target: &'static str,
        (shape, [m, n, k]): (&str, [u32; 3]),
        [d, a, b, c]: [(&str, Ty, u32); 4],
        [sat, op]: [&str; 2],
        layouts: [&str; 2],
        accumulators: [&str; 2],
    ) -> Kernel {
        let mut t = Text::new(THREADS);
        let bytes = |elements: u32, ty: (&str, Ty, u32)| elements * ty.2 / 8;
        let sizes = [bytes(m * k, a), bytes(n * k, b), bytes(m * n, c), bytes(m * n, d)];
        let each = sizes.iter().map(|s| s.next_multiple_of(256)).sum::<u32>();
        t.line(".reg .b32 %base, %lane, %at, %warp;");
        t.line("mov.u32 %base, smem; shr.u32 %warp, %thread, 5; and.b32 %lane, %thread, 31;");
        t.line(format!("mad.lo.u32 %base, %warp, {each}, %base; mad.lo.u32 %at, %lane, 4, %base;"));
        let mut start = 0;
        let mut starts = Vec::new();
        for (size, (ty, side)) in sizes.into_iter().zip([(a, Side::A), (b, Side::B), (c, Side::C)]) {
            starts.push(start);
            for j in 0..size / 128 {
                if ty.1 == Ty::F64 && j % 2 == 1 {
                    continue;
                }
                let word = t.word(Pool::Elements(ty.1, side), if ty.1 == Ty::F64 { j / 2 } else { j } as usize);
                if ty.1 == Ty::F64 {
                    t.line(format!(
                        "shl.b32 %at, %lane, 3; add.u32 %at, %at, %base; st.shared.b64 [%at+{}], {word};",
                        start + j * 128
                    ));
                } else {
                    t.line(format!("st.shared.b32 [%at+{}], {word};", start + j * 128));
                }
            }
            start += size.next_multiple_of(256);
        }
        starts.push(start);
        t.line("bar.warp.sync 0xffffffff;");
        let wide = a.1 == Ty::F64;
        let count = |elements: u32, ty: (&str, Ty, u32), ab: bool| {
            if ty.0 == "f16" && ab { 8 } else { (elements * ty.2 / 32 / if ty.0 == "f64" { 64 } else { 32 }).max(1) }
        };
        let stride = |layout: &str, row: u32, column: u32| if layout == "row" { row } else { column };
        let mut fragments = Vec::new();
        for (i, (name, ty, layout, elements, stride)) in [
            ("a", a, layouts[0], m * k, stride(layouts[0], k, m)),
            ("b", b, layouts[1], n * k, stride(layouts[1], n, k)),
            ("c", c, accumulators[0], m * n, stride(accumulators[0], n, m)),
        ]
        .into_iter()
        .enumerate()
        {
            let registers = t.results(wide, count(elements, ty, name != "c")).join(", ");
            t.line(format!(
                "wmma.load.{name}.sync.aligned.{layout}.{shape}.shared.{} {{{registers}}}, [%base+{}], {stride};",
                ty.0, starts[i]
            ));
            fragments.push(format!("{{{registers}}}"));
        }
        let types = if a.0 == "f16" { format!("{}.{}", d.0, c.0) } else { format!("{}.{}.{}.{}", d.0, a.0, b.0, c.0) };
        let (rounding, sat) = if sat.starts_with(".r") { (sat, "") } else { ("", sat) };
        let instr = format!("wmma.mma{op}.sync.aligned.{}.{}.{shape}{rounding}.{types}{sat}", layouts[0], layouts[1]);
        let results = t.results(wide, count(m * n, d, false)).join(", ");
        t.line(format!("{instr} {{{results}}}, {};", fragments.join(", ")));
        let pitch = stride(accumulators[1], n, m);
        t.line(format!(
            "wmma.store.d.sync.aligned.{}.{shape}.shared.{} [%base+{}], {{{results}}}, {pitch};",
            accumulators[1], d.0, starts[3]
        ));
        t.line("bar.warp.sync 0xffffffff; mad.lo.u32 %at, %lane, 4, %base;");
        let words = t.results(false, sizes[3] / 128);
        for (j, word) in words.iter().enumerate() {
            t.line(format!("ld.shared.b32 {word}, [%at+{}];", starts[3] as usize + j * 128));
        }
        let outputs = t.store(false, &words);
        let label = format!("{instr} {} {}", accumulators[0], accumulators[1]);
        Kernel::make(target, label, t, outputs, (each * THREADS / 32) as usize)
    }

    /// A `wgmma`: A and B in shared memory, or A in registers.
    pub fn wgmma(target: &'static str, w: &Wgmma, [d, a, b]: [Ty; 3]) -> Kernel {
        let mut t = Text::new(128);
        t.line(".reg .b32 %at, %j, %base, %v; .reg .b64 %from; .reg .pred %p;");
        t.line("mov.u32 %base, smem; mad.lo.u32 %base, %thread, 4, %base;");
        let mut start = 0;
        for (side, ty) in [(Side::A, a), (Side::B, b)] {
            let p = PARAMETERS[side as usize];
            t.pools[side as usize] = Some(Pool::Elements(ty, side));
            let words = SHARED[side as usize] / 4 / 128;
            t.line(format!("mov.u64 %from, %{p}; add.u32 %at, %base, {start}; mov.u32 %j, {words};"));
            t.line(format!("fill_{p}: ld.global.b32 %v, [%from]; st.shared.b32 [%at], %v; add.u64 %from, %from, 512;"));
            t.line(format!("add.u32 %at, %at, 512; sub.u32 %j, %j, 1; setp.ne.u32 %p, %j, 0; @%p bra fill_{p};"));
            start += SHARED[side as usize];
        }
        t.line("fence.proxy.async.shared::cta; bar.sync 0;");
        let count = if w.d == "f16" { w.n / 4 } else { w.n / 2 };
        let c: Vec<String> = (0..count as usize).map(|j| t.word(Pool::Elements(d, Side::C), j)).collect();
        let mut operands = vec![format!("{{{}}}", c.join(", "))];
        let mut start = 0;
        for side in [0, 1] {
            if side == 0 && w.in_registers {
                operands.push(t.fragment(a, Side::A, 4));
            } else {
                let (mode, _, leading, stride, offset) = w.descriptors[side];
                let high = mode << 62 | u64::from(stride / 16) << 32 | u64::from(leading / 16) << 16;
                let desc = t.register(true);
                t.line(format!(
                    "mov.u32 %v, smem; add.u32 %v, %v, {}; and.b32 %v, %v, 0x3ffff;",
                    start + offset as usize
                ));
                t.line(format!("shr.u32 %v, %v, 4; cvt.u64.u32 {desc}, %v; or.b64 {desc}, {desc}, {high:#x};"));
                operands.push(desc);
            }
            start += SHARED[side];
        }
        if let Some(selector) = w.sparse {
            operands.push(t.word(if a == Ty::Tf32 { Pool::Tf32 } else { Pool::Ordered }, 0));
            operands.push(selector.to_string());
        }
        t.line(format!("setp.eq.u32 %p, %thread, {};", if w.scale_d { "%thread" } else { "9999" }));
        operands.push("%p".into());
        let one = |negative: bool| if negative { "-1" } else { "1" }.to_string();
        if w.d != "s32" {
            operands.extend(w.negate.map(one));
        }
        if w.wide {
            let turns = w.descriptors.map(|d| if d.1 { "1" } else { "0" }.to_string());
            operands.extend(turns.into_iter().skip(usize::from(w.in_registers)));
        }
        let sp = if w.sparse.is_some() { ".sp" } else { "" };
        let (sat, op) = (if w.saturate { ".satfinite" } else { "" }, if w.types[0] == "b1" { ".and.popc" } else { "" });
        let instr = format!(
            "wgmma.mma_async{sp}.sync.aligned.m64n{}k{}{sat}.{}.{}.{}{op}",
            w.n, w.k, w.d, w.types[0], w.types[1]
        );
        t.line("wgmma.fence.sync.aligned;");
        t.line(format!("{instr} {};", operands.join(", ")));
        t.line("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
        let outputs = t.store(false, &c);
        let place = |side: usize| {
            let (mode, turned, leading, stride, start) = w.descriptors[side];
            format!("{mode}{}/{leading}/{stride}/{start}", if turned { "t" } else { "" })
        };
        let place_a = if w.in_registers { "registers".to_string() } else { place(0) };
        let [na, nb] = w.negate.map(|n| if n && w.d != "s32" { "-" } else { "" });
        let selector = w.sparse.map_or(String::new(), |s| format!(" {s}"));
        let label = format!("{instr}{selector} {na}{place_a} {nb}{} {}", place(1), if w.scale_d { "+c" } else { "" });
        Kernel::make(target, label.trim_end().to_string(), t, outputs, SHARED[0] + SHARED[1])
    }

    /// `ldmatrix` from, or `stmatrix` to, 512 bytes for each warp. Lane 31 - i has the address of row i.
    pub fn moves(target: &'static str, instr: &str, count: u32, load: bool) -> Kernel {
        let mut t = Text::new(THREADS);
        t.line(".reg .b32 %base, %lane, %at, %warp, %row;");
        t.line("mov.u32 %base, smem; shr.u32 %warp, %thread, 5; and.b32 %lane, %thread, 31; mad.lo.u32 %base, %warp, 512, %base;");
        t.line("mad.lo.u32 %at, %lane, 4, %base; sub.u32 %row, 31, %lane; mad.lo.u32 %row, %row, 16, %base;");
        for j in 0..4 {
            let word = t.word(Pool::Elements(Ty::Bits, Side::A), j);
            t.line(format!("st.shared.b32 [%at+{}], {word};", 128 * j));
        }
        t.line("bar.warp.sync 0xffffffff;");
        let results = if load {
            let results = t.results(false, count);
            t.line(format!("{instr} {{{}}}, [%row];", results.join(", ")));
            results
        } else {
            let given = t.fragment(Ty::Bits, Side::B, count);
            t.line(format!("{instr} [%row], {given}; bar.warp.sync 0xffffffff;"));
            let results = t.results(false, 4);
            for (j, word) in results.iter().enumerate() {
                t.line(format!("ld.shared.b32 {word}, [%at+{}];", 128 * j));
            }
            results
        };
        let outputs = t.store(false, &results);
        Kernel::make(target, instr.to_string(), t, outputs, 512 * THREADS as usize / 32)
    }

    /// As an entry of a module.
    pub fn text(&self, name: &str) -> String {
        let mut out = format!(".visible .entry {name}(");
        for p in PARAMETERS {
            let _ = write!(out, ".param .u64 .ptr .global .align 8 {p}, ");
        }
        out += ".param .u64 .ptr .global .align 8 out)";
        let _ = writeln!(out, " .reqntid {} {{", self.threads);
        out += "    .reg .b32 %class, %thread; .reg .b64 %off, %pool, %out, %wide_out;\n";
        out += "    mov.u32 %class, %ctaid.x; mov.u32 %thread, %tid.x;\n";
        let _ = writeln!(out, "    mul.wide.u32 %pool, %class, {};", POOL * 4);
        for p in PARAMETERS {
            let _ =
                writeln!(out, "    .reg .b64 %{p}, %wide_{p}; ld.param.u64 %{p}, [{p}]; add.u64 %{p}, %{p}, %pool;");
            let _ = writeln!(out, "    mad.wide.u32 %wide_{p}, %thread, 8, %{p}; mad.wide.u32 %{p}, %thread, 4, %{p};");
        }
        let _ = writeln!(out, "    mul.wide.u32 %off, %class, {};", self.outputs * self.threads as usize * 4);
        out += "    ld.param.u64 %out, [out]; add.u64 %out, %out, %off;\n";
        out += "    mad.wide.u32 %wide_out, %thread, 8, %out; mad.wide.u32 %out, %thread, 4, %out;\n";
        out + &self.body + "    ret;\n}\n"
    }

    /// The head of a module.
    pub fn head(&self) -> String {
        let target = self.target;
        format!(".version 9.4\n.target {target}\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n\n")
    }
}
