//! Every spelling that the table has of the instructions that the host runs lane by lane, for the target of the GPU.

use std::path::Path;

use ptx_dsl_frontend::diag::Severity;
use ptx_dsl_frontend::hir::{Instr as Typed, Operand, RegId, Stmt};
use ptx_dsl_frontend::isa::syntax::{Form as Syntax, forms};
use ptx_dsl_frontend::isa::target::target;
use ptx_dsl_frontend::isa::{Host, Instr, Role};
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_frontend::qualifier::Qualifier;
use ptx_dsl_frontend::table::FAMILIES;

use super::data::{Form, Set, Width, add};
use super::kind::Kind;
use crate::Random;
use crate::ptxas_verdicts::batch::{self, Case};
use crate::ptxas_verdicts::operands::Writer;
use crate::ptxas_verdicts::place::NEWEST;
use crate::ptxas_verdicts::statement::Statement;

/// The GPU's target.
pub const TARGET: &str = "sm_90a";

/// The most spellings of a syntax line; of more, a sample is taken.
const MOST: usize = 2000;

/// The most forms of a comparison: there are too many of them to keep.
const COMPARISONS: usize = 60;

/// The forms of all families by the kinds of their operands; comparisons sampled or complete.
pub fn all(ptxas: &Path, comparisons: bool) -> Result<Vec<Set>, String> {
    let mut sets = Vec::new();
    for (family, entries) in FAMILIES {
        let mut legal = of_family(family, entries)?;
        let verdicts = batch::judge(ptxas, &legal)?;
        let mut keep = verdicts.iter();
        legal.retain(|_| keep.next().is_some_and(|v| v.theirs.is_none()));
        let most = if *family == "compare" && !comparisons { COMPARISONS } else { MOST };
        for case in thinned(legal, most) {
            if let Some((kinds, form)) = typed(&case.text) {
                add(&mut sets, &kinds, form);
            }
        }
    }
    Ok(sets)
}

/// The spellings of a family that the front end accepts.
fn of_family(family: &'static str, entries: &'static [Instr]) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for entry in entries.iter().filter(|e| e.host == Host::Lane && !reads_carry(e)) {
        if target(TARGET).is_some_and(|t| t.satisfies(entry.requires, NEWEST).is_ok()) {
            spellings(family, entry, &mut cases);
        }
    }
    let ours = batch::ours(&cases)?;
    Ok(cases.into_iter().zip(ours).filter(|c| c.1.is_none()).map(|c| c.0).collect())
}

/// Alone it would read a carry that nothing has set.
fn reads_carry(entry: &Instr) -> bool {
    matches!(entry.opcode, "addc" | "subc" | "madc")
}

/// At most so many of each form; `kind` identifies the form.
fn thinned(cases: Vec<Case>, most: usize) -> Vec<Case> {
    let mut random = Random::new(1);
    let mut out = Vec::new();
    let mut rest = cases.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut own = vec![first];
        while let Some(next) = rest.next_if(|c| c.kind == own[0].kind && c.opcode == own[0].opcode) {
            own.push(next);
        }
        random.thin(&mut own, most);
        out.append(&mut own);
    }
    out
}

/// All choices of qualifiers.
fn spellings(family: &'static str, entry: &'static Instr, out: &mut Vec<Case>) {
    for form in forms(entry) {
        let mut choices: Vec<Vec<String>> = vec![Vec::new()];
        for slot in &form.slots {
            let mut longer = Vec::new();
            for choice in &choices {
                let none = (slot.group != 0).then(String::new);
                for word in none.into_iter().chain(slot.words().into_iter().map(String::from)) {
                    longer.push(choice.iter().cloned().chain([word]).collect());
                }
            }
            choices = longer;
        }
        for words in choices {
            written(family, entry, &form, &words, out);
        }
    }
}

/// A spelling with and without its optional operands.
fn written(family: &'static str, entry: &'static Instr, form: &Syntax, words: &[String], out: &mut Vec<Case>) {
    let given: Vec<String> = words.iter().filter(|w| !w.is_empty()).cloned().collect();
    let quals: Vec<Qualifier> = given.iter().filter_map(|w| Qualifier::from_word(w)).collect();
    for mask in 0..1u32 << form.optional_groups.min(4) {
        for inner in [false, true] {
            let mut writer = Writer { family, entry, form, words, quals: &quals, inner, next: 0 };
            let picked = form.operands.iter().filter(|o| o.group == 0 || mask >> (o.group - 1) & 1 == 1);
            let operands = picked.map(|o| writer.operand(o)).collect();
            let statement = Statement { guard: "", opcode: entry.opcode.into(), words: given.clone(), operands };
            let text = statement.to_string();
            if out.last().is_none_or(|c| c.text != text) {
                out.push(Case { family, opcode: entry.opcode, kind: form.line, text, target: TARGET, version: NEWEST });
            }
        }
    }
}

