//! Lost updates: a thread stores to a place what it has made of a value that another thread has replaced since. A race of this kind is
//! legal with relaxed operations, so it is only told where a result depends on the schedule.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ptx_dsl::fault::{At, FaultKind};
use ptx_dsl::kernel::KernelInfo;
use ptx_dsl::monitor::{Access, By, Monitor, Place, Who};

/// The first lost update of a launch, in words.
pub type Found = Arc<Mutex<Option<String>>>;

/// A thread: the number of its cluster, its rank, warp and lane.
type Thread = (u64, u32, u32, u32);

/// What is known of a place in global memory.
#[derive(Default)]
struct Element {
    /// The number of stores so far.
    stores: u64,
    /// The thread that has stored to it last, and the place of the store.
    last: Option<(Thread, u32)>,
    /// The number of stores that the last load of each thread has seen, and the statement of the load.
    seen: HashMap<Thread, (u64, u32)>,
}

/// Finds the first lost update of a launch.
#[derive(Default)]
pub struct LostUpdates {
    found: Found,
    statements: Vec<At>,
    /// The number of the cluster in each slot.
    clusters: HashMap<u32, u64>,
    /// The coordinates of the CTAs, by the number of their cluster and their rank.
    ctas: HashMap<(u64, u32), [u32; 3]>,
    started: u64,
    elements: HashMap<(usize, u64, u32), Element>,
}

impl LostUpdates {
    /// A monitor that leaves there what it finds.
    pub fn new(found: Found) -> Self {
        LostUpdates { found, ..LostUpdates::default() }
    }

    fn thread(&self, who: Who) -> Thread {
        let cluster = self.clusters.get(&who.slot).copied().unwrap_or_default();
        (cluster, who.rank, who.warp, who.lanes.trailing_zeros())
    }

    fn statement(&self, site: u32) -> String {
        self.statements
            .get(site as usize)
            .map_or_else(String::new, |at| format!("`{}` (PTX line {})", at.text, at.line))
    }

    fn name(&self, (cluster, rank, warp, lane): Thread) -> String {
        let [x, y, z] = self.ctas.get(&(cluster, rank)).copied().unwrap_or_default();
        format!("warp {warp} lane {lane} of CTA ({x}, {y}, {z})")
    }

    /// A store by a thread to what another one has changed since it has loaded it.
    fn lost(&self, a: &Access, thread: Thread, (other, store): (Thread, u32), load: u32) -> String {
        format!(
            "an update is lost: {} of {} stores to global address {:#x} what was loaded by {}; in between {} of {} has stored there",
            self.statement(a.who.site),
            self.name(thread),
            a.addr,
            self.statement(load),
            self.statement(store),
            self.name(other),
        )
    }
}

impl Monitor for LostUpdates {
    fn launch(&mut self, kernel: &KernelInfo<'_>) {
        self.statements = (0..).map_while(|site| kernel.at(site)).collect();
    }

    fn cluster(&mut self, slot: u32, ctas: &[[u32; 3]], _threads: u32) {
        self.started += 1;
        self.clusters.insert(slot, self.started);
        self.ctas.extend((0..).zip(ctas).map(|(rank, cta)| ((self.started, rank), *cta)));
    }

    fn memory(&mut self, a: Access) -> Result<(), FaultKind> {
        let (Place::Global { segment, offset }, By::Thread) = (a.place, a.by) else { return Ok(()) };
        let thread = self.thread(a.who);
        let element = self.elements.entry((segment, offset, a.bytes)).or_default();
        if !a.write {
            element.seen.insert(thread, (element.stores, a.who.site));
            return Ok(());
        }
        let (seen, last) = (element.seen.get(&thread).copied(), element.last);
        element.stores += 1;
        element.last = Some((thread, a.who.site));
        // a thread knows what it stores
        element.seen.insert(thread, (element.stores, a.who.site));
        let before = element.stores - 1;
        if let (Some((stores, load)), Some(last)) = (seen, last)
            && !a.order.atomic
            && stores != before
            && last.0 != thread
        {
            let text = self.lost(&a, thread, last, load);
            self.found.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
        }
        Ok(())
    }
}
