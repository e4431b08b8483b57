//! Time and decisions: turns, the step budget, progress, and the scheduler's choices.

use crate::kernel::flow::Pc;
use crate::machine::endless::EndlessGuard;
use crate::machine::grid::Grid;
use crate::machine::limits::{CancelHandle, DEFAULT_STEP_LIMIT};
use crate::machine::polling::idle::{IdlePolls, Tests};
use crate::machine::polling::seen::Polling;
use crate::machine::polling::touched::Touched;
use crate::machine::schedule::{Choice, Scheduler};
use crate::machine::steps::{Note, Process, Steps};
use crate::machine::team::Team;
use crate::machine::written::WrittenParts;

/// Regions a cluster runs before another resident one has a turn.
const SLICE: u64 = 1 << 14;

/// The regions of such a turn while loops that poll are watched.
const SLICE_OF_A_WATCH: u64 = 512;

/// Regions a cohort runs before others have a turn, and between two checks of the budget. All times count regions per warp.
pub(crate) const QUANTUM: u64 = 4096;

/// Lengths of turns in regions, each a quarter of the one before. After them comes a turn until after the next visible operation.
const LENGTHS: usize = 7;

/// The most regions of a turn without a visible operation that ends after one.
const HIDDEN: u64 = 64;

/// Notes on a schedule with a seed that a report has at least, if there are so many.
const NOTES: usize = 4;

/// Atomic operations in a turn that change nothing, after which the threads count as polling.
const ATTEMPTS: u32 = 32;

/// A strong load of a thread that a monitor sees takes as much of a turn as this many regions: a loop of them, which it sees one by one, is
/// likely to wait for others.
const POLL: u64 = 8;

/// Work, in instructions, after which the budget is checked again.
const MUCH_WORK: u64 = 1 << 20;

/// The scheduling state of one host thread.
pub(crate) struct Scheduling<'a> {
    /// Regions run so far.
    pub turns: u64,
    /// The time at which the turn of the running cohort ends.
    checkpoint: u64,
    /// The running step returns to the driver after this region.
    pub leave: bool,
    /// The turn is over: the running step ends with its cluster.
    pub over: bool,
    /// Whether the next turn is given to another resident cluster.
    pub rotate: bool,
    /// The turn ends after the next operation that other threads can see.
    until_visible: bool,
    /// The running cohort lets others go first.
    pub yielded: bool,
    /// Atomic operations of the turn that have changed nothing, since the last one that has.
    attempts: u32,
    /// The share of turns that strong loads have used up.
    polled: u64,
    /// Changes of memory and of synchronisation state. In a deadlock probe a store of an equal value does not count.
    pub progress: u64,
    /// A deadlock probe runs: see the driver.
    pub probing: bool,
    /// A watch for loops that poll forever.
    pub polling: Option<Polling>,
    /// The cohorts that poll and wait for a change, in a launch with a seed.
    pub idle: IdlePolls,
    /// The memory that the turn of a polling cohort accesses, in a launch with a seed.
    pub touched: Touched,
    /// Regions that begin with a test, which the running cohort has come to in its turn.
    pub tests: Tests,
    /// The step budget.
    limit: u64,
    /// The user has not set it.
    pub has_default_budget: bool,
    /// The clusters of the grid that had started when the budget was last extended.
    pub started: u64,
    /// The parts of global memory that have changed.
    pub written: WrittenParts,
    /// Ends endless loops before the budget does.
    pub endless: EndlessGuard,
    /// The time of the next check of the budget and the cancel handle.
    pub next_check: u64,
    /// The turns that the team has been told of.
    reported: u64,
    cancel: Option<CancelHandle>,
    /// Whether another host thread has a fault, so that this one ends without one.
    pub stopped: bool,
    pub team: &'a Team,
    /// All choices are the first alternative, and none is recorded.
    pub always_first: bool,
    /// Pending clusters start in order, whatever the scheduler is.
    pub starts_in_order: bool,
    scheduler: Box<dyn Scheduler>,
    record: Option<Vec<u32>>,
    /// The schedule's notes for reports, in a launch with a seed.
    pub notes: Vec<Note>,
    /// The launch runs step by step.
    pub steps: Option<Box<Steps>>,
}