/// The kinds of its operands, and the statement with their names.
fn typed(text: &str) -> Option<(Vec<Kind>, Form)> {
    let module = format!("{}{text}\nLAST:\nret;\n}}\n", batch::head(TARGET, NEWEST, false));
    let hir = ptx_dsl_frontend::compile(&lex(&module).0.tokens).hir;
    let function = hir.functions.iter().find(|f| f.entry)?;
    let is_it = |s: &'_ Stmt| if let Stmt::Instr(i) = s { (i.entry.opcode != "ret").then(|| i.clone()) } else { None };
    let instr: Box<Typed> = function.body.iter().find_map(is_it)?;
    let (mut kinds, mut names, mut results) = (Vec::new(), Vec::new(), 0);
    for arg in &instr.operands {
        for register in registers(&arg.value) {
            let name = &function.regs[register.0 as usize].name;
            let ty = arg.ty.filter(|_| !matches!(&arg.value, Operand::Pair(_, p) if is(p, register)));
            if arg.role == Role::Dst {
                let bits = ty.map_or(1, |t| t.bits());
                let letter = match bits {
                    1 => 'p',
                    8 => 'c',
                    16 => 'h',
                    32 => 'w',
                    64 => 'd',
                    _ => return None,
                };
                names.push((name.clone(), format!("%{letter}{results}")));
                results += 1;
            } else {
                names.push((name.clone(), format!("%a{}", kinds.len())));
                kinds.push(Kind::of(ty?)?);
            }
        }
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let word = super::data::registers(&rest[at..]).next()?;
        out += &rest[..at];
        out += &names.iter().find(|n| n.0 == word)?.1;
        rest = &rest[at + word.len()..];
    }
    let form = Form::new(out + rest);
    debug_assert!(form.outputs().iter().all(|o| o.0 >= Width::Pred));
    Some((kinds, form))
}

fn registers(o: &Operand) -> Vec<RegId> {
    match o {
        Operand::Reg(r, _) | Operand::NotReg(r) | Operand::Select(r, _) => vec![*r],
        Operand::Neg(inner) => registers(inner),
        Operand::Pair(a, b) => [registers(a), registers(b)].concat(),
        Operand::Vector(list) => list.iter().flat_map(registers).collect(),
        _ => Vec::new(),
    }
}

fn is(o: &Operand, register: RegId) -> bool {
    matches!(o, Operand::Reg(r, _) if *r == register)
}

/// Keeps those that the front end accepts and returns the others.
pub fn legal(sets: &mut Vec<Set>) -> Vec<String> {
    let mut refused = Vec::new();
    for set in sets.iter_mut() {
        let takes = |form: &Form| {
            let text = format!(
                "{}{}",
                super::text::HEAD,
                super::text::kernel("k", &Set { forms: Vec::new(), ..set.clone() }, std::slice::from_ref(form))
            );
            let (lexed, found) = lex(&text);
            let all = found.into_iter().chain(ptx_dsl_frontend::compile(&lexed.tokens).diagnostics);
            !all.into_iter().any(|d| d.severity == Severity::Error)
        };
        let keep: Vec<bool> = set.forms.iter().map(takes).collect();
        let mut keep = keep.into_iter();
        set.forms.retain(|form| {
            let takes = keep.next() == Some(true);
            if !takes {
                refused.push(form.text.clone());
            }
            takes
        });
    }
    sets.retain(|s| !s.forms.is_empty());
    refused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_results::{data, file, near};
    use crate::tools::read;
    use std::collections::{BTreeSet, HashSet};

    /// Every syntax line that the host runs lane by lane has a result of a GPU. The lines named here wait for a GPU.
    #[test]
    fn every_line_of_syntax_has_results() {
        const WITHOUT: &[&str] = &[];
        let mut known: HashSet<String> = HashSet::new();
        for set in data::read(&read(&file("lanes.txt")).unwrap()).unwrap() {
            known.extend(set.forms.into_iter().map(|f| f.text));
        }
        for near in near::read(&read(&file("near.txt")).unwrap()).unwrap() {
            known.extend(near.set.forms.into_iter().map(|f| f.text));
        }
        let (mut lines, mut found) = (BTreeSet::new(), BTreeSet::new());
        for (family, entries) in FAMILIES {
            for case in of_family(family, entries).unwrap() {
                lines.insert((case.opcode, case.kind));
                if typed(&case.text).is_some_and(|(_, form)| known.contains(&form.text)) {
                    found.insert((case.opcode, case.kind));
                }
            }
        }
        let missing: Vec<&str> = lines.difference(&found).map(|l| l.1).filter(|l| !WITHOUT.contains(l)).collect();
        assert!(missing.is_empty(), "no results of a GPU: {missing:#?}");
        assert!(found.len() > 100);
    }
}
