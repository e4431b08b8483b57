//! Unit tests of the checked host: one monitor, without a machine.

mod strong;
mod warps;

use super::*;
use crate::observe::monitor::{By, Proxy, Sem};

const WHO: Who = Who { site: 0, slot: 3, rank: 1, warp: 0, lanes: 1 };

fn checked() -> Checked {
    let mut m = Checked::default();
    m.cluster(3, &[[0; 3]; 2], 64);
    m.cluster(2, &[[0; 3]; 2], 64);
    m
}

fn access(offset: u32, bytes: u32, write: bool) -> Access {
    let place = Place::Shared { rank: 1, offset };
    let order = Order::default();
    Access {
        place,
        addr: offset as u64,
        bytes,
        write,
        same: false,
        by: By::Thread,
        proxy: Proxy::Generic,
        order,
        who: WHO,
    }
}

#[test]
fn reads_need_writes() {
    let mut m = checked();
    let missing = |addr| Err(FaultKind::Uninitialised { space: "shared", addr });
    assert_eq!(m.memory(access(60, 8, false)), missing(60));
    m.memory(access(60, 8, true)).unwrap();
    m.memory(access(60, 8, false)).unwrap();
    assert_eq!(m.memory(access(64, 8, false)), missing(64));
    // another cluster takes the place
    m.cluster(3, &[[0; 3]; 2], 64);
    assert_eq!(m.memory(access(60, 8, false)), missing(60));
}

#[test]
fn live_objects_are_no_ordinary_memory() {
    let mut m = checked();
    let order = Order::default();
    let init = Sync::MbarrierInit { rank: 1, offset: 16 };
    m.sync(init, order, WHO).unwrap();
    m.memory(access(8, 8, true)).unwrap();
    assert!(matches!(m.memory(access(20, 4, true)), Err(FaultKind::MbarrierMisused { offset: 16, .. })));
    assert!(matches!(m.sync(init, order, WHO), Err(FaultKind::MbarrierMisused { offset: 16, .. })));
    // the same place in another CTA, and in another cluster
    m.sync(Sync::MbarrierInit { rank: 0, offset: 16 }, order, Who { rank: 0, ..WHO }).unwrap();
    m.sync(init, order, Who { slot: 2, ..WHO }).unwrap();
    m.sync(Sync::MbarrierInval { rank: 1, offset: 16 }, order, WHO).unwrap();
    m.memory(access(20, 4, true)).unwrap();
    m.sync(init, order, WHO).unwrap();
}

/// Lanes of one warp may be a phase apart at the barrier of the cluster.
#[test]
fn lanes_that_wait_late_for_a_cluster_know_of_the_phase() {
    let mut m = checked();
    let order = Order::new(Sem::AcqRel, Scope::Cluster);
    let [slow, fast] = [0xFFFF, 0xFFFF_0000].map(|lanes| Who { lanes, ..WHO });
    let by = |who, write| Access { who, ..access(64, 4, write) };
    m.memory(by(Who { lanes: 1 << 31, ..WHO }, true)).unwrap();
    m.sync(Sync::ClusterArrive, order, fast).unwrap();
    m.sync(Sync::ClusterArrive, order, slow).unwrap();
    m.sync(Sync::ClusterCompletes, order, slow).unwrap();
    m.sync(Sync::ClusterWait, order, fast).unwrap();
    m.sync(Sync::ClusterArrive, order, fast).unwrap();
    let load = by(Who { lanes: 1, ..WHO }, false);
    assert!(matches!(m.memory(load), Err(FaultKind::DataRace(_))));
    m.sync(Sync::ClusterWait, order, slow).unwrap();
    m.memory(by(Who { lanes: 2, ..WHO }, false)).unwrap();
}

/// The count of an object is 1, and each thread of four warps arrives: 128 phases pass a wait for the first.
#[test]
fn a_wait_that_many_phases_have_passed_is_late() {
    let mut m = checked();
    m.cluster(3, &[[0; 3]; 2], 256);
    let order = Order::new(Sem::AcqRel, Scope::Cta);
    m.sync(Sync::MbarrierInit { rank: 1, offset: 16 }, order, WHO).unwrap();
    m.barrier(WHO, 8);
    let waiter = Who { warp: 7, ..WHO };
    let wait = Sync::MbarrierTest { rank: 1, offset: 16, parity: 0 };
    m.sync(wait, order, waiter).unwrap();
    for thread in 0..128 {
        let who = Who { warp: thread / 32, lanes: 1 << (thread % 32), ..WHO };
        m.sync(Sync::MbarrierArrive { rank: 1, offset: 16 }, order, who).unwrap();
        m.sync(Sync::MbarrierPhase { rank: 1, offset: 16 }, order, who).unwrap();
    }
    let late = m.sync(wait, order, waiter);
    assert!(matches!(late, Err(FaultKind::MbarrierLateWait { offset: 16, wanted: 0, complete: 128, .. })), "{late:?}");
}
