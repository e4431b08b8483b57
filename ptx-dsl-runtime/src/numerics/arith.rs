//! Arithmetic of one lane, by the kind of number: integers, floats of 32 and 64 bits, halves, mixed precision, and the exact soft floats.

pub mod float;
pub mod half;
pub mod integer;
pub mod mixed;
pub mod soft;
