//! The bugs as their authors had them (`tests/bugs/ring/`): in a persistent loop, in a ring of stages, in a role of a warp.
//!
//! Each kernel `k` is launched with the arguments that its parameters name: `a` is a buffer of the numbers from 0, `b` one of zeros,
//! `map` a tensor map over such numbers (rows of 128, a box of one row), `tiles` the number of tiles. A line `// grid: 4` gives the
//! number of CTAs, a line `// written before: a` that a checked host launches the kernel as a programmatic dependent of a grid that writes
//! `a`, and lines `// b[0] = 7` say what a right kernel leaves in a buffer.

use std::fmt::Write as _;

use super::{Bug, is_dependent, list, ours, read_bugs, said};
use ptx_dsl::fault::FaultKind;
use ptx_dsl::launch::Device;
use ptx_dsl::load::{Kernel, Level, Options, Selector};
use ptx_dsl::tensor_map::{ElementType, TensorMap};
use ptx_dsl::{Arg, Checked as CheckedHost, Error, Host, Launch};
use ptx_dsl_frontend::code;

const SCHEDULES: u64 = 8;
const TILES: u32 = 6;
const WORDS: usize = 4096;

/// What a kernel leaves in its buffers.
#[derive(PartialEq)]
struct Buffers {
    a: Vec<u32>,
    b: Vec<u32>,
    map: Vec<u32>,
}

impl Buffers {
    fn new() -> Self {
        let numbers: Vec<u32> = (0..WORDS as u32).collect();
        Buffers { a: numbers.clone(), b: vec![0; WORDS], map: numbers }
    }

    fn of(&self, name: &str) -> &[u32] {
        match name {
            "a" => &self.a,
            "b" => &self.b,
            _ => &self.map,
        }
    }
}

/// The kernel, whatever the rules say of it; `None` if the language refuses it.
fn kernel(text: &str) -> Option<Kernel> {
    let warn = |options: Options, code| options.level(Level::Warn, Selector::Code(code));
    let options = code::rules().map(|rule| rule.number).fold(Options::new(), warn);
    options.parse(text).ok()?.kernel("k").ok().cloned()
}

fn dimensions(kernel: &Kernel, text: &str) -> Launch {
    let grid = text.lines().find_map(|line| line.strip_prefix("// grid: ")?.parse().ok());
    let cluster = kernel.required_cluster().map_or(1, |[x, y, z]| x * y * z);
    let launch = Launch::grid(grid.unwrap_or(cluster)).step_limit(200_000);
    if is_dependent(text) { launch.programmatic() } else { launch }
}

/// Launches a kernel on a checked host.
fn launch_checked(kernel: &Kernel, text: &str, host: &Host<CheckedHost>) -> Result<Buffers, Error> {
    match is_dependent(text) {
        true => launch(kernel, text, &host.stream().after_writer_of([0])),
        false => launch(kernel, text, host),
    }
}

fn launch<D: Device>(kernel: &Kernel, text: &str, host: &D) -> Result<Buffers, Error> {
    let mut buffers = Buffers::new();
    let Buffers { a, b, map } = &mut buffers;
    let tensor = TensorMap::tiled(map, ElementType::U32).dims([128, 32]).box_dims([128, 1]).build().expect("a map");
    let (mut a, mut b) = (Some(a), Some(b));
    let argument = |name: &str| match name {
        "a" => Arg::from(&mut a.take().expect("one `a`")[..]),
        "b" => Arg::from(&mut b.take().expect("one `b`")[..]),
        "map" => Arg::from(&tensor),
        "tiles" => Arg::value(TILES.to_le_bytes()),
        other => panic!("no argument for a parameter `{other}`"),
    };
    let names: Vec<&str> = kernel.parameters().iter().map(|p| p.name.as_str()).collect();
    let mut arguments: Vec<Arg> = names.into_iter().map(argument).collect();
    kernel.launch_raw(host, dimensions(kernel, text), &mut arguments)?;
    drop(arguments);
    drop(tensor);
    Ok(buffers)
}

/// What a right kernel leaves in a buffer: `// b[0] = 7`.
struct Expected<'t> {
    buffer: &'t str,
    index: usize,
    value: u32,
}

fn expected(text: &str) -> Vec<Expected<'_>> {
    let parse = |line| -> Option<Expected> {
        let (place, value) = str::strip_prefix(line, "// ")?.split_once(" = ")?;
        let (buffer, index) = place.strip_suffix(']')?.split_once('[')?;
        Some(Expected { buffer, index: index.parse().ok()?, value: value.parse().ok()? })
    };
    text.lines().filter_map(parse).collect()
}

/// The differences between what a kernel left and what it should have.
fn differences(text: &str, left: &Buffers) -> Vec<String> {
    let expected = expected(text);
    let wrong = expected.iter().filter(|e| left.of(e.buffer)[e.index] != e.value);
    wrong
        .map(|Expected { buffer, index, value }| {
            format!("{buffer}[{index}] is {}, not {value}", left.of(buffer)[*index])
        })
        .collect()
}

