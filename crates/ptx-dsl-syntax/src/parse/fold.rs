//! Constant folding (PTX ISA 4.5): 64-bit integers, `f64` for floating point.

use crate::ast::Expr;
pub use ptx_dsl_isa::constant::Const;

/// The value of an expression; `None` if it names anything but `WARP_SZ`, divides by zero, or mixes kinds.
pub fn fold(expr: &Expr) -> Option<Const> {
    Some(match expr {
        Expr::Int { value, unsigned, .. } => Const::Int { value: *value, unsigned: *unsigned },
        Expr::F32 { bits, .. } => Const::F32(*bits),
        Expr::F64 { bits, .. } => Const::F64(f64::from_bits(*bits)),
        Expr::Name(name, None) if name.text == "WARP_SZ" => Const::signed(32),
        Expr::Name(..) | Expr::Call(..) | Expr::Rust(..) => return None,
        Expr::Unary(operator, e, _) => fold(e)?.unary(*operator)?,
        Expr::Cast(ty, e, _) => fold(e)?.cast(ty.text == ".u64")?,
        Expr::Ternary(c, a, b, _) => fold(c)?.choose(fold(a)?, fold(b)?)?,
        Expr::Binary(operator, a, b, _) => fold(a)?.binary(operator, fold(b)?)?,
    })
}
