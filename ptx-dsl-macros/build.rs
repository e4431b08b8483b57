//! On nightly, diagnostics get real labels: `cfg(ptx_dsl_nightly)`.

use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ptx_dsl_nightly)");
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().map(|o| o.stdout).unwrap_or_default();
    // Such as "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)".
    let version = String::from_utf8_lossy(&version);
    if version.split(' ').nth(1).is_some_and(|v| v.ends_with("-nightly")) {
        println!("cargo::rustc-cfg=ptx_dsl_nightly");
    }
}
