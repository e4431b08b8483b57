//! The report of a run: the agreement by family, and each disagreement with a module that shows it.

use std::collections::BTreeMap;

use super::batch::{self, Case, Verdict};
use super::known::{self, Known};

/// Prints the report and returns the number of disagreements that are not on the list.
pub fn print(cases: &[Case], verdicts: &[Verdict], known: &[Known], all: bool) -> usize {
    let mut families: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    let mut groups: BTreeMap<(&str, bool, String), Vec<usize>> = BTreeMap::new();
    let mut listed: BTreeMap<(usize, &str), (usize, usize)> = BTreeMap::new();
    for (i, (case, verdict)) in cases.iter().zip(verdicts).enumerate() {
        let row = families.entry(case.family).or_default();
        row[0] += 1;
        if verdict.theirs.is_none() {
            row[1] += 1;
        }
        if verdict.ours.is_some() == verdict.theirs.is_some() {
            continue;
        }
        if let Some((k, at)) = known::find(known, case, verdict) {
            listed.entry((k, known[k].opcodes[at])).or_insert((0, i)).0 += 1;
            row[4] += 1;
            continue;
        }
        let refused = verdict.ours.is_some();
        row[if refused { 2 } else { 3 }] += 1;
        groups.entry((case.family, refused, format!("{}, {}", case.opcode, case.kind))).or_default().push(i);
    }
    let who = |refused: bool| if refused { "we refuse, ptxas accepts" } else { "we accept, ptxas refuses" };
    for ((family, refused, what), list) in &groups {
        println!("\n{family}: {what}: {} ({})", who(*refused), list.len());
        for i in list {
            println!("  {}", line(&cases[*i], &verdicts[*i]));
        }
        if let Some(i) = list.first() {
            batch::minimal(&cases[*i]).lines().for_each(|l| println!("    {l}"));
        }
    }
    if all {
        let mut last = usize::MAX;
        for ((k, opcode), (count, example)) in &listed {
            if last != *k {
                println!("\n{}: {} ({})", known[*k].reason, who(!known[*k].accept), known[*k].kinds.join(", "));
                last = *k;
            }
            println!("  {opcode} ({count}): {}", line(&cases[*example], &verdicts[*example]));
        }
    }
    println!("\n{:22} {:>8} {:>8} {:>9} {:>9} {:>6}", "family", "cases", "legal", "we refuse", "we accept", "known");
    for (family, [cases, legal, refuse, accept, known]) in &families {
        println!("{family:22} {cases:>8} {legal:>8} {refuse:>9} {accept:>9} {known:>6}");
    }
    families.values().map(|row| row[2] + row[3]).sum()
}

/// Every disagreement on a line: who refuses, opcode, kind, number of the entry of the list, target, statement, message.
pub fn dump(cases: &[Case], verdicts: &[Verdict], known: &[Known]) -> String {
    let mut out = String::new();
    for (case, verdict) in cases.iter().zip(verdicts) {
        if verdict.ours.is_some() == verdict.theirs.is_some() {
            continue;
        }
        let message = verdict.ours.as_ref().or(verdict.theirs.as_ref()).map_or("", String::as_str);
        let who = if verdict.ours.is_some() { "refuse" } else { "accept" };
        let entry = known::find(known, case, verdict).map_or("open".into(), |k| k.0.to_string());
        let place = format!("{} {}.{}", case.target, case.version.0, case.version.1);
        out += &[who, case.family, case.opcode, case.kind, &entry, &place, &case.text, message].join("\t");
        out.push('\n');
    }
    out
}

fn line(case: &Case, verdict: &Verdict) -> String {
    let message = verdict.ours.as_ref().or(verdict.theirs.as_ref()).map_or("", String::as_str);
    format!("{} {}.{}: {}\n      {message}", case.target, case.version.0, case.version.1, case.text)
}
