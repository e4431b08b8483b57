//! `tcgen05.mma` and its variants (PTX ISA 9.7.16).
