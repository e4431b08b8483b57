//! Tests of the warp-wide functions on the machine, with hand-written kernels.
//!
//! A probe has a part that cannot wait, then one instruction that may; what is in the first two registers of each
//! thread then is the result.

use super::clusterlaunchcontrol as clc;
use super::*;
use crate::api::launch::{Error, Launch, launch_compiled as launch, slice_mut};
use crate::engines::compiled::{CompiledKernel, Kernel};
use crate::kernel::{Flow, KernelInfo, Next, ParamInfo, Pc, Site};
use crate::numerics::qual::q;
use crate::sync::cluster_launch::encode;
/// The numbers of the windows of local and shared memory.
const LOCAL: u64 = 2;
const SHARED: u64 = 1;

use crate::api::host::Host;
use crate::api::host::Report;
use crate::numerics::qual::Ty;

const OUT: ParamInfo = ParamInfo { name: "out", offset: 0, size: 8, align: 8, pointer: Some(8), read_only: false };
const INFO: KernelInfo<'_> = KernelInfo {
    name: "probe",
    file: "probe.rs",
    params: &[OUT],
    shared_size: 1024,
    local_size: 32,
    const_image: &[0xfe, 2, 3, 4],
    global_image: &[0; 64],
    target: "sm_100",
    of_file: false,
    source: "",
    origins: crate::kernel::Origins::NONE,
    sites: &[Site { text: "probe;", line: 1, rust_line: 0, origin: 0, used_bytes: None }],
    ..KernelInfo::NONE
};
/// The first module variable.
const GLOBAL: u64 = 1 << 40;

#[derive(Default, Clone, PartialEq)]
struct Regs([Lanes; 4]);

macro_rules! probe {
    ($name:ident, |$x:ident, $r:ident| $before:block, $wait:expr) => {
        struct $name;
        impl Kernel for $name {
            const INFO: &'static KernelInfo<'_> = &INFO;
        }
        impl CompiledKernel for $name {
            type Warp = Regs;
            fn step($x: &mut Ctx<'_>, mut pc: Pc, ws: &mut [Regs]) -> Result<Next, Box<Fault>> {
                loop {
                    $x.budget().turn(pc)?;
                    let n = ws.len();
                    pc = match pc {
                        0 => {
                            for k in 0..n {
                                let m = $x.warp(k);
                                #[allow(unused_variables)]
                                let Regs($r) = &mut ws[k];
                                $before
                                $x.mask = m;
                            }
                            1
                        }
                        1 => {
                            for k in 0..n {
                                $x.warp(k);
                                #[allow(unused_variables)]
                                let Regs($r) = &mut ws[k];
                                let f: Flow = $wait;
                                $x.flow(f, 1, 2);
                            }
                            match $x.go() {
                                Some(pc) => pc,
                                None => return Ok(Next::Split),
                            }
                        }
                        2 => {
                            for k in 0..n {
                                $x.warp(k);
                                results($x, &ws[k])?;
                            }
                            3
                        }
                        _ => return Ok(Next::Exit),
                    };
                    if $x.diverged() {
                        return Ok(Next::Go(pc));
                    }
                }
            }
        }
    };
}

fn results(x: &mut Ctx<'_>, Regs(r): &Regs) -> Done {
    let ([base, ..], [n, ..], [cta, ..]) = (x.read(AddrSpace::ParamEntry, 0, 8, 0)?, x.ids().ntid(), x.ids().ctaid());
    for l in active(x.mask) {
        let at = base + 16 * u64::from(cta * n + x.warp * 32 + l as u32);
        x.write(AddrSpace::Global, at, 16, [r[0][l], r[1][l], 0, 0], l as u32)?;
    }
    Ok(())
}

fn run<K: Kernel + CompiledKernel>(l: Launch, threads: usize) -> Result<(Vec<[u64; 2]>, Report), Error> {
    let mut out = vec![0u64; 2 * threads];
    let report = launch::<K, _>(&Host::new(), l, &mut [slice_mut(&mut out)])?;
    Ok((out.chunks(2).map(|c| [c[0], c[1]]).collect(), report))
}

/// Runs one warp.
fn warp<K: Kernel + CompiledKernel>() -> Vec<[u64; 2]> {
    run::<K>(Launch::grid(1).block(32), 32).unwrap().0
}

fn fault<K: Kernel + CompiledKernel>(l: Launch) -> FaultKind {
    match run::<K>(l, 256) {
        Err(Error::Fault(f)) => f.kind,
        other => panic!("no fault: {other:?}"),
    }
}

