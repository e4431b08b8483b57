//! The layouts as the manual's figures draw them, written by hand.

use super::*;

const SHAPES: [MoveShape; 5] =
    [MoveShape::S32x32b, MoveShape::S16x64b, MoveShape::S16x128b, MoveShape::S16x256b, MoveShape::S16x32bx2];

/// Rows of Tensor Memory from top to bottom, columns from left to right: which lane's which register. A `|` stands between
/// the pieces of a split shape.
fn draw(shape: MoveShape, registers: usize) -> String {
    let f = shape.fragment();
    let width = f.span(registers);
    let mut cells = vec![vec![String::new(); width * (1 + f.split as usize)]; f.rows];
    for lane in 0..32 {
        for r in 0..registers {
            let c = f.cell(lane, r);
            let cell = &mut cells[c.row][c.column + if c.second { width } else { 0 }];
            assert!(cell.is_empty(), "two registers for one cell");
            *cell = format!("T{lane}:r{r}");
        }
    }
    let mut text = String::new();
    for row in cells {
        let halves: Vec<String> = row.chunks(width).map(|half| half.join(" ")).collect();
        text += &halves.join(" | ");
        text += "\n";
    }
    text
}

#[test]
fn figure_of_32x32b() {
    let drawn = draw(MoveShape::S32x32b, 2);
    let lines: Vec<&str> = drawn.lines().collect();
    assert_eq!(lines.len(), 32);
    assert_eq!(lines[..3], ["T0:r0 T0:r1", "T1:r0 T1:r1", "T2:r0 T2:r1"]);
    assert_eq!(lines[29..], ["T29:r0 T29:r1", "T30:r0 T30:r1", "T31:r0 T31:r1"]);
}

#[test]
fn figure_of_16x64b() {
    let wanted = "\
T0:r0 T2:r0 T0:r1 T2:r1
T4:r0 T6:r0 T4:r1 T6:r1
T8:r0 T10:r0 T8:r1 T10:r1
T12:r0 T14:r0 T12:r1 T14:r1
T16:r0 T18:r0 T16:r1 T18:r1
T20:r0 T22:r0 T20:r1 T22:r1
T24:r0 T26:r0 T24:r1 T26:r1
T28:r0 T30:r0 T28:r1 T30:r1
T1:r0 T3:r0 T1:r1 T3:r1
T5:r0 T7:r0 T5:r1 T7:r1
T9:r0 T11:r0 T9:r1 T11:r1
T13:r0 T15:r0 T13:r1 T15:r1
T17:r0 T19:r0 T17:r1 T19:r1
T21:r0 T23:r0 T21:r1 T23:r1
T25:r0 T27:r0 T25:r1 T27:r1
T29:r0 T31:r0 T29:r1 T31:r1
";
    assert_eq!(draw(MoveShape::S16x64b, 2), wanted);
}

#[test]
fn figure_of_16x128b() {
    let wanted = "\
T0:r0 T1:r0 T2:r0 T3:r0 T0:r2 T1:r2 T2:r2 T3:r2
T4:r0 T5:r0 T6:r0 T7:r0 T4:r2 T5:r2 T6:r2 T7:r2
T8:r0 T9:r0 T10:r0 T11:r0 T8:r2 T9:r2 T10:r2 T11:r2
T12:r0 T13:r0 T14:r0 T15:r0 T12:r2 T13:r2 T14:r2 T15:r2
T16:r0 T17:r0 T18:r0 T19:r0 T16:r2 T17:r2 T18:r2 T19:r2
T20:r0 T21:r0 T22:r0 T23:r0 T20:r2 T21:r2 T22:r2 T23:r2
T24:r0 T25:r0 T26:r0 T27:r0 T24:r2 T25:r2 T26:r2 T27:r2
T28:r0 T29:r0 T30:r0 T31:r0 T28:r2 T29:r2 T30:r2 T31:r2
T0:r1 T1:r1 T2:r1 T3:r1 T0:r3 T1:r3 T2:r3 T3:r3
T4:r1 T5:r1 T6:r1 T7:r1 T4:r3 T5:r3 T6:r3 T7:r3
T8:r1 T9:r1 T10:r1 T11:r1 T8:r3 T9:r3 T10:r3 T11:r3
T12:r1 T13:r1 T14:r1 T15:r1 T12:r3 T13:r3 T14:r3 T15:r3
T16:r1 T17:r1 T18:r1 T19:r1 T16:r3 T17:r3 T18:r3 T19:r3
T20:r1 T21:r1 T22:r1 T23:r1 T20:r3 T21:r3 T22:r3 T23:r3
T24:r1 T25:r1 T26:r1 T27:r1 T24:r3 T25:r3 T26:r3 T27:r3
T28:r1 T29:r1 T30:r1 T31:r1 T28:r3 T29:r3 T30:r3 T31:r3
";
    assert_eq!(draw(MoveShape::S16x128b, 4), wanted);
}

