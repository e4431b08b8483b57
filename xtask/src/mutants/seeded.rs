//! `cargo xtask mutants --seeds N`: how many mutants, and how many kernels of tests/bugs, seeds notice by themselves, without the compiler: on
//! the plain and on the checked host, by a fault or by results that depend on the seed.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::mutate::mutants;
use super::source::Launch;
use super::{Kernel, codes, lock};
use ptx_dsl_frontend::diag::Class;

/// Of wrong kernels, those that seeds notice.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    all: usize,
    plain: usize,
    checked: usize,
}

impl Count {
    fn print(&self, name: &str) {
        let Count { all, plain, checked } = self;
        println!("{name:12} {all:6} {plain:6} {checked:8}");
    }
}

/// Counts each one of so many mutants of a kernel, and prints.
pub(super) fn count(program: &Path, launches: &[Launch], folder: &Path, seeds: u64, every: usize) {
    let (next, mutated, bugs) = (AtomicUsize::new(0), Mutex::new(Count::default()), Mutex::new(Count::default()));
    let work = |worker: usize| {
        while let Some(launch) = launches.get(next.fetch_add(1, Ordering::Relaxed)) {
            let kernel = Kernel { launch, program, file: folder.join(format!("{worker}.ptx")) };
            let known = codes(&launch.text);
            for mutant in mutants(&launch.text).iter().step_by(every) {
                let is_legal = codes(&mutant.text).difference(&known).all(|(_, class)| *class != Class::Illegal);
                if is_legal {
                    judge(&kernel, &mutant.text, seeds, &mutated);
                }
            }
            // the bug as it was reported, with the arguments of the kernel that is right
            if let Some(file) = launch.name.strip_suffix(".right.ptx")
                && let Ok(wrong) = super::read(&crate::ptxas::root().join(format!("{file}.wrong.ptx")))
            {
                judge(&kernel, &wrong, seeds, &bugs);
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|worker| drop(scope.spawn(move || work(worker))));
    });
    println!("{:12} {:>6} {:>6} {:>8}", "", "all", "plain", "checked");
    lock(&mutated).print("mutants");
    lock(&bugs).print("tests/bugs");
}

fn judge(kernel: &Kernel<'_>, text: &str, seeds: u64, into: &Mutex<Count>) {
    let seeds = seeds.to_string();
    let plain = kernel.notices(text, &["--explore", &seeds]);
    let checked = kernel.notices(text, &["--checked", "--explore", &seeds]);
    let mut sum = lock(into);
    sum.all += 1;
    sum.plain += usize::from(plain);
    sum.checked += usize::from(checked);
}
