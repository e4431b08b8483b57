//! Clusters: distributed shared memory, and pending clusters that are cancelled.

use super::*;

// CTA 0 of a pair reads what CTA 1 has stored, and both wait for the end of that
kernel!(Pair, INFO, |x, pc, ws| {
    match pc {
        0 => {
            x.warp(0);
            let v = 100 + x.ids().ctaid()[0] as u64;
            x.write(AddrSpace::SharedCta, 8, 4, [v, 0, 0, 0], 0)?;
            x.sync().cluster_arrive()?;
            Some(Next::Go(1))
        }
        1 | 3 => {
            x.warp(0);
            let f = if x.resumed() { Flow::Next } else { x.sync().cluster_wait()? };
            x.flow(f, pc, pc + 1);
            None
        }
        2 => {
            x.warp(0);
            let peer = x.rank() ^ 1;
            let [v, ..] = x.read(AddrSpace::SharedCluster, ((peer as u64 | 0x40) << 24) + 8, 4, 0)?;
            let at = x.ids().ctaid()[0];
            out(x, 0, at, v as u32)?;
            x.sync().cluster_arrive()?;
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
