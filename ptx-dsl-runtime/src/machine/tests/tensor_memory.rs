//! Allocation of Tensor Memory by kernels of one list of operations for each warp.

use std::marker::PhantomData;

use super::*;
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::{Destination, Source};
use crate::numerics::qual::{Q, Ty, q};
use crate::semantics::tcgen05::{
    tcgen05_alloc, tcgen05_dealloc, tcgen05_ld, tcgen05_relinquish_alloc_permit, tcgen05_wait,
};

#[derive(Debug, Clone, Copy)]
enum Op {
    /// Columns; the address goes to shared memory at this offset.
    Alloc(u32, u32),
    /// Columns, and where the address is.
    Dealloc(u32, u32),
    /// The address as it is.
    DeallocAt(u32, u32),
    Relinquish,
    Arrive,
    Wait,
    /// The barrier of the CTA.
    Bar,
    /// The lane mask of the next operation, which other lanes skip.
    Only(u32),
    /// A register from this address, to `out`.
    Load(u32),
    WaitLd,
    /// Lanes that end.
    Exit(u32),
    /// The word of shared memory at this offset to `out`, at four times the rank of the CTA and the warp.
    Out(u32),
}
use Op::*;

trait Program: 'static {
    const PAIR: bool;
    /// The operations of a warp of a CTA; a warp without a list ends.
    fn list(rank: u32, warp: u32) -> &'static [Op];
    /// Mixes both.
    fn pair(rank: u32) -> bool {
        let _ = rank;
        Self::PAIR
    }
}

const TEXTS: [Site; 6] = [
    Site {
        text: "tcgen05.alloc.cta_group::2.sync.aligned.b32 [dst], n;",
        line: 10,
        rust_line: 0,
        origin: 0,
        used_bytes: None,
    },
    Site {
        text: "tcgen05.dealloc.cta_group::2.sync.aligned.b32 t, n;",
        line: 11,
        rust_line: 0,
        origin: 0,
        used_bytes: None,
    },
    Site { text: "barrier.cluster.wait;", line: 12, rust_line: 0, origin: 0, used_bytes: None },
    Site {
        text: "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r}, [t];",
        line: 13,
        rust_line: 0,
        origin: 0,
        used_bytes: None,
    },
    Site { text: "tcgen05.wait::ld.sync.aligned;", line: 14, rust_line: 0, origin: 0, used_bytes: None },
    Site {
        text: "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;",
        line: 15,
        rust_line: 0,
        origin: 0,
        used_bytes: None,
    },
];

struct Lists<P>(PhantomData<P>);

const END: Pc = 99;

impl<P: Program> Kernel for Lists<P> {
    const INFO: &'static KernelInfo<'_> = &KernelInfo { sites: &TEXTS, target: "sm_100a", ..INFO };
}

impl<P: Program> CompiledKernel for Lists<P> {
    type Warp = Regs;
    fn step(x: &mut Ctx<'_>, mut pc: Pc, ws: &mut [Regs]) -> Result<Next, Box<Fault>> {
        loop {
            x.budget().turn(pc)?;
            if pc == END {
                return Ok(Next::Exit);
            }
            for k in 0..ws.len() {
                let m = x.warp(k);
                let list = P::list(x.rank(), x.warp);
                match list.get(pc as usize) {
                    None => x.branch(m, END),
                    Some(Only(lanes)) => {
                        x.branch(m & lanes, pc + 1);
                        x.branch(m & !lanes, pc + 2);
                    }
                    Some(Exit(lanes)) => {
                        x.branch(m & lanes, END);
                        x.branch(m & !lanes, pc + 1);
                    }
                    Some(&op) => {
                        let flow = operation::<P>(x, op, m)?;
                        x.flow(flow, pc, pc + 1);
                    }
                }
            }
            pc = match x.go() {
                Some(pc) => pc,
                None => return Ok(Next::Split),
            };
            if x.diverged() {
                return Ok(Next::Go(pc));
            }
        }
    }
}

