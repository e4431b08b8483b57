//! `cargo xtask bench`: the benches of the host machine, and what kernels cost to compile.

use crate::ptxas;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Passes the arguments on to the bench, or with `--compile` measures the compiler.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    if arguments.contains(&"--compile") {
        return compile();
    }
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(ptxas::root()).args(["bench", "--bench", "host", "--"]).args(arguments);
    let status = command.status().map_err(|e| format!("cannot run cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the benches ended with {status}")) }
}

/// A kernel of `n` instructions like those that compilers write: half of the arithmetic is the same in all threads, a load
/// and a store in ten instructions, a branch that parts the lanes in ten, a barrier in fifty.
fn kernel(n: usize) -> String {
    let mut body = String::new();
    let mut line = |s: &str| {
        let _ = writeln!(body, "        {s}");
    };
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
    format!(
        r#"use ptx_dsl::prelude::*;

ptx! {{
    <sm_80, ptx 7.0>
    .visible .entry made(.param .u64 .ptr .global .align 4 data: &mut [u32])
        .reqntid 128
    {{
        .reg .pred %p;
        .reg .b32 %v<7>, %u<7>, %t;
        .reg .f32 %f<7>;
        .reg .b64 %x, %o;
        ld.param.u64 %x, [data];
        mov.u32 %t, %tid.x;
        mul.wide.u32 %o, %t, 4;
        add.u64 %x, %x, %o;
{body}        ret;
    }}
}}

fn main() {{
    let mut data = vec![1u32; 4096];
    let report = made.launch(&Host::new(), Launch::grid(1).block(128), (&mut data,));
    println!("{{}} {{}}", report.is_ok(), data[0]);
}}
"#
    )
}

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
        println!("{n:<14} {:>10.2} {:>10.2}", times[0], times[1]);
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
