//! A launch step by step: each step is one visible operation of a warp, with what follows it until the next one, or the end of an
//! asynchronous operation. An [`Explorer`] chooses who makes the next step.

pub(crate) mod effect;

use crate::kernel::flow::Wait;
use crate::machine::schedule::Choice;
use effect::{Action, Effect, Relation, StepObject, depends};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An agent that makes steps: a warp, or an asynchronous operation that it has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct Process {
    /// 0 for a warp; asynchronous operations come last.
    pub operation: u32,
    /// The number of the cluster in the grid.
    pub cluster: u64,
    pub rank: u32,
    pub warp: u32,
}

impl Process {
    /// The grid, which starts the first clusters.
    pub const LAUNCH: Process = Process { operation: u32::MAX, cluster: u64::MAX, rank: 0, warp: 0 };

    /// The warp, or that which has started the operation.
    pub fn issuer(self) -> Process {
        Process { operation: 0, ..self }
    }
}

/// A step that was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Made {
    pub process: Process,
    pub effects: Vec<Effect>,
    /// Whether the step changed nothing and left its process where it was: a failed test in a loop, or a wait.
    pub idle: bool,
    /// The first statement of the step, if known.
    pub site: u32,
}

/// A part of a schedule, for reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    /// The process makes the next steps, from this statement on if it is known.
    Runs(Process, u32),
    /// A `try_wait` of the process returns false although it could wait, at this statement.
    GivesUp(Process, u32),
    /// A cluster starts before another one with a lower number.
    Starts { cluster: u64, before: u64 },
}

/// Chooses steps.
pub(crate) trait Explorer: Send {
    /// Prepares for a launch, of which a run may have several.
    fn begin(&mut self);
    /// Chooses the process that makes the next step; at least one is able to. If the process of the last step is able, it is the
    /// first.
    fn pick(&mut self, able: &[Process]) -> usize;
    /// Chooses one of `n` alternatives within a step, at a statement.
    fn choose(&mut self, what: Choice, n: usize, site: u32) -> usize;
    /// Records that the step has been made.
    fn made(&mut self, step: &Made);
}

/// An explorer that the hosts of a run share.
#[derive(Clone)]
pub(crate) struct SharedExplorer(Arc<Mutex<dyn Explorer>>);

impl SharedExplorer {
    pub fn new(explorer: Arc<Mutex<impl Explorer + 'static>>) -> Self {
        SharedExplorer(explorer)
    }

    pub fn lock(&self) -> MutexGuard<'_, dyn Explorer + 'static> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedExplorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedExplorer")
    }
}

/// The state of a launch that runs step by step.
pub(crate) struct Steps {
    explorer: SharedExplorer,
    /// The effects of the step that is being made.
    effects: Vec<Effect>,
    /// The barrier at which it has arrived to wait.
    waits: Option<StepObject>,
    /// Completed phases of mbarrier objects and barriers.
    phases: HashMap<StepObject, u32>,
    /// Operations that each warp has started.
    started: HashMap<Process, u32>,
    /// The process of each operation in flight, by its number in the launch.
    operations: HashMap<u64, Process>,
    /// The process that makes the step.
    pub current: Process,
    /// Processes that test in a loop: what they test, and the progress of the launch when they did last.
    idle: HashMap<Process, (Vec<Effect>, u64)>,
    /// Idle steps that the process has made in a row.
    tests_in_a_row: usize,
    /// The effects that happen before the next step of each process.
    resumed: HashMap<Process, Vec<Effect>>,
    /// Processes that have made a step which was not idle.
    begun: HashSet<Process>,
    /// The decisions that tell the schedule from others, in order.
    pub notes: Vec<Note>,
}

impl Steps {
    pub fn new(explorer: SharedExplorer) -> Self {
        explorer.lock().begin();
        Steps {
            explorer,
            effects: Vec::new(),
            waits: None,
            phases: HashMap::new(),
            started: HashMap::new(),
            operations: HashMap::new(),
            current: Process::default(),
            idle: HashMap::new(),
            tests_in_a_row: 0,
            resumed: HashMap::new(),
            begun: HashSet::new(),
            notes: Vec::new(),
        }
    }

