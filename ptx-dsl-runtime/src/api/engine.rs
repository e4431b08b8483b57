//! The engines: compiled code, and the interpreter.

use std::fmt;

/// What runs a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// Code that rustc has compiled for the kernel: fast, if the crate of the kernel is optimised.
    Compiled,
    /// The interpreter in the runtime: costs no compile time.
    Interpreted,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Compiled => "compiled",
            Engine::Interpreted => "interpreted",
        })
    }
}
