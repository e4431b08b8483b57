//! The scope of an instruction.

/// The threads with which an instruction synchronises (PTX ISA 8.5), from the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Scope {
    /// `.cta`
    #[default]
    Cta,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Gpu,
    /// `.sys`
    Sys,
}

impl Scope {
    /// As the manual writes it.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Cta => ".cta",
            Scope::Cluster => ".cluster",
            Scope::Gpu => ".gpu",
            Scope::Sys => ".sys",
        }
    }
}
