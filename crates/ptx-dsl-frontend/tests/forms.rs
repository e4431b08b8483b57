//! Compares the table with a second source: an independent list of the ISA's instructions.
//!
//! `forms/spellings.txt` has the shortest and longest spelling of each form of PTX ISA 9.4, with the number of operands and,
//! after a bar, their shapes: `V` a value, `!` one that may be negated, `A1-2` an address of one or two parts, `B2` braces with
//! two values, `P` a pair `d|p`, `p` one whose second is optional, `L` a list, `_`, `N16` that number; `?` marks optional ones.
//! `forms/words.txt` has all qualifiers by the first word of the opcode. `forms/known.txt` lists the differences, and why.

use std::collections::{BTreeMap, BTreeSet};

use ptx_dsl_frontend::isa::syntax::{Form, OpForm, Shape, forms};
use ptx_dsl_frontend::isa::{Instr, OpTy};
use ptx_dsl_frontend::table::FAMILIES;

const SPELLINGS: &str = include_str!("forms/spellings.txt");
const WORDS: &str = include_str!("forms/words.txt");
const KNOWN: &str = include_str!("forms/known.txt");

/// Entries by the first word of their opcodes.
fn table() -> BTreeMap<&'static str, Vec<(&'static Instr, Vec<Form>)>> {
    let mut out: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for instr in FAMILIES.iter().flat_map(|(_, list)| list.iter()) {
        let first = instr.opcode.split(['.', ':']).next().unwrap_or("");
        out.entry(first).or_default().push((instr, forms(instr)));
    }
    out
}

/// The entries of `known.txt` with this sign: `-` a spelling that the table lacks, `+` a word that only the table has, `=` a
/// spelling whose operands have another shape, `?` the prefix of a family's spellings that the table does not have yet.
fn known(sign: char) -> BTreeSet<&'static str> {
    let lines = KNOWN.lines().filter_map(move |l| l.strip_prefix(sign));
    lines.map(|l| l.split('#').next().unwrap_or("").trim()).collect()
}

/// Do the words, in any order, fill the slots of the form?
fn fits(form: &Form, words: &[&str]) -> bool {
    let mut filled = vec![false; form.slots.len()];
    for word in words {
        let free = form.slots.iter().zip(&filled).position(|(s, f)| !f && s.words().iter().any(|a| a == word));
        let Some(slot) = free else { return false };
        filled[slot] = true;
    }
    form.slots.iter().zip(&filled).all(|(slot, full)| *full || slot.group != 0)
}

fn takes(instr: &Instr, forms: &[Form], words: &[&str], low: usize, high: usize) -> bool {
    taking(instr, forms, words).iter().any(|f| {
        let least = f.operands.iter().filter(|o| o.group == 0).count();
        least <= high && f.operands.len() >= low
    })
}

/// The forms that accept these words.
fn taking<'f>(instr: &Instr, forms: &'f [Form], words: &[&str]) -> Vec<&'f Form> {
    let opcode: Vec<&str> = instr.opcode.split('.').collect();
    if words.len() < opcode.len() {
        return Vec::new();
    }
    let (start, mut rest) = words.split_at(opcode.len());
    let mut all = Vec::new();
    if start != opcode {
        // `tcgen05.wait::ld`: what follows the opcode need not begin with a dot.
        let tail = start.last().zip(opcode.last()).and_then(|(s, o)| s.strip_prefix(o));
        let Some(tail) = tail.filter(|t| t.starts_with("::") && start[..start.len() - 1] == opcode[..opcode.len() - 1])
        else {
            return Vec::new();
        };
        all.push(tail);
        all.extend_from_slice(rest);
        rest = &all;
    }
    forms.iter().filter(|f| fits(f, rest)).collect()
}

/// Has an operand of the table this shape?
fn looks(instr: &Instr, form: &OpForm, letter: &str) -> bool {
    let spec = instr.operands.iter().find(|o| o.name == form.name);
    let vector = spec.is_some_and(|s| {
        matches!(
            s.ty,
            OpTy::Vec(..) | OpTy::Many(..) | OpTy::Fragment(_) | OpTy::Coords(_) | OpTy::PerAxis(_) | OpTy::Parts(_)
        )
    });
    let number = |text: &str| text.parse::<usize>().ok();
    match (&form.shape, letter.split_at(1)) {
        (Shape::Value, ("V" | "N", _)) => true,
        (Shape::Value, ("!", _)) => form.negatable,
        (Shape::Value, ("_", _)) => spec.is_some_and(|s| s.sink),
        (Shape::Value, ("B", _)) => vector,
        // The list has one name for a vector.
        (Shape::Vector(parts), ("V", _)) => parts.is_empty() || vector || parts.len() > 1,
        (Shape::Vector(parts), ("B", n)) => parts.is_empty() || number(n) == Some(parts.len()),
        (Shape::Sink, (letter, _)) => letter == "_",
        (Shape::Number(n), ("N", text)) => text.parse() == Ok(*n),
        (Shape::List, (letter, _)) => letter == "L",
        (Shape::Pair(_, optional), ("P" | "p", _)) => letter == "P" || *optional,
        (Shape::Pair(_, optional), ("V", _)) => *optional,
        (Shape::Addr(parts), ("A", range)) => {
            let Some((low, high)) = range.split_once('-').and_then(|(l, h)| Some((number(l)?, number(h)?))) else {
                return false;
            };
            let least = parts.iter().filter(|p| p.group == 0).count();
            // Qualifiers determine the parts, too.
            least <= high && parts.len().max(1) >= low
        }
        _ => false,
    }
}

