//! Checks single values: registers, special registers, addresses of variables, constants (PTX ISA 4.5, 6, 9.4).

use super::Checker;
use super::address::split;
use super::attempt::Attempt;
use super::rust::rust_sum;
use super::select::takes;
use super::symbol::Sym;
use crate::ast::{self, Expr, OperandKind};
use crate::check::errors;
use crate::diag::{Diagnostic, Wanted};
use crate::edit::Help;
use crate::parse::near::nearest;
use crate::parse::{Const, fold, foreign};
use crate::span::Span;
use ptx_dsl_isa::hir::{Operand, Space, VarId};
use ptx_dsl_isa::isa::sreg::SpecialRegister;
use ptx_dsl_isa::isa::{OperandSpec, Role};
use ptx_dsl_isa::opcode::{Opcode, op};
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::ty::{Class, Ty};

/// Opcodes that take the address of a variable as a value.
fn takes_address(opcode: Opcode, operand: &str) -> bool {
    matches!(opcode, op::mov | op::cvta) || matches!(opcode, op::mapa | op::getctarank) && operand == "a"
}

/// Is `x+4` a value here? ptxas accepts it, `x+0` too, for an integer of any width, although it does not accept `x`. Video
/// instructions have no such sums.
fn takes_sum(at: &Attempt, ty: Option<Ty>, spec: Option<&OperandSpec>) -> bool {
    let integer = matches!(ty, Some(t) if matches!(t.class(), Class::Bits | Class::Unsigned | Class::Signed));
    integer && !matches!(spec, Some(s) if s.imm_only) && !at.entry.section.starts_with("9.7.18")
}

/// May a register of type `reg` be an operand of type `want`? PTX ISA 9.4, as in ptxas.
pub(super) fn register_fits(reg: Ty, want: Ty, wider: bool) -> bool {
    if reg == Ty::Pred || want == Ty::Pred {
        return reg == want;
    }
    let (rb, wb) = (reg.bits(), want.bits());
    if rb != wb && !(wider && rb > wb) {
        return false;
    }
    match want.class() {
        Class::Bits => true,
        Class::Unsigned | Class::Signed => matches!(reg.class(), Class::Bits | Class::Unsigned | Class::Signed),
        Class::Float | Class::Packed => reg.class() == Class::Bits || reg == want,
        Class::Pred | Class::Opaque => reg == want || (rb == 64 && reg.class() != Class::Float),
    }
}

/// Is it a conversion between integers? Others do not take a special register.
fn integers(at: &Attempt) -> bool {
    for word in at.words {
        if let Some(ty) = Ty::from_name(&word.text)
            && !matches!(ty.class(), Class::Unsigned | Class::Signed)
        {
            return false;
        }
    }
    at.form.operands.len() == 2
}

