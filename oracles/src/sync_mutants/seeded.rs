//! Seeds alone: the mutants and the kernels of tests/bugs that they notice, without the compiler (`cargo xtask mutants --seeds N`):
//! on the plain and on the checked host, by a fault or by results that depend on the seed.

use std::iter::Sum;

use ptx_dsl_frontend::diag::Class;
use ptx_dsl_test_support::parallel;

use super::{Bench, Kernel, Options, codes};
use crate::tools::{read, root};

/// The number of wrong kernels, and of those that seeds notice.
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

impl Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count::default(), |sum, count| Count {
            all: sum.all + count.all,
            plain: sum.plain + count.plain,
            checked: sum.checked + count.checked,
        })
    }
}

/// Counts the mutants that `seeds` seeds notice, and prints.
pub fn count(options: &Options, seeds: u64) -> Result<(), String> {
    let bench = Bench::new(&options.names)?;
    let counts = parallel::map(&bench.kernels(), |kernel| {
        let text = &kernel.launch.text;
        let known = codes(text);
        let is_legal = |text: &str| codes(text).difference(&known).all(|(_, class)| *class != Class::Illegal);
        let mutants = options.mutants.of(text);
        let legal = mutants.iter().map(|mutant| &mutant.text).filter(|text| is_legal(text));
        let mutated: Count = legal.map(|text| judge(kernel, text, seeds)).sum();
        // The bug as it was reported, with the arguments of the kernel that is right.
        let file = kernel.launch.name.strip_suffix(".right.ptx");
        let wrong = file.and_then(|file| read(&root().join(format!("{file}.wrong.ptx"))).ok());
        let bug: Count = wrong.iter().map(|text| judge(kernel, text, seeds)).sum();
        (mutated, bug)
    });
    println!("{:12} {:>6} {:>6} {:>8}", "", "all", "plain", "checked");
    counts.iter().map(|(mutated, _)| *mutated).sum::<Count>().print("mutants");
    counts.iter().map(|(_, bug)| *bug).sum::<Count>().print("tests/bugs");
    Ok(())
}

fn judge(kernel: &Kernel<'_>, text: &str, seeds: u64) -> Count {
    let seeds = seeds.to_string();
    let plain = kernel.notices(text, &["--explore", &seeds]);
    let checked = kernel.notices(text, &["--checked", "--explore", &seeds]);
    Count { all: 1, plain: plain.into(), checked: checked.into() }
}
