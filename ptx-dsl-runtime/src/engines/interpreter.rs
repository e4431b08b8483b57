//! The interpreter: runs the image of a kernel, an instruction at a time for all warps of a cohort.
//!
//! Registers are rows of 32 lanes for each warp, unless all lanes of a cohort hold one value or values that grow by constant strides
//! with the thread index (`registers::Scalar`): then an instruction computes them once. Which registers are scalars is found while
//! the kernel runs. What instructions compute is in [`crate::semantics`]; waiting, scheduling and faults are the [`machine`]'s.

mod affine;
mod callers;
mod calls;
mod code;
mod kinds;
mod liveness;
mod loaded;
mod mbarrier;
mod memory;
mod nans;
mod op;
mod operation;
mod parts;
mod pending;
mod plan;
mod polling;
mod reads;
mod registers;
mod rows;
mod runner;
mod shuffle;
mod step;
mod strays;
mod sums;
mod suspects;
mod touched;
mod undefined;
mod value;
mod visible;
mod watched;
mod wide;

use crate::fault::{Fault, FaultKind};
use crate::kernel::flow::{Next, Pc};
use crate::kernel::variables::Variables;
use crate::machine::body::{Looping, PolledRead, Polls};
use crate::machine::ctx::Ctx;
use crate::machine::endless::EndlessGuard;
use crate::machine::geometry::Regions;
use crate::machine::{self, Body};
use crate::numerics::simd::{self, InstructionSet};
use code::Code;
use polling::PollingLoops;
use ptx_dsl_isa::image::{Image, Source};
use registers::Registers;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use step::{Others, Stepper};
use visible::Begin;

/// A kernel's code and the registers of all its resident clusters.
struct Interpreter {
    code: Arc<Code>,
    /// The registers of each slot's CTAs, from the first step of a CTA to its end.
    registers: Vec<Option<Registers>>,
    /// The registers of CTAs that have ended, which are reused.
    free: Vec<Registers>,
    ctas: usize,
    warps_per_cta: usize,
    snapshot: Vec<(usize, usize, Vec<u64>)>,
    stepper: Stepper,
    /// The kind of operation with which each region begins, if regions are split.
    begins: Arc<[Begin]>,
    loops: PollingLoops,
}

impl Interpreter {
    /// The register values of a warp, numbered within the cluster of a slot.
    fn values_of_warp(&self, slot: usize, warp: usize) -> Vec<u64> {
        let registers = &self.registers[slot * self.ctas + warp / self.warps_per_cta];
        registers.as_ref().map_or(Vec::new(), |registers| registers.values_of_warp(warp % self.warps_per_cta))
    }
}

/// Are the lanes of the current cohort all that the CTA has left?
fn is_whole(x: &Ctx<'_>) -> bool {
    let (cur, live) = (&x.cur, &x.cta().live);
    let cohort = cur.lo as usize..cur.hi as usize;
    live.iter().enumerate().all(|(w, live)| live & if cohort.contains(&w) { !cur.mask } else { u32::MAX } == 0)
}

impl Body for Interpreter {
    fn step(&mut self, x: &mut Ctx<'_>) -> Result<Next, Box<Fault>> {
        let (at, ctas) = (x.residents.slot * self.ctas + x.cur.cta as usize, self.ctas);
        let (before, rest) = self.registers.split_at_mut(at);
        let [place, after @ ..] = rest else {
            return Err(x.fault(FaultKind::Internal("a CTA without registers".into()), 0));
        };
        let registers = place.get_or_insert_with(|| match self.free.pop() {
            Some(registers) => registers,
            None => self.code.registers(&x.geometry),
        });
        let others = Others { before, after, ctas };
        let next = step::run(&self.code, (registers, others), &mut self.stepper, x)?;
        if next == Next::Exit && is_whole(x) {
            registers.reset();
            self.free.extend(place.take());
        }
        Ok(next)
    }

    fn agree(&self, _: usize, _: usize, _: usize) -> bool {
        // scalars that differ become rows when the merged cohort runs
        true
    }

    fn reset(&mut self, slot: usize) {
        self.registers[slot * self.ctas..(slot + 1) * self.ctas].iter_mut().flatten().for_each(Registers::reset);
    }

    fn snapshot(&mut self, warps: &[(usize, usize, usize)]) {
        let mut all = Vec::new();
        for &(slot, lo, hi) in warps {
            all.extend((lo..hi).map(|warp| (slot, warp, self.values_of_warp(slot, warp))));
        }
        self.snapshot = all;
    }

    fn unchanged(&self) -> bool {
        self.snapshot.iter().all(|(slot, warp, values)| self.values_of_warp(*slot, *warp) == *values)
    }

    fn is_visible(&self, pc: Pc) -> bool {
        self.begins.get(usize::from(pc)).is_some_and(|begin| *begin != Begin::Hidden)
    }

    fn first_site(&self, pc: Pc) -> u32 {
        let Some(region) = self.code.regions.get(usize::from(pc)) else { return 0 };
        let mut ops = region.block.iter().map(|b| &b.op).chain(region.body.iter().map(|i| &i.op));
        ops.next().map_or(0, |op| op.site)
    }

