//! The words that an endless polling loop reads: their places, their values, and the origin of the values.

use crate::fault::words::id;
use crate::machine::body::PolledRead;
use crate::machine::ctx::Ctx;
use crate::memory::address::{AddrSpace, FIRST_BUFFER, Place, resolve};
use crate::numerics::qual::Ty;
use crate::observe::probe::{LastWrite, LastWriter};

/// The segment of the variables of the module.
const MODULE: usize = 1;

/// A statement of the current cohort that polls, what it reads, and who has written that.
pub(super) fn polled(x: &mut Ctx<'_>, read: &PolledRead) -> String {
    let statement = x.geometry.statement(read.site, "memory");
    let Some(addr) = read.addr else { return statement };
    let value = read.memory.and_then(|(space, ty)| value_in_words(x, space, ty, addr)).unwrap_or_default();
    let place = x.describe().place_in_words(addr).unwrap_or_else(|| format!("address {addr:#x}"));
    format!("{statement} at {place}{value}")
}

fn value_in_words(x: &mut Ctx<'_>, space: AddrSpace, ty: Ty, addr: u64) -> Option<String> {
    let place = resolve(space, addr, x.cur.cta).ok()?;
    let bytes = ty.bytes().min(8);
    let [value, ..] = x.loads().read_unwatched(space, addr, bytes, bytes, 0).ok()?;
    let who = x.cur.who(x.residents.slot, x.site);
    let written = x.monitor.get().map_or(LastWrite::Unknown, |monitor| monitor.last_write(place, who));
    let origin = match written {
        LastWrite::Unknown => String::new(),
        LastWrite::Nobody => match place {
            Place::Global { segment: MODULE, .. } => " (its initial value: no thread has written it)".into(),
            Place::Global { segment, .. } if segment as u64 >= FIRST_BUFFER => {
                " (as passed by the caller: no thread has written it)".into()
            }
            Place::Shared { .. } => " (no thread has written it, and shared memory has no initial value)".into(),
            _ => " (no thread has written it)".into(),
        },
        LastWrite::By(LastWriter { site, thread }) => {
            let tid = id(x.geometry.tid(thread.warp, thread.lane as usize));
            let statement = x.geometry.statement(site, "a statement without a number");
            format!(" (written last by thread {tid} of CTA {} with {statement})", id(thread.ctaid))
        }
    };
    Some(format!(", which holds {}{origin}", in_words(ty, value)))
}

/// A value of this type.
fn in_words(ty: Ty, value: u64) -> String {
    let unused = 64 - ty.bytes().min(8) * 8;
    match ty {
        Ty::F32 => f32::from_bits(value as u32).to_string(),
        Ty::F64 => f64::from_bits(value).to_string(),
        _ if ty.is_signed() => ((value << unused) as i64 >> unused).to_string(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_their_type() {
        let table = [
            (Ty::U32, 7, "7"),
            (Ty::S32, 0xffff_fffe, "-2"),
            (Ty::S64, u64::MAX, "-1"),
            (Ty::B64, u64::MAX, "18446744073709551615"),
            (Ty::F32, 0x3f80_0000, "1"),
            (Ty::F64, 0xbfe0_0000_0000_0000, "-0.5"),
        ];
        for (ty, value, words) in table {
            assert_eq!(in_words(ty, value), words, "{ty:?}");
        }
    }
}
