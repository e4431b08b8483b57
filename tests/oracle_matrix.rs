//! The table against ptxas for matrix instructions, bulk copies, multimem and fabric operations: every form with each of its
//! qualifiers once. What the front end accepts for a target, ptxas accepts too.

use std::collections::HashSet;
use std::fmt::Write;

use crate::ptxas;
use ptx_dsl_frontend::diag::Severity;
use ptx_dsl_frontend::isa::syntax::{Form, OpForm, Shape, forms};
use ptx_dsl_frontend::isa::{Instr, OpTy, Role};
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_frontend::qualifier::Qualifier;
use ptx_dsl_frontend::table::FAMILIES;
use ptx_dsl_frontend::ty::Ty;

const UNDER_TEST: &[&str] = &[
    "async_store",
    "async_copy",
    "bulk",
    "tensor",
    "multimem",
    "fabric",
    "compress",
    "wmma",
    "mma",
    "ldmatrix",
    "wgmma",
];

const TARGETS: &[(&str, &str)] = &[
    ("sm_75", "9.5"),
    ("sm_80", "7.1"),
    ("sm_90a", "8.4"),
    ("sm_100a", "8.6"),
    ("sm_107a", "9.5"),
    ("sm_120a", "8.7"),
];

const REGISTERS: &str = ".reg .b8 %c<9>; .reg .b16 %h<9>; .reg .b32 %r<300>; .reg .b64 %d<60>; .reg .b128 %q<9>;
.reg .f32 %f<300>; .reg .f64 %e<60>; .reg .pred %p<9>;";

/// A register of the type, or an untyped one of its width.
fn register(ty: Ty, number: usize) -> String {
    let (letter, count) = match (ty, ty.bits()) {
        (Ty::Pred, _) => ('p', 9),
        (Ty::F32, _) => ('f', 300),
        (Ty::F64, _) => ('e', 60),
        (_, 8) => ('c', 9),
        (_, 16) => ('h', 9),
        (_, 64) => ('d', 60),
        (_, 128) => ('q', 9),
        _ => ('r', 300),
    };
    format!("%{letter}{}", number % count)
}

/// Writes an instruction of a form.
struct Writer<'a> {
    entry: &'static Instr,
    form: &'a Form,
    words: Vec<&'a str>,
    quals: Vec<Qualifier>,
    next: usize,
}

impl Writer<'_> {
    fn written(&self, slot: &str) -> Ty {
        let types = || self.words.iter().zip(&self.form.slots).filter(|(w, s)| s.is_type && !w.is_empty());
        let named = types().find(|(_, s)| s.name == slot);
        named.or_else(|| types().next()).and_then(|(w, _)| Ty::from_name(w)).unwrap_or(Ty::B32)
    }

    fn registers(&mut self, ty: Ty, count: u32, braces: bool) -> String {
        let first = self.next + 1;
        self.next += count as usize;
        let list: Vec<String> = (first..=self.next).map(|number| register(ty, number)).collect();
        if braces { format!("{{{}}}", list.join(", ")) } else { list.concat() }
    }

    fn value(&mut self, name: &str) -> String {
        let spec = self.entry.operands.iter().find(|o| o.name == name).expect("every operand is described");
        if spec.role == Role::Addr {
            return self.registers(Ty::B64, 1, false);
        }
        if spec.imm_only {
            let size = if matches!(name, "cp-size") { 16 } else { 1 };
            let low = if name == "f" { 0 } else { size };
            return spec.range.map_or(low, |r| r.0).to_string();
        }
        let vector = ["v2", "v4", "v8"].iter().find(|v| self.words.contains(v));
        let count = vector.map_or(1, |v| v[1..].parse().expect("a number"));
        match spec.ty {
            OpTy::Ty(ty) => self.registers(ty, 1, false),
            OpTy::Slot(slot) => self.registers(self.written(slot), 1, false),
            OpTy::Vec(slot, _) => {
                let ty = Ty::from_name(&slot[1..]).unwrap_or_else(|| self.written(slot));
                self.registers(ty, count, count > 1)
            }
            OpTy::Fragment(of) => {
                let (ty, count) = of(&self.quals);
                self.registers(ty, count, true)
            }
            _ => unreachable!("no other operand in these families"),
        }
    }

    fn operand(&mut self, form: &OpForm) -> String {
        match &form.shape {
            Shape::Addr(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.operand(p)).collect();
                format!("[{}]", parts.join(", "))
            }
            Shape::Vector(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.operand(p)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Shape::Number(n) => n.to_string(),
            _ => self.value(form.name),
        }
    }
}

