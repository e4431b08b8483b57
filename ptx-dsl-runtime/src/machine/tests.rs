//! The machine with kernels written by hand in the shape the macro emits.

use crate::api::host::Host;
use crate::api::host::Report;
use crate::api::launch::{
    Arg, CancelHandle, Error, Launch, LaunchError, launch_compiled as launch, scalar, slice, slice_mut,
};
use crate::engines::compiled::{CompiledKernel, Kernel};
use crate::fault::Fault;
use crate::fault::FaultKind;
use crate::kernel::{Flow, KernelInfo, Next, NotYet, ParamInfo, Pc, Site, Wait};
use crate::machine::Ctx;
use crate::memory::address::AddrSpace;
use crate::numerics::lanes::lanes;
use crate::sync::barrier::RedOp;
use crate::sync::mbarrier::{self, Arrive, Layout};

const REGIONS: &[&str] = &["entry", "LOOP", "DONE", "END"];
const SITE: Site = Site { text: "bar.sync 0;", line: 7, rust_line: 70, origin: 0, used_bytes: None };
const BUFFER: ParamInfo = ParamInfo { name: "out", offset: 0, size: 8, align: 8, pointer: Some(4), read_only: false };
const INFO: KernelInfo<'_> = KernelInfo {
    name: "toy",
    file: "toy.rs",
    params: &[BUFFER],
    shared_size: 4096,
    local_size: 8,
    const_image: &[1, 2, 3, 4],
    target: "sm_90",
    of_file: false,
    source: "",
    origins: crate::kernel::Origins::NONE,
    sites: &[
        SITE,
        Site { text: "mbarrier.try_wait.b64 p, [mb], st;", line: 9, rust_line: 0, origin: 0, used_bytes: None },
    ],
    ..KernelInfo::NONE
};

/// Registers of the toys.
#[derive(Default, Clone, PartialEq)]
struct Regs {
    a: [u32; 32],
    b: [u32; 32],
}

macro_rules! kernel {
    ($name:ident, $info:expr, |$x:ident, $pc:ident, $ws:ident| $arms:expr) => {
        struct $name;
        impl Kernel for $name {
            const INFO: &'static KernelInfo<'_> = &$info;
        }
        impl CompiledKernel for $name {
            type Warp = Regs;
            const REGIONS: &'static [&'static str] = REGIONS;
            fn step($x: &mut Ctx<'_>, mut $pc: Pc, $ws: &mut [Regs]) -> Result<Next, Box<Fault>> {
                loop {
                    $x.budget().turn($pc)?;
                    let next: Option<Next> = $arms;
                    $pc = match next {
                        Some(Next::Go(pc)) => pc,
                        Some(end) => return Ok(end),
                        None => match $x.go() {
                            Some(pc) => pc,
                            None => return Ok(Next::Split),
                        },
                    };
                    if $x.diverged() {
                        return Ok(Next::Go($pc));
                    }
                }
            }
        }
    };
}

fn out(x: &mut Ctx<'_>, lane: usize, index: u32, value: u32) -> Result<(), Box<Fault>> {
    let [base, ..] = x.read(AddrSpace::ParamEntry, 0, 8, lane as u32)?;
    x.write(AddrSpace::Global, base + 4 * index as u64, 4, [value as u64, 0, 0, 0], lane as u32)
}

fn active(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |l| mask >> l & 1 != 0)
}

/// Number of the thread in its CTA.
fn thread(x: &Ctx<'_>, lane: usize) -> u32 {
    x.warp * 32 + lane as u32
}

fn run<K: Kernel + CompiledKernel>(host: &Host, l: Launch, out: &mut [u32]) -> Result<Report, Error> {
    launch::<K, _>(host, l, &mut [slice_mut(out)])
}

fn kind(r: Result<Report, Error>) -> FaultKind {
    match r {
        Err(Error::Fault(f)) => f.kind,
        other => panic!("no fault: {other:?}"),
    }
}

fn seeds() -> impl Iterator<Item = Host> {
    [Host::new()].into_iter().chain((0..12).map(|n| Host::new().seed(n)))
}

fn wait_here(x: &mut Ctx<'_>, id: u32, count: Option<u32>) -> Result<Flow, Box<Fault>> {
    if x.resumed() { Ok(Flow::Next) } else { x.sync().barrier_arrive(id, count, true, None).map(Flow::Wait) }
}

// one try at the mbarrier object at 64
fn await_phase(x: &mut Ctx<'_>) -> Result<(bool, Flow), Box<Fault>> {
    let done = x.sync().mbarrier(0, 64, |s| Ok((s, mbarrier::passed(s, 0)?)), 0)?;
    let flow = if done || x.resumed() { Flow::Next } else { Flow::Wait(Wait::Mbarrier(vec![(0, 64, 0)])) };
    Ok((done, flow))
}

// every thread stores its number, all meet, every thread reads the number of its mirror image
kernel!(Mirror, INFO, |x, pc, ws| {
    match pc {
        0 => {
            for k in 0..ws.len() {
                let m = x.warp(k);
                for l in active(m) {
                    let t = thread(x, l);
                    x.write(AddrSpace::SharedCta, 4 * t as u64, 4, [t as u64, 0, 0, 0], l as u32)?;
                }
            }
            Some(Next::Go(1))
        }
        1 => {
            for k in 0..ws.len() {
                x.warp(k);
                x.site = 0;
                let f = wait_here(x, 0, None)?;
                x.flow(f, 1, 2);
            }
            None
        }
        2 => {
            for k in 0..ws.len() {
                let m = x.warp(k);
                for l in active(m) {
                    let n = x.ids().ntid()[0];
                    let t = thread(x, l);
                    let mirror = n - 1 - t;
                    let [v, ..] = x.read(AddrSpace::SharedCta, 4 * mirror as u64, 4, l as u32)?;
                    let at = x.ids().ctaid()[0] * n + t;
                    out(x, l, at, v as u32)?;
                }
            }
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

// asks for another cluster once; stores what stood there right after, and whether something came
kernel!(Ask, INFO, |x, pc, ws| {
    match pc {
        0 => {
            x.warp(0);
            x.sync().mbarrier(0, 64, |_| Ok((mbarrier::expect_tx(mbarrier::init(Layout::V0, 1)?, 16)?.0, ())), 0)?;
            let how = Arrive { drop: false, no_complete: false, expect_tx: None };
            x.sync().mbarrier(0, 64, |s| mbarrier::arrive(s, 1, how), 0)?;
            x.write(AddrSpace::SharedCta, 32, 8, [!0, 0, 0, 0], 0)?;
            x.async_unit().try_cancel(0..1, 32, 64)?;
            let [early, ..] = x.read(AddrSpace::SharedCta, 32, 8, 0)?;
            ws[0].a[0] = (early == !0) as u32;
            Some(Next::Go(1))
        }
        1 => {
            x.warp(0);
            let (done, flow) = await_phase(x)?;
            x.flow(flow, 1, if done { 2 } else { 1 });
            None
        }
        2 => {
            x.warp(0);
            let [late, ..] = x.read(AddrSpace::SharedCta, 32, 8, 0)?;
            let at = x.ids().ctaid()[0];
            out(x, 0, at, ws[0].a[0] + 2 * (late != !0) as u32)?;
            Some(Next::Go(3))
        }
        _ => Some(Next::Exit),
    }
});

mod clusters;
mod faults;
mod fragments;
mod tensor;
mod tensor_memory;
mod threads;
mod waits;
