//! The order in which CTAs take tiles of a matrix.

use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.0>

    /// The order of tiles of a matrix.
    pub part tiles {
        /// Row and column of a tile, counted in tiles. Tiles come in groups of `GROUP` rows, column by column: those that are computed at a
        /// time are near a square, and share the rows and columns that they read in the L2 cache.
        .inline grouped(.b32 tile, .b32 rows, .b32 columns, .reg .b32 %row, .reg .b32 %column, const GROUP: u32) {
            .reg .b32 %area, %group, %height, %within;
            mul.lo.u32 %area, columns, GROUP;
            div.u32 %group, tile, %area;
            mul.lo.u32 %within, %group, %area;
            sub.u32 %within, tile, %within;
            mul.lo.u32 %group, %group, GROUP;
            sub.u32 %height, rows, %group;
            min.u32 %height, %height, GROUP;
            div.u32 %column, %within, %height;
            mul.lo.u32 %area, %column, %height;
            sub.u32 %row, %within, %area;
            add.u32 %row, %row, %group;
        }
    }
}
