//! The shadows of the memories of a launch. Their own memory is kept for later launches of the process: it is much, and the first access
//! to each of its pages takes longer than all that the checked host does with it.

use super::shadow::{Shadow, ShadowedMemory};
use std::sync::{Mutex, PoisonError};

/// Bytes that are kept between launches.
const MOST: usize = 128 << 20;

/// The memory that earlier launches have left.
static LEFT: Mutex<Vec<All>> = Mutex::new(Vec::new());

#[derive(Debug, Default)]
struct All {
    /// By slot and CTA rank, of which there are 16.
    shared: Vec<Shadow>,
    /// By segment.
    global: Vec<Shadow>,
}

impl All {
    fn each(&mut self) -> impl Iterator<Item = &mut Shadow> {
        self.shared.iter_mut().chain(&mut self.global)
    }

    fn bytes(&self) -> usize {
        self.shared.iter().chain(&self.global).map(Shadow::bytes).sum()
    }
}

/// The shadows of the memories of a launch, made as they are used.
#[derive(Debug)]
pub(super) struct Shadows(All);

impl Default for Shadows {
    fn default() -> Self {
        Shadows(LEFT.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default())
    }
}

impl Drop for Shadows {
    fn drop(&mut self) {
        let mut all = std::mem::take(&mut self.0);
        let bytes = all.bytes();
        if bytes > MOST {
            return;
        }
        all.each().for_each(Shadow::start_anew);
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes + left.iter().map(All::bytes).sum::<usize>() <= MOST {
            left.push(all);
        }
    }
}

impl Shadows {
    /// The shadow of a memory.
    #[inline]
    pub fn of(&mut self, memory: ShadowedMemory) -> &mut Shadow {
        let All { shared, global } = &mut self.0;
        let (all, at) = match memory {
            ShadowedMemory::Shared { slot, rank } => (shared, (slot * 16 + rank) as usize),
            ShadowedMemory::Global { segment } => (global, segment),
        };
        if all.len() <= at {
            all.resize_with(at + 1, Shadow::default);
        }
        &mut all[at]
    }

    /// A cluster of so many CTAs starts: nobody has accessed their shared memory.
    pub fn start(&mut self, slot: u32, ctas: usize) {
        self.0.shared.iter_mut().skip(slot as usize * 16).take(ctas).for_each(Shadow::clear);
    }
}
