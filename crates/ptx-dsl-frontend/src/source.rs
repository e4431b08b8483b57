//! Readers of sources other than PTX: they make tokens of PTX from them.

pub mod closure;
