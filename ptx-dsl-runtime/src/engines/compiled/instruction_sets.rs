//! A kernel's step and outlined regions, compiled once per instruction set in `#[target_feature]` wrappers.

use super::{CompiledKernel, Piece};
use crate::fault::Fault;
use crate::kernel::flow::{Next, Pc};
use crate::machine::ctx::Ctx;
use crate::numerics::simd::InstructionSet;

type Stepped = Result<Next, Box<Fault>>;
type Ran = Result<Pc, Box<Fault>>;

/// The wrappers for one instruction set. Each set is a module of its own: rustc optimises instances in different modules in
/// parallel.
macro_rules! level {
    ($(#[$attribute:meta])* $module:ident, $level:ty) => {
        mod $module {
            use super::*;

            $(#[$attribute])*
            #[inline(never)]
            pub fn step<K: CompiledKernel>(x: &mut Ctx<'_>, mut pc: Pc, warps: &mut [K::Warp]) -> Stepped {
                loop {
                    match K::step_at::<$level>(x, pc, warps) {
                        Ok(Next::Exit) if x.starts().start_next_cluster() => {
                            if !K::FRESH {
                                warps.fill(K::Warp::default());
                            }
                            pc = 0;
                        }
                        next => return next,
                    }
                }
            }

            $(#[$attribute])*
            #[inline(never)]
            pub fn piece<P: Piece>(x: &mut Ctx<'_>, w: &mut P::Warp, active: &mut u32) -> Ran {
                P::run::<$level>(x, w, active)
            }
        }
    };
}
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
level!(
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    avx512,
    crate::numerics::lanes::Avx512
);
#[cfg(target_arch = "x86_64")]
level!(
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    avx2,
    crate::numerics::lanes::Avx2
);
level!(base, crate::numerics::lanes::Base);

/// Runs a step of a kernel, compiled for `set`.
#[inline]
#[allow(unsafe_code)]
pub(crate) fn step<K: CompiledKernel>(set: InstructionSet, x: &mut Ctx<'_>, pc: Pc, warps: &mut [K::Warp]) -> Stepped {
    // its outlined regions take the time; a branch on a constant is not even instantiated
    if K::LARGE {
        return base::step::<K>(x, pc, warps);
    }
    match set {
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        // SAFETY: only `simd::best` makes an `InstructionSet`, and it has detected these features on this processor.
        InstructionSet::Avx512 => unsafe { avx512::step::<K>(x, pc, warps) },
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => {
            if const { K::OPTIMISED || !cfg!(debug_assertions) } {
                // SAFETY: as above.
                unsafe { avx2::step::<K>(x, pc, warps) }
            } else {
                base::step::<K>(x, pc, warps)
            }
        }
        InstructionSet::Base => base::step::<K>(x, pc, warps),
    }
}

impl Ctx<'_> {
    /// Runs a region of a large kernel.
    #[inline]
    #[allow(unsafe_code)]
    pub fn piece<P: Piece>(&mut self, w: &mut P::Warp, active: &mut u32) -> Ran {
        if const { cfg!(debug_assertions) && !P::OPTIMISED } {
            return base::piece::<P>(self, w, active);
        }
        match self.set {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            // SAFETY: only `simd::best` makes an `InstructionSet`, and it has detected these features on this processor.
            InstructionSet::Avx512 => unsafe { avx512::piece::<P>(self, w, active) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => unsafe { avx2::piece::<P>(self, w, active) },
            InstructionSet::Base => base::piece::<P>(self, w, active),
        }
    }
}
