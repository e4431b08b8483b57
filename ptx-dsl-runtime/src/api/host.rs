//! The host: its scheduler, monitor, number of resident clusters, and threads.

mod debug;
mod explore;
mod options;
mod profile;
mod trace;

pub use crate::machine::report::Report;
pub use crate::observe::monitor::Off;
pub use explore::{Explore, Explored};
pub(crate) use options::Options;

use std::fmt;
use std::sync::Arc;

use bytemuck::Pod;

use crate::api::buffer::Buffer;
use crate::api::engine::Engine;
use crate::machine::print::Print;
use crate::machine::schedule::ScheduleSource;
use crate::numerics::accumulation::Numerics;
use crate::observe::checked::Checked;
use crate::observe::monitor::Monitor;
use crate::observe::probe::{MakeProbe, Probe, UserMonitor};

/// Runs kernels on the CPU.
///
/// A plain host runs the compiled code of a kernel if there is any, and interprets other kernels: those of development builds, and those
/// that were loaded at run time. With a [seed](Host::seed), a [recording](Host::record) or a [replay](Host::replay) it interprets, so that
/// a schedule is the same in all builds. A host with a monitor, such as [`Host::checked`], interprets all kernels. [`Host::engine`] selects
/// one engine.
///
/// Both engines give the same results, faults and deadlock reports, but in round-robin order they count different numbers of turns
/// ([`Report::turns`]).
pub struct Host<M = Off> {
    options: Options,
    /// Makes the monitor of a launch.
    make: Arc<dyn Fn() -> M + Send + Sync>,
}

// derives would require `M: Clone` and `M: Debug`, but a host holds no monitor

impl<M> Clone for Host<M> {
    fn clone(&self) -> Self {
        Host { options: self.options.clone(), make: self.make.clone() }
    }
}

impl<M> fmt::Debug for Host<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Host").field(&self.options).finish()
    }
}

impl Host {
    /// A plain host: reports the faults that cost nothing to detect.
    pub fn new() -> Self {
        Host { options: Options { expression: "Host::new()", ..Options::new(None) }, make: Arc::new(|| Off) }
    }

    /// A checked host: reports more faults, interprets all kernels and is slower. See [`Checked`].
    pub fn checked() -> Host<Checked> {
        Host::probed(Checked::default).named("Host::checked()")
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

    /// Ends a launch after this many findings: 100 by default.
    pub fn limit(self, findings: usize) -> Self {
        self.with(move |checked| checked.limit = findings)
    }

    /// Also reports two stores of the same value to the same bytes, if nothing orders them. They are data races too, but many kernels set a
    /// flag from all threads.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().same_values();
    /// # let _ = host;
    /// ```
    pub fn same_values(self) -> Self {
        self.with(|checked| checked.same_values = true)
    }

    /// Makes memory weak: a strong load may read from an older store than the last one, if causality order (8.9.5) and the axioms of the
    /// model (8.10) allow it, and strong stores may take effect in an order other than that in which they are executed. The schedule
    /// chooses. Without a seed or an exploration, loads read from the last store.
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Host, Report, Error};
    /// # fn launch<M>(_: &Host<M>) -> Result<Report, Error> { Ok(Report::default()) }
    /// Host::checked().weak().explore(10_000).exhaustive().run(|host| launch(host))?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// It is slow, and meant for small kernels. Weak accesses race or are ordered, so nothing is chosen for them; operations on mbarrier
    /// objects, asynchronous operations and Tensor Memory are as on other hosts. Load buffering is not modelled: a load reads only from
    /// stores that were executed before it.
    pub fn weak(self) -> Self {
        self.with(Checked::weaken).named("Host::checked().weak()")
    }

    /// Also reports an asynchronous write, such as that of a bulk copy, over bytes that a thread has loaded, if no proxy fence is between
    /// the two (8.6). This is the strict reading of the manual: compilers leave the fence out where a stage of a ring is refilled.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().read_fences();
    /// # let _ = host;
    /// ```
    pub fn read_fences(self) -> Self {
        self.with(|checked| checked.read_fences = true)
    }

    /// Allows matrices in shared memory that `wgmma`, `tcgen05` or `ldmatrix` reads with another layout than a tensor copy has written them
    /// with: for kernels whose tensors are permuted in global memory.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().any_layout();
    /// # let _ = host;
    /// ```
    pub fn any_layout(self) -> Self {
        self.with(|checked| checked.any_layout = true)
    }

