//! `cargo xtask mutants --seeds N`: how many mutants, and how many kernels of tests/bugs, only seeds notice: without the compiler, on the
//! plain and on the checked host, by a fault or by results that depend on the seed.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::mutate::mutants;
use super::source::Launch;
use super::{Kernel, codes, lock};
use ptx_dsl_frontend::diag::Class;

/// What one launch of each wrong kernel, and what seeds notice.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    all: usize,
    plain_run: usize,
    plain_seeds: usize,
    checked_run: usize,
    checked_seeds: usize,
}

impl Count {
    fn print(&self, name: &str) {
        let Count { all, plain_run, plain_seeds, checked_run, checked_seeds } = self;
        println!("{name:20} {all:7} {plain_run:10} {plain_seeds:12} {checked_run:12} {checked_seeds:14}");
    }
}

/// Counts and prints.
pub(super) fn count(program: &Path, launches: &[Launch], folder: &Path, seeds: u64) {
    let (next, mutated, bugs) = (AtomicUsize::new(0), Mutex::new(Count::default()), Mutex::new(Count::default()));
    let work = |worker: usize| {
        while let Some(launch) = launches.get(next.fetch_add(1, Ordering::Relaxed)) {
            let kernel = Kernel { launch, program, file: folder.join(format!("{worker}.ptx")) };
            let known = codes(&launch.text);
            for mutant in mutants(&launch.text) {
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
    println!("{:20} {:>7} plain: run {seeds:3} seeds  checked: run {seeds:5} seeds", "", "all");
    lock(&mutated).print("mutants");
    lock(&bugs).print("tests/bugs");
}

fn judge(kernel: &Kernel<'_>, text: &str, seeds: u64, into: &Mutex<Count>) {
    let seeds = seeds.to_string();
    let notices = |options: &[&str]| usize::from(kernel.notices(text, options));
    let (plain_run, plain_seeds) = (notices(&[]), notices(&["--explore", &seeds]));
    let (checked_run, checked_seeds) = (notices(&["--checked"]), notices(&["--checked", "--explore", &seeds]));
    let mut sum = lock(into);
    sum.all += 1;
    sum.plain_run += plain_run;
    sum.plain_seeds += plain_seeds;
    sum.checked_run += checked_run;
    sum.checked_seeds += checked_seeds;
}
