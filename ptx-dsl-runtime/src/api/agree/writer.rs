//! Finds who writes an element last, by a monitor of stores.

use super::difference::Writer;
use super::watched::{Contents, Watched};
use crate::api::host::Host;
use crate::api::launch::Error;
use crate::fault::{At, FaultKind};
use crate::kernel::KernelInfo;
use crate::memory::address::{FIRST_BUFFER, Place};
use crate::observe::monitor::{Access, By, Monitor, Wants};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Who writes these bytes of a buffer last in a launch, if a host runs the test. `launch`: its number, from 0, and the threads of a CTA.
pub(super) fn find<R>(
    launch: (usize, [u32; 3]),
    buffer: &Contents,
    bytes: Range<usize>,
    test: &impl Fn(&Watched<'_>) -> Result<R, Error>,
) -> Option<Writer> {
    let last = Arc::new(Mutex::new(None));
    let (segment, of_monitor) = (FIRST_BUFFER as usize + buffer.argument, last.clone());
    let bytes = buffer.start + bytes.start as u64..buffer.start + bytes.end as u64;
    let (launch, block) = launch;
    let host = Host::monitored(move || Stores {
        segment,
        bytes: bytes.clone(),
        last: of_monitor.clone(),
        statements: Vec::new(),
        clusters: FxHashMap::default(),
        block,
    });
    let plain = Host::new();
    // an error after the launch does not matter, and one before it leaves nothing
    let _ = test(&Watched::with_one_on(&plain, launch, &host));
    last.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Remembers the last store to a range of bytes.
struct Stores {
    segment: usize,
    bytes: Range<u64>,
    last: Arc<Mutex<Option<Writer>>>,
    statements: Vec<Option<At>>,
    /// `%ctaid` of the CTAs of the cluster in each slot.
    clusters: FxHashMap<u32, Vec<[u32; 3]>>,
    block: [u32; 3],
}

impl Monitor for Stores {
    fn wants(&self) -> Wants {
        Wants { read_only: false, ..Wants::default() }
    }

    fn launch(&mut self, kernel: &KernelInfo<'_>) {
        self.statements = (0..kernel.sites.len() as u32).map(|site| kernel.at(site)).collect();
    }

    fn cluster(&mut self, slot: u32, ctas: &[[u32; 3]], _: u32) {
        self.clusters.insert(slot, ctas.to_vec());
    }

    fn memory(&mut self, access: Access) -> Result<(), FaultKind> {
        let Place::Global { segment, offset } = access.place else { return Ok(()) };
        let is_near = offset < self.bytes.end && self.bytes.start < offset + u64::from(access.bytes);
        if !access.write || segment != self.segment || !is_near {
            return Ok(());
        }
        let who = access.who;
        let thread = who.warp * 32 + who.lanes.trailing_zeros().min(31);
        let [x, y, _] = self.block;
        let cta = self.clusters.get(&who.slot).and_then(|ctas| ctas.get(who.rank as usize));
        let writer = Writer {
            cta: cta.copied().unwrap_or_default(),
            thread: [thread % x, thread / x % y, thread / x / y],
            is_asynchronous: matches!(access.by, By::Agent(_)),
            at: self.statements.get(who.site as usize).cloned().flatten(),
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(writer);
        Ok(())
    }
}
