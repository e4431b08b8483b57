//! Orders of accesses to Tensor Memory, as 9.7.16.6.4 has them: one monitor, without a machine.

use super::*;
use crate::observe::monitor::{Monitor, Order, Scope, Sem, Sync};
use crate::sync::tensor_pipeline::Pipeline;

/// A warp of CTA 0 at a statement.
fn who(warp: u32, lanes: u32) -> Who {
    Who { site: warp + 1, slot: 0, rank: 0, warp, lanes }
}

const ALL: u32 = u32::MAX;
const OBJECT: Sync = Sync::MbarrierInit { rank: 0, offset: 0 };

/// A CTA of four warps.
struct Cta {
    monitor: Checked,
    fences: bool,
}

impl Cta {
    fn new(fences: bool) -> Cta {
        let mut monitor = Checked::default();
        monitor.cluster(0, &[[0; 3]], 128);
        let mut cta = Cta { monitor, fences };
        cta.sync(0, 1, OBJECT);
        cta.barrier();
        cta
    }

    fn order(&self, relaxed: bool) -> Order {
        Order::new(if relaxed { Sem::Relaxed } else { Sem::AcqRel }, Scope::Cluster)
    }

    fn sync(&mut self, warp: u32, lanes: u32, what: Sync) {
        let order = self.order(false);
        self.monitor.sync(what, order, who(warp, lanes)).unwrap();
    }

    fn barrier(&mut self) {
        (0..4).for_each(|warp| self.sync(warp, ALL, Sync::Barrier { id: 0, waits: true }));
        self.sync(3, ALL, Sync::BarrierCompletes { id: 0 });
    }

    fn fence(&mut self, warp: u32, before: bool) {
        self.sync(warp, ALL, Sync::TensorFence { before });
    }

    /// An arrival that completes the phase, for which another warp waits.
    fn hand_over(&mut self, from: u32, to: u32, relaxed: bool) {
        let order = self.order(relaxed);
        let mut report = |what, warp| self.monitor.sync(what, order, who(warp, 1)).unwrap();
        report(Sync::MbarrierArrive { rank: 0, offset: 0 }, from);
        report(Sync::MbarrierPhase { rank: 0, offset: 0 }, from);
        report(Sync::MbarrierWait { rank: 0, offset: 0 }, to);
    }

    fn access(&mut self, by: TensorBy, who: Who, reads: &[TensorArea], writes: &[TensorArea]) -> Option<TensorOrder> {
        let access = TensorAccess { by, reads, writes, fences: self.fences };
        match self.monitor.tensor(&access, who) {
            Ok(()) => None,
            Err(FaultKind::TensorRace(race)) => Some(race.missing),
            Err(kind) => panic!("{kind}"),
        }
    }

    fn store(&mut self, warp: u32) -> Option<TensorOrder> {
        self.access(TensorBy::Warp, who(warp, ALL), &[], &[area(0..8)])
    }

    fn load(&mut self, warp: u32) -> Option<TensorOrder> {
        self.access(TensorBy::Warp, who(warp, ALL), &[area(0..8)], &[])
    }

    fn wait(&mut self, warp: u32, stores: bool) {
        self.sync(warp, ALL, Sync::TensorWait { stores });
    }

    /// An operation of lane 0 of a warp that writes these columns.
    fn operate(&mut self, warp: u32, unit: Unit, commits: u64, columns: Range<usize>) -> Option<TensorOrder> {
        let pipeline = Pipeline { unit, key: 0, pair: false };
        self.access(TensorBy::Operation { commits, pipeline }, who(warp, 1), &[], &[area(columns)])
    }

    /// Commits that of lane 0, which arrives.
    fn commit(&mut self, warp: u32, commit: u64) {
        self.sync(warp, 1, Sync::Commit { commit, arrivals: 1 });
        self.sync(warp, 1, Sync::CommitArrives { commit, rank: 0, offset: 0 });
        self.sync(warp, 1, Sync::MbarrierPhase { rank: 0, offset: 0 });
    }

