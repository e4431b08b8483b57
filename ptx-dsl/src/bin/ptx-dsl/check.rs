//! `check` and `print`: run the front end on files.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use clap::ArgMatches;
use ptx_dsl_frontend::levels;

use crate::arguments::{LEVELS, Named, OwnGroup};
use crate::findings::{Format, Outcome, Request, Seen, findings};
use crate::input::{Input, inputs, inputs_and_folders};
use crate::library::Library;
use crate::rust_file::{self, Job, is_text_of_rust, with_included};
use crate::sarif;

fn request(matches: &ArgMatches) -> Result<Request<'_>, String> {
    Ok(Request {
        target: matches.get_one::<&'static str>("target").copied(),
        version: matches.get_one::<(u32, u32)>("version").copied(),
        levels: levels(matches)?,
        format: matches
            .try_get_one::<String>("format")
            .ok()
            .flatten()
            .map_or(Format::Human, |name| Format::from_name(name)),
        styled: std::io::stderr().is_terminal(),
        quiet: matches!(matches.try_get_one("quiet"), Ok(Some(true))),
        entry: None,
    })
}

/// `--allow`, `--warn` and `--deny`, in the order in which they were given.
pub fn levels(matches: &ArgMatches) -> Result<Vec<(levels::Level, levels::Selector)>, String> {
    let groups: Vec<&OwnGroup> = match matches.try_get_many("group") {
        Ok(Some(groups)) => groups.collect(),
        // `print` has none of these arguments.
        _ => Vec::new(),
    };
    let mut all: Vec<(usize, levels::Level, &Named)> = Vec::new();
    for (name, _) in LEVELS {
        let (Some(level), Ok(Some(named))) = (levels::Level::from_name(name), matches.try_get_many::<Named>(name))
        else {
            continue;
        };
        all.extend(matches.indices_of(name).into_iter().flatten().zip(named).map(|(place, n)| (place, level, n)));
    }
    all.sort_by_key(|(place, ..)| *place);
    let mut out = Vec::new();
    for (_, level, named) in all {
        let mut selectors = Vec::new();
        resolve(named, &groups, &mut Vec::new(), &mut selectors)?;
        out.extend(selectors.into_iter().map(|selector| (level, selector)));
    }
    Ok(out)
}

/// Adds the codes and classes of a name. `seen` has the groups that were added before.
fn resolve<'n>(
    named: &'n Named,
    groups: &[&'n OwnGroup],
    seen: &mut Vec<&'n str>,
    out: &mut Vec<levels::Selector>,
) -> Result<(), String> {
    let name = match named {
        Named::Selector(selector) => {
            out.push(*selector);
            return Ok(());
        }
        Named::Group(name) => name,
    };
    let Some(group) = groups.iter().find(|g| g.name == *name) else {
        return Err(format!("there is no group `{name}`; define it with `--group {name}=PTX0605,...`"));
    };
    if !seen.contains(&name.as_str()) {
        seen.push(name);
        for member in &group.members {
            resolve(member, groups, seen, out)?;
        }
    }
    Ok(())
}

/// `ptx-dsl check`
pub fn run(matches: &ArgMatches) -> Result<bool, String> {
    let request = request(matches)?;
    let files = with_included(inputs_and_folders(matches)?);
    let (mut errors, mut warnings, mut wrong) = (0, 0, 0);
    let mut readable = true;
    let mut document = sarif::Document::default();
    each(&files, &request, |outcome| {
        if let Some(reason) = &outcome.unreadable {
            readable = false;
            crate::write_err(&format!("error: {reason}\n"));
        }
        match request.format {
            Format::Human => crate::write_err(&outcome.shown),
            Format::Json => crate::write_out(&outcome.shown),
            Format::Sarif => document.add(&outcome),
        }
        errors += outcome.errors;
        warnings += outcome.warnings;
        wrong += usize::from(outcome.errors > 0);
    });
    if request.format == Format::Sarif {
        crate::write_out(&document.text());
    }
    if request.format == Format::Human && !request.quiet && errors + warnings > 0 {
        let (e, w) = (count(errors, "error"), count(warnings, "warning"));
        let counts = match (errors, warnings) {
            (_, 0) => e,
            (0, _) => w,
            _ => format!("{e} and {w}"),
        };
        crate::write_err(&format!("{counts}; {} checked, {wrong} with errors\n", count(files.len(), "file")));
    }
    if readable { Ok(errors == 0) } else { Err(UNREADABLE.into()) }
}

