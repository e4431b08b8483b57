//! `clusterlaunchcontrol.try_cancel` and `.query_cancel` (PTX ISA 9.7.13.17 and 9.7.13.18).
//!
//! The response is opaque to the kernel. Ours says whether a cluster was cancelled and, if so, the `ctaid` of its first CTA. A
//! magic number in it detects memory that no `try_cancel` has written.

use super::{Done, active, own_shared_object, set, space};
use crate::fault::FaultKind;
use crate::machine::Ctx;
use crate::machine::findings::UndefinedAccess;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};
use crate::sync::cluster_launch::decode;

/// `clusterlaunchcontrol.try_cancel [addr], [mbar]`: every active lane makes a request.
///
/// With `.multicast::cluster::all` the response goes to the same offsets of every CTA of the cluster, all of which must
/// still be there (`AsyncUnit::try_cancel` sees to that).
pub fn clusterlaunchcontrol_try_cancel(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let (space, own) = (space(q), x.rank());
    for l in active(x.mask) {
        let lane = l as u32;
        if x.async_unit().clc_observed_failure() {
            return Err(x.fault(FaultKind::TryCancelAfterFailure, lane));
        }
        let addr = own_shared_object(x, space, s[0][l], 16, l, "the response of `try_cancel`")?;
        let mbar = s.get(1).map_or(0, |m| m[l]);
        let mbar = own_shared_object(x, space, mbar, 8, l, "the mbarrier object of `try_cancel`")?;
        let ranks = if q.has(q::multicast_cluster_all) { 0..x.ids().cluster_size() } else { own..own + 1 };
        x.async_unit().try_cancel(ranks, addr, mbar)?;
    }
    Ok(())
}

/// What `get_first_ctaid` gives of a response without a cancelled cluster. The manual leaves it undefined; kernels of CuTe ask for it and throw
/// it away.
const NO_CTAID: u64 = u32::MAX as u64;

/// `clusterlaunchcontrol.query_cancel`: is it cancelled, or the first `ctaid`, of a response in a `.b128` register.
pub fn clusterlaunchcontrol_query_cancel(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let mut failed = 0;
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
                x.async_unit().set_clc_observed_failure();
            }
            set(d, 0, l, cancelled.is_some().into());
            continue;
        }
        let Some(ctaid) = cancelled else {
            failed |= 1 << l;
            (0..d.len()).for_each(|i| set(d, i, l, NO_CTAID));
            continue;
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
    if failed != 0 && x.monitor.is_on() {
        let who = x.who(failed);
        x.findings.undefined.extend((0..d.len()).map(|result| UndefinedAccess::Ctaid { result, who }));
    }
    Ok(())
}

semantics! {
    warp "clusterlaunchcontrol.query_cancel" => clusterlaunchcontrol_query_cancel,
    warp "clusterlaunchcontrol.try_cancel" => clusterlaunchcontrol_try_cancel,
}
