//! The layout of a tile in shared memory: `f16[128, 64] swizzle 128`. A tensor copy writes it, a descriptor names it, and an address finds
//! an element in it; all three ask here where a byte lies (PTX ISA 5.5.6, 9.7.15.5.1).
//!
//! A row of a box has as many bytes as the swizzle permutes. A wider tile lies in several boxes, one after the other, because one tensor copy
//! writes no wider box. Without a swizzle a tile is one box, row by row.

use crate::descriptor::{Value, Wrong};
use std::fmt;

/// How the pieces of a row change places from row to row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// They stay.
    None,
    /// Pieces of 16 bytes, within 32 bytes.
    B32,
    /// Pieces of 16 bytes, within 64 bytes.
    B64,
    /// Pieces of 16 bytes, within 128 bytes.
    B128,
    /// Pieces of 32 bytes, within 128 bytes.
    B128Atom32,
}

/// The words of the swizzles, as descriptors have them.
const SWIZZLES: [(&str, Swizzle); 5] = [
    ("none", Swizzle::None),
    ("32", Swizzle::B32),
    ("64", Swizzle::B64),
    ("128", Swizzle::B128),
    ("128_atom_32", Swizzle::B128Atom32),
];

impl Swizzle {
    /// The swizzle of this name: `128`.
    pub fn named(name: &str) -> Option<Swizzle> {
        SWIZZLES.iter().find(|(word, _)| *word == name).map(|(_, swizzle)| *swizzle)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        SWIZZLES.iter().find(|(_, swizzle)| *swizzle == self).map_or("", |(word, _)| word)
    }

    /// The number of bytes within which it permutes; 0 if it does not.
    pub const fn span(self) -> u32 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            Swizzle::B128 | Swizzle::B128Atom32 => 128,
        }
    }

    /// An offset `x` is exchanged with `x ^ (x >> shift & mask)`.
    pub const fn exchange(self) -> (u32, u32) {
        match self {
            Swizzle::None => (3, 0),
            Swizzle::B32 => (3, 0x10),
            Swizzle::B64 => (3, 0x30),
            Swizzle::B128 => (3, 0x70),
            Swizzle::B128Atom32 => (2, 0x60),
        }
    }

    /// The number of bytes after which its pattern repeats. Where it does not permute, the alignment of a tensor copy.
    pub const fn align(self) -> u32 {
        match self {
            Swizzle::None => 128,
            Swizzle::B32 => 256,
            Swizzle::B64 => 512,
            Swizzle::B128 => 1024,
            Swizzle::B128Atom32 => 512,
        }
    }
}

/// The types of elements, with their bytes.
pub const ELEMENTS: [(&str, u32); 19] = [
    ("f16", 2),
    ("bf16", 2),
    ("tf32", 4),
    ("f32", 4),
    ("f64", 8),
    ("e4m3", 1),
    ("e5m2", 1),
    ("u8", 1),
    ("s8", 1),
    ("b8", 1),
    ("u16", 2),
    ("s16", 2),
    ("b16", 2),
    ("u32", 4),
    ("s32", 4),
    ("b32", 4),
    ("u64", 8),
    ("s64", 8),
    ("b64", 8),
];

/// What is wrong with a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// No rows or no columns, or more than 2^16.
    Size,
    /// The bytes of a row are no multiple of this number.
    Row(u32),
    /// The bytes of the tile are no multiple of its alignment, so that a second tile behind it would not be aligned.
    Rows,
}

/// The layout of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    element: u32,
    rows: u32,
    columns: u32,
    swizzle: Swizzle,
}

impl Layout {
    /// The layout of rows and columns of elements of so many bytes.
    ///
    /// # Errors
    /// A size does not suit the swizzle.
    pub const fn new(element: u32, [rows, columns]: [u32; 2], swizzle: Swizzle) -> Result<Layout, Mistake> {
        const MOST: u32 = 1 << 16;
        if rows == 0 || columns == 0 || rows > MOST || columns > MOST / element {
            return Err(Mistake::Size);
        }
        let layout = Layout { element, rows, columns, swizzle };
        let unit = if swizzle.span() == 0 { 16 } else { swizzle.span() };
        if !(columns * element).is_multiple_of(unit) {
            return Err(Mistake::Row(unit));
        }
        if !layout.box_bytes().is_multiple_of(swizzle.align()) {
            return Err(Mistake::Rows);
        }
        Ok(layout)
    }

    /// The number of bytes of an element.
    pub const fn element(&self) -> u32 {
        self.element
    }

