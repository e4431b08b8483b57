//! Checks what a use of a piece gives to its parameters. Errors are at the argument, with the parameter in a note.

use super::Checker;
use super::errors::piece as errors;
use super::symbol::Sym;
use super::value::register_fits;
use crate::ast::{Argument, ArgumentKind, Arguments, Expr, OperandKind, Word};
use crate::diag::{Diagnostic, Wanted};
use crate::parse::{Const, fold};
use ptx_dsl_isa::hir::Space;
use ptx_dsl_isa::isa::sreg::sreg;
use ptx_dsl_isa::ty::{Class, Ty};

/// What is wrong with an argument; `None` for a name whose declaration was reported.
type Wrong = Option<Box<Diagnostic>>;

fn wrong(d: Diagnostic) -> Wrong {
    Some(Box::new(d))
}

/// May a register of type `given` stand wherever one of type `ty` may? An instruction for integers takes `.b32`, not `.f32`.
fn fits(given: Ty, ty: Ty) -> bool {
    let float = matches!(given.class(), Class::Float | Class::Packed);
    register_fits(given, ty, false) && !(float && ty.class() == Class::Bits)
}

impl Checker {
    /// Do all arguments fit? If not, the block is left out.
    pub(super) fn fit_piece(&mut self, arguments: &Arguments) -> bool {
        let mut fit = true;
        for argument in &arguments.given {
            let Err(wrong) = self.fits_piece(argument, &arguments.piece) else { continue };
            fit = false;
            if let Some(d) = wrong {
                let text = format!("the parameter `{}` of `{}` is declared here", argument.name, arguments.piece);
                self.report(d.label(argument.declared, text));
            }
        }
        fit
    }

    fn fits_piece(&mut self, argument: &Argument, piece: &str) -> Result<(), Wrong> {
        match &argument.kind {
            ArgumentKind::Register(ty) => {
                let ty = self.argument_type(ty)?;
                match &argument.given.kind {
                    OperandKind::Expr(Expr::Name(word, _)) => self.given_register(argument, word, ty),
                    _ => Err(wrong(errors::not_a(argument, "a register"))),
                }
            }
            ArgumentKind::Registers(ty) => {
                let ty = self.argument_type(ty)?;
                let OperandKind::Vector(list) = &argument.given.kind else {
                    return Err(wrong(errors::not_a(argument, "a list of registers")));
                };
                let wrong = list.iter().enumerate().find_map(|(n, given)| {
                    let name = format!("{}{n}", argument.name);
                    let element = Argument { name, given: given.clone(), ..argument.clone() };
                    match &given.kind {
                        OperandKind::Expr(Expr::Name(word, _)) => self.given_register(&element, word, ty).err(),
                        _ => Some(wrong(errors::not_a(&element, "a register"))),
                    }
                });
                wrong.map_or(Ok(()), Err)
            }
            ArgumentKind::Value(ty) => {
                let ty = self.argument_type(ty)?;
                match &argument.given.kind {
                    OperandKind::Expr(Expr::Name(word, _)) if word.text != "WARP_SZ" => {
                        self.given_register(argument, word, ty)
                    }
                    OperandKind::Expr(e) if self.is_constant_of(e, ty) => Ok(()),
                    _ => Err(wrong(errors::not_a(
                        argument,
                        &format!("a register or a constant of type `.{}`", ty.name()),
                    ))),
                }
            }
            ArgumentKind::Address(space, ty) => {
                let ty = self.argument_type(ty)?;
                self.given_address(argument, space, ty)
            }
            ArgumentKind::Label => match &argument.given.kind {
                OperandKind::Expr(Expr::Name(word, None)) => match self.lookup(&word.text) {
                    Some(Sym::Label(_)) => Ok(()),
                    Some(Sym::Broken) => Err(None),
                    Some(_) => Err(wrong(errors::not_a(argument, "a label"))),
                    None => Err(wrong(self.undeclared(word.span, Wanted::Label, &word.text))),
                },
                _ => Err(wrong(errors::not_a(argument, "a label"))),
            },
        }
        .map_err(|wrong| wrong.map(|d| Box::new(errors::of(*d, piece))))
    }

