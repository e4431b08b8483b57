//! Descriptors, field by field, and layouts drawn as text.

use super::*;

fn fields(mode: u64, start: u64, leading: u64, stride: u64, base: u64) -> Result<Shared, FaultKind> {
    Shared::decode(start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | base << 49 | mode << 61, "A", false)
}

#[test]
fn fields_come_apart() {
    let shared = fields(2, 0x12340, 0x4560, 0x7890, 5).expect("a descriptor");
    assert_eq!(
        shared,
        Shared {
            start: 0x12340,
            leading: 0x4560,
            stride: 0x7890,
            base: 5,
            swizzle: Swizzle::B128,
            absolute: false,
            half: 0
        }
    );
    for (mode, swizzle) in [(0, Swizzle::None), (1, Swizzle::B128Atom32), (4, Swizzle::B64), (6, Swizzle::B32)] {
        assert_eq!(fields(mode, 0, 0, 0, 0).expect("a mode").swizzle, swizzle);
    }
}

#[test]
fn wrong_fields_are_named() {
    let good = 1u64 << 46;
    for (x, name) in [
        (good | 1 << 15, "start address"),
        (good | 1 << 31, "leading dimension"),
        (0, "fixed constant (bits 46-48)"),
        (3 << 46, "fixed constant (bits 46-48)"),
        (good | 1 << 53, "fixed constant (bits 53-60)"),
        (good | 1 << 60, "fixed constant (bits 53-60)"),
        (good | 3 << 61, "swizzling mode"),
        (good | 5 << 61, "swizzling mode"),
        (good | 7 << 61, "swizzling mode"),
    ] {
        match Shared::decode(x, "B", false) {
            Err(FaultKind::Descriptor { field, what }) => {
                assert!(field.starts_with(name), "{field}, not {name}");
                assert!(what.ends_with("of B"), "{what}");
            }
            other => panic!("{other:?} for {name}"),
        }
    }
}

