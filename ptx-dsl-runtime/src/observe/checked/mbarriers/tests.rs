//! Unit tests of mbarrier objects.

use super::ObjectBytes;
use crate::fault::FaultKind;
use crate::observe::checked::Checked;
use crate::observe::monitor::{Monitor, Order, Scope, Sem, Sync, Who};
use crate::observe::probe::Probe;

fn checked() -> Checked {
    let mut m = Checked::default();
    m.cluster(0, &[[0; 3], [1, 0, 0]], 96);
    m
}

/// The operations on an object that are kept with it make the same findings as records of its bytes in the shadow.
#[test]
fn operations_are_kept_as_in_the_shadow() {
    let mut state = 5u32;
    let mut draw = |n: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % n
    };
    let order = Order::new(Sem::AcqRel, Scope::Cluster);
    let (mut races, mut fine) = (0, 0);
    for _ in 0..1000 {
        let (mut with, mut without) = (checked(), checked());
        let mut parts = 5;
        for _ in 0..60 {
            let (rank, offset) = (draw(2), 64 + 8 * draw(2));
            let lanes = [u32::MAX, 1, 2, 0xFFFF, 0xFFFF_0000][draw(parts) as usize];
            let who =
                Who { site: draw(4), slot: 0, rank: if draw(3) == 0 { 1 - rank } else { rank }, warp: draw(3), lanes };
            let what = match draw(12) {
                0 => Sync::MbarrierInit { rank, offset },
                1 => Sync::MbarrierInval { rank, offset },
                2 | 3 => Sync::MbarrierPhase { rank, offset },
                4 | 5 => Sync::MbarrierWait { rank, offset },
                6..9 => Sync::MbarrierArrive { rank, offset },
                9 => {
                    [&mut with, &mut without].into_iter().for_each(|m| m.barrier(who, 3));
                    continue;
                }
                _ => Sync::Mbarrier { rank, offset, counts: true },
            };
            // for a while whole warps alone
            parts = if draw(8) == 0 { 6 - parts } else { parts };
            let begins = matches!(what, Sync::MbarrierInit { .. });
            let who = if begins { Who { rank, lanes: 1, ..who } } else { who };
            let found = with.sync(what, order, who);
            assert_eq!(found, without.sync(what, order, who), "{what:?} {who:?}");
            if begins && let Some(object) = without.mbarriers.find((0, rank, offset)) {
                object.bytes = None;
            }
            // the shadow does not know what phases count
            let kept = with.mbarriers.find((0, rank, offset)).and_then(|object| object.bytes.as_mut());
            kept.into_iter().for_each(ObjectBytes::forget_phases);
            races += u32::from(matches!(found, Err(FaultKind::DataRace(_))));
            fine += u32::from(found.is_ok());
        }
    }
    assert!(races > 1000 && fine > 10_000, "{races} {fine}");
}
