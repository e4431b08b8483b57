//! `cargo xtask bench`: the benches of the host machine, and what kernels cost to compile.

use crate::ptxas;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A build of the benches besides the plain one: the option that asks for it, its flags, profile and environment. Each has a
/// target directory of its own.
struct Variant {
    label: &'static str,
    flags: &'static str,
    profile: Option<&'static str>,
    environment: &'static [(&'static str, &'static str)],
}

const UNCHECKED: Variant = Variant {
    label: "unchecked",
    flags: "--cfg ptx_dsl_unchecked",
    profile: None,
    // mem/range.rs in the runtime wants both, so that nobody gets this build by accident
    environment: &[("PTX_DSL_UNCHECKED_BENCH", "1")],
};
const NATIVE: Variant = Variant { label: "native", flags: "-C target-cpu=native", profile: None, environment: &[] };
/// What README's snippet gives.
const DEV: Variant =
    Variant { label: "dev", flags: "", profile: Some("dev"), environment: &[("CARGO_PROFILE_DEV_OPT_LEVEL", "1")] };

/// Builds the benches, once more without checks unless told not to, and in other ways if asked to; passes the other
/// arguments on. With `--compile` measures the compiler instead.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    if arguments.contains(&"--compile") {
        return compile();
    }
    let mut rest = arguments.to_vec();
    let mut take = |option: &str| {
        let before = rest.len();
        rest.retain(|a| *a != option);
        rest.len() < before
    };
    let wanted = [(!take("--no-unchecked"), UNCHECKED), (take("--native"), NATIVE), (take("--dev"), DEV)];
    let bench = build_bench(None)?;
    let mut command = Command::new(bench);
    for (_, variant) in wanted.iter().filter(|(wanted, _)| *wanted) {
        command.arg(format!("--{}", variant.label)).arg(build_bench(Some(variant))?);
    }
    let status = command.args(rest).status().map_err(|e| format!("cannot run the benches: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the benches ended with {status}")) }
}

