//! A monitor that counts what each statement does: instructions, sectors of global memory, wavefronts and bank conflicts of shared memory.
//!
//! The counters of memory are those of Nsight Compute on an H200, which are functions of addresses. They are exact for the accesses of the
//! PTX; ptxas may remove, merge or add some. Nothing here is a time.
//!
//! ```
//! # use ptx_dsl_runtime::{Host, profile::Profiler};
//! # fn launch(_: &Host<Profiler>) {}
//! let host = Host::profile();
//! launch(&host);
//! let profile = host.profiled();
//! assert_eq!(profile.total().bank_conflicts, 0);
//! println!("{}", profile.listing());
//! # assert!(profile.find("st.shared").is_none());
//! ```

mod card;
mod copies;
mod counters;
mod difference;
mod executions;
mod html;
mod json;
mod listing;
mod metrics;
mod mix;
mod requests;
mod result;
mod roofline;
mod summary;
mod touched;
mod waits;

pub use card::{Card, Peaks};
pub use counters::Counters;
pub use mix::{Product, RegisterChange, Waiting};
pub use ptx_dsl_isa::isa::class::InstrClass;
pub use ptx_dsl_isa::meaning::work::Number;
pub use result::{Memory, Profile, Statement};
pub use roofline::{Bound, Limit, Occupancy, Roofline};

use crate::fault::{At, FaultKind};
use crate::kernel::KernelInfo;
use crate::memory::address::Place;
use crate::observe::monitor::{Access, Agent, By, Monitor, Offsets, Order, Proxy, Sync, Wait, Wants, Who};
use crate::observe::probe::layout::{DescriptorOf, SharedMatrix, TensorProduct};
use crate::observe::probe::{Needs, Pieces, Probe};
use copies::Copies;
use executions::Executions;
use ptx_dsl_isa::image::Image;
use ptx_dsl_isa::meaning::memory_pipeline;
use requests::{PendingRequests, Request, RequestKind, kinds};
use result::{Counted, KernelShape};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use touched::Touched;
use waits::Waits;

/// Counts a [`Profile`] of a launch.
#[derive(Debug, Default)]
pub struct Profiler {
    /// The destination of the profile when the launch ends.
    result: Arc<Mutex<Profile>>,
    shape: KernelShape,
    /// The statements that have a number.
    sites: Vec<At>,
    image: Option<Arc<Image>>,
    kinds: Vec<RequestKind>,
    executions: Executions,
    /// The counters of memory, by site.
    counters: Vec<Counters>,
    /// The request whose lanes the machine reports one by one.
    pending: Option<PendingRequests>,
    copies: Copies,
    last_copy_is_multicast: bool,
    touched: Touched,
    waits: Waits,
    /// Products whose shape a descriptor has given, by site.
    products: BTreeMap<(u32, Described), u64>,
}

