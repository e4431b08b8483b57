//! Graphs: launches that are recorded once and run often.

use super::stream::Stream;
use super::{Scope, State};
use crate::calls::Called;
use crate::error::GpuError;
use cudarc::driver::sys::{self, CUgraph, CUgraphExec, CUstreamCaptureMode};
use ptx_dsl_runtime::Error;

/// Launches that were recorded by [`Stream::capture`]. It lives as long as its scope.
pub struct Graph<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    graph: CUgraphExec,
    /// The memory that its launches use.
    uses: Vec<usize>,
}

impl<'scope, 'env> Stream<'scope, 'env> {
    /// Records the launches that `body` makes on this stream, without running them. Arguments that do not stay on the device are copied
    /// there now, and copied back when the scope ends.
    ///
    /// # Errors
    /// A launch is not for this device, uses another stream, or has an argument that cannot be recorded.
    pub fn capture(
        &self,
        body: impl FnOnce(&Stream<'scope, 'env>) -> Result<(), Error>,
    ) -> Result<Graph<'scope, 'env>, Error> {
        let scope = self.scope;
        let begun = scope.gpu.bind().and_then(|()| {
            let state = &mut *scope.state.borrow_mut();
            if state.capture.is_some() {
                return Err(GpuError::InCapture { what: "a second capture cannot begin" });
            }
            // relaxed: meanwhile this thread may load modules and copy arguments
            let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
            // SAFETY: the stream is one of the scope.
            unsafe { sys::cuStreamBeginCapture_v2(state.streams[self.index], mode) }.of("cuStreamBeginCapture")?;
            state.capture = Some((self.index, Vec::new()));
            Ok(())
        });
        begun.map_err(|problem| scope.error(problem))?;
        // if it panics, the end of the scope ends the capture
        let recorded = body(self);
        let mut state = scope.state.borrow_mut();
        if let Err(error) = recorded {
            state.end_capture();
            return Err(error);
        }
        let ended = state.instantiate();
        drop(state);
        let (graph, mut uses) = ended.map_err(|problem| scope.error(problem))?;
        uses.sort_unstable();
        uses.dedup();
        Ok(Graph { scope, graph, uses })
    }
}

impl State {
    /// Ends the capture, and makes its graph ready to run.
    fn instantiate(&mut self) -> Result<(CUgraphExec, Vec<usize>), GpuError> {
        let Some((stream, uses)) = self.capture.take() else {
            return Err(GpuError::InCapture { what: "the capture has ended already" });
        };
        let (mut graph, mut ready): (CUgraph, CUgraphExec) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the stream is being captured; the driver writes one handle.
        unsafe { sys::cuStreamEndCapture(self.streams[stream], &mut graph) }.of("cuStreamEndCapture")?;
        // SAFETY: the graph has just been made. Destroying it does not concern the one that is instantiated from it.
        let made = unsafe {
            let made = sys::cuGraphInstantiateWithFlags(&mut ready, graph, 0).of("cuGraphInstantiate");
            let _ = sys::cuGraphDestroy(graph);
            made
        };
        made?;
        self.graphs.push(ready);
        Ok((ready, uses))
    }
}

impl<'scope, 'env> Graph<'scope, 'env> {
    /// Runs the recorded launches on a stream, after what it has to do already.
    ///
    /// # Errors
    /// The host reads memory that the launches use ([`Lent::read`](super::Lent::read)), a stream is being captured, or the driver fails.
    pub fn launch(&self, stream: &Stream<'scope, 'env>) -> Result<(), Error> {
        let result = self.scope.gpu.bind().and_then(|()| {
            let State { streams, memory, capture, .. } = &mut *self.scope.state.borrow_mut();
            if capture.is_some() {
                return Err(GpuError::InCapture { what: "a graph cannot be launched" });
            }
            if self.uses.iter().any(|index| memory.is_read(*index)) {
                return Err(GpuError::MemoryIsRead);
            }
            for index in &self.uses {
                memory.order(*index, stream.index, streams)?;
                memory.mark_written(*index);
            }
            // SAFETY: the graph and the stream live as long as the scope, and so does the memory of the launches.
            unsafe { sys::cuGraphLaunch(self.graph, streams[stream.index]) }.of("cuGraphLaunch")?;
            match self.scope.gpu.properties().concurrent_managed {
                true => Ok(()),
                false => super::stream::synchronize(streams[stream.index]),
            }
        });
        self.scope.state.borrow_mut().launches += 1;
        result.map_err(|problem| self.scope.error(problem))
    }
}