/// What happens to the right kernel on the plain host, in one checked run and under some schedules.
fn mistakes_of_right(bug: &Bug) -> Vec<String> {
    let text = &bug.right;
    let Some(kernel) = kernel(text) else { return vec!["the right kernel is refused".into()] };
    let run = |done: Result<Buffers, Error>| done.map_or_else(|e| vec![e.to_string()], |b| differences(text, &b));
    let mut wrong = run(launch(&kernel, text, &Host::new()));
    wrong.extend(run(launch_checked(&kernel, text, &Host::checked())));
    match Host::checked().explore(SCHEDULES).run(|host| launch_checked(&kernel, text, host)) {
        Ok(explored) => wrong.extend(explored.iter().flat_map(|left| differences(text, left))),
        Err(error) => wrong.push(error.to_string()),
    }
    if expected(text).is_empty() {
        wrong.push("no line `// b[0] = 7` says what the right kernel computes".into());
    }
    wrong
}

/// What one checked run says of the wrong kernel.
enum Checked {
    Refused,
    Found(String),
    WrongResult,
    Nothing,
}

fn checked(bug: &Bug) -> Checked {
    let Some(kernel) = kernel(&bug.wrong) else { return Checked::Refused };
    match launch_checked(&kernel, &bug.wrong, &Host::checked()) {
        Ok(left) if differences(&bug.right, &left).is_empty() => Checked::Nothing,
        Ok(_) => Checked::WrongResult,
        Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::StepLimit { .. }) => {
            Checked::Found("never ends".into())
        }
        Err(error) => Checked::Found(said(&Err(error)).trim_start_matches("fault: ").to_owned()),
    }
}

/// The forms, with the mistakes that nobody wants in them.
pub fn forms(bugs: &[Bug]) -> (Vec<Bug>, Vec<String>) {
    let forms = read_bugs("ring");
    let mut wrong = Vec::new();
    for form in &forms {
        let mut say = |what: &str| wrong.push(format!("ring/{}: {what}", form.stem));
        match bugs.iter().find(|b| b.stem == form.stem) {
            Some(bug) if bug.header() == form.header() => {}
            _ => say("its name, link and sentence are not those of a bug"),
        }
        if form.right.lines().next() != form.wrong.lines().next() {
            say("the two files have different links");
        }
        let found = ours(&form.right);
        if found != (vec![], vec![]) {
            say(&format!("{found:?} about the right kernel"));
        }
        mistakes_of_right(form).iter().for_each(|what| say(&format!("the right kernel: {what}")));
    }
    let missing = bugs.iter().filter(|bug| !forms.iter().any(|form| form.stem == bug.stem));
    wrong.extend(missing.map(|bug| format!("{} has no ring form", bug.stem)));
    (forms, wrong)
}

const INTRODUCTION: &str = "
## Ring forms

Most kernels above are straight lines. [tests/bugs/ring](../../tests/bugs/ring) has each bug as its author had it: in a persistent loop over
tiles, in a ring of mbarriers with the stage and the phase in registers, in a role of a warp, behind values from shared memory. The right
form runs on the plain host, on the checked host and under several schedules with the results that its file states, and has no finding.

- *compile time*: what the compiler reports on the wrong form.
- *one checked run*: the fault that a single run on the checked host reports, with all rules at the level of a warning.
";

/// The second table of the page.
pub fn section(forms: &[Bug]) -> String {
    let mut rows = String::new();
    let (mut compiled, mut run, mut both, mut silent) = (0, 0, 0, Vec::new());
    for form in forms {
        let (errors, warnings) = ours(&form.wrong);
        let number = form.stem.split('_').next().unwrap_or_default();
        let name = form.stem.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_').replace('_', " ");
        let compile = match (errors.is_empty(), warnings.is_empty()) {
            (false, _) => format!("**error** {}", list(&errors)),
            (true, false) => format!("warning {}", list(&warnings)),
            (true, true) => "nothing".into(),
        };
        let checked = checked(form);
        let by_compiler = !errors.is_empty() || !warnings.is_empty();
        let by_run = matches!(checked, Checked::Found(_) | Checked::WrongResult);
        compiled += usize::from(by_compiler);
        run += usize::from(by_run);
        both += usize::from(by_compiler && by_run);
        if !by_compiler && !by_run {
            silent.push(number);
        }
        let checked = match checked {
            Checked::Refused => "not run: refused".into(),
            Checked::Found(kind) => kind,
            Checked::WrongResult => "wrong result".into(),
            Checked::Nothing => "nothing".into(),
        };
        let _ = writeln!(rows, "| {number} | {name} | {compile} | {checked} |");
    }
    let neither = match silent.as_slice() {
        [] => "nothing is left".to_owned(),
        missed => format!("neither finds {}", missed.join(", ")),
    };
    format!(
        "{INTRODUCTION}\n{} forms: the compiler finds {compiled}, one checked run {run}, both {both}; {neither}.\n\n| | bug | compile \
         time | one checked run |\n|---|---|---|---|\n{rows}",
        forms.len()
    )
}
