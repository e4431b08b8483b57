//! `cargo xtask oracle`: what the table spells, and mutations of it, before the front end and ptxas. Both say the same of each
//! case, or `oracle/known.txt` says why not.

mod batch;
mod known;
mod mutate;
mod operands;
mod place;
mod random;
mod spell;
mod statement;

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use ptx_dsl_syntax::isa::syntax::forms;
use ptx_dsl_syntax::isa::{FAMILIES, Instr};

use batch::{Case, Verdict};
use random::Random;
use spell::Spelling;

/// What is asked for.
struct Options {
    family: Option<String>,
    seed: u64,
    count: usize,
    all: bool,
}

fn options(arguments: &[&str]) -> Result<Options, String> {
    let mut options = Options { family: None, seed: 1, count: 150_000, all: false };
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        let mut value = || rest.next().copied().ok_or(format!("`{name}` needs a value"));
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no number"));
        match *name {
            "--family" => options.family = Some(value()?.to_string()),
            "--seed" => options.seed = number(value()?)?,
            "--count" => options.count = number(value()?)? as usize,
            "--all" => options.all = true,
            _ => return Err(format!("unknown argument `{name}`")),
        }
    }
    Ok(options)
}

/// Runs it; an error when the two disagree beyond the list.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let options = options(arguments)?;
    let known = known::list()?;
    let ptxas = crate::ptxas::find_or_fetch()?;
    let mut families: BTreeMap<&'static str, Vec<&'static Instr>> = BTreeMap::new();
    for (name, list) in FAMILIES.iter().filter(|(name, _)| options.family.as_ref().is_none_or(|f| f == name)) {
        families.entry(name).or_default().extend(list.iter());
    }
    if families.is_empty() {
        let names: HashSet<_> = FAMILIES.iter().map(|f| f.0).collect();
        return Err(format!("no such family; there are {names:?}"));
    }
    let start = Instant::now();
    let mut random = Random::new(options.seed);
    let quota = options.count / families.len();
    // First what the table spells, where the instruction is at home and somewhere else.
    let (mut cases, mut sources) = (Vec::new(), Vec::new());
    for (family, entries) in &families {
        let mut found: Vec<Spelling> = Vec::new();
        entries.iter().for_each(|e| spell::spellings(family, e, &mut random, &mut found));
        random.thin(&mut found, quota / 3);
        for spelling in found {
            let homes = place::homes(spelling.entry);
            let home = random.pick(&homes).copied().unwrap_or("sm_100a");
            let mut places = vec![home];
            if random.below(3) == 0 {
                places.push(place::anywhere(&mut random));
            }
            for target in places {
                cases.push(Case {
                    family,
                    kind: "legal",
                    text: spelling.statement.to_string(),
                    target,
                    version: place::NEWEST,
                });
                sources.push(spelling.clone());
            }
        }
    }
    let mut verdicts = batch::judge(&ptxas, &cases)?;
    // Then mutations of what both accept.
    let mut legal: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, verdict) in verdicts.iter().enumerate() {
        if verdict.ours.is_none() && verdict.theirs.is_none() {
            legal.entry(cases[i].family).or_default().push(i);
        }
    }
    let mut known_cases: HashSet<(String, &str, u32, u32)> = HashSet::new();
    let mut mutants = Vec::new();
    for (family, sources_of) in &legal {
        let have = cases.iter().filter(|c| c.family == *family).count();
        let mut missing = quota.saturating_sub(have);
        let mut tries = missing * 3;
        let words = words(&families[family]);
        while missing > 0 && tries > 0 {
            tries -= 1;
            let Some(&i) = random.pick(sources_of) else { break };
            let (case, entry) = (&cases[i], sources[i].entry);
            let mut mutant = case.clone();
            if random.below(5) == 0 {
                let edges = place::edges(entry);
                let Some((target, version)) = random.pick(&edges).copied() else { continue };
                (mutant.kind, mutant.target, mutant.version) = ("version or target", target, version);
            } else {
                let near = words.get(first(entry)).map_or(&[][..], Vec::as_slice);
                let Some((kind, statement)) = mutate::mutate(&sources[i].statement, near, &mut random) else {
                    continue;
                };
                (mutant.kind, mutant.text) = (kind, statement.to_string());
            }
            if known_cases.insert((mutant.text.clone(), mutant.target, mutant.version.0, mutant.version.1)) {
                mutants.push(mutant);
                missing -= 1;
            }
        }
    }
    verdicts.extend(batch::judge(&ptxas, &mutants)?);
    cases.extend(mutants);
    // What they disagree on is asked again, each case alone.
    let differ = |v: &Verdict| v.ours.is_some() != v.theirs.is_some();
    let open: Vec<usize> = (0..cases.len())
        .filter(|i| differ(&verdicts[*i]) && !known.iter().any(|k| k.is(&cases[*i], &verdicts[*i])))
        .collect();
    let again = batch::judge_alone(&ptxas, &open.iter().map(|i| &cases[*i]).collect::<Vec<_>>())?;
    open.into_iter().zip(again).for_each(|(i, verdict)| verdicts[i] = verdict);
    let left = report(&cases, &verdicts, &known, options.all);
    println!("{} cases in {:.0} s", cases.len(), start.elapsed().as_secs_f64());
    if left == 0 { Ok(()) } else { Err(format!("{left} disagreements beyond oracle/known.txt")) }
}

