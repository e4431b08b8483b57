//! Instruction-set levels: a kernel's step is compiled once for each, and a launch takes the best that the processor has.

use crate::fault::Fault;
use crate::kernel::{Kernel, Next, Pc, Piece};
use crate::machine::Ctx;
use crate::monitor::Monitor;

/// One of them. Only [`best`] makes them: nobody outside of this crate can name the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    Avx512,
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    Avx2,
    Base,
}

/// The best level of this processor; `PTX_DSL_LEVEL=avx2` or `base` takes less. A development build has the base only: it is
/// not optimised anyway, and a kernel compiles in half the time.
pub(crate) fn best() -> Level {
    static BEST: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
    *BEST.get_or_init(|| find(std::env::var("PTX_DSL_LEVEL").ok().as_deref()))
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
fn find(limit: Option<&str>) -> Level {
    use std::arch::is_x86_feature_detected as has;
    let avx2 = has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
    let avx512 = avx2 && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
    match limit {
        Some("base") => Level::Base,
        _ if !avx2 => Level::Base,
        Some("avx2") => Level::Avx2,
        _ => {
            if avx512 {
                Level::Avx512
            } else {
                Level::Avx2
            }
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
fn find(_: Option<&str>) -> Level {
    Level::Base
}

/// Calls a function, which is inlined here, compiled for the instruction set of a level.
macro_rules! at_level {
    ($level:expr, $body:path, ($($a:ident: $t:ty = $v:expr),*) -> $r:ty) => {
        at_level!($level, [], $body, $body, $body, ($($a: $t = $v),*) -> $r)
    };
    ($level:expr, [$($g:ident: $bound:path),*], $avx512:path, $avx2:path, $base:path, ($($a:ident: $t:ty = $v:expr),*) -> $r:ty) => {{
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
        #[inline(never)]
        fn avx512<$($g: $bound),*>($($a: $t),*) -> $r {
            $avx512($($a),*)
        }
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
        #[inline(never)]
        fn avx2<$($g: $bound),*>($($a: $t),*) -> $r {
            $avx2($($a),*)
        }
        #[inline(never)]
        fn baseline<$($g: $bound),*>($($a: $t),*) -> $r {
            $base($($a),*)
        }
        #[allow(unsafe_code)]
        match $level {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            // SAFETY: `best` is where levels come from, and it has found these features on this processor.
            $crate::machine::level::Level::Avx512 => unsafe { avx512::<$($g),*>($($v),*) },
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            // SAFETY: as above.
            $crate::machine::level::Level::Avx2 => unsafe { avx2::<$($g),*>($($v),*) },
            $crate::machine::level::Level::Base => baseline::<$($g),*>($($v),*),
        }
    }};
}
pub(crate) use at_level;

type Stepped = Result<Next, Box<Fault>>;

/// Runs a step at a level that [`best`] gave.
#[inline]
pub(crate) fn step<K: Kernel, M: Monitor>(level: Level, x: &mut Ctx<'_, M>, pc: Pc, warps: &mut [K::Warp]) -> Stepped {
    at_level!(
        level, [K: Kernel, M: Monitor],
        K::step_at::<M, crate::lanes::Avx512>, K::step_at::<M, crate::lanes::Avx2>, K::step_at::<M, crate::lanes::Base>,
        (x: &mut Ctx<'_, M>= x, pc: Pc = pc, warps: &mut [K::Warp] = warps) -> Stepped
    )
}

impl<M: Monitor> Ctx<'_, M> {
    /// Runs a region of a large kernel.
    #[inline]
    pub fn piece<P: Piece>(&mut self, w: &mut P::Warp, active: &mut u32) -> Result<Pc, Box<Fault>> {
        at_level!(
            self.level, [P: Piece, M: Monitor],
            P::run::<M, crate::lanes::Avx512>, P::run::<M, crate::lanes::Avx2>, P::run::<M, crate::lanes::Base>,
            (x: &mut Ctx<'_, M> = self, w: &mut P::Warp = w, active: &mut u32 = active) -> Result<Pc, Box<Fault>>
        )
    }
}
