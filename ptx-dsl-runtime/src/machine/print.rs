//! The destination of the output of `printf`.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

/// A function of the caller, which takes the text of each call.
type Function = dyn Fn(&[u8]) + Send + Sync;

/// Takes the text of each call of `printf`.
#[derive(Clone)]
pub(crate) enum Print {
    /// The standard output of the process.
    Standard,
    /// A function of the user that gets the text.
    Function(Arc<Function>),
}

impl Print {
    /// Prints the text of one call.
    pub fn text(&self, text: &[u8]) {
        match self {
            // a closed pipe is not a reason to stop
            Print::Standard => drop(std::io::stdout().write_all(text)),
            Print::Function(function) => function(text),
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
