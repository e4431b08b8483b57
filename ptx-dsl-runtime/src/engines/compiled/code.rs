//! The compiled code of a kernel, as the machine runs it.

use super::{CompiledKernel, registers};
use crate::machine::endless::{self, EndlessGuard};
use crate::machine::geometry::Regions;
use crate::machine::{Body, Code, Ctx};
use crate::numerics::simd;

/// The compiled code of a kernel without its type: what all kernels share is compiled here, once.
pub struct Compiled {
    /// The value of [`CompiledKernel::OPTIMISED`].
    optimised: bool,
    regions: &'static [&'static str],
    /// Makes registers: slots, warps of a slot, warps of a CTA.
    registers: fn(usize, usize, usize) -> Box<dyn Body>,
}

impl Clone for Compiled {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for Compiled {}

impl Compiled {
    /// The code of this kernel.
    #[doc(hidden)]
    pub fn of<K: CompiledKernel>() -> Self {
        Compiled { optimised: K::OPTIMISED, regions: K::REGIONS, registers: registers::new::<K> }
    }
}

impl Code for Compiled {
    fn body(&self, x: &mut Ctx<'_>, (slots, warps, warps_per_cta): (usize, usize, usize)) -> Box<dyn Body> {
        x.set = simd::best(self.optimised);
        x.geometry.regions = Regions::Compiled(self.regions);
        if !self.optimised {
            x.scheduling.endless = EndlessGuard::new(x.scheduling.has_default_budget, endless::UNOPTIMISED);
        }
        (self.registers)(slots, warps, warps_per_cta)
    }
}