impl Checker {
    /// One value.
    pub(super) fn value(
        &mut self,
        at: &mut Attempt,
        name: &str,
        spec: Option<&'static OperandSpec>,
        ty: Option<Ty>,
        given: &ast::Operand,
    ) -> Operand {
        let role = spec.map_or(Role::Src, |s| s.role);
        match &given.kind {
            OperandKind::Sink => {
                if role != Role::Dst || !spec.is_some_and(|s| s.sink) {
                    at.fail(errors::no_sink(given.span, name), 2);
                }
                Operand::Sink
            }
            OperandKind::Select(reg, selector) => {
                let text = selector.text.trim_start_matches('.');
                if !ptx_dsl_isa::isa::video::selects(at.entry.opcode, name, text) {
                    at.fail(errors::no_selector(selector.span, text, name, at.entry), 1);
                    return Operand::Sink;
                }
                match self.lookup(&reg.text) {
                    Some(Sym::Reg(id)) => {
                        if let Some(want) = ty {
                            self.fits(at, &reg.text, reg.span, id, want, spec);
                        }
                        Operand::Select(id, text.to_string())
                    }
                    Some(Sym::Broken) => {
                        at.broken();
                        Operand::Sink
                    }
                    None => {
                        let d = self.undeclared(reg.span, Wanted::Register, &reg.text);
                        at.fail(d, 1);
                        Operand::Sink
                    }
                    _ => {
                        at.fail(errors::wrong_shape(given.span, name, "a register"), 1);
                        Operand::Sink
                    }
                }
            }
            OperandKind::Neg(inner) => {
                if !ptx_dsl_isa::isa::video::negates(at.entry.opcode) {
                    let help = self.computed_negation(inner);
                    at.fail(errors::bad_operand_expression(given.span, help), 1);
                    return Operand::Sink;
                }
                Operand::Neg(Box::new(self.value(at, name, spec, ty, inner)))
            }
            OperandKind::Expr(Expr::Name(word, member)) if word.text != "WARP_SZ" => {
                self.named(at, name, spec, role, ty, word, member.as_ref(), given.span)
            }
            OperandKind::Expr(e) => {
                if role == Role::Name {
                    at.fail(errors::wrong_shape(given.span, name, "a name"), 3);
                    return Operand::Sink;
                }
                if role == Role::Dst || spec.is_some_and(|s| s.no_imm) {
                    // `mov` of `x+4` is not a constant, and reported as what it is.
                    let help = if role == Role::Dst { None } else { self.constant_in_register(ty, e) };
                    at.fail(errors::needs_register(given.span, name, help), 2);
                    return Operand::Sink;
                }
                if let Expr::Rust(id, _) = e {
                    return self.rust_value(at, name, spec, ty, *id, given.span);
                }
                if let Some((base, constant)) = rust_sum(e)
                    && let Some(Sym::Var(var)) = self.lookup(&base.text)
                {
                    let address = self.variable(at, name, spec, ty, var, Some(0), base);
                    return self.plus_rust(at, address, constant, ty.unwrap_or(Ty::B64), given.span);
                }
                if fold(e).is_none()
                    && let Some((base, offset)) = split(e)
                    && let Some(Sym::Var(id)) = self.lookup(&base.text)
                {
                    return self.variable(at, name, spec, ty, id, Some(offset), base);
                }
                if ty == Some(Ty::Pred)
                    && matches!(at.opcode, op::set | op::setp)
                    && (at.has(q::bf16) || at.has(q::bf16x2))
                {
                    // With the other types ptxas takes a constant.
                    at.fail(errors::needs_register(given.span, name, None), 2);
                    return Operand::Sink;
                }
                let bits = self.constant(at, ty.unwrap_or(Ty::B64), e);
                if let Some((low, high)) = spec.and_then(|s| s.range)
                    && fold(e).is_some_and(|c| matches!(c, Const::Int { .. }))
                    && !(low..=high).contains(&(bits as i64))
                    // -1 is all ones in 32 bits.
                    && !(bits as i64 == -1 && high == i64::from(u32::MAX) && at.opcode != op::tcgen05_commit)
                {
                    at.fail(errors::range(given.span, name, bits as i64, low, high, at.entry.section), 1);
                }
                Operand::Imm(bits)
            }
            _ => {
                at.fail(errors::wrong_shape(given.span, name, "a single value"), 4);
                Operand::Sink
            }
        }
    }

