//! A monitor that draws a timeline: what each warp ran and waited for, asynchronous operations, phases of mbarrier objects.
//!
//! ```
//! # use ptx_dsl_runtime::{Host, trace::Tracer};
//! # fn launch(_: &Host<Tracer>) {}
//! let host = Host::trace();
//! launch(&host);
//! let json = host.timeline().to_json();
//! # assert!(json.contains("traceEvents"));
//! ```

mod html;
mod json;
mod save;
mod timeline;
mod tracks;

pub use timeline::{Arrow, Instant, Kind, Slice, Timeline, Track};

use crate::fault::At;
use crate::fault::FaultKind;
use crate::fault::words;
use crate::kernel::KernelInfo;
use crate::kernel::flow::Wait;
use crate::kernel::variables::Variables;
use crate::observe::monitor::{Event, Monitor, Order, Sync, Wants, Who};
use crate::observe::probe::Probe;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use timeline::TURN;
use tracks::{TrackKey, Tracks};

/// Regions that the name of a slice lists at most.
const NAMED: usize = 3;

/// The place of an mbarrier object: slot, CTA rank, offset.
type MbarrierKey = (u32, u32, u32);

/// Draws a [`Timeline`] of a launch.
#[derive(Debug, Default)]
pub struct Tracer {
    /// The destination of the timeline when the launch ends.
    result: Arc<Mutex<Timeline>>,
    timeline: Timeline,
    tracks: Tracks,
    statements: Vec<At>,
    /// The last time.
    now: u64,
    running: Vec<Running>,
    /// The slices of warps that wait, by the first warp and its lanes, and by warp.
    waiting: HashMap<(Who, u32), Vec<Held>>,
    in_flight: HashMap<u64, OpenCopy>,
    /// The slice of the current phase, and the number of phases before it.
    phases: HashMap<MbarrierKey, (usize, u64)>,
    /// The slices of the CTAs of each slot.
    ctas: HashMap<u32, Vec<usize>>,
}

/// A slice on a track that it occupies.
#[derive(Debug)]
struct Held {
    slice: usize,
    key: TrackKey,
}

/// A warp that runs.
#[derive(Debug)]
struct Running {
    held: Held,
    warp: u32,
    names: Vec<String>,
    regions: u64,
    /// The first and the last PTX line, as far as statements have numbers.
    lines: Option<(u32, u32)>,
    /// The place in the source of the first region, and where it is inlined.
    source: Option<(String, String)>,
}

#[derive(Debug)]
struct OpenCopy {
    held: Held,
    slot: u32,
    mbarrier: Option<(u32, u32)>,
}

impl Tracer {
    /// A tracer whose timeline goes there when the launch ends.
    pub(crate) fn to(result: Arc<Mutex<Timeline>>) -> Tracer {
        Tracer { result, ..Tracer::default() }
    }