/// `ptx-dsl print`. Findings of 06xx are reported and do not stop it: the text is legal.
pub fn print(matches: &ArgMatches) -> Result<bool, String> {
    let request = request(matches)?;
    let (mut good, mut readable) = (true, true);
    let (mut closures, mut incomplete, mut unprinted) = (0, 0, 0);
    let files: Vec<Job> = inputs(matches)?.into_iter().map(Job::from).collect();
    each(&files, &request, |outcome| {
        closures += outcome.closures;
        incomplete += outcome.incomplete;
        unprinted += outcome.unprinted;
        good &= !outcome.broken;
        crate::write_err(&outcome.shown);
        match outcome.unreadable {
            Some(reason) => {
                readable = false;
                crate::write_err(&format!("error: {reason}\n"));
            }
            None if !outcome.broken => outcome.ptx.iter().for_each(|ptx| crate::write_out(ptx)),
            None => {}
        }
    });
    if incomplete > 0 {
        let modules = count(incomplete, "module");
        crate::write_err(&format!("{modules} with parts that are not found not printed\n"));
    }
    if closures > 0 {
        let kernels = count(closures, "kernel");
        crate::write_err(&format!("{kernels} in expression form not printed: rustc chooses their names\n"));
    }
    if unprinted > 0 {
        let modules = count(unprinted, "module");
        crate::write_err(&format!("{modules} not printed: only rustc knows the values of their constants\n"));
    }
    if readable { Ok(good) } else { Err(UNREADABLE.into()) }
}

/// `ptx-dsl layout`
pub fn layout(matches: &ArgMatches) -> Result<bool, String> {
    let request = request(matches)?;
    let (mut good, mut readable, mut any) = (true, true, false);
    let files: Vec<Job> = inputs(matches)?.into_iter().map(Job::from).collect();
    each(&files, &request, |outcome| {
        good &= !outcome.broken;
        any |= !outcome.layouts.is_empty();
        if outcome.broken {
            crate::write_err(&outcome.shown);
        }
        match outcome.unreadable {
            Some(reason) => {
                readable = false;
                crate::write_err(&format!("error: {reason}\n"));
            }
            None => crate::write_out(&outcome.layouts),
        }
    });
    if !any {
        crate::write_err("no module declares a layout, such as `layout Tile = f16[128, 64] swizzle 128;`\n");
    }
    if readable { Ok(good) } else { Err(UNREADABLE.into()) }
}

/// The modules of a file of PTX, or of the macros of a file of Rust, as PTX that ptxas reads. Errors are shown.
pub fn modules(file: &Input) -> Result<Vec<String>, String> {
    let text = file.read()?;
    if !is_text_of_rust(file, &text) {
        return Ok(vec![text]);
    }
    let request = Request {
        target: None,
        version: None,
        levels: Vec::new(),
        format: Format::Human,
        styled: std::io::stderr().is_terminal(),
        quiet: true,
        entry: None,
    };
    let outcome = outcome(&Job::from(file.clone()), &Library::new(std::iter::once(file)), &request);
    if outcome.broken {
        crate::write_err(&outcome.shown);
        return Err(format!("`{}` has errors", file.name()));
    }
    Ok(outcome.ptx)
}

const UNREADABLE: &str = "not every file could be read";

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Compiles the files, several at a time, and passes on the results in their order.
fn each(files: &[Job], request: &Request, mut done: impl FnMut(Outcome)) {
    let library = &Library::new(files.iter().map(|job| &job.file));
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    if workers < 2 {
        files.iter().for_each(|f| done(outcome(f, library, request)));
        return;
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..workers {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(n) else { return };
                    if send.send((n, outcome(file, library, request))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        // Those that are ready before their turn wait here.
        let mut waiting = std::collections::BTreeMap::new();
        let mut turn = 0;
        for (n, outcome) in receive {
            waiting.insert(n, outcome);
            while let Some(outcome) = waiting.remove(&turn) {
                done(outcome);
                turn += 1;
            }
        }
    });
}

fn outcome(Job { file, levels }: &Job, library: &Library, request: &Request) -> Outcome {
    let levels = levels.iter().chain(&request.levels).copied().collect();
    let request = Request { levels, ..*request };
    let text = match file.read() {
        Ok(text) => text,
        Err(reason) => return Outcome { unreadable: Some(reason), ..Outcome::default() },
    };
    if is_text_of_rust(file, &text) {
        return rust_file::outcome(file, &text, library, &request);
    }
    findings(&text, (0..text.len(), &Seen::default()), &file.name(), &request)
}