/// Does the form accept operands of these shapes, with some of its optional ones?
fn look(instr: &Instr, form: &Form, letters: &[&str]) -> bool {
    (0..1u32 << form.optional_groups.min(8)).any(|mask| {
        let given = |o: &&OpForm| o.group == 0 || mask >> (o.group - 1) & 1 == 1;
        let given: Vec<&OpForm> = form.operands.iter().filter(given).collect();
        given.len() == letters.len() && given.iter().zip(letters).all(|(o, l)| looks(instr, o, l))
    })
}

#[test]
fn operands_look_the_same() {
    let (table, missing, known) = (table(), known('-'), known('='));
    let mut differ = Vec::new();
    for line in SPELLINGS.lines() {
        let Some((head, looks)) = line.split_once(" | ") else { continue };
        let spelling = head.split(' ').next().unwrap_or("");
        let words: Vec<&str> = spelling.split('.').collect();
        let entries = table.get(words[0]).map_or(&[][..], Vec::as_slice);
        for one in looks.split(" / ").filter(|_| !missing.contains(spelling) && !known.contains(spelling)) {
            let letters: Vec<&str> = one.split_whitespace().collect();
            // Qualifiers can determine which optional ones are present.
            let optional = letters.iter().filter(|l| l.ends_with('?')).count();
            let found = (0..1u32 << optional).any(|mask| {
                let mut number = 0;
                let mut given = letters.clone();
                given.retain(|l| {
                    let optional = l.ends_with('?');
                    number += u32::from(optional);
                    !optional || mask >> (number - 1) & 1 == 1
                });
                let given: Vec<&str> = given.iter().map(|l| l.trim_end_matches('?')).collect();
                entries.iter().any(|(i, f)| taking(i, f, &words).iter().any(|f| look(i, f, &given)))
            });
            if !found {
                differ.push(format!("{spelling}: {one}"));
            }
        }
    }
    assert!(differ.is_empty(), "the operands of {} spellings look different:\n{}", differ.len(), differ.join("\n"));
}

#[test]
fn every_form_is_in_the_table() {
    let (table, known, pending) = (table(), known('-'), known('?'));
    let mut missing = Vec::new();
    for line in SPELLINGS.lines() {
        let mut parts = line.split(" |").next().unwrap_or("").split(' ');
        let spelling = parts.next().unwrap_or("");
        let mut number = || parts.next().and_then(|n| n.parse::<usize>().ok());
        let low = number().expect("a number of operands");
        let high = number().unwrap_or(low);
        let words: Vec<&str> = spelling.split('.').collect();
        let entries = table.get(words[0]).map_or(&[][..], Vec::as_slice);
        let pending = pending.iter().any(|p| spelling.starts_with(p));
        if !entries.iter().any(|(i, f)| takes(i, f, &words, low, high)) && !pending && !known.contains(spelling) {
            missing.push(line);
        }
    }
    assert!(missing.is_empty(), "{} spellings are in no form of the table:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn every_word_of_the_table_is_in_the_list() {
    let list: BTreeMap<&str, BTreeSet<&str>> = WORDS
        .lines()
        .filter_map(|l| l.split_once(':'))
        .map(|(first, words)| (first, words.split_whitespace().collect()))
        .collect();
    let known = known('+');
    let mut extra = BTreeSet::new();
    for (first, entries) in table() {
        for (instr, forms) in &entries {
            let opcode = instr.opcode.split('.').skip(1).map(str::to_string);
            let slots = forms.iter().flat_map(|f| &f.slots).flat_map(|s| s.words().into_iter().map(String::from));
            for word in opcode.chain(slots) {
                let word = if word.starts_with("::") {
                    format!("{}{word}", instr.opcode.rsplit('.').next().unwrap_or(""))
                } else {
                    word
                };
                if !list.get(first).is_some_and(|w| w.contains(word.as_str())) {
                    extra.insert(format!("{first} {word}"));
                }
            }
        }
    }
    let new: Vec<&str> = extra.iter().map(String::as_str).filter(|w| !known.contains(w)).collect();
    assert!(
        new.is_empty(),
        "{} words are in the table only: add those of the manual to forms/words.txt:\n{}",
        new.len(),
        new.join("\n")
    );
}
