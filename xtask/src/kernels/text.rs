//! Prints a program as PTX.

use super::copies::{self, MERGES};
use super::matrices::{self, MMAS, Sum};
use super::program::{
    CONSTANTS, COUNTERS, Class, Collective, DEPTH, Function, GENERAL, Guard, Halves, LANE, LINEAR, Matrix, Meeting,
    Mode, OWN, Place, Program, RESULT, STEPS, Source, Space, Special, Stmt, TABLE, Target, UNIFORM, WARP, Width,
};
use super::rows::ROWS;
use super::run::initial;
use super::tensors::TENSORS;
use super::warpgroups;

/// A module with one kernel of this name.
pub fn module(program: &Program, name: &str) -> String {
    let mut out = Printer { text: String::new(), labels: 0, loops: Vec::new(), program, kernel: false };
    let target = match program.target {
        Target::Hopper => ".version 8.4\n.target sm_90a",
        Target::Blackwell => ".version 8.7\n.target sm_100a",
    };
    out.line(&format!("{target}\n.address_size 64"));
    let constants = CONSTANTS.map(|c| c.to_string()).join(", ");
    out.line(&format!(".const .align 4 .u32 bank[{}] = {{{constants}}};", CONSTANTS.len()));
    for (i, function) in program.functions.iter().enumerate() {
        out.function(i, function);
    }
    out.kernel = true;
    out.entry(name);
    out.prologue();
    out.block(&program.start);
    out.block(&program.body);
    out.epilogue();
    out.text
}

struct Printer<'p> {
    text: String,
    labels: usize,
    /// The targets of `continue` and `break` in the enclosing loops.
    loops: Vec<(usize, usize)>,
    program: &'p Program,
    /// Not a function.
    kernel: bool,
}

fn register(class: Class, r: u8) -> String {
    format!("{}{r}", class.prefix())
}

fn source(class: Class, s: Source) -> String {
    match (s, class) {
        (Source::Register(r), _) => register(class, r),
        (Source::Immediate(v), Class::F) => format!("0f{v:08X}"),
        (Source::Immediate(v), Class::E) => format!("0d{v:016X}"),
        (Source::Immediate(v), Class::H) => (v & 0xFFFF).to_string(),
        (Source::Immediate(v), _) => v.to_string(),
    }
}

fn guarded(g: Option<Guard>) -> String {
    g.map_or(String::new(), |g| format!("@{}%p{} ", if g.negated { "!" } else { "" }, g.register))
}

