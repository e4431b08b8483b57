//! `cargo xtask package`: packs the crates as for crates.io, and checks a user's crate against what was packed. The oldest Rust that the
//! crates promise checks them too, with the oldest dependencies that they allow.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Command as Cli;
use ptx_dsl_oracles::tools::{cargo, root, run_shown};
use serde_json::Value;

use crate::Task;
use crate::steps::in_ci;

/// A crate of a user.
const MANIFEST: &str = r#"[package]
name = "user"
version = "0.0.0"
edition = "2024"
publish = false

[dependencies]
ptx-dsl = { version = "*", features = ["build", "cuda", "half"] }

[workspace]

[patch.crates-io]
"#;

/// The program of the crate: a kernel, a launch and a name of each feature.
const MAIN: &str = r#"//! Uses the packed crates.

use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry double(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b32 %v;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        ld.global.u32 %v, [%x];
        add.u32 %v, %v, %v;
        st.global.u32 [%x], %v;
        ret;
    }
}

fn main() -> Result<(), Error> {
    let _ = (ptx_dsl::build::Kernels::new(), f16::ONE, ptx_dsl::cuda::Gpu::available());
    double.launch(&Host::checked(), Launch::grid(1), (&mut [1],))?;
    Ok(())
}
"#;

/// `cargo xtask package`.
pub fn task() -> Task {
    let about = "Packs the crates as for crates.io, and checks a user's crate against what was packed";
    Task { command: Cli::new("package").about(about), run: |_| check() }
}

/// Packs, unpacks, and checks the crate of a user.
pub fn check() -> Result<(), String> {
    let crates = published()?;
    let directory = root().join("target").join("packed");
    // What was packed before may have other files.
    let _ = std::fs::remove_dir_all(directory.join("package"));
    let _ = std::fs::remove_dir_all(directory.join("crates"));
    let mut pack = cargo();
    pack.args(["package", "--quiet", "--no-verify", "--allow-dirty", "--target-dir"]).arg(&directory);
    run_shown(pack.args(crates.iter().flat_map(|(name, _)| ["-p", name])))?;
    let unpacked = directory.join("crates");
    make(&unpacked)?;
    for file in crate_files(&directory.join("package"))? {
        run_shown(Command::new("tar").arg("xzmf").arg(&file).arg("-C").arg(&unpacked))?;
    }
    let patches: String = crates
        .iter()
        .map(|(name, version)| format!("{name} = {{ path = {:?} }}\n", unpacked.join(format!("{name}-{version}"))))
        .collect();
    let user = directory.join("user");
    make(&user.join("src"))?;
    write(&user.join("Cargo.toml"), &format!("{MANIFEST}{patches}"))?;
    write(&user.join("src").join("main.rs"), MAIN)?;
    // The versions of the workspace, so that nothing is downloaded.
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    write(&user.join("Cargo.lock"), &lock)?;
    let target = directory.join("target");
    run_shown(cargo().current_dir(&user).env("CARGO_TARGET_DIR", target).args(["check", "--quiet"]))?;
    eprintln!("> packed {} crates, and a user's crate compiles with them", crates.len());
    check_oldest(&unpacked, &patches)
}

/// Checks the packed crates with the Rust of `rust-version`, and each dependency in the lowest version that a manifest allows.
fn check_oldest(unpacked: &Path, patches: &str) -> Result<(), String> {
    let manifest =
        std::fs::read_to_string(root().join("Cargo.toml")).map_err(|error| format!("Cargo.toml: {error}"))?;
    let rust = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let rust = rust.ok_or("Cargo.toml has no rust-version")?.trim_matches('"');
    let installed = Command::new("rustup").args(["run", rust, "cargo", "--version"]).output();
    if !installed.is_ok_and(|output| output.status.success()) {
        let reason = format!("Rust {rust} is not installed: `rustup toolchain install {rust} --profile minimal`");
        if in_ci() {
            return Err(reason);
        }
        eprintln!("skipped: the oldest Rust ({reason})");
        return Ok(());
    }
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[patch.crates-io]\n{patches}");
    write(&unpacked.join("Cargo.toml"), &workspace)?;
    let old = || {
        let mut command = Command::new("rustup");
        // What `cargo xtask` says about the present toolchain does not hold for the old one.
        command.current_dir(unpacked).args(["run", rust, "cargo"]).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
        command
    };
    // The option is of nightly compilers; it only chooses versions.
    run_shown(old().env("RUSTC_BOOTSTRAP", "1").args(["update", "--quiet", "-Z", "direct-minimal-versions"]))?;
    let target = unpacked.with_file_name("oldest");
    let features = ["check", "--quiet", "-p", "ptx-dsl", "--features", "build,cuda,half"];
    run_shown(old().env("CARGO_TARGET_DIR", target).args(features))?;
    eprintln!("> Rust {rust} compiles the crates with the oldest dependencies that they allow");
    Ok(())
}

/// The names and versions of the crates that are published.
fn published() -> Result<Vec<(String, String)>, String> {
    let output = cargo().args(["metadata", "--format-version", "1", "--no-deps"]).output();
    let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata has no packages")?;
    let is_published = |package: &&Value| package["publish"].is_null();
    let word = |package: &Value, key: &str| package[key].as_str().map(str::to_owned);
    let named =
        packages.iter().filter(is_published).map(|package| Some((word(package, "name")?, word(package, "version")?)));
    named.collect::<Option<_>>().ok_or_else(|| "cargo metadata has a package without a name".to_owned())
}

/// The packed crates in a folder.
fn crate_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|extension| extension == "crate")).collect())
}

fn make(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
