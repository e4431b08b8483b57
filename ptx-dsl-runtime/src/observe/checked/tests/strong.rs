//! Strong accesses of warps find what those of their lanes find, one by one, with the same reports.

use super::warps::barrier;
use super::*;
use crate::observe::monitor::Sem;
use ptx_dsl_test_support::random::Random;

/// Warps of a CTA.
const WARPS: u32 = 4;

/// CTAs, each a cluster in a slot of its own.
const CTAS: u32 = 3;

/// An access of lanes of a warp to global or shared memory.
#[derive(Debug, Clone, Copy)]
struct Step {
    shared: bool,
    write: bool,
    /// Stores what is there already.
    same: bool,
    order: Order,
    bytes: u32,
    from: u64,
    /// The offsets of the lanes, if they are not in a row.
    offsets: Option<[u64; 32]>,
    who: Who,
}

fn strong(scope: Scope) -> Order {
    Order::new(Sem::Relaxed, scope)
}

/// All lanes of a warp, at a statement.
fn warp(warp: u32, site: u32) -> Who {
    Who { site, slot: 0, rank: 0, warp, lanes: u32::MAX }
}

/// A random order of the accesses of several CTAs, most of which do not race.
fn random_order(r: &mut Random, ctas: u32) -> Order {
    let strong = strong(if ctas > 1 && r.below(32) != 0 { Scope::Gpu } else { r.choose(&[Scope::Gpu, Scope::Cta]) });
    match r.below(12) {
        0 if ctas == 1 || r.below(8) == 0 => Order::default(),
        1..3 => strong.with_atomic(true),
        3 => Order::new(Sem::Acquire, strong.scope),
        4 => Order::new(Sem::Release, strong.scope),
        5 => Order::new(Sem::AcqRel, strong.scope).with_atomic(true),
        _ => strong,
    }
}

impl Step {
    /// A random step. Most accesses of a launch have one size: others race. CTAs share global memory.
    fn random(r: &mut Random, site: u32, (size, ctas): (u32, u32)) -> Step {
        let bytes = if r.below(16 * ctas) == 0 { r.choose(&[4, 8, 2]) } else { size };
        let order = random_order(r, ctas);
        let from = 2048 + u64::from(r.below(64) * bytes);
        let scattered = r.below(3) != 0;
        let few = 1 << r.below(32) | 1 << r.below(32);
        let lanes = match r.below(4) {
            0 | 3 => few,
            1 if !scattered => u32::MAX >> r.below(32),
            _ => u32::MAX,
        };
        let write = order.atomic || if order.acquires() { false } else { order.releases() || r.below(3) == 0 };
        let offsets = scattered.then(|| std::array::from_fn(|_| 2048 + u64::from(r.below(256 / bytes) * bytes)));
        // the lanes of a row are neighbours
        let lanes = if scattered || lanes != few { lanes } else { 1 << r.below(32) };
        let (shared, slot) = (r.below(4) == 0, r.below(ctas));
        let who = Who { lanes, slot: if shared { 0 } else { slot }, ..warp(r.below(WARPS), site) };
        Step { shared, write, same: r.below(8) == 0, order, bytes, from, offsets, who }
    }

    fn access(&self, from: u64, lanes: u32) -> Access {
        let place = match self.shared {
            true => Place::Shared { rank: 0, offset: from as u32 },
            false => Place::Global { segment: 5, offset: from },
        };
        let (by, proxy, who) = (By::Thread, Proxy::Generic, Who { lanes, ..self.who });
        Access {
            place,
            addr: from,
            bytes: self.bytes,
            write: self.write,
            same: false,
            by,
            proxy,
            order: self.order,
            who,
        }
    }

    fn places(&self) -> Offsets<'_> {
        self.offsets.as_ref().map_or(Offsets::Row { step: self.bytes }, Offsets::Lanes)
    }

    fn first(&self) -> u64 {
        self.offsets.map_or(self.from, |all| all[self.who.lanes.trailing_zeros() as usize])
    }

    /// Strong loads and stores lane by lane. An atomic operation reads and writes.
    fn slowly(&self, m: &mut Checked) -> Result<(), FaultKind> {
        if (!self.order.is_strong() || self.order.atomic)
            && m.warp(&self.access(self.first(), self.who.lanes), self.places())
        {
            return Ok(());
        }
        self.places().each(self.who.lanes, self.first()).try_for_each(|(lanes, at)| {
            let a = self.access(at, lanes);
            if self.order.atomic {
                m.memory(Access { write: false, ..a })?;
            }
            m.memory(Access { same: self.same && self.write && !self.order.atomic, ..a })
        })
    }

    /// Whether the warp was enough, and the result.
    fn fast(&self, m: &mut Checked) -> (bool, Result<(), FaultKind>) {
        let whole = m.warp(&self.access(self.first(), self.who.lanes), self.places());
        (whole, if whole { Ok(()) } else { self.slowly(m) })
    }
}

