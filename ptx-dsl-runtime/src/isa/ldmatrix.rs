//! Matrices of 8x8 elements between shared memory and the registers of a warp (PTX ISA 9.7.14.5.15 to 9.7.14.5.17).
//!
//! Lane *l* holds two neighbours of row *l* / 4: columns 2 (*l* mod 4), in the low half, and the next one.

semantics! {
}
