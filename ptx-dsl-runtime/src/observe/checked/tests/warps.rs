//! Accesses of warps find what the accesses of their lanes find, one by one.

use super::*;
use crate::observe::monitor::{Agent, ProxyFence, Sem};
use ptx_dsl_test_support::random::Random;

/// Warps of the CTA.
const WARPS: u32 = 4;

/// An access of a CTA to one of its memories.
#[derive(Debug, Clone, Copy)]
struct Step {
    shared: bool,
    write: bool,
    from: u64,
    bytes: u32,
    warp: u32,
    pieces: Pieces,
    /// The lanes of a single warp.
    lanes: u32,
    site: u32,
    /// Each lane of a single warp accesses its own place.
    scattered: Option<Scattered>,
    /// Two more statements load, at such distances.
    others: Option<[i32; 2]>,
}

/// The offsets at which lanes access memory, and whether the accesses are atomic.
#[derive(Debug, Clone, Copy)]
struct Scattered {
    offsets: [u64; 32],
    atomic: bool,
}

impl Scattered {
    fn random(r: &mut Random, from: u64, bytes: u32) -> Scattered {
        let (kind, step, turn) = (r.below(4), r.choose(&[1, 1, 5, 33]), r.below(32));
        let offsets = std::array::from_fn(|lane| {
            let word = match kind {
                // a row that wraps around
                0 => (lane as u32 + turn) % 32,
                // a stride, in words
                1 => lane as u32 * step,
                // a few words, and any
                2 => r.below(4),
                _ => r.below(64),
            };
            from / 16 * 16 + u64::from(bytes * word)
        });
        Scattered { offsets, atomic: bytes == 4 && r.below(2) == 0 }
    }
}

impl Step {
    fn random(r: &mut Random, site: u32) -> Step {
        let (write, bytes, lanes) = (r.below(3) == 0, r.choose(&[4, 4, 4, 8, 2, 1]), r.choose(&[8, 16, 32]));
        let step = if write || r.below(2) == 0 { bytes } else { 0 };
        let warp = r.below(WARPS);
        let count = (1 + r.below(WARPS - warp)) * 32 / lanes;
        let row = i64::from(lanes * bytes);
        let mut distance = r.choose(&[row, row, row, row + 4 * i64::from(bytes), 64, 256]);
        if !write && step == 0 {
            distance = r.choose(&[0, i64::from(bytes), 64, -64]);
        } else if !write && r.below(3) == 0 {
            distance = 0;
        }
        let distance = if write { distance.max(row) } else { distance };
        let lanes_of_one = u32::MAX >> r.below(32) << r.choose(&[0, 0, 0, 8]);
        let one = Step {
            shared: r.below(3) != 0,
            write,
            from: match r.below(4) {
                // groups of lines as a whole
                0 => 2048 + 512 * r.below(3_u64),
                _ => 2048 + u64::from(r.below(24) * r.choose(&[64, 64, 64, bytes])),
            },
            bytes,
            warp,
            pieces: Pieces { count, lanes, step, distance },
            lanes: if r.below(3) == 0 { lanes_of_one } else { 0 },
            site,
            scattered: None,
            others: None,
        };
        match r.below(8) {
            0..4 => {
                let bytes = r.choose(&[4, 4, 4, 8, 16]);
                let scattered = Scattered::random(r, one.from, bytes);
                let lanes = r.choose(&[u32::MAX, u32::MAX, lanes_of_one]);
                Step { scattered: Some(scattered), bytes, lanes, write: write || scattered.atomic, ..one }
            }
            4 if !write => {
                let others = [(); 2].map(|()| bytes.cast_signed() * (r.below(64_i32) - 32));
                Step { others: Some(others), shared: true, lanes: 0, ..one }
            }
            _ => one,
        }
    }

    fn access(&self, from: u64, warp: u32, lanes: u32) -> Access {
        let place = match self.shared {
            true => Place::Shared { rank: 0, offset: from as u32 },
            false => Place::Global { segment: 5, offset: from },
        };
        let who = Who { site: self.site, slot: 0, rank: 0, warp, lanes };
        let atomic = self.scattered.is_some_and(|scattered| scattered.atomic);
        let order = Order::new(if atomic { Sem::Relaxed } else { Sem::Weak }, Scope::Cta).with_atomic(atomic);
        let (by, proxy) = (By::Thread, Proxy::Generic);
        Access { place, addr: from, bytes: self.bytes, write: self.write, same: false, by, proxy, order, who }
    }

    /// The accesses of each piece: the first byte, the warp and the lanes.
    fn each(&self) -> Vec<(u64, u32, u32)> {
        let Pieces { count, lanes, distance, .. } = self.pieces;
        if self.lanes != 0 {
            return vec![(self.from, self.warp, self.lanes)];
        }
        let piece = |i| {
            let thread = i * lanes;
            let mask = (u32::MAX >> (32 - lanes)) << (thread % 32);
            (self.from.wrapping_add_signed(i64::from(i) * distance), self.warp + thread / 32, mask)
        };
        (0..count).map(piece).collect()
    }

