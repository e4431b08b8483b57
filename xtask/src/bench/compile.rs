//! `cargo xtask bench --compile`: what kernels cost rustc, in CPU time of rustc and the macro, which is independent of other
//! programs.

mod kernels;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use kernels::{SHAPES, Shape};
use ptx_dsl_frontend::code;
use ptx_dsl_frontend::isa::Instr;
use ptx_dsl_frontend::table::FAMILIES;

use clap::{Arg, ArgMatches, value_parser};
use ptx_dsl_oracles::Random;
use ptx_dsl_oracles::tools::root;

use crate::arguments::{flag, list, number, number_of, text};

/// Limits in seconds for a kernel of 1,000 instructions: in development, where it is interpreted, and in release.
const LIMITS: [f64; 2] = [1.0, 20.0];
/// Time limit of one compilation.
const GIVEN_UP: u32 = 100;

/// The options of `--compile`.
pub fn arguments() -> [Arg; 7] {
    let shapes = SHAPES.map(Shape::name);
    let numbers = text("counts", "The numbers of instructions").value_parser(value_parser!(u64)).default_value("1000");
    let shapes = text("shapes", "Only these shapes of a kernel").value_parser(shapes).default_values(shapes);
    [
        flag("compile", "Times the compilation of kernels of 1,000 instructions of every family instead"),
        text("family", "Only this family of instructions").requires("compile"),
        text("opcode", "Only this instruction").requires("compile"),
        flag("all", "Each instruction by itself").requires("compile"),
        number("spellings", "Spellings of each instruction").default_value("1").requires("compile"),
        shapes.value_delimiter(',').requires("compile"),
        numbers.value_name("N").value_delimiter(',').requires("compile"),
    ]
}

/// The options.
struct Options {
    family: Option<String>,
    opcode: Option<String>,
    /// Measures every instruction by itself, not only all of a family together.
    all: bool,
    shapes: Vec<Shape>,
    counts: Vec<usize>,
    spellings: usize,
    release: bool,
}

impl Options {
    fn new(matches: &ArgMatches) -> Options {
        let shapes = list(matches, "shapes");
        let opcode = matches.get_one::<String>("opcode").cloned();
        Options {
            family: matches.get_one("family").cloned(),
            all: matches.get_flag("all") || opcode.is_some(),
            opcode,
            shapes: SHAPES.into_iter().filter(|shape| shapes.iter().any(|name| name == shape.name())).collect(),
            counts: matches.get_many::<u64>("counts").into_iter().flatten().map(|n| *n as usize).collect(),
            spellings: number_of(matches, "spellings").unwrap_or(1) as usize,
            release: !matches.get_flag("dev"),
        }
    }

    /// The shapes, each with each number of instructions.
    fn sizes(&self) -> impl Iterator<Item = (Shape, usize)> {
        self.shapes.iter().flat_map(|shape| self.counts.iter().map(|count| (*shape, *count)))
    }
}

/// Compiles kernels as compilers write them, then 1,000 instructions of each family, or of each instruction, in several shapes.
pub fn run(matches: &ArgMatches) -> Result<(), String> {
    let options = Options::new(matches);
    let bench = Bench::new()?;
    println!("seconds of processor time{:>38} {:>10}", "dev", "release");
    let mut over = Vec::new();
    let mut measure = |label: String, text: &str| -> Result<(), String> {
        let dev = bench.seconds(text, false)?;
        let release = if options.release { bench.seconds(text, true)? } else { 0.0 };
        let slow = dev > LIMITS[0] || release > LIMITS[1];
        println!("{label:<52} {dev:>10.2} {release:>10.2}{}", if slow { "   over the limit" } else { "" });
        if slow {
            over.push(label);
        }
        Ok(())
    };
    if options.family.is_none() && options.opcode.is_none() {
        for n in [1, 100, 1000] {
            measure(format!("as compilers write, {n}"), &kernels::typical(n))?;
        }
    }
    let mut families: BTreeMap<&'static str, Vec<&'static Instr>> = BTreeMap::new();
    for (name, list) in FAMILIES {
        families.entry(name).or_default().extend(list.iter());
    }
    families.retain(|name, list| {
        let wanted = |o: &String| list.iter().any(|e: &&Instr| e.opcode == *o);
        options.family.as_ref().is_none_or(|f| f == name) && options.opcode.as_ref().is_none_or(wanted)
    });
    if families.is_empty() {
        return Err("no family has that name, or no instruction of it that opcode".into());
    }
    for (family, entries) in families {
        let wanted = entries.iter().filter(|e| options.opcode.as_ref().is_none_or(|o| o == e.opcode));
        let mut mixes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for entry in wanted {
            let most = if options.all { options.spellings } else { 6 };
            for spelling in kernels::spellings(family, entry, most) {
                let text = spelling.statement.to_string();
                if options.all {
                    for (shape, count) in options.sizes() {
                        let kernel = kernels::module(
                            &kernels::repeated(std::slice::from_ref(&text), count),
                            shape,
                            kernels::home(entry),
                        );
                        measure(format!("{text} {shape:?} {count}"), &kernel)?;
                    }
                } else {
                    mixes.entry(kernels::home(entry)).or_default().push(text);
                }
            }
        }
        for (target, mut of) in mixes {
            Random::new(1).shuffle(&mut of);
            for (shape, count) in options.sizes() {
                let kernel = mix(&of, shape, count, target);
                measure(format!("{family} {target} {shape:?} {count}"), &kernel)?;
            }
        }
    }
    if over.is_empty() {
        Ok(())
    } else {
        Err(format!("{} kernels are over the limits:\n  {}", over.len(), over.join("\n  ")))
    }
}

