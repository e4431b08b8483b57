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
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Base,
}

/// The best level of this processor that there is a kernel for; `PTX_DSL_LEVEL=avx2` or `base` takes less. A development build
/// has at most AVX2, and only if it is `optimised`: else it runs no faster for it, and a kernel compiles in half the time.
pub(crate) fn best(optimised: bool) -> Level {
    static BEST: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
    if cfg!(debug_assertions) && !optimised {
        return Level::Base;
    }
    *BEST.get_or_init(|| find(std::env::var("PTX_DSL_LEVEL").ok().as_deref()))
}

#[cfg(target_arch = "x86_64")]
fn find(limit: Option<&str>) -> Level {
    use std::arch::is_x86_feature_detected as has;
    let avx2 = has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
    match limit {
        Some("base") => Level::Base,
        _ if !avx2 => Level::Base,
        #[cfg(not(debug_assertions))]
        limit
            if limit != Some("avx2") && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") =>
        {
            Level::Avx512
        }
        _ => Level::Avx2,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn find(_: Option<&str>) -> Level {
    Level::Base
}

/// Calls a function of this crate, which is inlined here, compiled for the instruction set of a level.
macro_rules! at_level {
    ($level:expr, $body:path, $arguments:tt -> $r:ty) => {
        at_level!($level, [$body, $body, $body], $arguments -> $r)
    };
    ($level:expr, [$avx512:path, $avx2:path, $base:path], ($($a:ident: $t:ty = $v:expr),*) -> $r:ty) => {{
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
        #[inline(never)]
        fn avx512($($a: $t),*) -> $r {
            $avx512($($a),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
        #[inline(never)]
        fn avx2($($a: $t),*) -> $r {
            $avx2($($a),*)
        }
        #[inline(never)]
        fn baseline($($a: $t),*) -> $r {
            $base($($a),*)
        }
        #[allow(unsafe_code)]
        match $level {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            // SAFETY: `best` is where levels come from, and it has found these features on this processor.
            $crate::machine::level::Level::Avx512 => unsafe { avx512($($v),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            $crate::machine::level::Level::Avx2 => unsafe { avx2($($v),*) },
            $crate::machine::level::Level::Base => baseline($($v),*),
        }
    }};
}
pub(crate) use at_level;

type Stepped = Result<Next, Box<Fault>>;
type Ran = Result<Pc, Box<Fault>>;

/// What a kernel has for one level. These are modules because rustc optimises what is instantiated in different ones on several
/// cores: a level each.
macro_rules! level {
    ($(#[$attribute:meta])* $module:ident, $level:ty) => {
        mod $module {
            use super::*;

            $(#[$attribute])*
            #[inline(never)]
            pub fn step<K: Kernel, M: Monitor>(x: &mut Ctx<'_, M>, mut pc: Pc, warps: &mut [K::Warp]) -> Stepped {
                loop {
                    match K::step_at::<M, $level>(x, pc, warps) {
                        Ok(Next::Exit) if x.follow() => {
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
            pub fn piece<P: Piece, M: Monitor>(x: &mut Ctx<'_, M>, w: &mut P::Warp, active: &mut u32) -> Ran {
                P::run::<M, $level>(x, w, active)
            }
        }
    };
}
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
level!(
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    avx512,
    crate::lanes::Avx512
);
#[cfg(target_arch = "x86_64")]
level!(
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    avx2,
    crate::lanes::Avx2
);
level!(base, crate::lanes::Base);

/// Runs a step at a level that [`best`] gave.
#[inline]
#[allow(unsafe_code)]
pub(crate) fn step<K: Kernel, M: Monitor>(level: Level, x: &mut Ctx<'_, M>, pc: Pc, warps: &mut [K::Warp]) -> Stepped {
    // what takes time are its pieces; branches that a constant decides are not even instantiated
    if K::LARGE {
        return base::step::<K, M>(x, pc, warps);
    }
    match level {
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        // SAFETY: `best` is where levels come from, and it has found these features on this processor.
        Level::Avx512 => unsafe { avx512::step::<K, M>(x, pc, warps) },
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => {
            if const { K::OPTIMISED || !cfg!(debug_assertions) } {
                // SAFETY: as above.
                unsafe { avx2::step::<K, M>(x, pc, warps) }
            } else {
                base::step::<K, M>(x, pc, warps)
            }
        }
        Level::Base => base::step::<K, M>(x, pc, warps),
    }
}

impl<M: Monitor> Ctx<'_, M> {
    /// Runs a region of a large kernel.
    #[inline]
    #[allow(unsafe_code)]
    pub fn piece<P: Piece>(&mut self, w: &mut P::Warp, active: &mut u32) -> Ran {
        if const { cfg!(debug_assertions) && !P::OPTIMISED } {
            return base::piece::<P, M>(self, w, active);
        }
        match self.level {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            // SAFETY: `best` is where levels come from, and it has found these features on this processor.
            Level::Avx512 => unsafe { avx512::piece::<P, M>(self, w, active) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2::piece::<P, M>(self, w, active) },
            Level::Base => base::piece::<P, M>(self, w, active),
        }
    }
}
