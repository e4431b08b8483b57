//! The machine with kernels written by hand in the shape the macro emits.

use crate::api::host::Host;
use crate::api::host::Report;
use crate::api::launch::{
    Arg, CancelHandle, Error, Launch, LaunchError, launch_compiled as launch, scalar, slice, slice_mut,
};
use crate::engines::compiled::{CompiledKernel, Kernel};
use crate::fault::Fault;
use crate::fault::FaultKind;
use crate::kernel::{Flow, KernelInfo, Next, NotYet, ParamInfo, Pc, Site, Wait};
use crate::machine::Ctx;
use crate::memory::address::AddrSpace;
use crate::numerics::lanes::lanes;
use crate::sync::barrier::RedOp;
use crate::sync::mbarrier::{self, Arrive, Layout};

const REGIONS: &[&str] = &["entry", "LOOP", "DONE", "END"];
const SITE: Site = Site { text: "bar.sync 0;", line: 7, rust_line: 70, origin: 0, used_bytes: None };
const BUFFER: ParamInfo = ParamInfo { name: "out", offset: 0, size: 8, align: 8, pointer: Some(4), read_only: false };
const INFO: KernelInfo<'_> = KernelInfo {
    name: "toy",
    file: "toy.rs",
    params: &[BUFFER],
    shared_size: 4096,
    local_size: 8,
    const_image: &[1, 2, 3, 4],
    target: "sm_90",
    of_file: false,
    source: "",
    origins: crate::kernel::Origins::NONE,
    sites: &[
        SITE,
        Site { text: "mbarrier.try_wait.b64 p, [mb], st;", line: 9, rust_line: 0, origin: 0, used_bytes: None },
    ],
    ..KernelInfo::NONE
};

/// Registers of the toys.
#[derive(Default, Clone, PartialEq)]
struct Regs {
    a: [u32; 32],
    b: [u32; 32],
}

macro_rules! kernel {
    ($name:ident, $info:expr, |$x:ident, $pc:ident, $ws:ident| $arms:expr) => {
        struct $name;
        impl Kernel for $name {
            const INFO: &'static KernelInfo<'_> = &$info;
        }
        impl CompiledKernel for $name {
            type Warp = Regs;
            const REGIONS: &'static [&'static str] = REGIONS;
            fn step($x: &mut Ctx<'_>, mut $pc: Pc, $ws: &mut [Regs]) -> Result<Next, Box<Fault>> {
                loop {
                    $x.turn($pc)?;
                    let next: Option<Next> = $arms;
                    $pc = match next {
                        Some(Next::Go(pc)) => pc,
                        Some(end) => return Ok(end),
                        None => match $x.go() {
                            Some(pc) => pc,
                            None => return Ok(Next::Split),
                        },
                    };
                    if $x.diverged() {
                        return Ok(Next::Go($pc));
                    }
                }
            }
        }
    };
}

fn out(x: &mut Ctx<'_>, lane: usize, index: u32, value: u32) -> Result<(), Box<Fault>> {
    let [base, ..] = x.read(AddrSpace::ParamEntry, 0, 8, lane as u32)?;
    x.write(AddrSpace::Global, base + 4 * index as u64, 4, [value as u64, 0, 0, 0], lane as u32)
}

fn active(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |l| mask >> l & 1 != 0)
}

/// Number of the thread in its CTA.
fn thread(x: &Ctx<'_>, lane: usize) -> u32 {
    x.warp * 32 + lane as u32
}

fn run<K: Kernel + CompiledKernel>(host: &Host, l: Launch, out: &mut [u32]) -> Result<Report, Error> {
    launch::<K, _>(host, l, &mut [slice_mut(out)])
}

fn kind(r: Result<Report, Error>) -> FaultKind {
    match r {
        Err(Error::Fault(f)) => f.kind,
        other => panic!("no fault: {other:?}"),
    }
}

fn seeds() -> impl Iterator<Item = Host> {
    [Host::new()].into_iter().chain((0..12).map(|n| Host::new().seed(n)))
}

