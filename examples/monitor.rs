//! Two monitors that this program defines. `SamePlace` looks at accesses: it finds threads that store to the same place of global memory, with the
//! lines of both stores. `Diary` also looks at synchronisations and events: it writes down what warps wait for, and what ends the wait.

use ptx_dsl::fault::{At, FaultKind};
use ptx_dsl::kernel::KernelInfo;
use ptx_dsl::monitor::{Access, Agent, By, Event, Monitor, Order, Place, Sync, Wants, Who};
use ptx_dsl::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

ptx! {
    <sm_90, ptx 8.6>
    // each thread stores to the element of its thread in the CTA, whichever CTA it is in
    .visible .entry ids(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 64
    {
        .reg .b32 %i;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %x, %i, 4, %x;
        st.global.u32 [%x], %i;
        ret;
    }
    // thread 0 starts a copy to shared memory, and the threads of both warps wait for its bytes
    .visible .entry copied(
        .param .u64 .ptr .global .align 16 x: &[u32],
        .param .u64 .ptr .global .align 4 y: &mut [u32]) .reqntid 64
    {
        .reg .pred %first, %done;
        .reg .b32 %i, %at, %v;
        .reg .b64 %x, %y;
        .shared .align 16 .b8 tile[256];
        .shared .align 8 .b64 full;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        mov.u32 %i, %tid.x;
        setp.eq.u32 %first, %i, 0;
        @%first mbarrier.init.shared::cta.b64 [full], 1;
        bar.sync 0;
        @!%first bra wait;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%x], 256, [full];
    wait:
        mbarrier.try_wait.parity.shared::cta.b64 %done, [full], 0;
        @!%done bra wait;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %i, 4, %at;
        ld.shared.u32 %v, [%at];
        mad.wide.u32 %y, %i, 4, %y;
        st.global.u32 [%y], %v;
        ret;
    }
}

/// A line and, where there is one, the statement.
type Entry = (String, Option<At>);

/// What monitors of all launches have found.
type Found = Arc<Mutex<Vec<Entry>>>;

#[derive(Default)]
struct SamePlace {
    statements: Vec<At>,
    /// The number of clusters that have started, by slot.
    clusters: HashMap<u32, u64>,
    started: u64,
    /// Who has stored to a place last: cluster, thread.
    last: HashMap<u64, (u64, Who)>,
    found: Found,
}

impl Monitor for SamePlace {
    fn launch(&mut self, kernel: &KernelInfo<'_>) {
        self.statements = (0..).map_while(|site| kernel.at(site)).collect();
    }

    fn cluster(&mut self, slot: u32, _ctas: &[[u32; 3]], _threads: u32) {
        self.started += 1;
        self.clusters.insert(slot, self.started);
    }

    fn memory(&mut self, a: Access) -> Result<(), FaultKind> {
        let (Place::Global { .. }, true) = (a.place, a.write) else { return Ok(()) };
        let cluster = self.clusters.get(&a.who.slot).copied().unwrap_or_default();
        let thread = |(cluster, w): (u64, Who)| (cluster, w.rank, w.warp, w.lanes);
        let before = self.last.insert(a.addr, (cluster, a.who)).filter(|b| thread(*b) != thread((cluster, a.who)));
        if let Some((_, before)) = before {
            let at = |who: Who| self.statements.get(who.site as usize).cloned();
            let first = at(before).map(|at| shown(&at)).unwrap_or_default();
            note(&self.found, format!("{first} has stored to {:#x}, and so does another thread", a.addr), at(a.who));
        }
        Ok(())
    }
}

/// Adds a line to what was found.
fn note(found: &Found, text: String, at: Option<At>) {
    if let Ok(mut found) = found.lock() {
        found.push((text, at));
    }
}

/// A statement with its PTX line and its Rust line.
fn shown(at: &At) -> String {
    format!("`{}` (PTX line {}, {}:{})", at.text, at.line, at.file, at.rust_line)
}

/// So many warps from that of `first` on.
fn numbers(first: Who, warps: u32) -> String {
    match warps {
        1 => format!("warp {}", first.warp),
        _ => format!("warps {} to {}", first.warp, first.warp + warps - 1),
    }
}

#[derive(Default)]
struct Diary {
    statements: Vec<At>,
    found: Found,
}

