//! Runs the kernels of a folder on a GPU and on a host, and prints how they agree, as a table in Markdown. `cargo xtask gpu` makes the
//! folder, with this program in it. The machine needs a driver of NVIDIA, and no Rust.

mod examples;
mod forms;
mod random;
mod table;

use ptx_dsl::cuda::{Gpu, GpuError};
use ptx_dsl::launch::Device;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Set;

/// What a set of launches runs on.
struct Devices {
    gpu: Result<Gpu, GpuError>,
    threads: usize,
}

impl Devices {
    /// Runs `job` for each number below `count`, on several threads of the host.
    fn each<R: Send>(&self, count: usize, job: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let next = std::sync::atomic::AtomicUsize::new(0);
        let numbers = || std::iter::from_fn(|| Some(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
        let some = || numbers().take_while(|n| *n < count).map(|n| (n, job(n))).collect::<Vec<_>>();
        let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads).map(|_| scope.spawn(some)).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("a job does not panic")).collect()
        });
        all.sort_by_key(|(n, _)| *n);
        all.into_iter().map(|(_, result)| result).collect()
    }

    /// The GPU, if there is one.
    fn gpu(&self) -> Result<&dyn Device, String> {
        match &self.gpu {
            Ok(gpu) => Ok(gpu),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn main() -> ExitCode {
    let here = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_path_buf));
    let folder = std::env::args_os().nth(1).map(PathBuf::from).or(here).unwrap_or_default();
    // SAFETY: the kernels are generated to access their arguments alone, and the checked host has found none that does not.
    #[allow(unsafe_code)]
    let gpu = unsafe { Gpu::new(0) };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    match &gpu {
        Ok(gpu) => println!("{gpu}\n"),
        Err(error) => println!("no GPU: {error}\n"),
    }
    let devices = Devices { gpu, threads };
    let sets: Vec<Set> =
        [random::run(&folder, &devices), forms::run(&folder, &devices), examples::run(&folder, &devices)].into();
    print!("{}", table::table(&sets));
    let failures: usize = sets.iter().map(Set::failures).sum();
    if failures == 0 && devices.gpu.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