    /// The number of rows.
    pub const fn rows(&self) -> u32 {
        self.rows
    }

    /// The number of columns.
    pub const fn columns(&self) -> u32 {
        self.columns
    }

    /// The swizzle.
    pub const fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// The number of bytes of a row of a box.
    pub const fn pitch(&self) -> u32 {
        if self.swizzle.span() == 0 { self.columns * self.element } else { self.swizzle.span() }
    }

    /// The number of columns of a box.
    pub const fn box_columns(&self) -> u32 {
        self.pitch() / self.element
    }

    /// The number of boxes.
    pub const fn boxes(&self) -> u32 {
        self.columns / self.box_columns()
    }

    /// The number of bytes of a box.
    pub const fn box_bytes(&self) -> u32 {
        self.pitch() * self.rows
    }

    /// The number of bytes of the tile.
    pub const fn bytes(&self) -> u32 {
        self.box_bytes() * self.boxes()
    }

    /// The alignment of the tile: where the swizzle has its pattern.
    pub const fn align(&self) -> u32 {
        self.swizzle.align()
    }

    /// The offset of an element, in bytes.
    pub const fn at(&self, row: u32, column: u32) -> u32 {
        let (number, column) = (column / self.box_columns(), column % self.box_columns());
        let linear = number * self.box_bytes() + row * self.pitch() + column * self.element;
        let (shift, mask) = self.swizzle.exchange();
        linear ^ (linear >> shift & mask)
    }

    /// The fields of a descriptor: those that are given, and the ones that the layout decides. `transposed`: K is along the rows of the tile
    /// (`major: mn`), and not along its columns.
    ///
    /// # Errors
    /// No descriptor of this builder reads the layout so, or a field is given that the layout decides.
    pub fn fields(
        &self,
        builder: &str,
        transposed: bool,
        mut given: Vec<(String, Value)>,
    ) -> Result<Vec<(String, Value)>, Wrong> {
        let decided = self.decided(builder, transposed)?;
        for (n, (name, _)) in given.iter().enumerate() {
            if decided.iter().any(|(other, _)| name == other) {
                return wrong(Some(n), true, &format!("the layout decides `{name}`"), "remove the field");
            }
            if name == "major" {
                return wrong(Some(n), true, "the field `major` is given twice", "remove one of them");
            }
        }
        given.extend(decided.map(|(name, value)| (name.to_owned(), value)));
        Ok(given)
    }

