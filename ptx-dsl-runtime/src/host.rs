//! The host: its scheduler, monitor, number of resident clusters, and threads.

mod explore;

pub use explore::{Explore, Explored};

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;

use crate::buffer::Buffer;
use crate::checked::Checked;
use crate::engine::Engine;
use crate::monitor::{Monitor, Off};
use crate::numerics::Numerics;
use crate::print::Print;
use crate::schedule::{Replay, RoundRobin, Scheduler, Seeded};
use crate::steps::SharedExplorer;

#[derive(Debug, Clone)]
enum Schedule {
    RoundRobin,
    Seed(u64),
    Replay(Vec<u32>),
    /// Step by step, as the explorer says.
    Steps(SharedExplorer),
}

/// Runs kernels on this machine's processor.
///
/// A plain host runs the compiled code of a kernel if there is any, and interprets the others: those of development builds, and those
/// that were loaded at run time. With a [seed](Host::seed), a [recording](Host::record) or a [replay](Host::replay) it interprets, so
/// that they mean the same in all builds. A host with a monitor, such as [`Host::checked`], interprets all kernels. [`Host::engine`]
/// asks for one engine.
///
/// Both engines give the same results, faults and deadlock reports. In round-robin order they count different turns
/// ([`Report::turns`]).
pub struct Host<M = Off> {
    schedule: Schedule,
    record: bool,
    resident: usize,
    threads: usize,
    engine: Option<Engine>,
    numerics: Numerics,
    tensor_fences: bool,
    /// The Rust expression of such a host, for reports.
    expression: &'static str,
    tensor_registers: bool,
    print: Print,
    make_monitor: MakeMonitor<M>,
}

/// Makes the monitor of a launch.
type MakeMonitor<M> = Arc<dyn Fn() -> M + Send + Sync>;

// derives would require `M: Clone` and `M: Debug`, but a host holds no monitor

impl<M> Clone for Host<M> {
    fn clone(&self) -> Self {
        Host {
            schedule: self.schedule.clone(),
            print: self.print.clone(),
            make_monitor: self.make_monitor.clone(),
            ..*self
        }
    }
}

impl<M> fmt::Debug for Host<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Host { schedule, record, resident, threads, engine, print, numerics, .. } = self;
        let Host { tensor_fences, tensor_registers, expression, .. } = self;
        let mut s = f.debug_struct("Host");
        s.field("schedule", schedule).field("record", record).field("resident", resident).field("threads", threads);
        s.field("engine", engine).field("print", print).field("numerics", numerics);
        s.field("tensor_fences", tensor_fences).field("tensor_registers", tensor_registers);
        s.field("expression", expression);
        s.finish()
    }
}

impl Host {
    /// A plain host: reports the faults that cost nothing to detect.
    pub fn new() -> Self {
        Host::with_monitor()
    }

    /// A checked host: reports more faults, interprets all kernels and is slower, see [`Checked`].
    pub fn checked() -> Host<Checked> {
        Host::with_monitor()
    }
}

impl Host<Checked> {
    /// Ends a launch after its first finding.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().first();
    /// # let _ = host;
    /// ```
    pub fn first(self) -> Self {
        self.limit(1)
    }

    /// Ends a launch after so many findings: 100 by default.
    pub fn limit(self, findings: usize) -> Self {
        self.with(move |checked| checked.limit = findings)
    }

    /// Reports two stores of one value to the same bytes too, if nothing orders them. They are data races like others, but many kernels
    /// set a flag from all threads.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().same_values();
    /// # let _ = host;
    /// ```
    pub fn same_values(self) -> Self {
        self.with(|checked| checked.same_values = true)
    }

    /// Memory is weak: a strong load may read from an older store than the last one, if causality order (8.9.5) and the axioms of the
    /// model (8.10) allow it, and strong stores may take effect in another order than that in which they are executed. The schedule
    /// chooses. Without a seed or an exploration loads read from the last store.
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Host, Report, Error};
    /// # fn launch<M>(_: &Host<M>) -> Result<Report, Error> { Ok(Report::default()) }
    /// Host::checked().weak().explore(10_000).exhaustive().run(|host| launch(host))?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// It is for small kernels, and slow. Weak accesses race or are ordered, so they have no choice; operations on mbarrier objects,
    /// asynchronous operations and Tensor Memory are as on other hosts. Load buffering is not shown: a load reads only from stores that
    /// were executed before it.
    pub fn weak(mut self) -> Self {
        self.expression = "Host::checked().weak()";
        self.with(Checked::weaken)
    }

    /// Also reports an asynchronous write, as that of a bulk copy, over bytes that a thread has loaded, if no proxy fence is between the
    /// two (8.6). Compilers leave this fence out where a ring is filled again: it is the strict reading of the manual.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().read_fences();
    /// # let _ = host;
    /// ```
    pub fn read_fences(self) -> Self {
        self.with(|checked| checked.read_fences = true)
    }

    fn with(mut self, change: impl Fn(&mut Checked) + Send + Sync + 'static) -> Self {
        let make = self.make_monitor;
        self.make_monitor = Arc::new(move || {
            let mut checked = make();
            change(&mut checked);
            checked
        });
        self
    }
}