    /// Also reports a `shfl.sync` from a lane that its member mask does not name, if nothing uses the value: it is undefined (9.7.9.6).
    /// Without this, the report is about the value, where it matters. `__shfl_down_sync(0xff, v, 4)` makes such values, and reductions
    /// throw them away.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().strict_shuffles();
    /// # let _ = host;
    /// ```
    pub fn strict_shuffles(mut self) -> Self {
        self.options.strict_shuffles = true;
        self
    }

    /// Sets whether the host requires `tcgen05.fence` between accesses of two warps to Tensor Memory. By default it does. ptxas generates no
    /// instruction for these fences, and Triton leaves them out. Waits and commits are always required.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().tensor_fences(false);
    /// # let _ = host;
    /// ```
    ///
    /// Only a checked host has this option:
    ///
    /// ```compile_fail,E0599
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::new().tensor_fences(false);
    /// ```
    pub fn tensor_fences(mut self, wanted: bool) -> Self {
        self.options.tensor.fences = wanted;
        self
    }

    /// Sets whether the host reports a register of `tcgen05.ld` that is read before `tcgen05.wait::ld`. By default it does. ptxas 13.5 makes
    /// the reader wait, and some compilers rely on that.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().tensor_registers(false);
    /// # let _ = host;
    /// ```
    ///
    /// Only a checked host has this option:
    ///
    /// ```compile_fail,E0599
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::trace().tensor_registers(false);
    /// ```
    pub fn tensor_registers(mut self, wanted: bool) -> Self {
        self.options.tensor.registers = wanted;
        self
    }

    fn with(self, change: impl Fn(&mut Checked) + Send + Sync + 'static) -> Self {
        let (options, before) = (self.options, self.make);
        let changed = Host::probed(move || {
            let mut checked = before();
            change(&mut checked);
            checked
        });
        Host { options: Options { monitor: changed.options.monitor, ..options }, ..changed }
    }
}

impl Default for Host {
    fn default() -> Self {
        Host::new()
    }
}

impl<M> Host<M> {
    /// Memory that outlives a launch, with a copy of these elements.
    pub fn buffer<T: Pod>(&self, elements: &[T]) -> Buffer<T> {
        Buffer::new(elements.to_vec())
    }

    /// Memory for this many elements, all of them zero.
    pub fn zeroed<T: Pod>(&self, elements: usize) -> Buffer<T> {
        Buffer::new(vec![T::zeroed(); elements])
    }
}

impl<M: Monitor> Host<M> {
    /// A host with your own monitor; each launch makes a new one with [`Default`]. It interprets all kernels.
    pub fn with_monitor() -> Self
    where
        M: Default,
    {
        Host::monitored(M::default)
    }

    /// A host with your own monitor, which `make` makes for each launch and for each of its host threads
    /// ([`Wants::per_thread`](crate::observe::monitor::Wants::per_thread)). An example is in [`monitor`](crate::observe::monitor).
    pub fn monitored(make: impl Fn() -> M + Send + Sync + 'static) -> Self {
        Host::erased(make, |monitor| Box::new(UserMonitor(monitor)))
    }
}

impl<M: 'static> Host<M> {
    /// A host with a probe of this crate.
    pub(crate) fn probed(make: impl Fn() -> M + Send + Sync + 'static) -> Self
    where
        M: Probe,
    {
        Host::erased(make, |probe| Box::new(probe))
    }

    /// A host whose launches are watched by what `make` makes and `erase` turns into a probe.
    fn erased(make: impl Fn() -> M + Send + Sync + 'static, erase: fn(M) -> Box<dyn Probe>) -> Self {
        let make = Arc::new(make);
        let probe = make.clone();
        Host { options: Options::new(Some(MakeProbe(Arc::new(move || erase(probe()))))), make }
    }
}

impl<M> Host<M> {
    /// Gives reports a Rust expression of such a host.
    pub(crate) fn named(mut self, expression: &'static str) -> Self {
        self.options.expression = expression;
        self
    }

    /// The options, without the type of the monitor.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// A monitor as a launch makes it.
    pub(crate) fn new_monitor(&self) -> M {
        (self.make)()
    }

