//! The verdicts of the front end and of ptxas on spellings of the table and on mutations of them (`cargo xtask oracle`). They must agree
//! unless `ptxas_verdicts/known.txt` gives a reason.

pub(crate) mod batch;
mod known;
mod mutate;
pub(crate) mod operands;
pub mod place;
mod report;
mod second;
pub mod spell;
pub mod statement;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use ptx_dsl_frontend::isa::syntax::forms;
use ptx_dsl_frontend::isa::{Instr, Ptx};
use ptx_dsl_frontend::table::FAMILIES;

use crate::Random;
use crate::tools::{read, write};
use batch::{Case, Verdict};
use known::Known;
use spell::Spelling;

/// The statements to ask about.
pub struct Options {
    /// The only family.
    pub family: Option<String>,
    /// The seed of the random choices.
    pub seed: u64,
    /// The number of statements.
    pub count: usize,
    /// Prints every disagreement, the listed ones too.
    pub all: bool,
    /// Reports entries of the list that no case needs.
    pub stale: bool,
    /// Asks about every mutation of this many spellings of each form; 0: about random ones.
    pub sweep: usize,
    /// The file for all disagreements, the listed ones too, one line each.
    pub dump: Option<PathBuf>,
}

impl Options {
    /// The statements of a full run.
    pub const FULL: usize = 150_000;

    /// The run of `cargo xtask test`: a fixed seed, all families, a few seconds.
    pub fn of_tests() -> Options {
        Options { family: None, seed: 1, count: 12_000, all: false, stale: false, sweep: 0, dump: None }
    }
}

/// Both verdicts on given statements: lines `sm_90 8.0 add.u32 %r1, %r2, %r3;`.
pub fn ask(ptxas: &Path, file: &Path) -> Result<(), String> {
    let text = read(file)?;
    let case = |line: &str| -> Option<Case> {
        let (target, rest) = line.split_once(' ')?;
        let (version, text) = rest.split_once(' ')?;
        let (major, minor) = version.split_once('.')?;
        let version = Ptx(major.parse().ok()?, minor.parse().ok()?);
        let target = ptx_dsl_frontend::isa::target::target(target)?.name;
        Some(Case { family: "", opcode: "", kind: "", text: text.into(), target, version })
    };
    let cases = text.lines().map(|l| case(l).ok_or(format!("not `target version statement`: {l}")));
    let cases = cases.collect::<Result<Vec<_>, _>>()?;
    // Each alone, with code generation.
    for (case, verdict) in cases.iter().zip(batch::judge_alone(ptxas, &cases.iter().collect::<Vec<_>>())?) {
        let said = |v: Option<String>| v.unwrap_or("accepted".into());
        println!("{}\t{}\t{}\t{}", case.target, case.text, said(verdict.ours), said(verdict.theirs));
    }
    Ok(())
}

