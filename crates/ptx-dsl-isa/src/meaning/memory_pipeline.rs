//! The model of a GPU's memory pipeline for one access of a warp, for profiles and for findings of performance. All functions
//! agree with Nsight Compute on an H200 (`tests/hardware/profile`).
//!
//! - Global memory moves sectors of 32 bytes.
//! - Shared memory has 32 banks of 4 bytes. A wavefront reads one word of each bank; lanes that read the same word share it. Accesses of
//!   64 bits are made by half-warps, those of 128 bits by quarter-warps. Two such parts are one if all lanes of the warp read the same as
//!   the lane beside them, or as the lane after that.

/// A number for each lane of a warp.
pub type Lanes = [u64; 32];

/// Bytes of a sector.
pub const SECTOR: u64 = 32;
/// Banks of shared memory.
const BANKS: u32 = 32;

/// The units in which a request is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Served {
    /// How many there are: sectors or wavefronts.
    pub units: u64,
    /// The fewest that could serve as many bytes or lanes.
    pub ideal: u64,
}

impl Served {
    fn add(self, other: Served) -> Served {
        Served { units: self.units + other.units, ideal: self.ideal + other.ideal }
    }
}

/// Active lanes, lowest first.
pub fn active(lanes: u32) -> impl Iterator<Item = usize> {
    let mut rest = lanes;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The values of the active lanes, sorted, without repetitions.
fn distinct(lanes: u32, of: impl Fn(usize) -> u64, values: &mut [u64; 32]) -> &[u64] {
    let (mut n, mut sorted) = (0, true);
    for lane in active(lanes) {
        let value = of(lane);
        if n > 0 && value <= values[n - 1] {
            if value == values[n - 1] {
                continue;
            }
            sorted = false;
        }
        values[n] = value;
        n += 1;
    }
    if sorted {
        return &values[..n];
    }
    values[..n].sort_unstable();
    let mut kept = 0;
    for i in 0..n {
        if i == 0 || values[i] != values[kept - 1] {
            values[kept] = values[i];
            kept += 1;
        }
    }
    &values[..kept]
}

/// A set of at most 32 values.
struct Few {
    slots: [u64; 64],
    /// The slots that hold values.
    used: u64,
}

impl Few {
    fn new() -> Few {
        Few { slots: [0; 64], used: 0 }
    }

    /// Adds a value. True if it is new.
    fn insert(&mut self, value: u64) -> bool {
        let mut at = (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
        loop {
            if self.used >> at & 1 == 0 {
                self.used |= 1 << at;
                self.slots[at] = value;
                return true;
            }
            if self.slots[at] == value {
                return false;
            }
            at = (at + 1) % 64;
        }
    }

    fn count(&self) -> u64 {
        self.used.count_ones().into()
    }
}

/// The number of different elements of the active lanes, and of the sectors in which these begin.
fn elements_and_sectors(at: &Lanes, lanes: u32) -> (u64, u64) {
    let (mut elements, mut sectors) = (Few::new(), Few::new());
    let mut last = None;
    for lane in active(lanes) {
        // neighbouring lanes are mostly in one sector
        if elements.insert(at[lane]) && last.replace(at[lane] / SECTOR) != Some(at[lane] / SECTOR) {
            sectors.insert(at[lane] / SECTOR);
        }
    }
    (elements.count(), sectors.count())
}

/// The sectors of a load or store of `bytes` at these offsets.
pub fn sectors(at: &Lanes, lanes: u32, bytes: u32) -> Served {
    let (elements, sectors) = elements_and_sectors(at, lanes);
    let each = u64::from(bytes).div_ceil(SECTOR);
    Served { units: sectors * each, ideal: (elements * u64::from(bytes)).div_ceil(SECTOR) }
}

/// The sectors of whole warps, whose lanes access neighbouring elements of `bytes` from this offset on.
pub fn row_sectors(start: u64, bytes: u32) -> Served {
    let all = 32 * u64::from(bytes);
    Served { units: (start + all).div_ceil(SECTOR) - start / SECTOR, ideal: all / SECTOR }
}

/// The wavefronts of whole warps, whose lanes access neighbouring elements of `bytes` in shared memory.
pub fn row_wavefronts(bytes: u32) -> Served {
    let each = u64::from(bytes.div_ceil(4));
    Served { units: each, ideal: each }
}

/// The sectors of an atomic operation on global memory, and the lanes that wait for a lower one. Lanes that change the same element take
/// turns, and each turn moves the sector.
pub fn atomic_sectors(at: &Lanes, lanes: u32, bytes: u32) -> (Served, u64) {
    let (elements, sectors) = elements_and_sectors(at, lanes);
    let ideal = (elements * u64::from(bytes)).div_ceil(SECTOR);
    let waiting = u64::from(lanes.count_ones()) - elements;
    if waiting == 0 {
        return (Served { units: sectors, ideal }, 0);
    }
    let mut values = [0; 32];
    let offsets = distinct(lanes, |lane| at[lane], &mut values);
    let times = |offset: u64| active(lanes).filter(|lane| at[*lane] == offset).count();
    let turns = offsets.chunk_by(|a, b| a / SECTOR == b / SECTOR).map(|sector| {
        let most = sector.iter().map(|offset| times(*offset)).max().unwrap_or(0);
        most as u64
    });
    (Served { units: turns.sum(), ideal }, waiting)
}

/// The sectors of an access to local memory. The words of one offset of the 32 lanes of a warp lie side by side, so that lanes at the
/// same offset share sectors of eight words.
pub fn local_sectors(at: &Lanes, lanes: u32, bytes: u32) -> u64 {
    let words = |at: u64| at / 4..=(at + u64::from(bytes.max(1)) - 1) / 4;
    let mut all: Vec<u64> =
        active(lanes).flat_map(|lane| words(at[lane]).map(move |word| word * 4 + lane as u64 / 8)).collect();
    all.sort_unstable();
    all.dedup();
    all.len() as u64
}

/// The lanes that a wavefront can serve for accesses of `bytes`, if banks do not conflict.
fn lanes_of_part(at: &Lanes, lanes: u32, bytes: u32, write: bool) -> u32 {
    let part = match bytes {
        0..=4 => return 32,
        5..=8 => 16,
        _ => 8,
    };
    let same = |distance: usize| {
        active(lanes).all(|lane| lanes >> (lane ^ distance) & 1 == 0 || at[lane ^ distance] == at[lane])
    };
    if !write && (same(1) || same(2)) { 2 * part } else { part }
}

/// The wavefronts of a load or store of `bytes` in shared memory at these offsets.
pub fn wavefronts(at: &Lanes, lanes: u32, bytes: u32, write: bool) -> Served {
    let part = lanes_of_part(at, lanes, bytes, write);
    let of_part = |first: u32| {
        let these = lanes & ((u64::from(u32::MAX) >> (32 - part)) << first) as u32;
        Served { units: words_of_bank(active(these).map(|lane| at[lane]), bytes), ideal: u64::from(these != 0) }
    };
    (0..32 / part).map(|n| of_part(n * part)).fold(Served::default(), Served::add)
}

/// The wavefronts of `ldmatrix` or `stmatrix` for one matrix, whose rows of 16 bytes are at these offsets.
pub fn rows(at: &[u32]) -> Served {
    at.chunks(8)
        .map(|rows| Served { units: words_of_bank(rows.iter().map(|at| u64::from(*at)), 16), ideal: 1 })
        .fold(Served::default(), Served::add)
}

/// The most words of one bank among accesses of `bytes`.
fn words_of_bank(at: impl Iterator<Item = u64>, bytes: u32) -> u64 {
    // the words of each bank: the first is kept apart, because there is mostly one
    let (mut first, mut more) = ([u64::MAX; BANKS as usize], Vec::new());
    for at in at {
        for word in at / 4..=(at + u64::from(bytes.max(1)) - 1) / 4 {
            let held = &mut first[word as usize % BANKS as usize];
            match *held {
                u64::MAX => *held = word,
                known if known == word => {}
                _ => more.push(word),
            }
        }
    }
    if more.is_empty() {
        return u64::from(first.iter().any(|word| *word != u64::MAX));
    }
    more.sort_unstable();
    more.dedup();
    let mut counts = [1; BANKS as usize];
    more.iter().for_each(|word| counts[*word as usize % BANKS as usize] += 1);
    counts.into_iter().max().unwrap_or(0)
}

/// The wavefronts of an atomic operation on shared memory: lanes of one bank take turns, even with the same word. A comparison with
/// a swap takes two wavefronts each time.
pub fn atomic_wavefronts(at: &Lanes, lanes: u32, swaps: bool) -> Served {
    let mut counts = [0; BANKS as usize];
    active(lanes).for_each(|lane| counts[(at[lane] / 4) as usize % BANKS as usize] += 1);
    let most: u64 = counts.into_iter().max().unwrap_or(0);
    let each = if swaps { 2 } else { 1 };
    Served { units: each * most, ideal: each * u64::from(most != 0) }
}

/// The lanes that access an element that a lower lane accesses too.
pub fn repeated(at: &Lanes, lanes: u32) -> u64 {
    u64::from(lanes.count_ones()) - elements_and_sectors(at, lanes).0
}

/// The different words that lanes load from constant memory.
pub fn words(at: &Lanes, lanes: u32, bytes: u32) -> u64 {
    elements_and_sectors(at, lanes).0 * u64::from(bytes.div_ceil(4).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_served_as_their_lanes_are() {
        for bytes in [1, 2, 4, 8, 16] {
            for start in [0, 16, 112, 4096 + 48] {
                let at: Lanes = std::array::from_fn(|lane| start + lane as u64 * u64::from(bytes));
                assert_eq!(row_sectors(start, bytes), sectors(&at, u32::MAX, bytes), "{start} {bytes}");
                for write in [false, true] {
                    assert_eq!(row_wavefronts(bytes), wavefronts(&at, u32::MAX, bytes, write), "{start} {bytes}");
                }
            }
        }
    }
}