impl Default for Host {
    fn default() -> Self {
        Host::new()
    }
}

impl<M> Host<M> {
    /// Memory with a copy of these elements, which outlives a launch.
    pub fn buffer<T: Pod>(&self, elements: &[T]) -> Buffer<T> {
        Buffer::new(elements.to_vec())
    }

    /// Memory of so many elements, all of them zero.
    pub fn zeroed<T: Pod>(&self, elements: usize) -> Buffer<T> {
        Buffer::new(vec![T::zeroed(); elements])
    }
}

impl<M: Monitor> Host<M> {
    /// A host with a monitor of your own; each launch makes a new one by [`Default`]. It interprets all kernels.
    pub fn with_monitor() -> Self {
        Host::monitored(M::default)
    }

    /// A host with a monitor of your own, which `make` makes for each launch, and for each host thread of it
    /// ([`Monitor::PER_THREAD`]). An example is in [`monitor`](crate::monitor).
    pub fn monitored(make: impl Fn() -> M + Send + Sync + 'static) -> Self {
        Host {
            schedule: Schedule::RoundRobin,
            record: false,
            resident: 16,
            threads: 1,
            engine: None,
            print: Print::Standard,
            numerics: Numerics::default(),
            tensor_fences: true,
            expression: M::HOST,
            tensor_registers: true,
            make_monitor: Arc::new(make),
        }
    }

    /// Pseudo-random scheduling from this seed instead of round-robin. With an even seed every instruction waits that may
    /// wait or not. The interpreter runs it, so that a seed gives one schedule in all builds.
    pub fn seed(mut self, seed: u64) -> Self {
        self.schedule = Schedule::Seed(seed);
        self
    }

    /// Repeats the decisions of [`Report::schedule`].
    pub fn replay(mut self, schedule: Vec<u32>) -> Self {
        self.schedule = Schedule::Replay(schedule);
        self
    }

    /// Records the decisions in [`Report::schedule`].
    pub fn record(mut self) -> Self {
        self.record = true;
        self
    }

    /// Runs the clusters of a grid on `n` host threads, the calling one included: 1 by default, 0 for one per hardware thread.
    ///
    /// A cluster runs on one thread from start to end. The results of a kernel without data races do not depend on `n`; which of
    /// several faults is reported may. A launch with a seed, a recording or a replay has one thread, and so has one with a
    /// monitor that must see the whole launch ([`Monitor::PER_THREAD`]). `%clock` and the like count the turns of their own
    /// thread.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::new().threads(4);
    /// # let _ = host;
    /// ```
    pub fn threads(mut self, n: usize) -> Self {
        self.threads = if n == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { n };
        self
    }

    /// Runs kernels on this engine and no other. Without it a plain host in round-robin order runs compiled code if there is any: the
    /// kernel's crate is built without debug assertions, or the header of `ptx!` has `compiled`. A host with a monitor has only the
    /// interpreter, and so has one with a seed, a recording or a replay: a schedule is the same wherever it runs.
    ///
    /// The environment variable `PTX_DSL_ENGINE` (`compiled` or `interpreted`) does the same for plain hosts in round-robin order
    /// without an engine.
    ///
    /// # Errors
    /// A launch fails with [`Error::Engine`](crate::Error::Engine) if the kernel does not have that engine.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Gives the output of the kernels' `printf` to a function, instead of writing it to the standard output: the text of one call
    /// at a time. The calls of a thread are in order. What is not UTF-8 becomes `\u{fffd}`.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// use std::sync::{Arc, Mutex};
    /// let output = Arc::new(Mutex::new(String::new()));
    /// let to = output.clone();
    /// let host = Host::new().print(move |text| to.lock().unwrap().push_str(text));
    /// # let _ = host;
    /// ```
    pub fn print(mut self, function: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.print = Print::Function(Arc::new(function));
        self
    }

    /// Where `printf` writes.
    pub(crate) fn printer(&self) -> &Print {
        &self.print
    }