    /// Waits for the phase.
    fn see(&mut self, warp: u32) {
        self.sync(warp, 1, Sync::MbarrierWait { rank: 0, offset: 0 });
    }
}

fn area(columns: Range<usize>) -> TensorArea {
    TensorArea { rank: 0, lanes: 0..32, columns, operand: "" }
}

#[test]
fn a_store_of_another_warp() {
    /// The steps between the store of warp 0 and the load of warp 1: wait, fence, barrier, fence.
    fn missing(steps: [bool; 4], fences: bool) -> Option<TensorOrder> {
        let mut cta = Cta::new(fences);
        assert_eq!(cta.store(0), None);
        if steps[0] {
            cta.wait(0, true);
        }
        if steps[1] {
            cta.fence(0, true);
        }
        if steps[2] {
            cta.barrier();
        }
        if steps[3] {
            cta.fence(1, false);
        }
        cta.load(1)
    }
    use TensorOrder::*;
    assert_eq!(missing([true; 4], true), None);
    assert_eq!(missing([false, true, true, true], true), Some(Wait));
    assert_eq!(missing([true, false, true, true], true), Some(Before));
    assert_eq!(missing([true, true, true, false], true), Some(After));
    // fences alone do not synchronise the threads
    assert_eq!(missing([true, true, false, true], true), Some(Synchronisation));
    // without fences, the rest is still wanted
    assert_eq!(missing([true, false, true, false], false), None);
    assert_eq!(missing([true, true, false, true], false), Some(Synchronisation));
    assert_eq!(missing([false, true, true, true], false), Some(Wait));
}

#[test]
fn relaxed_synchronisation_is_enough_for_fences() {
    for relaxed in [false, true] {
        let mut cta = Cta::new(true);
        cta.store(0);
        cta.wait(0, true);
        cta.fence(0, true);
        // through a third warp, which has no fence
        cta.hand_over(0, 2, relaxed);
        cta.hand_over(2, 1, relaxed);
        cta.fence(1, false);
        assert_eq!(cta.load(1), None, "{relaxed}");
    }
    let mut cta = Cta::new(true);
    cta.store(0);
    cta.wait(0, true);
    // the fence of another warp is not that of the store
    cta.hand_over(0, 2, false);
    cta.fence(2, true);
    cta.hand_over(2, 1, false);
    cta.fence(1, false);
    assert_eq!(cta.load(1), Some(TensorOrder::Before));
}

#[test]
fn loads_and_stores_of_one_warp_wait_for_each_other() {
    let mut cta = Cta::new(true);
    cta.store(0);
    assert_eq!(cta.load(0), Some(TensorOrder::Wait));
    cta.wait(0, true);
    assert_eq!(cta.load(0), None);
    // a wait for stores waits for no loads
    cta.wait(0, true);
    assert_eq!(cta.store(0), Some(TensorOrder::Wait));
    cta.wait(0, false);
    cta.wait(0, true);
    assert_eq!((cta.store(0), cta.operate(0, Unit::Cp, 0, 16..32)), (None, None));
    // other columns
    assert_eq!(cta.access(TensorBy::Warp, who(1, ALL), &[], &[area(8..16)]), None);
}

#[test]
fn operations_of_one_thread() {
    use TensorOrder::Commit;
    let mut cta = Cta::new(true);
    assert_eq!(cta.operate(0, Unit::Cp, 0, 0..8), None);
    // after the copy, as is what is pipelined after that
    assert_eq!(cta.operate(0, Unit::Mma, 0, 8..16), None);
    assert_eq!(cta.operate(0, Unit::Cp, 0, 0..8), None);
    // two copies are not in order
    assert_eq!(cta.operate(0, Unit::Cp, 0, 0..4), Some(Commit));
    cta.commit(0, 1);
    assert_eq!(cta.operate(0, Unit::Cp, 1, 0..8), Some(Commit), "nobody waits");
    cta.commit(0, 2);
    cta.see(0);
    assert_eq!(cta.operate(0, Unit::Cp, 2, 0..8), None);
    // the products of another shape
    let other = TensorBy::Operation { commits: 2, pipeline: Pipeline { unit: Unit::Mma, key: 7, pair: false } };
    assert_eq!(cta.operate(0, Unit::Mma, 2, 32..40), None);
    assert_eq!(cta.access(other, who(0, 1), &[], &[area(32..40)]), Some(Commit));
}

