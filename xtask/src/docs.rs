//! Writes `docs/reference/isa-coverage.md` and a part of `README.md` from the table, `docs/reference/error-index.md` from the explanations of error
//! codes, and `docs/reference/rules.md` from the list of rules.

use std::fmt::Write;
use std::path::Path;

use clap::{ArgMatches, Command};
use ptx_dsl_frontend::code;
use ptx_dsl_frontend::isa::syntax::forms;
use ptx_dsl_frontend::isa::{Host, Instr, target};
use ptx_dsl_frontend::table::FAMILIES;
use ptx_dsl_oracles::tools::root;

use crate::Task;
use crate::arguments::flag;

/// `cargo xtask docs`.
pub fn task() -> Task {
    let check = flag("check", "Writes nothing, and fails if a page is out of date");
    let about = "Writes docs/reference/isa-coverage.md, docs/reference/error-index.md, docs/reference/rules.md and a part of README.md";
    let run = |matches: &ArgMatches| write(root(), matches.get_flag("check"));
    Task { command: Command::new("docs").about(about).arg(check), run }
}

/// Writes the files; with `check` only reports those that are out of date.
pub fn write(root: &Path, check: bool) -> Result<(), String> {
    let mut stale = Vec::new();
    let pages = [
        ("README.md", readme(&root.join("README.md"))?),
        ("docs/reference/isa-coverage.md", coverage()),
        ("docs/reference/error-index.md", errors()),
        ("docs/reference/rules.md", rules()),
    ];
    for (name, text) in pages {
        let path = root.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if check {
            stale.push(name);
        } else {
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            eprintln!("> wrote {name}");
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} out of date: run `cargo xtask docs`",
        stale.join(" and ") + if stale.len() == 1 { " is" } else { " are" }
    ))
}

const GENERATED: &str = "<!-- Written by `cargo xtask docs`; CI compares. -->\n";

/// The line of the README before the text that is written here.
const BEGIN: &str = "<!-- What runs. Written by `cargo xtask docs`; CI compares. -->\n";
const END: &str = "<!-- end -->\n";

/// The README with the list of what runs.
fn readme(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or("README.md has no lines for what runs")?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", what_runs()))
}

/// The families that run, run in part, and do not run.
fn what_runs() -> String {
    let (mut all, mut part, mut none) = (Vec::new(), Vec::new(), Vec::new());
    let (mut entries, mut running) = (0, 0);
    for lists in FAMILIES.chunk_by(|a, b| a.0 == b.0) {
        let family = || lists.iter().flat_map(|l| l.1.iter());
        let title = lists[0].0.replace('_', "/");
        let (count, runs) = (family().count(), family().filter(|i| i.host.runs()).count());
        entries += count;
        running += runs;
        match runs {
            0 => none.push(title),
            _ if runs == count => all.push(title),
            _ => part.push(format!("{title} ({runs} of {count})")),
        }
    }
    let mut out = format!(
        "The host runs {running} of the {entries} entries of the instruction table:\n\n| | families |\n|---|---|\n"
    );
    for (what, mut families) in [("run", all), ("run in part", part), ("do not run yet", none)] {
        families.sort();
        let _ = writeln!(out, "| {what} | {} |", families.join(", "));
    }
    out
}

fn coverage() -> String {
    let all = || FAMILIES.iter().flat_map(|(_, list)| list.iter());
    let runs = all().filter(|i| i.host.runs()).count();
    let mut out = format!("{GENERATED}\n# Coverage of the PTX ISA\n\n");
    let _ = writeln!(
        out,
        "Every instruction here is parsed, checked and printed for every version and target; {runs} of {} entries also run on \
         the host. An entry is a section of the manual or a part of one. *since* and *targets* are for the whole entry; \
         `ptx-dsl isa <opcode>` shows what parts of it need beyond that.\n",
        all().count()
    );
    // A large family is several lists.
    for lists in FAMILIES.chunk_by(|a, b| a.0 == b.0) {
        let title = lists[0].0.replace('_', "/");
        let _ = writeln!(
            out,
            "## {title}\n\n| instruction | forms | section | since | targets | host |\n|---|---:|---|---|---|---|"
        );
        lists.iter().flat_map(|l| l.1.iter()).for_each(|i| row(i, &mut out));
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn row(i: &'static Instr, out: &mut String) {
    let host = match i.host {
        Host::UNWRITTEN => "not yet".to_owned(),
        Host::NotYet(why) => format!("not yet: {why}"),
        Host::Lane | Host::Warp | Host::Block | Host::Registers | Host::Control => "runs".to_owned(),
    };
    let mut targets =
        target::describe(i.requires).replace(" or higher in its family", " family").replace(" or higher", "+");
    if let Some((version, gone)) = i.until {
        let _ = write!(targets, "; gone in {}.{} for {}", version.0, version.1, target::describe(gone));
    }
    let (count, since) = (forms(i).len(), i.since);
    let _ = writeln!(
        out,
        "| `{}` | {count} | {} | {}.{} | {} | {host} |",
        i.opcode,
        i.section,
        since.0,
        since.1,
        targets.replace(" or higher", "+")
    );
}

fn rules() -> String {
    let mut out = format!("{GENERATED}\n# The rules of protocol and flow\n\n");
    out.push_str(
        "[flow.md](flow.md) explains the levels and what the analyses know. [error-index.md](error-index.md) has a wrong and a \
         right kernel for each rule. Sections are those of the PTX ISA.\n\n| code | finding | section | level |\n\
         |---|---|---|---|\n",
    );
    for rule in code::rules() {
        let _ = writeln!(out, "| {rule} | {} | {} | {} |", rule.about, rule.section, rule.levels());
    }
    out.push_str(
        "\n## Performance\n\nA level asks for these: `warn(performance)` in a header, or `--warn performance`. The kernel is right.\n\n\
         | code | finding |\n|---|---|\n",
    );
    for rule in code::of_performance() {
        let _ = writeln!(out, "| {rule} | {} |", rule.about);
    }
    out
}

fn errors() -> String {
    let mut out = format!("{GENERATED}\n# Error codes\n\n");
    out.push_str(
        "01xx syntax, 02xx qualifiers, 03xx version and target, 04xx operands and types, 05xx whole kernels, 06xx protocol and \
         flow, 07xx performance. `ptx-dsl explain PTX0207` prints one. The tests compile every example.\n",
    );
    for code in code::all() {
        let _ = write!(out, "\n## {code}: {}\n\n{}\n", code.title, code.text);
        if code.is_flow() || code.is_performance() {
            let _ = write!(out, "\nLevel: {}.\n", code.levels());
        }
        let language = if code.example.is_rust { "rust" } else { "ptx" };
        for (what, text) in [("Wrong", code.wrong()), ("Right", code.right())] {
            let _ = write!(out, "\n{what}:\n```{language}\n{text}```\n");
        }
    }
    out
}
