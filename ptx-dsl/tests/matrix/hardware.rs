//! Results of an H200.
//!
//! With `MATRIX_WRITE=directory` this writes the kernels and their operands for a GPU; with `MATRIX_RESULTS=directory` it reads what
//! the GPU gave, prints where the host differs, and with `BLESS` writes `tests/hardware/matrix.txt`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::forms;
use super::inputs::CLASSES;
use super::kernels::{Kernel, Pool};
use ptx_dsl::load::{Level, Module, Options, Selector};
use ptx_dsl::prelude::*;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/hardware/matrix.txt")
}

const TARGET: &str = "sm_90a";

fn all() -> Vec<Kernel> {
    [forms::moves(TARGET), forms::mma(TARGET), forms::sparse(TARGET), forms::wmma(TARGET), forms::wgmma(TARGET)]
        .concat()
}

/// Pools that are made.
#[derive(Default)]
pub struct Pools(Vec<(Pool, Vec<u32>)>);

impl Pools {
    pub fn of(&mut self, pool: Pool) -> &[u32] {
        let known = self.0.iter().position(|p| p.0 == pool);
        let at = known.unwrap_or_else(|| {
            self.0.push((pool, pool.words()));
            self.0.len() - 1
        });
        &self.0[at].1
    }
}

/// The results of a kernel on the host.
pub fn run(kernel: &Kernel, pools: &mut Pools) -> Result<Vec<u32>, String> {
    run_on(&Host::new(), kernel, pools)
}

/// The same on this host.
pub fn run_on(host: &Host, kernel: &Kernel, pools: &mut Pools) -> Result<Vec<u32>, String> {
    let text = kernel.head() + &kernel.text("k");
    let module =
        Options::new().level(Level::Allow, Selector::Warnings).parse(&text).map_err(|e| format!("{e}\n{text}"))?;
    run_in(host, &module, "k", kernel, pools)
}

fn run_in(host: &Host, module: &Module, name: &str, kernel: &Kernel, pools: &mut Pools) -> Result<Vec<u32>, String> {
    let entry = module.kernel(name).map_err(|e| e.to_string())?;
    let given: Vec<Vec<u32>> = kernel.pools.iter().map(|p| p.map_or(vec![0; 2], |p| pools.of(p).to_vec())).collect();
    let mut out = vec![0u32; CLASSES.len() * kernel.threads as usize * kernel.outputs];
    let launch = Launch::grid(CLASSES.len() as u32).block(kernel.threads).dynamic_shared(kernel.shared as u32);
    let mut arguments: Vec<_> = given.iter().map(|words| words.as_slice().into()).collect();
    arguments.push(out.as_mut_slice().into());
    entry.launch_raw(host, launch, &mut arguments).map_err(|e| e.to_string())?;
    Ok(out)
}

/// A digest of the results of each class.
fn digests(kernel: &Kernel, results: &[u32]) -> Vec<u32> {
    let each = kernel.threads as usize * kernel.outputs;
    let digest = |words: &[u32]| {
        words.iter().fold(0x811c_9dc5u32, |h, w| (h ^ w).wrapping_mul(0x0100_0193).rotate_left(13) ^ (w >> 16))
    };
    results.chunks(each).map(digest).collect()
}

fn line(kernel: &Kernel, digests: &[u32]) -> String {
    let digests: Vec<String> = digests.iter().map(|d| format!("{d:08x}")).collect();
    format!("{}  {}", digests.join(" "), kernel.label)
}

#[test]
fn what_an_h200_gave() {
    if let Ok(directory) = std::env::var("MATRIX_WRITE") {
        return write(Path::new(&directory));
    }
    if let Ok(directory) = std::env::var("MATRIX_RESULTS") {
        return read(Path::new(&directory));
    }
    let known = std::fs::read_to_string(file()).expect("tests/hardware/matrix.txt");
    let known: BTreeMap<&str, &str> =
        known.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once("  ")).map(|(d, l)| (l, d)).collect();
    let (mut pools, mut wrong, mut seen) = (Pools::default(), Vec::new(), 0);
    for kernel in all() {
        seen += 1;
        let Some(wanted) = known.get(kernel.label.as_str()) else {
            wrong.push(format!("{}: no results of an H200", kernel.label));
            continue;
        };
        match run(&kernel, &mut pools) {
            Ok(results) => {
                let found = line(&kernel, &digests(&kernel, &results));
                let classes: Vec<_> =
                    found.split(' ').zip(wanted.split(' ')).zip(CLASSES).filter(|((f, w), _)| f != w).collect();
                if !classes.is_empty() {
                    let classes: Vec<_> = classes.iter().map(|c| c.1).collect();
                    wrong.push(format!("{}: {classes:?}", kernel.label));
                }
            }
            Err(e) => wrong.push(format!("{}: {e}", kernel.label)),
        }
    }
    assert!(wrong.is_empty(), "{} of {seen} kernels give something else:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(seen, known.len(), "results of kernels that there are no longer");
}

