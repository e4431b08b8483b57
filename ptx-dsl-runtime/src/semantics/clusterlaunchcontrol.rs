//! `clusterlaunchcontrol.try_cancel` and `.query_cancel` (PTX ISA 9.7.13.17 and 9.7.13.18).
//!
//! The response is opaque to the kernel. Ours says whether a cluster was cancelled and, if so, the `ctaid` of its first CTA. A
//! magic number in it detects memory that no `try_cancel` has written.

use super::{Done, active, own_shared_object, set, space};
use crate::fault::FaultKind;
use crate::machine::Ctx;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};

/// The magic number in the low word of every response. The lowest bit says "cancelled".
const MARK: u64 = 0x4c43_7370_6f6e_7365 & !1;

/// The 16 bytes of a response: `Some(ctaid)` of the first CTA of the cancelled cluster, `None` for a failure.
pub fn encode(cancelled: Option<[u32; 3]>) -> [u64; 2] {
    match cancelled {
        // the first dimension of a grid takes 31 bits, the others 16
        Some([x, y, z]) => [MARK | 1, u64::from(x) | u64::from(y as u16) << 32 | u64::from(z as u16) << 48],
        None => [MARK, 0],
    }
}

/// Decodes a response; `None` for bytes that are not one.
pub fn decode([low, high]: [u64; 2]) -> Option<Option<[u32; 3]>> {
    match low {
        MARK => Some(None),
        _ if low == MARK | 1 => Some(Some([high as u32, u32::from((high >> 32) as u16), (high >> 48) as u32])),
        _ => None,
    }
}

/// `clusterlaunchcontrol.try_cancel [addr], [mbar]`: every active lane makes a request.
///
/// With `.multicast::cluster::all` the response goes to the same offsets of every CTA of the cluster, all of which must
/// still be there (`Ctx::try_cancel` sees to that).
pub fn clusterlaunchcontrol_try_cancel(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let (space, own) = (space(q), x.rank());
    for l in active(x.mask) {
        let lane = l as u32;
        if x.clc_observed_failure() {
            return Err(x.fault(FaultKind::TryCancelAfterFailure, lane));
        }
        let addr = own_shared_object(x, space, s[0][l], 16, l, "the response of `try_cancel`")?;
        let mbar = s.get(1).map_or(0, |m| m[l]);
        let mbar = own_shared_object(x, space, mbar, 8, l, "the mbarrier object of `try_cancel`")?;
        let ranks = if q.has(q::multicast_cluster_all) { 0..x.cluster_size() } else { own..own + 1 };
        x.try_cancel(ranks, addr, mbar)?;
    }
    Ok(())
}

/// `clusterlaunchcontrol.query_cancel`: is it cancelled, or the first `ctaid`, of a response in a `.b128` register.
pub fn clusterlaunchcontrol_query_cancel(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    for l in active(x.mask) {
        let response = [s[0][l], s.get(1).map_or(0, |high| high[l])];
        let Some(cancelled) = decode(response) else {
            let kind = FaultKind::undefined(
                "`query_cancel` of a value that is not the response of a `try_cancel`",
                "9.7.13.18",
                "wait for the mbarrier object of the request, then load the 16 bytes of the response",
            );
            return Err(x.fault(kind, l as u32));
        };
        if q.has(q::is_canceled) {
            if cancelled.is_none() {
                x.set_clc_observed_failure();
            }
            set(d, 0, l, cancelled.is_some().into());
            continue;
        }
        let Some(ctaid) = cancelled else {
            return Err(x.fault(FaultKind::FirstCtaidOfFailure, l as u32));
        };
        let one = [q::get_first_ctaid_x, q::get_first_ctaid_y, q::get_first_ctaid_z];
        match one.iter().position(|&dimension| q.has(dimension)) {
            Some(i) => set(d, 0, l, ctaid[i].into()),
            None => {
                for (i, v) in ctaid.into_iter().enumerate() {
                    set(d, i, l, v.into());
                }
                // the manual leaves the fourth element open
                set(d, 3, l, 0);
            }
        }
    }
    Ok(())
}

semantics! {
    warp "clusterlaunchcontrol.query_cancel" => clusterlaunchcontrol_query_cancel,
    warp "clusterlaunchcontrol.try_cancel" => clusterlaunchcontrol_try_cancel,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_come_back() {
        for ctaid in [[0, 0, 0], [1, 2, 3], [0x7fff_ffff, 65535, 65535], [0, 65535, 0]] {
            assert_eq!(decode(encode(Some(ctaid))), Some(Some(ctaid)));
        }
        assert_eq!(decode(encode(None)), Some(None));
    }

    #[test]
    fn other_bytes_are_no_response() {
        for bytes in [[0, 0], [u64::MAX, u64::MAX], [1, 0], [0, 1]] {
            assert_eq!(decode(bytes), None);
        }
    }
}
