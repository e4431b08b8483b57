//! Element formats of matrices, as data (PTX ISA 9.7.16).
