//! Every form of tcgen05 with every pair of its qualifiers, legal or not: the table and ptxas must agree.

use crate::ptxas;
use ptx_dsl_frontend::diag::Severity;
use ptx_dsl_frontend::isa::syntax::{Form, OpForm, Shape, forms};
use ptx_dsl_frontend::isa::{FAMILIES, Instr, OpTy};
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_frontend::qualifier::Qualifier;
use ptx_dsl_frontend::ty::Ty;
use std::collections::BTreeSet;

const TARGETS: [(&str, &str); 9] = [
    ("sm_100a", "8.6"),
    ("sm_100a", "9.5"),
    ("sm_100f", "8.8"),
    ("sm_103a", "9.0"),
    ("sm_107a", "9.4"),
    ("sm_107f", "9.5"),
    ("sm_110a", "9.5"),
    ("sm_120a", "9.5"),
    ("sm_90a", "9.5"),
];

/// The manual gives `scale-input-d` no meaning for these kinds; ptxas accepts it.
fn stricter_than_ptxas(statement: &str) -> bool {
    (statement.contains(".kind::i8") || statement.contains(".kind::ti16")) && statement.ends_with(", 3;")
}

/// `{%r1, %r2}`
fn vector(n: u32) -> String {
    format!("{{{}}}", (0..n).map(|i| format!("%r{i}")).collect::<Vec<_>>().join(", "))
}

fn value(instr: &Instr, name: &str, qualifiers: &[Qualifier], change: i64) -> String {
    let spec = instr.operands.iter().find(|o| o.name == name).expect("described");
    match (name, spec.ty) {
        ("nCols", _) => "64".into(),
        ("scale-input-d", _) => "3".into(),
        (_, OpTy::Many(_, numbers)) => {
            let written = numbers.iter().filter(|n| qualifiers.contains(&n.0)).map(|n| i64::from(n.1));
            vector((written.product::<i64>() + change).clamp(1, 140) as u32)
        }
        (_, OpTy::Ty(Ty::Pred)) => "%p1".into(),
        (_, OpTy::Ty(Ty::U16)) => "%h1".into(),
        (_, OpTy::Ty(Ty::U64)) => "%d1".into(),
        (_, OpTy::Ty(Ty::S64)) => "8".into(),
        _ => "%r9".into(),
    }
}

fn operand(instr: &Instr, form: &OpForm, qualifiers: &[Qualifier], change: i64) -> String {
    match &form.shape {
        Shape::Addr(_) if matches!(form.name, "dst" | "mbar") => "[%d1]".into(),
        Shape::Addr(_) => "[%r9]".into(),
        _ => value(instr, form.name, qualifiers, change),
    }
}

/// Choices of qualifiers: all of every two slots, with the first of the other required slots and none of the optional ones.
fn choices(form: &Form) -> BTreeSet<Vec<Option<usize>>> {
    let base: Vec<Option<usize>> = form.slots.iter().map(|s| (s.group == 0).then_some(0)).collect();
    let all = |i: usize| {
        let none = (form.slots[i].group != 0).then_some(None);
        none.into_iter().chain((0..form.slots[i].alts.len()).map(Some))
    };
    let mut out = BTreeSet::new();
    for a in 0..base.len().max(1) {
        for b in 0..=a.min(base.len().saturating_sub(1)) {
            if base.is_empty() {
                out.insert(Vec::new());
                continue;
            }
            for x in all(a) {
                for y in all(b) {
                    let mut choice = base.clone();
                    choice[a] = x;
                    if a != b {
                        choice[b] = y;
                    }
                    out.insert(choice);
                }
            }
        }
    }
    out
}

