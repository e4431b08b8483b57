//! Kernels to compile: one instruction repeated, several of a family, and kernels as compilers write them.

use std::collections::BTreeMap;
use std::fmt::Write;

use ptx_dsl_frontend::isa::Instr;
use ptx_dsl_frontend::lex::lex;

use ptx_dsl_oracles::Random;
use ptx_dsl_oracles::ptxas_verdicts::place;
use ptx_dsl_oracles::ptxas_verdicts::spell::{self, Spelling};

/// The code around the statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// In sequence, on values that differ from lane to lane.
    Lanes,
    /// Statements in sequence, on affine and uniform values.
    Rows,
    /// Each under a divergent predicate.
    Guarded,
    /// Statements in a loop.
    Loop,
    /// Ten each after a divergent branch.
    Divergent,
}

impl Shape {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Lanes => "lanes",
            Shape::Rows => "rows",
            Shape::Guarded => "guarded",
            Shape::Loop => "loop",
            Shape::Divergent => "divergent",
        }
    }
}

/// All shapes.
pub const SHAPES: [Shape; 5] = [Shape::Lanes, Shape::Rows, Shape::Guarded, Shape::Loop, Shape::Divergent];

/// The declarations of every kernel; batches of the oracle have the same.
const HEAD: &str = ".global .align 128 .b8 gv[1024];
.shared .align 128 .b8 sv[1024];
.func f0() { ret; }
.func f1(.reg .b32 a) { ret; }
.func (.reg .b32 r) f2(.reg .b32 a) { mov.b32 r, a; ret; }
";

/// Register classes: letter, type, bytes. Predicates come from a comparison.
const CLASSES: [(char, &str, usize); 8] = [
    ('c', "b8", 1),
    ('h', "b16", 2),
    ('r', "b32", 4),
    ('d', "b64", 8),
    ('f', "f32", 4),
    ('e', "f64", 8),
    ('q', "b128", 16),
    ('p', "pred", 4),
];

/// Up to so many spellings of an entry that the host runs.
pub fn spellings(family: &'static str, entry: &'static Instr, most: usize) -> Vec<Spelling> {
    let mut out = Vec::new();
    if entry.host.runs() {
        let mut random = Random::new(1);
        spell::spellings(family, entry, 40, &mut random, &mut out);
        // First comes the form without optional parts.
        out.retain(|s| accepted(&module(&[s.statement.to_string()], Shape::Lanes, home(entry))).is_empty());
        let step = out.len().div_ceil(most.max(1)).max(1);
        out = out.into_iter().step_by(step).collect();
    }
    out
}

/// The first target that has the instruction.
pub fn home(entry: &Instr) -> &'static str {
    place::homes(entry).first().copied().unwrap_or("sm_100a")
}

/// Writes `count` statements, cycling through these, each on other registers than the one before.
pub fn repeated(of: &[String], count: usize) -> Vec<String> {
    let mut sizes = BTreeMap::new();
    for text in of {
        registers(text, &mut |letter, number| {
            let size = sizes.entry(letter).or_insert(16);
            *size = number.max(*size);
        });
    }
    (0..count).map(|i| renumbered(&of[i % of.len()], i * 5, &sizes)).collect()
}

/// Calls `each` with every register of a text: `%r12` is `('r', 12)`.
fn registers(text: &str, each: &mut impl FnMut(char, usize)) {
    for piece in text.split('%').skip(1) {
        if let Some((letter, number, _)) = register(piece) {
            each(letter, number);
        }
    }
}

fn register(piece: &str) -> Option<(char, usize, &str)> {
    let letter = piece.chars().next()?;
    let rest = &piece[letter.len_utf8()..];
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let known = CLASSES.iter().any(|c| c.0 == letter) && digits > 0;
    if known { Some((letter, rest[..digits].parse().ok()?, &rest[digits..])) } else { None }
}

