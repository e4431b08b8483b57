//! How often instructions run. Regions are straight code, so it is enough to count regions, and the lanes that guards turn off.

use ptx_dsl_isa::image::{End, Image, Instr, Lines};

/// The executions of a region.
#[derive(Debug, Clone, Copy, Default)]
struct Region {
    warps: u64,
    threads: u64,
    partial: u64,
}

/// The executions of each region of an image, and the threads for which guards did not hold, by instruction.
#[derive(Debug, Default)]
pub(super) struct Executions {
    regions: Vec<Region>,
    off: Vec<u64>,
}

/// The executions of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Executed {
    pub lines: Lines,
    pub warps: u64,
    pub threads: u64,
    pub partial: u64,
    pub off: u64,
}

/// An instruction of the image, or the end of a region.
pub(super) enum ExecutedItem<'i> {
    Instr(&'i Instr),
    End(&'i End),
}

impl Executions {
    pub fn new(image: &Image) -> Executions {
        let instructions = image.regions.iter().map(|region| region.instructions().count()).sum();
        Executions { regions: vec![Region::default(); image.regions.len()], off: vec![0; instructions] }
    }

    /// A region begins to run with these lanes of neighbouring warps.
    pub fn region(&mut self, region: usize, lanes: &[u32]) {
        let Some(region) = self.regions.get_mut(region) else { return };
        for m in lanes.iter().filter(|m| **m != 0) {
            region.warps += 1;
            region.threads += u64::from(m.count_ones());
            region.partial += u64::from(*m != u32::MAX);
        }
    }

    /// The guard of an instruction did not hold in this many threads.
    pub fn predicated_off(&mut self, instruction: u32, threads: u64) {
        if let Some(off) = self.off.get_mut(instruction as usize) {
            *off += threads;
        }
    }

    /// Each statement in each of its places. Several instructions that one statement has become are one.
    pub fn each(&self, image: &Image, mut f: impl FnMut(ExecutedItem<'_>, Executed)) {
        let mut number = 0;
        for (region, executed) in image.regions.iter().zip(&self.regions) {
            let Region { warps, threads, partial } = *executed;
            let mut before = None;
            for i in region.instructions() {
                let off = self.off.get(number).copied().unwrap_or(0);
                number += 1;
                if before.replace(i.lines) == Some(i.lines) {
                    continue;
                }
                // the branch around an instruction that may wait has counted it
                let waits = matches!(&region.end, End::Block { instr, .. } if std::ptr::eq(instr, i));
                if waits && i.guard.is_some() {
                    continue;
                }
                f(ExecutedItem::Instr(i), Executed { lines: i.lines, warps, threads, partial, off });
            }
            if let Some(lines) = region.last {
                f(ExecutedItem::End(&region.end), Executed { lines, warps, threads, partial, off: 0 });
            }
        }
    }
}
