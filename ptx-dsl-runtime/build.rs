//! Detects an optimised build of the runtime, which only a build script can see: the default step limit depends on it, and whether the
//! interpreter has loops on rows.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(ptx_dsl_optimised)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level != "0") {
        println!("cargo::rustc-cfg=ptx_dsl_optimised");
    }
}
