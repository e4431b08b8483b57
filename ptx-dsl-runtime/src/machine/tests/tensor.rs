//! Asynchronous operations of the tensor cores, and the search for schedules, with operations written by hand.

use super::*;
use crate::fault::TensorOrder;
use crate::machine::schedule::Choice;
use crate::machine::tensor::{Area, TensorCta, TensorJob, Unit};
use crate::observe::monitor::{ProxyFence, Sync};

/// Appends a decimal digit to the first cell of the column, so that the cell tells who came when.
#[derive(Debug)]
struct Digit {
    unit: Unit,
    pipeline: u64,
    digit: u32,
    column: usize,
    ctas: usize,
}

impl Digit {
    fn boxed(unit: Unit, digit: u32) -> Box<dyn TensorJob> {
        Box::new(Digit { unit, pipeline: 0, digit, column: 0, ctas: 1 })
    }
}

impl TensorJob for Digit {
    fn unit(&self) -> Unit {
        self.unit
    }

    fn run(&self, ctas: &mut [TensorCta<'_>]) -> Result<(), FaultKind> {
        assert_eq!(ctas.len(), self.ctas);
        for cta in ctas {
            cta.tmem.check(0..1, self.column..self.column + 1)?;
            let cell = &mut cta.tmem.lane_mut(0)[self.column];
            *cell = *cell * 10 + self.digit;
        }
        Ok(())
    }

    fn key(&self) -> u64 {
        self.pipeline
    }

    fn writes(&self) -> Vec<Area> {
        (0..self.ctas)
            .map(|cta| Area { cta, lanes: 0..1, columns: self.column..self.column + 1, operand: "" })
            .collect()
    }

    fn operands(&self) -> Vec<(usize, std::ops::Range<u32>)> {
        vec![(0, 1024..1040)]
    }
}

/// The offset of the mbarrier object.
const MBAR: u64 = 64;

fn prepare(x: &mut Ctx<'_>, count: u32) -> Result<(), Box<Fault>> {
    x.cta_mut().tmem.set_allocated(0..32, true);
    // what the operations read
    x.write(crate::memory::address::AddrSpace::SharedCta, 1024, 16, [0; 4], 0)?;
    x.report_sync(Sync::ProxyFence(ProxyFence::Async { shared: true, global: false }), 1)?;
    let rank = x.rank();
    x.sync().mbarrier(rank, MBAR as u32, |_| mbarrier::init(Layout::V0, count).map(|w| (w, ())), 0)
}

fn cell(x: &Ctx<'_>, column: usize) -> u32 {
    x.cta().tmem.lane(0)[column]
}

fn wait_for(x: &mut Ctx<'_>, parity: u64) -> Result<Flow, Box<Fault>> {
    let rank = x.rank();
    let done = x.sync().mbarrier(rank, MBAR as u32, |w| mbarrier::passed(w, parity).map(|p| (w, p)), 0)?;
    Ok(if done { Flow::Next } else { Flow::Wait(Wait::Mbarrier(vec![(rank, MBAR as u32, parity)])) })
}

/// Issues what `issue` says from lane 0 of warp 0, commits, reads the cell before and after the wait.
macro_rules! one_thread {
    ($name:ident, |$x:ident| $issue:expr) => {
        kernel!($name, INFO, |x, pc, ws| {
            let _ = &ws;
            match pc {
                0 => {
                    let m = x.warp(0);
                    x.branch(m & 1, 1);
                    x.branch(m & !1, 3);
                    None
                }
                1 => {
                    x.warp(0);
                    x.site = 1;
                    prepare(x, 1)?;
                    let $x = &mut *x;
                    $issue;
                    let before = cell(x, 0);
                    out(x, 0, 0, before)?;
                    Some(Next::Go(2))
                }
                2 => {
                    x.warp(0);
                    let f = wait_for(x, 0)?;
                    x.flow(f, 2, 4);
                    None
                }
                4 => {
                    x.warp(0);
                    let after = cell(x, 0);
                    out(x, 0, 1, after)?;
                    Some(Next::Go(3))
                }
                _ => Some(Next::Exit),
            }
        });
    };
}

/// The final values of the cell over many schedules.
fn results<K: Kernel + CompiledKernel>() -> std::collections::BTreeSet<u32> {
    let hosts = [Host::new()].into_iter().chain((0..60).map(|n| Host::new().seed(n)));
    hosts
        .map(|host| {
            let mut v = [7, 7];
            run::<K>(&host, Launch::grid(1).block(32), &mut v).unwrap();
            assert_eq!(v[0], 0, "the old value is seen before the wait");
            v[1]
        })
        .collect()
}

one_thread!(InOrder, |x| {
    // each is pipelined with the one before, or with one that is
    for (digit, unit) in [Unit::Cp, Unit::Mma, Unit::Mma, Unit::Shift, Unit::Mma, Unit::Cp].into_iter().enumerate() {
        x.tensor().issue(false, 0, Digit::boxed(unit, digit as u32 + 1))?;
    }
    x.tensor().commit(false, 0, vec![(0, MBAR as u32)])?;
});

one_thread!(ShiftThenCopy, |x| {
    x.tensor().issue(false, 0, Digit::boxed(Unit::Shift, 1))?;
    x.tensor().issue(false, 0, Digit::boxed(Unit::Cp4x256b, 2))?;
    x.tensor().commit(false, 0, vec![(0, MBAR as u32)])?;
});

one_thread!(CopyTwice, |x| {
    x.tensor().issue(false, 0, Digit::boxed(Unit::Cp, 1))?;
    x.tensor().issue(false, 0, Digit::boxed(Unit::Cp, 2))?;
    x.tensor().commit(false, 0, vec![(0, MBAR as u32)])?;
});

one_thread!(OtherShape, |x| {
    for digit in 1..3 {
        let job = Digit { unit: Unit::Mma, pipeline: digit.into(), digit, column: 0, ctas: 1 };
        x.tensor().issue(false, 0, Box::new(job))?;
    }
    x.tensor().commit(false, 0, vec![(0, MBAR as u32)])?;
});

#[test]
fn pipelined_operations_stay_in_order_and_others_need_not() {
    assert_eq!(results::<InOrder>(), [123456].into());
    assert_eq!(results::<ShiftThenCopy>(), [12].into());
    assert_eq!(results::<CopyTwice>(), [12, 21].into());
    assert_eq!(results::<OtherShape>(), [12, 21].into());
}

#[test]
fn products_stay_in_order_if_the_host_says_so() {
    let run = |host: Host, v: &mut [u32]| run::<OtherShape>(&host.mma_in_order(true), Launch::grid(1).block(32), v);
    for seed in 0..60 {
        let mut v = [7, 7];
        run(Host::new().seed(seed), &mut v).unwrap();
        assert_eq!(v, [0, 12]);
    }
    let checked = |in_order| {
        let (mut v, host) = ([7, 7], Host::checked().mma_in_order(in_order));
        launch::<OtherShape, _>(&host, Launch::grid(1).block(32), &mut [slice_mut(&mut v)])
    };
    checked(true).unwrap();
    let report = checked(false).unwrap_err().to_string();
    assert!(report.contains("write by `tcgen05.mma`") && report.contains("`Host::mma_in_order(true)`"), "{report}");
}

// warp 0 copies, warp 1 multiplies: one after the other, by a barrier, with and without the fences of 9.7.16.6.4.3
macro_rules! two_threads {
    ($name:ident, $fences:expr) => {
        kernel!($name, INFO, |x, pc, ws| {
            let _ = &ws;
            match pc {
                0 => {
                    for k in 0..ws.len() {
                        let m = x.warp(k);
                        let to = if x.warp == 0 { 1 } else { 2 };
                        x.branch(m, to);
                    }
                    None
                }
                1 => {
                    let m = x.warp(0);
                    prepare(x, 1)?;
                    x.mask = 1;
                    x.tensor().issue(false, 0, Digit::boxed(Unit::Cp, 1))?;
                    x.mask = m;
                    if $fences {
                        x.tensor().fence(true)?;
                    }
                    Some(Next::Go(2))
                }
                2 => {
                    for k in 0..ws.len() {
                        x.warp(k);
                        let f = wait_here(x, 0, None)?;
                        x.flow(f, 2, 3);
                    }
                    None
                }
                3 => {
                    for k in 0..ws.len() {
                        let m = x.warp(k);
                        let to = if x.warp == 1 { 4 } else { 6 };
                        x.branch(m, to);
                    }
                    None
                }
                4 => {
                    let m = x.warp(0);
                    if $fences {
                        x.tensor().fence(false)?;
                    }
                    x.mask = 1;
                    x.tensor().issue(false, 0, Digit::boxed(Unit::Mma, 2))?;
                    x.tensor().commit(false, 0, vec![(0, MBAR as u32)])?;
                    x.mask = m;
                    Some(Next::Go(5))
                }
                5 => {
                    x.warp(0);
                    let f = wait_for(x, 0)?;
                    x.flow(f, 5, 7);
                    None
                }
                7 => {
                    x.warp(0);
                    let after = cell(x, 0);
                    out(x, 0, 0, after)?;
                    Some(Next::Go(6))
                }
                _ => Some(Next::Exit),
            }
        });
    };
}
two_threads!(Fenced, true);
two_threads!(Unfenced, false);

#[test]
fn fences_order_pipelines_of_two_threads() {
    let last = |host: &Host, v: &mut [u32], fenced: bool| {
        let launch = Launch::grid(1).block(64);
        if fenced { run::<Fenced>(host, launch, v) } else { run::<Unfenced>(host, launch, v) }
    };
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let mut v = [0];
        last(&Host::new().seed(seed), &mut v, true).unwrap();
        assert_eq!(v, [12]);
        // without: the other order is found, or even that nobody has waited for the copy
        match last(&Host::new().seed(seed), &mut v, false) {
            Ok(_) => seen.extend(v),
            Err(_) => seen.extend([0]),
        }
    }
    assert!(seen.contains(&12) && seen.len() > 1, "{seen:?}");
    // the checked host knows without trying
    let mut v = [0];
    let checked = launch::<Unfenced, _>(&Host::checked(), Launch::grid(1).block(64), &mut [slice_mut(&mut v)]);
    assert!(kind(checked).to_string().contains("nothing says which comes first"));
    launch::<Fenced, _>(&Host::checked(), Launch::grid(1).block(64), &mut [slice_mut(&mut v)]).unwrap();
}

