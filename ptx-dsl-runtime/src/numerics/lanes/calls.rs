//! The attributes that keep small functions as calls, not inlined.

/// A development build of the runtime: small generic functions are called if [`instances`](super::instances) compiles them in
/// this crate, which is optimised there; kernels are not (README.md).
pub(crate) const CALLS: bool = cfg!(debug_assertions);

/// A copy for a rarely made call that takes a reference. Without the copy the original array lives in memory wherever it is used;
/// with it the original stays in registers.
#[inline(always)]
pub fn copied<T: Copy>(v: T) -> T {
    std::hint::black_box(v)
}