    /// Chooses the process that makes the next step.
    pub fn pick(&mut self, able: &[Process]) -> usize {
        self.explorer.lock().pick(able).min(able.len() - 1)
    }

    /// Chooses one of `n` alternatives within a step.
    pub fn choose(&mut self, what: Choice, n: usize, site: u32) -> usize {
        let chosen = self.explorer.lock().choose(what, n, site).min(n - 1);
        if what == Choice::TimeOut && chosen != 0 {
            self.notes.push(Note::GivesUp(self.current, site));
        }
        chosen
    }

    /// A process begins a step.
    pub fn begin(&mut self, process: Process) {
        self.effects.clear();
        self.waits = None;
        if self.current != process {
            self.tests_in_a_row = 0;
        }
        self.current = process;
        if self.last_run().is_none_or(|(last, _)| *last != process) {
            self.notes.push(Note::Runs(process, u32::MAX));
        }
    }

    /// The grid starts its first clusters.
    pub fn begin_launch(&mut self) {
        self.effects.clear();
        self.waits = None;
        self.current = Process::LAUNCH;
    }

    /// The visible operation of the step is this statement.
    pub fn operates(&mut self, site: u32) {
        if let Some((_, first)) = self.last_run()
            && *first == u32::MAX
        {
            *first = site;
        }
    }

    /// The process that makes steps since the last change, and where it begins.
    fn last_run(&mut self) -> Option<(&mut Process, &mut u32)> {
        self.notes.iter_mut().rev().find_map(|note| match note {
            Note::Runs(process, site) => Some((process, site)),
            Note::GivesUp(..) | Note::Starts { .. } => None,
        })
    }

    /// Does the process test in a loop, and nothing has changed that it tests? `progress` is that of the launch.
    pub fn is_idle(&self, process: Process, progress: u64) -> bool {
        match self.idle.get(&process) {
            Some((tests, since)) => !tests.is_empty() || *since == progress,
            None => false,
        }
    }

    /// All processes may test again. False if none does in a loop.
    pub fn forget_idle(&mut self) -> bool {
        let some = !self.idle.is_empty();
        self.idle.clear();
        some
    }

    /// The step has been made, idle or not, with this progress of the launch. Its warp has this many other lanes that can run.
    pub fn end(&mut self, idle: bool, site: u32, (progress, others): (u64, usize)) {
        let mut effects = std::mem::take(&mut self.effects);
        self.tests_in_a_row = if idle { self.tests_in_a_row + 1 } else { 0 };
        if !idle {
            effects.extend(self.resumed.remove(&self.current).unwrap_or_default());
        }
        if !idle && self.begun.insert(self.current) {
            // it comes after what has started it
            let Process { operation, cluster, .. } = self.current;
            let start = if operation > 0 { self.current } else { Process { cluster, ..Process::default() } };
            effects.push(Effect { object: StepObject::Start(start), action: Action::After { phase: 0 } });
        }
        if idle && self.tests_in_a_row > others {
            self.idle.insert(self.current, (effects.clone(), progress));
        } else if !idle {
            let unchanged = |tests: &Vec<Effect>| depends(&effects, tests, &|_| false) == Relation::None;
            self.idle.retain(|_, (tests, _)| unchanged(tests));
        }
        let step = Made { process: self.current, effects, idle, site };
        self.explorer.lock().made(&step);
        self.effects = step.effects;
    }

    /// The step does this.
    pub fn effect(&mut self, object: StepObject, action: Action) {
        let new = Effect { object, action };
        if !self.effects.contains(&new) {
            self.effects.push(new);
        }
    }