    fn lane_by_lane(&self, m: &mut Checked, (from, warp, lanes): (u64, u32, u32)) -> Result<(), FaultKind> {
        let mut all = (0..32).filter(|l| lanes >> l & 1 != 0).zip(0..);
        all.try_for_each(|(lane, i)| m.memory(self.access(from + u64::from(i * self.pieces.step), warp, 1 << lane)))
    }

    /// The loads of each statement after the first.
    fn others(&self) -> impl Iterator<Item = Step> + '_ {
        let moved = |(site, distance): (u32, &i32)| Step {
            site,
            from: self.from.wrapping_add_signed(i64::from(*distance)),
            others: None,
            ..*self
        };
        (1000..).zip(self.others.iter().flatten()).map(moved)
    }

    /// Each lane of a warp that accesses its own place.
    fn scattered_lanes(&self, m: &mut Checked, offsets: &[u64; 32]) -> Result<(), FaultKind> {
        let mut lanes = (0..32).filter(|l| self.lanes >> l & 1 != 0);
        lanes.try_for_each(|lane| m.memory(self.access(offsets[lane], self.warp, 1 << lane)))
    }

    fn slowly(&self, m: &mut Checked) -> Result<(), FaultKind> {
        if let Some(Scattered { offsets, .. }) = &self.scattered {
            return self.scattered_lanes(m, offsets);
        }
        if self.others.is_some() {
            Step { others: None, ..*self }.slowly(m)?;
            return self.others().try_for_each(|other| other.slowly(m));
        }
        self.each().into_iter().try_for_each(|piece| self.lane_by_lane(m, piece))
    }

    fn fast(&self, m: &mut Checked) -> Result<(), FaultKind> {
        if let Some(Scattered { offsets, .. }) = &self.scattered {
            let first = self.access(offsets[self.lanes.trailing_zeros() as usize], self.warp, self.lanes);
            let seen = m.warp(&first, Offsets::Lanes(offsets));
            return if seen { Ok(()) } else { self.scattered_lanes(m, offsets) };
        }
        if let Some(distances) = &self.others {
            let others = [(1000, distances[0]), (1001, distances[1])];
            if m.chain(&self.access(self.from, self.warp, u32::MAX), &self.pieces, &others) {
                return Ok(());
            }
            Step { others: None, ..*self }.fast(m)?;
            return self.others().try_for_each(|other| other.fast(m));
        }
        if self.lanes == 0 && m.warps(&self.access(self.from, self.warp, u32::MAX), &self.pieces) {
            return Ok(());
        }
        self.each().into_iter().try_for_each(|(from, warp, lanes)| {
            let offsets = Offsets::Row { step: self.pieces.step };
            if m.warp(&self.access(from, warp, lanes), offsets) {
                return Ok(());
            }
            self.lane_by_lane(m, (from, warp, lanes))
        })
    }
}

/// A barrier of some warps.
pub(super) fn barrier(m: &mut Checked, id: u32, warps: impl Iterator<Item = u32> + Clone) {
    let who = |warp| Who { site: 0, slot: 0, rank: 0, warp, lanes: u32::MAX };
    let order = Order::default();
    warps.clone().for_each(|w| m.sync(Sync::Barrier { id, waits: true }, order, who(w)).unwrap());
    m.sync(Sync::BarrierCompletes { id }, order, who(warps.last().unwrap())).unwrap();
}