fn spellings() -> Vec<String> {
    let mut out = BTreeSet::new();
    for instr in FAMILIES.iter().filter(|f| f.0 == "tcgen05").flat_map(|f| f.1) {
        for form in forms(instr) {
            for choice in choices(&form) {
                let written = form.slots.iter().zip(&choice).filter_map(|(s, c)| c.map(|c| s.alts[c]));
                let qualifiers: Vec<Qualifier> = written.collect();
                let many =
                    |o: &OpForm| instr.operands.iter().any(|s| s.name == o.name && matches!(s.ty, OpTy::Many(..)));
                for mask in 0..1u32 << form.optional_groups {
                    for change in [0, -1, 1] {
                        let on = |o: &&OpForm| o.group == 0 || mask >> (o.group - 1) & 1 == 1;
                        let given: Vec<&OpForm> = form.operands.iter().filter(on).collect();
                        if change != 0 && !given.iter().any(|o| many(o)) {
                            continue;
                        }
                        let operands: Vec<String> =
                            given.iter().map(|o| operand(instr, o, &qualifiers, change)).collect();
                        let head = qualifiers.iter().fold(instr.opcode.to_string(), |head, q| head + q.text());
                        let statement = format!("{head} {};", operands.join(", "));
                        out.insert(statement.replace(" ;", ";"));
                    }
                }
            }
        }
    }
    out.into_iter().collect()
}

/// A kernel for each group, one statement on each line. The last statement is wrong, so that ptxas stops before code generation;
/// it still checks what comes before.
fn module(target: &str, version: &str, statements: &[String]) -> (String, Vec<String>) {
    let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n");
    let mut lines = vec![String::new(); 3];
    for two in [false, true] {
        text += &format!(
            ".visible .entry k{}() {{ .reg .b32 %r<150>; .reg .b64 %d<4>; .reg .pred %p<4>; .reg .b16 %h<4>;\n",
            u32::from(two)
        );
        lines.push(String::new());
        for s in statements.iter().filter(|s| s.contains(".cta_group::2") == two) {
            text += &format!("{s}\n");
            lines.push(s.clone());
        }
        text += if two { "add.u32 %r1, %d1, 1;\nret; }\n" } else { "ret; }\n" };
        lines.push("the last line".into());
        if two {
            lines.push(String::new());
        }
    }
    (text, lines)
}

/// Lines that ptxas complains about: `ptxas name, line 7; error   : ...`.
fn complaints(printed: &str) -> BTreeSet<usize> {
    let number = |l: &str| l.split_once(", line ")?.1.split(';').next()?.parse().ok();
    printed.lines().filter(|l| l.contains("error")).filter_map(number).collect()
}

#[test]
fn spellings_have_the_verdicts_of_ptxas() {
    let statements = spellings();
    assert!(statements.len() > 4000, "{} spellings", statements.len());
    let modules: Vec<_> = TARGETS.iter().map(|(t, v)| (format!("{t} {v}"), module(t, v, &statements))).collect();
    let texts: Vec<_> = modules.iter().map(|(name, m)| (name.clone(), m.0.clone())).collect();
    let Some(verdicts) = ptxas::assemble_all(&texts) else { return };
    let mut wrong = Vec::new();
    for ((name, (text, lines)), verdict) in modules.iter().zip(verdicts) {
        let printed = verdict.expect_err("the last statement is wrong");
        assert!(!printed.contains("syntax error"), "{name}: {printed}");
        let theirs = complaints(&printed);
        assert!(theirs.contains(&(text.lines().count() - 1)), "{name}: ptxas read it all\n{printed}");
        let (lexed, early) = lex(text);
        assert!(early.is_empty());
        let found = ptx_dsl_frontend::compile(&lexed.tokens).diagnostics;
        let errors = found.iter().filter(|d| d.severity == Severity::Error);
        let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        let line = |at: usize| starts.partition_point(|s| *s <= at);
        let ours: BTreeSet<usize> = errors.map(|d| line(lexed.bytes(d.span).start)).collect();
        for line in theirs.symmetric_difference(&ours) {
            let statement = lines.get(line - 1).map_or("", String::as_str);
            if !(ours.contains(line) && stricter_than_ptxas(statement)) {
                wrong.push(format!("{name}: we {} {statement}", if ours.contains(line) { "refuse" } else { "accept" }));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}