fn renumbered(text: &str, by: usize, sizes: &BTreeMap<char, usize>) -> String {
    let mut pieces = text.split('%');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match register(piece) {
            Some((letter, number, rest)) => {
                let _ = write!(out, "%{letter}{}{rest}", (number + by) % (sizes[&letter] + 1));
            }
            None => out += &format!("%{piece}"),
        }
    }
    out
}

/// A module with one kernel of these statements.
pub fn module(statements: &[String], shape: Shape, target: &str) -> String {
    let mut used: BTreeMap<(char, usize), ()> = BTreeMap::new();
    for text in statements {
        registers(text, &mut |letter, number| {
            used.insert((letter, number), ());
        });
    }
    let mut text = format!(".version 9.5\n.target {target}\n.address_size 64\n{HEAD}");
    text += ".visible .entry made(.param .u64 .ptr .global .align 16 data, .param .u32 n)\n{\n";
    for (letter, ty, _) in CLASSES {
        if let Some(most) = used.keys().filter(|k| k.0 == letter).map(|k| k.1).max() {
            let _ = writeln!(text, ".reg .{ty} %{letter}<{}>;", most + 1);
        }
    }
    text += ".reg .b32 %Zt, %Zn, %Zi, %Zv; .reg .b64 %Zdata, %Zx; .reg .pred %Zp, %Zg;
ld.param.u64 %Zdata, [data]; ld.param.u32 %Zn, [n]; mov.u32 %Zt, %tid.x; mov.u32 %Zi, 0;
mad.wide.u32 %Zx, %Zt, 16, %Zdata; ld.global.u32 %Zv, [%Zx]; setp.gt.u32 %Zg, %Zv, %Zn;\n";
    for (i, (letter, number)) in used.keys().enumerate() {
        first(&mut text, *letter, *number, i, shape);
    }
    if shape == Shape::Loop {
        text += "AGAIN:\n";
    }
    for (i, statement) in statements.iter().enumerate() {
        if shape == Shape::Divergent && i % 10 == 0 {
            let _ = writeln!(text, "S{}: setp.lt.u32 %Zp, %Zv, {i}; @%Zp bra S{};", i / 10, i / 10 + 1);
        }
        let guard = if shape == Shape::Guarded && !statement.starts_with('@') { "@%Zg " } else { "" };
        let _ = writeln!(text, "{guard}{statement}");
    }
    if shape == Shape::Divergent {
        let _ = writeln!(text, "S{}:", statements.len().div_ceil(10));
    }
    if shape == Shape::Loop {
        text += "add.u32 %Zi, %Zi, 1; setp.lt.u32 %Zp, %Zi, %Zn; @%Zp bra AGAIN;\n";
    }
    text += "LAST:\n";
    // All of it is used.
    for (i, (letter, number)) in used.keys().enumerate() {
        let (_, ty, _) = class(*letter);
        let _ = match letter {
            'p' => writeln!(text, "selp.u32 %Zv, 1, 0, %p{number}; st.global.u32 [%Zx+{}], %Zv;", i * 16),
            _ => writeln!(text, "st.global.{ty} [%Zx+{}], %{letter}{number};", i * 16),
        };
    }
    text + "ret;\n}\n"
}

fn class(letter: char) -> (char, &'static str, usize) {
    CLASSES.into_iter().find(|c| c.0 == letter).unwrap_or(CLASSES[2])
}

/// Gives a register its first value.
fn first(text: &mut String, letter: char, number: usize, i: usize, shape: Shape) {
    let base = if shape == Shape::Rows { "%Zdata" } else { "%Zx" };
    let (_, ty, _) = class(letter);
    let at = i * 16;
    let _ = match (shape, letter) {
        (_, 'p') => writeln!(text, "ld.global.u32 %Zv, [{base}+{at}]; setp.ne.u32 %p{number}, %Zv, 0;"),
        (Shape::Rows, 'r') if number.is_multiple_of(2) => writeln!(text, "add.u32 %r{number}, %Zt, {number};"),
        (Shape::Rows, 'd') if !number.is_multiple_of(4) => writeln!(text, "mad.wide.u32 %d{number}, %Zt, 16, %Zdata;"),
        _ => writeln!(text, "ld.global.{ty} %{letter}{number}, [{base}+{at}];"),
    };
}