fn by(f: impl Fn(u64) -> u64) -> Lanes {
    std::array::from_fn(|l| f(l as u64))
}

fn qs(flags: &[crate::numerics::qual::Qualifier], ty: Ty) -> Q {
    Q::new(flags, &[ty])
}

probe!(
    Memory,
    |x, r| {
        let at = by(|l| 16 * l);
        let words: [Lanes; 4] = [by(|l| l), by(|_| 0x80), by(|_| 0xffff_8000), by(|l| l << 40 | 7)];
        let [a, b, c, d] = &words;
        ld_st::st(x, qs(&[q::shared, q::v4], Ty::U32), &[&at, a, b, c, d], &mut [])?;
        let [r0, r1, r2, r3] = r;
        // the same bytes through a generic address, as two halves
        let mut generic = [0; 32];
        address::cvta(x, qs(&[q::shared], Ty::U64), &[&at], &mut [&mut generic])?;
        ld_st::ld(x, qs(&[], Ty::B128), &[&generic], &mut [r0, r1])?;
        ld_st::ld(x, qs(&[q::shared_cta], Ty::S8), &[&by(|l| 16 * l + 4)], &mut [r2])?;
        ld_st::ld(x, qs(&[q::_const], Ty::S8), &[&by(|_| 0)], &mut [r3])?;
        for l in 0..32 {
            assert_eq!((r2[l] as i64, r3[l] as i64), (-128, -2));
        }
    },
    Flow::Next
);

#[test]
fn loads_see_stores() {
    for (l, r) in warp::<Memory>().into_iter().enumerate() {
        assert_eq!(r, [0x80 << 32 | l as u64, 7 << 32 | 0xffff_8000], "lane {l}");
    }
}

probe!(
    Misaligned,
    |x, r| {
        let [r0, r1, _, _] = r;
        ld_st::ld(x, qs(&[q::shared, q::v2], Ty::U32), &[&by(|l| 4 * l)], &mut [r0, r1])?;
    },
    Flow::Next
);
probe!(
    AtomLocal,
    |x, r| {
        atom::atom(x, qs(&[q::add], Ty::U32), &[&by(|_| LOCAL << 56), &by(|_| 1)], &mut [&mut r[0]])?;
    },
    Flow::Next
);
probe!(
    Atomics,
    |x, r| {
        let [r0, r1, _, _] = r;
        atom::atom(x, qs(&[q::global, q::add], Ty::U32), &[&by(|_| GLOBAL), &by(|l| l)], &mut [r0])?;
        atom::red(x, qs(&[q::inc], Ty::U32), &[&by(|_| GLOBAL + 8), &by(|_| 4)], &mut [])?;
        ld_st::ld(x, qs(&[q::global], Ty::U64), &[&by(|_| GLOBAL + 8)], &mut [r1])?;
        let (mut low, mut high) = ([0; 32], [0; 32]);
        let (at, zero, one) = (by(|_| 64), by(|_| 0), by(|_| 1));
        let cas = qs(&[q::shared, q::cas], Ty::B128);
        atom::atom(x, cas, &[&at, &zero, &zero, &by(|l| l + 5), &one], &mut [&mut low, &mut high])?;
        assert_eq!((low[0], high[0], low[1], high[1], low[31]), (0, 0, 5, 1, 5), "the first wins");
    },
    Flow::Next
);

#[test]
fn atomics_go_lane_by_lane() {
    for (l, [old, wrapped]) in warp::<Atomics>().into_iter().enumerate() {
        assert_eq!(old, (l * l.saturating_sub(1) / 2) as u64);
        assert_eq!(wrapped, 32 % 5);
    }
    assert!(matches!(fault::<AtomLocal>(Launch::grid(1).block(32)), FaultKind::WrongWindow { .. }));
    assert_eq!(
        fault::<Misaligned>(Launch::grid(1).block(32)),
        FaultKind::Misaligned { space: "shared", addr: 4, align: 8 }
    );
}

