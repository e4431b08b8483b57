//! PTX ISA versions and sets of targets.

/// A PTX ISA version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ptx(pub u32, pub u32);

/// `ptx(8, 6)`
pub const fn ptx(major: u32, minor: u32) -> Ptx {
    Ptx(major, minor)
}

/// A set of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Targets {
    /// `sm_NN` or higher.
    Sm(u32),
    /// One of these. `sm_100a` means exactly that target; `sm_100f` means `sm_100f` or higher in the same family, `f` or `a`.
    /// Each with the version that introduced it there.
    Only(&'static [(&'static str, Ptx)]),
}

/// `sm(90)`: that target or higher.
pub const fn sm(number: u32) -> Targets {
    Targets::Sm(number)
}

/// All targets.
pub const ANY: Targets = Targets::Sm(0);
