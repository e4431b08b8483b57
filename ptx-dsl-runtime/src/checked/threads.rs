//! What the threads of the resident clusters know of each other.
//!
//! The lanes of a warp share what they know until they synchronise apart.

use super::clock::{Clock, WarpId};
use crate::monitor::{Order, Scope, Who};
use std::rc::Rc;

/// Clocks that fences have made visible, one for each scope.
pub(super) type Fenced = Vec<(Scope, Rc<Clock>)>;

/// Lanes that know the same.
#[derive(Debug, Clone, Default)]
struct Group {
    lanes: u32,
    known: Rc<Clock>,
    /// What a later strong store makes visible (a release pattern that begins with a fence).
    fenced: Fenced,
    /// What a later fence makes known (an acquire pattern that ends with a fence): what relaxed loads have observed.
    observed: Option<Rc<Clock>>,
}

/// A warp.
#[derive(Debug, Clone)]
pub(super) struct Warp {
    pub id: WarpId,
    /// Of its next event.
    pub time: u32,
    /// Has it accessed memory at this time?
    used: bool,
    groups: Vec<Group>,
}

/// What lanes of a warp publish.
#[derive(Debug, Clone, Default)]
pub(super) struct Published {
    pub known: Clock,
    pub fenced: Fenced,
}

impl Published {
    pub fn join(&mut self, other: &Published) {
        self.known.join(&other.known);
        join_fenced(&mut self.fenced, &other.fenced);
    }
}

/// Joins what fences have made visible, by scope.
pub(super) fn join_fenced(to: &mut Fenced, from: &Fenced) {
    for (scope, clock) in from {
        match to.iter_mut().find(|(s, _)| s == scope) {
            Some((_, known)) if Rc::ptr_eq(known, clock) => {}
            Some((_, known)) => Rc::make_mut(known).join(clock),
            None => to.push((*scope, clock.clone())),
        }
    }
}

impl Warp {
    fn new(id: WarpId) -> Warp {
        Warp { id, time: 0, used: false, groups: vec![Group { lanes: u32::MAX, ..Group::default() }] }
    }

    /// It accesses memory: the time of the event.
    #[inline]
    pub fn event(&mut self) -> u32 {
        self.used = true;
        self.time
    }

    #[inline]
    fn group(&self, lane: u32) -> &Group {
        self.groups.iter().find(|g| g.lanes >> lane & 1 != 0).unwrap_or(&self.groups[0])
    }

    /// What a lane knows of other threads.
    #[inline]
    pub fn known(&self, lane: u32) -> &Clock {
        &self.group(lane).known
    }

    pub fn fenced(&self, lane: u32) -> &Fenced {
        &self.group(lane).fenced
    }

    /// What these lanes know, and their own events until now.
    pub fn publish(&mut self, lanes: u32) -> Published {
        if self.used {
            self.time += 1;
            self.used = false;
        }
        let mut all: Option<Published> = None;
        for g in self.groups.iter().filter(|g| g.lanes & lanes != 0) {
            let one = Published { known: (*g.known).clone(), fenced: g.fenced.clone() };
            match &mut all {
                None => all = Some(one),
                Some(all) => all.join(&one),
            }
        }
        let mut all = all.unwrap_or_default();
        all.known.learn(self.id, lanes, self.time);
        all
    }

    /// Makes groups of these lanes alone, and calls `f` with each.
    fn for_lanes(&mut self, lanes: u32, mut f: impl FnMut(&mut Group)) {
        let mut parted = Vec::new();
        for g in &mut self.groups {
            let inside = g.lanes & lanes;
            if inside == 0 {
                continue;
            }
            if inside == g.lanes {
                f(g);
            } else {
                let mut new = Group { lanes: inside, ..g.clone() };
                g.lanes &= !inside;
                f(&mut new);
                parted.push(new);
            }
        }
        self.groups.append(&mut parted);
        self.regroup();
    }

