//! The operands of the instruction at a cursor.

use crate::Document;
use crate::statement::Statement;
use crate::table::operand;
use ptx_dsl_frontend::isa::syntax::{OpForm, Shape};

/// An instruction with its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signature {
    /// The form, as the manual writes it.
    pub label: String,
    /// The operands: the name, and what is known of it.
    pub operands: Vec<(String, String)>,
    /// The number of the operand at the cursor, from 0.
    pub active: usize,
}

/// The signatures of the instruction at a byte that fit what is written of it.
pub fn signature(document: &Document, byte: usize) -> Vec<Signature> {
    let statement = Statement::before(document, byte);
    if !statement.has_operands(document, byte) {
        return Vec::new();
    }
    let active = statement.operand();
    let of = |(instr, form): (&'static ptx_dsl_frontend::isa::Instr, ptx_dsl_frontend::isa::syntax::Form)| {
        let known = |name: &str| instr.operand(name).map_or(String::new(), |spec| operand(spec).trim().to_owned());
        let operands = form
            .operands
            .iter()
            .map(|o| (written(o), names(o).iter().map(|n| known(n)).collect::<Vec<_>>().join("\n")));
        let operands: Vec<(String, String)> = operands.collect();
        let list: Vec<&str> = operands.iter().map(|(name, _)| name.as_str()).collect();
        Signature { label: format!("{} {}", statement.pieces.join("."), list.join(", ")), operands, active }
    };
    let mut found: Vec<Signature> =
        statement.forms().into_iter().map(of).filter(|s| active < s.operands.len().max(1)).collect();
    found.dedup();
    found
}

/// The names in an operand.
pub(crate) fn names(o: &OpForm) -> Vec<&'static str> {
    match &o.shape {
        Shape::Addr(inner) | Shape::Vector(inner) => inner.iter().flat_map(names).collect(),
        Shape::Pair(second, _) => vec![o.name, second],
        _ => vec![o.name],
    }
}

/// The operand as a form writes it.
fn written(o: &OpForm) -> String {
    let list = |inner: &[OpForm]| inner.iter().map(written).collect::<Vec<_>>().join(", ");
    match &o.shape {
        Shape::Value => o.name.to_owned(),
        Shape::Sink => "_".to_owned(),
        Shape::Addr(inner) => format!("[{}]", list(inner)),
        Shape::Vector(inner) => format!("{{{}}}", list(inner)),
        Shape::Pair(second, true) => format!("{}[|{second}]", o.name),
        Shape::Pair(second, false) => format!("{}|{second}", o.name),
        Shape::List => "(...)".to_owned(),
        Shape::Number(n) => n.to_string(),
    }
}