/// The name of the first finding of a launch.
fn name(found: &Result<(), FaultKind>) -> &'static str {
    match found {
        Ok(()) => "nothing",
        Err(FaultKind::DataRace(race)) if race.fence.is_some() => "fence",
        Err(FaultKind::DataRace(_)) => "race",
        Err(FaultKind::Uninitialised { .. }) => "uninitialised",
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn warps_find_what_lanes_find() {
    let mut found = std::collections::BTreeMap::new();
    for seed in 0..20_000 {
        let r = &mut Random::new(seed);
        let mut both = [Checked::default(), Checked::default()];
        both.iter_mut().for_each(|m| m.cluster(0, &[[0; 3]], WARPS * 32));
        let has_copies = seed % 3 == 0;
        if has_copies {
            // elsewhere
            let step = Step { write: true, shared: true, bytes: 64, ..Step::random(r, 0) };
            let by = By::Agent(Agent::Bulk { group: 0, content: None });
            let copy = Access { by, proxy: Proxy::Async, ..step.access(1 << 14, 0, 1) };
            both.iter_mut().for_each(|m| m.memory(copy).unwrap());
        }
        let mut history = Vec::new();
        if r.below(4) != 0 {
            let pieces = Pieces { count: 4, lanes: 32, step: 8, distance: 256 };
            for i in 0..6 {
                let (scattered, others) = (None, None);
                let all = Step {
                    write: true,
                    from: 1024 * i,
                    bytes: 8,
                    warp: 0,
                    pieces,
                    lanes: 0,
                    site: 1,
                    scattered,
                    others,
                    shared: true,
                };
                both.iter_mut().for_each(|m| all.fast(m).unwrap());
            }
            both.iter_mut().for_each(|m| barrier(m, 0, 0..WARPS));
        }
        for site in 2..40 {
            let action = r.below(12);
            let results = match action {
                0..4 => both.each_mut().map(|m| {
                    barrier(m, 0, 0..WARPS);
                    Ok(())
                }),
                4 => {
                    let first = r.below(WARPS - 1);
                    both.each_mut().map(|m| {
                        barrier(m, 1, first..first + 2);
                        Ok(())
                    })
                }
                5 if has_copies => {
                    let (write, warp, from) = (r.below(2) == 0, r.below(WARPS), 2048 + 64 * r.below(20_u64));
                    let step =
                        Step { write, shared: true, site, bytes: 64 * (1 + r.below(4)), ..Step::random(r, site) };
                    let by = By::Agent(Agent::Bulk { group: u64::from(site), content: None });
                    let copy = Access { by, proxy: Proxy::Async, ..step.access(from, warp, 1) };
                    both.each_mut().map(|m| m.memory(copy))
                }
                6 if has_copies => {
                    let who = Who { site, slot: 0, rank: 0, warp: r.below(WARPS), lanes: 1 };
                    let fence = ProxyFence::Async { shared: true, global: true };
                    let groups = Sync::Groups { of: Groups::Bulk, before: u64::from(site) };
                    let what = if r.below(2) == 0 { Sync::ProxyFence(fence) } else { groups };
                    both.each_mut().map(|m| m.sync(what, Order::default(), who))
                }
                _ => {
                    // warps execute the same statements
                    let step = Step::random(r, 2 + site / 8);
                    history.push(step);
                    let [fast, slow] = &mut both;
                    [step.fast(fast), step.slowly(slow)]
                }
            };
            let [one, other] = results.each_ref().map(name);
            assert_eq!(one, other, "seed {seed}, {results:#?} at {site} after {action}: {history:#?}");
            if results[0].is_err() {
                *found.entry(one).or_insert(0) += 1;
                break;
            }
        }
    }
    // each of them many times, and launches without any
    assert!(["race", "fence", "uninitialised"].iter().all(|kind| found[kind] > 100), "{found:?}");
    assert!(found.values().sum::<i32>() < 19_700, "{found:?}");
}

/// Warps that execute one statement at one time are different threads.
#[test]
fn warps_of_one_statement_are_apart() {
    let mut m = Checked::default();
    m.cluster(0, &[[0; 3]], WARPS * 32);
    let pieces = Pieces { count: 1, lanes: 32, step: 4, distance: 0 };
    let of_warp = |warp: u32, write, site| {
        let offsets = std::array::from_fn(|lane| 1024 * u64::from(warp) + 20 * lane as u64);
        let scattered = Some(Scattered { offsets, atomic: false });
        Step {
            shared: true,
            write,
            from: offsets[0],
            bytes: 4,
            warp,
            pieces,
            lanes: u32::MAX,
            site,
            scattered,
            others: None,
        }
    };
    // each its own words
    for (write, site) in [(true, 1), (false, 2), (true, 3)] {
        (0..WARPS).for_each(|warp| of_warp(warp, write, site).fast(&mut m).unwrap());
    }
    let other = Step { warp: 2, ..of_warp(1, false, 4) };
    assert_eq!(name(&other.fast(&mut m)), "race");
}

/// A read that is only noted is found by a write to its bytes, whatever others have done to the rest of their line.
#[test]
fn noted_reads_are_found_after_other_writes() {
    let mut m = Checked::default();
    m.cluster(0, &[[0; 3]], WARPS * 32);
    let row = |warp: u32, lanes: u32, write: bool, from: u64, site: u32| Step {
        shared: true,
        write,
        from,
        bytes: 4,
        warp,
        pieces: Pieces { count: 1, lanes: 32, step: 4, distance: 0 },
        lanes,
        site,
        scattered: None,
        others: None,
    };
    row(0, 0xffff, true, 2048, 1).fast(&mut m).unwrap();
    barrier(&mut m, 0, 0..WARPS);
    row(0, 0xff, false, 2048, 2).fast(&mut m).unwrap();
    // the other half of the line, in pieces: each word has a record of its own now
    row(1, 0xff, true, 2080, 3).fast(&mut m).unwrap();
    row(1, 0xff, false, 2080, 4).fast(&mut m).unwrap();
    row(1, 0xf, true, 2080, 5).fast(&mut m).unwrap();
    let scattered = Some(Scattered { offsets: [2052; 32], atomic: false });
    let other = Step { scattered, ..row(2, 1, true, 2052, 6) };
    assert_eq!(name(&other.fast(&mut m)), "race");
}
