//! Where the output of `printf` goes.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

/// Takes the text of each call of `printf`.
#[derive(Clone)]
pub(crate) enum Print {
    /// The standard output of the process.
    Standard,
    /// A function of the caller.
    Function(Arc<dyn Fn(&str) + Send + Sync>),
}

impl Print {
    /// Prints the text of one call.
    pub fn text(&self, text: &[u8]) {
        match self {
            // a closed pipe is not a reason to stop
            Print::Standard => drop(std::io::stdout().write_all(text)),
            Print::Function(function) => function(&String::from_utf8_lossy(text)),
        }
    }
}

impl fmt::Debug for Print {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Print::Standard => "Standard",
            Print::Function(_) => "Function",
        })
    }
}