    fn argument_type(&mut self, word: &Word) -> Result<Ty, Wrong> {
        Ty::from_name(word.text.trim_start_matches('.')).ok_or_else(|| wrong(errors::no_type(word)))
    }

    fn given_register(&mut self, argument: &Argument, word: &Word, ty: Ty) -> Result<(), Wrong> {
        match self.lookup(&word.text) {
            Some(Sym::Reg(id)) => {
                let given = self.reg_ty(id);
                if fits(given, ty) { Ok(()) } else { Err(wrong(errors::another_type(argument, given, ty))) }
            }
            Some(Sym::Broken) => Err(None),
            Some(other) => Err(wrong(errors::not_a_register(argument, &word.text, other.describe()))),
            None if sreg(&word.text).is_some() => Err(wrong(errors::special_register(argument, &word.text))),
            None => Err(wrong(self.undeclared_of(word.span, Wanted::Register, &word.text, Some(ty)))),
        }
    }

    /// Is it a constant that an instruction of this type takes?
    fn is_constant_of(&self, e: &Expr, ty: Ty) -> bool {
        let float = match fold(e) {
            Some(Const::Int { .. }) => false,
            Some(Const::F32(_) | Const::F64(_)) => true,
            None => match e {
                Expr::Rust(..) => return ty != Ty::Pred,
                Expr::Name(word, None) => return word.text == "WARP_SZ" && ty.class() != Class::Float,
                _ => return false,
            },
        };
        match ty.class() {
            Class::Float => float,
            Class::Bits | Class::Unsigned | Class::Signed => !float,
            Class::Packed | Class::Pred | Class::Opaque => false,
        }
    }

    /// A variable, a register, or one of them with an offset.
    fn given_address(&mut self, argument: &Argument, space: &Word, ty: Ty) -> Result<(), Wrong> {
        let OperandKind::Expr(e) = &argument.given.kind else {
            return Err(wrong(errors::not_a(argument, "the name of a variable, or a register")));
        };
        let mut base = e;
        while let Expr::Binary("+" | "-", left, ..) = base {
            base = left;
        }
        let Expr::Name(word, None) = base else {
            return Err(wrong(errors::not_a(argument, "the name of a variable, or a register")));
        };
        match self.lookup(&word.text) {
            Some(Sym::Var(id)) => {
                let var = &self.out.vars[id.0 as usize];
                let spaces: &[Space] = match space.text.as_str() {
                    ".shared" => &[Space::Shared],
                    ".global" => &[Space::Global],
                    ".const" => &[Space::Const],
                    ".local" => &[Space::Local],
                    _ => &[Space::ParamEntry, Space::ParamFunc],
                };
                if !spaces.contains(&var.space) {
                    return Err(wrong(errors::another_space(argument, &word.text, &space.text)));
                }
                let bytes = var.ty.bytes();
                // dynamic shared memory holds regions of any type
                let regions = var.dynamic && bytes == 1;
                if ty != Ty::B8 && bytes != ty.bytes() && !regions {
                    return Err(wrong(errors::another_size(argument, &word.text, bytes, ty)));
                }
                Ok(())
            }
            Some(Sym::Reg(id)) => {
                let given = self.reg_ty(id);
                if register_fits(given, Ty::U64, false) || register_fits(given, Ty::U32, false) {
                    Ok(())
                } else {
                    Err(wrong(errors::no_address(argument, given)))
                }
            }
            Some(Sym::Broken) => Err(None),
            Some(_) => Err(wrong(errors::not_a(argument, "the name of a variable, or a register"))),
            None => Err(wrong(self.undeclared(word.span, Wanted::RegisterOrVariable, &word.text))),
        }
    }
}
