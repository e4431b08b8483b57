//! Other builds of the benches, and other programs: processes that run a round of a kernel on request, so that all are timed
//! alternately.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The variants that `--unchecked`, `--native`, `--dev` and `--opencl` name.
pub const LABELS: [&str; 4] = ["unchecked", "native", "dev", "opencl"];

/// A program that understands `--serve NAME`: for each line that it reads it runs a round and writes its nanoseconds, then those
/// of the Rust counterpart if there is one. It exits at once if it has no such kernel.
pub struct Other {
    pub label: &'static str,
    pub program: String,
}

/// A running program for one kernel.
pub struct Running {
    pub label: &'static str,
    child: Child,
    ask: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    pub ours: Vec<u64>,
    pub hand: Vec<u64>,
}

impl Other {
    pub fn start(&self, name: &str) -> Running {
        let mut command = Command::new(&self.program);
        command.args(["--serve", name]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|e| panic!("cannot run {}: {e}", self.program));
        let ask = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Running { label: self.label, child, ask, answers, ours: Vec::new(), hand: Vec::new() }
    }
}

impl Running {
    /// Runs a round; `keep` if it counts. `false` if the program has exited.
    pub fn round(&mut self, keep: bool) -> bool {
        let Some(ask) = &mut self.ask else { return false };
        let mut line = String::new();
        // a write to an exited process fails; the missing answer tells
        let _ = ask.write_all(b"\n").and_then(|()| ask.flush());
        let _ = self.answers.read_line(&mut line);
        let mut times = line.split_whitespace().map_while(|t| t.parse().ok());
        let Some(ours) = times.next() else {
            self.ask = None;
            return false;
        };
        if keep {
            self.ours.push(ours);
            self.hand.extend(times.next());
        }
        true
    }

    /// Lets it exit. Any failure other than a missing kernel must not look like a blank.
    pub fn end(mut self, name: &str) -> (Vec<u64>, Vec<u64>) {
        self.ask = None;
        let status = self.child.wait().expect("a process that was started");
        assert!(status.success() || status.code() == Some(UNKNOWN), "{name}, {}: {status}", self.label);
        (self.ours, self.hand)
    }
}

/// The exit status of a program without the kernel.
pub const UNKNOWN: i32 = 3;

/// The serving side: runs a round for each line.
pub fn serve(mut round: impl FnMut() -> (u64, u64)) {
    for line in std::io::stdin().lock().lines() {
        if line.is_err() {
            break;
        }
        let (ours, hand) = round();
        let mut out = std::io::stdout().lock();
        if writeln!(out, "{ours} {hand}").and_then(|()| out.flush()).is_err() {
            break;
        }
    }
}