    /// A name as an operand.
    #[allow(clippy::too_many_arguments)]
    fn named(
        &mut self,
        at: &mut Attempt,
        name: &str,
        spec: Option<&'static OperandSpec>,
        role: Role,
        ty: Option<Ty>,
        word: &ast::Word,
        member: Option<&ast::Word>,
        span: Span,
    ) -> Operand {
        if role == Role::Name {
            return self.place_in_code(at, name, &word.text, span);
        }
        match self.lookup(&word.text) {
            Some(Sym::Reg(_)) if spec.is_some_and(|s| s.imm_only) => {
                at.fail(errors::needs_constant(span, name, at.entry.section), 2);
                Operand::Sink
            }
            Some(Sym::Reg(id)) => {
                let lanes = self.reg_lanes(id);
                let element = match member.map(|m| m.text.trim_start_matches('.')) {
                    None => 0,
                    Some("x" | "r") => 0,
                    Some("y" | "g") => 1,
                    Some("z" | "b") => 2,
                    Some(_) => 3,
                };
                if element >= lanes || (member.is_some() && lanes == 1) || (member.is_none() && lanes > 1) {
                    at.fail(errors::arity(span, name, 1, lanes as usize), 1);
                    return Operand::Sink;
                }
                if let Some(want) = ty {
                    self.fits(at, &word.text, span, id, want, spec);
                }
                Operand::Reg(id, element)
            }
            Some(Sym::Var(_)) if role == Role::Dst => {
                at.fail(errors::needs_register(span, name, None), 2);
                Operand::Sink
            }
            Some(Sym::Var(id)) => {
                if let Some(want) = ty.filter(|t| t.class() == Class::Opaque) {
                    return self.handle(at, want, id, word);
                }
                if spec.is_some_and(|s| s.no_imm) {
                    at.fail(errors::needs_register(span, name, None), 2);
                    return Operand::Sink;
                }
                self.variable(at, name, spec, ty, id, None, word)
            }
            Some(Sym::Func(id)) if at.opcode == op::mov && role == Role::Src => Operand::FuncAddr(id),
            Some(Sym::Broken) => {
                at.broken_operand(&word.text, name);
                Operand::Sink
            }
            Some(other) => {
                at.fail(errors::wrong_name(span, &word.text, other.describe(), "a register"), 2);
                Operand::Sink
            }
            None => {
                let full = member.map(|m| format!("{}.{}", word.text, m.text.trim_start_matches('.')));
                self.special_register(at, full.as_deref().unwrap_or(&word.text), role, ty, span)
            }
        }
    }

    /// A label, or the name of a list of labels.
    fn place_in_code(&mut self, at: &mut Attempt, name: &str, text: &str, span: Span) -> Operand {
        let list = name == "tlist";
        let d = match self.lookup(text) {
            Some(Sym::Label(_)) if list => errors::label_for_list(span, text, self.free_list_name()),
            Some(Sym::Label(id)) => return Operand::Label(id),
            Some(Sym::Labels(n)) if list => return Operand::Labels(self.lists.labels[n].clone()),
            Some(Sym::Broken) => {
                at.broken();
                return Operand::Sink;
            }
            Some(Sym::Below) => errors::list_below(span, text),
            Some(other) => {
                let want = if list { "a list of branch targets" } else { "a label" };
                errors::wrong_name(span, text, other.describe(), want)
            }
            None => self.undeclared(span, Wanted::Label, text),
        };
        at.fail(d, 1);
        Operand::Sink
    }

    /// A name that is not declared: a special register, or an error.
    fn special_register(&mut self, at: &mut Attempt, full: &str, role: Role, ty: Option<Ty>, span: Span) -> Operand {
        let Some(row) = ptx_dsl_isa::isa::sreg::sreg(full) else {
            let d = self.undeclared_register(at, full, role, ty, span);
            at.fail(d, 1);
            return Operand::Sink;
        };
        if role == Role::Dst {
            at.fail(errors::read_only(span, full), 2);
        } else if at.opcode != op::mov && !(at.opcode == op::cvt && integers(at)) {
            let x = self.free_name();
            at.fail(errors::special_register(span, full, row.ty, at.entry.opcode, x), 2);
        } else if row.vector {
            at.fail(errors::whole_vector_sreg(span, full), 1);
        } else if let Some(d) = self.gate(span, format_args!("`{full}`"), row.since, row.requires, "10") {
            at.fail(d, 1);
        } else if let Some(want) = ty {
            // Old code reads the lower half of a wider one (PTX ISA 10.1, 10.11).
            let lower = at.opcode == op::cvt || want.bits() == 16 && row.ty == Ty::U32 || row.name == "%gridid";
            if !register_fits(row.ty, want, lower) {
                let helps = self.special_instead(at, full, row.ty, want);
                at.fail(errors::register_type(span, full, row.ty, want, false, helps), 1);
            }
        }
        SpecialRegister::named(full).map_or(Operand::Sink, Operand::Sreg)
    }

