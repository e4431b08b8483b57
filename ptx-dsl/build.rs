//! Detects an optimised build, which only a build script can see: kernels are then compiled for AVX2 too (`OPTIMISED`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(ptx_dsl_optimised)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level != "0") {
        println!("cargo::rustc-cfg=ptx_dsl_optimised");
    }
}