/// All cases of a run, their verdicts, and the form of each legal one.
#[derive(Default)]
struct Run {
    cases: Vec<Case>,
    verdicts: Vec<Verdict>,
    sources: Vec<Spelling>,
    /// Mutants so far: none is asked twice.
    seen: HashSet<(String, &'static str, u32, u32)>,
}

/// Compares the verdicts. It is an error if there are disagreements beyond the list, or if a part of the list is out of date.
pub fn compare(ptxas: &Path, options: &Options) -> Result<(), String> {
    let known = known::list()?;
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
    let quota = (options.count / families.len()).max(3);
    let mut run = Run::default();
    run.legal(&families, quota / 3, &mut random);
    run.verdicts = batch::judge(ptxas, &run.cases)?;
    run.second(ptxas, &families, options.count / 5000, &mut random)?;
    if options.sweep > 0 {
        run.sweep(ptxas, &families, options.sweep, &mut random)?;
    } else {
        run.mutants(ptxas, &families, quota, &mut random)?;
    }
    let unused = if options.stale { run.hunt(ptxas, &families, &known, &mut random)? } else { Vec::new() };
    // Disagreements beyond the list are asked again, each case alone.
    let differ = |v: &Verdict| v.ours.is_some() != v.theirs.is_some();
    let open: Vec<usize> = (0..run.cases.len())
        .filter(|i| differ(&run.verdicts[*i]) && known::find(&known, &run.cases[*i], &run.verdicts[*i]).is_none())
        .collect();
    let again = batch::judge_alone(ptxas, &open.iter().map(|i| &run.cases[*i]).collect::<Vec<_>>())?;
    open.into_iter().zip(again).for_each(|(i, verdict)| run.verdicts[i] = verdict);
    if let Some(file) = &options.dump {
        write(file, report::dump(&run.cases, &run.verdicts, &known).as_bytes())?;
    }
    let left = report::print(&run.cases, &run.verdicts, &known, options.all);
    for (k, opcode) in &unused {
        println!("out of date in ptxas_verdicts/known.txt: `{opcode}` under `{}`", known[*k].reason);
    }
    println!("{} cases in {:.0} s", run.cases.len(), start.elapsed().as_secs_f64());
    match (left, unused.len()) {
        (0, 0) => Ok(()),
        (0, n) => Err(format!("{n} entries of ptxas_verdicts/known.txt are out of date")),
        _ => Err(format!("{left} disagreements beyond ptxas_verdicts/known.txt")),
    }
}

impl Run {
    /// Spellings of the table, for a target that has the instruction and for another one.
    fn legal(&mut self, families: &BTreeMap<&'static str, Vec<&'static Instr>>, most: usize, random: &mut Random) {
        for (family, entries) in families {
            // Some of each entry, so that entries with few spellings are included, then as many of the others as fit.
            let some = (most / entries.len()).clamp(1, 12);
            let (mut found, mut rest) = (Vec::new(), Vec::new());
            for entry in entries {
                let mut own: Vec<Spelling> = Vec::new();
                spell::spellings(family, entry, most, random, &mut own);
                let step = own.len().div_ceil(some).max(1);
                for (n, spelling) in own.into_iter().enumerate() {
                    if n % step == 0 { found.push(spelling) } else { rest.push(spelling) }
                }
            }
            random.thin(&mut rest, most.saturating_sub(found.len()));
            found.append(&mut rest);
            for spelling in found {
                let homes = place::homes(spelling.entry);
                let home = random.pick(&homes).copied().unwrap_or("sm_100a");
                let mut places = vec![home];
                if random.below(3) == 0 {
                    places.push(place::anywhere(random));
                }
                for target in places {
                    let text = spelling.statement.to_string();
                    let (opcode, version) = (spelling.entry.opcode, place::NEWEST);
                    self.cases.push(Case { family, opcode, kind: "legal", text, target, version });
                    self.sources.push(spelling.clone());
                }
            }
        }
    }

    /// Statements of the second source, so many of each spelling, for a target that has the instruction.
    fn second(
        &mut self,
        ptxas: &Path,
        families: &BTreeMap<&'static str, Vec<&'static Instr>>,
        each: usize,
        random: &mut Random,
    ) -> Result<(), String> {
        let mut cases = Vec::new();
        for text in second::statements(each, random) {
            // Several entries may share an opcode; one opcode begins others.
            let is = |e: &Instr| text.strip_prefix(e.opcode).is_some_and(|rest| rest.starts_with(['.', ' ', ':']));
            let all = families.iter().flat_map(|(family, list)| list.iter().map(move |e| (*family, *e)));
            let of: Vec<_> = all.filter(|(_, e)| is(e)).collect();
            let longest = of.iter().map(|(_, e)| e.opcode.len()).max();
            let of: Vec<_> = of.into_iter().filter(|(_, e)| Some(e.opcode.len()) == longest).collect();
            let Some((family, entry)) = random.pick(&of).copied() else { continue };
            let target = random.pick(&place::homes(entry)).copied().unwrap_or("sm_100a");
            // Only the operands differ.
            let (opcode, version) = (entry.opcode, place::NEWEST);
            cases.push(Case { family, opcode, kind: "operand kind", text, target, version });
        }
        self.judge(ptxas, cases)
    }

    /// The legal cases that both accept.
    fn accepted(&self) -> impl Iterator<Item = usize> {
        let fine = |v: &Verdict| v.ours.is_none() && v.theirs.is_none();
        (0..self.sources.len()).filter(move |i| fine(&self.verdicts[*i]))
    }