probe!(
    Phases,
    |x, r| {
        let (all, at) = (x.mask, by(|_| 8));
        x.mask = 1;
        mbarrier::mbarrier_init(x, qs(&[q::shared], Ty::B64), &[&at, &by(|_| 32)], &mut [])?;
        x.mask = all;
        mbarrier::mbarrier_arrive(x, qs(&[q::shared], Ty::B64), &[&at], &mut [&mut r[1]])?;
        let mut pending = [0; 32];
        mbarrier::mbarrier_pending_count(x, qs(&[], Ty::B64), &[&r[1]], &mut [&mut pending])?;
        assert_eq!(pending, by(|l| 32 - l));
        let mut earlier = [0; 32];
        mbarrier::mbarrier_test_wait(
            x,
            qs(&[q::shared, q::parity], Ty::B64),
            &[&at, &by(|l| l & 1)],
            &mut [&mut earlier],
        )?;
        assert_eq!(earlier, by(|l| 1 - (l & 1)));
    },
    {
        let state = r[1];
        mbarrier::mbarrier_try_wait(x, qs(&[q::shared], Ty::B64), &[&by(|_| 8), &state], &mut [&mut r[0]])?
    }
);
probe!(
    NoInit,
    |x, r| {
        mbarrier::mbarrier_arrive(x, qs(&[q::shared], Ty::B64), &[&by(|_| 8)], &mut [&mut r[0]])?;
    },
    Flow::Next
);
probe!(
    Invalidated,
    |x, r| {
        let at = by(|l| 8 * l);
        mbarrier::mbarrier_init(x, qs(&[q::shared], Ty::B64), &[&at, &by(|_| 1)], &mut [])?;
        mbarrier::mbarrier_inval(x, qs(&[q::shared], Ty::B64), &[&at], &mut [])?;
        mbarrier::mbarrier_arrive(x, qs(&[], Ty::B64), &[&by(|l| (SHARED << 56) | (8 * l))], &mut [&mut r[0]])?;
    },
    Flow::Next
);

#[test]
fn mbarrier_objects() {
    assert!(warp::<Phases>().iter().all(|r| r[0] == 1));
    let one = Launch::grid(1).block(32);
    assert_eq!(fault::<NoInit>(one.clone()), FaultKind::MbarrierNotLive { offset: 8 });
    assert_eq!(fault::<Invalidated>(one), FaultKind::MbarrierNotLive { offset: 0 });
}

probe!(Exchange, |x, r| {}, {
    let [r0, r1, _, _] = r;
    let (a, b, c, all) = (by(|l| 100 + l), by(|_| 1), by(|_| 31), by(|_| 0xffff_ffff));
    warp::shfl_sync(x, qs(&[q::down], Ty::B32), &[&a, &b, &c, &all], &mut [r0, r1])?
});
probe!(Elect, |x, r| {}, {
    let [r0, r1, _, _] = r;
    let halves = by(|l| if l < 16 { 0xffff } else { 0xffff_0000 });
    warp::elect_sync(x, Q::new(&[], &[]), &[&halves], &mut [r0, r1])?
});
probe!(Match, |x, r| {}, {
    let [r0, r1, _, _] = r;
    let q = qs(&[q::any, q::sync], Ty::B32);
    warp::match_(x, q, &[&by(|l| l % 3), &by(|_| 0xffff_ffff)], &mut [r0, r1])?
});
probe!(
    Outside,
    |x, r| {},
    warp::vote_sync(x, qs(&[q::ballot], Ty::B32), &[&by(|_| 1), &by(|_| 0xfffe)], &mut [&mut r[0]])?
);

#[test]
fn warps_exchange() {
    let down: Vec<[u64; 2]> = (0..32).map(|l| if l < 31 { [101 + l, 1] } else { [131, 0] }).collect();
    assert_eq!(warp::<Exchange>(), down);
    let elect: Vec<[u64; 2]> = (0..32).map(|l| [l / 16 * 16, u64::from(l % 16 == 0)]).collect();
    assert_eq!(warp::<Elect>(), elect);
    // every third lane: 0, 3, .. 30 and 1, 4, .. 31 and 2, 5, .. 29
    for (l, [same, _]) in warp::<Match>().into_iter().enumerate() {
        assert_eq!(same, [0x4924_9249, 0x9249_2492, 0x2492_4924][l % 3]);
    }
    let FaultKind::Members { what } = fault::<Outside>(Launch::grid(1).block(32)) else { panic!() };
    assert!(what.starts_with("lane 0 executes `vote.sync`"), "{what}");
}

probe!(
    Popc,
    |x, r| {},
    bar::bar_red(x, qs(&[q::popc], Ty::U32), &[&by(|_| 3), &by(|_| 64), &by(|l| l & 1)], &mut [&mut r[0]])?
);
probe!(Number, |x, r| {}, bar::bar_sync(x, Q::new(&[], &[]), &[&by(|_| 16)], &mut [])?);
probe!(Count, |x, r| {}, bar::barrier_sync(x, Q::new(&[], &[]), &[&by(|_| 1), &by(|_| 33)], &mut [])?);
probe!(Differ, |x, r| {}, bar::bar_sync(x, Q::new(&[], &[]), &[&by(|l| l / 31)], &mut [])?);