/// The errors of the front end in a module: the source lines with an error, or a message without a line.
pub fn accepted(text: &str) -> Vec<String> {
    let (lexed, mut found) = lex(text);
    found.extend(ptx_dsl_frontend::compile(&lexed.tokens).diagnostics);
    let broken = found
        .iter()
        .filter(|d| d.severity == ptx_dsl_frontend::diag::Severity::Error && !(600..700).contains(&d.code.number));
    let line = |at: usize| {
        let (start, end) =
            (text[..at].rfind('\n').map_or(0, |i| i + 1), text[at..].find('\n').map_or(text.len(), |i| at + i));
        text[start..end].to_owned()
    };
    broken.map(|d| line(lexed.bytes(d.span).start)).collect()
}

/// A kernel of `n` instructions like those that compilers write: half of the arithmetic is uniform, one instruction in ten is a
/// load or store, one in ten a divergent branch, one in fifty a barrier. Parameters and loads initialise all registers, so that
/// neither findings nor constants shorten the work.
pub fn typical(n: usize) -> String {
    let mut body = String::new();
    let mut line = |s: &str| {
        let _ = writeln!(body, "{s}");
    };
    for i in 0..7 {
        line(&format!("ld.global.u32 %v{i}, [%x+{}];", i * 4));
        line(&format!("ld.global.f32 %f{i}, [%x+{}];", 64 + i * 4));
        line(&format!("add.u32 %u{i}, %n, {i};"));
    }
    for i in 0..n {
        let (a, b, c) = (i % 7, (i + 3) % 7, (i + 5) % 7);
        match i % 10 {
            0 => line(&format!("ld.global.u32 %v{a}, [%x+{}];", i % 64 * 4)),
            1 => line(&format!("st.global.u32 [%x+{}], %v{b};", i % 64 * 4)),
            2 => line(&format!("setp.lt.u32 %p, %v{a}, %v{b};")),
            3 => line(&format!("@%p bra skip{i};")),
            4 => line(&format!("mad.lo.u32 %v{a}, %v{b}, %v{c}, %v{a};")),
            5 => line(&format!("fma.rn.f32 %f{a}, %f{b}, %f{c}, %f{a};")),
            6 => {
                line(&format!("add.u32 %v{a}, %v{a}, {i};"));
                line(&format!("skip{}:", i - 3));
            }
            7 => line(&format!("shl.b32 %u{a}, %u{b}, 1;")),
            8 => line(&format!("add.u32 %u{a}, %u{b}, %u{c};")),
            _ if i % 50 == 49 => line("bar.sync 0;"),
            _ => line(&format!("xor.b32 %v{a}, %v{a}, %u{b};")),
        }
    }
    if n % 10 > 3 && n % 10 < 7 {
        line(&format!("skip{}:", n / 10 * 10 + 3));
    }
    // everything is used
    for i in 0..7 {
        line(&format!("st.global.f32 [%x+{}], %f{i};", 64 + i * 4));
        line(&format!("st.global.u32 [%x+{}], %v{i};", 128 + i * 4));
    }
    format!(
        ".version 9.5\n.target sm_80\n.address_size 64
.visible .entry made(.param .u64 .ptr .global .align 16 data, .param .u32 n) .reqntid 128
{{
.reg .pred %p;
.reg .b32 %v<7>, %u<7>, %t, %n;
.reg .f32 %f<7>;
.reg .b64 %x, %o;
ld.param.u64 %x, [data];
ld.param.u32 %n, [n];
mov.u32 %t, %tid.x;
mul.wide.u32 %o, %t, 4;
add.u64 %x, %x, %o;
{body}ret;
}}
"
    )
}
