//! Processes that run a part of the kernels each. A kernel that fails on a GPU costs the process its context, so the rest goes to a new
//! process.

use crate::table::{Set, Verdict};
use crate::{forms, gpu, random};
use std::path::Path;
use std::process::{Command, ExitCode};

/// The code with which a process ends that has lost its context.
const LOST: u8 = 3;
/// Processes at a time.
const PROCESSES: usize = 8;

/// The lines of `kernels.txt`.
fn lines(folder: &Path, of: &str) -> Vec<String> {
    let list = std::fs::read_to_string(folder.join(of).join("kernels.txt")).unwrap_or_default();
    list.lines().map(str::to_owned).collect()
}

/// Runs every `step`-th kernel from `first` on in this process, and prints the verdicts.
pub fn work(folder: &Path, of: &str, first: usize, step: usize) -> ExitCode {
    let gpu = match gpu() {
        Ok(gpu) => gpu,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    for (n, line) in lines(folder, of).iter().enumerate().skip(first).step_by(step) {
        let verdicts = match of {
            "random" => random::run(&folder.join(of), line, &gpu),
            _ => forms::run(&folder.join(of), line, &gpu),
        };
        let is_lost = verdicts.iter().any(|(_, verdict)| verdict.has_lost_the_context());
        verdicts.iter().for_each(|(name, verdict)| println!("{n}\t{name}\t{}", verdict.line()));
        if is_lost {
            return ExitCode::from(LOST);
        }
    }
    ExitCode::SUCCESS
}

/// Runs all kernels of a kind. Without a GPU, none, for this reason.
pub fn all(folder: &Path, of: &str, title: &str, reason: Option<&str>) -> Set {
    let lines = lines(folder, of);
    let launches = match reason {
        Some(reason) => lines.iter().map(|line| (name(line), Verdict::Reason(reason.to_owned()))).collect(),
        None => std::thread::scope(|scope| {
            let part = |first| {
                let lines = &lines;
                scope.spawn(move || share(folder, of, lines, first))
            };
            let threads: Vec<_> = (0..PROCESSES).map(part).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("a worker")).collect()
        }),
    };
    Set { title: title.to_owned(), launches }
}

fn name(line: &str) -> String {
    line.split(' ').next().unwrap_or_default().to_owned()
}

/// Runs every eighth kernel from `first` on, in as many processes as it takes.
fn share(folder: &Path, of: &str, lines: &[String], first: usize) -> Vec<(String, Verdict)> {
    let mut verdicts = Vec::new();
    let mut next = first;
    while next < lines.len() {
        let this = std::env::current_exe().unwrap_or_default();
        let step = [next, PROCESSES].map(|n| n.to_string());
        let output = Command::new(this).arg(folder).arg(of).args(step).output();
        let (text, code) = match &output {
            Ok(output) => (String::from_utf8_lossy(&output.stdout), output.status.code()),
            Err(_) => ("".into(), None),
        };
        let mut last = None;
        for line in text.lines() {
            let mut fields = line.splitn(3, '\t');
            let (Some(n), Some(name), Some(verdict)) = (fields.next(), fields.next(), fields.next()) else { continue };
            last = n.parse::<usize>().ok().or(last);
            verdicts.push((name.to_owned(), Verdict::of_line(verdict)));
        }
        if code == Some(0) {
            break;
        }
        let done = last.map_or(next, |n| n + PROCESSES);
        if code != Some(i32::from(LOST)) {
            // the process has ended in the kernel after the last one that it told of
            let said = output.map_or_else(|e| e.to_string(), |o| String::from_utf8_lossy(&o.stderr).into_owned());
            if let Some(line) = lines.get(done) {
                verdicts.push((name(line), Verdict::Differs(format!("the process ended with {code:?}: {said}"))));
            }
            next = done + PROCESSES;
        } else {
            next = done;
        }
    }
    verdicts
}
