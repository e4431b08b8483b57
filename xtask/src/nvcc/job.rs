//! One program for one target: compile, check, print, assemble both texts, compare.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ptx_dsl_syntax::diag::{Diagnostic, Severity};
use ptx_dsl_syntax::lex::{Lexed, lex};
use ptx_dsl_syntax::lines::Lines;

use super::{Program, cubin};

/// What to do.
pub struct Job<'a> {
    nvcc: &'a Path,
    /// Path without extension of everything the job writes.
    stem: PathBuf,
    program: &'a Program,
    target: &'static str,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The printed module is the same code.
    Same,
    /// nvcc refuses the program.
    Nvcc,
    /// The front end refuses nvcc's module.
    Refused,
    /// Printing what was printed gives another text.
    Unstable,
    /// ptxas refuses a text.
    Ptxas,
    /// The printed module is other code.
    Differs,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Verdict::Same => "same",
            Verdict::Nvcc => "nvcc",
            Verdict::Refused => "refused",
            Verdict::Unstable => "unstable",
            Verdict::Ptxas => "ptxas",
            Verdict::Differs => "differs",
        })
    }
}

/// The result of a job.
#[derive(Debug)]
pub struct Outcome {
    pub program: String,
    pub target: &'static str,
    pub verdict: Verdict,
    /// Codes of all warnings.
    pub warnings: Vec<u16>,
    pub details: String,
}

impl<'a> Job<'a> {
    pub fn new(nvcc: &'a Path, output: &Path, program: &'a Program, target: &'static str) -> Self {
        Job { nvcc, stem: output.join(format!("{}.{target}", program.name)), program, target }
    }

    pub fn run(&self) -> Outcome {
        let mut warnings = Vec::new();
        let (verdict, details) = match self.steps(&mut warnings) {
            Ok(()) => (Verdict::Same, String::new()),
            Err(failure) => failure,
        };
        Outcome { program: self.program.name.clone(), target: self.target, verdict, warnings, details }
    }

    fn steps(&self, warnings: &mut Vec<u16>) -> Result<(), (Verdict, String)> {
        let file = |extension: &str| self.stem.with_file_name(format!("{}.{extension}", self.name()));
        let (original, ours) = (file("ptx"), file("printed.ptx"));
        let mut nvcc = Command::new(self.nvcc);
        nvcc.args(["-ptx", "-std=c++17"]).arg(format!("-arch={}", self.target)).args(&self.program.options);
        nvcc.arg("-o").arg(&original).arg(&self.program.path);
        command(nvcc).map_err(|text| (Verdict::Nvcc, text))?;
        let text = std::fs::read_to_string(&original).map_err(|error| (Verdict::Nvcc, error.to_string()))?;

        let (lexed, mut found) = lex(&text);
        let compiled = ptx_dsl_syntax::compile(&lexed.tokens);
        found.extend(compiled.diagnostics);
        let (errors, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|d| d.severity == Severity::Error);
        warnings.extend(others.iter().map(|d| d.code));
        let shown = |list: &[Diagnostic]| list.iter().map(|d| show(&text, &lexed, d)).collect::<Vec<_>>();
        if !others.is_empty() {
            let _ = std::fs::write(file("warnings"), shown(&others).join("\n"));
        }
        if !errors.is_empty() {
            let mut shown = shown(&errors);
            if shown.len() > 12 {
                let more = shown.len() - 12;
                shown.truncate(12);
                shown.push(format!("and {more} more"));
            }
            return Err((Verdict::Refused, format!("{}\n{}", original.display(), shown.join("\n"))));
        }
        std::fs::write(&ours, &compiled.ptx).map_err(|error| (Verdict::Ptxas, error.to_string()))?;
        if ptx_dsl_syntax::compile(&lex(&compiled.ptx).0.tokens).ptx != compiled.ptx {
            return Err((Verdict::Unstable, ours.display().to_string()));
        }
        let before = self.assemble(&original, &file("cubin"))?;
        let after = self.assemble(&ours, &file("printed.cubin"))?;
        let different = cubin::differences(&before, &after);
        if different.is_empty() {
            return Ok(());
        }
        Err((Verdict::Differs, format!("{}\n{}\n{}", original.display(), ours.display(), different.join("\n"))))
    }

    fn name(&self) -> String {
        self.stem.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The cubin that ptxas makes of a text, with the options that nvcc would give it.
    fn assemble(&self, ptx: &Path, cubin: &Path) -> Result<Vec<u8>, (Verdict, String)> {
        let mut ptxas = Command::new(self.nvcc.with_file_name("ptxas"));
        ptxas.arg(format!("-arch={}", self.target)).arg(ptx).arg("-o").arg(cubin);
        for option in &self.program.options {
            match option.as_str() {
                "-G" => ptxas.arg("-g"),
                "-lineinfo" => ptxas.arg("-lineinfo"),
                "-rdc=true" => ptxas.arg("-c"),
                _ => &mut ptxas,
            };
        }
        command(ptxas).map_err(|text| (Verdict::Ptxas, text))?;
        std::fs::read(cubin).map_err(|error| (Verdict::Ptxas, error.to_string()))
    }
}

/// A diagnostic with the line that it is about.
fn show(text: &str, lexed: &Lexed, d: &Diagnostic) -> String {
    let lines = Lines::new(text);
    let (line, column) = lines.line_column(lexed.bytes(d.span).start);
    let source = lines.text(line.saturating_sub(1)).trim();
    format!("{line}:{column}: [PTX{:04}] {}\n    {source}", d.code, d.message)
}

/// Runs to the end; the error is what was printed.
fn command(mut command: Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    Err(format!("{command:?} ended with {}\n{printed}", output.status))
}