/// One kernel of all of these, except those that exclude each other (`.cta_group::1` and `::2`).
fn mix(of: &[String], shape: Shape, count: usize, target: &str) -> String {
    let mut of = of.to_vec();
    loop {
        let text = kernels::module(&kernels::repeated(&of, of.len().min(count)), shape, target);
        let wrong = kernels::accepted(&text);
        if wrong.is_empty() || of.len() < 2 {
            return kernels::module(&kernels::repeated(&of, count), shape, target);
        }
        // Registers differ, the words do not.
        let word = |s: &str| s.trim_start_matches("@%Zg ").split(' ').next().unwrap_or_default().to_owned();
        let bad: Vec<String> = wrong.iter().map(|w| word(w)).collect();
        let before = of.len();
        of.retain(|s| !bad.contains(&word(s)));
        if of.len() == before {
            of.pop();
        }
    }
}

/// A package that holds one kernel at a time.
struct Bench {
    directory: PathBuf,
}

impl Bench {
    fn new() -> Result<Bench, String> {
        let root = root();
        let directory = root.join("target").join("compile-bench");
        let source = directory.join("src");
        std::fs::create_dir_all(&source).map_err(|e| format!("cannot make {}: {e}", source.display()))?;
        // The profile is README's.
        let manifest = format!(
            "[package]\nname = \"compile-bench\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nptx-dsl = {{ path = {:?} }}\n\n\
             [profile.dev.package.ptx-dsl-runtime]\nopt-level = 3\n\n[workspace]\n",
            root.join("ptx-dsl")
        );
        write(&directory.join("Cargo.toml"), &manifest)?;
        let lock = root.join("Cargo.lock");
        std::fs::copy(&lock, directory.join("Cargo.lock"))
            .map_err(|e| format!("cannot copy {}: {e}", lock.display()))?;
        let allowed: String = code::rules().map(|code| format!(", allow({code})")).collect();
        write(
            &source.join("lib.rs"),
            &format!(
                "use ptx_dsl::prelude::*;\n\nptx_dsl::include_ptx!(\"made.ptx\"{allowed});\n\n\
                 pub fn run(data: &mut [u8], n: u32) -> bool {{\n    \
                 let arguments = &mut [Arg::buffer(data), Arg::value(n.to_le_bytes())];\n    \
                 made.launch_raw(&Host::new(), Launch::grid(1).block(128), arguments).is_ok()\n}}\n"
            ),
        )?;
        let bench = Bench { directory };
        // Its dependencies, which may take longer than a kernel.
        for release in [false, true] {
            bench.build(&kernels::typical(1), release, "unlimited")?;
        }
        Ok(bench)
    }

    /// The time for the kernel alone.
    fn seconds(&self, text: &str, release: bool) -> Result<f64, String> {
        self.build(text, release, &GIVEN_UP.to_string())
    }

    /// Builds the package. `limit`: seconds for each process.
    fn build(&self, text: &str, release: bool, limit: &str) -> Result<f64, String> {
        write(&self.directory.join("src/made.ptx"), text)?;
        let before = spent();
        let start = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -t {limit}; exec \"$0\" \"$@\""), env!("CARGO"), "build", "--quiet"]);
        command
            .current_dir(&self.directory)
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_TARGET_DIR", self.directory.join("target"));
        if release {
            command.arg("--release");
        }
        let output = command.stdin(Stdio::null()).output().map_err(|e| format!("cannot run cargo: {e}"))?;
        let wall = start.elapsed().as_secs_f64();
        let seconds = match (before, spent()) {
            (Some(before), Some(after)) => after - before,
            _ => wall,
        };
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() && !said.contains("signal") {
            return Err(format!("a generated kernel does not compile:\n{said}"));
        }
        Ok(seconds)
    }
}

/// CPU time in seconds of all child processes that have ended, on Linux.
fn spent() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may contain spaces: `cutime` and `cstime`, in hundredths.
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(13)?.parse::<f64>().ok()? + fields.get(14)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}