    /// Joins groups that know the same.
    fn regroup(&mut self) {
        let mut i = 0;
        while i < self.groups.len() {
            let (head, tail) = self.groups.split_at_mut(i + 1);
            let g = &mut head[i];
            let same = |o: &Group| {
                Rc::ptr_eq(&o.known, &g.known)
                    && o.fenced.len() == g.fenced.len()
                    && o.fenced.iter().zip(&g.fenced).all(|(a, b)| a.0 == b.0 && Rc::ptr_eq(&a.1, &b.1))
                    && o.observed.is_none()
                    && g.observed.is_none()
            };
            let joined = tail.iter().filter(|o| same(o)).fold(0, |m, o| m | o.lanes);
            if joined != 0 {
                g.lanes |= joined;
                self.groups.retain(|o| o.lanes & !joined != 0 || o.lanes & joined == 0);
            }
            i += 1;
        }
    }

    /// These lanes know nothing but this from now on, which includes what they knew.
    pub fn replace(&mut self, lanes: u32, known: &Rc<Clock>, fenced: &Fenced) {
        self.for_lanes(lanes, |g| {
            g.known = known.clone();
            g.fenced.clone_from(fenced);
        });
    }

    /// These lanes learn what `clock` knows.
    pub fn learn(&mut self, lanes: u32, clock: &Rc<Clock>) {
        self.for_lanes(lanes, |g| {
            if !Rc::ptr_eq(&g.known, clock) {
                Rc::make_mut(&mut g.known).join(clock);
            }
        });
    }

    /// These lanes have observed what `clock` knows, and know it after a fence.
    pub fn observe(&mut self, lanes: u32, clock: &Rc<Clock>) {
        self.for_lanes(lanes, |g| match &mut g.observed {
            Some(observed) if Rc::ptr_eq(observed, clock) => {}
            Some(observed) => Rc::make_mut(observed).join(clock),
            None => g.observed = Some(clock.clone()),
        });
    }

    /// These lanes execute a fence.
    pub fn fence(&mut self, lanes: u32, order: Order) {
        if order.acquire {
            self.for_lanes(lanes, |g| {
                if let Some(observed) = g.observed.take() {
                    Rc::make_mut(&mut g.known).join(&observed);
                }
            });
        }
        if order.release {
            let now = Rc::new(self.publish(lanes).known);
            self.for_lanes(lanes, |g| {
                g.fenced.retain(|(scope, _)| *scope > order.scope);
                g.fenced.push((order.scope, now.clone()));
            });
        }
    }
}

/// The warps of the resident clusters.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// The number of the cluster by slot, and its warps so far, by rank and warp.
    slots: Vec<(u32, Vec<Warp>)>,
    /// Clusters started so far.
    clusters: u32,
    /// Of the CTAs by cluster, as in `%ctaid`.
    ctas: Vec<Vec<[u32; 3]>>,
}

impl Threads {
    /// A cluster starts.
    pub fn start(&mut self, slot: u32, ctas: &[[u32; 3]]) {
        let slot = slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Default::default);
        }
        let (cluster, warps) = &mut self.slots[slot];
        *cluster = self.clusters;
        warps.clear();
        self.clusters += 1;
        self.ctas.push(ctas.to_vec());
    }

    /// A warp of a resident cluster.
    #[inline]
    pub fn warp(&mut self, slot: u32, rank: u32, warp: u32) -> Option<&mut Warp> {
        let (cluster, warps) = self.slots.get_mut(slot as usize)?;
        let at = rank * 32 + warp;
        for next in warps.len() as u32..=at {
            warps.push(Warp::new(*cluster << 9 | next));
        }
        warps.get_mut(at as usize)
    }

    #[inline]
    pub fn of(&mut self, who: Who) -> Option<&mut Warp> {
        self.warp(who.slot, who.rank, who.warp)
    }

    /// `%ctaid`, CTA rank and warp.
    pub fn place(&self, warp: WarpId) -> ([u32; 3], u32, u32) {
        let (rank, number) = (warp >> 5 & 15, warp & 31);
        let ctas = self.ctas.get((warp >> 9) as usize);
        (ctas.and_then(|ctas| ctas.get(rank as usize)).copied().unwrap_or_default(), rank, number)
    }
}
