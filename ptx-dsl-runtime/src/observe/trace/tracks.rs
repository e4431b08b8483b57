//! The tracks of a timeline: one for each warp, CTA and mbarrier object, and as many for asynchronous operations as are in flight.
//! Fragments of a warp that run and wait at the same time have tracks of their own.

use super::timeline::Timeline;
use crate::kernel::variables::{Variables, mbarrier};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The subject of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TrackKey {
    Grid,
    Cta { slot: u32, rank: u32 },
    Warp { slot: u32, rank: u32, warp: u32, part: u32 },
    Mbarrier { slot: u32, rank: u32, offset: u32 },
    Async { slot: u32, rank: u32, part: u32 },
}

impl TrackKey {
    /// The process of the track, its name, and its place among the tracks of the process.
    fn describe(self, variables: Option<&Variables>) -> (String, String, u64) {
        let cta = |slot, rank| format!("slot {slot}, CTA rank {rank}");
        match self {
            TrackKey::Grid => ("grid".to_owned(), "clusters".to_owned(), 0),
            TrackKey::Cta { slot, rank } => (cta(slot, rank), "CTA".to_owned(), 0),
            TrackKey::Warp { slot, rank, warp, part } => {
                let name = if part == 0 { format!("warp {warp}") } else { format!("warp {warp}, part {}", part + 1) };
                (cta(slot, rank), name, 1 + u64::from(warp) * 64 + u64::from(part))
            }
            TrackKey::Mbarrier { slot, rank, offset } => {
                let variable = variables.and_then(|all| all.in_shared(offset));
                let name = mbarrier(offset, variable.map(|v| (v.name.as_str(), v.from)));
                (cta(slot, rank), name, (1 << 20) + u64::from(offset))
            }
            TrackKey::Async { slot, rank, part } => {
                (cta(slot, rank), format!("asynchronous {}", part + 1), (1 << 40) + u64::from(part))
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Tracks {
    variables: Option<Arc<Variables>>,
    known: HashMap<TrackKey, usize>,
    occupied: HashSet<TrackKey>,
}

impl Tracks {
    /// The names of mbarrier objects are those of these variables.
    pub fn name(&mut self, variables: Arc<Variables>) {
        self.variables = Some(variables);
    }

    /// The track for a key.
    pub fn get(&mut self, timeline: &mut Timeline, key: TrackKey) -> usize {
        *self.known.entry(key).or_insert_with(|| {
            let (process, name, order) = key.describe(self.variables.as_deref());
            timeline.track(process, name, order)
        })
    }

    /// Occupies the first free track among the parts 0, 1, 2, ...
    pub fn occupy(&mut self, timeline: &mut Timeline, key: impl Fn(u32) -> TrackKey) -> (TrackKey, usize) {
        let mut part = 0;
        while !self.occupied.insert(key(part)) {
            part += 1;
        }
        (key(part), self.get(timeline, key(part)))
    }

    pub fn free(&mut self, key: TrackKey) {
        self.occupied.remove(&key);
    }
}