fn first(entry: &Instr) -> &'static str {
    entry.opcode.split('.').next().unwrap_or("")
}

/// All qualifiers by the first word of the opcode.
fn words(entries: &[&'static Instr]) -> BTreeMap<&'static str, Vec<String>> {
    let mut out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in entries {
        let list = out.entry(first(entry)).or_default();
        list.extend(entry.opcode.split('.').skip(1).map(str::to_string));
        list.extend(forms(entry).iter().flat_map(|f| &f.slots).flat_map(|s| s.alts.iter().map(|a| a.to_string())));
    }
    out.values_mut().for_each(|list| {
        list.sort();
        list.dedup();
    });
    out
}

/// Prints the agreement by family and each disagreement, one of a kind with a module; gives the number of those that are not
/// known.
fn report(cases: &[Case], verdicts: &[Verdict], known: &[known::Known], all: bool) -> usize {
    let mut families: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    let mut groups: BTreeMap<(&str, bool, String), Vec<usize>> = BTreeMap::new();
    let mut used = vec![0usize; known.len()];
    for (i, (case, verdict)) in cases.iter().zip(verdicts).enumerate() {
        let row = families.entry(case.family).or_default();
        row[0] += 1;
        if verdict.theirs.is_none() {
            row[1] += 1;
        }
        if verdict.ours.is_some() == verdict.theirs.is_some() {
            continue;
        }
        if let Some(k) = known.iter().position(|k| k.is(case, verdict)) {
            used[k] += 1;
            row[4] += 1;
            continue;
        }
        let refused = verdict.ours.is_some();
        row[if refused { 2 } else { 3 }] += 1;
        let text = if case.text.starts_with('@') { case.text.split_once(' ').map_or("", |t| t.1) } else { &case.text };
        let opcode = text.split(['.', ' ', ';']).next().unwrap_or("");
        groups.entry((case.family, refused, format!("{opcode}, {}", case.kind))).or_default().push(i);
    }
    for ((family, refused, what), list) in &groups {
        let who = if *refused { "we refuse, ptxas accepts" } else { "we accept, ptxas refuses" };
        println!("\n{family}: {what}: {who} ({})", list.len());
        let shown = if all { list.len() } else { 4 };
        for i in list.iter().take(shown) {
            let (case, verdict) = (&cases[*i], &verdicts[*i]);
            let message = verdict.ours.as_ref().or(verdict.theirs.as_ref()).map_or("", String::as_str);
            println!("  {} {}.{}: {}\n      {message}", case.target, case.version.0, case.version.1, case.text);
        }
        if all && let Some(i) = list.first() {
            println!("{}", batch::alone(&cases[*i]));
        }
    }
    println!("\n{:22} {:>8} {:>8} {:>9} {:>9} {:>6}", "family", "cases", "legal", "we refuse", "we accept", "known");
    for (family, [cases, legal, refuse, accept, known]) in &families {
        println!("{family:22} {cases:>8} {legal:>8} {refuse:>9} {accept:>9} {known:>6}");
    }
    if all {
        known.iter().zip(&used).for_each(|(k, n)| println!("known: {n:>6} {}", k.reason));
    }
    families.values().map(|row| row[2] + row[3]).sum()
}