    /// The step reads or writes bytes from an object on, four at a time.
    pub fn access(&mut self, object: impl Fn(u64) -> StepObject, offset: u64, bytes: u32, write: bool) {
        let action = if write { Action::Write } else { Action::Read };
        for at in offset / 4..(offset + u64::from(bytes)).div_ceil(4) {
            self.effect(object(at * 4), action);
        }
    }

    /// The step contributes to the current phase of an object, and may complete it.
    pub fn arrive(&mut self, object: StepObject, completes: bool) {
        let phase = self.phases.entry(object).or_default();
        let action = Action::Arrive { phase: *phase + 1, completes };
        *phase += u32::from(completes);
        self.effect(object, action);
    }

    /// The step arrives at a barrier, and waits for it or not.
    pub fn arrive_at(&mut self, barrier: StepObject, waits: bool) {
        self.waits = waits.then_some(barrier);
        self.arrive(barrier, false);
    }

    /// A barrier is complete, at which the step may have arrived.
    pub fn completes(&mut self, object: StepObject) {
        let phase = self.phases.entry(object).or_default();
        *phase += 1;
        let phase = *phase;
        let waits = self.waits.take() == Some(object);
        match self.effects.iter_mut().find(|e| e.object == object) {
            Some(Effect { action: Action::Arrive { completes, .. }, .. }) => *completes = true,
            _ => self.effect(object, Action::Arrive { phase, completes: true }),
        }
        if waits {
            self.effect(object, Action::After { phase });
        }
    }

    /// The step tests an object at a statement: a phase that has completed is the last one.
    pub fn look(&mut self, object: StepObject, done: bool, site: u32) {
        let last = self.phases.get(&object).copied().unwrap_or(0);
        self.effect(object, Action::Look { phase: last + u32::from(!done), done, site });
    }

    /// A wait of a process is over: its next step comes after what has ended it.
    pub fn resumes(&mut self, process: Process, wait: &Wait, slot: u32) {
        let rank = process.rank;
        let (object, phase) = match wait {
            // phases count from 1 here
            Wait::Barrier { id, generation } => (StepObject::Barrier(slot, rank, *id), generation.wrapping_add(1)),
            Wait::Cluster { phase } => (StepObject::Cluster(slot), phase.wrapping_add(1)),
            Wait::TensorMemory { pair, .. } => (allocator(slot, rank, *pair), 0),
            Wait::Registers { .. } => (StepObject::Registers(slot, rank), 0),
            // the lanes of a warp are one process; the others test again
            Wait::WarpSync { .. } | Wait::WholeWarp { .. } => return,
            Wait::Mbarrier(_) | Wait::Phase { .. } | Wait::Warpgroup { .. } => return,
        };
        let effect = Effect { object, action: Action::After { phase } };
        self.resumed.entry(process).or_default().push(effect);
    }

    /// The current process starts an operation.
    pub fn starts(&mut self, id: u64) {
        let issuer = self.current.issuer();
        let nth = self.started.entry(issuer).or_default();
        *nth += 1;
        let operation = Process { operation: *nth, ..issuer };
        self.operations.insert(id, operation);
        self.effect(StepObject::Start(operation), Action::Write);
    }

    /// A cluster, by number, becomes resident in a slot: because of the step, if one is being made.
    pub fn starts_cluster(&mut self, slot: u32, cluster: u64) {
        self.effect(StepObject::Start(Process { cluster, ..Process::default() }), Action::Write);
        self.effect(StepObject::Queue, Action::Write);
        self.phases.retain(|object, _| match object {
            StepObject::Barrier(of, ..) | StepObject::Cluster(of) => *of != slot,
            _ => true,
        });
    }

    /// The process of an operation in flight.
    pub fn operation(&self, id: u64) -> Option<Process> {
        self.operations.get(&id).copied()
    }
}

/// The allocator of Tensor Memory of a CTA, or with `.cta_group::2` of its pair.
pub(crate) fn allocator(slot: u32, rank: u32, pair: bool) -> StepObject {
    StepObject::Allocator(slot, if pair { rank & !1 } else { rank })
}