/// Builds the benches and gives the program.
fn build_bench(variant: Option<&Variant>) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(ptxas::root()).stderr(Stdio::inherit());
    command.args(["bench", "--bench", "host", "--no-run", "--message-format", "json-render-diagnostics"]);
    if let Some(v) = variant {
        command.arg("--target-dir").arg(ptxas::root().join("target").join(format!("bench-{}", v.label)));
        if let Some(profile) = v.profile {
            command.args(["--profile", profile]);
        }
        if !v.flags.is_empty() {
            let given = std::env::var("RUSTFLAGS").unwrap_or_default();
            command.env("RUSTFLAGS", format!("{given} {}", v.flags).trim_start());
        }
        command.envs(v.environment.iter().copied());
        eprintln!("> benches, {}", v.label);
    }
    let output = command.output().map_err(|e| format!("cannot run cargo: {e}"))?;
    if !output.status.success() {
        return Err(format!("the benches do not compile: {}", output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let program = messages.lines().filter_map(|l| l.split_once("\"executable\":\"")?.1.split_once('"')).next_back();
    program.map(|(path, _)| path.replace("\\\\", "\\")).ok_or("cargo does not say where the benches are".into())
}

/// A kernel of `n` instructions like those that compilers write: half of the arithmetic is the same in all threads, a load
/// and a store in ten instructions, a branch that parts the lanes in ten, a barrier in fifty. All registers have values
/// before they are read, which parameters and loads give, so that no finding and no constant shortens the work.
fn kernel(n: usize) -> String {
    let mut body = String::new();
    let mut line = |s: &str| {
        let _ = writeln!(body, "        {s}");
    };
    for i in 0..7 {
        line(&format!("ld.global.u32 %v{i}, [%x+{}];", i * 4));
        line(&format!("ld.global.f32 %f{i}, [%x+{}];", 64 + i * 4));
        line(&format!("add.u32 %u{i}, %n, {i};"));
    }
    for i in 0..n {
        let (a, b, c) = (i % 7, (i + 3) % 7, (i + 5) % 7);
        match i % 10 {
            0 => line(&format!("ld.global.u32 %v{a}, [%x+{}];", i % 64 * 4)),
            1 => line(&format!("st.global.u32 [%x+{}], %v{b};", i % 64 * 4)),
            2 => line(&format!("setp.lt.u32 %p, %v{a}, %v{b};")),
            3 => line(&format!("@%p bra skip{i};")),
            4 => line(&format!("mad.lo.u32 %v{a}, %v{b}, %v{c}, %v{a};")),
            5 => line(&format!("fma.rn.f32 %f{a}, %f{b}, %f{c}, %f{a};")),
            6 => {
                line(&format!("add.u32 %v{a}, %v{a}, {i};"));
                line(&format!("skip{}:", i - 3));
            }
            7 => line(&format!("shl.b32 %u{a}, %u{b}, 1;")),
            8 => line(&format!("add.u32 %u{a}, %u{b}, %u{c};")),
            _ if i % 50 == 49 => line("bar.sync 0;"),
            _ => line(&format!("xor.b32 %v{a}, %v{a}, %u{b};")),
        }
    }
    if n % 10 > 3 && n % 10 < 7 {
        let _ = writeln!(body, "      skip{}:", n / 10 * 10 + 3);
    }
    // everything is used
    let mut line = |s: &str| {
        let _ = writeln!(body, "        {s}");
    };
    for i in 0..7 {
        line(&format!("st.global.f32 [%x+{}], %f{i};", 64 + i * 4));
        line(&format!("st.global.u32 [%x+{}], %v{i};", 128 + i * 4));
    }
    format!(
        r#"use ptx_dsl::prelude::*;

ptx! {{
    <sm_80, ptx 7.0>
    .visible .entry made(.param .u64 .ptr .global .align 4 data: &mut [u32], .param .u32 n)
        .reqntid 128
    {{
        .reg .pred %p;
        .reg .b32 %v<7>, %u<7>, %t, %n;
        .reg .f32 %f<7>;
        .reg .b64 %x, %o;
        ld.param.u64 %x, [data];
        ld.param.u32 %n, [n];
        mov.u32 %t, %tid.x;
        mul.wide.u32 %o, %t, 4;
        add.u64 %x, %x, %o;
{body}        ret;
    }}
}}

fn main() {{
    let mut data = vec![1u32; 4096];
    let n = std::env::args().count() as u32;
    let report = made.launch(&Host::new(), Launch::grid(1).block(128), (&mut data, n));
    println!("{{}} {{}}", report.is_ok(), data[0]);
}}
"#
    )
}

/// What kernels may take, in seconds, with the plain host: instructions, development, release.
const GOALS: [(usize, f64, f64); 1] = [(1000, 2.0, 5.0)];

/// Compiles kernels of 100 and 1,000 instructions in both profiles.
fn compile() -> Result<(), String> {
    let root = ptxas::root();
    let directory = root.join("target").join("compile-bench");
    let source = directory.join("src");
    std::fs::create_dir_all(&source).map_err(|e| format!("cannot make {}: {e}", source.display()))?;
    let manifest = format!(
        "[package]\nname = \"compile-bench\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nptx-dsl = {{ path = {:?} }}\n\n[workspace]\n",
        root.join("ptx-dsl")
    );
    write(&directory.join("Cargo.toml"), &manifest)?;
    println!("{:<14} {:>10} {:>10}", "instructions", "dev, s", "release, s");
    for n in [1, 100, 1000] {
        write(&source.join("main.rs"), &kernel(n))?;
        let mut times = Vec::new();
        for profile in [&[][..], &["--release"][..]] {
            // once for what it depends on, then the kernel alone
            build(&directory, profile)?;
            write(&source.join("main.rs"), &kernel(n))?;
            let start = Instant::now();
            build(&directory, profile)?;
            times.push(start.elapsed().as_secs_f64());
        }
        let goal = GOALS.iter().find(|(of, ..)| *of == n);
        let goal = goal.map_or(String::new(), |(_, dev, release)| format!("   (goal: {dev} and {release})"));
        println!("{n:<14} {:>10.2} {:>10.2}{goal}", times[0], times[1]);
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

fn build(directory: &Path, profile: &[&str]) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(directory).env("CARGO_INCREMENTAL", "0").args(["build", "--quiet"]).args(profile);
    let status = command.status().map_err(|e| format!("cannot run cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("a generated kernel does not compile: {status}")) }
}
