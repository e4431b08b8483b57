//! Executions of `barrier.cta`: the operations that meet.

use crate::candidate::Candidate;
use crate::error::{Error, ORDERS};
use crate::event::{Barrier, Kind};
use crate::relation::Relation;

/// Each way in which the barrier operations can meet: from each one to those that wait for it.
pub fn meetings(candidate: &Candidate) -> Result<Vec<Relation>, Error> {
    let n = candidate.events.len();
    let barriers: Vec<_> = (0..n).filter_map(|e| barrier(candidate, e).map(|barrier| (e, barrier))).collect();
    let same = |(e, x): (usize, Barrier), (f, y): (usize, Barrier)| {
        candidate.same_cta.has(e, f) && (x.instance, x.resource, x.threads) == (y.instance, y.resource, y.threads)
    };
    let mut all = Relation::empty(n);
    let mut groups: Vec<Vec<(usize, Barrier)>> = Vec::new();
    for &x in &barriers {
        if x.1.threads.is_some() {
            match groups.iter_mut().find(|group| same(group[0], x)) {
                Some(group) => group.push(x),
                None => groups.push(vec![x]),
            }
            continue;
        }
        barriers.iter().filter(|&&y| x.0 != y.0 && !y.1.arrives && same(x, y)).for_each(|y| all.add(x.0, y.0));
    }
    let mut ways = vec![all];
    for group in groups {
        let threads = group[0].1.threads.unwrap_or(1).max(1) as usize;
        let (blocked, open): (Vec<_>, Vec<_>) = group.into_iter().partition(|(_, barrier)| barrier.blocked);
        if blocked.len() >= threads {
            return Ok(Vec::new());
        }
        let mut partitions = Vec::new();
        partition(candidate, &open, threads, Relation::empty(n), &mut partitions)?;
        if ways.len() * partitions.len() > ORDERS {
            return Err(Error::Orders);
        }
        ways = ways.iter().flat_map(|way| partitions.iter().map(|partition| way.or(partition))).collect();
    }
    Ok(ways)
}

fn barrier(candidate: &Candidate, event: usize) -> Option<Barrier> {
    match candidate.events[event].kind {
        Kind::Barrier(barrier) => Some(barrier),
        _ => None,
    }
}

/// All partitions of the operations into groups of `threads`, each of different threads.
fn partition(
    candidate: &Candidate,
    open: &[(usize, Barrier)],
    threads: usize,
    met: Relation,
    ways: &mut Vec<Relation>,
) -> Result<(), Error> {
    let Some(first) = open.first() else {
        ways.push(met);
        return Ok(());
    };
    if open.len() < threads {
        return Ok(());
    }
    if open.len() > 12 || ways.len() > ORDERS {
        return Err(Error::Orders);
    }
    for mask in 0..1u32 << (open.len() - 1) {
        if mask.count_ones() as usize + 1 != threads {
            continue;
        }
        let (mut group, mut rest) = (vec![*first], Vec::new());
        for (i, &other) in open[1..].iter().enumerate() {
            if mask >> i & 1 == 1 { group.push(other) } else { rest.push(other) }
        }
        let thread = |e: &(usize, Barrier)| candidate.events[e.0].thread;
        let distinct = group.iter().enumerate().all(|(i, x)| group[..i].iter().all(|y| thread(x) != thread(y)));
        if distinct {
            let mut met = met.clone();
            for x in &group {
                group.iter().filter(|y| y.0 != x.0 && !y.1.arrives).for_each(|y| met.add(x.0, y.0));
            }
            partition(candidate, &rest, threads, met, ways)?;
        }
    }
    Ok(())
}
