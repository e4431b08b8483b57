//! Instructions of every form with many operands.

use crate::table::Verdict;
use ptx_dsl::agree::Agreement;
use ptx_dsl::cuda::Gpu;
use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;
use std::path::Path;

/// Threads of a CTA, as `gpu_results/text.rs` has them.
const BLOCK: usize = 128;

/// Runs the kernel of a line `NAME SET THREADS OUTPUTS...`, with the number of outputs of each form. Returns a verdict for each form.
pub fn run(folder: &Path, line: &str, gpu: &Gpu) -> Vec<(String, Verdict)> {
    let words: Vec<&str> = line.split(' ').collect();
    let [name, set, threads, outputs @ ..] = &words[..] else { return Vec::new() };
    let outputs: Vec<usize> = outputs.iter().filter_map(|n| n.parse().ok()).collect();
    let threads: usize = threads.parse().unwrap_or_default();
    let verdict = launch(folder, (name, set), threads, outputs.iter().sum(), gpu);
    let verdict = verdict.unwrap_or_else(Verdict::Differs);
    // at a difference, it is the first form that has one
    let same = |verdict: &Verdict| match verdict {
        Verdict::Equal => Verdict::Equal,
        Verdict::Within => Verdict::Within,
        Verdict::Reason(reason) => Verdict::Reason(reason.clone()),
        Verdict::Differs(_) => Verdict::Reason("in a kernel with a form that differs".to_owned()),
    };
    let of_others: Vec<Verdict> = (1..outputs.len()).map(|_| same(&verdict)).collect();
    let names = (0..outputs.len()).map(|form| format!("{name}.{form}"));
    names.zip([verdict].into_iter().chain(of_others)).collect()
}

fn launch(
    folder: &Path,
    (name, set): (&str, &str),
    threads: usize,
    outputs: usize,
    gpu: &Gpu,
) -> Result<Verdict, String> {
    let text = std::fs::read_to_string(folder.join(format!("{name}.ptx"))).map_err(|e| e.to_string())?;
    let operands = std::fs::read(folder.join(format!("{set}.bin"))).map_err(|e| e.to_string())?;
    // a form that is newer than the PTX of the driver
    let module = match Module::parse(&text) {
        Ok(module) => module,
        Err(error) => return Ok(Verdict::Reason(error.to_string().lines().next().unwrap_or_default().to_owned())),
    };
    let kernel = module.kernel(name).map_err(|e| e.to_string())?;
    let host = Host::new();
    let agreed = Agreement::new("host", &host).with("GPU", gpu).run(|device| {
        let (mut cells, mut out) = (vec![0u64; threads], vec![0u64; threads * outputs]);
        let mut arguments = [operands[..].into(), (&mut cells).into(), (&mut out).into()];
        kernel.launch_raw(device, Launch::grid((threads / BLOCK) as u32).block(BLOCK as u32), &mut arguments)
    });
    Ok(match agreed {
        Ok(_) => Verdict::Equal,
        Err(error) => Verdict::of(&error),
    })
}
