//! The host engine against plain Rust of the same computation, both in one run: `cargo bench`, or
//! `cargo xtask bench [--json FILE] [--only NAME] [--rounds N] [--threads N]`.
//!
//! Each kernel runs on the host machine and as the single-threaded Rust that a good engineer would write for the processor,
//! in turns; the median of each is printed, and their ratio. Results are compared after every round.

mod atomics;
mod barriers;
mod mandelbrot;
mod matmul;
mod mma;
mod reduce;
mod ring;
mod saxpy;
mod scan;
mod sparse;

use ptx_dsl::Checked;
use ptx_dsl::prelude::*;
use std::io::Write;
use std::time::Instant;

/// A kernel, the same in Rust, and the data both work on.
pub trait Case {
    /// On the host machine.
    fn ours(&mut self, host: &Host);
    /// On the host machine, watched.
    fn checked(&mut self, host: &Host<Checked>);
    /// In Rust.
    fn hand(&mut self);
    /// Do the results agree?
    fn agrees(&self) -> bool;
}

/// `ours` and `checked` from one expression.
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

const CASES: &[(&str, Make)] = &[
    ("saxpy", saxpy::case),
    ("reduce", reduce::case),
    ("matmul", matmul::case),
    ("mma", mma::case),
    ("histogram", atomics::case),
    ("mandelbrot", mandelbrot::case),
    ("barriers", barriers::case),
    ("spmv", sparse::spmv),
    ("gather", sparse::gather),
    ("bfs", sparse::bfs),
    ("scan", scan::case),
    ("ring", ring::case),
];

struct Options {
    json: Option<String>,
    only: Option<String>,
    rounds: usize,
    /// of the host; the Rust next to it has one
    threads: usize,
    checked: bool,
}

fn options() -> Options {
    let mut o = Options { json: None, only: None, rounds: 5, threads: 1, checked: true };
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        match a.as_str() {
            "--json" => o.json = args.next(),
            "--only" => o.only = args.next(),
            "--rounds" => o.rounds = args.next().and_then(|n| n.parse().ok()).unwrap_or(o.rounds).max(1),
            "--threads" => o.threads = args.next().and_then(|n| n.parse().ok()).unwrap_or(o.threads).max(1),
            "--no-checked" => o.checked = false,
            // what cargo itself passes
            "--bench" => {}
            other => {
                eprintln!(
                    "unknown argument `{other}`; there are --json FILE, --only NAME, --rounds N, --threads N, --no-checked"
                );
                std::process::exit(2);
            }
        }
    }
    o
}

/// Time of this thread on a processor, where the system says: what else runs on the machine counts less.
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

/// With several threads, time is what the clock on the wall says.
fn wall(f: impl FnOnce()) -> u64 {
    let start = Instant::now();
    f();
    start.elapsed().as_nanos() as u64
}

fn median(v: &mut [u64]) -> u64 {
    v.sort_unstable();
    v[v.len() / 2]
}

fn main() {
    let o = options();
    let time: fn(&mut dyn FnMut()) -> u64 = if o.threads > 1 { |f| wall(f) } else { |f| nanoseconds(f) };
    let host = Host::new().threads(o.threads);
    let mut lines = Vec::new();
    print!("{:<12} {:>12} {:>12} {:>8} {:>12}", "kernel", "hand, ms", "ours, ms", "ratio", "checked, ms");
    if o.threads > 1 {
        print!(" {:>16} {:>8}", "one thread, ms", format!("x{}", o.threads));
    }
    println!();
    for (name, make) in CASES {
        if o.only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let mut case = make();
        let (mut hand, mut ours, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        // the first round warms up
        for round in 0..=o.rounds {
            let h = time(&mut || case.hand());
            let w = time(&mut || case.ours(&host));
            assert!(case.agrees(), "{name}: the results differ");
            let mut a = w;
            if o.threads > 1 {
                case.hand();
                a = time(&mut || case.ours(&Host::new()));
                assert!(case.agrees(), "{name}: the results of one thread differ");
            }
            if round > 0 {
                hand.push(h);
                ours.push(w);
                alone.push(a);
            }
        }
        let checked = o.checked.then(|| {
            case.hand();
            let t = time(&mut || case.checked(&Host::checked().threads(o.threads)));
            assert!(case.agrees(), "{name}: the checked host's results differ");
            t
        });
        let (hand, ours, alone) = (median(&mut hand), median(&mut ours), median(&mut alone));
        let ratio = ours as f64 / hand as f64;
        let ms = |t: u64| t as f64 / 1e6;
        let shown = checked.map_or("-".into(), |t| format!("{:.2}", ms(t)));
        print!("{name:<12} {:>12.2} {:>12.2} {ratio:>8.2} {shown:>12}", ms(hand), ms(ours));
        if o.threads > 1 {
            print!(" {:>16.2} {:>8.2}", ms(alone), alone as f64 / ours as f64);
        }
        println!();
        let checked = checked.map_or("null".into(), |t| t.to_string());
        lines.push(format!(
            "{{\"name\":\"{name}\",\"threads\":{},\"ours_ns\":{ours},\"one_thread_ns\":{alone},\"hand_ns\":{hand},\"checked_ns\":{checked},\"unchecked_ns\":null,\"ratio\":{ratio:.4}}}",
            o.threads
        ));
    }
    if let Some(file) = o.json {
        let written = std::fs::File::create(&file).and_then(|mut f| writeln!(f, "[{}]", lines.join(",\n ")));
        if let Err(e) = written {
            eprintln!("cannot write {file}: {e}");
            std::process::exit(1);
        }
    }
}

/// Pseudo-random numbers (xorshift).
pub struct Random(pub u64);

impl Random {
    /// The next one, 32 bits.
    pub fn draw(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }
}
