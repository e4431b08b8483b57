//! Declares variables: types, sizes, addresses and initial values (PTX ISA 5.4), laid out as in `hir`.

mod initial;
mod register;

use super::Checker;
use super::directive::Attributed;
use super::symbol::Sym;
use super::words;
use crate::ast;
use crate::check::errors;
use crate::edit::Help;
use crate::parse::constant::unknown_here;
use crate::span::Span;
use ptx_dsl_isa::constant::{ConstId, Count};
use ptx_dsl_isa::hir::{self, Space, VarId};
use ptx_dsl_isa::ty::{Class, Ty};

/// Larger memory images are refused.
pub(super) const IMAGE_LIMIT: usize = 1 << 26;
/// Bytes of `.const` variables of a module (PTX ISA 5.1.3).
pub(super) const CONST_LIMIT: u64 = 64 * 1024;

/// Size and alignment of one name of a declaration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) ty: Ty,
    pub(super) size: u64,
    pub(super) align: u32,
    pub(super) array: bool,
    pub(super) unsized_: bool,
    /// Elements of a vector, else 1.
    pub(super) lanes: u64,
    /// Size and alignment, if they depend on Rust constants. Then `size` is 0, and `align` the least that there is.
    pub(super) rust: Option<(ConstId, ConstId)>,
}

impl Checker {
    /// Type, size and alignment; reports errors in them.
    pub(super) fn shape(&mut self, decl: &ast::VarDecl, name: &ast::Declarator) -> Option<Shape> {
        let Some(ty) = Ty::from_name(decl.ty.text.trim_start_matches('.')) else {
            self.report(errors::variable(
                decl.ty.span,
                &format!("`{}` is not a type of a variable", decl.ty.text),
                "5.2.1",
                "put a fundamental type here, such as `.b32`",
            ));
            return None;
        };
        let lanes = lanes(decl);
        let element = u64::from(ty.bytes()) * u64::from(lanes.max(1));
        let unsized_ = name.dims.contains(&None);
        let mut count = 1u64;
        for n in dims(name) {
            count = count.saturating_mul(n.known().unwrap_or(0));
        }
        let natural = u32::try_from(element).unwrap_or(1).max(1);
        let align = match decl.align {
            Some((Count::Rust(_), _)) => natural.next_power_of_two(),
            Some((Count::Known(n), span)) => {
                if n == 0 || !n.is_power_of_two() || n > 1 << 20 {
                    self.report(errors::variable(
                        span,
                        "an alignment is a power of two",
                        "5.4.5",
                        Help::write(format!(".align {}", n.min(1 << 20).next_power_of_two())),
                    ));
                    natural
                } else {
                    (n as u32).max(if decl.space.text == ".param" { 1 } else { natural.next_power_of_two() })
                }
            }
            None => natural.next_power_of_two(),
        };
        let (size, array) = (element.saturating_mul(count), !name.dims.is_empty());
        let rust = self.rust_shape(decl, &dims(name), element, align);
        Some(Shape { ty, size, align, array, unsized_, lanes: u64::from(lanes.max(1)), rust })
    }

    /// Declares the names of a declaration; `in_function` is the space of its parameters.
    pub(super) fn declare(&mut self, decl: &ast::VarDecl, params: Option<Space>) {
        let mut has_value = false;
        for name in &decl.names {
            has_value |= name.init.is_some();
        }
        self.linkage(&decl.linkage, false, &decl.space.text, has_value);
        for name in &decl.names {
            self.declare_one(decl, name, params);
        }
    }

    /// Declares one name. Parameters come here too, with their space.
    pub(super) fn declare_one(
        &mut self,
        decl: &ast::VarDecl,
        name: &ast::Declarator,
        params: Option<Space>,
    ) -> Option<Sym> {
        let shape = self.shape(decl, name);
        let Some(shape) = shape else {
            self.define(&name.name.text, name.name.span, Sym::Broken);
            return None;
        };
        if let Some(attribute) = &decl.attribute
            && std::ptr::eq(name, decl.names.first().unwrap_or(name))
        {
            self.attribute(attribute, Attributed::Variable { global: decl.space.text == ".global" });
        }
        self.declarable(decl, name, params, shape.ty);
        let space = match decl.space.text.as_str() {
            ".reg" => return self.declare_register(decl, name, shape.ty),
            ".global" => Space::Global,
            ".const" => Space::Const,
            ".shared" => Space::Shared,
            ".local" => Space::Local,
            ".param" => params.unwrap_or(Space::ParamFunc),
            ".tex" => {
                self.directive_gate(".tex", decl.space.span);
                self.define(&name.name.text, name.name.span, Sym::Broken);
                return None;
            }
            other => {
                let text = format!("variables in `{other}` cannot be declared");
                let help = "remove it: special registers are there without a declaration";
                self.report(errors::variable(decl.space.span, &text, "5.1.2", help));
                self.define(&name.name.text, name.name.span, Sym::Broken);
                return None;
            }
        };
        if shape.ty == Ty::Pred {
            self.report(errors::variable(
                decl.ty.span,
                "predicates live in registers only",
                "5.2.1",
                "declare a `.b8` variable, and store 0 or 1",
            ));
            self.define(&name.name.text, name.name.span, Sym::Broken);
            return None;
        }
        if shape.ty.class() == Class::Opaque {
            self.opaque_variable(decl, shape.ty);
        }
        let external = words::has(&decl.linkage, ".extern");
        if shape.rust.is_some() && !self.rust_variable(decl, name, &shape, (space, external)) {
            self.define(&name.name.text, name.name.span, Sym::Broken);
            return None;
        }
        let dynamic = shape.unsized_ && name.init.is_none();
        let reported = name.dims.iter().skip(1).any(Option::is_none);
        if dynamic && !external && params.is_none() && !reported {
            let text = "an array without a size needs an initialiser or `.extern`";
            self.report(errors::variable(
                name.name.span,
                text,
                "5.4.3",
                Help::write(format!("{}[16]", name.name.text)).then(" or another size"),
            ));
        }
        let resolved =
            if params.is_none() && name.range.is_none() { self.resolves(decl, name, space, &shape) } else { None };
        if let Some(sym) = resolved {
            return Some(sym);
        }
        let (id, offset) = match name.range {
            None => self.new_variable(&name.name.text, name.name.span, space, shape, dynamic),
            Some((Count::Rust(n), span)) => {
                let finding = unknown_here(span, "the number of variables", &self.out.constants, n);
                self.report(finding);
                self.define(&name.name.text, name.name.span, Sym::Broken);
                return None;
            }
            Some((Count::Known(count), _)) => {
                let mut first = None;
                for i in 0..count.min(1 << 16) {
                    let text = format!("{}{i}", name.name.text);
                    let new = self.new_variable(&text, name.name.span, space, shape, dynamic);
                    first = first.or(Some(new));
                    if external {
                        self.externals.push(new.0);
                    }
                }
                first?
            }
        };
        if external && name.range.is_none() {
            self.externals.push(id);
        }
        if space == Space::Const
            && self.ends.constant > CONST_LIMIT
            && self.ends.constant.saturating_sub(shape.size) <= CONST_LIMIT
        {
            let text = format!(
                "the module has {} bytes of `.const` variables, but at most 65536 are allowed",
                self.ends.constant
            );
            self.report(errors::variable(name.name.span, &text, "5.1.3", "declare it `.global`"));
        }
        if shape.size > IMAGE_LIMIT as u64 {
            self.report(errors::large_variable(name.name.span, &name.name.text));
        }
        if let Some(init) = &name.init {
            self.initial(space, &shape, (id, offset), init, name);
        }
        Some(Sym::Var(id))
    }

