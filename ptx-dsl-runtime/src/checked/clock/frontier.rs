//! A set of events, each actor's until some time.

use crate::checked::actor::{Actor, cluster_of, cta_of};

/// The events of these lanes before this time are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    actor: Actor,
    time: u32,
    lanes: u32,
}

/// Lanes of an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Who(u64);

impl Who {
    #[inline]
    fn new(actor: Actor, lanes: u32) -> Who {
        Who(u64::from(actor) << 32 | u64::from(lanes))
    }

    #[inline]
    fn actor(self) -> Actor {
        (self.0 >> 32) as u32
    }

    #[inline]
    fn lanes(self) -> u32 {
        self.0 as u32
    }
}

/// Events. Entries are sorted by actor; those of one actor have different times and lanes.
///
/// Their times are apart from what these are of: most clocks of a CTA have entries of the same actors, and are joined without a branch for
/// each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Frontier {
    who: Vec<Who>,
    times: Vec<u32>,
    /// All events of clusters below this one count as known.
    floor: u32,
}

/// More entries than this are of clusters that came and went.
const MANY: usize = 8192;

impl Frontier {
    /// The place of the first entry of an actor.
    #[inline]
    fn first(&self, actor: Actor) -> usize {
        let place = self.who.first().map_or(0, |first| actor.wrapping_sub(first.actor()) as usize);
        // the first entries are often those of the warps of a CTA, one each
        let is_of = |at: usize| self.who.get(at).is_some_and(|who| who.actor() == actor);
        if is_of(place) && !is_of(place.wrapping_sub(1)) {
            return place;
        }
        self.who.partition_point(|who| who.actor() < actor)
    }

    /// All entries.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let entry = |(who, time): (&Who, &u32)| Entry { actor: who.actor(), time: *time, lanes: who.lanes() };
        self.who.iter().zip(&self.times).map(entry)
    }

    #[inline]
    pub fn knows(&self, actor: Actor, lanes: u32, time: u32) -> bool {
        if cluster_of(actor) < self.floor {
            return true;
        }
        let mut unknown = lanes;
        let from = self.first(actor);
        for (who, until) in self.who[from..].iter().zip(&self.times[from..]) {
            if who.actor() != actor {
                break;
            }
            unknown &= if *until > time { !who.lanes() } else { u32::MAX };
        }
        unknown == 0
    }

    /// Is any event of a CTA known?
    pub fn has_met(&self, cta: u32) -> bool {
        let at = self.who.partition_point(|who| cta_of(who.actor()) < cta);
        self.who.get(at).is_some_and(|who| cta_of(who.actor()) == cta) || cluster_of(cta << 9) < self.floor
    }

    pub fn learn(&mut self, actor: Actor, lanes: u32, time: u32) {
        let from = self.first(actor);
        let n = of_actor(&self.who[from..], actor);
        if n == 1 && self.who[from].lanes() & !lanes == 0 && self.times[from] <= time {
            (self.who[from], self.times[from]) = (Who::new(actor, lanes), time);
            return;
        }
        let old = self.who[from..from + n].iter().zip(&self.times[from..]);
        let later = old.filter(|(_, until)| **until > time).fold(0, |all, (who, _)| all | who.lanes());
        if lanes & !later != 0 {
            self.insert(from..from + n, Entry { actor, time, lanes: lanes & !later });
            self.forget();
        }
    }

    /// Adds an entry of an actor to those that it has, which say nothing later of these lanes.
    fn insert(&mut self, range: std::ops::Range<usize>, Entry { actor, time, lanes }: Entry) {
        let (mut at, mut end, mut found) = (range.start, range.end, false);
        while at < end {
            let same = self.times[at] == time;
            let old = self.who[at].lanes();
            found |= same;
            self.who[at] = Who::new(actor, if same { old | lanes } else { old & !lanes });
            if self.who[at].lanes() == 0 {
                self.who.remove(at);
                self.times.remove(at);
                end -= 1;
            } else {
                at += 1;
            }
        }
        if !found {
            self.who.insert(end, Who::new(actor, lanes));
            self.times.insert(end, time);
        }
    }

    pub fn join(&mut self, other: &Frontier) {
        self.floor = self.floor.max(other.floor);
        if self.who.is_empty() {
            self.who.extend_from_slice(&other.who);
            self.times.extend_from_slice(&other.times);
            return;
        }
        let joined = self.join_in_place(other);
        if joined < other.who.len() {
            self.merge(other, joined);
            self.forget();
        }
    }

    /// Joins the entries of actors that have one entry of the same lanes in both, or the same entries, up to the first other actor: how
    /// many.
    #[inline]
    fn join_in_place(&mut self, other: &Frontier) -> usize {
        if are_alike(&self.who, &other.who) {
            self.times.iter_mut().zip(&other.times).for_each(|(own, new)| *own = (*own).max(*new));
            return other.who.len();
        }
        let (mut at, mut joined) = (0, 0);
        while let Some(actor) = other.who.get(joined).map(|who| who.actor()) {
            while self.who.get(at).is_some_and(|who| who.actor() < actor) {
                at += 1;
            }
            let (m, n) = (of_actor(&self.who[at..], actor), of_actor(&other.who[joined..], actor));
            if self.who[at..at + m] != other.who[joined..joined + n] {
                break;
            }
            let (own, new) = (&mut self.times[at..at + m], &other.times[joined..joined + n]);
            match own {
                [own] => *own = new[0].max(*own),
                own if own == new => {}
                _ => break,
            }
            (at, joined) = (at + m, joined + n);
        }
        joined
    }

    /// Joins the entries of another one from one of an actor on, and makes lists of its own for that.
    fn merge(&mut self, other: &Frontier, from: usize) {
        let (own, other): (Vec<Entry>, Vec<Entry>) = (self.entries().collect(), other.entries().skip(from).collect());
        let mut merged = Vec::with_capacity(own.len().max(other.len()));
        let (mut a, mut b) = (&own[..], &other[..]);
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            let actor = x.actor.min(y.actor);
            let of_actor = |entries: &[Entry]| entries.iter().take_while(|e| e.actor == actor).count();
            let (m, n) = (of_actor(a), of_actor(b));
            merge_actor(&mut merged, &a[..m], &b[..n]);
            (a, b) = (&a[m..], &b[n..]);
        }
        merged.extend_from_slice(a);
        merged.extend_from_slice(b);
        (self.who, self.times) = merged.iter().map(|e| (Who::new(e.actor, e.lanes), e.time)).unzip();
    }

    pub fn clear(&mut self) {
        self.who.clear();
        self.times.clear();
        self.floor = 0;
    }

    /// Keeps the clock small: the oldest clusters count as known. A race with one of them is then not found.
    fn forget(&mut self) {
        if self.who.len() > MANY {
            let middle = cluster_of(self.who[MANY / 2].actor());
            self.floor = self.floor.max(middle);
            let old = self.who.partition_point(|who| cluster_of(who.actor()) < middle);
            self.who.drain(..old);
            self.times.drain(..old);
        }
    }
}

