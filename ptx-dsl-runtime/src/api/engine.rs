//! The engines: compiled code, and the interpreter.

use std::fmt;

/// An engine, which runs a kernel.
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

/// Why a kernel cannot run on an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The host has a monitor.
    #[error("a host with a monitor interprets all kernels")]
    Monitor,
    /// The host has a seed, a recording or a replay.
    #[error("only the interpreter runs a schedule of a seed, a recording or a replay")]
    Schedule,
    /// The crate of the kernel has no compiled kernels.
    #[error(
        "its crate compiles no kernels: it is a development build, or they are `interpreted`; build it optimised, or write \
         `compiled` in the header of `ptx!`"
    )]
    DevelopmentBuild,
    /// The image of the kernel has the format of another version of this crate.
    #[error("its crate was built with another version of ptx-dsl")]
    OtherVersion,
    /// The kernel has no Rust type.
    #[error("it was loaded at run time")]
    LoadedAtRunTime,
}