#[test]
fn figure_of_16x256b() {
    let wanted = "\
T0:r0 T0:r1 T1:r0 T1:r1 T2:r0 T2:r1 T3:r0 T3:r1
T4:r0 T4:r1 T5:r0 T5:r1 T6:r0 T6:r1 T7:r0 T7:r1
T8:r0 T8:r1 T9:r0 T9:r1 T10:r0 T10:r1 T11:r0 T11:r1
T12:r0 T12:r1 T13:r0 T13:r1 T14:r0 T14:r1 T15:r0 T15:r1
T16:r0 T16:r1 T17:r0 T17:r1 T18:r0 T18:r1 T19:r0 T19:r1
T20:r0 T20:r1 T21:r0 T21:r1 T22:r0 T22:r1 T23:r0 T23:r1
T24:r0 T24:r1 T25:r0 T25:r1 T26:r0 T26:r1 T27:r0 T27:r1
T28:r0 T28:r1 T29:r0 T29:r1 T30:r0 T30:r1 T31:r0 T31:r1
T0:r2 T0:r3 T1:r2 T1:r3 T2:r2 T2:r3 T3:r2 T3:r3
T4:r2 T4:r3 T5:r2 T5:r3 T6:r2 T6:r3 T7:r2 T7:r3
T8:r2 T8:r3 T9:r2 T9:r3 T10:r2 T10:r3 T11:r2 T11:r3
T12:r2 T12:r3 T13:r2 T13:r3 T14:r2 T14:r3 T15:r2 T15:r3
T16:r2 T16:r3 T17:r2 T17:r3 T18:r2 T18:r3 T19:r2 T19:r3
T20:r2 T20:r3 T21:r2 T21:r3 T22:r2 T22:r3 T23:r2 T23:r3
T24:r2 T24:r3 T25:r2 T25:r3 T26:r2 T26:r3 T27:r2 T27:r3
T28:r2 T28:r3 T29:r2 T29:r3 T30:r2 T30:r3 T31:r2 T31:r3
";
    assert_eq!(draw(MoveShape::S16x256b, 4), wanted);
}

#[test]
fn figure_of_16x32bx2() {
    let drawn = draw(MoveShape::S16x32bx2, 2);
    let lines: Vec<&str> = drawn.lines().collect();
    assert_eq!(lines.len(), 16);
    assert_eq!(lines[0], "T0:r0 T0:r1 | T16:r0 T16:r1");
    assert_eq!(lines[1], "T1:r0 T1:r1 | T17:r0 T17:r1");
    assert_eq!(lines[15], "T15:r0 T15:r1 | T31:r0 T31:r1");
}

/// Row, column and piece by division and remainder, as the formulas of other people's compilers have them.
pub fn straight(shape: MoveShape, l: usize, r: usize) -> Cell {
    let (row, column, second) = match shape {
        MoveShape::S32x32b => (l, r, false),
        MoveShape::S16x64b => (l / 4 + 8 * (l % 2), l / 2 % 2 + 2 * r, false),
        MoveShape::S16x128b => (l / 4 + 8 * (r % 2), l % 4 + 4 * (r / 2), false),
        MoveShape::S16x256b => (l / 4 + 8 * (r / 2 % 2), r % 2 + 2 * (l % 4) + 8 * (r / 4), false),
        MoveShape::S16x32bx2 => (l % 16, r, l >= 16),
    };
    Cell { row, column, second }
}