    /// The timeline of the last launch that has ended, empty before the first one.
    pub(crate) fn result(&self) -> Timeline {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Monitor for Tracer {
    fn wants(&self) -> Wants {
        Wants { events: true, ..Wants::default() }
    }

    fn launch(&mut self, kernel: &KernelInfo<'_>) {
        self.timeline.kernel = kernel.name.to_owned();
        self.statements = (0..).map_while(|site| kernel.at(site)).collect();
    }

    fn sync(&mut self, what: Sync, _: Order, who: Who) -> Result<(), FaultKind> {
        match what {
            Sync::MbarrierInit { rank, offset } => {
                self.tick();
                self.end_phase((who.slot, rank, offset));
                self.start_phase((who.slot, rank, offset), 0);
            }
            Sync::MbarrierInval { rank, offset } => {
                self.tick();
                self.end_phase((who.slot, rank, offset));
            }
            _ => {}
        }
        Ok(())
    }

    fn event(&mut self, turns: u64, event: Event<'_>) {
        self.now = (turns * TURN).max(self.now + 1);
        match event {
            Event::ClusterStarts { slot, id, ctas } => self.cluster_starts(slot, id, ctas),
            Event::ClusterEnds { slot } => self.cluster_ends(slot),
            Event::Cancels { who, first } => self.cancels(who, first),
            Event::Runs { who, warps } => self.runs(who, warps),
            Event::Region { who, warps, name } => self.region(who, warps, name),
            Event::Pauses => self.pauses(),
            Event::Waits { who, warps, wait, reason } => self.waits(who, warps, wait, reason),
            Event::Resumes { who, warps, timed_out } => self.resumes(who, warps, timed_out),
            Event::Issues { id, who, mbarrier } => self.issues(id, who, mbarrier),
            Event::Completes { id } => self.completes(id),
            Event::Phase { slot, rank, offset, .. } => self.phase_completes((slot, rank, offset)),
            Event::Ends { failed } => self.ends(failed),
        }
    }
}

impl Probe for Tracer {
    fn variables(&mut self, variables: Arc<Variables>) {
        self.tracks.name(variables);
    }
}

impl Tracer {
    /// The next moment: no two things happen at the same time.
    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// Starts a slice on the first free track of a kind.
    fn start(&mut self, kind: Kind, name: String, key: impl Fn(u32) -> TrackKey) -> Held {
        let (key, track) = self.tracks.occupy(&mut self.timeline, key);
        Held { slice: self.timeline.start(track, kind, name, self.now), key }
    }

    fn end(&mut self, held: &Held) {
        self.timeline.end(held.slice, self.now);
        self.tracks.free(held.key);
    }

    /// The statement of a slice, with its lines.
    fn locate(&mut self, slice: usize, site: u32) {
        let Some(at) = self.statements.get(site as usize) else { return };
        self.timeline.note(slice, "statement", at.text.clone());
        self.timeline.note(slice, "PTX line", at.line.to_string());
        let source = source(at);
        self.note_source(slice, source);
    }

    fn note_source(&mut self, slice: usize, (source, inlined_at): (String, String)) {
        self.timeline.note(slice, "source", source);
        if !inlined_at.is_empty() {
            self.timeline.note(slice, "inlined at", inlined_at);
        }
    }

    fn cluster_starts(&mut self, slot: u32, id: [u32; 3], ctas: &[[u32; 3]]) {
        let track = self.tracks.get(&mut self.timeline, TrackKey::Grid);
        self.timeline.instant(track, format!("cluster {} starts", words::id(id)), self.now);
        let mut slices = Vec::new();
        for (rank, cta) in (0..).zip(ctas) {
            let track = self.tracks.get(&mut self.timeline, TrackKey::Cta { slot, rank });
            slices.push(self.timeline.start(track, Kind::Cta, format!("CTA {}", words::id(*cta)), self.now));
        }
        self.ctas.insert(slot, slices);
    }

    fn cluster_ends(&mut self, slot: u32) {
        for slice in self.ctas.remove(&slot).unwrap_or_default() {
            self.timeline.end(slice, self.now);
        }
        let objects: Vec<MbarrierKey> = self.phases.keys().copied().filter(|object| object.0 == slot).collect();
        for object in objects {
            self.end_phase(object);
        }
    }

    fn cancels(&mut self, who: Who, first: Option<[u32; 3]>) {
        let name = match first {
            Some(first) => format!("cluster of CTA {} is cancelled", words::id(first)),
            None => "no cluster is left to cancel".to_owned(),
        };
        let grid = self.tracks.get(&mut self.timeline, TrackKey::Grid);
        self.timeline.instant(grid, name.clone(), self.now);
        let cta = self.tracks.get(&mut self.timeline, TrackKey::Cta { slot: who.slot, rank: who.rank });
        self.timeline.instant(cta, name, self.now);
    }

    fn runs(&mut self, who: Who, warps: u32) {
        for warp in who.warp..who.warp + warps {
            let held = self.start(Kind::Run, String::new(), |part| warp_key(who, warp, part));
            if who.lanes != u32::MAX {
                self.timeline.note(held.slice, "lanes", format!("{:#010x}", who.lanes));
            }
            self.running.push(Running { held, warp, names: Vec::new(), regions: 0, lines: None, source: None });
        }
    }

    fn region(&mut self, who: Who, warps: u32, name: &str) {
        let these = who.warp..who.warp + warps;
        let at = self.statements.get(who.site as usize);
        for running in self.running.iter_mut().filter(|r| these.contains(&r.warp)) {
            running.regions += 1;
            if let Some(at) = at {
                let (first, last) = running.lines.unwrap_or((at.line, at.line));
                running.lines = Some((first.min(at.line), last.max(at.line)));
                running.source.get_or_insert_with(|| source(at));
            }
            if running.names.len() <= NAMED && running.names.iter().all(|known| known != name) {
                running.names.push(name.to_owned());
            }
        }
    }

    fn pauses(&mut self) {
        for mut running in std::mem::take(&mut self.running) {
            if running.names.len() > NAMED {
                running.names[NAMED] = "...".to_owned();
            }
            self.timeline.name(running.held.slice, running.names.join(", "));
            self.timeline.note(running.held.slice, "regions", running.regions.to_string());
            if let Some((first, last)) = running.lines {
                let lines = if first == last { first.to_string() } else { format!("{first} to {last}") };
                self.timeline.note(running.held.slice, "PTX lines", lines);
            }
            if let Some(source) = running.source.take() {
                self.note_source(running.held.slice, source);
            }
            self.end(&running.held);
        }
    }

    fn waits(&mut self, who: Who, warps: u32, wait: &Wait, reason: &str) {
        let mut all = Vec::new();
        for warp in who.warp..who.warp + warps {
            let held = self.start(Kind::Wait, short(wait), |part| warp_key(who, warp, part));
            self.timeline.note(held.slice, "reason", reason.to_owned());
            self.locate(held.slice, who.site);
            all.push(held);
        }
        self.waiting.insert((Who { site: 0, ..who }, warps), all);
    }

    fn resumes(&mut self, who: Who, warps: u32, timed_out: bool) {
        for held in self.waiting.remove(&(Who { site: 0, ..who }, warps)).unwrap_or_default() {
            if timed_out {
                self.timeline.note(held.slice, "end", "`try_wait` returns false".to_owned());
            }
            self.end(&held);
        }
    }

    fn issues(&mut self, id: u64, who: Who, mbarrier: Option<(u32, u32)>) {
        let text = self.statements.get(who.site as usize).map(|at| at.text.as_str()).unwrap_or_default();
        let opcode = text.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or("operation");
        let name = opcode.trim_end_matches(';').to_owned();
        let held = self.start(Kind::Async, name, |part| TrackKey::Async { slot: who.slot, rank: who.rank, part });
        self.locate(held.slice, who.site);
        self.timeline.note(held.slice, "issued by", format!("warp {} lane {}", who.warp, who.lanes.trailing_zeros()));
        self.in_flight.insert(id, OpenCopy { held, slot: who.slot, mbarrier });
    }

    /// An operation completes. Its arrival is a slice of its own within that of the phase.
    fn completes(&mut self, id: u64) {
        let Some(op) = self.in_flight.remove(&id) else { return };
        self.end(&op.held);
        let Some((rank, offset)) = op.mbarrier else { return };
        self.tick();
        let track = self.tracks.get(&mut self.timeline, TrackKey::Mbarrier { slot: op.slot, rank, offset });
        let arrival = self.timeline.start(track, Kind::Phase, "arrival".to_owned(), self.now);
        self.timeline.arrow(op.held.slice, arrival);
        self.tick();
        self.timeline.end(arrival, self.now);
    }

    fn start_phase(&mut self, object: MbarrierKey, number: u64) {
        let (slot, rank, offset) = object;
        let track = self.tracks.get(&mut self.timeline, TrackKey::Mbarrier { slot, rank, offset });
        let slice = self.timeline.start(track, Kind::Phase, format!("phase {number}"), self.now);
        self.phases.insert(object, (slice, number));
    }

    fn end_phase(&mut self, object: MbarrierKey) -> Option<u64> {
        let (slice, number) = self.phases.remove(&object)?;
        self.timeline.end(slice, self.now);
        Some(number)
    }

    fn phase_completes(&mut self, object: MbarrierKey) {
        if let Some(number) = self.end_phase(object) {
            self.start_phase(object, number + 1);
        }
    }

    fn ends(&mut self, failed: bool) {
        let reason = if failed { "the launch fails" } else { "the launch is over" };
        self.timeline.finish(self.now, reason);
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = std::mem::take(&mut self.timeline);
    }
}

/// The place in the source, and where that is inlined.
fn source(at: &At) -> (String, String) {
    (at.source(), at.inlined_at())
}

fn warp_key(who: Who, warp: u32, part: u32) -> TrackKey {
    TrackKey::Warp { slot: who.slot, rank: who.rank, warp, part }
}

/// The name of a wait.
fn short(wait: &Wait) -> String {
    match wait {
        Wait::Barrier { id, .. } => format!("barrier {id}"),
        Wait::Cluster { .. } => "cluster barrier".to_owned(),
        Wait::Phase { offset, parity, .. } => format!("mbarrier {offset:#x}, parity {parity}"),
        Wait::Mbarrier(_) => "mbarriers".to_owned(),
        Wait::WarpSync { .. } | Wait::WholeWarp { .. } => "lanes of the warp".to_owned(),
        Wait::Registers { .. } => "registers".to_owned(),
        Wait::Warpgroup { .. } => "wgmma of the warpgroup".to_owned(),
        Wait::TensorMemory { .. } => "Tensor Memory".to_owned(),
    }
}
