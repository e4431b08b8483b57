//! `tcgen05.commit` and `tcgen05.fence` (PTX ISA 9.7.16).
