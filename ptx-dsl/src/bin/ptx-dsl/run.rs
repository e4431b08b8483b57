//! `run`: launches a kernel of a PTX file on the interpreter.

pub mod arguments;
mod array_type;
mod data;
#[cfg(feature = "debug")]
pub mod debug;
mod gpu;
mod json;
mod launch;
mod lost;
mod npy;
pub mod profile;
mod progress;
mod proposal;
mod runs;
mod rust;
mod small;
mod spec;
mod tensor_map;
mod values;
mod wanted;

use clap::ArgMatches;
use ptx_dsl::load::{Finding, Kernel, Module, Options};
use ptx_dsl_frontend::levels::is_lint;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::check;
use crate::findings;
use crate::input::{Input, input};
use crate::names;
use crate::rust_file::is_text_of_rust;
use launch::{Launched, Outcome};
use spec::{Argument, Named};
use values::Value;

/// There is an error in the text.
const WRONG_TEXT: u8 = 1;
/// The arguments are wrong, or a file cannot be written.
const FAILED: u8 = 2;
/// The kernel went wrong.
const FAULT: u8 = 3;

/// `ptx-dsl run`: the exit code.
pub fn run(matches: &ArgMatches) -> Result<u8, String> {
    let file = matches.get_one("file").map_or(Input::Stdin, |path: &std::ffi::OsString| input(path));
    let (text, name) = (file.read()?, file.name());
    let levels = check::levels(matches)?;
    let asked = matches.get_one::<String>("entry");
    let of_rust = is_text_of_rust(&file, &text);
    let text = match of_rust {
        true => match rust::module(&file, &text, (&levels, asked), is_json(matches))? {
            Some(module) => module,
            None => return Ok(WRONG_TEXT),
        },
        false => text,
    };
    let entry = asked.map(|asked| names::entry(&text, asked));
    let entry = entry.as_deref();
    // a printed module has other lines than its Rust file
    let options = if of_rust { Options::new() } else { Options::new().name(&name) };
    let options = levels.iter().fold(options, |options, (level, of)| options.level(*level, *of));
    let options = entry.iter().fold(options, |options, entry| options.entry(entry));
    let show = || match of_rust {
        // shown with those of the Rust file
        true => {}
        false => findings::show(&text, &name, levels.clone(), entry, is_json(matches)),
    };
    let module = match options.parse(&text) {
        Ok(module) => module,
        Err(error) => {
            show();
            help(&error.findings, entry.is_none() && names::has_several(&text));
            return Ok(WRONG_TEXT);
        }
    };
    if !module.warnings().is_empty() {
        show();
    }
    let kernels = match entry {
        Some(entry) => vec![module.kernel(entry).map_err(|e| e.to_string())?],
        None => module.kernels().iter().collect(),
    };
    let asked = arguments::LAUNCH.iter().any(|id| matches.contains_id(id));
    match kernels[..] {
        [] => Err(format!("`{name}` has no kernel")),
        [kernel] if asked || wanted::is_complete(kernel) => launch_kernel(matches, kernel, &file, &text),
        [..] if asked => Err(several(&module)),
        _ => {
            let (file, several) = (file.argument(), module.kernels().len() > 1);
            kernels.iter().for_each(|kernel| crate::write_out(&wanted::command_line(kernel, &file, several)));
            Ok(0)
        }
    }
}

/// How to run a kernel although there are errors, if the level of each can be set.
fn help(findings: &[Finding], several: bool) {
    let errors = findings.iter().filter(|finding| finding.is_error);
    let codes: BTreeSet<u16> = errors.map(|finding| finding.code).collect();
    if !codes.iter().all(|code| is_lint(*code)) {
        return;
    }
    let options: Vec<String> = codes.iter().map(|code| format!("--warn PTX{code:04}")).collect();
    crate::write_err(&format!("help: `{}` runs it all the same\n", options.join(" ")));
    if several {
        crate::write_err("help: `--entry` runs a kernel that has none of these errors\n");
    }
}

fn several(module: &Module) -> String {
    let names: Vec<&str> = module.kernels().iter().map(Kernel::name).collect();
    format!("there are several kernels; choose one with `--entry`: `{}`", names.join("`, `"))
}

fn launch_kernel(matches: &ArgMatches, kernel: &Kernel, file: &Input, text: &str) -> Result<u8, String> {
    let outputs: Vec<&Named<String>> = matches.get_many("out").into_iter().flatten().collect();
    let shown: Vec<&Named<std::ops::Range<u64>>> = matches.get_many("print").into_iter().flatten().collect();
    let mut values = arguments_of(matches, kernel, file)?;
    // names and ranges are checked before the kernel runs
    for output in &outputs {
        values::buffer(kernel, &values, &output.name)?;
    }
    for part in &shown {
        values::within(&part.name, values::buffer(kernel, &values, &part.name)?, &part.value)?;
    }
    let timelines = ["trace", "timeline"].iter().filter_map(|id| matches.get_one::<String>(id));
    different(outputs.iter().map(|output| &output.value).chain(timelines))?;
    let start = Instant::now();
    let Launched { result, mut failures } = launch::launch(matches, kernel, text, &mut values)?;
    let time = start.elapsed();
    let json = is_json(matches);
    let (status, finishes) = match result {
        Ok(outcome) if json => {
            crate::write_out(&json::ran(kernel.name(), &outcome, time.as_secs_f64()));
            (0, true)
        }
        Ok(outcome) => {
            crate::write_err(&summary(kernel, &outcome, time));
            (0, true)
        }
        Err(ptx_dsl::Error::Fault(fault)) => {
            match json {
                true => crate::write_out(&json::faults(&fault)),
                false => crate::write_err(&format!("error: {fault}\n")),
            }
            (FAULT, matches.get_flag("keep"))
        }
        Err(error) => {
            crate::write_err(&format!("error: {error}\n"));
            (if matches!(error, ptx_dsl::Error::Launch { .. }) { FAILED } else { FAULT }, false)
        }
    };
    if finishes {
        failures.extend(finish(kernel, &values, &outputs, &shown, json));
    }
    failures.iter().for_each(|failure| crate::write_err(&format!("error: {failure}\n")));
    Ok(if status == 0 && !failures.is_empty() { FAILED } else { status })
}

