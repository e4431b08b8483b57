//! nvcc's own output as a test of the front end: every program of `tests/nvcc` is compiled to PTX, which must be accepted
//! without an error and print as a module that ptxas makes the same machine code of.

mod cubin;
mod fetch;
mod job;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::ptxas::root;
use job::{Job, Outcome, Verdict};

/// One for each generation that nvcc 13.5 knows.
const TARGETS: [&str; 5] = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"];
/// What every program is compiled for in each run; of the others each program gets one, by its place in the list.
const ALWAYS: [&str; 2] = ["sm_90a", "sm_100a"];

/// What the command line asks for.
#[derive(Debug, Default)]
pub struct Wanted {
    /// All targets for all programs.
    all: bool,
    /// No other target.
    target: Option<String>,
    /// Programs whose names hold one of these; empty: all.
    names: Vec<String>,
}

impl Wanted {
    /// Reads `[--all] [--target sm_NN] [NAME...]`.
    pub fn parse(arguments: &[&str]) -> Result<Self, String> {
        let mut wanted = Wanted::default();
        let mut rest = arguments.iter();
        while let Some(&argument) = rest.next() {
            match argument {
                "--all" => wanted.all = true,
                "--target" => {
                    let target = *rest.next().ok_or("`--target` wants a target")?;
                    if !TARGETS.contains(&target) {
                        return Err(format!("`{target}` is none of {}", TARGETS.join(", ")));
                    }
                    wanted.target = Some(target.to_owned());
                }
                option if option.starts_with('-') => return Err(format!("`{option}` is no option of `nvcc`")),
                name => wanted.names.push(name.to_owned()),
            }
        }
        Ok(wanted)
    }
}

/// A program and what its first lines ask for.
#[derive(Debug)]
struct Program {
    name: String,
    path: PathBuf,
    /// `// nvcc: ...`: more options.
    options: Vec<String>,
    /// `// targets: ...`; empty: all.
    targets: Vec<String>,
}

/// Runs the jobs and prints the table. Without nvcc that is a failure if `strict`, else one line.
pub fn run(wanted: &Wanted, strict: bool) -> Result<(), String> {
    let nvcc = match fetch::find_or_fetch() {
        Ok(path) => path,
        Err(reason) if strict || std::env::var_os("NVCC").is_some() => return Err(format!("no nvcc: {reason}")),
        Err(reason) => {
            eprintln!("skipped: the modules of tests/nvcc ({reason})");
            return Ok(());
        }
    };
    let programs = programs(&root().join("tests").join("nvcc"))?;
    let output = root().join("target").join("nvcc-out");
    std::fs::create_dir_all(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    let mut jobs = Vec::new();
    for (place, program) in programs.iter().enumerate() {
        if !wanted.names.is_empty() && !wanted.names.iter().any(|name| program.name.contains(name.as_str())) {
            continue;
        }
        for target in targets(program, place, wanted) {
            jobs.push(Job::new(&nvcc, &output, program, target));
        }
    }
    if jobs.is_empty() {
        return Err("no program of tests/nvcc matches".to_owned());
    }
    let start = Instant::now();
    let outcomes = outcomes(&jobs);
    print!("{}", table::render(&TARGETS, &outcomes));
    let mut warnings = BTreeMap::new();
    for code in outcomes.iter().flat_map(|outcome| &outcome.warnings) {
        *warnings.entry(*code).or_insert(0usize) += 1;
    }
    if !warnings.is_empty() {
        let list: Vec<_> = warnings.iter().map(|(code, count)| format!("PTX{code:04} {count}")).collect();
        println!("warnings: {}", list.join(", "));
    }
    let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.verdict != Verdict::Same).collect();
    for outcome in &failed {
        println!("\n{} for {}: {}\n{}", outcome.program, outcome.target, outcome.verdict, outcome.details.trim_end());
    }
    let seconds = start.elapsed().as_secs_f64();
    if failed.is_empty() {
        eprintln!(
            "> nvcc: {} modules accepted, printed and assembled to the same code, {seconds:.1} s",
            outcomes.len()
        );
        return Ok(());
    }
    Err(format!("{} of {} modules of nvcc failed ({seconds:.1} s)", failed.len(), outcomes.len()))
}

fn targets<'a>(program: &'a Program, place: usize, wanted: &'a Wanted) -> Vec<&'static str> {
    let fits = |target: &&str| program.targets.is_empty() || program.targets.iter().any(|t| t == target);
    let possible: Vec<&'static str> = TARGETS.into_iter().filter(fits).collect();
    if let Some(only) = &wanted.target {
        return possible.into_iter().filter(|t| t == only).collect();
    }
    if wanted.all {
        return possible;
    }
    let (mut chosen, others): (Vec<_>, Vec<_>) = possible.into_iter().partition(|t| ALWAYS.contains(t));
    if !others.is_empty() {
        chosen.push(others[place % others.len()]);
    }
    chosen
}

fn programs(directory: &Path) -> Result<Vec<Program>, String> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let entries = std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    paths.sort();
    let mut programs = Vec::new();
    for path in paths {
        let text = read(&path)?;
        let words = |key: &str| -> Vec<String> {
            let lines = text.lines().take_while(|line| line.starts_with("//"));
            let found = lines.filter_map(|line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "));
            found.flat_map(str::split_whitespace).map(str::to_owned).collect()
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        programs.push(Program { name, options: words("nvcc"), targets: words("targets"), path });
    }
    Ok(programs)
}

/// The outcomes in the order of the jobs, which run on all processors.
fn outcomes(jobs: &[Job]) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((index, job)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, jobs.get(i)?)))
        {
            done.push((index, job.run()));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(2, |threads| threads.get().min(8));
    let mut done: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}