/// Each form with each of its qualifiers once, with and without optional operands.
fn spellings() -> Vec<String> {
    let mut out = Vec::new();
    let mut known = HashSet::new();
    let families = FAMILIES.iter().filter(|(name, _)| UNDER_TEST.contains(name));
    for entry in families.flat_map(|(_, list)| *list) {
        for form in forms(entry) {
            let most = form.slots.iter().map(|s| s.alts.len() + 1).max().unwrap_or(1);
            for round in 0..2 * most {
                // Slots of many alternatives turn, others go along; what is optional stays out in every second turn.
                let word = |(i, s): (usize, &ptx_dsl_frontend::isa::syntax::Slot)| -> String {
                    let given = s.group == 0 || (round + usize::from(s.group)) % 2 == 0;
                    let turn = if s.alts.len() + 1 < most { round / 2 + i } else { round / 2 };
                    if given { s.alts[turn % s.alts.len()].word().to_string() } else { String::new() }
                };
                let words: Vec<String> = form.slots.iter().enumerate().map(word).collect();
                let given = words.iter().filter(|w| !w.is_empty());
                let quals: Vec<Qualifier> = given.filter_map(|w| Qualifier::from_word(w)).collect();
                let head = quals.iter().fold(entry.opcode.to_string(), |head, q| head + q.text());
                for optional in [false, true] {
                    let words = words.iter().map(String::as_str).collect();
                    let mut writer = Writer { entry, form: &form, words, quals: quals.clone(), next: 0 };
                    let picked = form.operands.iter().filter(|o| o.group == 0 || optional);
                    let operands: Vec<String> = picked.map(|o| writer.operand(o)).collect();
                    let line = format!("{head} {};", operands.join(", "));
                    if known.insert(line.clone()) {
                        out.push(line);
                    }
                }
            }
        }
    }
    out
}

/// A wrong line: ptxas still checks all others, but skips code generation, which takes far longer.
const WRONG: &str = "add.f32 %f1, %p1, %f2;";

/// A kernel of these lines.
fn module(target: &str, version: &str, lines: &[String]) -> String {
    let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n");
    let new = matches!(version.split_once('.'), Some((major, minor)) if major > "8" || major == "8" && minor >= "3");
    let registers = if new { REGISTERS.to_string() } else { REGISTERS.replace(".reg .b128 %q<9>;", "") };
    let _ = writeln!(text, "{registers}\n{}\n{WRONG}\nret;\n}}", lines.join("\n"));
    text
}

/// The lines that the front end accepts.
fn accepted(target: &str, version: &str, lines: &[String]) -> Vec<String> {
    let text = module(target, version, lines);
    let first = text.lines().position(|l| *l == lines[0]).expect("the first line") + 1;
    let (lexed, mut found) = lex(&text);
    found.extend(ptx_dsl_frontend::compile(&lexed.tokens).diagnostics);
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line = |byte: usize| ends.partition_point(|end| *end < byte) + 1;
    let refused: HashSet<usize> = errors.map(|d| line(lexed.bytes(d.span).start)).collect();
    let kept = lines.iter().enumerate().filter(|(i, _)| !refused.contains(&(first + i)));
    kept.map(|(_, l)| l.clone()).collect()
}

/// ptxas 13.5 has no operand list for it: it asks for a third vector, and accepts two.
fn unknown_to_ptxas(line: &str) -> bool {
    line.contains(".override::global_dim_stride")
}

#[test]
fn what_the_table_spells_ptxas_takes() {
    let mut lines = spellings();
    lines.retain(|l| !unknown_to_ptxas(l));
    assert!(lines.len() > 1000, "{} spellings", lines.len());
    let mut modules = Vec::new();
    for (target, version) in TARGETS {
        let lines = accepted(target, version, &lines);
        assert!(lines.len() > 10, "{target}: {} spellings", lines.len());
        modules.push((format!("{target} {version}"), module(target, version, &lines)));
    }
    let Some(verdicts) = ptxas::assemble_all(&modules) else { return };
    for ((name, text), verdict) in modules.iter().zip(verdicts) {
        let message = verdict.expect_err("the last line is wrong");
        let last = text.lines().position(|l| l == WRONG).expect("the last line") + 1;
        let mut refused = message.lines().filter(|l| l.contains("error") && l.contains("; "));
        let other = refused.find(|l| !l.contains(&format!("line {last};")));
        if let Some(other) = other {
            let number = other.split("line ").nth(1).and_then(|l| l.split(';').next()?.parse::<usize>().ok());
            panic!("{name}: {other}\n{}", number.and_then(|n| text.lines().nth(n - 1)).unwrap_or_default());
        }
    }
}