    /// Pseudo-random scheduling from this seed instead of round-robin. With an even seed, every instruction that may or may not wait does wait.
    /// The interpreter runs the kernel, so that a seed gives the same schedule in all builds.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.schedule = ScheduleSource::Seed(seed);
        self
    }

    /// Repeats the decisions of [`Report::schedule`].
    pub fn replay(mut self, schedule: Vec<u32>) -> Self {
        self.options.schedule = ScheduleSource::Replay(schedule);
        self
    }

    /// Records the decisions in [`Report::schedule`].
    pub fn record(mut self) -> Self {
        self.options.record = true;
        self
    }

    /// Runs the clusters of a grid on `n` host threads, the calling one included: 1 by default, 0 for one per hardware thread.
    ///
    /// A cluster runs on one thread from start to end. The results of a kernel without data races do not depend on `n`; which of several
    /// faults is reported may. A launch with a seed, a recording or a replay uses one thread, and so does one with a monitor that must see
    /// the whole launch ([`Wants::per_thread`](crate::observe::monitor::Wants::per_thread)). `%clock` and similar registers count the turns of their
    /// own thread.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::new().threads(4);
    /// # let _ = host;
    /// ```
    pub fn threads(mut self, n: usize) -> Self {
        self.options.threads = if n == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { n };
        self
    }

    /// Runs kernels only on this engine. By default a plain host in round-robin order runs compiled code if there is any: if the kernel's
    /// crate is built without debug assertions, or the header of `ptx!` has `compiled`. A host with a monitor has only the interpreter, and
    /// so has one with a seed, a recording or a replay, so that a schedule is the same wherever it runs.
    ///
    /// The environment variable `PTX_DSL_ENGINE` (`compiled` or `interpreted`) does the same for plain hosts in round-robin order for which
    /// no engine was selected.
    ///
    /// # Errors
    /// A launch fails with [`Error::Engine`](crate::api::launch::Error::Engine) if the kernel cannot run on that engine.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.options.engine = Some(engine);
        self
    }

    /// Passes the output of the kernels' `printf` to a function instead of standard output: the text of one call at a time. The calls of a
    /// thread are in order. Bytes that are not UTF-8 become `\u{fffd}`.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// use std::sync::{Arc, Mutex};
    /// let output = Arc::new(Mutex::new(String::new()));
    /// let to = output.clone();
    /// let host = Host::new().print(move |text| to.lock().unwrap().push_str(text));
    /// # let _ = host;
    /// ```
    pub fn print(self, function: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.print_bytes(move |text| function(&String::from_utf8_lossy(text)))
    }

    /// As [`Host::print`], with the bytes that the kernels print, in any encoding.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// use std::io::Write;
    /// let host = Host::new().print_bytes(|text| drop(std::io::stderr().write_all(text)));
    /// # let _ = host;
    /// ```
    pub fn print_bytes(mut self, function: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        self.options.print = Print::Function(Arc::new(function));
        self
    }

    /// How matrix instructions add: like tensor cores, unless this is [`Numerics::Fast`].
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Host, Numerics};
    /// let host = Host::new().numerics(Numerics::Fast);
    /// # let _ = host;
    /// ```
    pub fn numerics(mut self, numerics: Numerics) -> Self {
        self.options.numerics = numerics;
        self
    }

    /// Sets whether all `tcgen05.mma` of a thread with one `.cta_group` execute in the order of issue. By default only those with the same
    /// accumulator, shape and kind do, as in the manual (9.7.16.6.2), and others may overtake each other. Kernels that multiply with a matrix in Tensor
    /// Memory, and then put the next product over that matrix, may rely on more than the manual says.
    ///
    /// All hosts have this option, because a seed or an exploration also chooses the order on a host that checks nothing.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Host;
    /// let host = Host::checked().mma_in_order(true);
    /// # let _ = host;
    /// ```
    pub fn mma_in_order(mut self, in_order: bool) -> Self {
        self.options.tensor.mma_in_order = in_order;
        self
    }

    /// How many clusters are resident at a time: 16 by default, 65,536 at most. The others are pending: cluster launch control can cancel
    /// them. Several host threads divide this number among them, rounded up.
    pub fn resident_clusters(mut self, n: usize) -> Self {
        self.options.resident = n.clamp(1, MOST_RESIDENT);
        self
    }

    /// Starts pending clusters in the order of their numbers in every schedule. Without this, seeds and explorations choose which one starts:
    /// PTX promises no order, but many kernels wait for CTAs with lower numbers, and today's GPUs start those first.
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Host, Report, Error};
    /// # fn launch<M>(_: &Host<M>) -> Result<Report, Error> { Ok(Report::default()) }
    /// Host::checked().start_in_order().explore(64).run(|host| launch(host))?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn start_in_order(mut self) -> Self {
        self.options.starts_in_order = true;
        self
    }
}

/// Resident clusters: more than any GPU has, and few enough for memory.
const MOST_RESIDENT: usize = 1 << 16;
