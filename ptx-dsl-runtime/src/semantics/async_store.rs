//! `st.async`, `red.async`, `st.bulk` (PTX ISA 9.7.9.12, 9.7.9.13, 9.7.13.7).

use super::bulk::in_a_cluster;
use super::bulk::operands::{any_shared, global, mbarrier_of, shared_in};
use super::bulk::reduction::Reduction;
use super::{Done, active, ld_st, own_shared_object, space};
use crate::fault::FaultKind;
use crate::machine::copy::{CopyJob, JobAccess, SharedRange, Signal};
use crate::machine::spaces::{GlobalPlace, SharedPlace, Spaces, reduce};
use crate::observe::monitor::Proxy;

use crate::machine::Ctx;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, Ty, q};

/// The destination of an asynchronous store.
#[derive(Debug, Clone, Copy)]
enum To {
    Shared(SharedPlace),
    Global(GlobalPlace),
}

/// A store or reduction of up to 16 bytes of registers.
#[derive(Debug)]
struct AsyncStore {
    to: To,
    value: Vec<u8>,
    reduction: Option<Reduction>,
}

impl CopyJob for AsyncStore {
    fn read(&self, _: &Spaces<'_, '_>) -> Result<Vec<u8>, FaultKind> {
        Ok(self.value.clone())
    }

    fn write(&self, m: &mut Spaces<'_, '_>, _: Option<Vec<u8>>) -> Result<(), FaultKind> {
        match (self.to, self.reduction) {
            (To::Shared(to), None) => m.shared_mut(to, self.value.len())?.copy_from_slice(&self.value),
            (To::Shared(to), Some(r)) => {
                let to = m.shared_mut(to, self.value.len())?;
                reduce(to, &self.value, r.size(), &|old, operand| r.combine(old, operand));
            }
            (To::Global(to), None) => m.write_global(to, &self.value)?,
            (To::Global(to), Some(r)) => {
                m.reduce_global(to, &self.value, r.size(), &|old, operand| r.combine(old, operand))?;
            }
        }
        Ok(())
    }

    fn source(&self) -> Option<SharedRange> {
        None
    }

    fn destination(&self) -> Option<SharedRange> {
        match self.to {
            To::Shared(to) => Some(SharedRange::new(to, self.value.len() as u32)),
            To::Global(_) => None,
        }
    }

    fn reduces(&self) -> bool {
        self.reduction.is_some()
    }

    fn accesses(&self) -> Vec<JobAccess> {
        let place = match self.to {
            To::Shared(to) => to.place(),
            To::Global(to) => to.place(),
        };
        vec![JobAccess { place, bytes: self.value.len() as u32, write: true, proxy: Proxy::Generic }]
    }
}

/// The value operands of a lane as bytes.
fn bytes(ty: Ty, values: impl Iterator<Item = u64>) -> Vec<u8> {
    let each = if matches!(ty, Ty::B128) { 8 } else { ld_st::element(ty) as usize };
    values.flat_map(|v| v.to_le_bytes().into_iter().take(each)).collect()
}

fn start(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], reduces: bool) -> Done {
    let with_object = q.has(q::mbarrier_complete_tx_bytes);
    let reduction = reduces.then(|| Reduction::of(q, q.ty[0], !with_object));
    for l in active(x.mask) {
        let (addr, last) = (s[0][l], s.len() - usize::from(with_object));
        let value = bytes(q.ty[0], s[1..last].iter().map(|v| v[l]));
        let size = value.len() as u32;
        let (to, signal) = if with_object {
            let (operation, section) = match reduces {
                false => ("an asynchronous store to shared memory", "9.7.9.12"),
                true => ("an asynchronous reduction in shared memory", "9.7.13.7"),
            };
            in_a_cluster(x, operation, section, l as u32)?;
            let to = shared_in(x, any_shared(addr), addr, size, size, l, "the destination of the store")?;
            let at = mbarrier_of(x, q, s[last][l], to.rank, l)?;
            (To::Shared(to), Signal::Mbarrier { at, bytes: size })
        } else {
            let to = global(x, addr, size, l)?;
            x.async_unit().in_global(to, size.into(), true, l as u32)?;
            (To::Global(to), Signal::Nothing)
        };
        x.async_unit().start_copy(l as u32, Box::new(AsyncStore { to, value, reduction }), signal)?;
    }
    Ok(())
}

/// `st.async [a], b, [mbar]`, and `st.async.release [a], b` to global memory.
pub fn st_async(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    start(x, q, s, false)
}

/// `red.async [a], b, [mbar]`, and `red.async.release [a], b` in global memory.
pub fn red_async(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    start(x, q, s, true)
}

/// `st.bulk [a], size, 0`: zeros, at once.
pub fn st_bulk(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let space = space(q);
    for l in active(x.mask) {
        let (addr, size, lane) = (s[0][l], s[1][l], l as u32);
        if !size.is_multiple_of(8) || size > 1 << 24 {
            let what = format!("`size` is {size}, but must be a multiple of 8 and at most 2^24");
            return Err(x.fault(FaultKind::undefined(what, "9.7.9.13", "clear a multiple of 8 bytes"), lane));
        }
        if size == 0 {
            continue;
        }
        let offset = own_shared_object(x, space, addr, 8, l, "the destination of `st.bulk`")?;
        x.async_unit().in_own_shared(offset, size as u32, addr, lane)?;
        x.scheduling.works(size / 32);
        for at in (0..size).step_by(32) {
            x.write_aligned(space, addr + at, (size - at).min(32) as u32, 8, [0; 4], lane)?;
        }
    }
    Ok(())
}

semantics! {
    warp "red.async" => red_async,
    warp "st.async" => st_async,
    warp "st.bulk" => st_bulk,
}