#[test]
fn barriers() {
    let (v, _) = run::<Popc>(Launch::grid(2).block(64), 128).unwrap();
    assert!(v.iter().all(|r| r[0] == 32));
    let one = || Launch::grid(1).block(32);
    assert!(matches!(fault::<Number>(one()), FaultKind::Barrier { id: 16, .. }));
    assert!(matches!(fault::<Count>(one()), FaultKind::Barrier { id: 1, .. }));
    assert!(matches!(fault::<Differ>(one()), FaultKind::Undefined { .. }));
}

// every CTA of a cluster of two arrives on the object of the other
probe!(
    Peers,
    |x, r| {
        let (all, at, q64) = (x.mask, by(|_| 0), qs(&[q::shared], Ty::B64));
        x.mask = 1;
        mbarrier::mbarrier_init(x, q64, &[&at, &by(|_| 1)], &mut [])?;
        x.mask = all;
        bar::barrier_cluster_arrive(x, Q::new(&[], &[]), &[], &mut [])?;
    },
    {
        // r[3]: has this CTA arrived on its peer? It stays until the peer has, too.
        let f = bar::barrier_cluster_wait(x, Q::new(&[], &[]), &[], &mut [])?;
        if f == Flow::Next && r[3][0] == 0 {
            let all = x.mask;
            let (mut peer, rank) = ([0; 32], u64::from(1 - x.rank()));
            address::mapa(x, qs(&[], Ty::U64), &[&by(|_| SHARED << 56), &by(|_| rank)], &mut [&mut peer])?;
            address::getctarank(x, qs(&[], Ty::U64), &[&peer], &mut [&mut r[0]])?;
            x.mask = 1;
            mbarrier::mbarrier_arrive(x, qs(&[q::release, q::cluster], Ty::B64), &[&peer], &mut [&mut r[1]])?;
            x.mask = all;
            r[3][0] = 1;
            bar::barrier_cluster_arrive(x, Q::new(&[], &[]), &[], &mut [])?;
            x.sync().cluster_wait()?
        } else {
            if f == Flow::Next {
                let mut done = [0; 32];
                let wait = qs(&[q::shared, q::parity], Ty::B64);
                mbarrier::mbarrier_test_wait(x, wait, &[&by(|_| 0), &by(|_| 0)], &mut [&mut done])?;
                assert_eq!(done, [1; 32], "the peer's arrival completed the phase");
            }
            f
        }
    }
);
probe!(
    WrongRank,
    |x, r| {
        let mut peer = [0; 32];
        address::mapa(x, qs(&[q::shared_cluster], Ty::U32), &[&by(|_| 0), &by(|_| 2)], &mut [&mut peer])?;
        ld_st::ld(x, qs(&[q::shared_cluster], Ty::U32), &[&peer], &mut [&mut r[0]])?;
    },
    Flow::Next
);

#[test]
fn clusters() {
    let (v, _) = run::<Peers>(Launch::grid(4).block(32).cluster(2), 128).unwrap();
    for (t, r) in v.iter().enumerate() {
        assert_eq!(*r, [1 - t as u64 / 32 % 2, 0], "a remote arrive returns no state");
    }
    let two = Launch::grid(2).block(32).cluster(2);
    assert_eq!(fault::<WrongRank>(two), FaultKind::NoSuchRank { rank: 2, size: 2 });
}