/// A product of matrices with its shape and type, and whether it is sparse.
type Described = ([u32; 3], &'static str, bool);

impl Profiler {
    /// A profiler whose profile goes there when the launch ends.
    pub(crate) fn to(result: Arc<Mutex<Profile>>) -> Profiler {
        let mut profiler = Profiler::default();
        profiler.result = result;
        profiler
    }

    /// The profile of the last launch that has ended, empty before the first one.
    pub(crate) fn result(&self) -> Profile {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn flush(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.count(&pending.request(), 1);
        }
    }

    /// Counts requests that differ only by a distance that changes nothing.
    fn count(&mut self, request: &Request<'_>, times: u64) {
        let kind = self.kind(request.site);
        request.touch(&mut self.touched, kind.is_atomic());
        self.add(request, kind, times);
    }

    fn add(&mut self, request: &Request<'_>, kind: RequestKind, times: u64) {
        if let Some(counters) = self.counters.get_mut(request.site as usize) {
            request.count(kind, times, counters);
        }
    }

    /// Counts what an asynchronous operation reads or writes.
    fn asynchronous(&mut self, a: &Access) {
        // a tensor map is no data
        if a.proxy == Proxy::Tensormap {
            return;
        }
        if let Place::Global { segment, offset } = a.place {
            self.touched.access(segment, offset, a.bytes.into(), a.write);
        }
        match a.by {
            By::Agent(Agent::Copy(number)) => {
                let is_multicast = self.last_copy_is_multicast;
                let ended = self.copies.access(number, a, is_multicast);
                self.last_copy_is_multicast = self.kind(a.who.site) == RequestKind::Multicast;
                self.ended(ended);
                return;
            }
            // counted by their descriptors
            By::Agent(Agent::Warpgroup(_) | Agent::Tensor(_)) => return,
            _ => {}
        }
        let Some(counters) = self.counters.get_mut(a.who.site as usize) else { return };
        let to = match (a.place, a.write) {
            (Place::Global { .. }, false) => &mut counters.async_global_read_bytes,
            (Place::Global { .. }, true) => &mut counters.async_global_written_bytes,
            (Place::Shared { .. }, false) => &mut counters.async_shared_read_bytes,
            (Place::Shared { .. }, true) => &mut counters.async_shared_written_bytes,
            _ => return,
        };
        *to += u64::from(a.bytes);
    }

    /// Adds what a copy did that has ended.
    fn ended(&mut self, copy: Option<(u32, Counters)>) {
        if let Some((site, counters)) = copy
            && let Some(to) = self.counters.get_mut(site as usize)
        {
            *to += counters;
        }
    }

    /// The kind of a statement.
    fn kind(&self, site: u32) -> RequestKind {
        self.kinds.get(site as usize).copied().unwrap_or_default()
    }
}

impl Monitor for Profiler {
    fn wants(&self) -> Wants {
        Wants { per_thread: false, apart: false, read_only: true, events: false }
    }

    fn launch(&mut self, kernel: &KernelInfo<'_>) {
        self.shape = KernelShape::of(kernel);
        self.sites = (0..).map_while(|site| kernel.at(site)).collect();
        self.counters = vec![Counters::default(); self.sites.len()];
    }

    fn cluster(&mut self, _: u32, ctas: &[[u32; 3]], threads: u32) {
        self.flush();
        self.shape.cluster(ctas, threads);
    }

    fn sync(&mut self, what: Sync, _: Order, who: Who) -> Result<(), FaultKind> {
        self.waits.sync(what, who);
        Ok(())
    }

    fn memory(&mut self, a: Access) -> Result<(), FaultKind> {
        if a.by != By::Thread {
            self.asynchronous(&a);
            // the lanes of `cp.async` read global memory as those of a load do
            let is_load = matches!((a.by, a.place, a.write), (By::Agent(Agent::Cp(_)), Place::Global { .. }, false));
            if !is_load {
                return Ok(());
            }
        }
        let kind = self.kind(a.who.site);
        // an atomic operation is a load, then a store; `ldmatrix` tells of its rows
        if kind.is_atomic() && a.write || kind.is_of_rows() {
            return Ok(());
        }
        if !self.pending.as_mut().is_some_and(|pending| pending.joins(&a)) {
            self.flush();
            self.pending = PendingRequests::new(&a);
        }
        Ok(())
    }

    fn warp(&mut self, a: &Access, offsets: Offsets<'_>) -> bool {
        if self.kind(a.who.site).is_of_rows() {
            return true;
        }
        let mut at = [0; 32];
        for (bit, offset) in offsets.each(a.who.lanes, requests::offset(a.place)) {
            at[bit.trailing_zeros() as usize] = offset;
        }
        self.count(&Request::of(a, &at), 1);
        true
    }
}

impl Probe for Profiler {
    fn needs(&self) -> Needs {
        Needs { barriers: true, regions: true, waits: true, constants: true, ..Needs::default() }
    }

    fn code(&mut self, image: &Arc<Image>) {
        self.kinds = kinds(image);
        self.executions = Executions::new(image);
        self.image = Some(image.clone());
    }

    fn region(&mut self, region: usize, lanes: &[u32]) {
        self.flush();
        self.executions.region(region, lanes);
    }

    fn predicated_off(&mut self, instruction: u32, threads: u64) {
        self.executions.predicated_off(instruction, threads);
    }

    fn warps(&mut self, a: &Access, pieces: &Pieces) -> bool {
        requests::touch_warps(a, pieces, &mut self.touched);
        let kind = self.kind(a.who.site);
        if let Some(counters) = self.counters.get_mut(a.who.site as usize)
            && requests::count_rows(a, pieces, kind, counters)
        {
            return true;
        }
        requests::each_warp(a, pieces, |request, times| self.add(request, self.kind(request.site), times));
        true
    }

    fn chain(&mut self, a: &Access, pieces: &Pieces, others: &[(u32, i32)]) -> bool {
        self.warps(a, pieces);
        for (site, distance) in others {
            let Some(place) = requests::moved(a.place, *distance) else { continue };
            self.warps(&Access { place, who: Who { site: *site, ..a.who }, ..*a }, pieces);
        }
        true
    }

    fn waits(&mut self, turn: u64, who: Who, warps: u32, wait: &Wait) {
        self.waits.waits(turn, who, warps, wait);
    }

    fn resumes(&mut self, turn: u64, who: Who, warps: u32) {
        if let Some((site, waited)) = self.waits.resumes(turn, who, warps)
            && let Some(counters) = self.counters.get_mut(site as usize)
        {
            counters.waits += waited.times;
            counters.wait_turns += waited.turns;
        }
    }

    fn cancels(&mut self, who: Who, cancelled: bool) {
        if let Some(counters) = self.counters.get_mut(who.site as usize) {
            counters.cancel_requests += 1;
            counters.cancelled_clusters += u64::from(cancelled);
        }
    }

    fn multiplies(&mut self, product: TensorProduct, who: Who) {
        let TensorProduct { shape, element, sparse } = product;
        let shape = shape.map(|n| n as u32);
        *self.products.entry((who.site, (shape, element, sparse))).or_default() += 1;
        if let Some(counters) = self.counters.get_mut(who.site as usize) {
            counters.tensor_operations += 2 * shape.iter().map(|n| u64::from(*n)).product::<u64>();
        }
    }

    fn reads_matrix(&mut self, matrix: &SharedMatrix, _: u32, who: Who) -> Result<(), FaultKind> {
        // each warp of a warpgroup tells of the same B
        let again = matrix.of == DescriptorOf::Wgmma && matrix.operand == "B" && !who.warp.is_multiple_of(4);
        if !again && let Some(counters) = self.counters.get_mut(who.site as usize) {
            counters.matrix_shared_bytes += 16 * matrix.lines.len() as u64 * matrix.pieces.len() as u64;
        }
        Ok(())
    }

    fn writes_rows(&mut self, matrix: u32, rows: &[u32], who: Who) {
        self.rows(matrix, rows, who);
    }

    fn reads_rows(&mut self, matrix: u32, rows: &[u32], who: Who) -> Result<(), FaultKind> {
        self.rows(matrix, rows, who);
        Ok(())
    }
}

impl Profiler {
    /// A matrix of `ldmatrix` or `stmatrix`. The first one is the request.
    fn rows(&mut self, matrix: u32, rows: &[u32], who: Who) {
        if !self.kind(who.site).is_of_rows() {
            return;
        }
        let Some(counters) = self.counters.get_mut(who.site as usize) else { return };
        let served = memory_pipeline::rows(rows);
        counters.shared(served, served.units - served.ideal, 1, 16 * rows.len() as u64);
        if matrix != 0 {
            counters.shared_requests -= 1;
        }
    }
}

impl Drop for Profiler {
    /// The launch is over.
    fn drop(&mut self) {
        self.flush();
        let Some(image) = self.image.take() else { return };
        let ended = self.copies.end(self.last_copy_is_multicast);
        self.ended(ended);
        let counted = Counted {
            sites: &self.sites,
            executions: &self.executions,
            counters: &self.counters,
            waits: &self.waits,
            products: &self.products,
            touched: self.touched.bytes(),
        };
        let profile = Profile::new(&self.shape, &image, &counted);
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = profile;
    }
}
