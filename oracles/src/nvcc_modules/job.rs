//! One program for one target: compiled by nvcc, then checked.

use std::path::{Path, PathBuf};

use super::program::Program;
use crate::machine_code::{Module, Report};

/// A program to compile for a target.
pub struct Job<'a> {
    nvcc: &'a Path,
    /// The file that nvcc writes.
    path: PathBuf,
    program: &'a Program,
    target: &'static str,
}

/// The result of a job.
#[derive(Debug)]
pub struct Outcome {
    pub program: String,
    pub target: &'static str,
    pub report: Report,
}

impl Outcome {
    /// A word for the table.
    pub fn word(&self) -> String {
        if self.report.errors.is_empty() { self.report.code.to_string() } else { "errors".to_owned() }
    }
}

impl<'a> Job<'a> {
    pub fn new(nvcc: &'a Path, output: &Path, program: &'a Program, target: &'static str) -> Self {
        Job { nvcc, path: output.join(format!("{}.{target}.ptx", program.name)), program, target }
    }

    pub fn run(&self) -> Outcome {
        let ptxas = self.nvcc.with_file_name("ptxas");
        let report = match self.program.compile(self.nvcc, self.target, &[], &self.path) {
            Ok(()) => Module { path: &self.path, ptxas: &ptxas, options: &self.program.ptxas_options() }.judge(),
            Err(reason) => Report::not_made(reason),
        };
        Outcome { program: self.program.name.clone(), target: self.target, report }
    }
}
