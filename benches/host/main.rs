//! Times the host engine against plain Rust of the same computation: `cargo bench -p ptx-dsl-tests`, or `cargo xtask bench [--json FILE] [--only
//! NAME] [--rounds N] [--threads N]`, which adds columns for other builds of this program: without checks, for this processor, in
//! a development profile.
//!
//! Each kernel alternates between the host machine and the single-threaded Rust that a good engineer would write for the
//! processor. The medians and their ratio are printed. Results are compared after every round.

mod atomics;
mod barriers;
mod cluster;
mod copies;
mod mandelbrot;
mod matmul;
mod mma;
mod mma_sync;
mod others;
mod products;
mod ragged;
mod reduce;
mod ring;
mod saxpy;
mod scan;
mod sparse;
mod steal;
mod threads;

use others::{LABELS, Other};
use ptx_dsl::prelude::*;
use ptx_dsl::{Checked, Engine};
use std::io::Write;
use std::time::Instant;
use threads::{Alone, Threads};

/// A kernel, its Rust counterpart, and their data.
pub trait Case {
    /// On the host machine.
    fn ours(&mut self, host: &Host);
    /// On the checked host.
    fn checked(&mut self, host: &Host<Checked>);
    /// In Rust.
    fn hand(&mut self);
    /// Do the results agree?
    fn agrees(&self) -> bool;
}

/// Makes `ours` and `checked` of one expression.
#[macro_export]
macro_rules! launches {
    ($self:ident, $host:ident => $launch:expr) => {
        fn ours(&mut $self, $host: &ptx_dsl::prelude::Host) {
            $launch.expect("a clean run");
        }
        fn checked(&mut $self, $host: &ptx_dsl::prelude::Host<ptx_dsl::Checked>) {
            $launch.expect("a clean run");
        }
    };
}

type Make = fn() -> Box<dyn Case>;

/// Name, data, PTX.
const CASES: &[(&str, Make, &str)] = &[
    ("saxpy", saxpy::case, saxpy::saxpy::PTX),
    ("reduce", reduce::case, reduce::reduce::PTX),
    ("matmul", matmul::case, matmul::matmul::PTX),
    ("mma", mma::case, mma::mma::PTX),
    ("mma_sync", mma_sync::exact, mma_sync::mma_sync::PTX),
    ("mma_fast", mma_sync::fast, mma_sync::mma_sync::PTX),
    ("tcgen05_f16", products::f16, products::product_f16::PTX),
    ("tcgen05_fast", products::f16_fast, products::product_f16::PTX),
    ("tcgen05_tf32", products::tf32, products::product_tf32::PTX),
    ("tcgen05_e4m3", products::e4m3, products::product_f8::PTX),
    ("tcgen05_s8", products::s8, products::product_i8::PTX),
    ("histogram", atomics::case, atomics::histogram::PTX),
    ("mandelbrot", mandelbrot::case, mandelbrot::mandelbrot::PTX),
    ("barriers", barriers::case, barriers::barriers::PTX),
    ("spmv", sparse::spmv, sparse::multiply::PTX),
    ("gather", sparse::gather, sparse::take::PTX),
    ("bfs", sparse::bfs, sparse::level::PTX),
    ("scan", scan::case, scan::scan::PTX),
    ("divergent", ragged::case, ragged::ragged::PTX),
    ("ring", ring::case, ring::ring::PTX),
    ("cluster", cluster::case, cluster::cluster::PTX),
    ("clc", steal::case, steal::steal::PTX),
    ("bulk", copies::bulk_case, copies::bulk_copy::PTX),
    ("tile", copies::tile_case, copies::tile_copy::PTX),
];

struct Options {
    json: Option<String>,
    only: Option<String>,
    rounds: usize,
    /// of the host; the Rust next to it has one
    threads: usize,
    checked: bool,
    /// serves another process: a round of this kernel for each line read
    serve: Option<String>,
    /// only writes the kernels' PTX to this directory
    ptx: Option<String>,
    others: Vec<Other>,
}

fn options() -> Options {
    let mut o = Options {
        json: None,
        only: None,
        rounds: 5,
        threads: 1,
        checked: true,
        serve: None,
        ptx: None,
        others: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        match a.as_str() {
            "--json" => o.json = args.next(),
            "--only" => o.only = args.next(),
            "--rounds" => o.rounds = args.next().and_then(|n| n.parse().ok()).unwrap_or(o.rounds).max(1),
            "--threads" => o.threads = args.next().and_then(|n| n.parse().ok()).unwrap_or(o.threads).max(1),
            "--no-checked" => o.checked = false,
            "--serve" => o.serve = args.next(),
            "--ptx" => o.ptx = args.next(),
            // an argument of cargo itself
            "--bench" => {}
            other => {
                let label = LABELS.into_iter().find(|l| other.strip_prefix("--") == Some(l));
                if let Some((label, program)) = label.zip(args.next()) {
                    o.others.push(Other { label, program });
                    continue;
                }
                eprintln!(
                    "unknown argument `{other}`; there are --json FILE, --only NAME, --rounds N, --threads N, --no-checked"
                );
                std::process::exit(2);
            }
        }
    }
    o
}