fn wait_here(x: &mut Ctx<'_>, id: u32, count: Option<u32>) -> Result<Flow, Box<Fault>> {
    if x.resumed() { Ok(Flow::Next) } else { x.barrier_arrive(id, count, true, None).map(Flow::Wait) }
}

// every thread stores its number, all meet, every thread reads the number of its mirror image
kernel!(Mirror, INFO, |x, pc, ws| {
    match pc {
        0 => {
            for k in 0..ws.len() {
                let m = x.warp(k);
                for l in active(m) {
                    let t = thread(x, l);
                    x.write(AddrSpace::SharedCta, 4 * t as u64, 4, [t as u64, 0, 0, 0], l as u32)?;
                }
            }
            Some(Next::Go(1))
        }
        1 => {
            for k in 0..ws.len() {
                x.warp(k);
                x.site = 0;
                let f = wait_here(x, 0, None)?;
                x.flow(f, 1, 2);
            }
            None
        }
        2 => {
            for k in 0..ws.len() {
                let m = x.warp(k);
                for l in active(m) {
                    let n = x.ntid()[0];
                    let t = thread(x, l);
                    let mirror = n - 1 - t;
                    let [v, ..] = x.read(AddrSpace::SharedCta, 4 * mirror as u64, 4, l as u32)?;
                    let at = x.ctaid()[0] * n + t;
                    out(x, l, at, v as u32)?;
                }
            }
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn barrier_of_all_threads() {
    for host in seeds() {
        let mut v = vec![0u32; 5 * 80];
        let report = run::<Mirror>(&host, Launch::grid(5).block(80), &mut v).unwrap();
        let wanted: Vec<u32> = (0..400).map(|i| 79 - i % 80).collect();
        assert_eq!(v, wanted);
        assert_eq!(report.clusters_launched, 5);
    }
    // and the checked host finds nothing to report
    let mut v = vec![0u32; 80];
    launch::<Mirror, _>(&Host::checked(), Launch::grid(1).block(80), &mut [slice_mut(&mut v)]).unwrap();
    assert_eq!(v[0], 79);
}

// lane l runs the loop l times, then all meet: how many are together at the end?
kernel!(Meet, INFO, |x, pc, ws| {
    match pc {
        0 => {
            for (k, w) in ws.iter_mut().enumerate() {
                lanes(x.warp(k), |l| w.a[l] = l as u32);
            }
            Some(Next::Go(1))
        }
        1 => {
            for (k, w) in ws.iter_mut().enumerate() {
                let m = x.warp(k);
                let again = active(m).filter(|&l| w.a[l] > 0).fold(0, |m, l| m | 1 << l);
                lanes(again, |l| w.a[l] -= 1);
                x.branch(again, 1);
                x.branch(m & !again, 2);
            }
            None
        }
        2 => {
            for k in 0..ws.len() {
                let m = x.warp(k);
                let at = x.warp;
                out(x, m.trailing_zeros() as usize, at, m.count_ones())?;
            }
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn fragments_meet_again() {
    let mut v = vec![0u32; 4];
    run::<Meet>(&Host::new(), Launch::grid(1).block(128), &mut v).unwrap();
    assert_eq!(v, [32; 4]);
}

// lane 0 spins at a low region until another lane of its warp has stored
kernel!(Spin, INFO, |x, pc, ws| {
    match pc {
        0 => {
            let m = x.warp(0);
            x.branch(m & 1, 1);
            x.branch(m & !1, 2);
            None
        }
        1 => {
            let m = x.warp(0);
            let [v, ..] = x.read(AddrSpace::SharedCta, 0, 4, 0)?;
            x.branch(m, if v == 0 { 1 } else { 3 });
            None
        }
        2 => {
            x.warp(0);
            x.write(AddrSpace::SharedCta, 0, 4, [1, 0, 0, 0], 1)?;
            let _ = &ws;
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn a_spinning_lane_does_not_starve_its_warp() {
    for host in seeds() {
        run::<Spin>(&host, Launch::grid(1).block(32), &mut [0]).unwrap();
    }
}

// one try at the mbarrier object at 64
fn await_phase(x: &mut Ctx<'_>) -> Result<(bool, Flow), Box<Fault>> {
    let done = x.mbarrier(0, 64, |s| Ok((s, mbarrier::passed(s, 0)?)), 0)?;
    let flow = if done || x.resumed() { Flow::Next } else { Flow::Wait(Wait::Mbarrier(vec![(0, 64, 0)])) };
    Ok((done, flow))
}

// the same, but gives up after three tries
kernel!(GiveUp, INFO, |x, pc, ws| {
    match pc {
        0 => {
            x.warp(0);
            x.mbarrier(0, 64, |_| Ok((mbarrier::init(Layout::V0, 1)?, ())), 0)?;
            Some(Next::Go(1))
        }
        1 => {
            let m = x.warp(0);
            let (done, flow) = await_phase(x)?;
            if flow == Flow::Next && !done {
                lanes(m, |l| ws[0].a[l] += 1);
            }
            let enough = ws[0].a[0] == 3;
            x.flow(flow, 1, if done || enough { 2 } else { 1 });
            None
        }
        2 => {
            x.warp(0);
            out(x, 0, 0, ws[0].a[0])?;
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn who_counts_tries_can_give_up() {
    let mut v = [0];
    run::<GiveUp>(&Host::new(), Launch::grid(1).block(32), &mut v).unwrap();
    assert_eq!(v, [3]);
}

// warp 1 arrives for warp 0
kernel!(Signal, INFO, |x, pc, ws| {
    match pc {
        0 => {
            for k in 0..ws.len() {
                let m = x.warp(k);
                if x.warp == 0 {
                    x.mbarrier(0, 64, |_| Ok((mbarrier::init(Layout::V0, 1)?, ())), 0)?;
                }
                x.branch(m, 1);
            }
            None
        }
        1 => {
            for k in 0..ws.len() {
                x.warp(k);
                let f = wait_here(x, 0, None)?;
                let to = if x.warp == 0 { 2 } else { 3 };
                x.flow(f, 1, to);
            }
            None
        }
        2 => {
            x.warp(0);
            let (done, flow) = await_phase(x)?;
            x.flow(flow, 2, if done { 4 } else { 2 });
            None
        }
        3 => {
            x.warp(0);
            let how = Arrive { drop: false, no_complete: false, expect_tx: None };
            x.mbarrier(0, 64, |s| mbarrier::arrive(s, 1, how), 0)?;
            Some(Next::Go(5))
        }
        4 => {
            x.warp(0);
            out(x, 0, 0, 1)?;
            Some(Next::Go(5))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn an_arrival_wakes() {
    for host in seeds() {
        let mut v = [0];
        run::<Signal>(&host, Launch::grid(1).block(64), &mut v).unwrap();
        assert_eq!(v, [1]);
    }
}

// both halves of a warp come to a rendezvous on different ways, and go on together
kernel!(Halves, INFO, |x, pc, ws| {
    match pc {
        0 => {
            let m = x.warp(0);
            x.branch(m & 0xffff, 1);
            x.branch(m & !0xffff, 2);
            None
        }
        1 => Some(Next::Go(3)),
        2 => Some(Next::Go(3)),
        3 => {
            x.warp(0);
            let wait = if x.resumed() { None } else { x.warp_rendezvous(u32::MAX) };
            x.flow(wait.map_or(Flow::Next, Flow::Wait), 3, 4);
            None
        }
        4 => {
            let m = x.warp(0);
            let _ = &ws;
            out(x, m.trailing_zeros() as usize, 0, m)?;
            Some(Next::Go(5))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn a_rendezvous_brings_a_warp_together() {
    for host in seeds() {
        let mut v = [0];
        run::<Halves>(&host, Launch::grid(1).block(32), &mut v).unwrap();
        assert_eq!(v, [u32::MAX]);
    }
}

// popc of the odd threads
kernel!(Popc, INFO, |x, pc, ws| {
    match pc {
        0 => {
            for (k, w) in ws.iter_mut().enumerate() {
                let m = x.warp(k);
                let f = if x.resumed() {
                    lanes(m, |l| w.b[l] = x.barrier_result() as u32);
                    Flow::Next
                } else {
                    Flow::Wait(x.barrier_arrive(3, None, true, Some((RedOp::Popc, m & 0xaaaa_aaaa)))?)
                };
                x.flow(f, 0, 1);
            }
            None
        }
        1 => {
            for (k, w) in ws.iter().enumerate() {
                for l in active(x.warp(k)) {
                    let t = thread(x, l);
                    out(x, l, t, w.b[l])?;
                }
            }
            Some(Next::Go(2))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn reduction_at_a_barrier() {
    for host in seeds() {
        let mut v = [0; 70];
        run::<Popc>(&host, Launch::grid(1).block(70), &mut v).unwrap();
        assert_eq!(v, [35; 70]);
    }
}

// CTA 0 of a pair reads what CTA 1 has stored, and both wait for the end of that
kernel!(Pair, INFO, |x, pc, ws| {
    match pc {
        0 => {
            x.warp(0);
            let v = 100 + x.ctaid()[0] as u64;
            x.write(AddrSpace::SharedCta, 8, 4, [v, 0, 0, 0], 0)?;
            x.cluster_arrive()?;
            Some(Next::Go(1))
        }
        1 | 3 => {
            x.warp(0);
            let f = if x.resumed() { Flow::Next } else { x.cluster_wait()? };
            x.flow(f, pc, pc + 1);
            None
        }
        2 => {
            x.warp(0);
            let peer = x.rank() ^ 1;
            let [v, ..] = x.read(AddrSpace::SharedCluster, ((peer as u64 | 0x40) << 24) + 8, 4, 0)?;
            let at = x.ctaid()[0];
            out(x, 0, at, v as u32)?;
            x.cluster_arrive()?;
            let _ = &ws;
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn distributed_shared_memory() {
    for host in seeds() {
        let mut v = [0; 6];
        let report = run::<Pair>(&host, Launch::grid(6).block(32).cluster(2), &mut v).unwrap();
        assert_eq!(v, [101, 100, 103, 102, 105, 104]);
        assert_eq!(report.clusters_launched, 3);
    }
    // alone in its cluster there is no peer
    let alone = kind(run::<Pair>(&Host::new(), Launch::grid(6).block(32), &mut [0; 6]));
    assert_eq!(alone, FaultKind::NoSuchRank { rank: 1, size: 1 });
}

// asks for another cluster once; stores what stood there right after, and whether something came
kernel!(Ask, INFO, |x, pc, ws| {
    match pc {
        0 => {
            x.warp(0);
            x.mbarrier(0, 64, |_| Ok((mbarrier::expect_tx(mbarrier::init(Layout::V0, 1)?, 16)?.0, ())), 0)?;
            let how = Arrive { drop: false, no_complete: false, expect_tx: None };
            x.mbarrier(0, 64, |s| mbarrier::arrive(s, 1, how), 0)?;
            x.write(AddrSpace::SharedCta, 32, 8, [!0, 0, 0, 0], 0)?;
            x.try_cancel(0..1, 32, 64)?;
            let [early, ..] = x.read(AddrSpace::SharedCta, 32, 8, 0)?;
            ws[0].a[0] = (early == !0) as u32;
            Some(Next::Go(1))
        }
        1 => {
            x.warp(0);
            let (done, flow) = await_phase(x)?;
            x.flow(flow, 1, if done { 2 } else { 1 });
            None
        }
        2 => {
            x.warp(0);
            let [late, ..] = x.read(AddrSpace::SharedCta, 32, 8, 0)?;
            let at = x.ctaid()[0];
            out(x, 0, at, ws[0].a[0] + 2 * (late != !0) as u32)?;
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn pending_clusters_are_cancelled_once() {
    for host in seeds() {
        let mut v = [0; 40];
        let report = run::<Ask>(&host.resident_clusters(4), Launch::grid(40).block(32), &mut v).unwrap();
        assert_eq!(report.clusters_launched + report.clusters_cancelled, 40);
        assert!(report.clusters_cancelled >= 4, "{report:?}");
        // who ran saw the old bytes first and the response later
        assert_eq!(v.iter().filter(|&&n| n == 3).count() as u64, report.clusters_launched);
        assert_eq!(v.iter().filter(|&&n| n == 0).count() as u64, report.clusters_cancelled);
    }
}

#[test]
fn runs_repeat() {
    let go = |host: &Host| {
        let mut v = [0; 40];
        let r = run::<Ask>(host, Launch::grid(40).block(32), &mut v).unwrap();
        (v, r)
    };
    let host = Host::new().resident_clusters(3).record();
    let seeded = host.clone().seed(5);
    let (v, r) = go(&seeded);
    assert_eq!(go(&seeded), (v, r.clone()));
    assert!(!r.schedule.is_empty());
    assert_eq!(go(&host.replay(r.schedule.clone())), (v, r));
}

// a mesh of divergent loops, named barriers and yields: every thread adds up the same numbers whatever the schedule
kernel!(Mesh, INFO, |x, pc, ws| {
    match pc {
        0 => {
            for (k, w) in ws.iter_mut().enumerate() {
                let m = x.warp(k);
                lanes(m, |l| w.a[l] = (l as u32 * 7 + x.warp * 5) % 11);
            }
            Some(Next::Go(1))
        }
        1 => {
            for (k, w) in ws.iter_mut().enumerate() {
                let m = x.warp(k);
                let done = active(m).filter(|&l| w.a[l] == 0).fold(0, |m, l| m | 1 << l);
                let odd = active(m & !done).filter(|&l| w.a[l] & 1 != 0).fold(0, |m, l| m | 1 << l);
                x.branch(m & odd, 2);
                x.branch(m & !odd & !done, 3);
                x.branch(done, 4);
            }
            None
        }
        2 | 3 => {
            for (k, w) in ws.iter_mut().enumerate() {
                let m = x.warp(k);
                lanes(m, |l| {
                    w.b[l] += w.a[l] * pc as u32;
                    w.a[l] -= 1;
                });
                if pc == 3 {
                    x.yield_now();
                }
            }
            Some(Next::Go(1))
        }
        // pairs of warps meet
        4 => {
            for k in 0..ws.len() {
                x.warp(k);
                let id = 1 + x.warp / 2;
                let f = wait_here(x, id, Some(64))?;
                x.flow(f, 4, 5);
            }
            None
        }
        5 => {
            for (k, w) in ws.iter_mut().enumerate() {
                let m = x.warp(k);
                lanes(m, |l| {
                    w.b[l] += 1000;
                    w.a[l] = w.b[l] / 1000 % 4 * 2;
                });
                let again = active(m).filter(|&l| w.b[l] < 3000).fold(0, |m, l| m | 1 << l);
                x.branch(again, 1);
                x.branch(m & !again, 6);
            }
            None
        }
        6 => {
            for (k, w) in ws.iter().enumerate() {
                for l in active(x.warp(k)) {
                    let t = thread(x, l);
                    out(x, l, t, w.b[l])?;
                }
            }
            Some(Next::Go(7))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn any_schedule_gives_the_same() {
    // one thread by itself
    let alone = |t: u32| {
        let (mut a, mut b) = ((t % 32 * 7 + t / 32 * 5) % 11, 0);
        loop {
            while a > 0 {
                b += a * if a & 1 != 0 { 2 } else { 3 };
                a -= 1;
            }
            b += 1000;
            a = b / 1000 % 4 * 2;
            if b >= 3000 {
                return b;
            }
        }
    };
    let wanted: Vec<u32> = (0..512).map(alone).collect();
    for host in seeds() {
        let mut v = vec![0; 512];
        run::<Mesh>(&host, Launch::grid(1).block(512), &mut v).unwrap();
        assert_eq!(v, wanted);
    }
}

mod faults;
mod tensor;
mod tensor_memory;
mod threads;
