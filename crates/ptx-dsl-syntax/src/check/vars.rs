//! Declares variables: types, sizes, addresses and initial values (PTX ISA 5.4), laid out as in `hir`.

use super::Checker;
use super::directive::Attributed;
use super::symbol::Sym;
use super::words;
use crate::ast;
use crate::check::errors;
use crate::parse::constant::unknown_here;
use crate::parse::{Const, fold};
use crate::print;
use crate::span::Span;
use ptx_dsl_isa::constant::{ConstId, Count};
use ptx_dsl_isa::hir::{self, GLOBALS, Space, VarId};
use ptx_dsl_isa::isa::Ptx;
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
                &format!("`{}` is no type of a variable", decl.ty.text),
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
                        &format!("write `.align {}`", n.min(1 << 20).next_power_of_two()),
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
        if dynamic && !external && params.is_none() {
            let text = "an array without a size needs an initialiser or `.extern`";
            self.report(errors::variable(
                name.name.span,
                text,
                "5.4.3",
                &format!("write `{}[16]` or another size", name.name.text),
            ));
        }
        let resolved =
            if params.is_none() && name.range.is_none() { self.resolves(decl, name, space, &shape) } else { None };
        if let Some(sym) = resolved {
            return Some(sym);
        }
        let (id, offset) = match name.range {
            None => self.new_variable(&name.name.text, name.name.span, space, shape, dynamic),
            Some((Count::Rust(_), span)) => {
                self.report(unknown_here(span, "the number of variables"));
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
            let text =
                format!("the module has {} bytes of `.const` variables, and 65536 are the most", self.ends.constant);
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

    /// `.reg`: one register, or a range of them.
    fn declare_register(&mut self, decl: &ast::VarDecl, name: &ast::Declarator, ty: Ty) -> Option<Sym> {
        let (text, span) = (name.name.text.as_str(), name.name.span);
        if self.fun.is_none() && !self.old_scope(decl, name) {
            self.define(text, span, Sym::Broken);
            return None;
        }
        if matches!(ty.class(), Class::Opaque) || ty == Ty::B1024 {
            let what = format!("there are no `.{}` registers", ty.name());
            let help = "declare a variable in another state space";
            self.report(errors::variable(decl.ty.span, &what, "5.1.1", help));
            self.define(text, span, Sym::Broken);
            return None;
        }
        if name.init.is_some() {
            let help = match &name.init {
                // One register, one value.
                Some(ast::Init::Value(e))
                    if decl.names.len() == 1 && name.range.is_none() && decl.vector.is_none() && movable(ty) =>
                {
                    let (ty, e) = (ty.name(), print::expression(e));
                    format!("write `.reg .{ty} {text}; mov.{ty} {text}, {e};`")
                }
                _ => "remove the value, and use `mov` for it".to_string(),
            };
            self.report(errors::initialiser(span, "a register has no initial value", &help));
        }
        if let Some((count, _)) = name.range {
            self.define_range(text, count, ty, lanes(decl), span);
            return None;
        }
        let sym = match self.fun {
            Some(_) => Sym::Reg(self.new_reg(text, ty, lanes(decl))),
            None => Sym::ModuleReg(ty, lanes(decl)),
        };
        self.define(text, span, sym);
        Some(sym)
    }

    /// `.reg` and `.local` at module scope: ptxas accepts them before PTX ISA 3.0, and disables its ABI for them. Warns once per
    /// declaration.
    pub(super) fn old_scope(&mut self, decl: &ast::VarDecl, name: &ast::Declarator) -> bool {
        let old = self.version < Ptx(3, 0);
        if decl.names.first().is_some_and(|first| std::ptr::eq(first, name)) {
            self.report(errors::module_scope(decl.space.span, &decl.space.text, old));
        }
        old
    }

    /// A register of the module that several functions, or several calls of one, use is one register in PTX; neither the analyses
    /// nor the host treat it as one.
    pub(super) fn share_registers(&mut self) {
        for (name, function) in &self.module_registers {
            let in_func = |(n, f): &(String, hir::FuncId)| n == name && !self.out.functions[f.0 as usize].entry;
            if self.module_registers.iter().any(in_func) {
                self.out.shared_registers.push((*function, name.clone()));
                if let Ok(at) = self.whole.binary_search(function) {
                    self.whole.remove(at);
                }
            }
        }
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
            rust: shape.rust.map(|(size, align)| hir::RustLayout { size, align, offset: size }),
        });
        self.define(name, span, Sym::Var(id));
        if space == Space::Shared
            && let Some(fun) = &self.fun
            && let Some(declared) = self.declared.get(&fun.name)
        {
            self.shared_of.push((id, declared.id));
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
            var.rust = shape.rust.map(|(size, align)| hir::RustLayout { size, align, offset: size });
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
            Space::Local | Space::ParamFunc => &mut self.ends.local,
            // The function lays out its own parameters, and shared memory is laid out when all kernels are known.
            Space::ParamEntry | Space::Shared => return 0,
        };
        let offset = end.next_multiple_of(u64::from(shape.align.max(1)));
        *end = offset.saturating_add(shape.size).min(u64::from(u32::MAX));
        offset
    }

    fn initial(
        &mut self,
        space: Space,
        shape: &Shape,
        (var, offset): (VarId, u64),
        init: &ast::Init,
        declarator: &ast::Declarator,
    ) {
        let name = &declarator.name;
        if !matches!(space, Space::Global | Space::Const) {
            let text =
                format!("`{}` cannot have an initial value: only `.global` and `.const` variables have one", name.text);
            let help = "remove the value, and store it at the start of the kernel";
            self.report(errors::initialiser(name.span, &text, help));
            return;
        }
        // What `declarable` has reported, or has no bytes.
        let scalar = declarator.dims.is_empty() && shape.lanes == 1;
        if shape.ty.class() == Class::Opaque
            || scalar && matches!(init, ast::Init::List(..))
            || shape.array && matches!(init, ast::Init::Value(_))
        {
            return;
        }
        let width = u64::from(shape.ty.bytes());
        let mut values = Vec::new();
        let Some(known) = self.rust_dimensions(&dims(declarator), init, declarator) else { return };
        if let Err((span, text, help)) = lay_out(init, &known, shape.lanes, 0, &mut values) {
            self.report(errors::initialiser(span.unwrap_or(name.span), &text, &help));
            return;
        }
        let (mut image, mut rust) = (Vec::new(), Vec::new());
        for (at, value) in values {
            if let ast::Expr::Rust(id, span) = value {
                rust.push((at * width, *id, *span));
            }
            let bits = self.initial_value(shape.ty, value).unwrap_or(0).to_le_bytes();
            let start = usize::try_from(at * width).unwrap_or(0);
            if image.len() < start + width as usize {
                image.resize(start + width as usize, 0);
            }
            let bytes = bits.len().min(width as usize);
            image[start..start + bytes].copy_from_slice(&bits[..bytes]);
        }
        let here = |at| if shape.rust.is_some() { (Some(var), at) } else { (None, offset + at) };
        if shape.rust.is_some() {
            self.rust_bytes(space, var, &image, name.span);
            image.clear();
        }
        for (at, id, span) in rust {
            self.rust_initial((space, shape.ty), here(at), id, span);
        }
        let bank = if space == Space::Const { &mut self.out.const_image } else { &mut self.out.global_image };
        let start = usize::try_from(offset).unwrap_or(0);
        if start + image.len() <= IMAGE_LIMIT {
            if bank.len() < start + image.len() {
                bank.resize(start + image.len(), 0);
            }
            bank[start..start + image.len()].copy_from_slice(&image);
        }
    }

    fn initial_value(&mut self, ty: Ty, expr: &ast::Expr) -> Option<u64> {
        let span = expr.span();
        if let ast::Expr::Rust(..) = expr {
            return Some(0);
        }
        if let Some(c) = fold(expr) {
            return match (c, ty) {
                (Const::Int { value, .. }, _) if !matches!(ty.class(), Class::Float) => Some(value),
                (Const::F32(bits), Ty::F32 | Ty::B32) => Some(u64::from(bits)),
                (Const::F32(bits), Ty::F64 | Ty::B64) => Some(f64::from(f32::from_bits(bits)).to_bits()),
                (Const::F64(v), Ty::F64 | Ty::B64) => Some(v.to_bits()),
                (Const::F64(v), Ty::F32) => Some(u64::from((v as f32).to_bits())),
                _ => {
                    let text = format!("this value cannot initialise a `.{}`", ty.name());
                    let help = match c {
                        Const::Int { value, .. } => format!("write `{:?}`", value as i64 as f64),
                        _ if matches!(ty.class(), Class::Float) => {
                            "store its bits into a `.b16` or `.b32` variable".into()
                        }
                        _ => "write an integer".to_string(),
                    };
                    self.report(errors::initialiser(span, &text, &help));
                    None
                }
            };
        }
        if let ast::Expr::Call(mask, args, span) = expr
            && matches!(mask.text.as_bytes(), [b'0'..=b'9', ..])
        {
            return self.masked_address(ty, mask, args, *span);
        }
        match self.initial_address(expr) {
            Some(v) if matches!(ty, Ty::U32 | Ty::U64) => Some(v),
            Some(_) => {
                let text = format!("an address cannot initialise a `.{}`", ty.name());
                let help = if ty.bits() == 32 { "declare the variable `.u32`" } else { "declare the variable `.u64`" };
                self.report(errors::initialiser(span, &text, help));
                None
            }
            None => None,
        }
    }

    /// `x`, `x+4`, `generic(x)`, `generic(x)+4`.
    fn initial_address(&mut self, expr: &ast::Expr) -> Option<u64> {
        match expr {
            ast::Expr::Binary("+", a, b, span) => {
                let base = self.initial_address(a)?;
                match fold(b) {
                    Some(Const::Int { value, .. }) => Some(base.wrapping_add(value)),
                    _ => {
                        let text = "only an integer can be added to an address";
                        self.report(errors::initialiser(*span, text, "put one behind the `+`"));
                        None
                    }
                }
            }
            ast::Expr::Call(word, args, _) if word.text == "generic" => match args.as_slice() {
                [ast::Expr::Name(name, None)] => self.named_address(name, true),
                _ => self.no_address(expr),
            },
            ast::Expr::Name(word, None) => self.named_address(word, false),
            other => self.no_address(other),
        }
    }

    fn no_address<T>(&mut self, expr: &ast::Expr) -> Option<T> {
        let help =
            "put a number or the name of a variable here; `generic` with the name in `( )` gives a generic address";
        self.report(errors::initialiser(expr.span(), "this is no constant and no address", help));
        None
    }

    fn named_address(&mut self, word: &ast::Word, generic: bool) -> Option<u64> {
        match self.lookup(&word.text) {
            Some(Sym::Var(id)) => {
                let var = &self.out.vars[id.0 as usize];
                if var.rust.is_some() {
                    self.report(unknown_here(
                        word.span,
                        &format!("the address of `{}` as an initial value", word.text),
                    ));
                    return None;
                }
                match var.space {
                    Space::Global => Some(GLOBALS + u64::from(var.offset)),
                    Space::Const if generic => Some(hir::CONSTS + u64::from(var.offset)),
                    Space::Const => Some(u64::from(var.offset)),
                    _ => {
                        let text = format!("the address of `{}` is not known before the launch", word.text);
                        self.report(errors::initialiser(word.span, &text, "store it at the start of the kernel"));
                        None
                    }
                }
            }
            Some(Sym::Func(id)) => Some(hir::FUNCTIONS + u64::from(id.0)),
            Some(Sym::Broken) => None,
            Some(other) => {
                self.report(errors::wrong_name(word.span, &word.text, other.describe(), "a variable"));
                None
            }
            None => {
                let d = self.undeclared(word.span, "variable", &word.text);
                self.report(d);
                None
            }
        }
    }

    /// `0xFF00(x)`: a byte of an address (PTX ISA 5.4.4).
    fn masked_address(&mut self, ty: Ty, mask: &ast::Word, args: &[ast::Expr], span: Span) -> Option<u64> {
        let digits = mask.text.strip_prefix("0x").or_else(|| mask.text.strip_prefix("0X"));
        let value = match digits {
            Some(d) => u64::from_str_radix(d.trim_end_matches('U'), 16).ok(),
            None => mask.text.trim_end_matches('U').parse().ok(),
        };
        let shift = value.map_or(64, u64::trailing_zeros);
        if value != 0xFFu64.checked_shl(shift) || shift % 8 != 0 {
            let text = format!("`{}` masks no whole byte of an address", mask.text);
            self.report(errors::initialiser(mask.span, &text, "write `0xFF`, `0xFF00`, `0xFF0000` and so on"));
            return None;
        }
        if !matches!(ty.class(), Class::Unsigned | Class::Bits) {
            let text = format!("a byte of an address does not fit a `.{}`", ty.name());
            self.report(errors::initialiser(span, &text, "declare the variable `.u8`"));
            return None;
        }
        let [arg] = args else { return self.no_address(args.last()?) };
        Some(self.initial_address(arg)? >> shift & 0xFF)
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

/// An error in an initialiser: its place (default: the variable's name), message, and help.
type Misshapen = (Option<Span>, String, String);

/// The values of an initialiser, each with the number of its element: braces follow the dimensions of an array and, innermost,
/// the elements of a vector; missing elements are 0 (PTX ISA 5.4.4).
fn lay_out<'a>(
    init: &'a ast::Init,
    dims: &[u64],
    lanes: u64,
    at: u64,
    out: &mut Vec<(u64, &'a ast::Expr)>,
) -> Result<(), Misshapen> {
    let (room, inner, exact) = match (dims, lanes) {
        ([first, rest @ ..], _) => (*first, rest, false),
        ([], 2..) => (lanes, dims, true),
        _ => (0, dims, false),
    };
    match init {
        ast::Init::Value(e) if room == 0 => out.push((at, e)),
        ast::Init::Value(e) => {
            let what = if exact { format!("a vector of {lanes}") } else { format!("an array of {room}") };
            let help = "write its values in `{ }` of their own".to_string();
            return Err((Some(e.span()), format!("one value stands for {what}"), help));
        }
        ast::Init::Field(word, _) => {
            let text = "only textures, samplers and surfaces have fields".to_string();
            return Err((Some(word.span), text, "write the value alone".to_string()));
        }
        ast::Init::List(list, span) => {
            let have = list.len() as u64;
            if room == 0 {
                let help = "remove the inner braces".to_string();
                return Err((Some(*span), "one value initialises a scalar".to_string(), help));
            }
            if have > room || exact && have != room {
                let what = if exact { "vector" } else { "array" };
                let text = format!("this {what} has {room} elements, and {have} values are given");
                let help = if exact { "give one for each" } else { "give as many as there are, or a larger size" };
                return Err(((exact || at > 0).then_some(*span), text, help.to_string()));
            }
            let mut step = 1;
            for n in inner {
                step *= n;
            }
            step *= if exact { 1 } else { lanes };
            let lanes = if exact { 1 } else { lanes };
            for (i, part) in list.iter().enumerate() {
                lay_out(part, inner, lanes, at + i as u64 * step, out)?;
            }
        }
    }
    Ok(())
}

/// Is there a `mov` of the type?
fn movable(ty: Ty) -> bool {
    let integer = matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed);
    matches!(ty, Ty::F32 | Ty::F64) || integer && matches!(ty.bits(), 16 | 32 | 64)
}