// one lane asks, all wait for the response, which is a failure where no cluster is pending
probe!(
    Ask,
    |x, r| {
        let (all, at) = (x.mask, by(|_| 16));
        x.mask = 1;
        mbarrier::mbarrier_init(x, qs(&[q::shared], Ty::B64), &[&by(|_| 0), &by(|_| 1)], &mut [])?;
        mbarrier::mbarrier_arrive(x, qs(&[q::shared, q::expect_tx], Ty::B64), &[&by(|_| 0), &at], &mut [&mut r[0]])?;
        let (to, object) = (by(|_| (SHARED << 56) | 16), by(|_| SHARED << 56));
        clc::clusterlaunchcontrol_try_cancel(x, qs(&[], Ty::B128), &[&to, &object], &mut [])?;
        x.mask = all;
    },
    {
        let wait = qs(&[q::shared, q::parity], Ty::B64);
        let f = mbarrier::mbarrier_try_wait(x, wait, &[&by(|_| 0), &by(|_| 0)], &mut [&mut r[2]])?;
        if f == Flow::Next {
            let (mut low, mut high) = ([0; 32], [0; 32]);
            ld_st::ld(x, qs(&[q::shared], Ty::B128), &[&by(|_| 16)], &mut [&mut low, &mut high])?;
            let ask = Q::new(&[q::is_canceled], &[Ty::Pred, Ty::B128]);
            clc::clusterlaunchcontrol_query_cancel(x, ask, &[&low, &high], &mut [&mut r[0]])?;
            if r[0][0] == 1 {
                let first = Q::new(&[q::get_first_ctaid_x], &[Ty::B32, Ty::B128]);
                clc::clusterlaunchcontrol_query_cancel(x, first, &[&low, &high], &mut [&mut r[1]])?;
            }
        }
        f
    }
);
probe!(
    Garbage,
    |x, r| {
        let ask = Q::new(&[q::is_canceled], &[Ty::Pred, Ty::B128]);
        clc::clusterlaunchcontrol_query_cancel(x, ask, &[&by(|_| 0), &by(|_| 0)], &mut [&mut r[0]])?;
    },
    Flow::Next
);
probe!(
    AskAgain,
    |x, r| {
        let [low, high] = encode(None);
        let ask = Q::new(&[q::is_canceled], &[Ty::Pred, Ty::B128]);
        clc::clusterlaunchcontrol_query_cancel(x, ask, &[&by(|_| low), &by(|_| high)], &mut [&mut r[0]])?;
        clc::clusterlaunchcontrol_try_cancel(x, qs(&[q::shared_cta], Ty::B128), &[&by(|_| 16), &by(|_| 0)], &mut [])?;
    },
    Flow::Next
);
probe!(
    FirstOfFailure,
    |x, r| {
        let [low, high] = encode(None);
        let first = Q::new(&[q::get_first_ctaid, q::v4], &[Ty::B32, Ty::B128]);
        let [a, b, c, d] = r;
        clc::clusterlaunchcontrol_query_cancel(x, first, &[&by(|_| low), &by(|_| high)], &mut [a, b, c, d])?;
    },
    Flow::Next
);

#[test]
fn cluster_launch_control() {
    let (v, report) = run::<Ask>(Launch::grid(1000).block(32), 32_000).unwrap();
    assert_eq!(report.clusters_launched + report.clusters_cancelled, 1000);
    assert!(report.clusters_cancelled > 0);
    // each id at most once, and the CTA of a cancelled cluster has not run
    let mut ids: Vec<u64> = v.chunks(32).filter(|c| c[0][0] == 1).map(|c| c[0][1]).collect();
    assert_eq!(ids.len() as u64, report.clusters_cancelled);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len() as u64, report.clusters_cancelled);
    for id in ids {
        assert_eq!(v[id as usize * 32], [0, 0], "CTA {id}");
    }
    let one = || Launch::grid(1).block(32);
    assert!(matches!(fault::<Garbage>(one()), FaultKind::Undefined { .. }));
    assert_eq!(fault::<AskAgain>(one()), FaultKind::TryCancelAfterFailure);
    // undefined, which only a checked host follows
    let (first, _) = run::<FirstOfFailure>(one(), 32).unwrap();
    assert_eq!(first[0], [u64::from(u32::MAX); 2]);
}

probe!(
    Registers,
    |x, r| {
        r[0] = std::array::from_fn(|l| sreg::tid_x(x, l) | sreg::tid_y(x, l) << 16);
        r[1] = std::array::from_fn(|l| {
            assert_eq!([sreg::ntid_x(x, l), sreg::ntid_y(x, l), sreg::ntid_z(x, l)], [8, 8, 1]);
            assert_eq!([sreg::total_smem_size(x, l), sreg::dynamic_smem_size(x, l)], [1024, 0]);
            assert_eq!([sreg::nctaid_x(x, l), sreg::cluster_nctarank(x, l), sreg::nwarpid(x, l)], [1, 1, 2]);
            sreg::warpid(x, l) << 8 | sreg::laneid(x, l)
        });
    },
    Flow::Next
);

#[test]
fn special_registers() {
    let (v, _) = run::<Registers>(Launch::grid(1).block([8, 8]), 64).unwrap();
    for (t, r) in v.into_iter().enumerate() {
        assert_eq!(r, [(t % 8 + t / 8 * 65536) as u64, (t / 32 * 256 + t % 32) as u64]);
    }
}
