//! A timeline: slices on tracks, moments, and arrows between slices.

/// The time of a turn: slices within one turn are in order too.
pub(super) const TURN: u64 = 1000;
/// Slices that are kept.
const MOST: usize = 1_000_000;

/// The kind of a slice.
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
    /// The owner of the track: a CTA of a resident cluster, or the grid.
    pub process: String,
    /// The name of the track.
    pub name: String,
    /// The place of the track among those of the process.
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
    /// The kind of the slice.
    pub kind: Kind,
    /// The description of the slice.
    pub name: String,
    /// The time at which the slice starts.
    pub from: u64,
    /// The time at which the slice ends.
    pub to: u64,
    /// Further names and values.
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
    /// The description of the instant.
    pub name: String,
    /// The time of the instant.
    pub at: u64,
}

/// An arrow from the end of an asynchronous operation to its arrival at an mbarrier object.
///
/// [Example](crate::observe::trace).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrow {
    /// The index of the slice of the operation.
    pub from: usize,
    /// The slice of the arrival.
    pub to: usize,
}

/// The events of a launch, and their times.
///
/// [Example](crate::observe::trace).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeline {
    /// Name of the kernel.
    pub kernel: String,
    /// The tracks, in the order of their first slices.
    pub tracks: Vec<Track>,
    /// The slices, in the order of their starts.
    pub slices: Vec<Slice>,
    /// The instants, in the order of their times.
    pub instants: Vec<Instant>,
    /// The arrows, in order.
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
