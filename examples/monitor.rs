//! A monitor of one's own: finds threads that store to the same place of global memory, with the lines of both stores.

use ptx_dsl::monitor::{Access, Monitor, Place, Who};
use ptx_dsl::prelude::*;
use ptx_dsl::{At, FaultKind, KernelInfo};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

ptx! {
    <sm_90, ptx 8.0>
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
}

/// What monitors of all launches have found.
type Found = Arc<Mutex<Vec<String>>>;

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
            let line = |who: Who| match self.statements.get(who.site as usize) {
                Some(at) => format!("`{}` (PTX line {}, {}:{})", at.text, at.line, at.file, at.rust_line),
                None => "a statement".to_owned(),
            };
            let text = format!("{:#x} is stored by {} and by {}", a.addr, line(before), line(a.who));
            if let Ok(mut found) = self.found.lock() {
                found.push(text);
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Error> {
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
    if let Some(first) = found.lock().ok().and_then(|found| found.first().cloned()) {
        println!("{first}");
    }
    Ok(())
}