/// Are these the same, one of each actor? Without a branch for each, which is faster.
#[inline]
fn are_alike(a: &[Who], b: &[Who]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let differ = a.iter().zip(b).fold(0, |differ, (a, b)| differ | a.0 ^ b.0);
    let next = a.get(1..).unwrap_or_default();
    differ == 0 && a.iter().zip(next).fold(true, |apart, (a, b)| apart & (a.actor() != b.actor()))
}

/// How many at the start are of an actor.
#[inline]
fn of_actor(who: &[Who], actor: Actor) -> usize {
    who.iter().take_while(|who| who.actor() == actor).count()
}

/// The entries of one actor: for each lane the later time.
fn merge_actor(merged: &mut Vec<Entry>, a: &[Entry], b: &[Entry]) {
    if b.is_empty() || a == b {
        return merged.extend_from_slice(a);
    }
    if a.is_empty() {
        return merged.extend_from_slice(b);
    }
    let mut all: Vec<Entry> = a.iter().chain(b).copied().collect();
    all.sort_unstable_by_key(|e| std::cmp::Reverse(e.time));
    let from = merged.len();
    let mut taken = 0;
    for e in all {
        let lanes = e.lanes & !taken;
        taken |= lanes;
        match merged[from..].last_mut() {
            Some(last) if last.time == e.time => last.lanes |= lanes,
            _ if lanes != 0 => merged.push(Entry { lanes, ..e }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Actors with one entry, with several, and without any, the same lanes or others: each lane has the later time.
    #[test]
    fn joins_in_place_and_otherwise_say_the_same() {
        const ACTORS: u32 = 5;
        let mut state = 7u32;
        let mut draw = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        let lanes = [u32::MAX, 1, 2, 3, 0xFFFF, 0xFFFF_0000];
        for round in 0..20_000 {
            let few = round % 2 == 0;
            // by actor and lane: events before this time are known
            let mut times = [[[0; 32]; ACTORS as usize]; 2];
            let mut frontiers = [Frontier::default(), Frontier::default()];
            for (frontier, times) in frontiers.iter_mut().zip(&mut times) {
                for _ in 0..draw(8) {
                    let (actor, time) = (draw(ACTORS), 1 + draw(6));
                    let lanes = if few { u32::MAX } else { lanes[draw(6) as usize] };
                    frontier.learn(actor, lanes, time);
                    let all = times[actor as usize].iter_mut().zip(0..);
                    all.filter(|(_, l)| lanes >> l & 1 != 0).for_each(|(old, _)| *old = time.max(*old));
                }
            }
            let [mut own, other] = frontiers;
            let mut merged = own.clone();
            merged.merge(&other, 0);
            own.join(&other);
            for (actor, lane) in (0..ACTORS).flat_map(|actor| (0..32).map(move |lane| (actor, lane))) {
                let time = times[0][actor as usize][lane].max(times[1][actor as usize][lane]);
                for joined in [&own, &merged] {
                    assert!(time == 0 || joined.knows(actor, 1 << lane, time - 1), "{joined:?}");
                    assert!(!joined.knows(actor, 1 << lane, time), "{joined:?}");
                }
            }
            for joined in [&own, &merged] {
                let entries: Vec<Entry> = joined.entries().collect();
                let order = |e: &[Entry]| e[0].actor < e[1].actor || e[0].actor == e[1].actor && e[0].time != e[1].time;
                assert!(entries.windows(2).all(order) && entries.iter().all(|e| e.lanes != 0));
            }
        }
    }

    #[test]
    fn frontiers_stay_small() {
        let mut c = Frontier::default();
        for cluster in 0..20_000 {
            c.learn(cluster << 13, 1, 1);
        }
        assert!(c.who.len() <= MANY && c.times.len() == c.who.len());
        assert!(c.knows(19_999 << 13, 1, 0) && c.knows(0, 1, 0));
    }
}