impl Diary {
    fn at(&self, who: Who) -> Option<At> {
        self.statements.get(who.site as usize).cloned()
    }
}

impl Monitor for Diary {
    // without this, `event` is not called
    fn wants(&self) -> Wants {
        Wants { events: true, ..Wants::default() }
    }

    fn launch(&mut self, kernel: &KernelInfo<'_>) {
        self.statements = (0..).map_while(|site| kernel.at(site)).collect();
    }

    // what threads and asynchronous operations read and write
    fn memory(&mut self, a: Access) -> Result<(), FaultKind> {
        if let By::Agent(Agent::Copy(copy)) = a.by {
            let verb = if a.write { "writes" } else { "reads" };
            note(&self.found, format!("copy {copy} {verb} {} bytes", a.bytes), self.at(a.who));
        }
        Ok(())
    }

    // what statements and copies do to mbarrier objects, and other synchronisations
    fn sync(&mut self, what: Sync, _order: Order, who: Who) -> Result<(), FaultKind> {
        let text = match what {
            Sync::MbarrierInit { offset, .. } => format!("mbarrier {offset:#x} begins"),
            Sync::MbarrierArrive { offset, .. } => format!("a thread arrives at mbarrier {offset:#x}"),
            Sync::CopyCompletes { copy, offset, .. } => format!("copy {copy} completes at mbarrier {offset:#x}"),
            _ => return Ok(()),
        };
        note(&self.found, text, self.at(who));
        Ok(())
    }

    // what happens, and when
    fn event(&mut self, turns: u64, event: Event<'_>) {
        match event {
            Event::Waits { who, warps, reason, .. } => {
                let text = format!("turn {turns}, {}: {reason}", numbers(who, warps));
                note(&self.found, text, self.at(who));
            }
            // `who` has no statement here
            Event::Resumes { who, warps, .. } => {
                note(&self.found, format!("turn {turns}, {}: goes on", numbers(who, warps)), None);
            }
            _ => {}
        }
    }
}

/// Prints what was found. The statements are at their lines of the PTX and of this file.
fn print(found: &[Entry], ptx: &str) {
    for (text, at) in found {
        let Some(at) = at else {
            println!("{text}");
            continue;
        };
        println!("{text}: {}", shown(at));
        let line = |text: &str, line: u32| text.lines().nth(line as usize - 1).map(|line| line.trim().to_owned());
        assert_eq!(line(ptx, at.line).as_ref(), Some(&at.text));
        assert_eq!(line(include_str!("monitor.rs"), at.rust_line).as_ref(), Some(&at.text));
    }
}

fn main() -> Result<(), Error> {
    same_place()?;
    diary()
}

fn same_place() -> Result<(), Error> {
    let found = Found::default();
    let shared = found.clone();
    let host = Host::monitored(move || SamePlace { found: shared.clone(), ..SamePlace::default() });
    let mut x = [0; 64];
    ids.launch(&host, Launch::grid(1), (&mut x,))?;
    let count = || found.lock().map(|found| found.len()).unwrap_or_default();
    assert_eq!(count(), 0);
    // the second CTA stores where the first has
    ids.launch(&host, Launch::grid(2), (&mut x,))?;
    assert_eq!(count(), 64);
    print(&found.lock().unwrap_or_else(PoisonError::into_inner)[..1], ids::PTX);
    Ok(())
}

fn diary() -> Result<(), Error> {
    let found = Found::default();
    let shared = found.clone();
    let host = Host::monitored(move || Diary { found: shared.clone(), ..Diary::default() });
    let x: Vec<u32> = (0..64).collect();
    let mut y = [0; 64];
    copied.launch(&host, Launch::grid(1), (&x, &mut y))?;
    assert_eq!(x, y);
    let found = found.lock().unwrap_or_else(PoisonError::into_inner);
    print(&found, copied::PTX);
    let parts = [
        "mbarrier 0x100 begins",
        "a thread arrives at mbarrier 0x100",
        "copy 1 reads 256 bytes",
        "copy 1 writes 256 bytes",
        "warps 0 to 1: waits for mbarrier",
        "copy 1 completes at mbarrier 0x100",
        "warps 0 to 1: goes on",
    ];
    assert_eq!(found.len(), parts.len());
    for ((text, _), part) in found.iter().zip(parts) {
        assert!(text.contains(part), "{text}");
    }
    Ok(())
}