fn checked() -> Checked {
    let mut m = Checked::default();
    (0..CTAS).for_each(|slot| m.cluster(slot, &[[0; 3]], WARPS * 32));
    m
}

/// Fences and barriers.
fn synchronise(r: &mut Random, both: &mut [Checked; 2], site: u32) {
    let (w, way, lane, slot) = (r.below(WARPS), r.below(6), r.below(32), r.below(CTAS));
    let sem = match way {
        1 => Sem::Release,
        2 => Sem::Acquire,
        _ => Sem::AcqRel,
    };
    let fence = Order::new(sem, Scope::Gpu);
    let who = Who { slot, lanes: if way == 3 { 1 << lane } else { u32::MAX }, ..warp(w, site) };
    for m in both {
        match way {
            0 => barrier(m, 0, 0..WARPS),
            _ => m.sync(Sync::Fence, fence, who).unwrap(),
        }
    }
}

#[test]
fn warps_report_what_lanes_report() {
    let (mut races, mut near, mut whole, mut far, mut clean) = (0, 0, 0, 0, 0);
    for seed in 0..10_000 {
        let r = &mut Random::new(seed);
        let mut both = [checked(), checked()];
        for m in &mut both {
            let all = |from| Step {
                shared: true,
                write: true,
                same: false,
                order: Order::default(),
                bytes: 8,
                from,
                offsets: None,
                who: warp(0, 0),
            };
            (2048..2560).step_by(256).for_each(|from| all(from).fast(m).1.unwrap());
            barrier(m, 0, 0..WARPS);
        }
        let (mut history, size, ctas) = (Vec::new(), r.choose(&[4, 4, 8, 2]), r.choose(&[1, 1, CTAS]));
        let found = (1..24).find_map(|site| {
            if r.below(3) == 0 {
                synchronise(r, &mut both, site);
                return None;
            }
            let step = Step::random(r, site, (size, ctas));
            history.push(step);
            let ((is_whole, fast), slow) = (step.fast(&mut both[0]), step.slowly(&mut both[1]));
            whole += usize::from(is_whole && step.order.is_strong());
            far += usize::from(is_whole && !step.write && step.who.slot > 0);
            assert_eq!(fast, slow, "seed {seed}: {history:#?}");
            fast.err()
        });
        match found {
            Some(FaultKind::DataRace(race)) => {
                races += 1;
                near += usize::from(race.near_miss.is_some());
            }
            Some(_) => {}
            None => clean += 1,
        }
    }
    let counts = format!("{races} races, {near} near misses, {whole} ({far}) whole warps, {clean} without a race");
    assert!(races > 2000 && near > 50 && whole > 10_000 && far > 3000 && clean > 1000, "{counts}");
}

/// An access of a warp to words of global memory.
fn step(write: bool, order: Order, places: [u64; 32], who: Who) -> Step {
    Step { shared: false, write, same: false, order, bytes: 4, from: 0, offsets: Some(places), who }
}

/// Word `7 * l` for lane `l`, from a byte on.
fn spread(from: u64) -> [u64; 32] {
    std::array::from_fn(|lane| from + 28 * lane as u64)
}

#[test]
fn some_lanes_of_a_relaxed_load_observe_a_store() {
    let (m, relaxed) = (&mut checked(), strong(Scope::Gpu));
    let (data, flags) = (spread(4096), spread(0));
    // lane 5 of warp 0 writes data, then a flag
    let writer = Who { lanes: 1 << 5, ..warp(0, 1) };
    assert!(step(true, Order::default(), data, writer).fast(m).0);
    assert!(step(true, relaxed, flags, Who { site: 2, ..writer }).fast(m).0);
    // all lanes of warp 1 read flags, and lane 5 the data
    assert!(step(false, relaxed, flags, warp(1, 3)).fast(m).0);
    let reader = Who { lanes: 1 << 5, ..warp(1, 4) };
    let Err(FaultKind::DataRace(race)) = step(false, Order::default(), data, reader).fast(m).1 else { panic!() };
    let near = race.near_miss.unwrap();
    assert_eq!((race.other.site, near.from, near.to), (1, 2, 3));
    assert_eq!(near.why, crate::fault::TooWeak::Relaxed);
}

