//! A cache of repeated accesses: a warp in a loop makes the same accesses at one time, until it synchronises.

use super::actor::{Actor, cta_of};

/// The number of entries that are searched.
const MOST: usize = 64;

/// Numbers of entries of a list, by a hash of warp and statement. 0: none. Whoever looks for an entry has to compare it.
#[derive(Debug)]
pub(super) struct Recent([u32; MOST]);

impl Default for Recent {
    fn default() -> Recent {
        Recent([0; MOST])
    }
}

impl Recent {
    /// The slot of the last entry of a warp's statement, which another statement may use too.
    #[inline]
    pub fn of(&mut self, warp: Actor, site: u32) -> &mut u32 {
        // warps of a CTA, and statements that follow each other, have different places
        let hash = warp.wrapping_add(site.wrapping_mul(5)) ^ cta_of(warp);
        &mut self.0[hash as usize % MOST]
    }
}
