//! `cargo xtask budget`: measures the macros and the command line against their budgets.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ptx_dsl_frontend::lex::{lex, lex_rust};
use ptx_dsl_frontend::parse::parse;
use ptx_dsl_frontend::parse::repeat::expand;

use ptx_dsl_oracles::tools::{cargo, root};

use crate::Task;

pub mod forms;
pub mod fresh;

/// `cargo xtask budget`.
pub fn task() -> Task {
    let about = "Measures build time and checking time against their budgets";
    Task { command: clap::Command::new("budget").about(about), run: |_| run() }
}

/// Prints each budget with its measurement; an error if one is exceeded. The machine should be idle.
fn run() -> Result<(), String> {
    let directory = root().join("target").join("budget");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut over = 0;
    println!("{:58} {:>9} {:>9} {:>9} {:>9}", "", "budget", "took", "of CPUs", "memory");
    let mut line = |what: &str, budget: Duration, used: Used| {
        let seconds = |d: Duration| format!("{:.3} s", d.as_secs_f64());
        let memory = if used.memory > 0 { format!("{} MiB", used.memory >> 10) } else { String::new() };
        let mark = if used.took > budget { "  over" } else { "" };
        over += usize::from(used.took > budget);
        let (budget, took, busy) = (seconds(budget), seconds(used.took), seconds(used.busy));
        println!("{what:58} {budget:>9} {took:>9} {busy:>9} {memory:>9}{mark}");
    };
    // This program is unoptimised, like a procedural macro of a debug build.
    let text = kernel(200);
    line("a kernel of 200 instructions, unoptimised front end", Duration::from_millis(20), front(&text));
    line(
        "300 lines of expressions and control, written out",
        Duration::from_millis(5),
        written_out(&forms::kernel(300)),
    );
    let mut own = Duration::MAX;
    let clean = least(|| {
        let (used, of_own) = fresh::build(&directory)?;
        own = own.min(of_own);
        Ok(used)
    })?;
    line("clean debug build of a crate with one kernel", Duration::from_secs(25), Used { memory: 0, ..clean });
    line("of that, crates of this project", Duration::from_secs(15), Used { took: own, busy: own, memory: 0 });
    twice()?;
    timed(cargo().args(["build", "--quiet", "--release", "-p", "ptx-dsl", "--features", "cli"]))?;
    let binary = root().join(target_directory()).join("release").join("ptx-dsl");
    let mut list = String::new();
    for i in 0..5000 {
        let file = directory.join(format!("{i}.ptx"));
        write_to(&file, &kernel(20))?;
        let _ = writeln!(list, "{}", file.display());
    }
    let names = directory.join("list.txt");
    write_to(&names, &list)?;
    let many = least(|| timed(Command::new(&binary).arg("check").arg(format!("@{}", names.display()))))?;
    line("`ptx-dsl check` of 5,000 modules of one kernel", Duration::from_secs(2), many);
    for (what, budget, text) in [
        ("a module of 10,000 lines", 100, kernel(10_000)),
        ("10,000 instructions, 2,500 live values", 500, wide(10_000)),
        ("100,000 instructions", 3000, kernel(100_000)),
    ] {
        let file = directory.join("long.ptx");
        write_to(&file, &text)?;
        let long = least(|| timed(Command::new(&binary).arg("check").arg(&file)))?;
        line(&format!("`ptx-dsl check` of {what}"), Duration::from_millis(budget), long);
    }
    let file = directory.join("start.ptx");
    write_to(&file, &ends_at_once(&kernel(10_000)))?;
    let arguments = ["--block", "32", "--arg", "p=u8[256]"];
    let start = least(|| timed(Command::new(&binary).arg("run").arg(&file).args(arguments)))?;
    line("`ptx-dsl run` of 10,000 lines that end at once", Duration::from_millis(300), start);
    let _ = std::fs::remove_dir_all(&directory);
    if over == 0 { Ok(()) } else { Err(format!("{over} over budget")) }
}

/// Users of `ptx-dsl` get no crate in two versions.
fn twice() -> Result<(), String> {
    let output = cargo().args(["tree", "--duplicates", "-p", "ptx-dsl", "-e", "normal,build"]).output();
    let text = String::from_utf8_lossy(&output.map_err(|e| e.to_string())?.stdout).into_owned();
    if text.trim().is_empty() { Ok(()) } else { Err(format!("crates in two versions:\n{text}")) }
}

