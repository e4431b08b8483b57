//! A timeline: slices on tracks, moments, and arrows between slices.

/// The time of a turn: slices within one turn are in order too.
pub(super) const TURN: u64 = 1000;
/// Slices that are kept.
const MOST: usize = 1_000_000;

/// What a slice is.
///
/// [Example](crate::observe::trace).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A warp runs.
    Run,
    /// A warp waits.
    Wait,
    /// An asynchronous operation is in flight.
    Async,
    /// A phase of an mbarrier object, or an arrival of an asynchronous operation within it.
    Phase,
    /// A CTA is resident.
    Cta,
}

/// A row of the timeline.
///
/// [Example](crate::observe::trace).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Track {
    /// What it belongs to: a CTA of a resident cluster, or the grid.
    pub process: String,
    /// Its name.
    pub name: String,
    /// Its place among the tracks of the process.
    pub order: u64,
}

/// Something that lasts. Times are thousandths of turns: a turn is a region that a warp runs.
///
/// [Example](crate::observe::trace).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slice {
    /// The index of its track.
    pub track: usize,
    /// What it is.
    pub kind: Kind,
    /// In words.
    pub name: String,
    /// When it starts.
    pub from: u64,
    /// When it ends.
    pub to: u64,
    /// More about it: names and values.
    pub notes: Vec<(&'static str, String)>,
}

/// Something that does not last.
///
/// [Example](crate::observe::trace).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instant {
    /// The index of its track.
    pub track: usize,
    /// In words.
    pub name: String,
    /// When.
    pub at: u64,
}

/// From the end of an asynchronous operation to its arrival at an mbarrier object.
///
/// [Example](crate::observe::trace).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrow {
    /// The index of the slice of the operation.
    pub from: usize,
    /// That of the arrival.
    pub to: usize,
}

/// What happened in a launch, and when.
///
/// [Example](crate::observe::trace).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeline {
    /// Name of the kernel.
    pub kernel: String,
    /// In the order of their first slices.
    pub tracks: Vec<Track>,
    /// In the order of their starts.
    pub slices: Vec<Slice>,
    /// In order.
    pub instants: Vec<Instant>,
    /// In order.
    pub arrows: Vec<Arrow>,
    /// Slices that were too many to keep.
    pub dropped: u64,
}

/// The end of a slice that has not ended, and the index of one that is not kept.
const OPEN: u64 = u64::MAX;
const DROPPED: usize = usize::MAX;

impl Timeline {
    pub(super) fn track(&mut self, process: String, name: String, order: u64) -> usize {
        self.tracks.push(Track { process, name, order });
        self.tracks.len() - 1
    }

    pub(super) fn start(&mut self, track: usize, kind: Kind, name: String, from: u64) -> usize {
        if self.slices.len() >= MOST {
            self.dropped += 1;
            return DROPPED;
        }
        self.slices.push(Slice { track, kind, name, from, to: OPEN, notes: Vec::new() });
        self.slices.len() - 1
    }

    pub(super) fn end(&mut self, slice: usize, to: u64) {
        if let Some(slice) = self.slices.get_mut(slice) {
            slice.to = to;
        }
    }

    pub(super) fn name(&mut self, slice: usize, name: String) {
        if let Some(slice) = self.slices.get_mut(slice) {
            slice.name = name;
        }
    }

    pub(super) fn note(&mut self, slice: usize, name: &'static str, value: String) {
        if let Some(slice) = self.slices.get_mut(slice) {
            slice.notes.push((name, value));
        }
    }

    pub(super) fn instant(&mut self, track: usize, name: String, at: u64) {
        if self.instants.len() < MOST {
            self.instants.push(Instant { track, name, at });
        }
    }

    pub(super) fn arrow(&mut self, from: usize, to: usize) {
        if from != DROPPED && to != DROPPED {
            self.arrows.push(Arrow { from, to });
        }
    }

    /// Ends what has not ended.
    pub(super) fn finish(&mut self, to: u64, reason: &str) {
        for slice in self.slices.iter_mut().filter(|s| s.to == OPEN) {
            slice.to = to;
            slice.notes.push(("end", reason.to_owned()));
        }
    }
}
