//! Scopes: launches that return at once, and end before the scope does.

mod event;
mod graph;
mod lent;
mod memory;
mod stream;

pub use event::Event;
pub use graph::Graph;
pub use lent::{Lent, LentMap, Part, PartMut, Reading, Submission};
pub use stream::Stream;

use crate::calls::Called;
use crate::error::GpuError;
use crate::gpu::Gpu;
use cudarc::driver::sys::{self, CUgraph, CUgraphExec, CUstream};
use memory::Memory;
use ptx_dsl_runtime::{Error, TensorMap};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The streams and the memory of [`Gpu::scope`]. All that launches on its streams use lives longer than `'scope`.
pub struct Scope<'scope, 'env: 'scope> {
    gpu: Gpu,
    state: RefCell<State>,
    // both lifetimes are invariant, as those of `std::thread::Scope`
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

/// What a scope has made.
struct State {
    gpu: Gpu,
    /// The stream of the device, then those of the scope.
    streams: Vec<CUstream>,
    memory: Memory,
    graphs: Vec<CUgraphExec>,
    /// The stream of a capture, and the memory that the captured launches use.
    capture: Option<(usize, Vec<usize>)>,
    /// The names of the kernels launched, each once.
    kernels: Vec<String>,
    launches: u64,
}

impl Gpu {
    /// Runs `body` with a scope, on whose streams launches return at once. When `scope` returns, all of them have ended, also if `body`
    /// panics or returns early. So what they borrow outlives them, as with [`std::thread::scope`].
    ///
    /// Memory that a launch may write is borrowed exclusively until the scope ends. Memory that several launches write is
    /// [lent](Scope::lend) to the scope.
    ///
    /// ```no_run
    /// # use ptx_dsl::prelude::*;
    /// # use ptx_dsl::cuda::Gpu;
    /// # ptx! {
    /// #     <sm_90, ptx 8.0>
    /// #     .visible .entry add(.param .u64 .ptr .global .align 4 x: &[f32], .param .u64 .ptr .global .align 4 y: &mut [f32]) { ret; }
    /// # }
    /// # fn run(gpu: &Gpu) -> Result<(), Error> {
    /// let (x, mut y) = (vec![1.0f32; 1024], vec![2.0f32; 1024]);
    /// gpu.scope(|scope| {
    ///     let stream = scope.stream()?;
    ///     let mut y = scope.lend(&mut y);
    ///     for _ in 0..10 {
    ///         stream.launch(add, Launch::grid(8), (&x, &mut y))?;
    ///     }
    ///     Ok(())
    /// })?;
    /// println!("{}", y[0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What a launch uses does not live in the scope:
    ///
    /// ```compile_fail,E0597
    /// # use ptx_dsl::prelude::*;
    /// # use ptx_dsl::cuda::Gpu;
    /// # ptx! { <sm_90, ptx 8.0> .visible .entry set(.param .u64 .ptr .global .align 4 x: &mut [u32]) { ret; } }
    /// # fn run(gpu: &Gpu) -> Result<(), Error> {
    /// gpu.scope(|scope| {
    ///     let mut x = vec![0; 4];
    ///     scope.stream()?.launch(set, Launch::grid(1), (&mut x,))
    /// })
    /// # }
    /// ```
    ///
    /// Nothing else uses memory that a launch may write:
    ///
    /// ```compile_fail,E0499
    /// # use ptx_dsl::prelude::*;
    /// # use ptx_dsl::cuda::Gpu;
    /// # ptx! { <sm_90, ptx 8.0> .visible .entry set(.param .u64 .ptr .global .align 4 x: &mut [u32]) { ret; } }
    /// # fn run(gpu: &Gpu) -> Result<(), Error> {
    /// let mut x = vec![0; 4];
    /// gpu.scope(|scope| {
    ///     let stream = scope.stream()?;
    ///     stream.launch(set, Launch::grid(1), (&mut x,))?;
    ///     stream.launch(set, Launch::grid(1), (&mut x,))
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error of `body`; else a kernel has failed, or the driver. The error of a kernel names all kernels that were launched, because
    /// the driver does not say which one failed; with [`explain_failures`](Gpu::explain_failures) launches wait, and it names the one.
    pub fn scope<'env, R>(
        &self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.bind().map_err(|problem| self.error("scope", "no kernel yet", problem))?;
        let state = State {
            gpu: self.clone(),
            streams: vec![self.stream()],
            memory: Memory::default(),
            graphs: Vec::new(),
            capture: None,
            kernels: Vec::new(),
            launches: 0,
        };
        let scope = Scope { gpu: self.clone(), state: RefCell::new(state), _scope: PhantomData, _env: PhantomData };
        let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        let ended = scope.end();
        match result {
            Err(panic) => resume_unwind(panic),
            Ok(Err(error)) => Err(error),
            Ok(Ok(result)) => ended.map(|()| result),
        }
    }

    /// An error of this device.
    pub(crate) fn error(&self, kernel: &str, launched: &str, problem: GpuError) -> Error {
        if matches!(problem, GpuError::Failed { .. }) {
            self.lose(kernel);
        }
        Error::Device {
            kernel: kernel.to_owned(),
            device: self.properties().name.clone(),
            launched: launched.to_owned(),
            problem: Box::new(problem),
            fault: None,
        }
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// A new stream. Its launches run one after the other, beside those of other streams.
    ///
    /// # Errors
    /// The driver fails.
    pub fn stream(&'scope self) -> Result<Stream<'scope, 'env>, Error> {
        self.stream_of_priority(0)
    }

    /// A new stream with a priority: the CTAs of a stream with a lower number start first, where others wait for room. 0 is the lowest
    /// priority; GPUs of today know the numbers down to -5. Numbers outside of the device's range are moved into it.
    ///
    /// # Errors
    /// The driver fails.
    pub fn stream_of_priority(&'scope self, priority: i32) -> Result<Stream<'scope, 'env>, Error> {
        let mut stream = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        self.gpu.bind().map_err(|problem| self.error(problem))?;
        // SAFETY: the driver writes one handle.
        unsafe { sys::cuStreamCreateWithPriority(&mut stream, flags, priority) }
            .of("cuStreamCreateWithPriority")
            .map_err(|problem| self.error(problem))?;
        let mut state = self.state.borrow_mut();
        state.streams.push(stream);
        Ok(Stream::new(self, state.streams.len() - 1))
    }

    /// Lends memory to the scope until it ends, so that several launches can read and write it. Their order is kept: before a launch on
    /// another stream uses the memory, that stream waits for what the last one has to do.
    pub fn lend<T: bytemuck::Pod>(&'scope self, elements: &'scope mut [T]) -> Lent<'scope, T> {
        let resident = self.state.borrow_mut().memory.lend(bytemuck::cast_slice_mut(elements));
        Lent::new(self.shared(), resident, elements)
    }

    /// Lends a tensor map with its tensor to the scope until it ends, so that several launches can write the tensor.
    pub fn lend_map<'t>(&'scope self, map: &'scope mut TensorMap<'t>) -> LentMap<'scope, 't> {
        LentMap::new(map, &mut self.state.borrow_mut().memory)
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// The scope without the lifetime of what surrounds it.
    fn shared(&'scope self) -> &'scope dyn lent::Reads {
        self
    }

    /// An error that belongs to no launch.
    fn error(&self, problem: GpuError) -> Error {
        let State { kernels, launches, .. } = &*self.state.borrow();
        self.gpu.error(&named(kernels), &format!("{launches} launches of a scope"), problem)
    }

    /// Copies results back, and waits until everything that was started has ended.
    fn end(&self) -> Result<(), Error> {
        let result = self.gpu.bind().and_then(|()| {
            let mut state = self.state.borrow_mut();
            state.end_capture();
            let state = &mut *state;
            let copied = state.memory.copy_back(&state.streams);
            let mut ended = copied;
            for stream in &state.streams {
                // SAFETY: the stream is that of the device, or of this scope.
                let result = unsafe { sys::cuStreamSynchronize(*stream) }.of("cuStreamSynchronize");
                ended = ended.and(result);
            }
            ended
        });
        result.map_err(|problem| self.error(problem))
    }
}

impl Drop for State {
    /// Gives back what the scope has made. The streams are synchronised.
    fn drop(&mut self) {
        if self.gpu.bind().is_err() {
            return;
        }
        for graph in &self.graphs {
            // SAFETY: the graph was instantiated by this scope, and its launches have ended.
            let _ = unsafe { sys::cuGraphExecDestroy(*graph) };
        }
        self.memory.free(self.streams[0]);
        for stream in &self.streams[1..] {
            // SAFETY: the stream was made by this scope; the first one is that of the device.
            let _ = unsafe { sys::cuStreamDestroy_v2(*stream) };
        }
    }
}

impl State {
    /// Ends a capture that a panic or an error has left open, so that its stream can be synchronised.
    fn end_capture(&mut self) {
        let Some((stream, _)) = self.capture.take() else { return };
        let mut graph: CUgraph = std::ptr::null_mut();
        // SAFETY: the stream is one of this scope; the driver writes a handle, or null.
        let _ = unsafe { sys::cuStreamEndCapture(self.streams[stream], &mut graph) };
        if !graph.is_null() {
            // SAFETY: the graph has just been made.
            let _ = unsafe { sys::cuGraphDestroy(graph) };
        }
    }
}

/// The names of kernels, for an error.
fn named(kernels: &[String]) -> String {
    match kernels {
        [] => "scope".to_owned(),
        kernels => kernels.join("`, `"),
    }
}
