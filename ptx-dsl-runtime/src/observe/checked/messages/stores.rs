//! The stores to which places refer: those of a warp in one statement at one time are one.

use super::Issuer;
use crate::observe::checked::recent::Recent;

/// Larger numbers have no room beside the lane.
const MOST: usize = (1 << 27) - 2;

/// The number of stores from which on those to which no place refers are removed.
const LEAST: usize = 1 << 12;

/// Stores that have released nothing, by number from 1 on.
#[derive(Debug, Default)]
pub(super) struct Stores {
    /// The issuers without their lanes.
    all: Vec<Issuer>,
    recent: Recent,
    limit: usize,
}

impl Stores {
    /// A store by one lane: its number, and the lane in 5 bits. `None` if there are too many.
    #[inline]
    pub fn of(&mut self, issuer: &Issuer) -> Option<u32> {
        let store = Issuer { lanes: 0, ..*issuer };
        let number = self.recent.of(issuer.warp, issuer.site);
        if self.all.get((*number as usize).wrapping_sub(1)) != Some(&store) {
            if self.all.len() >= MOST {
                return None;
            }
            self.all.push(store);
            *number = self.all.len() as u32;
        }
        Some(*number << 5 | issuer.lanes.trailing_zeros() & 31)
    }

    /// The store of such a number and lane.
    #[inline]
    pub fn get(&self, store: u32) -> Option<Issuer> {
        let issuer = self.all.get((store as usize >> 5).wrapping_sub(1))?;
        Some(Issuer { lanes: 1 << (store & 31), ..*issuer })
    }

    #[inline]
    pub fn are_many(&self) -> bool {
        self.all.len() >= self.limit.max(LEAST)
    }

    /// Removes all that `visit` does not show, and gives the others new numbers.
    #[cold]
    pub fn collect(&mut self, visit: impl FnOnce(&mut dyn FnMut(&mut u32))) {
        let (mut kept, mut numbers) = (Vec::new(), vec![0; self.all.len()]);
        visit(&mut |store| {
            let (number, lane) = (*store as usize >> 5, *store & 31);
            let Some((issuer, new)) = number.checked_sub(1).and_then(|at| self.all.get(at).zip(numbers.get_mut(at)))
            else {
                return;
            };
            if *new == 0 {
                kept.push(*issuer);
                *new = kept.len() as u32;
            }
            *store = *new << 5 | lane;
        });
        self.limit = 4 * kept.len();
        self.all = kept;
    }
}
