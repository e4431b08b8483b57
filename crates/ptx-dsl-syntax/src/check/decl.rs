//! Checks declarations: types, sizes and placement of variables, registers and parameters (PTX ISA 5.1 to 5.4, 7.2), as ptxas
//! 13.5 does.

use super::Checker;
use super::words;
use crate::ast;
use crate::check::errors;
use crate::edit::Help;
use ptx_dsl_isa::constant::Count;
use ptx_dsl_isa::hir::Space;
use ptx_dsl_isa::isa::{Ptx, sm};
use ptx_dsl_isa::ty::{Class, Ty};

/// Fundamental types and the packed pair of halves; all others are types of instructions only.
const DECLARABLE: &[&str] = &[
    ".b8",
    ".b16",
    ".b32",
    ".b64",
    ".b128",
    ".u8",
    ".u16",
    ".u32",
    ".u64",
    ".s8",
    ".s16",
    ".s32",
    ".s64",
    ".f16",
    ".f16x2",
    ".f32",
    ".f64",
    ".pred",
    ".texref",
    ".samplerref",
    ".surfref",
];

impl Checker {
    /// Reports errors in a name of a declaration, except its alignment. `params`: the space of parameters.
    pub(super) fn declarable(&mut self, decl: &ast::VarDecl, name: &ast::Declarator, params: Option<Space>, ty: Ty) {
        let space = decl.space.text.as_str();
        let written = decl.ty.text.as_str();
        if !DECLARABLE.contains(&written) {
            let text = format!("`{written}` is an instruction type and cannot be used in a declaration");
            let help = Help::write(format!(".b{}", ty.bits().next_power_of_two().max(8)));
            self.report(errors::variable(decl.ty.span, &text, "5.2.2 to 5.2.5", help));
        }
        let needed = match ty {
            Ty::B128 => Some((Ptx(8, 3), sm(70))),
            Ty::F16x2 => Some((Ptx(1, 0), sm(53))),
            _ => None,
        };
        if let Some((since, targets)) = needed
            && decl.names.first().is_none_or(|first| std::ptr::eq(first, name))
            && let Some(d) = self.gate(decl.ty.span, format_args!("`{written}`"), since, targets, "5.2")
        {
            self.report(d);
        }
        if ty == Ty::F16x2 && space == ".param" {
            let text = "a parameter cannot be a `.f16x2`";
            self.report(errors::variable(decl.ty.span, text, "5.2.5", Help::write(".b32")));
        }
        if let Some((_, span)) = decl.vector
            && space == ".param"
        {
            let help = format!("put `.param .align 16 {written} {}[4]` instead", name.name.text);
            self.report(errors::variable(span, "a parameter cannot be a vector", "7.1", help));
        } else if let Some((lanes, span)) = decl.vector {
            if ty == Ty::Pred || ty.class() == Class::Opaque {
                let text = format!("there are no vectors of `{written}`");
                self.report(errors::variable(span, &text, "5.4.2", "remove the vector, and declare several names"));
            } else if u64::from(lanes) * u64::from(ty.bits()) > 128 || lanes > 4 {
                let text = "a vector has two or four elements and 128 bits at most";
                self.report(errors::variable(span, text, "5.4.2", "declare an array, or several names"));
            }
        }
        self.declarable_here(decl, name, params, ty);
        if let Some(ptr) = &decl.ptr {
            self.pointer(ptr, params);
        }
    }