fn operation<P: Program>(x: &mut Ctx<'_>, op: Op, m: u32) -> Result<Flow, Box<Fault>> {
    let group = if P::pair(x.rank()) { q::cta_group_2 } else { q::cta_group_1 };
    let q = Q::new(&[group, q::shared_cta, q::_32x32b], &[Ty::B32]);
    let all = |v: u32| -> Lanes { [v.into(); 32] };
    let lane = m.trailing_zeros();
    let word = |x: &mut Ctx<'_>, at: u32| x.read(AddrSpace::SharedCta, at.into(), 4, lane).map(|[v, ..]| v as u32);
    match op {
        Alloc(columns, at) => {
            x.site = 0;
            tcgen05_alloc(x, q, &[&all(at), &all(columns)], &mut [])
        }
        Dealloc(columns, at) => {
            x.site = 1;
            let taddr = word(x, at)?;
            tcgen05_dealloc(x, q, &[&all(taddr), &all(columns)], &mut [])
        }
        DeallocAt(columns, taddr) => {
            x.site = 1;
            tcgen05_dealloc(x, q, &[&all(taddr), &all(columns)], &mut [])
        }
        Relinquish => {
            x.site = 5;
            tcgen05_relinquish_alloc_permit(x, q, &[], &mut [])
        }
        Arrive => x.sync().cluster_arrive().map(|()| Flow::Next),
        Wait => {
            x.site = 2;
            if x.resumed() { Ok(Flow::Next) } else { x.sync().cluster_wait() }
        }
        Bar => wait_here(x, 0, None),
        Load(taddr) => {
            x.site = 3;
            tcgen05_ld(x, q, &[Source::Lanes(&all(taddr))], &mut [Destination::Words(&mut [0; 32])])
        }
        WaitLd => {
            x.site = 4;
            tcgen05_wait(x, q, &[], &mut [])
        }
        Out(at) => {
            let value = word(x, at)?;
            let index = x.rank() * 4 + x.warp;
            out(x, lane as usize, index, value)?;
            Ok(Flow::Next)
        }
        Only(_) | Exit(_) => Ok(Flow::Next),
    }
}

macro_rules! program {
    ($name:ident, $pair:expr, $list:expr) => {
        struct $name;
        impl Program for $name {
            const PAIR: bool = $pair;
            fn list(rank: u32, warp: u32) -> &'static [Op] {
                let list: fn(u32, u32) -> &'static [Op] = $list;
                list(rank, warp)
            }
        }
    };
}

fn go<P: Program>(host: &Host, ctas: u32, warps: u32) -> (Result<Report, Error>, [u32; 8]) {
    let mut v = [u32::MAX; 8];
    let r = run::<Lists<P>>(host, Launch::grid(ctas).cluster(ctas).block(32 * warps), &mut v);
    (r, v)
}

fn clean<P: Program>(ctas: u32, warps: u32) -> [u32; 8] {
    let mut all = seeds().map(|host| {
        let (r, v) = go::<P>(&host, ctas, warps);
        r.unwrap_or_else(|e| panic!("{e}"));
        v
    });
    let first = all.next().expect("a host");
    all.for_each(|v| assert_eq!(v, first));
    first
}

/// The fault, the same in all schedules.
fn faulty<P: Program>(ctas: u32, warps: u32) -> (FaultKind, String) {
    let mut all = seeds().map(|host| {
        let Err(Error::Fault(f)) = go::<P>(&host, ctas, warps).0 else { panic!("no fault") };
        (f.kind.clone(), f.to_string())
    });
    let first = all.next().expect("a host");
    all.for_each(|f| assert_eq!(f.0, first.0));
    first
}

fn tensor_memory<P: Program>(ctas: u32, warps: u32) -> String {
    match faulty::<P>(ctas, warps) {
        (FaultKind::TensorMemory { what, .. }, _) => what,
        other => panic!("{other:?}"),
    }
}

fn granularity<P: Program>(ctas: u32, warps: u32) -> String {
    match faulty::<P>(ctas, warps) {
        (FaultKind::IssueGranularity { what, .. }, _) => what,
        other => panic!("{other:?}"),
    }
}