#[test]
fn cells_are_where_the_formulas_say() {
    for shape in SHAPES {
        let f = shape.fragment();
        for registers in (0..8).map(|i| f.registers() << i).filter(|&n| n <= 128) {
            let pieces = 1 + f.split as usize;
            assert_eq!(f.rows * f.span(registers) * pieces, 32 * registers, "{} holds all of it", f.name);
            for (l, r) in (0..32).flat_map(|l| (0..registers).map(move |r| (l, r))) {
                assert_eq!(f.cell(l, r), straight(shape, l, r), "{} lane {l} register {r}", f.name);
            }
        }
    }
}

const PATHS: [DataPath; 7] =
    [DataPath::A, DataPath::B, DataPath::C, DataPath::D, DataPath::E, DataPath::F, DataPath::G];

/// Draws the lanes of each CTA by sixteens: the rows, and the part of the columns, that they hold.
fn draw_path(path: DataPath, m: usize, n: usize, base: usize) -> String {
    let mut text = String::new();
    for cta in 0..m / path.rows() {
        for first in (0..128).step_by(16) {
            let mut held = Vec::new();
            for lane in first..first + 16 {
                for row in 0..m {
                    held.extend(
                        path.pieces(row, n, base).filter(|p| (p.cta, p.lane) == (cta, lane)).map(|p| (row, p.n)),
                    );
                }
            }
            let Some((top, columns)) = held.first() else {
                text += &format!("{cta}: lanes {first} to {}: -\n", first + 15);
                continue;
            };
            assert_eq!(held.len(), 16);
            assert!(held.iter().enumerate().all(|(i, (r, c))| (*r, c) == (top + i, columns)));
            let (end, last) = (top + 15, columns.end - 1);
            text +=
                &format!("{cta}: lanes {first} to {}: m {top} to {end}, n {} to {last}\n", first + 15, columns.start);
        }
    }
    text
}

#[test]
fn figure_of_layout_a() {
    let drawn = draw_path(DataPath::A, 256, 32, 0);
    let lines: Vec<&str> = drawn.lines().collect();
    assert_eq!(lines[0], "0: lanes 0 to 15: m 0 to 15, n 0 to 31");
    assert_eq!(lines[7], "0: lanes 112 to 127: m 112 to 127, n 0 to 31");
    assert_eq!(lines[8], "1: lanes 0 to 15: m 128 to 143, n 0 to 31");
    assert_eq!(lines[15], "1: lanes 112 to 127: m 240 to 255, n 0 to 31");
}

#[test]
fn figure_of_layout_b() {
    let wanted = "\
0: lanes 0 to 15: m 0 to 15, n 0 to 15
0: lanes 16 to 31: m 16 to 31, n 0 to 15
0: lanes 32 to 47: m 32 to 47, n 0 to 15
0: lanes 48 to 63: m 48 to 63, n 0 to 15
0: lanes 64 to 79: m 0 to 15, n 16 to 31
0: lanes 80 to 95: m 16 to 31, n 16 to 31
0: lanes 96 to 111: m 32 to 47, n 16 to 31
0: lanes 112 to 127: m 48 to 63, n 16 to 31
1: lanes 0 to 15: m 64 to 79, n 0 to 15
1: lanes 16 to 31: m 80 to 95, n 0 to 15
1: lanes 32 to 47: m 96 to 111, n 0 to 15
1: lanes 48 to 63: m 112 to 127, n 0 to 15
1: lanes 64 to 79: m 64 to 79, n 16 to 31
1: lanes 80 to 95: m 80 to 95, n 16 to 31
1: lanes 96 to 111: m 96 to 111, n 16 to 31
1: lanes 112 to 127: m 112 to 127, n 16 to 31
";
    assert_eq!(draw_path(DataPath::B, 128, 32, 0), wanted);
}

#[test]
fn figure_of_layout_c() {
    let wanted = "\
0: lanes 0 to 15: -
0: lanes 16 to 31: m 0 to 15, n 0 to 31
0: lanes 32 to 47: -
0: lanes 48 to 63: m 16 to 31, n 0 to 31
0: lanes 64 to 79: -
0: lanes 80 to 95: m 32 to 47, n 0 to 31
0: lanes 96 to 111: -
0: lanes 112 to 127: m 48 to 63, n 0 to 31
1: lanes 0 to 15: -
1: lanes 16 to 31: m 64 to 79, n 0 to 31
1: lanes 32 to 47: -
1: lanes 48 to 63: m 80 to 95, n 0 to 31
1: lanes 64 to 79: -
1: lanes 80 to 95: m 96 to 111, n 0 to 31
1: lanes 96 to 111: -
1: lanes 112 to 127: m 112 to 127, n 0 to 31
";
    assert_eq!(draw_path(DataPath::C, 128, 32, 16), wanted);
}

