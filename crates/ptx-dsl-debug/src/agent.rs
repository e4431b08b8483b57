//! The debugger on the thread of the launch: counts statements, finds where to stop, and stands still there.

use crate::breaks::Breaks;
use crate::machine::Machine;
use crate::session::{Moment, Reason, Stop};
use crate::{Program, Source};
use ptx_dsl_runtime::Fault;
use ptx_dsl_runtime::debug::image::{Image, Register};
use ptx_dsl_runtime::debug::{Before, CodePlace, Debugger, Resume, Stopped, WarpId};
use ptx_dsl_runtime::monitor::{Access, By, Sync, Who};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

/// A question to a launch that stands still.
pub(crate) type Question = Box<dyn FnOnce(&Machine<'_>) + Send>;

/// What a session tells a launch.
pub(crate) enum Command {
    /// Answer this.
    Ask(Question),
    /// Go on.
    Go(Goal),
    /// End.
    Quit,
}

/// Where a launch stops next, apart from breakpoints.
#[derive(Debug, Clone)]
pub(crate) enum Goal {
    /// Nowhere.
    Continue,
    /// At the next statement of this warp.
    Step(WarpId),
    /// At the next statement of any warp.
    Next,
    /// At this statement of the launch, and at no breakpoint.
    To(u64, Reason),
    /// At this statement; the last stop before it is told.
    Scan(u64, Hits),
    /// At one of these places, if it is this warp, and at breakpoints.
    Until(Option<WarpId>, BTreeSet<CodePlace>),
}

/// What counts as a stop of [`Goal::Scan`].
#[derive(Debug, Clone)]
pub(crate) enum Hits {
    /// Breakpoints.
    Breaks,
    /// These statements of a warp.
    Places(WarpId, BTreeSet<CodePlace>),
}

/// What a launch tells its session.
pub(crate) enum Event {
    /// It stands still.
    Stopped(Stop),
    /// It has run up to the statement of [`Goal::Scan`], where it stands still. The last stop before, if there was one.
    Scanned(Option<(u64, Reason)>),
    /// It has ended.
    Ended(Box<Result<ptx_dsl_runtime::Report, ptx_dsl_runtime::Error>>),
}

/// What a debugger knows of a warp.
#[derive(Debug, Clone, Default)]
pub(crate) struct WarpMarks {
    /// The numbers of the last two statements, the last one first.
    pub counts: [u64; 2],
    /// The last place.
    pub last: Option<Before>,
    /// For registers of the text that are several in the image: the one that each lane has written last, by the number of the
    /// [variable](crate::Variable).
    pub owners: BTreeMap<usize, [Register; 32]>,
}

impl WarpMarks {
    /// The warp comes to a statement: it has executed the last one.
    fn comes_to(&mut self, program: &Program, before: &Before, guard: u32) {
        if let Some(last) = self.last.replace(Before { lanes: before.lanes & guard, ..*before }) {
            for (variable, register) in program.results(last.at) {
                let first = program.variables()[variable].registers[0];
                let owners = self.owners.entry(variable).or_insert([first; 32]);
                (0..32).filter(|lane| last.lanes >> lane & 1 != 0).for_each(|lane| owners[lane] = register);
            }
        }
    }
}

/// The lanes in which the guard of a statement holds. All, unless it writes a register whose owner is told apart.
fn guard(program: &Program, before: &Before, launch: &dyn Stopped) -> u32 {
    if program.results(before.at).next().is_none() {
        return u32::MAX;
    }
    let Some(guard) = program.instr(before.at).and_then(|instr| instr.guard) else { return u32::MAX };
    let Some(lanes) = launch.register(before.warp, guard.register) else { return u32::MAX };
    (0..32).fold(0, |mask, lane| mask | u32::from((lanes[lane] & 1 != 0) == guard.holds) << lane)
}

/// What a debugger knows of a launch besides its state.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    /// The number of the last statement.
    pub count: u64,
    pub warps: BTreeMap<WarpId, WarpMarks>,
    /// mbarrier objects: slot, rank and offset.
    pub mbarriers: BTreeSet<(u32, u32, u32)>,
    /// The last stop that a scan has found.
    pub found: Option<(u64, Reason)>,
}