    /// Mutations of what both accept, so many for each family.
    fn mutants(
        &mut self,
        ptxas: &Path,
        families: &BTreeMap<&'static str, Vec<&'static Instr>>,
        quota: usize,
        random: &mut Random,
    ) -> Result<(), String> {
        let mut legal: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for i in self.accepted() {
            legal.entry(self.cases[i].family).or_default().push(i);
        }
        let mut mutants = Vec::new();
        for (family, of) in &legal {
            let have = self.cases.iter().filter(|c| c.family == *family).count();
            let words = words(&families[family]);
            let mut missing = quota.saturating_sub(have);
            let mut tries = missing * 3;
            while missing > 0 && tries > 0 {
                tries -= 1;
                let Some(&i) = random.pick(of) else { break };
                if let Some(mutant) = self.mutant(i, &words, random) {
                    mutants.push(mutant);
                    missing -= 1;
                }
            }
        }
        self.judge(ptxas, mutants)
    }

    /// Every mutation of so many spellings of each form that both accept, in random order.
    fn sweep(
        &mut self,
        ptxas: &Path,
        families: &BTreeMap<&'static str, Vec<&'static Instr>>,
        each: usize,
        random: &mut Random,
    ) -> Result<(), String> {
        let all: Vec<&'static Instr> = families.values().flatten().copied().collect();
        let words = words(&all);
        let mut forms: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for i in self.accepted() {
            let entry = std::ptr::from_ref(self.sources[i].entry) as usize;
            forms.entry((entry, self.sources[i].form)).or_default().push(i);
        }
        let mut mutants = Vec::new();
        for mut of in forms.into_values() {
            random.thin(&mut of, each);
            for i in of {
                self.all_mutants(i, &words, &[], random, &mut mutants);
            }
        }
        self.judge(ptxas, mutants)
    }

    /// Every mutation of this case, of these kinds or of any.
    fn all_mutants(&mut self, i: usize, words: &Words, kinds: &[&str], random: &mut Random, out: &mut Vec<Case>) {
        let (case, entry) = (&self.cases[i], self.sources[i].entry);
        let wanted = |kind: &str| kinds.is_empty() || kinds.contains(&kind);
        let near = words.get(first(entry)).map_or(&[][..], Vec::as_slice);
        let mutations = mutate::all(&self.sources[i].statement, near, random).into_iter();
        let mutations = mutations.filter(|(kind, _)| wanted(kind));
        let mut found: Vec<Case> =
            mutations.map(|(kind, statement)| Case { kind, text: statement.to_string(), ..case.clone() }).collect();
        if wanted("version or target") {
            let edge = |(target, version)| Case { kind: "version or target", target, version, ..case.clone() };
            found.extend(place::edges(entry).into_iter().map(edge));
        }
        found.retain(|c| self.seen.insert((c.text.clone(), c.target, c.version.0, c.version.1)));
        out.append(&mut found);
    }

    fn judge(&mut self, ptxas: &Path, mutants: Vec<Case>) -> Result<(), String> {
        self.verdicts.extend(batch::judge(ptxas, &mutants)?);
        self.cases.extend(mutants);
        Ok(())
    }

    /// A new mutation of this case.
    fn mutant(&mut self, i: usize, words: &Words, random: &mut Random) -> Option<Case> {
        let (case, entry) = (&self.cases[i], self.sources[i].entry);
        let mut mutant = case.clone();
        if random.below(5) == 0 {
            let edges = place::edges(entry);
            let (target, version) = random.pick(&edges).copied()?;
            (mutant.kind, mutant.target, mutant.version) = ("version or target", target, version);
        } else {
            let near = words.get(first(entry)).map_or(&[][..], Vec::as_slice);
            let (kind, statement) = mutate::mutate(&self.sources[i].statement, near, random)?;
            (mutant.kind, mutant.text) = (kind, statement.to_string());
        }
        let version = mutant.version;
        self.seen.insert((mutant.text.clone(), mutant.target, version.0, version.1)).then_some(mutant)
    }

