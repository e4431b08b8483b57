//! Scalar operations as Rust: an instruction that is one expression on the registers' own types. All others call the runtime's
//! functions, on 64 bits.

use crate::names::{RT, int};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::affine::scalar_op::{self as scalar, Op, ScalarOp};
use ptx_dsl_analysis::compare::Compare;
use ptx_dsl_image::instr::is_move;
use ptx_dsl_image::kernel::Kernel;
use ptx_dsl_isa::hir::{FuncId, Instr};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::opcode::op;
use quote::{format_ident, quote};

/// The scalar operation of an instruction of `f`, if it is one.
pub fn scalar_op(kernel: &Kernel<'_>, f: FuncId, i: &Instr) -> Option<ScalarOp> {
    scalar::scalar_op(kernel.function_of(f), kernel.function.reqntid, i)
}

/// The cost of an instruction that 32 lanes compute, in simple instructions.
pub fn weight(kernel: &Kernel<'_>, i: &Instr) -> u32 {
    match i.entry.host {
        _ if i.entry.effects.slow => 16,
        Host::Warp if i.opcode != op::cvta => 2,
        Host::Warp => 1,
        _ if is_move(i) || scalar_op(kernel, kernel.entry, i).is_some() => 1,
        _ => 4,
    }
}

/// Does each lane call a function of the runtime for it?
pub fn calls_in_lanes(kernel: &Kernel<'_>, f: FuncId, i: &Instr) -> bool {
    i.entry.host == Host::Lane && scalar_op(kernel, f, i).is_none()
}

/// The method of `PartialEq` or `PartialOrd`.
fn method(compare: Compare) -> Ident {
    let name = match compare {
        Compare::Eq => "eq",
        Compare::Ne => "ne",
        Compare::Lt => "lt",
        Compare::Le => "le",
        Compare::Gt => "gt",
        Compare::Ge => "ge",
    };
    format_ident!("{name}")
}

/// The instruction as a Rust expression. A NaN that it gives may not be canonical.
pub fn expression(op: ScalarOp, s: &[TokenStream]) -> TokenStream {
    let rt = RT;
    let none = quote!(0);
    let source = |n: usize| s.get(n).unwrap_or(&none);
    let (a, b, c) = (source(0), source(1), source(2));
    let (u, i) = (int(op.bits, false), int(op.bits, true));
    let (to, signed_to) = (int(op.to, false), int(op.to, true));
    let wide = if op.signed { quote!(as i32 as i64 as u64) } else { quote!(as u64) };
    match op.op {
        Op::Mov => quote!(#a),
        Op::Add => quote!((#a).wrapping_add(#b)),
        Op::Sub => quote!((#a).wrapping_sub(#b)),
        Op::Mul => quote!((#a).wrapping_mul(#b)),
        Op::Mad => quote!((#a).wrapping_mul(#b).wrapping_add(#c)),
        Op::Wide => quote!(((#a) #wide).wrapping_mul((#b) #wide)),
        Op::MadWide => quote!(((#a) #wide).wrapping_mul((#b) #wide).wrapping_add(#c)),
        Op::And => quote!((#a & #b)),
        Op::Or => quote!((#a | #b)),
        Op::Xor => quote!((#a ^ #b)),
        Op::Not => quote!((!#a)),
        Op::Neg => quote!((#a).wrapping_neg()),
        Op::Shl => quote!({ let s: u32 = #b; if s < #u::BITS { (#a) << s } else { 0 } }),
        Op::Shr if op.signed => quote!(((#a) as #i >> (#b).min(#u::BITS - 1)) as #u),
        Op::Shr => quote!({ let s: u32 = #b; if s < #u::BITS { (#a) >> s } else { 0 } }),
        Op::Min if op.signed => quote!(((#a) as #i).min((#b) as #i) as #u),
        Op::Max if op.signed => quote!(((#a) as #i).max((#b) as #i) as #u),
        Op::Min => quote!((#a).min(#b)),
        Op::Max => quote!((#a).max(#b)),
        Op::Div => quote!(#u::checked_div(#a, #b).unwrap_or(#u::MAX)),
        Op::Rem => quote!(#u::checked_rem(#a, #b).unwrap_or(#u::MAX)),
        Op::Setp(compare) => {
            let compare = method(compare);
            if op.signed { quote!((((#a) as #i).#compare(&((#b) as #i)))) } else { quote!(((#a).#compare(&(#b)))) }
        }
        Op::SetpFloat(compare) => {
            if compare == Compare::Ne {
                // ordered: false for NaN
                quote!({ let (a, b) = (f32::from_bits(#a), f32::from_bits(#b)); a < b || a > b })
            } else {
                let compare = method(compare);
                quote!((f32::from_bits(#a)).#compare(&(f32::from_bits(#b))))
            }
        }
        Op::Selp => quote!(if #c { #a } else { #b }),
        Op::Cvt if op.signed => quote!(((#a) as #i as #signed_to as #to)),
        Op::Cvt => quote!(((#a) as #to)),
        Op::ToFloat if op.signed => quote!(((#a) as i32 as f32).to_bits()),
        Op::ToFloat => quote!(((#a) as f32).to_bits()),
        Op::Fadd => quote!(#rt::lanes::fadd(#a, #b)),
        Op::Fsub => quote!(#rt::lanes::fsub(#a, #b)),
        Op::Fmul => quote!(#rt::lanes::fmul(#a, #b)),
        Op::Mapa => quote!(#rt::semantics::address::mapped_shared(#a, #b, x.rank())),
        Op::Ffma => quote!(#rt::lanes::ffma::<L>(#a, #b, #c)),
    }
}
