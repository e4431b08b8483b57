//! `ptx-dsl resources`: registers, spills, stack and shared memory of each kernel, how many CTAs fit on an SM, and what limits that.

pub mod occupancy;

use clap::{Arg, ArgMatches, Command};
use occupancy::{Needs, SMS, Sm};
use ptx_dsl::load::{Kernel, Options};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use crate::check;
use crate::input::{Input, input};

const AFTER: &str = "\
Registers, spills and stack are what ptxas says: that of the environment variable PTXAS, or the one in the path. `pip install
nvidia-cuda-nvcc` has one. Without it, only threads and shared memory are known, and the CTAs are an upper bound.
The targets are that of the module and, unless it has a suffix such as `a`, those after it that ptxas compiles it for.
Of a Rust file (.rs) all modules of `ptx!` are shown, as `ptx-dsl print` writes them.
With `--baseline`, the exit status is 1 if a kernel spills more bytes, or fewer of its CTAs fit, than in the file that `--save` wrote.";

/// The command line.
pub fn command() -> Command {
    let number = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).value_parser(clap::value_parser!(u32))
    };
    let file = |name: &'static str, help: &'static str| Arg::new(name).long(name).value_name("FILE").help(help);
    Command::new("resources")
        .about(
            "Shows registers, spills and shared memory of each kernel, CTAs and warps of an SM, and what limits them",
        )
        .after_help(AFTER)
        .args([
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .value_parser(clap::value_parser!(OsString))
                .help("A file of PTX, or of Rust (.rs) with `ptx!`; `-` is standard input"),
            number("block", "N", "Threads of a CTA; by default `.reqntid` or else `.maxntid`"),
            number("shared", "BYTES", "Dynamic shared memory of a CTA").default_value("0"),
            file("baseline", "Compares with this file"),
            file("save", "Writes this file, for `--baseline`"),
        ])
}

/// What ptxas says of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Used {
    registers: u32,
    spilled: u32,
    stack: u32,
    shared: u32,
    barriers: u32,
}

/// A line of the table, and of the file of a baseline.
struct Row {
    kernel: String,
    target: String,
    spilled: u32,
    blocks: u32,
}

/// Runs the command: the exit status.
pub fn run(matches: &ArgMatches) -> Result<u8, String> {
    let file = matches.get_one("file").map_or(Input::Stdin, |path: &OsString| input(path));
    let (mut out, mut rows) = (String::new(), Vec::new());
    let modules = check::modules(&file)?;
    for text in &modules {
        module(matches, &file, text, &mut out, &mut rows)?;
    }
    if out.is_empty() {
        return Err(format!("`{}` has no kernel", file.name()));
    }
    crate::write_out(&out);
    if let Some(path) = matches.get_one::<String>("save") {
        std::fs::write(path, saved(&rows)).map_err(|e| format!("cannot write `{path}`: {e}"))?;
    }
    match matches.get_one::<String>("baseline") {
        Some(path) => compared(path, &rows),
        None => Ok(0),
    }
}

/// Adds the tables of the kernels of a module.
fn module(matches: &ArgMatches, file: &Input, text: &str, out: &mut String, rows: &mut Vec<Row>) -> Result<(), String> {
    let name = file.name();
    let module = Options::new()
        .name(&name)
        .parse(text)
        .map_err(|_| format!("`{name}` has errors; `ptx-dsl check {}` shows them", file.argument()))?;
    if module.kernels().is_empty() {
        return Ok(());
    }
    let (own, mut missing) = (module.target().to_owned(), None);
    let compiled: Vec<(String, Sm, BTreeMap<String, Used>)> = targets(&own)
        .into_iter()
        .filter_map(|(target, sm)| match ptxas(text, &target) {
            Ok(used) => Some((target, sm, used)),
            // what ptxas does not compile is no target of the module
            Err(Trouble::Refused(_)) if target != own => None,
            Err(Trouble::Refused(error)) => {
                let _ = writeln!(out, "note: {error}");
                None
            }
            Err(Trouble::Missing(error)) => {
                missing.get_or_insert(error);
                Some((target, sm, BTreeMap::new()))
            }
        })
        .collect();
    for kernel in module.kernels() {
        table(matches, kernel, &compiled, out, rows);
    }
    if let Some(missing) = missing {
        let _ = writeln!(out, "note: {missing}");
        *out += "note: registers, spills and static shared memory are not known without it, so the CTAs are at most these\n";
    }
    Ok(())
}

/// The CTAs of a kernel that fit on an SM of the target with this number, if a ptxas compiles the module for it.
pub fn ctas_per_sm(text: &str, kernel: &str, target: u32, threads: u32, dynamic: u32) -> Option<u32> {
    let sm = SMS.into_iter().find(|sm| sm.target == target)?;
    // features of a target (`sm_90a`) need its name
    let names = [format!("sm_{target}a"), format!("sm_{target}")];
    let used = names.iter().find_map(|name| ptxas(text, name).ok())?.get(kernel).copied()?;
    let needs = Needs { threads, registers: Some(used.registers), shared: used.shared.saturating_add(dynamic) };
    Some(sm.occupancy(&needs).blocks)
}

/// The targets to compile for: that of the module, and those after it that run the same PTX.
fn targets(own: &str) -> Vec<(String, Sm)> {
    let digits = own.trim_start_matches("sm_");
    let number: u32 = digits.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
    let is_plain = digits.chars().all(|c| c.is_ascii_digit());
    let runs = |sm: &Sm| if is_plain { sm.target >= number } else { sm.target == number };
    let name = |sm: Sm| (if sm.target == number { own.to_owned() } else { format!("sm_{}", sm.target) }, sm);
    SMS.into_iter().filter(runs).map(name).collect()
}

/// Adds the table of a kernel.
fn table(
    matches: &ArgMatches,
    kernel: &Kernel,
    compiled: &[(String, Sm, BTreeMap<String, Used>)],
    out: &mut String,
    rows: &mut Vec<Row>,
) {
    let volume = |dims: [u32; 3]| dims.iter().fold(1u32, |n, d| n.saturating_mul(*d));
    let block = matches.get_one("block").copied();
    let block = block.or(kernel.required_block().or(kernel.largest_block()).map(volume));
    let dynamic = matches.get_one("shared").copied().unwrap_or(0u32);
    let Some(threads) = block else {
        let _ = writeln!(out, "`{}`: it does not say how many threads a CTA has; give `--block`", kernel.name());
        return;
    };
    let _ = writeln!(out, "`{}`, {threads} threads, {dynamic} bytes of dynamic shared memory", kernel.name());
    let _ = writeln!(
        out,
        "{:8} {:>9} {:>7} {:>6} {:>7} {:>8} {:>7} {:>6}  limited by",
        "target", "registers", "spilled", "stack", "shared", "barriers", "CTAs/SM", "warps"
    );
    for (target, sm, all) in compiled {
        let used = all.get(kernel.name()).copied();
        let shared = used.map_or(0, |used| used.shared).saturating_add(dynamic);
        let needs = Needs { threads, registers: used.map(|used| used.registers), shared };
        let now = sm.occupancy(&needs);
        let limits: Vec<&str> = now.limits.iter().map(|limit| limit.name()).collect();
        let next = sm.next(&needs, &now).map(|next| format!("; one more needs {next}")).unwrap_or_default();
        let [registers, spilled, stack, of_module, barriers] = match used {
            Some(u) => [u.registers, u.spilled, u.stack, u.shared, u.barriers].map(|n| n.to_string()),
            None => ["?"; 5].map(str::to_owned),
        };
        let _ = writeln!(
            out,
            "{target:8} {registers:>9} {spilled:>7} {stack:>6} {of_module:>7} {barriers:>8} {:>7} {:>6}  {}{next}",
            now.blocks,
            format!("{}/{}", now.warps, now.most_warps),
            limits.join(", ")
        );
        if let Some(used) = used {
            let (kernel, target) = (kernel.name().to_owned(), target.clone());
            rows.push(Row { kernel, target, spilled: used.spilled, blocks: now.blocks });
        }
    }
}

/// Why ptxas says nothing.
enum Trouble {
    /// It does not run.
    Missing(String),
    /// It does not compile the module for the target.
    Refused(String),
}

/// What ptxas says of the kernels of a module, by name.
fn ptxas(text: &str, target: &str) -> Result<BTreeMap<String, Used>, Trouble> {
    let path = std::env::var_os("PTXAS").filter(|path| !path.is_empty()).unwrap_or_else(|| "ptxas".into());
    let folder = std::env::temp_dir();
    let temporary = |end: &str| folder.join(format!("ptx-dsl-resources-{}-{target}.{end}", std::process::id()));
    let (source, object) = (temporary("ptx"), temporary("cubin"));
    std::fs::write(&source, text).map_err(|e| Trouble::Missing(format!("cannot write `{}`: {e}", source.display())))?;
    let mut command = std::process::Command::new(&path);
    command.arg("-v").arg(format!("-arch={target}")).arg(&source).arg("-o").arg(&object);
    let output = command.output();
    let remove = |file: &Path| drop(std::fs::remove_file(file));
    remove(&source);
    remove(&object);
    let missing = || format!("`{}` does not run; set PTXAS to a ptxas", Path::new(&path).display());
    let output = output.map_err(|_| Trouble::Missing(missing()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let first = said.lines().find(|line| line.contains("error") || line.contains("fatal")).unwrap_or("it failed");
        return Err(Trouble::Refused(format!("ptxas for {target}: {}", first.trim())));
    }
    Ok(parsed(&said))
}

/// The number before some words.
fn before(line: &str, words: &str) -> Option<u32> {
    line[..line.find(words)?].split_whitespace().next_back()?.parse().ok()
}

/// The output of `ptxas -v`.
fn parsed(said: &str) -> BTreeMap<String, Used> {
    let (mut all, mut entry, mut function) = (BTreeMap::<String, Used>::new(), String::new(), String::new());
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            entry = rest.split('\'').next().unwrap_or_default().to_owned();
            all.entry(entry.clone()).or_default();
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            function = name.trim().to_owned();
        }
        let Some(used) = all.get_mut(&entry) else { continue };
        // those of functions that the kernel calls are part of its stack already
        if function == entry
            && let Some(stack) = before(line, " bytes stack frame")
        {
            used.stack = stack;
            used.spilled = before(line, " bytes spill stores").unwrap_or(0);
        }
        if let Some(registers) = before(line, " registers") {
            used.registers = registers;
            used.barriers = before(line, " barriers").unwrap_or(0);
            used.shared = before(line, " bytes smem").unwrap_or(0);
        }
    }
    all
}

fn saved(rows: &[Row]) -> String {
    let line = |row: &Row| format!("{} {} spilled {} CTAs {}\n", row.kernel, row.target, row.spilled, row.blocks);
    rows.iter().map(line).collect()
}

/// Compares with the file of a baseline: 1 if something is worse.
fn compared(path: &str, rows: &[Row]) -> Result<u8, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read `{path}`: {e}"))?;
    let mut worse = 0;
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let numbers = match words[..] {
            [kernel, target, "spilled", spilled, "CTAs", blocks] => {
                spilled.parse::<u32>().ok().zip(blocks.parse::<u32>().ok()).map(|numbers| (kernel, target, numbers))
            }
            _ => None,
        };
        let Some((kernel, target, (spilled, blocks))) = numbers else {
            return Err(format!("`{path}` is not a file of `--save`: `{line}`"));
        };
        let report = match rows.iter().find(|row| row.kernel == kernel && row.target == target) {
            None => format!("`{kernel}` for {target}: it is not there any more, or ptxas did not compile it"),
            Some(row) if row.spilled > spilled => {
                format!("`{kernel}` for {target} spills {} bytes instead of {spilled}", row.spilled)
            }
            Some(row) if row.blocks < blocks => {
                format!("`{kernel}` for {target}: {} CTAs fit on an SM instead of {blocks}", row.blocks)
            }
            Some(_) => continue,
        };
        worse += 1;
        crate::write_err(&format!("error: {report}\n"));
    }
    Ok(u8::from(worse > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_ptxas_is_read() {
        let said = "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'k' for 'sm_90'\n\
                    ptxas info    : Function properties for k\n    24 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n\
                    ptxas info    : Used 14 registers, used 1 barriers, 24 bytes cumulative stack size, 16384 bytes smem\n\
                    ptxas info    : Function properties for f\n    8 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads\n\
                    ptxas info    : Compiling entry function 'other' for 'sm_90'\n\
                    ptxas info    : Function properties for other\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
                    ptxas info    : Used 8 registers\n";
        let all = parsed(said);
        assert_eq!(all["k"], Used { registers: 14, spilled: 16, stack: 24, shared: 16384, barriers: 1 });
        assert_eq!(all["other"], Used { registers: 8, ..Used::default() });
    }

    #[test]
    fn a_target_with_a_suffix_stands_alone() {
        let names = |own| targets(own).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names("sm_90a"), ["sm_90a"]);
        assert_eq!(names("sm_103"), ["sm_103", "sm_110", "sm_120", "sm_121"]);
    }
}