/// Kernels of a module.
const EACH: usize = 32;

fn write(directory: &Path) {
    std::fs::create_dir_all(directory).expect("a directory");
    let (mut list, mut pools) = (String::new(), Pools::default());
    let kernels = all();
    for (m, chunk) in kernels.chunks(EACH).enumerate() {
        let mut module = chunk[0].head();
        for (i, kernel) in chunk.iter().enumerate() {
            module += &kernel.text(&format!("k{i}"));
            let names = kernel.pools.map(|p| p.map_or("-".to_string(), |p| p.name()));
            kernel.pools.iter().flatten().for_each(|p| {
                pools.of(*p);
            });
            let _ = writeln!(
                list,
                "m{m} k{i} {} {} {} {} {}",
                kernel.threads,
                kernel.outputs,
                kernel.shared,
                names.join(" "),
                kernel.label
            );
        }
        std::fs::write(directory.join(format!("m{m}.ptx")), module).expect("a module");
    }
    for (pool, words) in &pools.0 {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(directory.join(format!("{}.pool", pool.name())), bytes).expect("a pool");
    }
    std::fs::write(directory.join("list.txt"), list).expect("a list");
}

fn read(directory: &Path) {
    let list = std::fs::read_to_string(directory.join("list.txt")).expect("list.txt");
    let mut bytes = Vec::new();
    for i in 0.. {
        let Ok(part) = std::fs::read(directory.join(format!("results{i}.bin"))) else { break };
        bytes.extend(part);
    }
    let words: Vec<u32> = bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("four"))).collect();
    let only = std::env::var("MATRIX_ONLY").unwrap_or_default();
    let (mut at, mut pools, mut lines, mut wrong) = (0, Pools::default(), String::new(), 0);
    let mut labels: HashMap<&str, &[u32]> = HashMap::new();
    for l in list.lines() {
        let fields: Vec<&str> = l.splitn(12, ' ').collect();
        let number = |i: usize| fields[i].parse::<usize>().expect("a number");
        let size = CLASSES.len() * number(2) * number(3);
        labels.insert(fields[11], &words[at..at + size]);
        at += size;
    }
    for kernel in all().iter().filter(|k| k.label.contains(&only)) {
        let Some(gpu) = labels.get(kernel.label.as_str()) else { continue };
        let _ = writeln!(lines, "{}", line(kernel, &digests(kernel, gpu)));
        let host = match run(kernel, &mut pools) {
            Ok(host) => host,
            Err(e) => {
                println!("{}: {}", kernel.label, e.lines().next().unwrap_or(""));
                wrong += 1;
                continue;
            }
        };
        let each = host.len() / CLASSES.len();
        let mut said = String::new();
        for (i, class) in CLASSES.into_iter().enumerate() {
            let part = i * each..(i + 1) * each;
            let differ: Vec<usize> = part.clone().filter(|&i| host[i] != gpu[i]).collect();
            if let Some(&first) = differ.first() {
                let (lane, register) =
                    ((first - part.start) % kernel.threads as usize, (first - part.start) / kernel.threads as usize);
                let _ = write!(
                    said,
                    "\n    {class:?} {} of {each}: thread {lane} register {register}: {:08x}, not {:08x}",
                    differ.len(),
                    host[first],
                    gpu[first]
                );
            }
        }
        if !said.is_empty() {
            wrong += 1;
            println!("{}{said}", kernel.label);
        }
    }
    println!("{wrong} kernels differ");
    if std::env::var("BLESS").is_ok() {
        std::fs::write(
            file(),
            format!(
                "# Digests of what an H200 gave, one for each class of operands: tests/hardware/README.md.\n{lines}"
            ),
        )
        .expect("written");
    }
}
