//! Conditions on final states.

use crate::program::Compare;

/// A condition.
#[derive(Clone, Debug)]
pub enum Condition {
    /// Always true.
    True,
    /// A comparison of two values.
    Compare(Compare, Value, Value),
    /// Both hold.
    And(Box<Condition>, Box<Condition>),
    /// The disjunction of two conditions.
    Or(Box<Condition>, Box<Condition>),
    /// The negation of a condition.
    Not(Box<Condition>),
}

/// A value of a final state.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A constant.
    Constant(i64),
    /// A register of a thread.
    Register(usize, usize),
    /// The last value of a location.
    Location(usize),
}

impl Condition {
    /// Whether it holds, if the known values decide that.
    pub fn holds(&self, known: &impl Fn(Value) -> Option<i64>) -> Option<bool> {
        match self {
            Condition::True => Some(true),
            Condition::Compare(compare, a, b) => Some(compare.of(known(*a)?, known(*b)?)),
            Condition::Not(inner) => inner.holds(known).map(|holds| !holds),
            Condition::And(a, b) => match (a.holds(known), b.holds(known)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (a, b) => a.zip(b).map(|_| true),
            },
            Condition::Or(a, b) => match (a.holds(known), b.holds(known)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (a, b) => a.zip(b).map(|_| false),
            },
        }
    }
}
