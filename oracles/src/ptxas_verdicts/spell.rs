//! Spellings of a form: all pairs of its qualifiers, and some at random.

use std::collections::HashSet;

use ptx_dsl_frontend::isa::Instr;
use ptx_dsl_frontend::isa::syntax::{Form, forms};
use ptx_dsl_frontend::qualifier::Qualifier;

use super::operands::Writer;
use super::statement::Statement;
use crate::Random;

/// A statement as a form of the table spells it; its rules may forbid it.
#[derive(Debug, Clone)]
pub struct Spelling {
    /// The entry of the table.
    pub entry: &'static Instr,
    /// The number of the form in the entry.
    pub form: usize,
    /// The statement itself.
    pub statement: Statement,
}

/// Spellings of an entry, at most so many of each form; further pairs of qualifiers are sampled.
pub fn spellings(
    family: &'static str,
    entry: &'static Instr,
    most: usize,
    random: &mut Random,
    out: &mut Vec<Spelling>,
) {
    let mut known = HashSet::new();
    for (number, form) in forms(entry).into_iter().enumerate() {
        let mut found = Vec::new();
        for choice in choices(&form, most, random) {
            let words: Vec<String> = form
                .slots
                .iter()
                .zip(&choice)
                .map(|(s, c)| c.map_or(String::new(), |c| s.alts[c].word().to_string()))
                .collect();
            let given: Vec<String> = words.iter().filter(|w| !w.is_empty()).cloned().collect();
            let quals: Vec<Qualifier> = given.iter().filter_map(|w| Qualifier::from_word(w)).collect();
            for mask in 0..1u32 << form.optional_groups.min(4) {
                for inner in [false, true] {
                    let mut writer =
                        Writer { family, entry, form: &form, words: &words, quals: &quals, inner, next: 0 };
                    let picked = form.operands.iter().filter(|o| o.group == 0 || mask >> (o.group - 1) & 1 == 1);
                    let operands = picked.map(|o| writer.operand(o)).collect();
                    let statement =
                        Statement { guard: "", opcode: entry.opcode.into(), words: given.clone(), operands };
                    if known.insert(statement.to_string()) {
                        found.push(Spelling { entry, form: number, statement });
                    }
                }
            }
        }
        random.thin(&mut found, most);
        out.append(&mut found);
    }
}

/// All combinations of every two slots, with the first choice of other required slots and no optional ones; then as many random
/// spellings.
fn choices(form: &Form, most: usize, random: &mut Random) -> Vec<Vec<Option<usize>>> {
    let base: Vec<Option<usize>> = form.slots.iter().map(|s| (s.group == 0).then_some(0)).collect();
    let all = |i: usize| {
        let none = (form.slots[i].group != 0).then_some(None);
        none.into_iter().chain((0..form.slots[i].alts.len()).map(Some))
    };
    let mut out = vec![base.clone()];
    for a in 0..base.len() {
        for b in 0..=a {
            for x in all(a) {
                for y in all(b).filter(|y| a != b || *y == x) {
                    let mut choice = base.clone();
                    choice[a] = x;
                    choice[b] = y;
                    out.push(choice);
                }
            }
        }
    }
    random.thin(&mut out, most);
    for _ in 0..out.len() {
        let groups = random.next();
        let one = |(i, s): (usize, &ptx_dsl_frontend::isa::syntax::Slot)| {
            let given = s.group == 0 || groups >> s.group & 1 == 1 && groups >> (s.group + 17) & 1 == 1;
            given.then(|| all(i).flatten().nth(random.below(s.alts.len())).unwrap_or(0))
        };
        let choice = form.slots.iter().enumerate().map(one).collect();
        out.push(choice);
    }
    out
}
