//! On nightly, diagnostics get real labels: `cfg(ptx_dsl_nightly)`.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ptx_dsl_nightly)");
    println!("cargo::rerun-if-changed=build.rs");
    let nightly = rustc_version::version_meta().is_ok_and(|m| m.channel == rustc_version::Channel::Nightly);
    if nightly {
        println!("cargo::rustc-cfg=ptx_dsl_nightly");
    }
}
