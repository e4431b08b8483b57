//! Conditions on an instruction as it is written, for gates and rules of the table.

use crate::qualifier::Qualifier;
use crate::ty::Ty;

/// A condition of a gate or a rule.
#[derive(Debug, Clone, Copy)]
pub enum When {
    /// The qualifier (or type) is written, with its dot.
    Has(Qualifier),
    /// It is not.
    Not(Qualifier),
    /// One of them is written.
    HasAny(&'static [Qualifier]),
    /// The optional operand is given.
    Operand(&'static str),
    /// The destination is written as `_`.
    Sink(&'static str),
    /// The types that are written are these, in this order.
    Types(&'static [Ty]),
}

/// The qualifier is written.
pub const fn has(qualifier: Qualifier) -> When {
    When::Has(qualifier)
}

/// The qualifier is not written.
pub const fn not(qualifier: Qualifier) -> When {
    When::Not(qualifier)
}

/// One of the qualifiers is written.
pub const fn any(qualifiers: &'static [Qualifier]) -> When {
    When::HasAny(qualifiers)
}

/// The operand is given.
pub const fn operand(name: &'static str) -> When {
    When::Operand(name)
}

/// The destination is `_`.
pub const fn sink(name: &'static str) -> When {
    When::Sink(name)
}

/// The types are these, in this order.
pub const fn types(types: &'static [Ty]) -> When {
    When::Types(types)
}