    /// What the layout decides.
    fn decided(&self, builder: &str, transposed: bool) -> Result<[(&'static str, Value); 3], Wrong> {
        if !matches!(builder, "wgmma" | "tcgen05") {
            return wrong(None, false, &format!("`descriptor::{builder}` takes no layout"), "give its fields by name");
        }
        if !self.rows.is_multiple_of(8) {
            let message = format!("a matrix has groups of 8 rows, and the layout has {} rows", self.rows);
            return wrong(None, false, &message, "change the layout");
        }
        let none = self.swizzle == Swizzle::None;
        if none && (transposed || self.pitch() != 16) {
            let message = match transposed {
                true => "a layout without a swizzle has no descriptor with `major: mn`".to_owned(),
                false => format!("no descriptor reads rows of {} bytes without a swizzle", self.pitch()),
            };
            let help = "give the layout a swizzle, such as `swizzle 128`, or give the fields of the descriptor by name";
            return wrong(None, false, &message, help);
        }
        if transposed && builder == "wgmma" && self.element != 2 {
            let message = "`wgmma` reads `major: mn` of types of 16 bits only";
            return wrong(None, false, message, "let K be along the columns of the tile");
        }
        // four rows are a group where 32 bytes stay together and K is along the rows
        let group = if transposed && self.swizzle == Swizzle::B128Atom32 { 4 } else { 8 };
        let leading = if none || transposed || self.boxes() > 1 { self.box_bytes() } else { 16 };
        Ok([
            ("leading", Value::Number(leading.into())),
            ("stride", Value::Number((group * self.pitch()).into())),
            ("swizzle", Value::Word(self.swizzle.name().to_owned())),
        ])
    }
}

fn wrong<T>(field: Option<usize>, name: bool, message: &str, help: &str) -> Result<T, Wrong> {
    Err(Wrong { field, name, message: message.to_owned(), help: help.to_owned() })
}

/// The layout as a picture: for each place of a row which columns lie there. Rows that repeat others are left out.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { rows, columns, swizzle, .. } = *self;
        writeln!(f, "{rows} rows of {columns} columns, swizzle {}", swizzle.name())?;
        let (boxes, box_bytes) = (self.boxes(), self.box_bytes());
        write!(f, "{} bytes, aligned to {}", self.bytes(), self.align())?;
        if boxes > 1 {
            write!(f, "; {boxes} boxes of {} columns, each {box_bytes} bytes", self.box_columns())?;
        }
        writeln!(f)?;
        let piece = if swizzle == Swizzle::B128Atom32 { 32 } else { 16 };
        let pieces = self.pitch() / piece;
        let per_piece = piece / self.element;
        // what does not fit on a line is left out
        let shown = pieces.min(16);
        let pattern = if swizzle == Swizzle::None { 1 } else { self.align() / self.pitch() }.min(rows);
        let width =
            (self.box_columns() - per_piece).to_string().len().max((shown.saturating_sub(1) * piece).to_string().len());
        write!(f, "{:>10}", "byte")?;
        for place in 0..shown {
            write!(f, "  {:>width$}", place * piece)?;
        }
        writeln!(f)?;
        for row in 0..pattern {
            write!(f, "{:>10}", format!("row {row}"))?;
            for place in 0..shown {
                let wanted = row * self.pitch() + place * piece;
                let column = (0..pieces).map(|n| n * per_piece).find(|column| self.at(row, *column) == wanted);
                write!(f, "  {:>width$}", column.map_or("?".to_owned(), |column| column.to_string()))?;
            }
            writeln!(f, "{}", if shown < pieces { "  ..." } else { "" })?;
        }
        match rows - pattern {
            0 => Ok(()),
            _ if pattern == 1 => writeln!(f, "all other rows are like row 0"),
            _ => writeln!(f, "rows {pattern} to {} repeat these", rows - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor;

    #[test]
    fn sizes_that_do_not_suit_the_swizzle_are_mistakes() {
        for (element, sizes, swizzle, wanted) in [
            (2, [128, 64], Swizzle::B128, Ok(16384)),
            (2, [64, 128], Swizzle::B128, Ok(16384)),
            (1, [128, 32], Swizzle::B32, Ok(4096)),
            (4, [8, 8], Swizzle::None, Ok(256)),
            (2, [128, 32], Swizzle::B128, Err(Mistake::Row(128))),
            (2, [128, 4], Swizzle::None, Err(Mistake::Row(16))),
            (2, [4, 64], Swizzle::B128, Err(Mistake::Rows)),
            (2, [3, 8], Swizzle::None, Err(Mistake::Rows)),
            (2, [0, 64], Swizzle::B128, Err(Mistake::Size)),
            (2, [8, 1 << 17], Swizzle::B128, Err(Mistake::Size)),
        ] {
            assert_eq!(Layout::new(element, sizes, swizzle).map(|layout| layout.bytes()), wanted, "{sizes:?}");
        }
    }

    /// The values that kernels have as hex: a tile of A of `hopper_gemm`, and V of the attention kernel, in boxes of 16,384 bytes.
    #[test]
    fn descriptors_are_those_of_kernels() {
        let a = Layout::new(2, [128, 64], Swizzle::B128).expect("a layout");
        let of = |layout: &Layout, builder: &str, transposed| {
            descriptor::build(builder, &layout.fields(builder, transposed, Vec::new())?)
        };
        assert_eq!(of(&a, "wgmma", false), Ok(0x4000_0040_0001_0000));
        assert_eq!(of(&a, "tcgen05", false), Ok(0x4000_4040_0001_0000));
        let v = Layout::new(2, [128, 128], Swizzle::B128).expect("a layout");
        assert_eq!(of(&v, "wgmma", true), Ok(0x4000_0040_0400_0000));
    }

    #[test]
    fn a_layout_draws_itself() {
        let small = Layout::new(2, [16, 32], Swizzle::B64).expect("a layout");
        let drawn = "16 rows of 32 columns, swizzle 64\n\
                     1024 bytes, aligned to 512\n      byte   0  16  32  48\n     row 0   0   8  16  24\n     row 1   0   8  16  24\n\
                     \u{20}    row 2   8   0  24  16\n     row 3   8   0  24  16\n     row 4  16  24   0   8\n     row 5  16  24   0   8\n\
                     \u{20}    row 6  24  16   8   0\n     row 7  24  16   8   0\nrows 8 to 15 repeat these\n";
        assert_eq!(small.to_string(), drawn);
        let plain = Layout::new(4, [8, 8], Swizzle::None).expect("a layout").to_string();
        assert!(plain.ends_with("all other rows are like row 0\n"), "{plain}");
    }
}
