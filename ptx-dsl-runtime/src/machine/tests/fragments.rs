//! Warps that diverge: fragments, spinning lanes, and any schedule.

use super::*;

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
                    x.scheduling.yield_now();
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
