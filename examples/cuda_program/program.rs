//! A kernel of a Rust file in a CUDA program: `kernels.rs` is checked and run here, written as `kernels.ptx` and `kernels.h`, and
//! compiled by nvcc into the program of `main.cu`, which launches it on a GPU. A package of its own calls `ptx_dsl::build` from its
//! build script.
//!
//! Run it with `cargo run -p ptx-dsl --features build --example cuda_program`. Without nvcc (`NVCC`, or on the path) it says what it
//! would do. The program is not run.

mod kernels;

use kernels::scale;
use ptx_dsl::build::Kernels;
use ptx_dsl::prelude::*;
use std::path::Path;
use std::process::Command;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    scale.launch(&Host::checked(), Launch::grid(4), (&mut x, 1.5, 1000))?;
    assert!(x.iter().enumerate().all(|(i, x)| *x == i as f32 * 1.5));
    println!("on the host: 1000 numbers multiplied by 1.5");

    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/cuda_program");
    let out = std::env::temp_dir().join(format!("ptx-dsl-cuda-program-{}", std::process::id()));
    std::fs::create_dir_all(&out)?;
    for file in Kernels::new().file(here.join("kernels.rs")).write(&out)? {
        println!("written: {}", file.display());
    }

    let nvcc = std::env::var("NVCC").unwrap_or("nvcc".into());
    let mut command = Command::new(nvcc);
    command.arg(here.join("main.cu")).arg("-I").arg(&out).arg("-o").arg(out.join("program"));
    match command.status() {
        Ok(status) if status.success() => println!("compiled: {}", out.join("program").display()),
        Ok(status) => return Err(format!("nvcc: {status}").into()),
        Err(e) => println!("nvcc does not run ({e}); the command is {command:?}"),
    }
    std::fs::remove_dir_all(&out)?;
    Ok(())
}
