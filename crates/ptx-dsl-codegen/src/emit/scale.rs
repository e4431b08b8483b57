//! Choices that depend on the size of a kernel. They keep rustc's time in proportion to it.

use crate::layout::scalar_op::calls_in_lanes;
use proc_macro2::TokenStream;
use ptx_dsl_image::kernel::Kernel;
use ptx_dsl_image::region::graph::Program;
use quote::quote;

/// Instructions, or regions, above which each region is a function of its own.
const OUTLINE: usize = 150;

/// Instructions above which affine memory accesses are calls (`stretch_call`).
const CALL_ACCESSES: usize = 500;

/// Instructions, or regions, above which a development build is not compiled for AVX2, and lanes of an expression are computed by
/// calls.
const ONE_LEVEL: usize = 500;

/// Lane calls above which those that are alike share a function.
const SHARE_LANE_CALLS: usize = 64;

/// Lane calls above which these functions are not inlined in release either.
const OUTLINE_LANE_CALLS: usize = 500;

/// The choices that depend on the size of a kernel.
pub struct Scale {
    /// Each region is a function of its own.
    pub outline_regions: bool,
    /// Affine memory accesses are calls.
    pub call_accesses: bool,
    /// Development builds have one instruction set only.
    pub one_level: bool,
    /// Lane calls that are alike share a function.
    pub share_lane_calls: bool,
    /// Functions of this kind are not inlined in release builds either.
    pub outline_lane_calls: bool,
    /// Are functions for instructions of a warp kept out of line too?
    pub outline_warp_calls: bool,
}

impl Scale {
    pub fn of(kernel: &Kernel<'_>, p: &Program<'_>) -> Self {
        let items: usize = p.regions.iter().map(|r| r.body.len()).sum();
        let is_call = |f| move |i: &&_| calls_in_lanes(kernel, f, i);
        let calls: usize = p.regions.iter().map(|r| r.instructions().filter(is_call(r.func)).count()).sum();
        let larger = items.max(p.regions.len());
        Scale {
            outline_regions: larger > OUTLINE,
            call_accesses: items > CALL_ACCESSES,
            one_level: larger > ONE_LEVEL,
            share_lane_calls: calls > SHARE_LANE_CALLS,
            outline_lane_calls: calls > OUTLINE_LANE_CALLS,
            outline_warp_calls: items + p.regions.len() > OUTLINE,
        }
    }
}

/// The attribute of a function that is not inlined in development, which would cost rustc time, and in a large kernel not in
/// release either.
pub fn outline_attribute(large: bool) -> TokenStream {
    if large { quote!(#[inline(never)]) } else { quote!(#[cfg_attr(debug_assertions, inline(never))]) }
}
