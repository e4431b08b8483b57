//! What a profile has beside the counters of its statements: classes of instructions, products of matrices, registers, waits.

use super::counters::Counters;
use super::result::{Profile, Statement};
use ptx_dsl_isa::isa::class::InstrClass;
use ptx_dsl_isa::meaning::work::Number;
use std::collections::BTreeMap;

/// Products of matrices of one instruction, shape and type.
///
/// [Example](crate::observe::profile).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Product {
    /// The opcode.
    pub opcode: String,
    /// Rows, columns and depth. The depth counts the zeros that a sparse A leaves out.
    pub shape: [u32; 3],
    /// The type of the elements of A: `f16`, `e4m3`.
    pub element: String,
    /// Whether A is sparse.
    pub sparse: bool,
    /// Products of this shape.
    pub count: u64,
    /// Multiplications and additions of all of them: 2 times rows, columns and depth.
    pub operations: u64,
}

/// A `setmaxnreg` that has run.
///
/// [Example](crate::observe::profile).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegisterChange {
    /// The line in the source.
    pub source_line: u32,
    /// The statement.
    pub text: String,
    /// Registers of each thread from there on.
    pub registers: u32,
    /// Warps that executed it.
    pub warps: u64,
}

/// The waits of a warp at a statement for another warp, which came last.
///
/// [Example](crate::observe::profile).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// The line in the source at which the warp waited.
    pub source_line: u32,
    /// The statement at which it waited.
    pub text: String,
    /// The warp in its CTA.
    pub warp: u32,
    /// The line, the statement and the warp that completed what it waited for; for an asynchronous copy its statement and the warp that
    /// started it. `None` if nothing like that ended the wait.
    pub by: Option<(u32, String, u32)>,
    /// Waits, of this warp in all CTAs.
    pub times: u64,
    /// Turns of the host from the first moment of each wait to its last.
    pub turns: u64,
}

/// The name of a class, as Nsight Compute has it where it has the class.
pub(super) fn class_name(class: InstrClass, number: Number) -> &'static str {
    match (class, number) {
        (InstrClass::Arithmetic, Number::F16) => "fp16",
        (InstrClass::Arithmetic, Number::F32) => "fp32",
        (InstrClass::Arithmetic, Number::F64) => "fp64",
        (InstrClass::Arithmetic, Number::Integer) => "integer",
        (InstrClass::Conversion, _) => "conversion",
        (InstrClass::Control, _) => "control",
        (InstrClass::Memory, _) => "memory",
        (InstrClass::Communication, _) => "inter_thread_communication",
        (InstrClass::Synchronisation, _) => "synchronisation",
        (InstrClass::Matrix, _) => "matrix",
        _ => "misc",
    }
}

impl Statement {
    /// The class of the statement in words: `fp32`, `integer`, `memory`.
    pub fn class_name(&self) -> &'static str {
        class_name(self.class, self.number)
    }
}

impl Profile {
    /// The mix of instructions: of each class its name and the counters of its statements, the most executed first.
    pub fn mix(&self) -> Vec<(&'static str, Counters)> {
        let mut all: BTreeMap<&'static str, Counters> = BTreeMap::new();
        for statement in &self.statements {
            *all.entry(statement.class_name()).or_default() += statement.counters;
        }
        let mut all: Vec<(&'static str, Counters)> = all.into_iter().filter(|(_, c)| c.executed != 0).collect();
        all.sort_by_key(|(_, c)| std::cmp::Reverse(c.executed));
        all
    }
}
