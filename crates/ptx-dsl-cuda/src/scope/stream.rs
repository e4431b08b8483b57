//! Streams of a scope: launches in order, which return at once.

use super::event::{self, Event};
use super::lent::{Submission, is_tensor_of_a_launch};
use super::{Scope, State};
use crate::arguments::Parameters;
use crate::calls::Called;
use crate::error::GpuError;
use crate::explain::Snapshot;
use crate::launch::{attributes, describe, ready, start};
use cudarc::driver::sys::{self, CUstream};
use ptx_dsl_runtime::device::KernelCode;
use ptx_dsl_runtime::kernel_fn::Takes;
use ptx_dsl_runtime::launch::{self, AllInFlight, Arg, LaunchShape, Passed};
use ptx_dsl_runtime::{Error, KernelFn, Launch};

/// A stream of a [`Scope`]: its launches run one after the other, and return before the kernel has ended. Copies of a stream are the same
/// stream.
#[derive(Clone, Copy)]
pub struct Stream<'scope, 'env> {
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) index: usize,
}

impl<'scope, 'env> Stream<'scope, 'env> {
    pub(super) fn new(scope: &'scope Scope<'scope, 'env>, index: usize) -> Self {
        Stream { scope, index }
    }

    /// Starts a kernel after what the stream has to do already. Arguments are those of `kernel.launch`, and
    /// [`Lent`](super::Lent) memory.
    ///
    /// # Errors
    /// The launch or an argument does not suit the kernel or the device, or an earlier launch has failed.
    pub fn launch<K, A>(&self, _: K, launch: Launch, arguments: A) -> Result<(), Error>
    where
        K: KernelFn,
        A: AllInFlight<'scope, Submission>,
        K::Kernel: Takes<'scope, A::Arguments>,
    {
        let arguments = K::Kernel::arguments(arguments.arguments(&Submission::LAUNCH));
        self.launch_code(&KernelCode::interpreted::<K::Kernel>(), launch, arguments)
    }

    /// Starts a kernel with untyped arguments.
    ///
    /// # Errors
    /// As [`launch`](Stream::launch).
    pub fn launch_raw<K: KernelFn>(&self, _: K, launch: Launch, arguments: Vec<Arg<'scope>>) -> Result<(), Error> {
        self.launch_code(&KernelCode::interpreted::<K::Kernel>(), launch, arguments)
    }

    /// Starts a kernel without its Rust type, such as one that was loaded at run time.
    ///
    /// # Errors
    /// As [`launch`](Stream::launch).
    pub fn launch_code(
        &self,
        code: &KernelCode<'_>,
        launch: Launch,
        mut arguments: Vec<Arg<'scope>>,
    ) -> Result<(), Error> {
        let gpu = &self.scope.gpu;
        let shape = launch.shape(code.info());
        let mut passed = launch::passed(code.info(), &launch, &mut arguments)?;
        let state = &mut *self.scope.state.borrow_mut();
        let mut snapshot = None;
        let result = gpu.bind().and_then(|()| {
            if gpu.explains && state.capture.is_none() {
                self.bring_home(state)?;
                snapshot = Some(Snapshot::of(&passed));
            }
            self.start(state, code, &shape, &mut passed)
        });
        state.launches += 1;
        if !state.kernels.iter().any(|name| name == code.name()) {
            state.kernels.push(code.name().to_owned());
        }
        result.map_err(|problem| {
            let lost = matches!(problem, GpuError::Failed { .. });
            let mut error = gpu.error(code.name(), &describe(code.info(), &shape, &passed), problem);
            if let (Error::Device { fault, .. }, Some(snapshot), true) = (&mut error, snapshot, lost) {
                *fault = snapshot.explain(code, launch);
            }
            error
        })
    }

    /// Copies what earlier launches have written to the host.
    fn bring_home(&self, state: &mut State) -> Result<(), GpuError> {
        state.memory.copy_back(&state.streams)?;
        state.streams.iter().try_for_each(|stream| synchronize(*stream))
    }

    fn start(
        &self,
        state: &mut State,
        code: &KernelCode<'_>,
        shape: &LaunchShape,
        passed: &mut [Passed<'_>],
    ) -> Result<(), GpuError> {
        let gpu = &self.scope.gpu;
        let info = code.info();
        let function = ready(gpu, code, shape)?;
        let State { streams, memory, capture, .. } = state;
        if capture.as_ref().is_some_and(|(stream, _)| *stream != self.index) {
            return Err(GpuError::InCapture { what: "only the captured stream can be used" });
        }
        // a copy that a capture records would read the host's memory when the graph runs
        let via = if capture.is_some() { 0 } else { self.index };
        let mut addresses = Vec::with_capacity(passed.len());
        let mut uses = Vec::new();
        for one in passed.iter_mut() {
            if matches!(one, Passed::Shared { .. }) {
                return Err(GpuError::SharedInScope);
            }
            let (Passed::Buffer(bytes, _) | Passed::TensorMap(_, bytes)) = one else {
                addresses.push(0);
                continue;
            };
            if is_tensor_of_a_launch(bytes, memory) {
                return Err(GpuError::MapNotLent);
            }
            let (address, index) = memory.place(bytes, via, streams)?;
            addresses.push(address);
            uses.extend(index);
        }
        match capture {
            Some((_, captured)) => captured.extend(&uses),
            None => uses.iter().try_for_each(|index| memory.order(*index, self.index, streams))?,
        }
        let stream = streams[self.index];
        let mut parameters =
            Parameters::new(info.params, passed, &addresses, if capture.is_some() { streams[0] } else { stream })?;
        if capture.is_some() && parameters.has_maps_in_memory() {
            return Err(GpuError::InCapture { what: "a tensor map cannot lie behind a pointer" });
        }
        let mut pointers = parameters.pointers(info.params);
        let mut attributes = attributes(info, shape, gpu.properties().capability);
        start(&function, shape, &mut attributes, &mut pointers, stream)?;
        match capture.is_none() && (gpu.explains || !gpu.properties().concurrent_managed) {
            true => synchronize(stream),
            false => Ok(()),
        }
    }

    /// The point in the work of this stream that it has now.
    ///
    /// # Errors
    /// The driver fails.
    pub fn event(&self) -> Result<Event, Error> {
        self.call(|stream| Event::record(&self.scope.gpu, stream))
    }

    /// Makes what comes after on this stream wait for an event of another one. The host does not wait.
    ///
    /// # Errors
    /// The driver fails.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        self.call(|stream| event::wait(stream, event.handle()))
    }

    /// Waits until everything that was started on this stream has ended.
    ///
    /// # Errors
    /// A launch has failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.call(synchronize)
    }

    /// Calls the driver about this stream.
    pub(super) fn call<R>(&self, call: impl FnOnce(CUstream) -> Result<R, GpuError>) -> Result<R, Error> {
        let stream = self.scope.state.borrow().streams[self.index];
        self.scope.gpu.bind().and_then(|()| call(stream)).map_err(|problem| self.scope.error(problem))
    }
}

/// Waits for a stream.
pub(super) fn synchronize(stream: CUstream) -> Result<(), GpuError> {
    // SAFETY: the stream is one of the scope.
    unsafe { sys::cuStreamSynchronize(stream) }.of("cuStreamSynchronize")
}
