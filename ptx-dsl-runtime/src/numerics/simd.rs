//! Run-time dispatch over instruction sets: AVX-512, AVX2 with FMA, and the target's base.

/// An instruction set. Only [`best`] makes one: the type cannot be named outside of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Base,
}

impl InstructionSet {
    /// Has the interpreter loops on rows for it? Not for processors of x86-64 without AVX2, of which there are few: there it runs each
    /// lane by itself.
    pub(crate) fn has_rows(self) -> bool {
        !cfg!(target_arch = "x86_64") || self != InstructionSet::Base
    }
}

/// The best instruction set of this processor that kernels are compiled for; `PTX_DSL_LEVEL=avx2` or `base` limits it. A
/// development build has at most AVX2, and only if kernels are `optimised`: otherwise AVX2 is no faster and doubles their compile
/// time. The interpreter counts as optimised.
pub(crate) fn best(optimised: bool) -> InstructionSet {
    static BEST: std::sync::OnceLock<InstructionSet> = std::sync::OnceLock::new();
    if cfg!(debug_assertions) && !optimised {
        return InstructionSet::Base;
    }
    *BEST.get_or_init(|| find(std::env::var("PTX_DSL_LEVEL").ok().as_deref()))
}

#[cfg(target_arch = "x86_64")]
fn find(limit: Option<&str>) -> InstructionSet {
    use std::arch::is_x86_feature_detected as has;
    let avx2 =
        has!("avx2") && has!("fma") && has!("f16c") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
    match limit {
        Some("base") => InstructionSet::Base,
        _ if !avx2 => InstructionSet::Base,
        #[cfg(not(debug_assertions))]
        limit
            if limit != Some("avx2") && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") =>
        {
            InstructionSet::Avx512
        }
        _ => InstructionSet::Avx2,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn find(_: Option<&str>) -> InstructionSet {
    InstructionSet::Base
}

/// Calls a function of this crate, inlined into a wrapper that is compiled for the instruction set `$set`.
macro_rules! dispatch {
    ($set:expr, $body:path, $arguments:tt -> $r:ty) => {
        dispatch!($set, [$body, $body, $body], $arguments -> $r)
    };
    ($set:expr, [$avx512:path, $avx2:path, $base:path], ($($a:ident: $t:ty = $v:expr),*) -> $r:ty) => {{
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
        #[inline(never)]
        fn avx512($($a: $t),*) -> $r {
            $avx512($($a),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        #[inline(never)]
        fn avx2($($a: $t),*) -> $r {
            $avx2($($a),*)
        }
        #[inline(never)]
        fn baseline($($a: $t),*) -> $r {
            $base($($a),*)
        }
        #[allow(unsafe_code)]
        match $set {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            // SAFETY: only `best` makes an `InstructionSet`, and it has detected these features on this processor.
            $crate::numerics::simd::InstructionSet::Avx512 => unsafe { avx512($($v),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            $crate::numerics::simd::InstructionSet::Avx2 => unsafe { avx2($($v),*) },
            $crate::numerics::simd::InstructionSet::Base => baseline($($v),*),
        }
    }};
}
pub(crate) use dispatch;