/// Draws the place of each (line, piece): memory in rows of 128 bytes, eight pieces of 16 bytes each.
fn draw(shared: &Shared, major: Major, lines: u32, pieces: u32) -> String {
    let size = (0..lines).flat_map(|l| (0..pieces).map(move |p| (l, p)));
    let all: Vec<_> = size.map(|(l, p)| (shared.piece(major, l, p) / 16, l, p)).collect();
    let last = all.iter().map(|a| a.0).max().unwrap_or(0);
    let cell = |at| {
        let mut here = all.iter().filter(|a| a.0 == at).map(|a| format!("{:x}{:x}", a.1, a.2));
        let one = here.next().unwrap_or("..".into());
        assert_eq!(here.next(), None, "two pieces at {at}");
        one
    };
    (0..=last / 8).map(|row| (0..8).map(|i| cell(row * 8 + i)).collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn no_swizzling() {
    // 8 lines of 16 bytes make 128 bytes; then the next 16 bytes (leading) or the next 8 lines (stride)
    let rows = fields(0, 0, 128, 256, 0).expect("a descriptor");
    assert_eq!(
        draw(&rows, Major::K, 16, 2),
        "00 10 20 30 40 50 60 70\n01 11 21 31 41 51 61 71\n80 90 a0 b0 c0 d0 e0 f0\n81 91 a1 b1 c1 d1 e1 f1\n"
    );
    // transposed, the offsets mean the opposite
    let columns = fields(0, 0, 256, 128, 0).expect("a descriptor");
    assert_eq!(draw(&columns, Major::Mn, 16, 2), draw(&rows, Major::K, 16, 2));
}

#[test]
fn swizzle_32() {
    let rows = fields(6, 0, 0, 256, 0).expect("a descriptor");
    assert_eq!(draw(&rows, Major::K, 8, 2), "00 01 10 11 20 21 30 31\n41 40 51 50 61 60 71 70\n");
}

#[test]
fn swizzle_64() {
    let rows = fields(4, 0, 0, 512, 0).expect("a descriptor");
    assert_eq!(
        draw(&rows, Major::K, 8, 4),
        "00 01 02 03 10 11 12 13\n21 20 23 22 31 30 33 32\n42 43 40 41 52 53 50 51\n63 62 61 60 73 72 71 70\n"
    );
}

const SWIZZLE_128: &str = "\
00 01 02 03 04 05 06 07
11 10 13 12 15 14 17 16
22 23 20 21 26 27 24 25
33 32 31 30 37 36 35 34
44 45 46 47 40 41 42 43
55 54 57 56 51 50 53 52
66 67 64 65 62 63 60 61
77 76 75 74 73 72 71 70
";

#[test]
fn swizzle_128() {
    let rows = fields(2, 0, 0, 1024, 0).expect("a descriptor");
    assert_eq!(draw(&rows, Major::K, 8, 8), SWIZZLE_128);
    // a start 32 bytes later is two pieces further along every row
    let later = fields(2, 32, 0, 1024, 0).expect("a descriptor");
    for line in 0..8 {
        assert_eq!(later.piece(Major::K, line, 0), rows.piece(Major::K, line, 2));
    }
    // a pattern that begins two rows of 128 bytes late has a base offset of 2
    let off = fields(2, 256, 0, 1024, 2).expect("a descriptor");
    for line in 0..8 {
        assert_eq!(off.piece(Major::K, line, 3), rows.piece(Major::K, line, 3) + 256);
    }
}

#[test]
fn swizzle_128_in_pairs() {
    let columns = fields(1, 0, 4096, 512, 0).expect("a descriptor");
    assert_eq!(
        draw(&columns, Major::Mn, 8, 8),
        "\
00 01 02 03 04 05 06 07
12 13 10 11 16 17 14 15
24 25 26 27 20 21 22 23
36 37 34 35 32 33 30 31
40 41 42 43 44 45 46 47
52 53 50 51 56 57 54 55
64 65 66 67 60 61 62 63
76 77 74 75 72 73 70 71
"
    );
}

#[test]
fn atoms_of_a_transposed_matrix() {
    // 64 bytes of a line in one atom, the next 64 in another: leading; the next 8 lines: stride
    let columns = fields(4, 0, 1024, 512, 0).expect("a descriptor");
    assert_eq!(columns.piece(Major::Mn, 0, 4), 1024);
    assert_eq!(columns.piece(Major::Mn, 8, 0), 512);
    assert_eq!(columns.piece(Major::Mn, 10, 5), 1024 + 512 + 2 * 64);
}

/// The examples of 9.7.16.4.3, lowest column first.
#[test]
fn zero_column_masks() {
    let mask = |x: u64, n: u32, m: u32, from: u32| -> String {
        let z = ZeroColumns::decode(x, m as usize, 32).expect("a mask");
        (from..from + 14).map(|c| if z.is_zero(c, n, m) { '1' } else { '0' }).collect()
    };
    let spans = 2 << 40 | 3 << 48;
    assert_eq!(mask(spans, 128, 128, 0), "00000000000000");
    assert_eq!(mask(spans | 1 << 39, 128, 128, 0), "00001110000111");
    let two = spans | 1 << 39 | 1 << 32;
    assert_eq!(mask(two, 128, 64, 0), "11100001110000");
    assert_eq!(mask(two, 128, 64, 64), "00001110000111");
    let four = spans | 1 << 39 | 0b0011 << 32 | 0x0102_0100 | 2 << 56;
    assert_eq!(mask(four, 128, 32, 0), "11100001110000");
    assert_eq!(mask(four, 128, 32, 32), "11000011100001");
    assert_eq!(mask(four, 128, 32, 64), "00111000011100");
    assert_eq!(mask(four, 128, 32, 96), "00011100001110");
    assert_eq!(ZeroColumns::decode(four, 32, 8).expect("a mask").shift, 2);
}

#[test]
fn wrong_zero_column_masks() {
    for (x, m, most, name) in [
        (1u64 << 36, 128, 32, "reserved bits"),
        (1 << 63, 128, 32, "reserved bits"),
        (33 << 56, 128, 32, "column shift"),
        (17 << 56, 32, 32, "column shift"),
        (9 << 56, 128, 8, "column shift"),
    ] {
        let Err(FaultKind::Descriptor { field, .. }) = ZeroColumns::decode(x, m, most) else { panic!("{name}") };
        assert!(field.starts_with(name), "{field}");
    }
}
