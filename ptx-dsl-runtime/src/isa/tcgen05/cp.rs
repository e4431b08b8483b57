//! `tcgen05.cp` (PTX ISA 9.7.16).