#[test]
fn a_fence_covers_what_its_lane_has_observed() {
    let (relaxed, flags, data) = (strong(Scope::Gpu), spread(0), spread(4096));
    let fence = |acquires| Order::new(if acquires { Sem::Acquire } else { Sem::Release }, Scope::Gpu);
    for (observer, is_known) in [(9, true), (10, false)] {
        let m = &mut checked();
        let writer = Who { lanes: 1 << 9, ..warp(0, 1) };
        assert!(step(true, Order::default(), data, writer).fast(m).0);
        m.sync(Sync::Fence, fence(false), writer).unwrap();
        assert!(step(true, relaxed, flags, Who { site: 2, ..writer }).fast(m).0);
        assert!(step(false, relaxed, flags, warp(1, 3)).fast(m).0);
        m.sync(Sync::Fence, fence(true), warp(1, 4)).unwrap();
        // only lane 9 has seen the flag
        let mut places = data;
        places[observer] = data[9];
        let reader = Who { lanes: 1 << observer, ..warp(1, 5) };
        let read = step(false, Order::default(), places, reader).fast(m).1;
        assert_eq!(read.is_ok(), is_known, "lane {observer}: {read:?}");
    }
}

#[test]
fn one_lane_of_a_strong_store_races() {
    let (m, relaxed, places) = (&mut checked(), strong(Scope::Gpu), spread(0));
    let other = Who { lanes: 1 << 20, ..warp(2, 1) };
    assert!(step(true, Order::default(), places, other).fast(m).0);
    let (whole, found) = step(true, relaxed, places, warp(3, 2)).fast(m);
    let Err(FaultKind::DataRace(race)) = found else { panic!("{found:?}") };
    assert_eq!((whole, race.addr, race.other.site, race.other.thread.lane), (false, places[20], 1, 20));
    assert_eq!((race.access, race.near_miss), ("store", None));
}

#[test]
fn lanes_store_to_one_place() {
    let (m, relaxed) = (&mut checked(), strong(Scope::Gpu));
    let mut places = spread(0);
    places[30] = places[3];
    assert!(step(true, relaxed, places, warp(0, 1)).fast(m).0);
    // weak ones of two threads race
    let found = step(true, Order::default(), places.map(|at| at + 4), warp(0, 2)).fast(m).1;
    assert!(matches!(found, Err(FaultKind::DataRace(_))), "{found:?}");
}

/// A word keeps the first and the newest of the strong loads by CTAs that nothing orders.
#[test]
fn a_store_races_with_loads_of_several_ctas() {
    let (relaxed, places) = (strong(Scope::Gpu), spread(0));
    for (loads, writer) in (1..8).flat_map(|loads| (0..loads).map(move |writer| (loads, writer))) {
        let mut m = Checked::default();
        (0..loads).for_each(|slot| m.cluster(slot, &[[0; 3]], 32));
        for slot in 0..loads {
            let who = Who { slot, ..warp(0, 1 + slot) };
            // a loop, whose lanes come one by one the second time
            assert!(step(false, relaxed, places, who).fast(&mut m).0);
            (0..32).for_each(|lane| {
                step(false, relaxed, places, Who { lanes: 1 << lane, ..who }).fast(&mut m).1.unwrap();
            });
        }
        let found = step(true, Order::default(), places, Who { slot: writer, ..warp(0, 100) }).fast(&mut m).1;
        let site = match found {
            Ok(()) => None,
            Err(FaultKind::DataRace(race)) => Some(race.other.site),
            Err(other) => panic!("{other:?}"),
        };
        let expected = if writer + 1 < loads { Some(loads) } else { (loads > 1).then_some(1) };
        assert_eq!(site, expected, "{loads} loads, then a store of CTA {writer}");
    }
}

/// The accesses are so many that the table forgets those to which no shadow word refers.
#[test]
fn what_has_happened_is_known_for_long() {
    let (m, relaxed, places) = (&mut checked(), strong(Scope::Gpu), spread(0));
    for site in 1..40_000 {
        let at = places.map(|at| at + 1024 * u64::from(site % 16));
        let who = Who { lanes: 1 << (site / 16 % 32), ..warp(site % WARPS, site) };
        assert!(step(site % 3 != 0, relaxed, at, who).fast(m).0);
    }
    // the last store to the words of lane 31
    let last = (1..40_000).rev().find(|site| site % 3 != 0 && site % 16 == 5 && site / 16 % 32 == 31).unwrap();
    let load =
        step(false, Order::default(), places.map(|at| at + 1024 * 5), Who { slot: 1, lanes: 1 << 31, ..warp(0, 0) });
    let Err(FaultKind::DataRace(race)) = load.fast(m).1 else { panic!() };
    assert_eq!((race.other.site, race.other.thread.warp), (last, last % WARPS));
}