    /// Reports errors in its placement, its dimensions and its value.
    fn declarable_here(&mut self, decl: &ast::VarDecl, name: &ast::Declarator, params: Option<Space>, ty: Ty) {
        let (space, at) = (decl.space.text.as_str(), name.name.span);
        let written = decl.ty.text.as_str();
        let opaque = ty.class() == Class::Opaque;
        if opaque && space != ".reg" {
            let entry = params == Some(Space::ParamEntry);
            if !entry && (space != ".global" || self.fun.is_some()) {
                let text = format!("a `{written}` is a `.global` variable of the module or a parameter of a kernel");
                self.report(errors::variable(decl.space.span, &text, "5.3", "declare it `.global` at module scope"));
            }
        }
        if self.fun.is_none() && params.is_none() && space == ".local" {
            self.old_scope(decl, name);
        }
        if self.fun.is_none() && params.is_none() && space == ".param" {
            let text = "a `.param` variable is declared in a function";
            self.report(errors::variable(decl.space.span, text, "5.1", "move it into the function that needs it"));
        }
        if space == ".reg" && !name.dims.is_empty() {
            let help = Help::write(format!("{}<4>", name.name.text)).then(" for a range of registers");
            self.report(errors::variable(at, "there are no arrays of registers", "5.1.1", help));
        }
        if name.range.is_some() && (!name.dims.is_empty() || name.init.is_some()) {
            let text = "a range of names is not an array, and has no initial values";
            self.report(errors::variable(at, text, "5.4.6", "declare an array instead, or each name alone"));
        }
        let external = words::has(&decl.linkage, ".extern");
        if let [_, others @ ..] = name.dims.as_slice()
            && others.contains(&None)
        {
            let text = "only the first dimension of an array can be left open";
            self.report(errors::variable(at, text, "5.4.3", "write the size of every other dimension"));
        } else if name.dims.contains(&Some(Count::Known(0))) && !(external && name.dims.len() == 1) {
            self.report(errors::variable(at, "an array of no elements", "5.4.3", "write a size of at least 1"));
        }
        match (&name.init, name.dims.is_empty(), decl.vector) {
            (Some(ast::Init::List(..)), true, None) if !opaque => {
                self.report(errors::initialiser(at, "a scalar has one initial value", "remove the braces"));
            }
            (Some(ast::Init::Value(_)), false, _) => {
                self.report(errors::initialiser(
                    at,
                    "an array needs a list of initial values",
                    "write the values in `{ }`",
                ));
            }
            _ => {}
        }
    }

    /// `.ptr .global .align 4`
    fn pointer(&mut self, ptr: &ast::Ptr, params: Option<Space>) {
        if params != Some(Space::ParamEntry) {
            let text = "`.ptr` is an attribute of a kernel's parameter";
            self.report(errors::variable(ptr.span, text, "5.1.6.3", Help::remove()));
        }
        if let Some(s) = &ptr.space
            && !matches!(s.text.as_str(), ".const" | ".global" | ".local" | ".shared")
        {
            let text = format!("a parameter cannot point to `{}`", s.text);
            self.report(errors::variable(s.span, &text, "5.1.6.3", Help::write(".global").then(", or nothing")));
        } else if let Some(s) = &ptr.space
            && matches!(s.text.as_str(), ".shared" | ".local")
            && params == Some(Space::ParamEntry)
        {
            self.report(errors::pointer_to_own_memory(s.span, &s.text));
        }
        if let Some((Count::Rust(id), span)) = ptr.align {
            self.rust_alignment(id, span);
        } else if let Some((Count::Known(n), span)) = ptr.align
            && !n.is_power_of_two()
        {
            let help = Help::write(format!(".align {}", n.min(1 << 20).next_power_of_two()));
            self.report(errors::variable(span, "an alignment is a power of two", "5.4.5", help));
        }
    }

    /// Arrays of unknown size: the last parameter of a `.func` only. `.param` returns one value.
    pub(super) fn open_parameters(&mut self, f: &ast::Function) {
        let mut returned = false;
        for d in &f.rets {
            if is_open(d) {
                let text = "a returned array must have a size";
                self.report(errors::variable(d.span, text, "7.2", "write its size"));
            }
            returned |= d.space.text == ".param";
        }
        for (i, d) in f.params.iter().enumerate() {
            if !is_open(d) {
                continue;
            }
            if f.entry {
                let text = "a parameter of a kernel must have a size";
                self.report(errors::variable(d.span, text, "7.2", "write its size"));
            } else if i + 1 < f.params.len() {
                let text = "a parameter without a size must be the last one";
                self.report(errors::variable(d.span, text, "7.2", "move it to the end"));
            }
        }
        if let [_, second, ..] = f.rets.as_slice()
            && returned
            && !f.entry
        {
            let text = "a function returns one `.param` variable";
            let help = "return one array of bytes that holds all of it";
            self.report(errors::variable(second.span, text, "7.1", help));
        }
    }
}

/// Has one of its names an array of unknown size?
fn is_open(decl: &ast::VarDecl) -> bool {
    decl.names.iter().any(|name| name.dims.contains(&None))
}
