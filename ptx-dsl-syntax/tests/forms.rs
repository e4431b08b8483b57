//! The table against a second source: a list of the ISA's instructions that was not made from the table.
//!
//! `forms/spellings.txt` has for each form of PTX ISA 9.4 its shortest and its longest spelling with the number of operands,
//! `forms/words.txt` all qualifiers by the first word of the opcode. `forms/known.txt` lists where the two differ, and why.

use std::collections::{BTreeMap, BTreeSet};

use ptx_dsl_syntax::isa::syntax::{Form, forms};
use ptx_dsl_syntax::isa::{FAMILIES, Instr};

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

/// What `known.txt` says after this sign: `-` a spelling that the table lacks, `+` a word that only the table has, `?` the
/// beginning of the spellings of a family that the table does not have yet.
fn known(sign: char) -> BTreeSet<&'static str> {
    let lines = KNOWN.lines().filter_map(move |l| l.strip_prefix(sign));
    lines.map(|l| l.split('#').next().unwrap_or("").trim()).collect()
}

/// Do the words, in any order, fill the slots of the form?
fn fits(form: &Form, words: &[&str]) -> bool {
    let mut filled = vec![false; form.slots.len()];
    for word in words {
        let free = form.slots.iter().zip(&filled).position(|(s, f)| !f && s.alts.iter().any(|a| a == word));
        let Some(slot) = free else { return false };
        filled[slot] = true;
    }
    form.slots.iter().zip(&filled).all(|(slot, full)| *full || slot.group != 0)
}

fn takes(instr: &Instr, forms: &[Form], words: &[&str], low: usize, high: usize) -> bool {
    let opcode: Vec<&str> = instr.opcode.split('.').collect();
    if words.len() < opcode.len() {
        return false;
    }
    let (start, mut rest) = words.split_at(opcode.len());
    let mut all = Vec::new();
    if start != opcode {
        // `tcgen05.wait::ld`: what follows the opcode need not begin with a dot.
        let tail = start.last().zip(opcode.last()).and_then(|(s, o)| s.strip_prefix(o));
        let Some(tail) = tail.filter(|t| t.starts_with("::") && start[..start.len() - 1] == opcode[..opcode.len() - 1])
        else {
            return false;
        };
        all.push(tail);
        all.extend_from_slice(rest);
        rest = &all;
    }
    forms.iter().any(|f| {
        let least = f.operands.iter().filter(|o| o.group == 0).count();
        least <= high && f.operands.len() >= low && fits(f, rest)
    })
}

#[test]
fn every_form_is_in_the_table() {
    let (table, known, pending) = (table(), known('-'), known('?'));
    let mut missing = Vec::new();
    for line in SPELLINGS.lines() {
        let mut parts = line.split(' ');
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
            let slots = forms.iter().flat_map(|f| &f.slots).flat_map(|s| s.alts.iter().map(|a| a.to_string()));
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
    assert!(new.is_empty(), "{} words are in the table only:\n{}", new.len(), new.join("\n"));
}