#[test]
fn figures_of_layouts_d_and_e() {
    let drawn = draw_path(DataPath::D, 128, 8, 0);
    assert_eq!(drawn.lines().count(), 8);
    assert_eq!(drawn.lines().nth(5), Some("0: lanes 80 to 95: m 80 to 95, n 0 to 7"));
    let wanted = "\
0: lanes 0 to 15: m 0 to 15, n 0 to 31
0: lanes 16 to 31: m 16 to 31, n 0 to 31
0: lanes 32 to 47: m 32 to 47, n 0 to 31
0: lanes 48 to 63: m 48 to 63, n 0 to 31
0: lanes 64 to 79: m 0 to 15, n 32 to 63
0: lanes 80 to 95: m 16 to 31, n 32 to 63
0: lanes 96 to 111: m 32 to 47, n 32 to 63
0: lanes 112 to 127: m 48 to 63, n 32 to 63
";
    assert_eq!(draw_path(DataPath::E, 64, 64, 0), wanted);
}

#[test]
fn figures_of_layouts_f_and_g() {
    let wanted = "\
0: lanes 0 to 15: m 0 to 15, n 0 to 7
0: lanes 16 to 31: -
0: lanes 32 to 47: m 16 to 31, n 0 to 7
0: lanes 48 to 63: -
0: lanes 64 to 79: m 32 to 47, n 0 to 7
0: lanes 80 to 95: -
0: lanes 96 to 111: m 48 to 63, n 0 to 7
0: lanes 112 to 127: -
";
    assert_eq!(draw_path(DataPath::F, 64, 8, 0), wanted);
    let wanted = "\
0: lanes 0 to 15: m 0 to 15, n 0 to 15
0: lanes 16 to 31: m 16 to 31, n 0 to 15
0: lanes 32 to 47: m 0 to 15, n 16 to 31
0: lanes 48 to 63: m 16 to 31, n 16 to 31
0: lanes 64 to 79: m 0 to 15, n 32 to 47
0: lanes 80 to 95: m 16 to 31, n 32 to 47
0: lanes 96 to 111: m 0 to 15, n 48 to 63
0: lanes 112 to 127: m 16 to 31, n 48 to 63
";
    assert_eq!(draw_path(DataPath::G, 32, 64, 0), wanted);
}

#[test]
fn pieces_and_elements_agree() {
    for path in PATHS {
        let base = if path.starts_at(16) { 16 } else { 0 };
        for m in 0..path.rows() {
            for piece in path.pieces(m, 64, base) {
                for (i, n) in piece.n.clone().enumerate() {
                    assert_eq!(path.element(m, n, 64, base), (piece.cta, piece.lane, i), "{path:?} {m} {n}");
                }
            }
        }
    }
}

#[test]
fn layouts_by_shape_and_kind() {
    let of = |m, pair, sparse, ws| DataPath::of(m, pair, sparse, ws);
    assert_eq!(of(256, true, false, false), Some(DataPath::A));
    assert_eq!(of(128, true, false, false), Some(DataPath::B));
    assert_eq!(of(128, true, true, false), Some(DataPath::C));
    assert_eq!(of(128, false, true, false), Some(DataPath::D));
    assert_eq!(of(128, false, false, true), Some(DataPath::D));
    assert_eq!(of(64, false, false, true), Some(DataPath::E));
    assert_eq!(of(64, false, true, false), Some(DataPath::F));
    assert_eq!(of(32, false, false, true), Some(DataPath::G));
    for (m, pair, ws) in [(32, false, false), (256, false, false), (64, true, false), (128, true, true)] {
        assert_eq!(of(m, pair, false, ws), None);
    }
    assert!(DataPath::F.starts_at(16) && !DataPath::F.starts_at(32) && !DataPath::D.starts_at(16));
    assert_eq!((DataPath::G.columns(256), DataPath::B.columns(256), DataPath::C.columns(256)), (64, 128, 256));
}