/// What a session shares with the thread of a launch.
pub(crate) struct Shared {
    pub commands: Mutex<Receiver<Command>>,
    pub events: Mutex<Sender<Event>>,
    /// The first goal.
    pub goal: Goal,
    pub source: Source,
    pub breaks: Mutex<Arc<Breaks>>,
    /// Changes with `breaks`.
    pub version: AtomicU64,
    /// Stop at the next statement.
    pub pause: AtomicBool,
    /// End at the next statement.
    pub quit: AtomicBool,
    /// The marks of the launch, when it has ended.
    pub marks: Mutex<Marks>,
    pub program: Mutex<Option<Arc<Program>>>,
}

/// Locks, also after a panic of another thread.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The debugger of a launch on its thread.
pub struct Agent {
    shared: Arc<Shared>,
    program: Option<Arc<Program>>,
    goal: Goal,
    breaks: Arc<Breaks>,
    version: u64,
    marks: Marks,
    /// A write or a phase at which the launch stops.
    noticed: Option<Reason>,
    quits: bool,
}

impl Agent {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let breaks = lock(&shared.breaks).clone();
        let (goal, version) = (shared.goal.clone(), u64::MAX);
        Agent { shared, program: None, goal, breaks, version, marks: Marks::default(), noticed: None, quits: false }
    }

    /// Takes breakpoints over that have changed.
    fn refresh(&mut self) {
        let version = self.shared.version.load(Ordering::Acquire);
        if version == self.version {
            return;
        }
        self.version = version;
        let mut breaks = lock(&self.shared.breaks).as_ref().clone();
        if let Some(program) = &self.program {
            breaks.resolve(program);
        }
        self.breaks = Arc::new(breaks);
    }

    /// The breakpoint at a line at which these lanes stop.
    fn line_break(&self, program: &Program, before: &Before, launch: &dyn Stopped) -> Option<Reason> {
        let all = self.breaks.places.get(&before.at)?;
        all.iter().find_map(|n| {
            let of = &self.breaks.lines[*n];
            let Some(condition) = &of.condition else { return Some(Reason::Breakpoint(of.id)) };
            let machine = Machine { program, launch, before: *before, count: self.marks.count, marks: &self.marks };
            match condition.holds(&machine, before.warp, before.lanes) {
                Ok(true) => Some(Reason::Breakpoint(of.id)),
                Ok(false) => None,
                Err(error) => Some(Reason::Condition(of.id, error)),
            }
        })
    }

    /// Why the launch stops before a statement.
    fn reason(&mut self, program: &Program, before: &Before, launch: &dyn Stopped) -> Option<Reason> {
        let (count, stops) = (self.marks.count, program.stops(before.at));
        let noticed = self.noticed.take();
        match &self.goal {
            Goal::To(at, reason) => return (count == *at).then(|| reason.clone()),
            Goal::Scan(at, hits) => {
                if count == *at {
                    return Some(Reason::Step);
                }
                let hit = match hits {
                    Hits::Breaks if stops => self.line_break(program, before, launch),
                    Hits::Breaks => None,
                    Hits::Places(warp, places) => {
                        (*warp == before.warp && places.contains(&before.at)).then_some(Reason::Step)
                    }
                };
                if let Some(reason) = hit {
                    self.marks.found = Some((count, reason));
                }
                return None;
            }
            _ => {}
        }
        if noticed.is_some() {
            return noticed;
        }
        if self.shared.pause.swap(false, Ordering::Relaxed) {
            return Some(Reason::Pause);
        }
        if !stops {
            return None;
        }
        let reached = match &self.goal {
            Goal::Step(warp) => *warp == before.warp,
            Goal::Next => true,
            Goal::Until(warp, places) => warp.is_none_or(|warp| warp == before.warp) && places.contains(&before.at),
            Goal::Continue | Goal::To(..) | Goal::Scan(..) => false,
        };
        self.line_break(program, before, launch).or_else(|| reached.then_some(Reason::Step))
    }

    /// Keeps the launch where it is until it is told to go on.
    fn stand(&mut self, program: &Program, reason: Reason, before: &Before, launch: &dyn Stopped) -> Resume {
        let event = match self.goal {
            Goal::Scan(..) => Event::Scanned(self.marks.found.take()),
            _ => Event::Stopped(Stop {
                reason,
                at: Moment { count: self.marks.count, warp: before.warp, lanes: before.lanes },
                line: program.line(before.at),
                turns: launch.turns(),
            }),
        };
        if lock(&self.shared.events).send(event).is_err() {
            self.quits = true;
            return Resume::Ends;
        }
        loop {
            let command = lock(&self.shared.commands).recv();
            match command {
                Ok(Command::Ask(question)) => {
                    let machine =
                        Machine { program, launch, before: *before, count: self.marks.count, marks: &self.marks };
                    question(&machine);
                }
                Ok(Command::Go(goal)) => {
                    self.goal = goal;
                    return Resume::Runs;
                }
                Ok(Command::Quit) | Err(_) => {
                    self.quits = true;
                    return Resume::Ends;
                }
            }
        }
    }

    /// A write or a phase that a breakpoint waits for. A scan finds the statement that makes it; another launch stops after it.
    fn notice(&mut self, reason: Reason) {
        match &self.goal {
            Goal::Scan(at, Hits::Breaks) if self.marks.count < *at => {
                self.marks.found = Some((self.marks.count, reason))
            }
            Goal::Scan(..) | Goal::To(..) => {}
            _ => {
                self.noticed.get_or_insert(reason);
            }
        }
    }
}

