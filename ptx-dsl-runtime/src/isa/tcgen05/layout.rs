//! Where elements lie in Tensor Memory, as data (PTX ISA 9.7.16).
