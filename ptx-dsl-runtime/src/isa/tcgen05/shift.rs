//! `tcgen05.shift` (PTX ISA 9.7.16).
