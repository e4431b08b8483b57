//! A session: runs a launch on a thread of its own, forwards, and backwards by running it again.

pub use crate::agent::Agent;
use crate::agent::{Command, Event, Goal, Hits, Marks, Shared, lock};
use crate::breaks::Breaks;
use crate::{Machine, Program, Source};
use ptx_dsl_runtime::debug::{Debugged, WarpId};
use ptx_dsl_runtime::{Error, Host, Report};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A moment of a launch: a statement, by its number in the launch, and the lanes that are before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The number of the statement, from 1, among those of all warps.
    pub count: u64,
    /// The warp.
    pub warp: WarpId,
    /// The lanes, a bit each.
    pub lanes: u32,
}

/// Why a launch stands still.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It has begun.
    Entry,
    /// A step, or a moment that was asked for.
    Step,
    /// Asked to pause.
    Pause,
    /// The breakpoint with this number.
    Breakpoint(u32),
    /// The condition of the breakpoint with this number has no value, for this reason.
    Condition(u32, String),
    /// A write to memory that a breakpoint names. The statement of the warp has run; backwards, it has not.
    Write {
        /// The number of the breakpoint.
        id: u32,
        /// The memory, as it was asked for.
        text: String,
        /// The warp that has written.
        warp: WarpId,
        /// Its lanes, a bit each.
        lanes: u32,
        /// An asynchronous operation of the warp writes, at any time from now on.
        is_asynchronous: bool,
    },
    /// A phase of an mbarrier object completes.
    Phase {
        /// The number of the breakpoint.
        id: u32,
        /// The rank of the CTA.
        rank: u32,
        /// The offset of the object in shared memory.
        offset: u32,
    },
    /// A fault ends the launch: the report.
    Fault(String),
    /// The begin of the launch, where nothing earlier was found.
    Start,
}

/// A stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Why.
    pub reason: Reason,
    /// When.
    pub at: Moment,
    /// The line of the statement, from 1; 0 at the end of a region.
    pub line: u32,
    /// Regions run so far, as `%clock` counts them.
    pub turns: u64,
}

/// How a launch ended.
#[derive(Debug, Clone)]
pub enum Ended {
    /// Well.
    Well(Report),
    /// With a fault, or it could not start. The words.
    Failed(String),
}

/// What became of a command.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The launch stands still.
    Stopped(Stop),
    /// The launch has ended.
    Ended(Ended),
}

/// Launches the kernel on a host, which prints to the session: with copies of the same arguments each time.
type Launch = dyn Fn(Host<Debugged<Agent>>) -> Result<Report, Error> + Send + Sync;

/// A launch that runs.
struct Running {
    shared: Arc<Shared>,
    commands: Sender<Command>,
    events: Receiver<Event>,
    thread: Option<JoinHandle<()>>,
}

/// What a session does while a launch runs.
enum Doing {
    /// Nothing: the launch stands still, or has ended.
    Nothing,
    /// Waits for a stop.
    Runs,
    /// Waits for the end of a scan.
    Scans,
}

/// A session of a debugger.
pub struct Session {
    launch: Arc<Launch>,
    source: Source,
    breaks: Breaks,
    running: Option<Running>,
    doing: Doing,
    /// The last stop.
    stop: Option<Stop>,
    ended: Option<Ended>,
    /// The last statements of a launch that has ended.
    marks: Marks,
    program: Option<Arc<Program>>,
    /// A fault that was shown at the last statement: the launch ends next.
    shown: bool,
    last_id: u32,
    printed: Arc<Mutex<Printed>>,
}

/// What the kernel has printed. A launch that runs again prints the same again.
#[derive(Debug, Default)]
struct Printed {
    /// Bytes of the launch that is the longest so far.
    most: usize,
    /// Bytes of this launch.
    now: usize,
    /// What no front end has taken.
    left: Vec<u8>,
}

impl Printed {
    fn add(&mut self, bytes: &[u8]) {
        let known = self.most.saturating_sub(self.now).min(bytes.len());
        self.now += bytes.len();
        self.most = self.most.max(self.now);
        self.left.extend(&bytes[known..]);
    }
}

impl Session {
    /// A session of a launch, which has not begun. `launch` launches the kernel on a host, with copies of the same arguments each time: the
    /// session calls it again to go backwards.
    pub fn new(
        source: Source,
        launch: impl Fn(Host<Debugged<Agent>>) -> Result<Report, Error> + Send + Sync + 'static,
    ) -> Self {
        Session {
            launch: Arc::new(launch),
            source,
            breaks: Breaks { faults: true, ..Breaks::default() },
            running: None,
            doing: Doing::Nothing,
            stop: None,
            ended: None,
            marks: Marks::default(),
            program: None,
            shown: false,
            last_id: 0,
            printed: Arc::default(),
        }
    }

