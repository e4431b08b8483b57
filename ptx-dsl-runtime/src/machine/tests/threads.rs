//! Several threads, small enough for Miri.

use super::*;

const N: usize = if cfg!(miri) { 3 } else { 60 };
const THREADS: &[usize] = if cfg!(miri) { &[1, 2] } else { &[1, 2, 5] };

// counts all threads, and stores and loads what others store and load too: rows, lanes, and elements of other sizes
kernel!(Racy, INFO, |x, pc, ws| {
    match pc {
        0 => {
            let _ = &ws;
            let m = x.warp(0);
            let [base, ..] = x.read(AddrSpace::ParamEntry, 0, 8, 0)?;
            for l in active(m) {
                x.stores().update(AddrSpace::Global, base, 4, 4, l as u32, |[v, ..]| [v + 1, 0, 0, 0])?;
            }
            x.loads().fence();
            let (space, mut wide) = (AddrSpace::Global, [0u64; 32]);
            let addr: [u64; 32] = std::array::from_fn(|l| base + 64 + (l as u64 * 40) % 128 / 8 * 8);
            for mask in [u32::MAX, 0x00ff_f00f] {
                let q = crate::numerics::qual::Q::new(
                    &[crate::numerics::qual::q::global],
                    &[crate::numerics::qual::Ty::U32],
                );
                let at = crate::engines::compiled::lanes::addresses([base + 64], 4, 64);
                let mut row = [[0; 128]; 1];
                crate::engines::compiled::lanes::slow_stretch::<u32, 1, 128>(
                    x,
                    q,
                    mask,
                    &at,
                    64,
                    false,
                    &[(0, 0)],
                    &mut row,
                )?;
                assert!(x.stores().store_rows(
                    0,
                    space,
                    mask,
                    [base + 68],
                    &crate::engines::compiled::lanes::rows::<u32, 1, 128>(row.each_ref(), 0)
                ));
                let q = crate::numerics::qual::Q::new(
                    &[crate::numerics::qual::q::global],
                    &[crate::numerics::qual::Ty::U64],
                );
                let at = crate::engines::compiled::lanes::addresses([base + 64, base + 72], 8, 64);
                let mut rows = [[0; 128]; 2];
                crate::engines::compiled::lanes::slow_stretch::<u64, 2, 128>(
                    x,
                    q,
                    mask,
                    &at,
                    64,
                    false,
                    &[(0, 0)],
                    &mut rows,
                )?;
                wide = crate::engines::compiled::lanes::rows(rows.each_ref(), 0);
                assert!(x.stores().store_rows(0, space, mask, [base + 72, base + 64], &wide));
            }
            let q =
                crate::numerics::qual::Q::new(&[crate::numerics::qual::q::global], &[crate::numerics::qual::Ty::U64]);
            crate::engines::compiled::lanes::slow_load(x, q, m, &addr, [&mut wide])?;
            crate::engines::compiled::lanes::slow_store(x, q, m, &addr, [&wide])?;
            for l in 0..8 {
                let [v, ..] = x.read(space, base + 64 + l, 1, 0)?;
                x.write(space, base + 80 + l, 1, [v, 0, 0, 0], 0)?;
                let v = x.read(space, base + 64 + 16 * (l % 2), 16, 0)?;
                x.write(space, base + 96, 16, v, 0)?;
            }
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn threads_race_and_no_more() {
    for &n in THREADS {
        for skip in [0, 1] {
            let mut v = vec![7; 128];
            let host = Host::new().threads(n).resident_clusters(4);
            let buffer = &mut v[skip..120];
            buffer[0] = 0;
            let report = run::<Racy>(&host, Launch::grid(N as u32).block(32), buffer).unwrap();
            assert_eq!((v[skip], report.clusters_launched), (32 * N as u32, N as u64));
            assert!(v[120..].iter().all(|&v| v == 7) && v[..skip].iter().all(|&v| v == 7));
        }
    }
}

#[test]
fn threads_share_the_clusters() {
    for &n in THREADS {
        let mut v = vec![0; N * 64];
        run::<Mirror>(&Host::new().threads(n), Launch::grid(N as u32).block(64), &mut v).unwrap();
        for (i, v) in v.iter().enumerate() {
            assert_eq!(*v, 63 - i as u32 % 64);
        }
        let mut v = vec![0; 2 * N];
        let report = run::<Ask>(&Host::new().threads(n), Launch::grid(2 * N as u32).block(32), &mut v).unwrap();
        assert_eq!(report.clusters_launched + report.clusters_cancelled, 2 * N as u64);
        assert_eq!(v.iter().filter(|&&n| n == 3).count() as u64, report.clusters_launched);
    }
}

// waits for a barrier that not all threads come to
kernel!(Torn, INFO, |x, pc, ws| {
    match pc {
        0 => {
            let _ = &ws;
            let m = x.warp(0);
            let base = if x.ids().ctaid()[0] == 1 { 1 } else { 3 };
            x.branch(m, base);
            None
        }
        1 => {
            x.warp(0);
            let f = wait_here(x, 0, Some(64))?;
            x.flow(f, 1, 3);
            None
        }
        _ => Some(Next::Exit),
    }
});

#[test]
fn threads_end_with_one_fault() {
    for &n in THREADS {
        let error = run::<Torn>(&Host::new().threads(n), Launch::grid(6).block(32), &mut [0]).unwrap_err();
        let fault = error.fault().unwrap();
        assert!(matches!(&fault.kind, FaultKind::Deadlock { waiting } if waiting.len() == 1), "{n} threads: {error}");
        assert_eq!(fault.thread.unwrap().ctaid, [1, 0, 0]);
    }
}
