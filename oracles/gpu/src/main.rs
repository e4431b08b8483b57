//! Runs the kernels of a folder on a GPU and on a host, and prints how they agree, as a table in Markdown. `cargo xtask gpu` makes the
//! folder, with this program in it. The machine needs a driver of NVIDIA, and no Rust.

mod examples;
mod forms;
mod random;
mod table;
mod workers;

use ptx_dsl::cuda::Gpu;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Set;

/// The first GPU.
fn gpu() -> Result<Gpu, String> {
    // SAFETY: the kernels are generated to access their arguments alone, and the checked host has found none that does not.
    #[allow(unsafe_code)]
    unsafe { Gpu::new(0) }.map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [folder, of, first, step] = &arguments[..] {
        return workers::work(Path::new(folder), of, first.parse().unwrap_or(0), step.parse().unwrap_or(1));
    }
    let here = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_path_buf));
    let folder = arguments.first().map(PathBuf::from).or(here).unwrap_or_default();
    let gpu = gpu();
    match &gpu {
        Ok(gpu) => println!("{gpu}\n"),
        Err(error) => println!("no GPU: {error}\n"),
    }
    let reason = gpu.as_ref().err().map(String::as_str);
    let sets = [
        workers::all(&folder, "random", "random kernels, also equal to plain Rust", reason),
        workers::all(&folder, "forms", "forms of instructions, with many operands each", reason),
        Set { title: "examples, against plain Rust".to_owned(), launches: examples::run(&folder, reason) },
    ];
    print!("{}", table::table(&sets));
    let failures: usize = sets.iter().map(Set::failures).sum();
    if failures == 0 && gpu.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
