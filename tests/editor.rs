//! Runs rust-analyzer on the kernels of this repository and on a crate of its own: code that builds has no finding, a mistake has
//! its own. rust-analyzer gives macros neither positions nor files (`crates/ptx-dsl-syntax/src/rust_tokens.rs`,
//! `ptx-dsl-macros/src/include/search.rs`).

use std::path::{Path, PathBuf};
use std::process::Command;

mod answers;
mod client;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Is there a rust-analyzer of this toolchain, with the sources of the standard library? Prints a line if not. `.ci/run` installs
/// both.
fn available() -> bool {
    let output = |command: &mut Command| match command.output() {
        Ok(output) if output.status.success() => Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        _ => None,
    };
    let version = output(Command::new("rust-analyzer").arg("--version"));
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"])).unwrap_or_default();
    let library = Path::new(&sysroot).join("lib/rustlib/src/rust/library/core");
    let rustc = rustc_version::version().expect("rustc has a version").to_string();
    match version {
        Some(version) if !version.contains(&rustc) => eprintln!("skipped: {version} is not that of rustc {rustc}"),
        Some(_) if library.exists() => return true,
        Some(_) => eprintln!("skipped: rust-analyzer has no standard library (`rustup component add rust-src`)"),
        None => eprintln!("skipped: there is no rust-analyzer (`rustup component add rust-analyzer`)"),
    }
    false
}

/// One finding.
struct Finding {
    file: PathBuf,
    /// Counts from 1.
    line: usize,
    text: String,
}

/// The findings of `rust-analyzer diagnostics` in a package or workspace.
fn diagnostics(directory: &Path) -> Vec<Finding> {
    let output = Command::new("rust-analyzer")
        .arg("diagnostics")
        .arg(directory)
        // Reuses what cargo has built for this test.
        .env("CARGO_TARGET_DIR", root().join("target"))
        .output()
        .expect("rust-analyzer runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("diagnostic scan complete"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    // Progress repeatedly overwrites one line.
    text.split("at crate ").skip(1).filter_map(finding).collect()
}

/// `name, file /path: Error Ra("macro-error", Error) from LineCol { line: 5, col: 8 } to ...: message`
fn finding(text: &str) -> Option<Finding> {
    let (file, rest) = text.split_once(", file ")?.1.split_once(": ")?;
    let line = rest.split_once("line: ")?.1.split_once(',')?.0.parse::<usize>().ok()?;
    let message = rest.split('\n').next().unwrap_or_default().to_owned();
    // Code for another configuration is not a finding.
    (!message.starts_with("WeakWarning")).then(|| Finding { file: file.into(), line: line + 1, text: message })
}

fn shown(findings: &[Finding]) -> String {
    findings.iter().map(|f| format!("{}:{}: {}\n", f.file.display(), f.line, f.text)).collect()
}

#[test]
fn rust_analyzer_finds_nothing_in_the_kernels_here() {
    if !available() {
        return;
    }
    let mut found = diagnostics(root());
    found.retain(|f| ["examples", "tests", "benches"].iter().any(|d| f.file.starts_with(root().join(d))));
    // it needs a feature that is off
    found.retain(|f| !f.file.starts_with(root().join("examples/cuda_program")));
    // for rust-analyzer a type that is called `u32` hides the primitive one in the modules of blocks too
    found.retain(|f| !f.file.ends_with("tests/host/names.rs"));
    assert!(found.is_empty(), "{}", shown(&found));
}

const MAIN: &str = r#"
mod other;

use ptx_dsl::prelude::*;

ptx_dsl::include_ptx!("../kernels/one.ptx");

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry written(.param .u64 .ptr .global .align 4 x: &mut [u32]) .maxntid 64 .minnctapersm 2
    {
        .reg .b32 %v<3>;
        .reg .b64 %x;
        .reg .pred p, q;
        .shared .align 4 .b32 tile$0_x[32];
        ld.param.u64 %x, [x];
        mov.u32 %v0, %tid.x;
        setp.eq.u32 p|q, %v0, ((7 << 2) % 5) - 1;
        shfl.sync.down.b32 %v1|p, %v0, 1 << 2, 0x1f, -1;
        @!p bra $L__BB0_1;
        st.shared.u32 [tile$0_x+4], %v0;
    $L__BB0_1:
        mad.wide.u32 %x, %v0, 4, %x;
        st.global.u32 [%x], 2;
        ret;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut x = [0u32; 32];
    let (host, launch) = (Host::new(), Launch::grid(1).block(32));
    one.launch(&host, launch.clone(), (&mut x,))?;
    other::two.launch(&host, launch.clone(), (&mut x,))?;
    written.launch(&host, launch.clone(), (&mut x,))?;
    let run = ptx!(<sm_90, ptx 8.0> |x: &[u32], y: &mut [u32], n: u32| .maxntid 32 { ret; }).on(&host, launch);
    takes(run, &[1]);
    println!("{}{}{}", one::PTX, other::two::NAME, written::PTX);
    Ok(())
}

fn takes(f: impl Fn(&[u32], &mut [u32], u32) -> Result<Report, ptx_dsl::Error>, x: &[u32]) {
    let mut y = x.to_vec();
    let report: Report = f(x, &mut y, 1).unwrap();
    println!("{report:?}");
}
"#;

const OTHER: &str = "ptx_dsl::include_ptx!(\"two.ptx\");\n";

const MISTAKE: &str = r#"fn main() {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .visible .entry wrong()
        {
            .reg .b32 %r;
            mov.u64 %r, 1;
            ret;
        }
    }
}
"#;

fn kernel(name: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry {name}(.param .u64 .ptr .global .align 4 x) {{\n    \
         .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [x];\n    st.global.u32 [%rd1], 1;\n    ret;\n}}\n"
    )
}

/// Writes a package that uses ptx-dsl like any user's.
fn write_package(directory: &Path, files: &[(&str, &str)]) {
    let manifest = format!(
        "[package]\nname = \"editor\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nptx-dsl = {{ path = {:?} }}\n\n[workspace]\n",
        root().join("ptx-dsl")
    );
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("a lock file");
    for (name, text) in [("Cargo.toml", manifest.as_str()), ("Cargo.lock", &lock)].iter().chain(files) {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }
}

fn package() -> PathBuf {
    let directory = root().join("target").join("editor");
    let files = [
        ("src/main.rs", MAIN),
        // Nobody names this one.
        ("src/two.ptx", &kernel("not_this_one")),
        ("src/other/mod.rs", "mod deeper;\npub use deeper::two;\n"),
        ("src/other/deeper/mod.rs", OTHER),
        ("src/other/deeper/two.ptx", &kernel("two")),
        ("kernels/one.ptx", &kernel("one")),
        ("examples/mistake.rs", MISTAKE),
    ];
    write_package(&directory, &files);
    directory
}

#[test]
fn rust_analyzer_finds_files_and_mistakes() {
    if !available() {
        return;
    }
    let package = package();
    let mut found = diagnostics(&package);
    found.retain(|f| f.file.starts_with(&package));
    let all = shown(&found);
    let [mistake] = found.as_slice() else { panic!("one finding is wanted:\n{all}") };
    assert!(
        mistake.file.ends_with("examples/mistake.rs") && mistake.line == 7 && mistake.text.contains("[PTX04"),
        "{all}"
    );
}