/// CPU time of this thread, where the system tells it, so that other programs count less.
fn on_processor() -> Option<u64> {
    // the system counts up to here
    std::thread::yield_now();
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

fn nanoseconds(f: impl FnOnce()) -> u64 {
    let (start, from) = (Instant::now(), on_processor());
    f();
    let wall = start.elapsed().as_nanos() as u64;
    from.zip(on_processor()).map_or(wall, |(from, to)| to - from)
}

/// With several threads, wall-clock time.
fn wall(f: impl FnOnce()) -> u64 {
    let start = Instant::now();
    f();
    start.elapsed().as_nanos() as u64
}

fn median(v: &mut [u64]) -> Option<u64> {
    v.sort_unstable();
    v.get(v.len() / 2).copied()
}

/// Times of a program and of its Rust counterpart.
type Times = (u64, Option<u64>);

/// A line of the table and its JSON object.
struct Line {
    name: &'static str,
    hand: u64,
    ours: u64,
    /// on the interpreter
    interpreted: u64,
    /// if `ours` is on several threads
    threads: Option<Threads>,
    checked: Option<u64>,
    /// by label
    others: Vec<(&'static str, Option<Times>)>,
}

fn main() {
    let o = options();
    if let Some(directory) = &o.ptx {
        return write_ptx(directory);
    }
    if let Some(wanted) = &o.serve {
        let Some((_, make, _)) = CASES.iter().find(|(name, ..)| name == wanted) else {
            std::process::exit(others::UNKNOWN)
        };
        let mut case = make();
        return others::serve(|| {
            let h = nanoseconds(|| case.hand());
            let w = nanoseconds(|| case.ours(&Host::new()));
            assert!(case.agrees(), "{wanted}: the results differ");
            (w, h)
        });
    }
    print!("{:<12} {:>12} {:>12} {:>8}", "kernel", "hand, ms", "compiled, ms", "ratio");
    print!(" {:>15} {:>8} {:>12}", "interpreted, ms", "ratio", "checked, ms");
    if o.threads > 1 {
        threads::print_head(o.threads);
    }
    for other in &o.others {
        print!(" {:>14} {:>8}", format!("{}, ms", other.label), "ratio");
    }
    println!();
    let mut lines = Vec::new();
    for (name, make, _) in CASES {
        if o.only.as_ref().is_none_or(|only| only == name) {
            let line = measure(name, *make, &o);
            line.print();
            lines.push(line.json());
        }
    }
    if lines.is_empty() {
        let names: Vec<_> = CASES.iter().map(|(name, ..)| *name).collect();
        eprintln!("there is no such bench; there are {}", names.join(", "));
        std::process::exit(2);
    }
    if let Some(file) = o.json {
        let written = std::fs::File::create(&file).and_then(|mut f| writeln!(f, "[{}]", lines.join(",\n ")));
        if let Err(e) = written {
            eprintln!("cannot write {file}: {e}");
            std::process::exit(1);
        }
    }
}

/// The checked host takes part in the rounds until it has had this much time for a kernel.
const CHECKED_NS: u64 = 20_000_000_000;

fn measure(name: &'static str, make: Make, o: &Options) -> Line {
    let time: fn(&mut dyn FnMut()) -> u64 = if o.threads > 1 { |f| wall(f) } else { |f| nanoseconds(f) };
    let host = Host::new().threads(o.threads);
    let mut case = make();
    let interpreter = host.clone().engine(Engine::Interpreted);
    let (mut hand, mut ours, mut interpreted) = (Vec::new(), Vec::new(), Vec::new());
    let (mut alone, mut checked) = (Alone::default(), Vec::new());
    let alone_interpreted = Host::new().engine(Engine::Interpreted);
    let mut running: Vec<_> = o.others.iter().map(|other| other.start(name)).collect();
    // the first round is a warm-up
    for round in 0..=o.rounds {
        let h = time(&mut || case.hand());
        let w = time(&mut || case.ours(&host));
        assert!(case.agrees(), "{name}: the results differ");
        if round > 0 {
            hand.push(h);
            ours.push(w);
        }
        case.hand();
        let (i, used) = threads::processor(|| time(&mut || case.ours(&interpreter)));
        assert!(case.agrees(), "{name}: the results of the interpreter differ");
        if round > 0 {
            interpreted.push(i);
            alone.ticks[1] += used;
        }
        if o.threads > 1 {
            case.hand();
            let a = time(&mut || case.ours(&Host::new()));
            assert!(case.agrees(), "{name}: the results of one thread differ");
            case.hand();
            let (b, used) = threads::processor(|| time(&mut || case.ours(&alone_interpreted)));
            assert!(case.agrees(), "{name}: the results of one interpreting thread differ");
            if round > 0 {
                alone.compiled.push(a);
                alone.interpreted.push(b);
                alone.ticks[0] += used;
            }
        }
        for other in &mut running {
            other.round(round > 0);
        }
        if o.checked && round > 0 && checked.iter().sum::<u64>() < CHECKED_NS {
            case.hand();
            checked.push(time(&mut || case.checked(&Host::checked().threads(o.threads))));
            assert!(case.agrees(), "{name}: the checked host's results differ");
        }
    }
    let others = running.into_iter().map(|r| {
        let label = r.label;
        let (mut ours, mut hand) = r.end(name);
        (label, median(&mut ours).map(|ours| (ours, median(&mut hand))))
    });
    Line {
        name,
        hand: median(&mut hand).unwrap_or_default(),
        ours: median(&mut ours).unwrap_or_default(),
        interpreted: median(&mut interpreted).unwrap_or_default(),
        threads: alone.line(o.threads),
        checked: median(&mut checked),
        others: others.collect(),
    }
}

impl Line {
    fn ratio(&self) -> f64 {
        self.ours as f64 / self.hand as f64
    }

    fn print(&self) {
        let ms = |t: u64| format!("{:.2}", t as f64 / 1e6);
        let checked = self.checked.map_or("-".into(), ms);
        print!("{:<12} {:>12} {:>12} {:>8.2}", self.name, ms(self.hand), ms(self.ours), self.ratio());
        let ratio = self.interpreted as f64 / self.hand as f64;
        print!(" {:>15} {ratio:>8.2} {checked:>12}", ms(self.interpreted));
        if let Some(threads) = &self.threads {
            threads.print(self.ours, self.interpreted);
        }
        for (label, times) in &self.others {
            let shown = times.map_or("-".into(), |(ours, _)| ms(ours));
            // for native code, to Rust compiled for the same processor; otherwise of our time to the other's
            let ratio = times.map_or("-".into(), |(theirs, hand)| match hand {
                Some(hand) if *label == "native" => format!("{:.2}", theirs as f64 / hand as f64),
                _ => format!("{:.2}", self.ours as f64 / theirs as f64),
            });
            print!(" {shown:>14} {ratio:>8}");
        }
        println!();
    }

    fn json(&self) -> String {
        let number = |t: Option<u64>| t.map_or("null".into(), |t| t.to_string());
        let of = |wanted: &str| self.others.iter().find(|(label, _)| *label == wanted).map(|(_, times)| *times);
        let mut text = format!(
            "{{\"name\":\"{}\",\"ours_ns\":{},\"hand_ns\":{},\"interpreted_ns\":{},\"checked_ns\":{},\"unchecked_ns\":{},\"ratio\":{:.4}",
            self.name,
            self.ours,
            self.hand,
            self.interpreted,
            number(self.checked),
            number(of("unchecked").flatten().map(|t| t.0)),
            self.ratio()
        );
        text += &self.threads.as_ref().map_or(String::new(), Threads::json);
        if let Some(times) = of("native") {
            let (ours, hand) = (times.map(|t| t.0), times.and_then(|t| t.1));
            let ratio = ours.zip(hand).map_or("null".into(), |(o, h)| format!("{:.4}", o as f64 / h as f64));
            text += &format!(
                ",\"native_ours_ns\":{},\"native_hand_ns\":{},\"native_ratio\":{ratio}",
                number(ours),
                number(hand)
            );
        }
        for label in ["dev", "opencl"] {
            if let Some(times) = of(label) {
                text += &format!(",\"{label}_ns\":{}", number(times.map(|t| t.0)));
            }
        }
        text + "}"
    }
}

/// Writes PTX for ptxas.
fn write_ptx(directory: &str) {
    let directory = std::path::Path::new(directory);
    std::fs::create_dir_all(directory).unwrap_or_else(|e| panic!("cannot make {}: {e}", directory.display()));
    for (name, _, ptx) in CASES {
        let file = directory.join(format!("bench-{name}.ptx"));
        std::fs::write(&file, ptx).unwrap_or_else(|e| panic!("cannot write {}: {e}", file.display()));
    }
}
