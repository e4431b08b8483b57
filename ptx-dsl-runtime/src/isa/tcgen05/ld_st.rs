//! `tcgen05.ld`, `.st`, `.wait` (PTX ISA 9.7.16).