/// A kernel of so many instructions, one on each line: blocks, branches, loops, and values carried around them.
fn kernel(instructions: usize) -> String {
    let mut out = String::from(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.shared .align 16 .b8 sh[256];\n.visible .entry k(.param .u64 p)\n{\n\
         .reg .b32 %r<9>; .reg .b64 %d<5>; .reg .f32 %f<4>; .reg .pred %p<4>;\n\
         mov.u32 %r0, %tid.x;\nmov.u32 %r1, 0;\nmov.u32 %r2, 1;\nmov.u32 %r3, 2;\nld.param.u64 %d1, [p];\nmov.f32 %f1, 0f3F800000;\n",
    );
    for i in 0..instructions / 10 {
        let _ = write!(
            out,
            "L{i}: add.u32 %r1, %r1, {i};\nmad.lo.u32 %r2, %r1, %r3, %r2;\nsetp.lt.u32 %p1, %r2, {i};\n@%p1 bra M{i};\n\
             ld.global.u32 %r4, [%d1+{offset}];\nst.shared.u32 [sh+{offset}], %r4;\nfma.rn.f32 %f2, %f1, %f1, %f1;\n\
             M{i}: xor.b32 %r3, %r3, %r1;\nsetp.ne.u32 %p2, %r3, %r1;\n@%p2 bra L{back};\n",
            offset = 4 * (i % 64),
            back = i - i % 5,
        );
    }
    out + "ret;\n}\n"
}

/// A variant of a kernel that runs none of it if the first word of its buffer is 0.
fn ends_at_once(kernel: &str) -> String {
    let guard = "ld.global.u32 %r4, [%d1];\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra END;\nL0:";
    kernel.replacen("L0:", guard, 1).replace("ret;\n}", "END: ret;\n}")
}

/// The worst case for the flow analyses: all values are live everywhere, and join after every branch and around a loop.
fn wide(instructions: usize) -> String {
    let n = instructions / 4;
    let mut out = format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{{\n.reg .b32 %r<{n}>; .reg .pred %p;\n"
    );
    for i in 0..n {
        let _ = writeln!(out, "mov.u32 %r{i}, %tid.x;");
    }
    out += "L:\n";
    for i in 0..n {
        let next = (i + 1) % n;
        let _ = writeln!(out, "setp.lt.u32 %p, %r{i}, {i};\n@%p bra M{i};\nadd.u32 %r{i}, %r{next}, 1;\nM{i}:");
    }
    out + "@%p bra L;\nret;\n}\n"
}

/// The cost of a command.
#[derive(Clone, Copy)]
pub struct Used {
    /// Wall clock.
    took: Duration,
    /// CPU time of all processors.
    busy: Duration,
    /// Peak memory in KiB; 0 if unknown.
    memory: u64,
}

/// Measures the front end from tokens to the typed and printed module, the best of several runs.
fn front(text: &str) -> Used {
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let (lexed, _) = lex(text);
        let start = Instant::now();
        let compiled = ptx_dsl_frontend::compile(&lexed.tokens);
        best = best.min(start.elapsed());
        assert!(!compiled.failed(), "the kernel is right: {:?}", compiled.diagnostics);
    }
    Used { took: best, busy: best, memory: 0 }
}

/// Measures expansion, parsing and lowering of a kernel in `ptx!`, the best of several runs.
fn written_out(text: &str) -> Used {
    let tokens = lex_rust(text).0.tokens;
    let mut best = Duration::MAX;
    for _ in 0..200 {
        let start = Instant::now();
        let expanded = expand(&tokens, tokens.len() as u32 + 100);
        let (_, wrong) = parse(&expanded.tokens);
        best = best.min(start.elapsed());
        assert!(wrong.is_empty(), "the kernel is right: {wrong:?}");
    }
    Used { took: best, busy: best, memory: 0 }
}

/// The best of five.
fn least(mut run: impl FnMut() -> Result<Used, String>) -> Result<Used, String> {
    let mut best = run()?;
    for _ in 0..4 {
        let again = run()?;
        best = Used {
            took: best.took.min(again.took),
            busy: best.busy.min(again.busy),
            memory: best.memory.max(again.memory),
        };
    }
    Ok(best)
}

/// Runs it and measures wall clock and CPU time. The latter depends less on the load of the machine.
fn timed(command: &mut Command) -> Result<Used, String> {
    let shown = format!("{command:?}");
    let failed = |e: &dyn std::fmt::Display| format!("{shown}: {e}");
    let (busy, start) = (children(), Instant::now());
    let mut child = match command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(e) => return Err(failed(&e)),
    };
    // It only grows and is lost when the process exits, so it is polled.
    let mut memory = 0;
    let status = loop {
        memory = peak(child.id()).max(memory);
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(e) => return Err(failed(&e)),
        }
    };
    if !status.success() {
        let output = child.wait_with_output().map(|o| o.stderr).unwrap_or_default();
        return Err(failed(&String::from_utf8_lossy(&output).lines().next().unwrap_or("failed")));
    }
    Ok(Used { took: start.elapsed(), busy: children().saturating_sub(busy), memory })
}

/// Peak memory of a process so far, in KiB. Zero except on Linux.
fn peak(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// CPU time of the children so far: fields 16 and 17 of `/proc/self/stat`, in hundredths. Zero except on Linux.
fn children() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or("").split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn target_directory() -> std::path::PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), Into::into)
}

fn write_to(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}
