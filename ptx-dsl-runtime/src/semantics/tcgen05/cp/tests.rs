use super::*;
use crate::memory::tmem::{COLUMNS as ALL, LANES, Tmem};

/// Shared memory whose bytes tell where they are.
fn shared() -> Vec<u8> {
    (0..16384u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn tensor_memory() -> Tmem {
    let mut tmem = Tmem::default();
    tmem.set_allocated(0..ALL, true);
    for lane in 0..LANES {
        tmem.lane_mut(lane).fill(0xdead_0000);
    }
    tmem
}

fn plain(start: u32, leading: u32, stride: u32) -> Shared {
    Shared { start, leading, stride, swizzle: Swizzle::None, base: 0, absolute: false, half: 0 }
}

fn copied(copy: &CpCopy) -> Tmem {
    let (mut tmem, shared) = (tensor_memory(), shared());
    copy.run(&mut [TensorCta { tmem: &mut tmem, shared: &shared }]).unwrap();
    tmem
}

fn word(at: usize) -> u32 {
    u32::from_le_bytes(shared()[at..at + 4].try_into().unwrap())
}

/// The row of the source that a lane gets, by the text of 9.7.16.9.2, warp by warp.
fn row_of(rows: CpRows, lane: usize) -> Option<usize> {
    let (warp, t) = (lane / 32, lane % 32);
    match rows {
        CpRows::All128 => Some(lane),
        CpRows::Four => (t == 5).then_some(warp),
        // 0 and 2 are a pair, each has one half
        CpRows::Pairs02_13 => Some([t, t, t + 32, t + 32][warp]),
        CpRows::Pairs01_23 => Some([t, t + 32, t, t + 32][warp]),
        CpRows::Times4 => Some(t),
    }
}

#[test]
fn every_shape_and_multicast() {
    let shapes = [
        (CpRows::All128, 2),
        (CpRows::All128, 1),
        (CpRows::Four, 2),
        (CpRows::Pairs02_13, 1),
        (CpRows::Pairs01_23, 1),
        (CpRows::Times4, 1),
    ];
    for (rows, chunks) in shapes {
        let lane = if rows == CpRows::Four { 5 } else { 0 };
        let source = plain(256, 4096, 160);
        let tmem = copied(&CpCopy { rows, chunks, format: None, source, lane, column: 100, ctas: 1 });
        for lane in 0..LANES {
            for column in 0..ALL {
                let wanted = match (row_of(rows, lane), column.checked_sub(100)) {
                    (Some(row), Some(i)) if i < 4 * chunks => {
                        word(256 + row / 8 * 160 + row % 8 * 16 + i / 4 * 4096 + i % 4 * 4)
                    }
                    _ => 0xdead_0000,
                };
                assert_eq!(tmem.lane(lane)[column], wanted, "{rows:?} lane {lane} column {column}");
            }
        }
    }
}

#[test]
fn swizzled_sources() {
    // Swizzle<B, 4, 3> of byte addresses: bits 4.. are changed by bits 7.., B of them (9.7.16.3.3)
    for (swizzle, width, b) in [(Swizzle::B32, 32, 1), (Swizzle::B64, 64, 2), (Swizzle::B128, 128, 3)] {
        let source = Shared { start: 1024, leading: 16, stride: 8 * width, swizzle, base: 0, absolute: false, half: 0 };
        let tmem =
            copied(&CpCopy { rows: CpRows::Times4, chunks: 2, format: None, source, lane: 0, column: 0, ctas: 1 });
        for lane in 0..LANES {
            for column in 0..8 {
                let linear = 1024 + (lane % 32) as u32 * width + column as u32 * 4;
                let mut at = linear;
                for bit in 0..b {
                    at ^= (linear >> (7 + bit) & 1) << (4 + bit);
                }
                assert_eq!(tmem.lane(lane)[column], word(at as usize), "{swizzle:?} lane {lane} column {column}");
            }
        }
    }
}

#[test]
fn decompression_spreads_elements_over_bytes() {
    let copy = |format| CpCopy {
        rows: CpRows::Times4,
        chunks: 1,
        format: Some(format),
        source: plain(0, 0, 128),
        lane: 0,
        column: 0,
        ctas: 1,
    };
    let bytes = shared();
    let bit = |at: usize, n: usize| bytes[at + n / 8] >> (n % 8) & 1;
    for (format, width, shift) in [(CpFormat::B4, 4, 2), (CpFormat::B6, 6, 0)] {
        let tmem = copied(&copy(format));
        for row in 0..32 {
            for element in 0..16 {
                let wanted = (0..width).fold(0, |v, i| v | bit(row * 16, element * width + i) << (i + shift));
                let got = tmem.lane(row + 96)[element / 4] >> (element % 4 * 8) & 0xff;
                assert_eq!(got, u32::from(wanted), "{format:?} row {row} element {element}");
            }
        }
    }
}

#[test]
fn descriptors() {
    let word = 0x1234 | 0x0008 << 16 | 0x0040 << 32 | 1 << 46 | 2 << 61;
    let wanted = Shared {
        start: 0x12340,
        leading: 0x80,
        stride: 0x400,
        swizzle: Swizzle::B128,
        base: 0,
        absolute: false,
        half: 0,
    };
    assert_eq!(source(word), Ok(wanted));
    assert!(matches!(source(word & !(1 << 46)), Err(FaultKind::Descriptor { .. })));
    for mode in [1u64, 3, 5, 7] {
        let fault = source(word & !(7 << 61) | mode << 61);
        assert!(matches!(fault, Err(FaultKind::Descriptor { field, .. }) if field.contains("swizzling")));
    }
}

#[test]
fn outside_of_memory() {
    let mut tmem = tensor_memory();
    let shared = shared();
    let mut run = |copy: CpCopy| copy.run(&mut [TensorCta { tmem: &mut tmem, shared: &shared }]);
    let copy = CpCopy {
        rows: CpRows::All128,
        chunks: 1,
        format: None,
        source: plain(0, 0, 128),
        lane: 0,
        column: 508,
        ctas: 1,
    };
    run(CpCopy { ..copy }).unwrap();
    assert!(matches!(run(CpCopy { column: 510, ..copy }), Err(FaultKind::TensorMemory { .. })));
    assert!(matches!(run(CpCopy { lane: 1, ..copy }), Err(FaultKind::TensorMemory { .. })));
    let source = plain(16384 - 2032, 0, 128);
    assert!(matches!(run(CpCopy { source, ..copy }), Err(FaultKind::OutOfBounds { space: "shared", .. })));
}