    /// A name without a register: it may be a special register, or a constant of C.
    fn undeclared_register(&mut self, at: &Attempt, name: &str, role: Role, ty: Option<Ty>, span: Span) -> Diagnostic {
        let special = foreign::register(name)
            .or_else(|| near_special(name))
            .filter(|s| ptx_dsl_isa::isa::sreg::sreg(s).is_some());
        let d = self.undeclared_of(span, Wanted::Register, name, ty);
        if role != Role::Dst
            && let Some(special) = special
        {
            return errors::undeclared(span, Wanted::Register, name, None).help(match at.opcode {
                op::mov | op::cvt => Help::did_you_mean(special),
                _ => {
                    let x = self.free_name();
                    format!("put `.reg .u32 {x}; mov.u32 {x}, {special};` before it, and write `{x}`").into()
                }
            });
        }
        if role != Role::Dst
            && let Some(constant) = foreign::constant(name)
        {
            return errors::undeclared(span, Wanted::Register, name, None).help(Help::write(constant));
        }
        if !d.helps.is_empty() {
            return d;
        }
        let ty = ty.unwrap_or(Ty::B32);
        errors::with_declaration(d.note("registers are declared with `.reg` (PTX ISA 5.1.1)"), name, ty)
    }

    /// A special register of another width than the instruction's.
    fn special_instead(&mut self, at: &Attempt, name: &str, have: Ty, want: Ty) -> Vec<String> {
        if at.opcode != op::mov {
            return Vec::new();
        }
        let x = self.free_name();
        let (h, bits) = (have.name(), want.bits());
        if !matches!(have.class(), Class::Unsigned | Class::Bits)
            || !matches!(bits, 16 | 32 | 64)
            || want.class() == Class::Float
        {
            return Vec::new();
        }
        // Read as wide as it is, then converted.
        let code = format!(
            ".reg .{h} {x}; mov.{h} {x}, {name}; .reg .b{bits} {x}{bits}; cvt.u{bits}.u{} {x}{bits}, {x};",
            have.bits()
        );
        vec![format!("put `{code}` before it, and write `{x}{bits}`")]
    }

    /// The address of a variable as a value, with an optional offset.
    #[allow(clippy::too_many_arguments)]
    fn variable(
        &mut self,
        at: &mut Attempt,
        name: &str,
        spec: Option<&OperandSpec>,
        ty: Option<Ty>,
        id: VarId,
        offset: Option<i64>,
        word: &ast::Word,
    ) -> Operand {
        if offset.is_some() && takes_sum(at, ty, spec) && !takes_address(at.opcode, name) {
            self.opaque(at, id, word);
            return Operand::VarAddr(id, offset.unwrap_or(0));
        }
        if !takes_address(at.opcode, name) {
            let x = self.free_name();
            let bits = if matches!(ty, Some(t) if t.bits() == 32) { 32 } else { 64 };
            at.fail(errors::variable_operand(word.span, &word.text, at.entry.opcode, bits, x), 2);
            return Operand::Sink;
        }
        if let Some(want) = ty
            && (want.bits() < 16 || matches!(want.class(), Class::Float | Class::Pred))
        {
            let text = format!("the address of `{}`", word.text);
            at.fail(errors::constant_type(word.span, &text, want, None), 1);
        }
        if offset.is_none() && self.is_narrow(at, word) {
            at.fail(errors::narrow_variable(word.span, &word.text), 1);
        }
        self.opaque(at, id, word);
        let want = match at.opcode {
            op::cvta => at.spaces().first().copied(),
            op::mapa | op::getctarank => Some("shared"),
            _ => None,
        };
        let have = self.out.vars[id.0 as usize].space.name();
        if let Some(want) = want
            && want.split("::").next() != Some(have)
        {
            let takes = at.has_word(want) && at.form.slots.iter().any(|slot| takes(slot, have));
            at.fail(errors::space_mismatch(word.span, &word.text, have, want, takes, ""), 1);
        }
        Operand::VarAddr(id, offset.unwrap_or(0))
    }

    /// Does `mov` write 32 bits of the address of a `.global` variable? ptxas takes other widths, and `x+4`.
    pub(super) fn is_narrow(&mut self, at: &Attempt, word: &ast::Word) -> bool {
        let Some(Sym::Var(id)) = self.lookup(&word.text) else { return false };
        let global = self.out.vars[id.0 as usize].space == Space::Global;
        at.opcode == op::mov && global && at.slot_ty(".type").is_some_and(|ty| ty.bits() == 32)
    }