impl<'a> Scheduling<'a> {
    pub fn new(grid: &Grid<'_>, team: &'a Team) -> Self {
        Scheduling {
            turns: 0,
            checkpoint: 0,
            leave: false,
            over: false,
            rotate: false,
            until_visible: false,
            yielded: false,
            attempts: 0,
            polled: 0,
            progress: 0,
            probing: false,
            polling: None,
            idle: IdlePolls::default(),
            touched: Touched::default(),
            tests: Tests::default(),
            limit: grid.limits.steps.unwrap_or(DEFAULT_STEP_LIMIT),
            has_default_budget: grid.limits.steps.is_none(),
            started: 0,
            written: WrittenParts::default(),
            endless: EndlessGuard::OFF,
            next_check: QUANTUM,
            reported: 0,
            cancel: grid.limits.cancel.clone(),
            stopped: false,
            team,
            always_first: grid.takes_the_first(),
            starts_in_order: grid.starts_in_order,
            scheduler: grid.schedule.scheduler(),
            record: grid.is_recorded.then(Vec::new),
            notes: Vec::new(),
            steps: grid.schedule.explorer().map(|explorer| Box::new(Steps::new(explorer))),
        }
    }

    /// The decisions so far, if they are recorded.
    pub fn take_record(&mut self) -> Vec<u32> {
        self.record.take().unwrap_or_default()
    }

    /// Lets the scheduler choose one of `n` alternatives.
    pub fn choose(&mut self, what: Choice, n: usize) -> usize {
        if n < 2 || self.always_first {
            return 0;
        }
        if self.steps.is_some() {
            // steps are chosen one by one: nothing else depends on time
            return match what {
                Choice::Block => self.choose_in_step(what, n, 0),
                _ => 0,
            };
        }
        let i = self.scheduler.choose(what, n).min(n - 1);
        if let Some(record) = &mut self.record {
            record.push(i as u32);
        }
        i
    }

    /// Lets the explorer choose one of `n` alternatives within a step, at a statement.
    #[cold]
    pub fn choose_in_step(&mut self, what: Choice, n: usize, site: u32) -> usize {
        self.steps.as_mut().map_or(0, |steps| steps.choose(what, n, site))
    }

    /// Lets the scheduler choose one of `n` stores, or positions among them.
    pub fn choose_store(&mut self, n: usize, site: u32) -> usize {
        match self.steps {
            Some(_) if n > 1 => self.choose_in_step(Choice::Store, n, site),
            _ => self.choose(Choice::Store, n),
        }
    }

    /// Keeps a note for reports: the latest ones, if there are many.
    pub fn note(&mut self, note: Note) {
        match &mut self.steps {
            Some(steps) => steps.notes.push(note),
            None => {
                if self.notes.len() == 2 * NOTES {
                    self.notes.drain(..NOTES);
                }
                self.notes.push(note);
            }
        }
    }

    /// Lets the explorer choose who makes the next step.
    pub fn pick(&mut self, able: &[Process]) -> usize {
        self.steps.as_mut().map_or(0, |steps| steps.pick(able))
    }

    /// Starts the turn of a cohort. A diverged one returns to the driver after each region.
    pub fn begin_turn(&mut self, diverged: bool) {
        let length = self.choose(Choice::Quantum, LENGTHS + 1);
        self.until_visible = length == LENGTHS;
        let quantum = if self.until_visible { HIDDEN } else { QUANTUM >> (2 * length) };
        self.tests.clear();
        self.checkpoint = self.limit.min(self.turns + quantum);
        (self.leave, self.over) = (diverged, false);
        self.yielded = false;
        // a fragment of a warp runs one region
        self.attempts = if diverged { ATTEMPTS } else { 0 };
    }

    /// The time at which the turn of a cluster that begins now ends.
    pub fn end_of_cluster_turn(&mut self) -> u64 {
        // a watch ends before many long turns of clusters in random order have been with each of them
        let slice = match self.polling {
            Some(_) => SLICE_OF_A_WATCH,
            None => SLICE >> (2 * self.choose(Choice::Quantum, 8)),
        };
        self.time() + slice
    }