    /// How matrix instructions add: as tensor cores do, unless this says [`Numerics::Fast`].
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Host, Numerics};
    /// let host = Host::new().numerics(Numerics::Fast);
    /// # let _ = host;
    /// ```
    pub fn numerics(mut self, numerics: Numerics) -> Self {
        self.numerics = numerics;
        self
    }

    /// Does the checked host want `tcgen05.fence` between accesses of two warps to Tensor Memory? It does, unless this says false:
    /// ptxas generates no instruction for these fences, and Triton leaves them out. Waits and commits are wanted in any case.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().tensor_fences(false);
    /// # let _ = host;
    /// ```
    pub fn tensor_fences(mut self, wanted: bool) -> Self {
        self.tensor_fences = wanted;
        self
    }

    /// Does the checked host report a register of `tcgen05.ld` that is read before `tcgen05.wait::ld`? By default it does. ptxas 13.5 makes
    /// the reader wait, and some compilers rely on that.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().tensor_registers(false);
    /// # let _ = host;
    /// ```
    pub fn tensor_registers(mut self, wanted: bool) -> Self {
        self.tensor_registers = wanted;
        self
    }

    /// What [`Host::tensor_registers`] says.
    pub(crate) fn wants_tensor_registers(&self) -> bool {
        self.tensor_registers
    }

    /// What [`Host::tensor_fences`] says.
    pub(crate) fn wants_tensor_fences(&self) -> bool {
        self.tensor_fences
    }

    /// What [`Host::numerics`] says.
    pub(crate) fn chosen_numerics(&self) -> Numerics {
        self.numerics
    }

    /// The engine that [`Host::engine`] asks for.
    pub(crate) fn asked_engine(&self) -> Option<Engine> {
        self.engine
    }

    /// The same, or else what the environment asks for.
    pub(crate) fn wanted_engine(&self) -> Option<Engine> {
        static DEFAULT: OnceLock<Option<Engine>> = OnceLock::new();
        let default = || match std::env::var("PTX_DSL_ENGINE").ok()?.as_str() {
            "compiled" => Some(Engine::Compiled),
            "interpreted" => Some(Engine::Interpreted),
            _ => None,
        };
        self.engine.or_else(|| *DEFAULT.get_or_init(default))
    }

    /// Threads a launch has at most.
    pub(crate) fn workers(&self) -> usize {
        if self.takes_the_first() && M::PER_THREAD { self.threads } else { 1 }
    }

    /// How many clusters are resident at a time (16 by default). The others are pending: cluster launch control can cancel them.
    /// Several threads share the number, rounded up.
    pub fn resident_clusters(mut self, n: usize) -> Self {
        self.resident = n.max(1);
        self
    }

    pub(crate) fn scheduler(&self) -> Box<dyn Scheduler> {
        match &self.schedule {
            // those that run step by step have an explorer
            Schedule::RoundRobin | Schedule::Steps(_) => Box::new(RoundRobin),
            Schedule::Seed(n) => Box::new(Seeded::new(*n)),
            Schedule::Replay(v) => Box::new(Replay::new(v.clone())),
        }
    }

    /// Who chooses, if launches run step by step.
    pub(crate) fn explorer(&self) -> Option<SharedExplorer> {
        match &self.schedule {
            Schedule::Steps(explorer) => Some(explorer.clone()),
            Schedule::RoundRobin | Schedule::Seed(_) | Schedule::Replay(_) => None,
        }
    }

    /// Are all choices the first alternative, and none recorded?
    pub(crate) fn takes_the_first(&self) -> bool {
        matches!(self.schedule, Schedule::RoundRobin) && !self.record
    }

    pub(crate) fn new_monitor(&self) -> M {
        (self.make_monitor)()
    }

    pub(crate) fn replay_hint(&self) -> Option<String> {
        match &self.schedule {
            Schedule::RoundRobin => None,
            Schedule::Seed(n) => Some(format!("`Host::new().seed({n})`")),
            Schedule::Replay(_) => Some("`Host::new().replay(..)` with the same decisions".into()),
            Schedule::Steps(_) => None,
        }
    }

    pub(crate) fn resident(&self) -> usize {
        self.resident
    }

    pub(crate) fn records(&self) -> bool {
        self.record
    }
}

/// What a launch did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Clusters that ran.
    pub clusters_launched: u64,
    /// Clusters cancelled by cluster launch control, which did not run.
    pub clusters_cancelled: u64,
    /// Regions run, counted per warp. The engines divide a kernel into different regions.
    pub turns: u64,
    /// The scheduler's decisions, if [`Host::record`] was asked for.
    pub schedule: Vec<u32>,
}