impl Debugger for Agent {
    fn code(&mut self, image: &Arc<Image>) {
        let program = Arc::new(Program::new(self.shared.source.clone(), image.clone()));
        *lock(&self.shared.program) = Some(program.clone());
        self.program = Some(program);
        self.version = u64::MAX;
        self.refresh();
    }

    fn cluster(&mut self, slot: u32) {
        self.marks.warps.retain(|warp, _| warp.slot != slot);
        self.marks.mbarriers.retain(|(of, _, _)| *of != slot);
    }

    fn statement(&mut self, before: &Before, launch: &dyn Stopped) -> Resume {
        self.marks.count += 1;
        if self.shared.quit.load(Ordering::Relaxed) {
            self.quits = true;
            return Resume::Ends;
        }
        let Some(program) = self.program.clone() else { return Resume::Runs };
        let (count, guard) = (self.marks.count, guard(&program, before, launch));
        let own = self.marks.warps.entry(before.warp).or_default();
        own.comes_to(&program, before, guard);
        if program.stops(before.at) {
            own.counts = [count, own.counts[0]];
        }
        self.refresh();
        match self.reason(&program, before, launch) {
            Some(reason) => self.stand(&program, reason, before, launch),
            None => Resume::Runs,
        }
    }

    fn wants_accesses(&self) -> bool {
        !self.breaks.writes.is_empty()
    }

    fn access(&mut self, access: &Access) {
        let Some(hit) = self.breaks.writes.iter().find(|of| of.is_hit(access)) else { return };
        let warp = WarpId { slot: access.who.slot, rank: access.who.rank, warp: access.who.warp };
        let is_asynchronous = access.by != By::Thread;
        let reason =
            Reason::Write { id: hit.id, text: hit.text.clone(), warp, lanes: access.who.lanes, is_asynchronous };
        self.notice(reason);
    }

    fn sync(&mut self, what: Sync, who: Who) {
        let slot = who.slot;
        match what {
            Sync::MbarrierInit { rank, offset } => {
                self.marks.mbarriers.insert((slot, rank, offset));
            }
            Sync::MbarrierInval { rank, offset } => {
                self.marks.mbarriers.remove(&(slot, rank, offset));
            }
            Sync::MbarrierPhase { rank, offset } => {
                let is_hit = |of: &&crate::breaks::PhaseBreak| (of.slot, of.rank, of.offset) == (slot, rank, offset);
                if let Some(hit) = self.breaks.phases.iter().find(is_hit) {
                    self.notice(Reason::Phase { id: hit.id, rank, offset });
                }
            }
            _ => {}
        }
    }

    fn fails(&mut self, fault: &Fault, before: &Before, launch: &dyn Stopped) {
        if self.quits || !self.breaks.faults || matches!(self.goal, Goal::To(..) | Goal::Scan(..)) {
            return;
        }
        let Some(program) = self.program.clone() else { return };
        // the launch ends whatever follows
        let _ = self.stand(&program, Reason::Fault(fault.to_string()), before, launch);
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        *lock(&self.shared.marks) = std::mem::take(&mut self.marks);
    }
}
