//! Barriers, mbarrier objects and rendezvous.

use super::*;

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

// one lane tries at the mbarrier object at 64 and gives up after three tries
kernel!(GiveUp, INFO, |x, pc, ws| {
    match pc {
        0 => {
            x.warp(0);
            x.sync().mbarrier(0, 64, |_| Ok((mbarrier::init(Layout::V0, 1)?, ())), 0)?;
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
                    x.sync().mbarrier(0, 64, |_| Ok((mbarrier::init(Layout::V0, 1)?, ())), 0)?;
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
            x.sync().mbarrier(0, 64, |s| mbarrier::arrive(s, 1, how), 0)?;
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
            let wait = if x.resumed() { None } else { x.sync().warp_rendezvous(u32::MAX) };
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
                    lanes(m, |l| w.b[l] = x.sync().barrier_result() as u32);
                    Flow::Next
                } else {
                    Flow::Wait(x.sync().barrier_arrive(3, None, true, Some((RedOp::Popc, m & 0xaaaa_aaaa)))?)
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
