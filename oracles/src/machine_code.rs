//! PTX modules of other compilers: the front end checks, prints and formats them, ptxas assembles all texts, and the machine code
//! must be the same. `nvcc_modules` and `real_modules` share this.

mod cubin;
#[path = "../../ptx-dsl/src/bin/ptx-dsl/layout.rs"]
mod layout;
mod report;

use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::lex::{Lexed, lex};
use ptx_dsl_frontend::lines::Lines;

use crate::tools::{output_of, read};

pub use report::{Code, Report, counted};

/// The most errors of a module that are shown.
const SHOWN: usize = 12;

/// A module in a file. Derived files go beside it.
pub struct Module<'a> {
    pub path: &'a Path,
    pub ptxas: &'a Path,
    /// Further options of ptxas; the target comes from the text.
    pub options: &'a [&'a str],
}

impl Module<'_> {
    /// The report on a module. Machine code is compared even if there are errors.
    pub fn judge(&self) -> Report {
        let text = match read(self.path) {
            Ok(text) => text,
            Err(reason) => return Report::not_made(reason),
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
            errors: errors.iter().map(|d| d.code.number).collect(),
            warnings: warnings.iter().map(|d| d.code.number).collect(),
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
        let text = read(ptx).map_err(refused)?;
        let cubin = ptx.with_extension("cubin");
        let mut ptxas = Command::new(self.ptxas);
        ptxas.arg(format!("-arch={}", target(&text))).args(self.options).arg(ptx).arg("-o").arg(&cubin);
        output_of(ptxas).map_err(refused)?;
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
    format!("{line}:{column}: [PTX{:04}] {}\n    {source}", d.code.number, d.message)
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn the_target_is_that_of_the_text() {
        assert_eq!(target(".version 8.0\n.target sm_90a, debug\n"), "sm_90a");
        assert_eq!(target("// .target is below\n  .target\tsm_80\n"), "sm_80");
        assert_eq!(target(".version 8.0\n"), "");
    }
}