/// The values of all parameters, as the options give them.
fn arguments_of(matches: &ArgMatches, kernel: &Kernel, file: &Input) -> Result<Vec<Value>, String> {
    let given: Vec<&Named<Argument>> = matches.get_many("arg").into_iter().flatten().collect();
    let given = values::by_parameter(kernel, &given)?;
    let missing = kernel.parameters().iter().zip(&given).filter(|(_, given)| given.is_none());
    let missing: Vec<&str> = missing.map(|(p, _)| p.name.as_str()).collect();
    if !missing.is_empty() {
        let wants = wanted::command_line(kernel, &file.argument(), false);
        return Err(format!("no value for `{}`; the kernel wants\n{}", missing.join("`, `"), wants.trim_end()));
    }
    let given: Vec<&Argument> = given.into_iter().flatten().collect();
    values::values(kernel, &given)
}

fn is_json(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("format").is_some_and(|format| format == "json")
}

/// Two results in one file would leave the second one. Devices and pipes take both.
fn different<'p>(paths: impl Iterator<Item = &'p String>) -> Result<(), String> {
    let is_file = |path: &String| std::fs::metadata(path).map_or(true, |file| file.is_file());
    let mut seen = BTreeSet::new();
    match paths.filter(|path| is_file(path)).find(|path| !seen.insert(*path)) {
        Some(path) => Err(format!("two results for the file `{path}`")),
        None => Ok(()),
    }
}

/// Writes and prints what was asked for, of a launch that failed, what it has written so far: one failure does not keep the rest from being written. Returns the failures.
fn finish(
    kernel: &Kernel,
    values: &[Value],
    outputs: &[&Named<String>],
    shown: &[&Named<std::ops::Range<u64>>],
    json: bool,
) -> Vec<String> {
    let save = |output: &&Named<String>| {
        let data = values::buffer(kernel, values, &output.name)?;
        let bytes = if npy::is_npy(&output.value) { &npy::write(data)? } else { &data.bytes };
        write(&output.value, bytes)
    };
    let print = |part: &&Named<std::ops::Range<u64>>| {
        let data = values::buffer(kernel, values, &part.name)?;
        let text = match json {
            true => json::output(&part.name, data, part.value.start, values::within(&part.name, data, &part.value)?),
            false => values::show(&part.name, data, part.value.clone())?,
        };
        crate::write_out(&text);
        Ok(())
    };
    // files first: they remain when standard output is closed
    outputs.iter().map(save).chain(shown.iter().map(print)).filter_map(Result::err).collect()
}

/// Writes a file.
fn write(path: &str, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|e| format!("cannot write `{path}`: {e}"))
}

/// What ran.
fn summary(kernel: &Kernel, outcome: &Outcome, time: Duration) -> String {
    let Outcome { reports, differ, .. } = outcome;
    let sum = |of: fn(&ptx_dsl::Report) -> u64| reports.iter().map(of).sum::<u64>();
    let mut text = format!("ran `{}`", kernel.name());
    if reports.len() > 1 {
        text += &format!(" under {} schedules", reports.len());
    }
    if outcome.complete {
        text += if reports.len() == 1 { " under the one schedule there is" } else { ", all there are" };
    }
    let clusters = counted(sum(|r| r.clusters_launched), "cluster");
    text += &format!(": {clusters} of {}", outcome.shape);
    match sum(|r| r.clusters_cancelled) {
        0 => {}
        n => text += &format!(", {n} cancelled"),
    }
    if let Some(time) = reports.iter().find_map(|r| r.device_time) {
        return text + &format!(" in {:.1} us on the GPU\n", time.as_secs_f64() * 1e6);
    }
    let (turns, instructions) = (counted(sum(|r| r.turns), "turn"), counted(sum(|r| r.instructions), "instruction"));
    text += &format!(", {turns}, {instructions} in {}\n", seconds(time));
    for (name, schedule) in differ {
        text += &format!("note: `{name}` depends on the schedule: it differs {schedule}\n");
    }
    if let Some(lost) = &outcome.lost {
        text += &format!("note: {lost}\nhelp: one `atom` or `red` loads and stores at once\n");
    }
    text
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn seconds(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 1000.0 { format!("{ms:.1} ms") } else { format!("{:.1} s", ms / 1e3) }
}
