//! Who acts, for monitors.

use crate::machine::ctx::Ctx;
use crate::monitor::Who;

impl<M> Ctx<'_, M> {
    /// Lanes of the current warp at the current statement.
    pub(crate) fn who(&self, lanes: u32) -> Who {
        let slot = self.residents.slot as u32;
        Who { site: self.site, slot, rank: self.cur.cta, warp: self.warp, lanes }
    }
}
