//! The interpreter: runs the image of a kernel, an instruction at a time for all warps of a cohort.
//!
//! Registers are rows of 32 lanes for each warp, unless all lanes of a cohort hold one value or values that grow by constant strides
//! with the thread index ([`registers::Scalar`]): then an instruction computes them once. Which registers are scalars is found while
//! the kernel runs. What instructions compute is in [`crate::isa`]; waiting, scheduling and faults are the [`machine`](crate::machine)'s.

mod affine;
mod calls;
mod code;
mod mbarrier;
mod memory;
mod operation;
mod registers;
mod rows;
mod shuffle;
mod step;

use crate::fault::Fault;
use crate::flow::Next;
use crate::machine::Body;
use crate::machine::ctx::Ctx;
use crate::monitor::Monitor;
use code::Code;
use ptx_dsl_isa::image::Image;
use registers::Registers;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use step::Stepper;

/// A kernel's code and the registers of all its resident clusters.
struct Interpreter<M> {
    code: Code<M>,
    /// By slot and CTA.
    registers: Vec<Registers>,
    ctas: usize,
    warps_per_cta: usize,
    snapshot: Vec<(usize, usize, Vec<u64>)>,
    stepper: Stepper,
}

impl<M> Interpreter<M> {
    /// The registers of a warp, numbered within the cluster of a slot, and its number in its CTA.
    fn of_warp(&self, slot: usize, warp: usize) -> (&Registers, usize) {
        (&self.registers[slot * self.ctas + warp / self.warps_per_cta], warp % self.warps_per_cta)
    }
}

impl<M: Monitor> Body<M> for Interpreter<M> {
    fn step(&mut self, x: &mut Ctx<'_, M>) -> Result<Next, Box<Fault>> {
        let registers = &mut self.registers[x.residents.slot * self.ctas + x.cur.cta as usize];
        step::run(&self.code, registers, &mut self.stepper, x)
    }

    fn agree(&self, _: usize, _: usize, _: usize) -> bool {
        // scalars that differ become rows when the merged cohort runs
        true
    }

    fn reset(&mut self, slot: usize) {
        self.registers[slot * self.ctas..(slot + 1) * self.ctas].iter_mut().for_each(Registers::reset);
    }

    fn snapshot(&mut self, warps: &[(usize, usize, usize)]) {
        let mut all = Vec::new();
        for &(slot, lo, hi) in warps {
            for warp in lo..hi {
                let (registers, w) = self.of_warp(slot, warp);
                all.push((slot, warp, registers.values_of_warp(w)));
            }
        }
        self.snapshot = all;
    }

    fn unchanged(&self) -> bool {
        self.snapshot.iter().all(|(slot, warp, values)| {
            let (registers, w) = self.of_warp(*slot, *warp);
            registers.values_of_warp(w) == *values
        })
    }
}

/// Fresh registers for slots of `warps` warps each.
pub(crate) fn new<M: Monitor>(
    image: &Arc<Image>,
    x: &Ctx<'_, M>,
    slots: usize,
    warps: usize,
    warps_per_cta: usize,
) -> Box<dyn Body<M>> {
    let code = Code::new(image, x.set);
    let ctas = warps / warps_per_cta.max(1);
    let registers = Registers::new(image, &x.geometry, &code.constants);
    Box::new(Interpreter {
        code,
        registers: vec![registers; slots * ctas],
        ctas,
        warps_per_cta,
        snapshot: Vec::new(),
        stepper: Stepper::new(),
    })
}

/// The image of a kernel, decoded at its first launch. `None` if the bytes are no image.
pub(crate) fn decoded(bytes: &'static [u8]) -> Option<Arc<Image>> {
    static DECODED: Mutex<Option<HashMap<usize, Arc<Image>>>> = Mutex::new(None);
    let mut all = DECODED.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    let key = bytes.as_ptr() as usize;
    if let Some(image) = all.get(&key) {
        return Some(image.clone());
    }
    let image = Arc::new(Image::decode(bytes)?);
    all.insert(key, image.clone());
    Some(image)
}
