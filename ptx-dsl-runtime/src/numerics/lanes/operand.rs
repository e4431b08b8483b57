//! The registers of instructions that have many, in their own width.

use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::Words;
use std::borrow::Cow;

/// Sets the lanes of `m`.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn put_words(to: &mut Words, v: &Words, m: u32) {
    super::put::<super::Base, u32>(to, v, m);
}

/// A source operand of an instruction.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// A register of 32 bits.
    Words(&'a Words),
    /// Any other operand.
    Lanes(&'a Lanes),
}

impl<'a> Source<'a> {
    /// The value in a lane.
    #[inline(always)]
    pub fn lane(self, lane: usize) -> u64 {
        match self {
            Source::Words(words) => words[lane].into(),
            Source::Lanes(lanes) => lanes[lane],
        }
    }

    /// The low 32 bits.
    #[inline(always)]
    pub fn words(self) -> Cow<'a, Words> {
        match self {
            Source::Words(words) => Cow::Borrowed(words),
            Source::Lanes(lanes) => Cow::Owned(narrow(lanes)),
        }
    }

    /// The value.
    #[inline(always)]
    pub fn lanes(self) -> Cow<'a, Lanes> {
        match self {
            Source::Words(words) => Cow::Owned(super::wide_u32(words)),
            Source::Lanes(lanes) => Cow::Borrowed(lanes),
        }
    }
}

#[cold]
fn narrow(lanes: &Lanes) -> Words {
    super::narrow_u32(lanes)
}

/// A destination operand of an instruction.
#[derive(Debug)]
pub enum Destination<'a> {
    /// A register of 32 bits.
    Words(&'a mut Words),
    /// Any other.
    Lanes(&'a mut Lanes),
}

impl Destination<'_> {
    /// The value in a lane.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> u64 {
        match self {
            Destination::Words(words) => words[lane].into(),
            Destination::Lanes(lanes) => lanes[lane],
        }
    }

    /// Sets the value in a lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, value: u64) {
        match self {
            Destination::Words(words) => words[lane] = value as u32,
            Destination::Lanes(lanes) => lanes[lane] = value,
        }
    }

    /// Sets all lanes.
    #[inline(always)]
    pub fn put(&mut self, values: &Words) {
        match self {
            Destination::Words(words) => **words = *values,
            Destination::Lanes(lanes) => **lanes = super::wide_u32(values),
        }
    }
}
