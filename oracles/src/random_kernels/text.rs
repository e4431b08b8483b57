//! Prints a program as PTX.

mod between;
mod control;

use super::copies;
use super::program::{
    CONSTANTS, COUNTERS, Class, DEPTH, Function, Guard, LANE, LINEAR, Meeting, OWN, Place, Program, RESULT, Source,
    Space, Special, Stmt, TABLE, Target, UNIFORM, WARP, Width,
};
use super::rows::ROWS;
use super::run::initial;

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
    let before = std::mem::take(&mut out.text);
    out.prologue();
    out.block(&program.start);
    out.block(&program.body);
    out.epilogue();
    let body = std::mem::replace(&mut out.text, before);
    // an illegal instruction on an H200 in a launch without clusters
    let needs_cluster = ["st.async", "red.async"].iter().any(|opcode| body.contains(opcode));
    out.entry(name, needs_cluster);
    out.text + &body
}

struct Printer<'p> {
    text: String,
    labels: usize,
    /// The targets of `continue` and `break` in the enclosing loops.
    loops: Vec<(usize, usize)>,
    program: &'p Program,
    /// Is it a kernel, and not a function?
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

    fn entry(&mut self, name: &str, needs_cluster: bool) {
        let Program { block: [x, y], cluster, .. } = self.program;
        let mut shape = if self.program.required { format!(" .reqntid {x}, {y}, 1") } else { String::new() };
        if *cluster > 1 || needs_cluster {
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
}

fn name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
    }
}