#[test]
fn an_operation_and_a_load() {
    use TensorOrder::*;
    let mut cta = Cta::new(true);
    cta.operate(0, Unit::Mma, 0, 0..8);
    // a barrier does not wait for it
    cta.fence(0, true);
    cta.barrier();
    cta.fence(1, false);
    assert_eq!(cta.load(1), Some(Commit));
    cta.commit(0, 1);
    assert_eq!(cta.load(2), Some(Commit));
    cta.see(2);
    assert_eq!(cta.load(2), Some(After));
    cta.fence(2, false);
    assert_eq!(cta.load(2), None);
    // its own warp needs no fence
    cta.see(0);
    assert_eq!(cta.load(0), None);
}

#[test]
fn a_commit_completes_what_its_operations_come_behind() {
    for fences in [true, false] {
        let mut cta = Cta::new(true);
        cta.operate(0, Unit::Mma, 0, 0..8);
        if fences {
            cta.fence(0, true);
        }
        cta.barrier();
        if fences {
            cta.fence(1, false);
        }
        let behind = cta.operate(1, Unit::Cp, 0, 0..4);
        assert_eq!(behind, (!fences).then_some(TensorOrder::Commit));
        cta.commit(1, 1);
        cta.see(2);
        cta.fence(2, false);
        // the copy is complete, the product only if the copy is after it
        let rest = cta.access(TensorBy::Warp, who(2, ALL), &[area(4..8)], &[]);
        assert_eq!(rest, (!fences).then_some(TensorOrder::Commit));
    }
}

#[test]
fn columns_come_and_go() {
    let mut cta = Cta::new(true);
    let columns = [area(0..32)];
    let free = |cta: &mut Cta| cta.access(TensorBy::Dealloc, who(0, ALL), &[], &columns);
    assert_eq!(cta.access(TensorBy::Alloc { with_peer: false }, who(0, ALL), &[], &columns), None);
    // the warp that has allocated may use them, others once it has told them
    assert_eq!(cta.store(0), None);
    cta.wait(0, true);
    assert_eq!(cta.access(TensorBy::Warp, who(1, ALL), &[], &[area(8..16)]), Some(TensorOrder::Synchronisation));
    cta.barrier();
    assert_eq!(cta.access(TensorBy::Warp, who(2, ALL), &[], &[area(16..24)]), None);
    assert_eq!(free(&mut cta), Some(TensorOrder::Wait));
    // it wants no fences, but to be told
    cta.access(TensorBy::Alloc { with_peer: false }, who(0, ALL), &[], &columns);
    cta.barrier();
    assert_eq!(cta.store(2), None);
    cta.wait(2, true);
    assert_eq!(free(&mut cta), Some(TensorOrder::Synchronisation));
    cta.access(TensorBy::Alloc { with_peer: false }, who(0, ALL), &[], &columns);
    cta.barrier();
    assert_eq!(cta.store(2), None);
    cta.wait(2, true);
    cta.barrier();
    assert_eq!(free(&mut cta), None);
    // what was in them is gone
    let access = TensorAccess { by: TensorBy::Warp, reads: &columns, writes: &[], fences: true };
    let read = cta.monitor.tensor(&access, who(0, ALL));
    let Err(FaultKind::TensorUnwritten(read)) = read else { panic!("{read:?}") };
    assert_eq!((read.lanes, read.columns, read.access, read.operand), (0..32, 0..32, "load", ""));
}
