//! The layout of a tile in shared memory, for tensor maps: what `layout Tile = f16[128, 64] swizzle 128;` of `ptx!` is in Rust.

use super::builder::TensorMapBuilder;
use super::map::{Tensor, TensorMap};
use crate::memory::tensor_map::{ElementType, Swizzle};
use ptx_dsl_isa::layout as tile;
use std::fmt;

/// The layout of a tile in shared memory: rows of elements, whose pieces change places as a swizzle says. `layout Tile = f16[128, 64] swizzle
/// 128;` in `ptx!` makes a constant `Tile` of this type, so that tensor maps, addresses and descriptors agree.
///
/// `{Tile}` draws it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    element: ElementType,
    tile: tile::Layout,
}

impl Layout {
    /// Describes rows and columns of a type, with a swizzle.
    ///
    /// # Panics
    /// A row has no multiple of the bytes that the swizzle permutes, the tile no multiple of its alignment, or the swizzle is not one of
    /// `None`, `B32`, `B64`, `B128` and `B128Atom32`.
    pub const fn new(element: ElementType, sizes: [u32; 2], swizzle: Swizzle) -> Layout {
        let permuted = match swizzle {
            Swizzle::None => tile::Swizzle::None,
            Swizzle::B32 => tile::Swizzle::B32,
            Swizzle::B64 => tile::Swizzle::B64,
            Swizzle::B128 => tile::Swizzle::B128,
            Swizzle::B128Atom32 => tile::Swizzle::B128Atom32,
            _ => panic!("a layout has no such swizzle"),
        };
        let unit = element.unit();
        assert!(unit.elements == 1, "a layout has no packed elements");
        match tile::Layout::new(unit.shared, sizes, permuted) {
            Ok(tile) => Layout { element, tile },
            Err(tile::Mistake::Size) => panic!("a layout has 1 to 65536 rows, and as many bytes of a row"),
            Err(tile::Mistake::Row(_)) => panic!("a row has no multiple of the bytes that the swizzle permutes"),
            Err(tile::Mistake::Rows) => panic!("the tile has no multiple of the bytes to which it is aligned"),
        }
    }

    /// Starts a tensor map whose boxes have this layout. `dims`: the size of each dimension of the tensor, the innermost first. A box has
    /// all rows, the columns of [`box_columns`](Layout::box_columns), and 1 of each other dimension.
    pub fn tensor_map<'a>(&self, tensor: impl Into<Tensor<'a>>, dims: impl Into<Vec<u64>>) -> TensorMapBuilder<'a> {
        self.tensor_map_of_rows(tensor, dims, self.rows())
    }

    /// A tensor map whose box has another number of rows, for copies of a part of the tile.
    pub fn tensor_map_of_rows<'a>(
        &self,
        tensor: impl Into<Tensor<'a>>,
        dims: impl Into<Vec<u64>>,
        rows: u32,
    ) -> TensorMapBuilder<'a> {
        let dims = dims.into();
        let mut sizes = vec![1; dims.len()];
        for (size, of_tile) in sizes.iter_mut().zip([self.box_columns(), rows]) {
            *size = of_tile;
        }
        let swizzle = match self.tile.swizzle() {
            tile::Swizzle::None => Swizzle::None,
            tile::Swizzle::B32 => Swizzle::B32,
            tile::Swizzle::B64 => Swizzle::B64,
            tile::Swizzle::B128 => Swizzle::B128,
            tile::Swizzle::B128Atom32 => Swizzle::B128Atom32,
        };
        TensorMap::tiled(tensor, self.element).dims(dims).box_dims(sizes).swizzle(swizzle)
    }

    /// Returns the number of rows.
    pub const fn rows(&self) -> u32 {
        self.tile.rows()
    }

    /// Returns the number of columns.
    pub const fn columns(&self) -> u32 {
        self.tile.columns()
    }

    /// Returns the number of bytes of the tile.
    pub const fn bytes(&self) -> u32 {
        self.tile.bytes()
    }

    /// Returns the number of boxes, which one tensor copy each writes.
    pub const fn boxes(&self) -> u32 {
        self.tile.boxes()
    }

    /// Returns the number of columns of a box.
    pub const fn box_columns(&self) -> u32 {
        self.tile.box_columns()
    }

    /// Returns the number of bytes of a box.
    pub const fn box_bytes(&self) -> u32 {
        self.tile.box_bytes()
    }

    /// Returns the offset of an element from the beginning of the tile, in bytes.
    pub const fn at(&self, row: u32, column: u32) -> u32 {
        self.tile.at(row, column)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tile.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::matrix::shared::Major;
    use crate::semantics::tensor::swizzle::BoxLayout;
    use crate::semantics::wgmma::descriptor;
    use ptx_dsl_isa::descriptor::build;

    const SWIZZLES: [Swizzle; 5] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128, Swizzle::B128Atom32];

    /// The places where a tensor copy of this host writes, which an H200 has confirmed, are those of the layout.
    #[test]
    fn tensor_copies_write_where_a_layout_says() {
        for (element, bytes) in
            [(ElementType::U8, 1), (ElementType::F16, 2), (ElementType::F32, 4), (ElementType::F64, 8)]
        {
            for swizzle in SWIZZLES {
                let layout = Layout::new(element, [32, 256 / bytes], swizzle);
                let map = layout.tensor_map(&[0u8; 1 << 16][..], [256 / u64::from(bytes), 64]).build().expect("a map");
                let written = BoxLayout::of(&map.fields);
                for row in 0..layout.rows() {
                    for column in 0..layout.columns() {
                        let (number, within) = (column / layout.box_columns(), column % layout.box_columns());
                        let place = written.place(row * written.pitch + within * bytes) + number * layout.box_bytes();
                        assert_eq!(layout.at(row, column), place, "{element:?} {swizzle:?} {row} {column}");
                    }
                }
            }
        }
    }

    /// The pieces that `wgmma` of this host reads with the descriptor are those of the layout, with K along the columns and along the rows.
    #[test]
    fn descriptors_read_where_a_layout_says() {
        for (swizzle, columns) in [(Swizzle::None, 8), (Swizzle::B32, 64), (Swizzle::B64, 64), (Swizzle::B128, 128)] {
            let layout = Layout::new(ElementType::Bf16, [64, columns], swizzle);
            for (transposed, major) in [(false, Major::K), (true, Major::Mn)] {
                let Ok(fields) = layout.tile.fields("wgmma", transposed, Vec::new()) else {
                    assert_eq!(swizzle, Swizzle::None);
                    continue;
                };
                let read = descriptor(build("wgmma", &fields).expect("a descriptor"));
                for row in 0..layout.rows() {
                    for piece in 0..columns / 8 {
                        assert_eq!(
                            read.piece(major, row, piece),
                            layout.at(row, 8 * piece),
                            "{swizzle:?} {row} {piece}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "a row has no multiple")]
    fn a_row_that_does_not_suit_the_swizzle_panics() {
        Layout::new(ElementType::F16, [64, 32], Swizzle::B128);
    }
}