    fn loop_state(&mut self, c: &Looping) -> Option<[u64; 2]> {
        let registers = self.registers[c.slot * self.ctas + c.cta].as_ref()?;
        let found = self.loops.of(&self.code.image, c.pc)?;
        let mut hash = [DefaultHasher::new(), DefaultHasher::new()];
        hash[1].write_u32(1);
        for w in c.lo..c.hi {
            for r in &found.registers {
                let mut values = registers.lanes_of_warp(*r, w);
                crate::numerics::lanes::lanes(!c.mask, |l| values[l] = 0);
                hash.iter_mut().for_each(|h| h.write(bytemuck::cast_slice(&values)));
            }
        }
        Some(hash.map(|h| h.finish()))
    }

    fn loop_reads(&mut self, c: &Looping) -> Polls {
        let registers = self.registers[c.slot * self.ctas + c.cta].as_ref();
        let (Some(found), Some(registers)) = (self.loops.of(&self.code.image, c.pc), registers) else {
            return Polls::default();
        };
        let (w, lane) = (c.lo, c.mask.trailing_zeros() as usize & 31);
        let address = |source: &Source| match *source {
            Source::Register { register } => Some(registers.lanes_of_warp(register, w)[lane]),
            Source::Address { base, offset } => {
                Some(registers.lanes_of_warp(base, w)[lane].wrapping_add_signed(offset))
            }
            Source::Constant { value } | Source::Variable { value, .. } => Some(value),
            _ => None,
        };
        let read = |r: &polling::Read| PolledRead { site: r.site, addr: address(&r.address), memory: r.memory };
        let reads = found.reads.iter().map(read).collect();
        Polls { reads, writers: found.writers.clone() }
    }
}

impl machine::Code for Executable {
    fn body(&self, x: &mut Ctx<'_>, (slots, warps, warps_per_cta): (usize, usize, usize)) -> Box<dyn Body> {
        if !x.scheduling.always_first && self.begins.is_empty() {
            let split = self.split.get_or_init(|| Box::new(Executable::split(&self.image)));
            return machine::Code::body(&**split, x, (slots, warps, warps_per_cta));
        }
        x.set = simd::best(true);
        x.geometry.regions = Regions::Interpreted(self.image.clone());
        x.scheduling.endless = EndlessGuard::interpreted(x.scheduling.has_default_budget, x.monitor.is_on());
        let (wants, needs) = (x.monitor.wants(), x.monitor.needs());
        let code = self.code(x.set, needs.variables);
        if (needs.variables || wants.events)
            && let Some(monitor) = x.monitor.get()
        {
            monitor.variables(self.variables.get_or_init(|| Arc::new(Variables::new(&self.image))).clone());
        }
        if let Some(monitor) = x.monitor.get() {
            monitor.code(&self.image);
        }
        x.findings.followed = code.followed.clone();
        let ctas = warps / warps_per_cta.max(1);
        let is_seeded = !x.scheduling.always_first && x.scheduling.steps.is_none();
        let tests = if is_seeded { self.begins.clone() } else { Arc::new([]) };
        let stepper = Stepper::new(code.regions.len(), tests);
        Box::new(Interpreter {
            code,
            registers: (0..slots * ctas).map(|_| None).collect(),
            free: Vec::new(),
            ctas,
            warps_per_cta,
            snapshot: Vec::new(),
            stepper,
            begins: self.begins.clone(),
            loops: PollingLoops::default(),
        })
    }
}

/// An image with its code, which is made at the first launch.
pub struct Executable {
    image: Arc<Image>,
    /// The code without variables, and with them.
    codes: [OnceLock<Arc<Code>>; 2],
    /// The provenance of addresses, for monitors that ask for variables.
    variables: OnceLock<Arc<Variables>>,
    /// The kernel with shorter regions, for schedules other than round-robin.
    split: OnceLock<Box<Executable>>,
    /// The kind of operation with which each region of `image` begins; empty unless its regions are split.
    begins: Arc<[Begin]>,
}

impl Executable {
    /// The executable of an image.
    pub fn new(image: Image) -> Self {
        let begins = Arc::new([]);
        let (variables, split) = (OnceLock::new(), OnceLock::new());
        Executable { image: Arc::new(image), codes: Default::default(), variables, split, begins }
    }

    /// The executable whose regions are split before visible operations.
    fn split(image: &Image) -> Self {
        let (image, begins) = visible::split(image);
        Executable { begins: begins.into(), ..Executable::new(image) }
    }

    /// `variables`: a monitor wants to know what registers and variables hold.
    fn code(&self, set: InstructionSet, variables: bool) -> Arc<Code> {
        let code = &self.codes[usize::from(variables)];
        code.get_or_init(|| Arc::new(Code::new(&self.image, set, variables))).clone()
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executable").field("image", &self.image).finish_non_exhaustive()
    }
}

/// The image of a kernel, decoded at its first launch. `None` if the bytes are no image.
pub(crate) fn decoded(bytes: &'static [u8]) -> Option<Arc<Executable>> {
    type Place = (usize, usize);
    static DECODED: Mutex<Option<HashMap<Place, Arc<Executable>>>> = Mutex::new(None);
    let mut all = DECODED.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    let key = (bytes.as_ptr() as usize, bytes.len());
    if let Some(image) = all.get(&key) {
        return Some(image.clone());
    }
    let image = Arc::new(Executable::new(Image::decode(bytes)?));
    all.insert(key, image.clone());
    Some(image)
}
