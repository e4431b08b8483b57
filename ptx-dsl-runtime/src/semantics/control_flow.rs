//! Branches and calls through tables (manual, 9.7.12): what lies outside of a table is undefined.

use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;

/// `brx.idx` past the end of its table is undefined.
pub fn switch_in_range(x: &mut Ctx<'_>, outside: u32, count: u64) -> Result<(), Box<Fault>> {
    if outside == 0 {
        return Ok(());
    }
    Err(x.fault(FaultKind::BranchIndex { count }, outside.trailing_zeros()))
}

/// An indirect call must reach one of the functions its prototype or list names.
pub fn call_in_range(x: &mut Ctx<'_>, outside: u32) -> Result<(), Box<Fault>> {
    if outside == 0 {
        return Ok(());
    }
    Err(x.fault(FaultKind::CallTarget, outside.trailing_zeros()))
}
