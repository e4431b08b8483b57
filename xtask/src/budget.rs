//! `cargo xtask budget`: what the macros and the command line may cost, and what they do.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ptx_dsl_syntax::lex::lex;

use crate::ptxas::root;

/// Prints each budget with what was used of it; an error if one is exceeded. The machine should have nothing else to do.
pub fn run() -> Result<(), String> {
    let directory = root().join("target").join("budget");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut over = 0;
    println!("{:58} {:>9} {:>9} {:>9}", "", "budget", "took", "of CPUs");
    let mut line = |what: &str, budget: Duration, (took, busy): (Duration, Duration)| {
        let seconds = |d: Duration| format!("{:.3} s", d.as_secs_f64());
        let mark = if took > budget { "  over" } else { "" };
        over += usize::from(took > budget);
        println!("{what:58} {:>9} {:>9} {:>9}{mark}", seconds(budget), seconds(took), seconds(busy));
    };
    // This program is not optimised, nor is a procedural macro of a debug build.
    let text = kernel(200);
    line("a kernel of 200 instructions, unoptimised front end", Duration::from_millis(20), front(&text));
    let build = directory.join("macros");
    let clean = timed(cargo().args(["build", "--quiet", "-p", "ptx-dsl-macros", "--target-dir"]).arg(&build))?;
    line("clean debug build of ptx-dsl-macros", Duration::from_secs(5), clean);
    let _ = std::fs::remove_dir_all(&build);
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
    let file = directory.join("long.ptx");
    write_to(&file, &kernel(10_000))?;
    let long = least(|| timed(Command::new(&binary).arg("check").arg(&file)))?;
    line("`ptx-dsl check` of a module of 10,000 lines", Duration::from_millis(300), long);
    let _ = std::fs::remove_dir_all(&directory);
    if over == 0 { Ok(()) } else { Err(format!("{over} over budget")) }
}

/// A kernel of so many instructions, one on each line: blocks, branches, loops, and values that go around them.
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

/// Tokens to typed and printed module, the best of several times.
fn front(text: &str) -> (Duration, Duration) {
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let (lexed, _) = lex(text);
        let start = Instant::now();
        let compiled = ptx_dsl_syntax::compile(&lexed.tokens);
        best = best.min(start.elapsed());
        assert!(!compiled.failed(), "the kernel is right: {:?}", compiled.diagnostics);
    }
    (best, best)
}

/// The best of five.
fn least(mut run: impl FnMut() -> Result<(Duration, Duration), String>) -> Result<(Duration, Duration), String> {
    let mut best = run()?;
    for _ in 0..4 {
        best = best.min(run()?);
    }
    Ok(best)
}

/// Runs it: wall clock, and what it used of all processors, which does not depend so much on who else works here.
fn timed(command: &mut Command) -> Result<(Duration, Duration), String> {
    let (busy, start) = (children(), Instant::now());
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{command:?}: {e}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}", text.lines().next().unwrap_or("failed")));
    }
    Ok((start.elapsed(), children().saturating_sub(busy)))
}

/// Processor time of the children so far: fields 16 and 17 of `/proc/self/stat`, in hundredths. Zero elsewhere than on Linux.
fn children() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or("").split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

fn target_directory() -> std::path::PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), Into::into)
}

fn write_to(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}