    /// Entries of the list that no case needs, although the mutations of their kinds of many spellings of their opcodes were
    /// tried: they are out of date. ptxas is only asked about statements that we refuse as the entry says.
    fn hunt(
        &mut self,
        ptxas: &Path,
        families: &BTreeMap<&'static str, Vec<&'static Instr>>,
        known: &[Known],
        random: &mut Random,
    ) -> Result<Vec<(usize, &'static str)>, String> {
        let all: Vec<&'static Instr> = families.values().flatten().copied().collect();
        let words = words(&all);
        let mut opcodes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for i in self.accepted() {
            opcodes.entry(self.cases[i].opcode).or_default().push(i);
            opcodes.entry("*").or_default().push(i);
        }
        let seen = std::mem::take(&mut self.seen);
        for (spellings, most) in [(4, 60), (30, 400), (300, 3000)] {
            let mut asked = Vec::new();
            for (k, opcode) in self.unused(known, &all) {
                let mut of = opcodes.get(opcode).cloned().unwrap_or_default();
                random.thin(&mut of, spellings);
                // Another entry may accept what this one does not.
                self.seen.clear();
                let mut mutants = Vec::new();
                of.iter().for_each(|i| self.all_mutants(*i, &words, &known[k].kinds, random, &mut mutants));
                let mut hits = Vec::new();
                for (case, ours) in mutants.iter().zip(batch::ours(&mutants)?) {
                    let here = |v: &Verdict| known::find(known, case, v).is_some_and(|place| place.0 == k);
                    if known[k].accept == ours.is_none() && (ours.is_none() || here(&Verdict { ours, theirs: None })) {
                        hits.push(case.clone());
                    }
                }
                random.thin(&mut hits, most);
                asked.append(&mut hits);
            }
            self.judge(ptxas, asked)?;
        }
        self.seen = seen;
        Ok(self.unused(known, &all))
    }

    fn unused(&self, known: &[Known], entries: &[&'static Instr]) -> Vec<(usize, &'static str)> {
        let judged = self.cases.iter().zip(&self.verdicts);
        let disagreements = judged.filter(|(_, verdict)| verdict.ours.is_some() != verdict.theirs.is_some());
        let used: HashSet<known::Place> =
            disagreements.filter_map(|(case, verdict)| known::find(known, case, verdict)).collect();
        // An entry for all opcodes is only looked for in runs of all families, an opcode in all of its families.
        let every = || FAMILIES.iter().flat_map(|f| f.1);
        let count =
            |list: &mut dyn Iterator<Item = &Instr>, o: &str| list.filter(|e| o == "*" || e.opcode == o).count();
        let here = |o: &str| count(&mut entries.iter().copied(), o) == count(&mut every(), o);
        let opcodes = known
            .iter()
            .enumerate()
            .flat_map(|(k, entry)| entry.opcodes.iter().enumerate().map(move |(at, opcode)| ((k, at), *opcode)));
        let unused = opcodes.filter(|(place, opcode)| !used.contains(place) && here(opcode));
        unused.map(|((k, _), opcode)| (k, opcode)).collect()
    }
}

fn first(entry: &Instr) -> &'static str {
    entry.opcode.split('.').next().unwrap_or("")
}

/// A list of the ISA's qualifiers that does not come from the table.
const SECOND_SOURCE: &str = include_str!("../../crates/ptx-dsl-frontend/tests/forms/words.txt");

/// Qualifiers by the first word of the opcode.
type Words = BTreeMap<&'static str, Vec<String>>;

fn words(entries: &[&'static Instr]) -> Words {
    let mut out = Words::new();
    for entry in entries {
        let list = out.entry(first(entry)).or_default();
        list.extend(entry.opcode.split('.').skip(1).map(str::to_string));
        list.extend(forms(entry).iter().flat_map(|f| &f.slots).flat_map(|s| s.words().into_iter().map(String::from)));
    }
    for (first, list) in &mut out {
        let line = SECOND_SOURCE.lines().find_map(|l| l.strip_prefix(first)?.strip_prefix(": "));
        list.extend(line.into_iter().flat_map(str::split_whitespace).map(str::to_string));
    }
    out.values_mut().for_each(|list| {
        list.sort();
        list.dedup();
    });
    out
}
