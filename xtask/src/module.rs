//! PTX modules of other compilers: the front end checks, prints and formats them, ptxas assembles all texts, and the machine code
//! must be the same. `nvcc` and `real` share this.

mod cubin;
#[path = "../../ptx-dsl/src/bin/ptx-dsl/layout.rs"]
mod layout;
mod report;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::lex::{Lexed, lex};
use ptx_dsl_frontend::lines::Lines;

pub use report::{Code, Report, counted};

/// The most errors of a module that are shown.
const SHOWN: usize = 12;

/// A module in a file. Derived files go beside it.
pub struct Module<'a> {
    pub path: &'a Path,
    pub ptxas: &'a Path,
    /// More options of ptxas; the target comes from the text.
    pub options: &'a [&'a str],
}

impl Module<'_> {
    /// The report on a module. Machine code is compared even if there are errors.
    pub fn judge(&self) -> Report {
        let text = match std::fs::read_to_string(self.path) {
            Ok(text) => text,
            Err(error) => return Report::not_made(format!("{}: {error}", self.path.display())),
        };
        let (lexed, mut found) = lex(&text);
        let compiled = ptx_dsl_frontend::compile(&lexed.tokens);
        found.extend(compiled.diagnostics);
        let (errors, warnings): (Vec<_>, Vec<_>) = found.into_iter().partition(|d| d.severity == Severity::Error);
        let shown = |list: &[Diagnostic]| list.iter().map(|d| show(&text, &lexed, d)).collect::<Vec<_>>();
        if !warnings.is_empty() {
            let _ = std::fs::write(self.beside("warnings"), shown(&warnings).join("\n"));
        }
        let mut details = shown(&errors);
        if details.len() > SHOWN {
            let more = details.len() - SHOWN;
            details.truncate(SHOWN);
            details.push(format!("and {more} more"));
        }
        let code = match self.compare(&text, &compiled.ptx) {
            Ok(()) => Code::Same,
            Err((code, reason)) => {
                details.push(reason);
                code
            }
        };
        if !details.is_empty() {
            details.insert(0, self.path.display().to_string());
        }
        Report {
            statements: compiled.lines.len(),
            errors: errors.iter().map(|d| d.code).collect(),
            warnings: warnings.iter().map(|d| d.code).collect(),
            code,
            details: details.join("\n"),
        }
    }

    /// Compares the module as printed and as formatted with the module itself.
    fn compare(&self, text: &str, printed: &str) -> Result<(), (Code, String)> {
        let again = ptx_dsl_frontend::compile(&lex(printed).0.tokens).ptx;
        let laid_out = layout::layout(text.as_bytes());
        let mut texts = vec![("printed", printed.as_bytes())];
        match &laid_out {
            Some(laid_out) => texts.push(("laid-out", laid_out)),
            None => return Err((Code::Unstable, "`fmt` does not lay it out".to_owned())),
        }
        let original = self.assemble(self.path)?;
        for (name, text) in texts {
            let path = self.beside(&format!("{name}.ptx"));
            std::fs::write(&path, text).map_err(|error| (Code::Refused, format!("{}: {error}", path.display())))?;
            let different = cubin::differences(&original, &self.assemble(&path)?);
            if !different.is_empty() {
                return Err((Code::Differs, format!("{}: {}", path.display(), different.join(", "))));
            }
        }
        if again != printed {
            return Err((Code::Unstable, "what is printed of the printed text is another text".to_owned()));
        }
        if laid_out.as_deref().and_then(layout::layout) != laid_out {
            return Err((Code::Unstable, "`fmt` lays out what it has laid out in another way".to_owned()));
        }
        Ok(())
    }

    /// The cubin that ptxas makes of a text.
    fn assemble(&self, ptx: &Path) -> Result<Vec<u8>, (Code, String)> {
        let refused = |reason: String| (Code::Refused, reason);
        let text = std::fs::read_to_string(ptx).map_err(|error| refused(error.to_string()))?;
        let cubin = ptx.with_extension("cubin");
        let mut ptxas = Command::new(self.ptxas);
        ptxas.arg(format!("-arch={}", target(&text))).args(self.options).arg(ptx).arg("-o").arg(&cubin);
        run(ptxas).map_err(refused)?;
        let bytes = std::fs::read(&cubin).map_err(|error| refused(error.to_string()));
        let _ = std::fs::remove_file(&cubin);
        bytes
    }

    fn beside(&self, extension: &str) -> PathBuf {
        self.path.with_extension(extension)
    }
}

/// The architecture that a text names.
pub fn target(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(".target"));
    line.unwrap_or("").split(',').next().unwrap_or("").trim()
}

/// A diagnostic with the line that it is about.
fn show(text: &str, lexed: &Lexed, d: &Diagnostic) -> String {
    let lines = Lines::new(text);
    let (line, column) = lines.line_column(lexed.bytes(d.span).start);
    let source = lines.text(line.saturating_sub(1)).trim();
    format!("{line}:{column}: [PTX{:04}] {}\n    {source}", d.code, d.message)
}

/// Runs the command to its end and returns its standard output; the error is all of its output.
pub fn run(mut command: Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    let told = String::from_utf8_lossy(&output.stderr).into_owned() + &printed;
    Err(format!("{command:?} ended with {}\n{told}", output.status))
}

/// Runs the jobs on all processors; results are in their order.
pub fn in_parallel<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((index, job)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, jobs.get(i)?)))
        {
            done.push((index, work(job)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(2, |threads| threads.get().min(8));
    let mut done: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::{in_parallel, target};

    #[test]
    fn the_target_is_that_of_the_text() {
        assert_eq!(target(".version 8.0\n.target sm_90a, debug\n"), "sm_90a");
        assert_eq!(target("// .target is below\n  .target\tsm_80\n"), "sm_80");
        assert_eq!(target(".version 8.0\n"), "");
    }

    #[test]
    fn results_keep_the_order_of_the_jobs() {
        let jobs: Vec<usize> = (0..100).collect();
        let results = in_parallel(&jobs, |job| job * 2);
        assert!(results.into_iter().eq((0..200).step_by(2)));
    }
}
