//! Instruction, shared-memory and zero-column-mask descriptors (PTX ISA 9.7.16).
