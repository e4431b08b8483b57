//! Detects nightly, where diagnostics get real labels: `cfg(ptx_dsl_nightly)`.

use rustc_version::{Channel, version_meta};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ptx_dsl_nightly)");
    println!("cargo::rerun-if-changed=build.rs");
    if version_meta().is_ok_and(|rustc| rustc.channel == Channel::Nightly) {
        println!("cargo::rustc-cfg=ptx_dsl_nightly");
    }
}
