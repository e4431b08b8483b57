//! Operands of `wgmma.mma_async`, and its shared-memory descriptors (PTX ISA 9.7.15.5.1.2).

use crate::fault::FaultKind;
use crate::numerics::lanes::Source;
use crate::numerics::matrix::shared::{Major, Shared, Swizzle};
use crate::numerics::qual::{Q, Ty};

/// The place of A.
#[derive(Debug, Clone, Copy)]
pub(super) enum A<'a> {
    Registers(&'a [Source<'a>]),
    Shared(Shared, Major),
}

/// The operands of a warp.
#[derive(Debug, Clone, Copy)]
pub(super) struct WgmmaOperands<'a> {
    pub a: A<'a>,
    pub b: (Shared, Major),
    /// The descriptors of A, unless it is in registers, and of B.
    pub descriptors: [Option<u64>; 2],
    /// The register and the selector.
    pub metadata: Option<(Source<'a>, usize)>,
    /// D is read.
    pub accumulate: bool,
    /// A and B times -1.
    pub negate: [bool; 2],
    /// The old D.
    pub c: &'a [Source<'a>],
    /// The sets of registers that belong to the operation until the wait.
    pub held: u64,
}

/// A descriptor: offsets in units of 16 bytes, 14 bits each.
pub(crate) fn descriptor(x: u64) -> Shared {
    let field = |from: u32| ((x >> from & 0x3fff) << 4) as u32;
    Shared {
        start: field(0),
        leading: field(16),
        stride: field(32),
        base: (x >> 49 & 7) as u32,
        swizzle: [Swizzle::None, Swizzle::B128, Swizzle::B64, Swizzle::B32][(x >> 62) as usize],
        absolute: false,
        half: 0,
    }
}

/// The descriptor that all lanes have.
fn uniform(given: Source<'_>, of: &str) -> Result<Shared, FaultKind> {
    let first = given.lane(0);
    match given.lanes().iter().find(|v| **v != first) {
        None => Ok(descriptor(first)),
        Some(other) => Err(FaultKind::undefined(
            format!("the descriptor of {of} differs between threads: {first:#x} and {other:#x}"),
            "9.7.15.5.1.2",
            "give all threads of the warpgroup the same descriptor",
        )),
    }
}

impl<'a> WgmmaOperands<'a> {
    /// The operands among the sources; D has this many registers.
    pub fn new(q: Q, sparse: bool, s: &'a [Source<'a>], registers: usize) -> Result<WgmmaOperands<'a>, FaultKind> {
        let absent = || FaultKind::Internal("operands of `wgmma.mma_async`".into());
        let floats = q.ty[0] != Ty::S32;
        let wide = matches!(q.ty[1], Ty::F16 | Ty::Bf16);
        // without A and the transposition of matrices
        let others = 2 + if sparse { 2 } else { 0 } + if floats { 2 } else { 0 } + registers + 1;
        let left = s.len().checked_sub(others).ok_or_else(absent)?;
        let in_registers = left >= 4;
        if left != if in_registers { 4 } else { 1 } + if !wide { 0 } else { 2 - usize::from(in_registers) } {
            return Err(absent());
        }
        let (a, rest) = s.split_at(if in_registers { 4 } else { 1 });
        let mut rest = rest.iter();
        let mut next = || rest.next().copied().ok_or_else(absent);
        let of_b = next()?;
        let descriptors = [(!in_registers).then_some(a[0].lane(0)), Some(of_b.lane(0))];
        let b = uniform(of_b, "B")?;
        let metadata = if sparse { Some((next()?, next()?.lane(0) as usize)) } else { None };
        let accumulate = next()?.lane(0) & 1 != 0;
        let mut negate = [false; 2];
        if floats {
            negate = [next()?.lane(0) as u32 as i32 == -1, next()?.lane(0) as u32 as i32 == -1];
        }
        let mut major =
            || -> Result<Major, FaultKind> { Ok(if next()?.lane(0) & 1 != 0 { Major::Mn } else { Major::K }) };
        let of_a = if wide && !in_registers { major()? } else { Major::K };
        let of_b = if wide { major()? } else { Major::K };
        let rest = rest.as_slice();
        let (c, held) = rest.split_at(registers.min(rest.len()));
        Ok(WgmmaOperands {
            a: if in_registers { A::Registers(a) } else { A::Shared(uniform(a[0], "A")?, of_a) },
            b: (b, of_b),
            descriptors,
            metadata,
            accumulate,
            negate,
            c,
            held: held.first().map_or(0, |v| v.lane(0)),
        })
    }
}