    /// A constant, as bits of the type.
    pub(super) fn constant(&mut self, at: &mut Attempt, want: Ty, expr: &Expr) -> u64 {
        let span = expr.span();
        let Some(c) = fold(expr) else {
            let mut name = None;
            first_name(expr, &mut name);
            let d = match name {
                Some(word) => match self.lookup(&word.text) {
                    None => self.undeclared(word.span, Wanted::Name, &word.text),
                    Some(Sym::Reg(_)) => errors::bad_operand_expression(span, self.computed(expr)),
                    Some(Sym::Var(_)) => {
                        let less = match expr {
                            Expr::Binary("-", a, b, _) if matches!(**a, Expr::Name(..)) => fold(b),
                            _ => None,
                        };
                        let value = match less {
                            Some(Const::Int { value, .. }) => Some(value as i64),
                            _ => None,
                        };
                        errors::offset_form(span, &word.text, value)
                    }
                    Some(_) => errors::not_constant(span),
                },
                None => errors::not_constant(span),
            };
            at.fail(d, 1);
            return 0;
        };
        // ptxas takes no constants for packed values either.
        let float = matches!(want.class(), Class::Float | Class::Packed);
        match c {
            Const::Int { value, .. } if !float => value,
            Const::Int { value, .. } => {
                let bits = is_hexadecimal(expr);
                let help = match want {
                    Ty::F32 if bits && value <= u64::from(u32::MAX) => {
                        Some(Help::write(format!("0f{value:08X}")).then(" for these bits"))
                    }
                    Ty::F64 if bits => Some(Help::write(format!("0d{value:016X}")).then(" for these bits")),
                    Ty::F32 | Ty::F64 => Some(Help::write(format!("{:?}", value as i64 as f64))),
                    _ => None,
                };
                at.fail(errors::constant_type(span, "an integer", want, help), 1);
                0
            }
            Const::F32(bits) => match want {
                Ty::F32 | Ty::B32 => u64::from(bits),
                Ty::F64 => f64::from(f32::from_bits(bits)).to_bits(),
                _ => {
                    let help = as_integer(f32::from_bits(bits).into(), want);
                    at.fail(errors::constant_type(span, "a floating-point number", want, help), 1);
                    0
                }
            },
            Const::F64(v) => match want {
                Ty::F32 => u64::from((v as f32).to_bits()),
                Ty::F64 | Ty::B64 => v.to_bits(),
                _ => {
                    let help = match want {
                        Ty::B32 => Some(Help::write(format!("0f{:08X}", (v as f32).to_bits()))),
                        _ => as_integer(v, want),
                    };
                    at.fail(errors::constant_type(span, "a floating-point number", want, help), 1);
                    0
                }
            },
        }
    }
}

/// Is it a literal such as `0x3f800000`?
fn is_hexadecimal(e: &Expr) -> bool {
    matches!(e, Expr::Int { text: Some(text), .. } if text.starts_with("0x") || text.starts_with("0X"))
}

/// A whole number as an integer.
fn as_integer(v: f64, want: Ty) -> Option<Help> {
    let integer = matches!(want.class(), Class::Unsigned | Class::Signed | Class::Bits);
    (integer && v == v.trunc() && v.abs() < 1e9).then(|| Help::write((v as i64).to_string()))
}

/// The special register whose name is nearest.
fn near_special(name: &str) -> Option<String> {
    if !name.starts_with('%') || name.len() < 4 {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for row in ptx_dsl_isa::isa::sreg::SREGS {
        names.push(row.name);
    }
    Some(nearest(name, &names)?.to_string())
}

/// The first name in an expression.
fn first_name<'e>(expr: &'e Expr, out: &mut Option<&'e ast::Word>) {
    if out.is_some() {
        return;
    }
    match expr {
        Expr::Name(w, _) => *out = Some(w),
        Expr::Unary(_, e, _) | Expr::Cast(_, e, _) => first_name(e, out),
        Expr::Binary(_, a, b, _) => {
            first_name(a, out);
            first_name(b, out);
        }
        Expr::Ternary(a, b, c, _) => {
            first_name(a, out);
            first_name(b, out);
            first_name(c, out);
        }
        Expr::Call(w, _, _) => *out = Some(w),
        _ => {}
    }
}