// CTA 0 works for both CTAs of the pair and commits to both; both wait, meet, and end
kernel!(Pair, INFO, |x, pc, ws| {
    let _ = &ws;
    match pc {
        0 => {
            x.warp(0);
            x.mask = 1;
            prepare(x, 1)?;
            x.mask = x.live_mask();
            x.sync().cluster_arrive()?;
            Some(Next::Go(1))
        }
        1 => {
            x.warp(0);
            let f = if x.resumed() { Flow::Next } else { x.sync().cluster_wait()? };
            x.flow(f, 1, 2);
            None
        }
        2 => {
            x.warp(0);
            if x.rank() == 0 {
                x.mask = 1;
                for digit in [4, 2] {
                    let job = Digit { unit: Unit::Mma, pipeline: 0, digit, column: 3, ctas: 2 };
                    x.tensor().issue(true, 0, Box::new(job))?;
                }
                x.tensor().commit(true, 0, vec![(0, MBAR as u32), (1, MBAR as u32)])?;
            }
            Some(Next::Go(3))
        }
        3 => {
            x.warp(0);
            let f = wait_for(x, 0)?;
            x.flow(f, 3, 4);
            None
        }
        4 => {
            x.warp(0);
            let (v, at) = (cell(x, 3), x.rank());
            out(x, 0, at, v)?;
            x.sync().cluster_arrive()?;
            Some(Next::Go(5))
        }
        5 => {
            x.warp(0);
            let f = if x.resumed() { Flow::Next } else { x.sync().cluster_wait()? };
            x.flow(f, 5, 6);
            None
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn a_pair_and_a_multicast_commit() {
    let reports = Host::new().explore(40).run(|host| {
        let mut v = [0, 0];
        run::<Pair>(host, Launch::grid(2).cluster(2).block(32), &mut v)?;
        Ok(v)
    });
    assert_eq!(reports.unwrap(), vec![[42, 42]; 40]);
    let alone = kind(run::<Pair>(&Host::new(), Launch::grid(1).block(32), &mut [0, 0]));
    assert!(matches!(&alone, FaultKind::IssueGranularity { what, .. } if what.contains("without a peer")), "{alone}");
}

macro_rules! faulty {
    ($name:ident, |$x:ident, $m:ident| $body:expr) => {
        kernel!($name, INFO, |x, pc, ws| {
            let _ = &ws;
            match pc {
                0 => {
                    let $m = x.warp(0);
                    x.mask = 1;
                    x.site = 1;
                    prepare(x, 1)?;
                    let $x = &mut *x;
                    $body;
                    Some(Next::Go(1))
                }
                _ => Some(Next::Exit),
            }
        });
    };
}

faulty!(WholeWarp, |x, m| {
    x.mask = m;
    x.tensor().issue(false, 0, Digit::boxed(Unit::Mma, 1))?;
});
faulty!(Leaves, |x, _m| x.tensor().issue(false, 0, Digit::boxed(Unit::Mma, 1))?);
faulty!(LeavesCommit, |x, _m| x.tensor().commit(false, 0, vec![(0, MBAR as u32)])?);
faulty!(NoSuchCta, |x, _m| x.tensor().commit(false, 0, vec![(3, MBAR as u32)])?);
faulty!(ReadsEarly, |x, _m| {
    x.tensor().issue(false, 0, Digit::boxed(Unit::Mma, 1))?;
    x.tensor().access(0..32, 1..32, true, 0)?;
    x.site = 0;
    x.tensor().access(0..32, 0..8, false, 0)?;
});
faulty!(OverwritesOperand, |x, _m| {
    x.tensor().issue(false, 0, Digit::boxed(Unit::Mma, 1))?;
    x.write(AddrSpace::SharedCta, 1040, 4, [0; 4], 0)?;
    x.write(AddrSpace::SharedCta, 1036, 4, [0; 4], 0)?;
});

#[test]
fn faults_of_asynchronous_operations() {
    fn of<K: Kernel + CompiledKernel>() -> FaultKind {
        kind(run::<K>(&Host::new(), Launch::grid(1).block(32), &mut [0]))
    }
    let fault = of::<WholeWarp>();
    assert!(matches!(&fault, FaultKind::IssueGranularity { what, .. } if what.contains("32 threads")), "{fault}");
    assert!(fault.help().contains("elect one lane"));
    assert!(of::<Leaves>().to_string().contains("ends while this operation"));
    assert!(of::<LeavesCommit>().to_string().contains("before this `tcgen05.commit` has arrived"));
    assert_eq!(of::<NoSuchCta>(), FaultKind::NoSuchRank { rank: 3, size: 1 });
    // the plain host does not look, and reports what comes of it
    assert!(of::<ReadsEarly>().to_string().contains("ends while"));
    let mut v = [0];
    let both = kind(launch::<ReadsEarly, _>(&Host::checked(), Launch::grid(1).block(32), &mut [slice_mut(&mut v[..])]));
    let FaultKind::TensorRace(race) = &both else { panic!("{both}") };
    assert_eq!((race.columns.clone(), race.access, race.missing), (0..8, "load", TensorOrder::Commit));
    assert_eq!(race.other.at.as_ref().map(|at| at.text.as_str()), Some(SITES[1].text));
    let operand =
        kind(launch::<OverwritesOperand, _>(&Host::checked(), Launch::grid(1).block(32), &mut [slice_mut(&mut v[..])]));
    let FaultKind::DataRace(race) = &operand else { panic!("{operand}") };
    assert_eq!((race.addr, race.access, race.other.access), (1036, "store", "read by a matrix operation"));
    assert_eq!(race.other.at.as_ref().map(|at| at.text.as_str()), Some(SITES[1].text));
}

const SITES: &[Site] = INFO.sites;

// CTA 0 works for the pair, CTA 1 ends
kernel!(PeerLeaves, INFO, |x, pc, ws| {
    let _ = &ws;
    match pc {
        0 => {
            x.warp(0);
            x.mask = 1;
            prepare(x, 1)?;
            if x.rank() == 0 {
                let job = Digit { unit: Unit::Mma, pipeline: 0, digit: 1, column: 0, ctas: 2 };
                x.here().ctas[1].tmem.set_allocated(0..32, true);
                x.tensor().issue(true, 0, Box::new(job))?;
                x.tensor().commit(true, 0, vec![(0, MBAR as u32)])?;
                Some(Next::Go(1))
            } else {
                Some(Next::Exit)
            }
        }
        1 => {
            x.warp(0);
            let f = wait_for(x, 0)?;
            x.flow(f, 1, 2);
            None
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn the_peer_must_stay() {
    let run = |host: &Host| run::<PeerLeaves>(host, Launch::grid(2).cluster(2).block(32), &mut [0]);
    let peer = |fault: &FaultKind| matches!(fault, FaultKind::IssueGranularity { what, .. } if what.contains("peer"));
    assert!(peer(&kind(run(&Host::new()))));
    // on another schedule the peer may live long enough
    for host in seeds() {
        assert!(run(&host).map_or_else(|e| peer(&e.fault().unwrap().kind), |_| true));
    }
}

// in CTA 1 an instruction that may wait for CTA 0 comes before the cluster barrier, in CTA 0 after it: Table 48
kernel!(MayHang, INFO, |x, pc, ws| {
    let _ = &ws;
    match pc {
        0 => {
            x.warp(0);
            x.mask = 1;
            x.site = 1;
            prepare(x, 1)?;
            let blocks = x.rank() == 1 && x.scheduling.choose(Choice::Block, 2) != 0;
            Some(Next::Go(if blocks { 1 } else { 2 }))
        }
        1 => {
            x.warp(0);
            x.site = 1;
            let f = wait_for(x, 0)?;
            x.flow(f, 1, 2);
            None
        }
        2 => {
            x.warp(0);
            x.sync().cluster_arrive()?;
            Some(Next::Go(3))
        }
        3 => {
            x.warp(0);
            x.site = 0;
            let f = if x.resumed() { Flow::Next } else { x.sync().cluster_wait()? };
            x.flow(f, 3, 4);
            None
        }
        4 => {
            x.warp(0);
            if x.rank() == 0 && !x.residents.clusters[x.residents.slot].ctas[1].exited {
                x.sync().mbarrier(1, MBAR as u32, |w| mbarrier::arrive(w, 1, Arrive::default()), 0)?;
            }
            Some(Next::Exit)
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn exploring_finds_the_hang_and_a_seed_that_repeats_it() {
    let launch = || Launch::grid(2).cluster(2).block(32);
    // by itself the host does not wait
    run::<MayHang>(&Host::new(), launch(), &mut [0]).unwrap();
    let mut calls = 0;
    let found = Host::new().explore(64).run(|host| {
        calls += 1;
        run::<MayHang>(host, launch(), &mut [0])
    });
    let Err(Error::Fault(fault)) = found else { panic!("not found: {found:?}") };
    let FaultKind::Deadlock { waiting } = &fault.kind else { panic!("{fault}") };
    assert!(waiting.len() == 2 && waiting[0].contains("cluster barrier") && waiting[1].contains("mbarrier 0x40"));
    assert!(calls <= 45);
    let replay = fault.replay.as_deref().unwrap();
    assert!(replay.contains("`Host::new().seed(0)`"), "{replay}");
    // all turns have the usual length, and CTA 1 waits in its first one
    assert_eq!(fault.schedule, [0, 0, 0, 0, 3]);
    assert!(replay.contains("the shorter `Host::new().schedule(\"t3_4.3_88f\")?`"), "{replay}");
    let host = Host::new();
    for host in
        [host.clone().seed(0), host.clone().replay(fault.schedule.clone()), host.schedule("t3_4.3_88f").unwrap()]
    {
        assert!(matches!(kind(run::<MayHang>(&host, launch(), &mut [0])), FaultKind::Deadlock { .. }));
    }
    // the same search finds the same
    let again = Host::new().explore(64).run(|host| run::<MayHang>(host, launch(), &mut [0]));
    assert_eq!(again.unwrap_err().fault().unwrap(), &*fault);
}

#[test]
fn exploring_gives_all_results_or_the_first_error() {
    let reports = Host::new().explore(9).run(|host| run::<Mirror>(host, Launch::grid(1).block(80), &mut [0; 80]));
    assert_eq!(reports.unwrap().len(), 9);
    let mut calls = 0;
    let refused = Host::new().explore(9).run(|host| {
        calls += 1;
        run::<Mirror>(host, Launch::grid(0).block(80), &mut [0; 80])
    });
    assert!(matches!(refused, Err(Error::Launch { .. })));
    assert_eq!(calls, 1);
}