program!(Plain, false, |_, _| &[
    Alloc(64, 16),
    Alloc(32, 20),
    Out(20),
    Load(95),
    WaitLd,
    Dealloc(64, 16),
    Dealloc(32, 20),
    Relinquish
]);
// warp 1 has to wait for the columns of warp 0
program!(Full, false, |_, warp| match warp {
    0 => &[Alloc(512, 16), Bar, Out(16), Dealloc(512, 16)],
    _ => &[Bar, Alloc(256, 20), Out(20), Dealloc(256, 20)],
});
program!(Both, true, |_, _| &[
    Alloc(128, 16),
    Alloc(128, 20),
    Out(20),
    Arrive,
    Wait,
    Dealloc(128, 16),
    Dealloc(128, 20),
    Relinquish
]);
// lanes come apart and meet again
program!(Apart, false, |_, _| &[
    Only(0xf0f),
    Bar,
    Alloc(32, 16),
    Only(1),
    Arrive,
    Load(0),
    WaitLd,
    Dealloc(32, 16),
    Only(!1),
    Arrive
]);

#[test]
fn allocations() {
    assert_eq!(clean::<Plain>(1, 1)[0], 64);
    let v = clean::<Full>(1, 2);
    assert_eq!((v[0], v[1]), (0, 0));
    let v = clean::<Both>(2, 1);
    assert_eq!((v[0], v[4]), (128, 128), "the same address in both CTAs");
}

program!(Table47, true, |_, _| &[Alloc(32, 16), Arrive, Wait, Dealloc(32, 16)]);
program!(Table48, true, |rank, _| match rank {
    0 => &[Alloc(32, 16), Arrive, Wait, Dealloc(32, 16)],
    _ => &[Alloc(32, 16), Dealloc(32, 16), Arrive, Wait],
});

/// All runs that differ from the plain one in one decision.
fn one_decision<P: Program>() -> Vec<Result<Report, Error>> {
    let plain = go::<P>(&Host::new().record(), 2, 1).0.unwrap();
    let n = plain.schedule.len();
    let flipped = (0..n).map(|i| {
        let mut decisions = vec![0; n];
        decisions[i] = 1;
        go::<P>(&Host::new().replay(decisions), 2, 1).0
    });
    flipped.collect()
}

#[test]
fn table_47_runs_whether_dealloc_blocks_or_not() {
    clean::<Table47>(2, 1);
    assert!(one_decision::<Table47>().iter().all(Result::is_ok));
    for seed in 0..200 {
        go::<Table47>(&Host::new().seed(seed), 2, 1).0.unwrap();
    }
}