    /// Lays out a variable.
    fn new_variable(&mut self, name: &str, span: Span, space: Space, shape: Shape, dynamic: bool) -> (VarId, u64) {
        let id = VarId(self.out.vars.len() as u32);
        let offset = self.place(space, &shape);
        self.out.vars.push(hir::Var {
            name: name.to_string(),
            space,
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
            size: u32::try_from(shape.size).unwrap_or(u32::MAX),
            align: shape.align,
            ty: shape.ty,
            array: shape.array,
            dynamic,
            of_module: self.fun.is_none(),
            rust: shape.rust.map(|(size, align)| hir::RustLayout { size, align, offset: size, span }),
        });
        self.define(name, span, Sym::Var(id));
        if matches!(space, Space::Shared | Space::Local | Space::ParamFunc)
            && let Some(fun) = &self.fun
            && let Some(declared) = self.declared.get(&fun.name)
        {
            self.declared_in.push((id, declared.id));
        }
        (id, offset)
    }

    /// A variable of the module may be declared `.extern` any number of times, and defined before or after that.
    fn resolves(&mut self, decl: &ast::VarDecl, name: &ast::Declarator, space: Space, shape: &Shape) -> Option<Sym> {
        if self.fun.is_some() {
            return None;
        }
        let Some(Sym::Var(id)) = self.lookup(&name.name.text) else { return None };
        let old = self.out.vars.get(id.0 as usize)?;
        let size = u32::try_from(shape.size).unwrap_or(u32::MAX);
        let same = old.space == space && old.ty == shape.ty && (old.size == size || old.dynamic || shape.unsized_);
        let external = words::has(&decl.linkage, ".extern");
        if !same || !external && (decl.linkage.is_empty() || self.externals.binary_search(&id).is_err()) {
            return None;
        }
        if !external {
            let offset = self.place(space, shape);
            let var = &mut self.out.vars[id.0 as usize];
            var.offset = u32::try_from(offset).unwrap_or(u32::MAX);
            (var.size, var.align, var.dynamic) = (size, shape.align, false);
            let span = name.name.span;
            var.rust = shape.rust.map(|(size, align)| hir::RustLayout { size, align, offset: size, span });
            if let Ok(at) = self.externals.binary_search(&id) {
                self.externals.remove(at);
            }
            if let Some(init) = &name.init {
                self.initial(space, shape, (id, offset), init, name);
            }
        }
        Some(Sym::Var(id))
    }

    /// Allocates the next address in a space.
    fn place(&mut self, space: Space, shape: &Shape) -> u64 {
        if shape.rust.is_some() {
            return 0;
        }
        let end = match space {
            Space::Const => &mut self.ends.constant,
            Space::Global => &mut self.ends.global,
            // The function lays out its own parameters; shared and local memory are laid out when all kernels are known.
            Space::ParamEntry | Space::Shared | Space::Local | Space::ParamFunc => return 0,
        };
        let offset = end.next_multiple_of(u64::from(shape.align.max(1)));
        *end = offset.saturating_add(shape.size).min(u64::from(u32::MAX));
        offset
    }
}

/// Elements of a vector, 1 of anything else.
fn lanes(decl: &ast::VarDecl) -> u32 {
    match decl.vector {
        Some((lanes, _)) => lanes,
        None => 1,
    }
}

/// The dimensions of an array; an open one has as many elements as there are initial values.
fn dims(name: &ast::Declarator) -> Vec<Count> {
    let open = match &name.init {
        Some(ast::Init::List(list, _)) => list.len() as u64,
        _ => 0,
    };
    let mut dims = Vec::with_capacity(name.dims.len());
    for d in &name.dims {
        dims.push(d.unwrap_or(Count::Known(open)));
    }
    dims
}