    /// The code and its text, once the launch has begun.
    pub fn program(&self) -> Option<&Arc<Program>> {
        self.program.as_ref()
    }

    /// The name and the text of the kernel.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The last stop. `None` if the launch runs, has ended, or has not begun.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// Whether a command runs of which the outcome is not known.
    pub fn is_running(&self) -> bool {
        !matches!(self.doing, Doing::Nothing)
    }

    /// How the launch ended, if it has.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// The breakpoints.
    pub fn breaks(&self) -> &Breaks {
        &self.breaks
    }

    /// A new number for a breakpoint.
    pub fn new_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    /// Changes the breakpoints, also while the launch runs.
    pub fn set_breaks(&mut self, change: impl FnOnce(&mut Breaks)) {
        change(&mut self.breaks);
        if let Some(running) = &self.running {
            *lock(&running.shared.breaks) = Arc::new(self.breaks.clone());
            running.shared.version.fetch_add(1, Ordering::Release);
        }
    }

    /// Takes what the kernel has printed since the last call. What it prints again when it runs again is left out.
    pub fn take_printed(&self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut lock(&self.printed).left)).into_owned()
    }

    /// Asks the launch something while it stands still. `None` if it does not.
    pub fn ask<R: Send + 'static>(&self, question: impl FnOnce(&Machine<'_>) -> R + Send + 'static) -> Option<R> {
        let running = self.running.as_ref().filter(|_| self.stop.is_some())?;
        let (to, from) = channel();
        let ask = Command::Ask(Box::new(move |machine| drop(to.send(question(machine)))));
        running.commands.send(ask).ok()?;
        from.recv().ok()
    }

    /// Begins the launch, or begins it again, and stops at the first statement.
    pub fn start(&mut self) {
        self.run(Goal::To(1, Reason::Entry), Doing::Runs);
    }

    /// Runs to the next breakpoint.
    pub fn go(&mut self) {
        self.forward(Goal::Continue);
    }

    /// Runs to the next statement of a warp.
    pub fn step(&mut self, warp: WarpId) {
        self.forward(Goal::Step(warp));
    }

    /// Runs to the next statement of any warp.
    pub fn step_any(&mut self) {
        self.forward(Goal::Next);
    }

    /// Runs until a warp, or any warp, is before a statement of a line. False, with nothing done, if the line has none.
    pub fn run_to_line(&mut self, warp: Option<WarpId>, line: u32) -> bool {
        let places = self.program.as_ref().map(|program| program.places(line)).unwrap_or_default();
        if places.is_empty() {
            return false;
        }
        self.forward(Goal::Until(warp, places.into_iter().collect()));
        true
    }

    /// Goes to a statement of the launch by its number, earlier or later.
    pub fn go_to(&mut self, count: u64) {
        let goal = Goal::To(count.max(1), Reason::Step);
        match &self.stop {
            Some(stop) if stop.at.count < count && !self.shown => self.forward(goal),
            _ => self.run(goal, Doing::Runs),
        }
    }

    /// Goes back to the statement of a warp before the one that it is at. At its first statement it stays, and the reason is
    /// [`Reason::Start`].
    pub fn step_back(&mut self, warp: WarpId) {
        let now = self.now();
        let last = match self.stop {
            Some(_) => self.ask(move |machine| machine.marks.warps.get(&warp).map(|of| of.counts)).flatten(),
            None => self.marks.warps.get(&warp).map(|of| of.counts),
        };
        let [last, before] = last.unwrap_or_default();
        let to = if last < now { last } else { before };
        let goal = if to == 0 { Goal::To(1, Reason::Start) } else { Goal::To(to, Reason::Step) };
        self.run(goal, Doing::Runs);
    }

    /// Runs backwards to the last breakpoint before now.
    pub fn go_back(&mut self) {
        self.run(Goal::Scan(self.now(), Hits::Breaks), Doing::Scans);
    }

    /// Goes back to the last statement of a warp that wrote a register.
    ///
    /// # Errors
    /// There is no such register.
    pub fn back_to_write(&mut self, warp: WarpId, name: &str) -> Result<(), String> {
        let program = self.program.as_ref().ok_or("the launch has not begun")?;
        let variables: Vec<_> = program.variables().iter().filter(|of| of.name == name).collect();
        if variables.is_empty() {
            return Err(format!("there is no register `{name}`"));
        }
        let places: BTreeSet<_> = variables.into_iter().flat_map(|of| program.writers(of)).collect();
        self.run(Goal::Scan(self.now(), Hits::Places(warp, places)), Doing::Scans);
        Ok(())
    }

    /// Asks a launch that runs to stop at its next statement.
    pub fn pause(&self) {
        if let Some(running) = &self.running {
            running.shared.pause.store(true, Ordering::Relaxed);
        }
    }

    /// Ends the launch.
    pub fn end(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.commands.send(Command::Quit);
            running.shared.quit.store(true, Ordering::Relaxed);
            drop((running.commands, running.events));
            if let Some(thread) = running.thread.take() {
                let _ = thread.join();
            }
        }
        (self.stop, self.doing) = (None, Doing::Nothing);
    }

    /// The number of the statement that the launch is before; one more than the last one at its end.
    fn now(&self) -> u64 {
        match &self.stop {
            Some(stop) => stop.at.count,
            None => self.marks.count + 1,
        }
    }

    fn forward(&mut self, goal: Goal) {
        if self.stop.take().is_none() {
            return;
        }
        if let Some(running) = &self.running {
            let _ = running.commands.send(Command::Go(goal));
            self.doing = Doing::Runs;
        }
    }

    /// Runs the launch from its begin.
    fn run(&mut self, goal: Goal, doing: Doing) {
        self.end();
        (self.ended, self.shown, self.doing) = (None, false, doing);
        let (commands, to_agent) = channel();
        let (to_session, events) = channel();
        let shared = Arc::new(Shared {
            commands: Mutex::new(to_agent),
            events: Mutex::new(to_session.clone()),
            goal,
            source: self.source.clone(),
            breaks: Mutex::new(Arc::new(self.breaks.clone())),
            version: AtomicU64::new(0),
            pause: AtomicBool::new(false),
            quit: AtomicBool::new(false),
            marks: Mutex::default(),
            program: Mutex::default(),
        });
        let (of_agent, launch) = (shared.clone(), self.launch.clone());
        lock(&self.printed).now = 0;
        let printed = self.printed.clone();
        let thread = std::thread::spawn(move || {
            let host = Host::debugged(move || Agent::new(of_agent.clone()));
            let host = host.print_bytes(move |bytes| lock(&printed).add(bytes));
            let result = launch(host);
            let _ = to_session.send(Event::Ended(Box::new(result)));
        });
        self.running = Some(Running { shared, commands, events, thread: Some(thread) });
    }

    /// Waits for the outcome of a command.
    pub fn wait(&mut self) -> Option<Outcome> {
        while self.is_running() {
            if let Some(outcome) = self.poll(Duration::from_secs(1)) {
                return Some(outcome);
            }
        }
        None
    }

    /// The outcome of a command, if it is known within this time.
    pub fn poll(&mut self, time: Duration) -> Option<Outcome> {
        if !self.is_running() {
            return None;
        }
        let running = self.running.as_ref()?;
        let event = match running.events.recv_timeout(time) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => {
                return Some(self.has_ended(Ended::Failed("the launch has ended without a result".into())));
            }
        };
        if let Some(program) = &*lock(&running.shared.program) {
            self.program = Some(program.clone());
        }
        match event {
            Event::Stopped(stop) => {
                self.doing = Doing::Nothing;
                self.shown = matches!(stop.reason, Reason::Fault(_));
                self.stop = Some(stop.clone());
                Some(Outcome::Stopped(stop))
            }
            Event::Scanned(found) => {
                let goal = match found {
                    Some((count, reason)) => Goal::To(count, reason),
                    None => Goal::To(1, Reason::Start),
                };
                self.run(goal, Doing::Runs);
                None
            }
            Event::Ended(result) => {
                let scans = matches!(self.doing, Doing::Scans);
                let ended = match *result {
                    Ok(report) => Ended::Well(report),
                    Err(error) => Ended::Failed(error.to_string()),
                };
                let marks = std::mem::take(&mut *lock(&running.shared.marks));
                // a scan up to the end of a launch has no stop there
                if scans {
                    let (count, reason) = marks.found.clone().unwrap_or((1, Reason::Start));
                    self.run(Goal::To(count, reason), Doing::Runs);
                    return None;
                }
                let is_new = self.breaks.faults && !self.shown && marks.count > 0;
                self.marks = marks;
                match ended {
                    // a fault of an asynchronous operation, or a deadlock: the last statement before it
                    Ended::Failed(text) if is_new => {
                        self.run(Goal::To(self.marks.count, Reason::Fault(text)), Doing::Runs);
                        None
                    }
                    ended => Some(self.has_ended(ended)),
                }
            }
        }
    }

    fn has_ended(&mut self, ended: Ended) -> Outcome {
        let marks = std::mem::take(&mut self.marks);
        self.end();
        self.marks = marks;
        self.ended = Some(ended.clone());
        Outcome::Ended(ended)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}