#[test]
fn table_48_hangs_when_dealloc_blocks() {
    let runs = one_decision::<Table48>();
    let hangs: Vec<_> = runs.iter().filter_map(|r| r.as_ref().err()).collect();
    assert_eq!(hangs.len(), 1, "one decision is whether to block");
    let text = hangs[0].to_string();
    for part in [
        "deadlock",
        "CTA (0, 0, 0), threads 0 to 31 at `barrier.cluster.wait;` (PTX line 12): waits for the cluster barrier, not arrived: CTA rank 1 threads 0 to 31",
        "CTA (1, 0, 0), threads 0 to 31 at `tcgen05.dealloc.cta_group::2.sync.aligned.b32 t, n;` (PTX line 11): waits for `tcgen05.dealloc` of CTA rank 0",
        "a cycle: threads 0 to 31 of CTA rank 0 wait for threads 0 to 31 of CTA rank 1, which wait for threads 0 to 31 of CTA rank 0",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    // both ends are found by chance too, and a seed repeats its own
    let of = |seed| go::<Table48>(&Host::new().seed(seed), 2, 1).0;
    let hang = (0..20).find(|&seed| of(seed).is_err()).expect("a seed that hangs");
    assert!((0..20).any(|seed| of(seed).is_ok()));
    let error = of(hang).unwrap_err();
    assert_eq!(error.to_string(), of(hang).unwrap_err().to_string());
    assert!(error.to_string().contains(&format!("seed({hang})")));
}

#[test]
fn exploring_tells_table_47_from_table_48() {
    let reports = Host::new().explore(64).run(|host| go::<Table47>(host, 2, 1).0);
    assert_eq!(reports.unwrap().len(), 64);
    let error = Host::new().explore(64).run(|host| go::<Table48>(host, 2, 1).0).unwrap_err();
    let text = error.to_string();
    for part in [
        "waits for the cluster barrier",
        "waits for `tcgen05.dealloc` of CTA rank 0",
        "a cycle",
        "`Host::new().seed(0)`",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let decisions = error.fault().unwrap().schedule.clone();
    assert!(decisions.len() < 40, "{decisions:?}");
    for host in [Host::new().seed(0), Host::new().replay(decisions)] {
        let again = go::<Table48>(&host, 2, 1).0.unwrap_err();
        assert_eq!(again.fault().unwrap().kind, error.fault().unwrap().kind);
    }
}

#[test]
fn lanes_that_come_apart_meet_again() {
    for host in seeds() {
        let r = run::<Lists<Apart>>(&host, Launch::grid(1).block(32), &mut [0; 8]);
        // the lanes that wait for the barrier of the CTA keep nobody: the others arrive at the allocation and wait there
        let text = r.unwrap_err().to_string();
        assert!(text.contains("waits for lanes 0 to 3, 8 to 11 of its warp") && text.contains("a cycle"), "{text}");
    }
}

program!(Met, false, |_, _| &[Only(0xffff), Alloc(32, 16), WaitLd]);
program!(Gone, false, |_, _| &[Exit(0xff), Alloc(32, 16)]);
program!(Rejoined, false, |_, _| &[Alloc(32, 16), Only(1), Arrive, Load(3), WaitLd, Only(!1), Arrive, Dealloc(32, 16)]);

#[test]
fn whole_warps() {
    let what = granularity::<Met>(1, 1);
    assert!(what.contains("executed by lanes 0 to 15 of a warp, but not by its lanes 16 to 31"), "{what}");
    assert!(what.contains("which wait at `tcgen05.wait::ld.sync.aligned;`"), "{what}");
    assert!(granularity::<Gone>(1, 1).contains("lanes 0 to 7 have exited"));
    clean::<Rejoined>(1, 1);
}

program!(Leak, false, |_, _| &[Alloc(64, 16), Alloc(32, 20), Dealloc(64, 16)]);
program!(LeakOfOne, true, |rank, _| match rank {
    0 => &[Alloc(64, 16), Dealloc(64, 16)],
    _ => &[Alloc(64, 16)],
});
program!(Odd, false, |_, _| &[Alloc(96, 16)]);
program!(Grows, false, |_, _| &[Alloc(32, 16), Alloc(64, 20)]);
program!(Mismatch, false, |_, _| &[Alloc(64, 16), Dealloc(32, 16)]);
program!(Elsewhere, false, |_, _| &[Alloc(64, 16), DeallocAt(64, 32)]);
program!(OtherLane, false, |_, _| &[Alloc(64, 16), DeallocAt(64, 32 << 16)]);
program!(Late, false, |_, _| &[Alloc(64, 16), Relinquish, Alloc(32, 20)]);
program!(Unallocated, false, |_, _| &[Alloc(32, 16), Load(32)]);
program!(Freed, false, |_, _| &[Alloc(32, 16), Dealloc(32, 16), Load(0)]);
program!(Quarter, false, |_, warp| match warp {
    0 => &[Alloc(32, 16), Bar, Load(0), WaitLd, Bar, Dealloc(32, 16)],
    _ => &[Bar, Load(0), WaitLd, Bar],
});
program!(Disagree, true, |rank, _| match rank {
    0 => &[Alloc(64, 16)],
    _ => &[Alloc(32, 16)],
});

struct Mixed;
impl Program for Mixed {
    const PAIR: bool = false;
    fn list(_: u32, _: u32) -> &'static [Op] {
        &[Alloc(32, 16), Arrive, Wait, Dealloc(32, 16)]
    }
    fn pair(rank: u32) -> bool {
        rank == 1
    }
}

#[test]
fn wrong_use_of_the_allocator() {
    let (kind, text) = faulty::<Leak>(1, 1);
    let wanted = "CTA rank 0 exits without deallocating the 32 columns it has allocated at column 64";
    assert!(matches!(kind, FaultKind::TensorMemory { what, .. } if what == wanted));
    assert!(text.contains("PTX line 10: `tcgen05.alloc"), "{text}");
    let blocked = "CTA rank 1 exits without deallocating the 64 columns it has allocated at column 0";
    assert_eq!(tensor_memory::<LeakOfOne>(2, 1), blocked);
    assert!(tensor_memory::<Odd>(1, 1).contains("96 columns: a power of two"));
    assert!(tensor_memory::<Grows>(1, 1).contains("64 columns after one of 32"));
    assert!(tensor_memory::<Mismatch>(1, 1).contains("deallocation of 32 columns, but 64 were allocated"));
    assert!(tensor_memory::<Elsewhere>(1, 1).contains("at column 32, where no allocation starts"));
    assert!(tensor_memory::<OtherLane>(1, 1).contains("at lane 32"));
    assert!(tensor_memory::<Late>(1, 1).contains("after `tcgen05.relinquish_alloc_permit`"));
    assert!(tensor_memory::<Unallocated>(1, 1).contains("column 32 of Tensor Memory is not allocated"));
    assert!(tensor_memory::<Freed>(1, 1).contains("column 0 of Tensor Memory is not allocated"));
    assert!(tensor_memory::<Quarter>(1, 2).contains("warp 1 accesses lanes 0 to 31"));
    for host in seeds() {
        let Err(Error::Fault(f)) = go::<Mixed>(&host, 2, 1).0 else { panic!("no fault") };
        assert!(f.to_string().contains("in a kernel that has used `.cta_group::"), "{f}");
        let Err(Error::Fault(f)) = go::<Disagree>(&host, 2, 1).0 else { panic!("no fault") };
        // whichever is second
        assert!(f.to_string().contains("the CTAs of a pair ask for one allocation of"), "{f}");
    }
}

program!(Alone, true, |_, _| &[Alloc(32, 16)]);
program!(NeverComes, true, |rank, _| match rank {
    0 => &[Alloc(32, 16)],
    _ => &[],
});
program!(OneRelinquishes, true, |rank, _| match rank {
    0 => &[Relinquish],
    _ => &[],
});

#[test]
fn pairs_need_their_peer() {
    assert!(granularity::<Alone>(1, 1).contains("without a peer"));
    for host in seeds() {
        // whichever of the two is first
        for r in [go::<NeverComes>(&host, 2, 1).0, go::<OneRelinquishes>(&host, 2, 1).0] {
            let Err(Error::Fault(f)) = r else { panic!("no fault") };
            let FaultKind::IssueGranularity { what, .. } = &f.kind else { panic!("{f}") };
            assert!(what.contains("has exited") || what.contains("exits without the `tcgen05."), "{f}");
            assert!(f.thread.is_some_and(|t| t.rank == 0), "{f}");
        }
    }
}

// both warps wait for room, and nobody gives it
program!(NoRoom, false, |_, warp| match warp {
    0 => &[Alloc(512, 16), Alloc(32, 20), Dealloc(512, 16)],
    _ => &[],
});

#[test]
fn waiting_for_room_for_ever() {
    let (kind, text) = faulty::<NoRoom>(1, 2);
    assert!(matches!(kind, FaultKind::Deadlock { .. }));
    assert!(text.contains("waits for 32 free columns of Tensor Memory, 512 are allocated"), "{text}");
}

// the address is there for the monitor
program!(Written, false, |_, _| &[Alloc(32, 16), Out(16), Dealloc(32, 16)]);
program!(NotWritten, false, |_, _| &[Alloc(32, 16), Out(20), Dealloc(32, 16)]);

#[test]
fn the_result_is_an_ordinary_store() {
    let of = |l: fn(&mut [u32]) -> Result<Report, Error>| l(&mut [0; 8]);
    let checked =
        |v: &mut [u32]| launch::<Lists<Written>, _>(&Host::checked(), Launch::grid(1).block(32), &mut [slice_mut(v)]);
    of(checked).unwrap();
    let unwritten = |v: &mut [u32]| {
        launch::<Lists<NotWritten>, _>(&Host::checked(), Launch::grid(1).block(32), &mut [slice_mut(v)])
    };
    assert!(matches!(kind(of(unwritten)), FaultKind::Uninitialised { addr: 20, .. }));
}
