//! Faults that the machine reports: launches that do not fit, undefined behaviour, deadlocks, endless loops.

use super::*;
use crate::launch::Dimensions;

// barrier of 64 threads that only one warp reaches
kernel!(Stuck, INFO, |x, pc, ws| {
    match pc {
        0 => {
            for k in 0..ws.len() {
                let m = x.warp(k);
                let to = if x.warp == 0 { 1 } else { 3 };
                x.branch(m, to);
            }
            None
        }
        1 => {
            x.warp(0);
            x.site = 0;
            let f = wait_here(x, 5, Some(64))?;
            x.flow(f, 1, 3);
            None
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn deadlock_at_a_barrier() {
    let error = run::<Stuck>(&Host::new(), Launch::grid(1).block(64), &mut [0]).unwrap_err();
    let text = error.to_string();
    for part in
        ["deadlock", "threads 0 to 31", "`bar.sync 0;` (PTX line 7)", "barrier 5, 32 of 64 threads", "toy.rs:70"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

kernel!(Endless, INFO, |x, pc, ws| {
    let _ = &ws;
    match pc {
        0 => Some(Next::Go(1)),
        1 => Some(Next::Go(1)),
        _ => Some(Next::Exit),
    }
});

#[test]
fn endless_loops_end() {
    let l = Launch::grid(2).block(64).step_limit(10_000);
    let wanted = FaultKind::StepLimit { turns: 10_000, region: "LOOP".into(), loops: Vec::new() };
    assert_eq!(kind(run::<Endless>(&Host::new(), l.clone(), &mut [0])), wanted);
    let handle = CancelHandle::new();
    handle.cancel();
    let cancelled = FaultKind::Cancelled { region: "LOOP".into() };
    assert_eq!(kind(run::<Endless>(&Host::new(), l.cancel(handle), &mut [0])), cancelled);
}

// works for long in each of many rounds, each of which copies from memory, and writes nothing; with 0 in the buffer from its start
kernel!(Reader, INFO, |x, pc, ws| {
    match pc {
        0 => Some(Next::Go(1)),
        1 => {
            x.warp(0);
            x.scheduling.works(90_000_000);
            let [base, ..] = x.read(AddrSpace::ParamEntry, 0, 8, 0)?;
            let [moves, ..] = x.read(AddrSpace::Global, base, 4, 0)?;
            let round = u64::from(ws[0].a[0]);
            ws[0].a[0] += 1;
            let at = if moves == 0 { 0 } else { round * 4096 };
            assert!(x.memory.global.copy_out((base >> 40) as usize, at, &mut [0; 16]));
            // to the driver, which looks at the limits
            return Ok(Next::Go(if round == 99 { 3 } else { 1 }));
        }
        _ => Some(Next::Exit),
    }
});

/// Rounds that read other memory are progress, although nothing is written; rounds that read the same are not.
#[test]
fn long_launches_that_read_on() {
    let mut memory = vec![1; 100 * 1024];
    assert!(run::<Reader>(&Host::new(), Launch::grid(1), &mut memory).is_ok());
    memory[0] = 0;
    assert!(matches!(kind(run::<Reader>(&Host::new(), Launch::grid(1), &mut memory)), FaultKind::StepLimit { .. }));
}

#[test]
fn more_resident_clusters_than_memory_has_room_for() {
    let host = Host::new().resident_clusters(usize::MAX);
    let limited = Launch::grid(i32::MAX as u32).step_limit(10_000);
    assert!(matches!(kind(run::<Endless>(&host, limited, &mut [0])), FaultKind::StepLimit { .. }));
}

// does what the first word of the buffer says
kernel!(Wrong, INFO, |x, pc, ws| {
    match pc {
        0 => {
            x.warp(0);
            let _ = &ws;
            let [base, ..] = x.read(AddrSpace::ParamEntry, 0, 8, 0)?;
            let [what, ..] = x.read(AddrSpace::Global, base, 4, 0)?;
            match what {
                0 => x.read(AddrSpace::Global, base + 8, 4, 0).map(|_| ())?,
                1 => x.read(AddrSpace::Global, base + 2, 4, 0).map(|_| ())?,
                2 => x.write(AddrSpace::Const, 0, 4, [0; 4], 0)?,
                3 => x.write(AddrSpace::SharedCta, 4096, 4, [0; 4], 0)?,
                4 => x.read(AddrSpace::SharedCta, 1 << 56, 4, 0).map(|_| ())?,
                5 => x.shared_offset(AddrSpace::Generic, base, 0, "the mbarrier object").map(|_| ())?,
                6 => x.sync().cluster_wait().map(|_| ())?,
                7 => x.sync().barrier_arrive(16, None, true, None).map(|_| ())?,
                8 => x.write(AddrSpace::Local, 8, 4, [0; 4], 0)?,
                9 => x.write(AddrSpace::Generic, base, 4, [0; 4], 0)?,
                _ => x.read(AddrSpace::Local, 0, 4, 0).map(|_| ())?,
            }
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn wrong_accesses_are_faults() {
    let base = 2u64 << 40;
    let of = |what: u32| kind(run::<Wrong>(&Host::new(), Launch::grid(1), &mut [what, 0]));
    let outside = |space, addr, bytes, size| FaultKind::OutOfBounds { space, addr, bytes, size };
    assert_eq!(of(0), outside("global", base + 8, 4, 8));
    assert_eq!(of(1), FaultKind::Misaligned { space: "global", addr: base + 2, align: 4 });
    assert_eq!(of(2), FaultKind::ReadOnly { space: "const", addr: 0 });
    assert_eq!(of(3), outside("shared", 4096, 4, 4096));
    assert!(matches!(of(4), FaultKind::WrongWindow { .. }));
    assert!(matches!(of(5), FaultKind::WrongWindow { .. }));
    assert!(matches!(of(6), FaultKind::ClusterBarrier { .. }));
    assert!(matches!(of(7), FaultKind::Barrier { id: 16, .. }));
    assert_eq!(of(8), outside("local", 8, 4, 8));
    let read_only = launch::<Wrong, _>(&Host::new(), Launch::grid(1), &mut [slice(&[9u32, 0])]);
    assert_eq!(kind(read_only), FaultKind::ReadOnly { space: "global", addr: base });
    let uninitialised = launch::<Wrong, _>(&Host::checked(), Launch::grid(1), &mut [slice(&[10u32, 0])]);
    assert_eq!(kind(uninitialised), FaultKind::Uninitialised { space: "local", addr: 0 });
}

kernel!(Limited, KernelInfo { reqntid: Some([64, 1, 1]), reqnctapercluster: Some([2, 1, 1]), ..INFO }, |x, pc, ws| {
    let _ = (&x, pc, &ws);
    Some(Next::Exit)
});
kernel!(
    Later,
    KernelInfo { not_yet: &[NotYet { what: "tcgen05.mma", why: "it is not written", site: 0 }], ..INFO },
    |x, pc, ws| {
        let _ = (&x, pc, &ws);
        Some(Next::Exit)
    }
);

kernel!(Deep, KernelInfo { local_size: 1 << 20, ..INFO }, |x, pc, ws| {
    let _ = (&x, pc, &ws);
    Some(Next::Exit)
});

#[test]
fn launches_that_do_not_fit() {
    let problem = |r: Result<Report, Error>| match r {
        Err(Error::Launch { problem, .. }) => problem,
        other => panic!("{other:?}"),
    };
    let of = |l: Launch| problem(run::<Mirror>(&Host::new(), l, &mut [0]));
    assert!(matches!(of(Launch::grid(0)), LaunchError::Zero { of: Dimensions::Grid, .. }));
    assert_eq!(of(Launch::grid(1).block((33, 32))), LaunchError::TooManyThreads(1056));
    assert_eq!(of(Launch::grid(1).block((1, 1, 65))), LaunchError::BlockTooLong([1, 1, 65]));
    assert_eq!(of(Launch::grid(32).cluster(32)), LaunchError::ClusterTooLarge(32));
    let odd = LaunchError::ClusterDividesGrid { grid: [3, 1, 1], cluster: [2, 1, 1] };
    assert_eq!(of(Launch::grid(3).cluster(2)), odd);
    let shared = LaunchError::SharedMemory { asked: 232_449, fixed: 4096 };
    assert_eq!(of(Launch::grid(1).dynamic_shared(232_449 - 4096)), shared);

    let deep = |threads: u32| run::<Deep>(&Host::new(), Launch::grid(1).block(threads), &mut [0]);
    assert_eq!(problem(deep(513)), LaunchError::LocalMemory { bytes: 1 << 20, threads: 513 });
    assert_eq!(deep(512).expect("512 MiB").clusters_launched, 1);

    let limited = |l: Launch| run::<Limited>(&Host::new(), l, &mut [0]);
    assert!(matches!(problem(limited(Launch::grid(2).block(32))), LaunchError::Reqntid { .. }));
    let l = Launch::grid(2).block(64).cluster(1);
    assert!(matches!(problem(limited(l)), LaunchError::Reqnctapercluster { .. }));
    assert_eq!(limited(Launch::grid(2).block(64)).unwrap().clusters_launched, 1);

    let args = |args: &mut [Arg<'_>]| problem(launch::<Mirror, _>(&Host::new(), Launch::grid(1), args));
    assert_eq!(args(&mut []), LaunchError::ArgumentCount { given: 0, names: vec!["out".into()] });
    let size = LaunchError::ArgumentSize { index: 0, name: "out".into(), given: 4, wanted: 8 };
    assert_eq!(args(&mut [scalar(1u32)]), size);
    assert!(matches!(args(&mut [scalar(1u64)]), LaunchError::ArgumentNotBuffer { .. }));
    assert!(matches!(args(&mut [Arg::buffer_at(&mut [0; 8], 2)]), LaunchError::ArgumentAlignment { .. }));
    assert!(matches!(args(&mut [Arg::buffer_at(&mut [0; 8], 12)]), LaunchError::ArgumentOffset { .. }));

    let later = run::<Later>(&Host::new(), Launch::grid(1), &mut [0]).unwrap_err().to_string();
    assert!(later.contains("`tcgen05.mma` yet: it is not written") && later.contains("line 7"), "{later}");
}

// thread 0 of CTA 0 asks, as the bits of the first word say: for all of the cluster (1), and does not wait (2); CTA 1 ends at once
kernel!(Careless, INFO, |x, pc, ws| {
    match pc {
        0 => {
            x.warp(0);
            let _ = &ws;
            if x.rank() == 1 {
                return Ok(Next::Exit);
            }
            let [base, ..] = x.read(AddrSpace::ParamEntry, 0, 8, 0)?;
            let [how, ..] = x.read(AddrSpace::Global, base, 4, 0)?;
            x.site = 1;
            for rank in 0..2 {
                x.sync().mbarrier(0, 64 + 8 * rank, |_| Ok((mbarrier::init(Layout::V0, 1)?, ())), 0)?;
            }
            x.async_unit().try_cancel(0..1 + (how & 1) as u32, 32, 64)?;
            Some(Next::Go(if how & 2 != 0 { 3 } else { 1 }))
        }
        // reads the peer's memory
        1 => {
            x.warp(0);
            x.read(AddrSpace::SharedCluster, 0x41 << 24, 4, 0)?;
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn exited_ctas_have_no_memory() {
    // who is first depends on the seed
    let seen = |how: u32| {
        let of =
            |seed| launch::<Careless, _>(&Host::new().seed(seed), Launch::grid(2).cluster(2), &mut [slice(&[how])]);
        let faults = (0..40).filter_map(|seed| of(seed).err()?.fault().map(|f| f.kind.clone()));
        faults.fold(Vec::new(), |mut kinds, k| {
            if !kinds.contains(&k) {
                kinds.push(k);
            }
            kinds
        })
    };
    assert!(seen(0).contains(&FaultKind::ExitedCta { rank: 1 }));
    let multicast = seen(1);
    assert!(multicast.contains(&FaultKind::MulticastExitedCta { rank: 1 }), "{multicast:?}");
    // nobody waits for the response
    assert_eq!(seen(2), [FaultKind::MulticastExitedCta { rank: 0 }]);
}

// thread 0 makes an mbarrier object for one arrival that never comes
kernel!(Forever, INFO, |x, pc, ws| {
    match pc {
        0 => {
            x.warp(0);
            x.sync().mbarrier(0, 64, |_| Ok((mbarrier::init(Layout::V0, 1)?, ())), 0)?;
            Some(Next::Go(1))
        }
        1 => {
            for k in 0..ws.len() {
                x.warp(k);
                x.site = 1;
                let (done, flow) = await_phase(x)?;
                x.flow(flow, 1, if done { 3 } else { 1 });
            }
            None
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn deadlock_at_an_mbarrier() {
    for host in seeds() {
        let error = run::<Forever>(&host, Launch::grid(1).block(64), &mut [0]).unwrap_err();
        let text = error.to_string();
        for part in [
            "threads 0 to 63",
            "try_wait",
            "mbarrier 0x40",
            "the phase is incomplete",
            "pending count 1 of 1",
            "tx-count 0",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}

#[test]
fn a_deadlock_of_many_warps_is_found_soon() {
    // a seed divides the warps of each CTA in another way each time
    let launch = Launch::grid(16).block(1024).step_limit(100_000);
    for host in seeds() {
        assert!(matches!(kind(run::<Forever>(&host, launch.clone(), &mut [0])), FaultKind::Deadlock { .. }));
    }
}

// the first warp waits for a phase that nothing touches, the second for one of whose two arrivals one has come
kernel!(HalfArrived, INFO, |x, pc, ws| {
    match pc {
        0 => {
            x.warp(0);
            x.sync().mbarrier(0, 64, |_| Ok((mbarrier::init(Layout::V0, 1)?, ())), 0)?;
            x.sync().mbarrier(0, 72, |_| Ok((mbarrier::init(Layout::V0, 2)?, ())), 0)?;
            x.sync().mbarrier(0, 72, |s| Ok((mbarrier::arrive(s, 1, mbarrier::Arrive::default())?.0, ())), 0)?;
            Some(Next::Go(1))
        }
        1 => {
            for k in 0..ws.len() {
                x.warp(k);
                let (site, offset) = if x.warp == 0 { (0, 64) } else { (1, 72) };
                x.site = site;
                let done = x.sync().mbarrier(0, offset, |s| Ok((s, mbarrier::passed(s, 0)?)), 0)?;
                let wait = Flow::Wait(Wait::Mbarrier(vec![(0, offset, 0)]));
                let flow = if done || x.resumed() { Flow::Next } else { wait };
                x.flow(flow, 1, if done { 3 } else { 1 });
            }
            None
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn the_place_of_a_deadlock_is_the_most_telling_wait() {
    for host in seeds() {
        let error = run::<HalfArrived>(&host, Launch::grid(1).block(64), &mut [0]).unwrap_err();
        let fault = error.fault().unwrap();
        assert_eq!(fault.at.as_ref().map(|at| at.line), Some(9), "{fault}");
        assert!(fault.to_string().contains("thread (32, 0, 0)"), "{fault}");
    }
}