/// `$` stands for the operands in their order, `$2` for one of them.
fn filled(template: &str, operands: &[String]) -> String {
    let mut pieces = template.split('$');
    let mut out = pieces.next().unwrap_or("").to_owned();
    for (i, piece) in pieces.enumerate() {
        let digit = piece.chars().next().and_then(|c| c.to_digit(10));
        out += &operands[digit.map_or(i, |d| d as usize)];
        out += &piece[usize::from(digit.is_some())..];
    }
    out
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn registers(&mut self) {
        let numbers = COUNTERS + DEPTH;
        self.line(&format!(
            ".reg .pred %p<4>, %q; .reg .b32 %r<{numbers}>, %t<3>, %lim<{DEPTH}>; .reg .b64 %d<4>, %x;"
        ));
        self.line(".reg .f32 %f<4>; .reg .b16 %h<2>, %n; .reg .f64 %e<2>; .reg .b8 %y;");
    }

    fn function(&mut self, number: usize, function: &Function) {
        self.line(&format!(".func (.param .b32 value) helper{number}(.param .b32 a, .param .b32 b)\n{{"));
        self.registers();
        for r in 2..Class::R.all() {
            self.line(&format!("mov.u32 %r{r}, {};", initial(u32::from(r))));
        }
        self.line("mov.b16 %h0, 0; mov.b16 %h1, 0; mov.f64 %e0, 0d0000000000000000; mov.f64 %e1, 0d0000000000000000;");
        for i in 0..4 {
            self.line(&format!("mov.b64 %d{i}, 0; mov.f32 %f{i}, 0f00000000;"));
        }
        self.line("ld.param.b32 %r0, [a];\nld.param.b32 %r1, [b];");
        for i in 0..4 {
            self.line(&format!("and.b32 %t0, %r0, {}; setp.ne.u32 %p{i}, %t0, 0;", 1 << i));
        }
        self.block(&function.body);
        self.line("st.param.b32 [value], %r0;\nret;\n}");
    }

    fn entry(&mut self, name: &str) {
        let Program { block: [x, y], cluster, .. } = self.program;
        let mut shape = if self.program.required { format!(" .reqntid {x}, {y}, 1") } else { String::new() };
        if *cluster > 1 {
            shape += &format!(" .reqnctapercluster {cluster}, 1, 1");
        }
        self.line(&format!(".visible .entry {name}(.param .u64 .ptr .global .align 128 result,"));
        self.line(".param .u64 .ptr .global .align 16 table, .param .u64 .ptr .global .align 4 totals,");
        self.line(&format!(".param .u32 n, .param .align 64 .b8 map[128]){shape}\n{{"));
    }

    /// Registers with fixed uses, and memory other than the result.
    fn prologue(&mut self) {
        self.registers();
        let threads = self.program.threads();
        self.line(".reg .b64 %own, %table, %totals, %local;\n.reg .b32 %shared, %tile, %phase, %beat, %gate, %turn, %stream, %m<6>;");
        self.line(&format!(
            ".shared .align 16 .b8 mine[{}];\n.shared .align 4 .b8 tile[{}];",
            OWN * threads,
            4 * threads
        ));
        self.line(".shared .align 8 .b64 meeting;\n.shared .align 8 .b64 crowd;");
        self.line(&format!(".shared .align 8 .b64 gates[{threads}];\n.shared .align 8 .b64 flow;"));
        self.line(".shared .align 1024 .b8 board[512];");
        self.line(&format!(".local .align 16 .b8 stack[{OWN}];"));
        self.line("ld.param.u64 %own, [result];\nld.param.u64 %table, [table];\nld.param.u64 %totals, [totals];");
        let [n, cta, five] = [UNIFORM.start, UNIFORM.start + 1, UNIFORM.start + 2];
        self.line(&format!("ld.param.u32 %r{n}, [n];\nmov.u32 %r{cta}, %ctaid.x;\nmov.u32 %r{five}, 5;"));
        self.line("mov.u32 %t0, %tid.x;\nmov.u32 %t1, %tid.y;\nmov.u32 %t2, %ntid.x;");
        self.line(&format!("mad.lo.u32 %r{LINEAR}, %t1, %t2, %t0;\nshr.u32 %r{WARP}, %r{LINEAR}, 5;"));
        self.line(&format!("mov.u32 %r{LANE}, %laneid;\nmad.lo.u32 %t0, %r{cta}, {threads}, %r{LINEAR};"));
        self.line(&format!("mad.wide.u32 %own, %t0, {RESULT}, %own;\nmov.u32 %shared, mine;"));
        self.line(&format!("mad.lo.u32 %shared, %r{LINEAR}, {OWN}, %shared;\nmov.u32 %tile, tile;"));
        self.line(&format!("mad.lo.u32 %tile, %r{LINEAR}, 4, %tile;\nmov.u64 %local, stack;"));
        for offset in (0..OWN).step_by(8) {
            self.line(&format!("st.shared.u64 [%shared+{offset}], 0;\nst.local.u64 [%local+{offset}], 0;"));
        }
        self.line(&format!("mov.u32 %phase, 0;\nmov.u32 %beat, 0;\nsetp.eq.u32 %q, %r{LINEAR}, 0;"));
        self.line(&format!("mov.u32 %gate, gates;\nmad.lo.u32 %gate, %r{LINEAR}, 8, %gate;"));
        self.line("mbarrier.init.shared.b64 [%gate], 1;\nmov.u32 %turn, 0;\nmov.u32 %stream, 0;");
        for (barrier, count) in [("meeting", threads), ("crowd", threads * self.program.cluster), ("flow", 1)] {
            self.line(&format!("@%q mbarrier.init.shared.b64 [{barrier}], {count};"));
        }
        self.line("fence.mbarrier_init.release.cluster;");
        self.meet(Meeting::Cluster);
    }

    /// Stores all registers to the result.
    fn epilogue(&mut self) {
        for r in 0..UNIFORM.end {
            self.line(&format!("st.global.u32 [%own+{}], %r{r};", 4 * r));
        }
        for i in 0..4 {
            self.line(&format!(
                "st.global.u64 [%own+{}], %d{i};\nst.global.f32 [%own+{}], %f{i};",
                48 + 8 * i,
                80 + 4 * i
            ));
        }
        for i in 0..2 {
            self.line(&format!("setp.nan.f64 %q, %e{i}, %e{i};\n@%q mov.f64 %e{i}, 0d7FF8000000000000;"));
            self.line(&format!("st.global.f64 [%own+{}], %e{i};", 96 + 8 * i));
        }
        self.line("st.global.v2.b16 [%own+112], {%h0, %h1};\nmov.u32 %t0, 0;");
        for i in 0..4 {
            self.line(&format!("@%p{i} or.b32 %t0, %t0, {};", 1 << i));
        }
        self.line("st.global.u32 [%own+44], %t0;\nret;\n}");
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.stmt(s));
    }

    /// The address, and the code before it.
    fn place(&mut self, space: Space, at: Place, bytes: u32) -> String {
        let (base, first) = match space {
            Space::Global => ("%own", RESULT - OWN),
            Space::Shared => ("%shared", 0),
            Space::Local => ("%local", 0),
        };
        match at {
            Place::Fixed(offset) => format!("[{base}+{}]", first + offset),
            Place::Computed(r) => {
                self.line(&format!("and.b32 %t0, %r{r}, {};", OWN - bytes));
                if space == Space::Shared {
                    self.line(&format!("add.u32 %t0, {base}, %t0;"));
                    return "[%t0]".to_owned();
                }
                self.line(&format!("cvt.u64.u32 %x, %t0;\nadd.u64 %x, {base}, %x;"));
                format!("[%x+{first}]")
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Row { row, to, from, guard } => {
                let row = &ROWS[*row];
                let mut operands = vec![register(row.classes[0], *to)];
                operands.extend(from.iter().zip(&row.classes[1..]).map(|(s, c)| source(*c, *s)));
                for one in filled(row.text, &operands).split_inclusive(';') {
                    self.line(&format!("{}{}", guarded(*guard), one.trim_start()));
                }
            }
            Stmt::Special { to, what } => {
                let name = match what {
                    Special::TidX => "tid.x",
                    Special::TidY => "tid.y",
                    Special::NtidX => "ntid.x",
                    Special::CtaidX => "ctaid.x",
                    Special::NctaidX => "nctaid.x",
                    Special::LaneId => "laneid",
                };
                self.line(&format!("mov.u32 %r{to}, %{name};"));
            }
            Stmt::Load { space, width, to, at, guard } => {
                let address = self.place(*space, *at, width.bytes());
                let to = register(width.class(), *to);
                self.line(&format!("{}ld.{}.{} {to}, {address};", guarded(*guard), name(*space), width.name()));
            }
            Stmt::Store { space, width, from, at, guard } => {
                let address = self.place(*space, *at, width.bytes());
                let from = register(width.class(), *from);
                let width = match width {
                    Width::S8 => "u8",
                    Width::S16 => "u16",
                    _ => width.name(),
                };
                self.line(&format!("{}st.{}.{width} {address}, {from};", guarded(*guard), name(*space)));
            }
            Stmt::Atom { space, exchange, to, from, at, guard } => {
                let address = self.place(*space, *at, 4);
                let what = if *exchange { "exch.b32" } else { "add.u32" };
                self.line(&format!("{}atom.{}.{what} %r{to}, {address}, %r{from};", guarded(*guard), name(*space)));
            }
            Stmt::Vector { space, store, registers, at, guard } => {
                let address = self.place(*space, *at, 4 * registers.len() as u32);
                let list = registers.iter().map(|r| format!("%r{r}")).collect::<Vec<_>>().join(", ");
                let (guard, space, n) = (guarded(*guard), name(*space), registers.len());
                self.line(&if *store {
                    format!("{guard}st.{space}.v{n}.b32 {address}, {{{list}}};")
                } else {
                    format!("{guard}ld.{space}.v{n}.b32 {{{list}}}, {address};")
                });
            }
            Stmt::Gather { constant, to, index, guard } => self.gather(*constant, *to, *index, *guard),
            Stmt::Total { which, from, guard } => {
                self.line(&format!("{}red.global.add.u32 [%totals+{}], %r{from};", guarded(*guard), 4 * which));
            }
            Stmt::Together { what, to, from, lanes } => self.together(*what, *to, *from, *lanes),
            Stmt::Matrix(matrix) => self.matrix(matrix),
            Stmt::Warpgroup { d, a, mask, b, adds } => self.warpgroup([*d, *a], *mask, *b, *adds),
            Stmt::Tensor { to, index, at } => self.tensor(*to, *index, at),
            Stmt::Copies { what, during } => {
                self.line(&copies::start(what, |copy| guarded(copy.guard)));
                self.block(during);
                let label = self.label();
                self.line(&copies::finish(what, label));
            }
            Stmt::Send { to, from, shift, merge } => self.send(*to, *from, *shift, *merge),
            Stmt::Deliver { merge } => self.deliver(*merge),
            Stmt::Multicast { to, index, first } => self.multicast(*to, *index, *first),
            Stmt::Exchange { to, from, shift, meeting } => self.exchange(*to, *from, *shift, *meeting),
            Stmt::Count { to, from } => self.line(&format!("bar.red.popc.u32 %r{to}, 0, %p{from};")),
            Stmt::Call { function, to, from: [a, b] } => {
                self.line("{ .param .b32 pa; .param .b32 pb; .param .b32 pr;");
                self.line(&format!("st.param.b32 [pa], %r{a}; st.param.b32 [pb], %r{b};"));
                self.line(&format!("call (pr), helper{function}, (pa, pb);\nld.param.b32 %r{to}, [pr]; }}"));
            }
            Stmt::If { .. } => self.branch(stmt),
            Stmt::Loop { depth, trips, bottom, body } => self.turns(*depth, *trips, *bottom, body),
            Stmt::Break { guard, further } => {
                let (_, end) = self.loops[self.loops.len() - 1 - *further as usize];
                self.line(&format!("{}bra L{end};", guarded(Some(*guard))));
            }
            Stmt::Continue { guard } => {
                let (next, _) = self.loops[self.loops.len() - 1];
                self.line(&format!("{}bra L{next};", guarded(Some(*guard))));
            }
            Stmt::Switch { index, arms } => self.switch(*index, arms),
            Stmt::Tangle { depth, select, arms } => self.tangle(*depth, *select, arms),
            Stmt::Leave { guard, from } => {
                let stay = self.label();
                let other = Guard { negated: !guard.negated, ..*guard };
                self.line(&format!("{}bra L{stay};", guarded(Some(other))));
                let (to, end) = if self.kernel { ("global.u32 [%own]", "exit") } else { ("param.b32 [value]", "ret") };
                self.line(&format!("st.{to}, %r{from};\n{end};\nL{stay}:"));
            }
        }
    }

    fn gather(&mut self, constant: bool, to: u8, index: u8, guard: Option<Guard>) {
        let count = if constant { CONSTANTS.len() } else { TABLE };
        self.line(&format!("and.b32 %t0, %r{index}, {};", count - 1));
        if constant {
            self.line("mov.u64 %x, bank;\nmad.wide.u32 %x, %t0, 4, %x;");
        } else {
            self.line("mad.wide.u32 %x, %t0, 4, %table;");
        }
        let space = if constant { "const" } else { "global" };
        self.line(&format!("{}ld.{space}.u32 %r{to}, [%x];", guarded(guard)));
    }

    fn turns(&mut self, depth: u8, trips: Source, bottom: bool, body: &[Stmt]) {
        let (head, next, end) = (self.label(), self.label(), self.label());
        let counter = COUNTERS + depth;
        self.line(&format!("mov.u32 %r{counter}, 0;"));
        match trips {
            Source::Register(r) => self.line(&format!("and.b32 %lim{depth}, %r{r}, 7;")),
            Source::Immediate(n) => self.line(&format!("mov.u32 %lim{depth}, {n};")),
        }
        self.line(&format!("L{head}:"));
        if !bottom {
            self.line(&format!("setp.ge.u32 %q, %r{counter}, %lim{depth};\n@%q bra L{end};"));
        }
        self.loops.push((next, end));
        self.block(body);
        self.loops.pop();
        self.line(&format!("L{next}:\nadd.u32 %r{counter}, %r{counter}, 1;"));
        if bottom {
            self.line(&format!("setp.lt.u32 %q, %r{counter}, %lim{depth};\n@%q bra L{head};"));
        } else {
            self.line(&format!("bra L{head};"));
        }
        self.line(&format!("L{end}:"));
    }

    fn switch(&mut self, index: u8, arms: &[Vec<Stmt>]) {
        let labels: Vec<usize> = arms.iter().map(|_| self.label()).collect();
        let (list, end) = (self.label(), self.label());
        let names = labels.iter().map(|l| format!("L{l}")).collect::<Vec<_>>().join(", ");
        self.line(&format!("min.u32 %t0, %r{index}, {};", arms.len() - 1));
        self.line(&format!("L{list}: .branchtargets {names};\nbrx.idx %t0, L{list};"));
        for (arm, label) in arms.iter().zip(labels) {
            self.line(&format!("L{label}:"));
            self.block(arm);
            self.line(&format!("bra L{end};"));
        }
        self.line(&format!("L{end}:"));
    }

    fn tangle(&mut self, depth: u8, select: u8, arms: &[Vec<Stmt>; 3]) {
        let counter = COUNTERS + depth;
        let labels = [self.label(), self.label(), self.label()];
        let end = self.label();
        self.line(&format!("mov.u32 %r{counter}, 0;\nand.b32 %t0, %r{select}, 1;\nsetp.ne.u32 %q, %t0, 0;"));
        self.line(&format!("@%q bra L{};", labels[1]));
        for (i, arm) in arms.iter().enumerate() {
            self.line(&format!("L{}:", labels[i]));
            self.block(arm);
            self.line(&format!("add.u32 %r{counter}, %r{counter}, 1;\nsetp.ge.u32 %q, %r{counter}, {STEPS};"));
            self.line(&format!("@%q bra L{end};\nshr.u32 %t0, %r{select}, %r{counter};\nand.b32 %t0, %t0, 1;"));
            self.line(&format!("setp.ne.u32 %q, %t0, 0;\n@%q bra L{};", labels[(i + 1) % 3]));
            self.line(&format!("bra L{};", labels[(i + 2) % 3]));
        }
        self.line(&format!("L{end}:"));
    }

    fn exchange(&mut self, to: u8, from: u8, shift: u32, meeting: Meeting) {
        self.line(&format!("st.shared.u32 [%tile], %r{from};"));
        self.meet(meeting);
        self.line("mov.u32 %t1, %ntid.x;\nmov.u32 %t2, %ntid.y;\nmul.lo.u32 %t1, %t1, %t2;");
        match meeting {
            Meeting::Warp => {
                self.line(&format!("add.u32 %t0, %r{LINEAR}, {shift};\nand.b32 %t0, %t0, 31;"));
                self.line(&format!("and.b32 %t1, %r{LINEAR}, -32;\nadd.u32 %t0, %t0, %t1;"));
            }
            Meeting::Cluster | Meeting::Remote => {
                self.line("mov.u32 %t2, %cluster_ctarank;");
                self.line(&format!("mad.lo.u32 %t0, %t2, %t1, %r{LINEAR};\nadd.u32 %t0, %t0, {shift};"));
                self.line("mov.u32 %t2, %cluster_nctarank;\nmul.lo.u32 %t2, %t2, %t1;\nrem.u32 %t0, %t0, %t2;");
                self.line("div.u32 %t2, %t0, %t1;\nrem.u32 %t0, %t0, %t1;");
            }
            _ => self.line(&format!("add.u32 %t0, %r{LINEAR}, {shift};\nrem.u32 %t0, %t0, %t1;")),
        }
        self.line("mov.u32 %t1, tile;\nmad.lo.u32 %t0, %t0, 4, %t1;");
        if matches!(meeting, Meeting::Cluster | Meeting::Remote) {
            self.line("mapa.shared::cluster.u32 %t0, %t0, %t2;");
            self.line(&format!("ld.shared::cluster.u32 %r{to}, [%t0];"));
        } else {
            self.line(&format!("ld.shared.u32 %r{to}, [%t0];"));
        }
        self.meet(meeting);
    }

    fn send(&mut self, to: u8, from: u8, shift: u32, merge: Option<usize>) {
        let threads = self.program.threads();
        let all = threads * self.program.cluster;
        self.line(&format!("st.shared.u32 [%tile], %r{from};"));
        self.meet(Meeting::Cluster);
        self.line(&format!("mov.u32 %t2, %cluster_ctarank;\nmad.lo.u32 %t0, %t2, {threads}, %r{LINEAR};"));
        self.line(&format!("add.u32 %t0, %t0, {shift};\nrem.u32 %t0, %t0, {all};"));
        self.line(&format!("div.u32 %t2, %t0, {threads};\nrem.u32 %t0, %t0, {threads};"));
        self.line("mov.u32 %t1, tile;\nmad.lo.u32 %t0, %t0, 4, %t1;\nmov.u32 %t1, flow;");
        self.line("mapa.shared::cluster.u32 %t0, %t0, %t2;\nmapa.shared::cluster.u32 %t1, %t1, %t2;");
        let completed = "shared::cluster.mbarrier::complete_tx::bytes";
        let opcode = match merge {
            None => format!("st.async.weak.{completed}.u32"),
            Some(merge) => format!("red.async.relaxed.cluster.{completed}.{}", MERGES[merge].name),
        };
        self.line(&format!("{opcode} [%t0], %r{from}, [%t1];\nsetp.eq.u32 %q, %r{LINEAR}, 0;"));
        self.line(&format!("@%q mbarrier.arrive.expect_tx.shared.b64 %x, [flow], {};", 4 * threads));
        self.flow();
        self.line(&format!("ld.shared.u32 %r{to}, [%tile];"));
        self.meet(Meeting::Cluster);
    }

    fn deliver(&mut self, merge: Option<usize>) {
        self.meet(Meeting::Cluster);
        let (half, cluster) = (OWN / 2, self.program.cluster);
        self.line(&format!("fence.proxy.async;\nmbarrier.arrive.expect_tx.shared.b64 %x, [%gate], {half};"));
        self.line(&format!("mov.u32 %t2, %cluster_ctarank;\nadd.u32 %t2, %t2, 1;\nrem.u32 %t2, %t2, {cluster};"));
        self.line(&format!("add.u32 %t0, %shared, {half};\nmapa.shared::cluster.u32 %t0, %t0, %t2;"));
        self.line("mapa.shared::cluster.u32 %t1, %gate, %t2;");
        let what = "shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
        let opcode = match merge {
            None => format!("cp.async.bulk.{what}"),
            Some(merge) => format!("cp.reduce.async.bulk.{what}.{}", MERGES[merge].name),
        };
        self.line(&format!("{opcode} [%t0], [%shared], {half}, [%t1];"));
        let label = self.label();
        self.line(&copies::wait(label, ""));
        self.meet(Meeting::Cluster);
    }

    fn multicast(&mut self, to: u8, index: u8, first: u32) {
        self.meet(Meeting::Cluster);
        self.line(&format!("setp.eq.u32 %q, %r{LINEAR}, 0;"));
        self.line("@%q mbarrier.arrive.expect_tx.shared.b64 %x, [flow], 64;");
        self.line("mov.u32 %t0, %cluster_ctarank;\nsetp.eq.and.u32 %q, %t0, 0, %q;");
        let (at, mask) = (16 * first, (1 << self.program.cluster) - 1);
        let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
        self.line(&format!("mov.b16 %n, {mask};"));
        self.line(&format!("@%q {copy}.multicast::cluster [board], [%table+{at}], 64, [flow], %n;"));
        self.flow();
        self.line(&format!("and.b32 %t0, %r{index}, 15;\nmov.u32 %t1, board;\nmad.lo.u32 %t0, %t0, 4, %t1;"));
        self.line(&format!("ld.shared.u32 %r{to}, [%t0];"));
        self.meet(Meeting::Cluster);
    }

    fn tensor(&mut self, to: u8, index: u8, at: &[i32]) {
        let tensor = &TENSORS[self.program.tensor];
        self.meet(Meeting::Barrier);
        self.line("mov.b64 %x, map;\ncvta.param.u64 %x, %x;");
        self.line(&format!("setp.eq.u32 %q, %r{LINEAR}, 0;\n@%q {}", tensor.opcode(at)));
        self.line(&format!("@%q mbarrier.arrive.expect_tx.shared.b64 %x, [flow], {};", 4 * tensor.words()));
        self.flow();
        self.line(&format!("rem.u32 %t0, %r{index}, {};\nmov.u32 %t1, board;", tensor.words()));
        self.line(&format!("mad.lo.u32 %t0, %t0, 4, %t1;\nld.shared.u32 %r{to}, [%t0];"));
        self.meet(Meeting::Barrier);
    }

    fn warpgroup(&mut self, [d, a]: [u8; 2], mask: u32, b: Halves, adds: bool) {
        // B is what other threads of the warpgroup have stored
        self.line("fence.proxy.async;");
        self.meet(Meeting::Barrier);
        for i in 0..4 {
            self.line(&format!("and.b32 %m{i}, %r{}, {mask};", (a + i) % GENERAL));
        }
        self.line(&format!("and.b32 %t0, %r{LINEAR}, -128;\nmov.u32 %t1, mine;\nmad.lo.u32 %t0, %t0, {OWN}, %t1;"));
        self.line(&format!(
            "add.u32 %t0, %t0, {};\nand.b32 %t0, %t0, 0x3FFFF;\nshr.u32 %t0, %t0, 4;\ncvt.u64.u32 %x, %t0;",
            16 * b.first
        ));
        self.line(&format!("or.b64 %x, %x, {};\nsetp.eq.u32 %q, {}, 1;", b.descriptor(), u32::from(adds)));
        let list = (0..4).map(|i| format!("%f{}", (d + i) % 4)).collect::<Vec<_>>().join(", ");
        self.line("wgmma.fence.sync.aligned;");
        self.line(&format!("{} {{{list}}}, {{%m0, %m1, %m2, %m3}}, %x, %q, 1, 1, 0;", warpgroups::OPCODE));
        self.line("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;");
        self.meet(Meeting::Barrier);
    }

    /// Waits for what other threads send to the CTA.
    fn flow(&mut self) {
        let again = self.label();
        let wait = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [flow], %stream;";
        self.line(&format!("L{again}:\n{wait}\n@!%q bra L{again};\nxor.b32 %stream, %stream, 1;"));
    }

    fn matrix(&mut self, matrix: &Matrix) {
        let opcode = matrices::opcode(matrix);
        match matrix {
            Matrix::Mma { which, d, a, b, c, mask } => {
                let form = &MMAS[*which];
                let (a_count, b_count, c_count) = form.registers();
                let sums = matrices::class(form.sum);
                let list = |class: Class, first: u8, count: usize| {
                    let one = |i: usize| register(class, (first + i as u8) % class.count());
                    format!("{{{}}}", (0..count).map(one).collect::<Vec<_>>().join(", "))
                };
                let (a, b) = if form.sum == Sum::F64 {
                    (list(Class::E, *a, a_count), list(Class::E, *b, b_count))
                } else {
                    let operands = (0..a_count as u8).map(|i| a + i).chain((0..b_count as u8).map(|i| b + i));
                    for (i, from) in operands.enumerate() {
                        self.line(&format!("and.b32 %m{i}, %r{}, {mask};", from % GENERAL));
                    }
                    let list = |range: std::ops::Range<usize>| {
                        format!("{{{}}}", range.map(|i| format!("%m{i}")).collect::<Vec<_>>().join(", "))
                    };
                    (list(0..a_count), list(a_count..a_count + b_count))
                };
                let (d, c) = (list(sums, *d, c_count), list(sums, *c, c_count));
                self.line(&format!("mma.sync.aligned.{} {d}, {a}, {b}, {c};", form.text));
            }
            Matrix::Move { to, from } => self.line(&format!("{opcode} %r{to}, %r{from};")),
            Matrix::Load { registers, step, shift, .. } | Matrix::Store { registers, step, shift, .. } => {
                self.line("bar.warp.sync 0xffffffff;");
                self.line(&format!("mad.lo.u32 %t0, %r{LANE}, {step}, {shift};\nand.b32 %t0, %t0, 63;"));
                self.line(&format!("shl.b32 %t0, %t0, 4;\nand.b32 %t1, %r{LINEAR}, -32;\nmov.u32 %t2, mine;"));
                self.line(&format!("mad.lo.u32 %t1, %t1, {OWN}, %t2;\nadd.u32 %t0, %t0, %t1;"));
                let list = registers.iter().map(|r| format!("%r{r}")).collect::<Vec<_>>().join(", ");
                if matches!(matrix, Matrix::Load { .. }) {
                    self.line(&format!("{opcode} {{{list}}}, [%t0];"));
                } else {
                    self.line(&format!("{opcode} [%t0], {{{list}}};"));
                }
                self.line("bar.warp.sync 0xffffffff;");
            }
        }
    }

    fn meet(&mut self, meeting: Meeting) {
        let again = self.label();
        let arrive = "mbarrier.arrive.shared.b64 %x, [meeting];";
        let wait = match meeting {
            Meeting::Parity => "mbarrier.try_wait.parity.shared.b64 %q, [meeting], %phase;",
            _ => "mbarrier.test_wait.shared.b64 %q, [meeting], %x;",
        };
        self.line(&match meeting {
            Meeting::Barrier => "bar.sync 0;".to_owned(),
            Meeting::Named => format!("barrier.sync 3, {};", self.program.threads().next_multiple_of(32)),
            Meeting::Warp => "bar.warp.sync 0xffffffff;".to_owned(),
            Meeting::Cluster => "barrier.cluster.arrive;\nbarrier.cluster.wait;".to_owned(),
            Meeting::Remote => {
                let mut text = "mov.u32 %t0, crowd;\n".to_owned();
                for rank in 0..self.program.cluster {
                    text += &format!("mapa.shared::cluster.u32 %t1, %t0, {rank};\n");
                    text += "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%t1];\n";
                }
                let wait = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [crowd], %beat;";
                format!("{text}L{again}:\n{wait}\n@!%q bra L{again};\nxor.b32 %beat, %beat, 1;")
            }
            Meeting::Parity | Meeting::State => {
                format!("{arrive}\nL{again}:\n{wait}\n@!%q bra L{again};\nxor.b32 %phase, %phase, 1;")
            }
        });
    }

    fn branch(&mut self, stmt: &Stmt) {
        let Stmt::If { guard, then, otherwise, swapped, uniform } = stmt else { return };
        let bra = if *uniform { "bra.uni" } else { "bra" };
        let end = self.label();
        let (first, second, guard) = if *swapped {
            (otherwise, then, *guard)
        } else {
            (then, otherwise, Guard { negated: !guard.negated, ..*guard })
        };
        let to = if second.is_empty() { end } else { self.label() };
        self.line(&format!("{}{bra} L{to};", guarded(Some(guard))));
        self.block(first);
        if !second.is_empty() {
            self.line(&format!("bra L{end};\nL{to}:"));
            self.block(second);
        }
        self.line(&format!("L{end}:"));
    }

    fn together(&mut self, what: Collective, to: u8, from: u8, lanes: u32) {
        let mask = format!("{:#x}", u32::MAX >> (32 - lanes));
        let text = match what {
            Collective::Shuffle(mode, b, c, p) => {
                let mode = match mode {
                    Mode::Idx => "idx",
                    Mode::Up => "up",
                    Mode::Down => "down",
                    Mode::Bfly => "bfly",
                };
                format!("shfl.sync.{mode}.b32 %r{to}|%p{p}, %r{from}, {}, {c}, {mask};", source(Class::R, b))
            }
            Collective::Ballot(p) => format!("vote.sync.ballot.b32 %r{to}, %p{p}, {mask};"),
            Collective::Any(p) => format!("vote.sync.any.pred %p{to}, %p{p}, {mask};"),
            Collective::All(p) => format!("vote.sync.all.pred %p{to}, %p{p}, {mask};"),
            Collective::Match => format!("match.any.sync.b32 %r{to}, %r{from}, {mask};"),
            Collective::Add => format!("redux.sync.add.u32 %r{to}, %r{from}, {mask};"),
            Collective::Min => format!("redux.sync.min.s32 %r{to}, %r{from}, {mask};"),
            Collective::Xor => format!("redux.sync.xor.b32 %r{to}, %r{from}, {mask};"),
        };
        self.line(&text);
    }
}

fn name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
    }
}