    /// Ends the turn of the running cohort, if it polls, at an operation that other threads can see, or at a test of something that they
    /// change; for launches with a seed. The cohort polls if it was at this test before in its turn, and nothing has changed since.
    pub fn comes_to_visible(&mut self, pc: Pc, is_test: bool) {
        self.leave |= self.until_visible;
        if is_test && self.tests.is_repeated(pc, self.progress) {
            self.yield_now();
        }
    }

    /// Counts an instruction that does the work of this many others. A check comes earlier after much work.
    pub fn works(&mut self, instructions: u64) {
        self.endless.work += instructions;
        if self.endless.work > MUCH_WORK {
            self.next_check = self.turns;
        }
    }

    /// Counts regions. True if the turn is over.
    #[inline(always)]
    pub fn count(&mut self, regions: u64) -> bool {
        self.turns += regions;
        self.turns >= self.checkpoint
    }

    /// The turn is over. The cohort may first end its CTA, whose registers and shared memory are in the caches, and whose lanes may have
    /// parted; but it gets no more than another turn.
    pub fn end_turn(&mut self) {
        if self.over || self.probing || !self.always_first || self.turns >= self.limit {
            self.leave = true;
        } else {
            self.over = true;
            self.checkpoint = self.limit.min(self.turns + QUANTUM);
        }
    }

    /// Starts to watch for polling loops after some time in which nothing has ended. Stores of equal values do not count as
    /// progress meanwhile.
    pub fn start_polling(&mut self) {
        if self.polling.is_none() && self.team.is_single() {
            self.polling = Some(Polling::new(self.progress, self.turns));
            self.probing = true;
        }
    }

    /// Ends that.
    pub fn stop_polling(&mut self) {
        self.polling = None;
        // step by step, stores of equal values never count as progress
        self.probing = self.ignores_equal_stores();
    }

    /// Does a store of what is there already count as no progress, although no deadlock probe runs?
    pub fn ignores_equal_stores(&self) -> bool {
        self.steps.is_some() || self.polling.is_some() || !self.idle.is_empty()
    }

    /// Lets other cohorts go first.
    pub fn yield_now(&mut self) {
        self.yielded = true;
        self.leave = true;
    }

    /// Time by which turns are measured.
    pub fn time(&self) -> u64 {
        self.turns + self.polled
    }

    /// Threads execute a strong load, which a monitor sees. Decisions with a seed are those without a monitor.
    pub fn polls(&mut self, threads: u32) {
        if self.always_first {
            let cost = u64::from(threads) * POLL;
            self.polled += cost;
            self.checkpoint = self.checkpoint.saturating_sub(cost);
        }
    }

    /// An atomic operation has changed memory, or not.
    #[inline]
    pub fn attempts(&mut self, changed: bool) {
        self.attempts = if changed { 0 } else { self.attempts + 1 };
        if self.attempts > ATTEMPTS {
            self.yield_now();
        }
    }

    /// Tells the team how many regions have run. False if the budget of all threads is used up.
    fn spend(&mut self) -> bool {
        let spent = self.turns - std::mem::replace(&mut self.reported, self.turns);
        self.team.spend(spent)
    }

    /// The step budget if it is used up.
    pub fn exceeded_limit(&mut self) -> Option<u64> {
        (self.turns > self.limit || !self.team.is_single() && !self.spend()).then_some(self.limit)
    }

    /// Whether clusters have started since this was last asked.
    pub fn has_started_clusters(&mut self) -> bool {
        let started = self.team.started();
        std::mem::replace(&mut self.started, started) < started
    }

    /// Is the budget of several host threads exceeded by so little that another one may still extend it?
    pub fn has_grace(&self) -> bool {
        !self.team.is_single() && self.team.has_grace()
    }

    /// Extends the step limit after progress: as many steps again.
    pub fn extend_limit(&mut self) {
        self.limit = self.turns.saturating_add(DEFAULT_STEP_LIMIT);
        self.team.extend_limit();
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelHandle::is_cancelled)
    }

    /// Tells a listener that a cluster has ended.
    #[inline]
    pub fn report_progress(&mut self) {
        if self.team.has_listener() {
            self.spend();
            self.team.cluster_ended();
        }
    }
}
