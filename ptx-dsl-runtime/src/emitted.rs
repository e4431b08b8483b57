//! Small helpers that emitted code calls by name. Not for hand-written code.

use crate::fault::FaultKind;
use crate::mem::address::AddrSpace;
use crate::{Ctx, Fault, Lanes, Monitor};

/// The lanes whose predicate holds.
#[inline(always)]
pub fn mask_of(p: &[bool; 32]) -> u32 {
    mask_by(|l| p[l])
}

/// The lanes for which `f` holds.
#[inline(always)]
pub fn mask_by(f: impl Fn(usize) -> bool) -> u32 {
    let mut mask = 0;
    for l in 0..32 {
        mask |= u32::from(f(l)) << l;
    }
    mask
}

/// A lane vector from a function of the lane.
#[inline(always)]
pub fn from_lanes(f: impl Fn(usize) -> u64) -> Lanes {
    std::array::from_fn(f)
}

fn active(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |l| mask >> l & 1 != 0)
}

/// Copies a parameter of `size` bytes from one place of local memory to another, in every active lane.
pub fn copy_param<M: Monitor>(x: &mut Ctx<'_, M>, from: u64, to: u64, size: u32) -> Result<(), Box<Fault>> {
    for lane in active(x.mask) {
        for i in 0..u64::from(size) {
            let byte = x.read(AddrSpace::ParamFunc, from + i, 1, lane)?;
            x.write(AddrSpace::ParamFunc, to + i, 1, byte, lane)?;
        }
    }
    Ok(())
}

/// Reads a scalar parameter.
pub fn read_param<M: Monitor>(x: &mut Ctx<'_, M>, from: u64, size: u32) -> Result<Lanes, Box<Fault>> {
    let mut v = [0; 32];
    for lane in active(x.mask) {
        v[lane as usize] = x.read(AddrSpace::ParamFunc, from, size.min(8), lane)?[0];
    }
    Ok(v)
}

/// Writes a scalar parameter.
pub fn write_param<M: Monitor>(x: &mut Ctx<'_, M>, to: u64, size: u32, v: &Lanes) -> Result<(), Box<Fault>> {
    for lane in active(x.mask) {
        x.write(AddrSpace::ParamFunc, to, size.min(8), [v[lane as usize], 0, 0, 0], lane)?;
    }
    Ok(())
}

/// `brx.idx` past the end of its table is undefined.
pub fn switch_in_range<M: Monitor>(x: &mut Ctx<'_, M>, outside: u32, count: u64) -> Result<(), Box<Fault>> {
    if outside == 0 {
        return Ok(());
    }
    Err(x.fault(FaultKind::BranchIndex { count }, outside.trailing_zeros()))
}

/// An indirect call must reach one of the functions its prototype or list names.
pub fn call_in_range<M: Monitor>(x: &mut Ctx<'_, M>, outside: u32) -> Result<(), Box<Fault>> {
    if outside == 0 {
        return Ok(());
    }
    Err(x.fault(FaultKind::CallTarget, outside.trailing_zeros()))
}

/// With `PTX_DSL_DUMP=directory` every kernel that is launched leaves its module there, for ptxas to look at. The name says
/// which kernel and what text: the same text is written once.
pub fn dump(kernel: &str, ptx: &str) {
    use std::hash::{DefaultHasher, Hash, Hasher};
    static DIRECTORY: std::sync::OnceLock<Option<std::path::PathBuf>> = std::sync::OnceLock::new();
    let Some(directory) = DIRECTORY.get_or_init(|| std::env::var_os("PTX_DSL_DUMP").map(Into::into)) else { return };
    let mut hasher = DefaultHasher::new();
    ptx.hash(&mut hasher);
    let name: String = kernel.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
    let file = directory.join(format!("{name}-{:016x}.ptx", hasher.finish()));
    if !file.exists() {
        let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&file, ptx));
        if let Err(e) = written {
            eprintln!("PTX_DSL_DUMP: cannot write {}: {e}", file.display());
        }
    }
}
