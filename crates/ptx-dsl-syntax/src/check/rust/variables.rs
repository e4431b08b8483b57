//! Variables whose sizes or alignments rustc alone knows. They lie after all others of their state space.

use super::super::Checker;
use super::super::vars::{CONST_LIMIT, IMAGE_LIMIT, Shape};
use crate::ast;
use crate::check::errors;
use crate::parse::constant::unknown_here;
use crate::span::Span;
use ptx_dsl_isa::constant::{ConstId, Constants, Count, Kind};
use ptx_dsl_isa::hir::{self, Patch, Space, Var, VarId};
use ptx_dsl_isa::ty::{Class, Ty};

/// The alignment of dynamic shared memory.
const DYNAMIC_ALIGN: u32 = 16;
/// No variable is larger.
const LARGEST: i64 = IMAGE_LIMIT as i64;

impl Checker {
    /// Size and alignment of a variable, if they depend on Rust constants.
    pub(in crate::check) fn rust_shape(
        &mut self,
        decl: &ast::VarDecl,
        dims: &[Count],
        element: u64,
        align: u32,
    ) -> Option<(ConstId, ConstId)> {
        let rust_align = match decl.align {
            Some((Count::Rust(id), _)) => Some(id),
            _ => None,
        };
        if rust_align.is_none() && dims.iter().all(|n| n.known().is_some()) {
            return None;
        }
        let (constants, span) = (&mut self.out.constants, decl.span);
        let mut size = constants.number(element, span);
        for n in dims {
            let n = constants.count(*n, span);
            size = constants.int("*", size, n);
        }
        let natural = constants.number(u64::from(align), span);
        Some((size, rust_align.map_or(natural, |align| constants.int("max", align, natural))))
    }

    /// Checks a variable whose size or alignment depends on Rust constants. `false` if it cannot be.
    pub(in crate::check) fn rust_variable(
        &mut self,
        decl: &ast::VarDecl,
        name: &ast::Declarator,
        shape: &Shape,
        (space, external): (Space, bool),
    ) -> bool {
        let sized = name.dims.iter().any(|n| matches!(n, Some(Count::Rust(_))));
        let unknown = match space {
            Space::ParamEntry | Space::ParamFunc => Some("the size of a parameter"),
            _ if external && (space != Space::Shared || sized) => Some("the size of an `.extern` variable"),
            _ if name.range.is_some() => Some("the size of each variable of a range"),
            _ => None,
        };
        if let (Some(what), Some((size, align))) = (unknown, shape.rust) {
            let id = if sized { size } else { align };
            let finding = unknown_here(name.name.span, what, &self.out.constants, id);
            self.report(finding);
            // the signature of a function is complete
            return matches!(space, Space::ParamEntry | Space::ParamFunc);
        }
        let (constants, span) = (&mut self.out.constants, name.name.span);
        let mut elements = None;
        for n in name.dims.iter().flatten() {
            let n = match *n {
                Count::Rust(id) => {
                    let shown = constants.written(id, 0);
                    let finding = errors::rust_dimension(span, &shown, &Constants::mark(id));
                    constants.require_number(id, ">=", 1, finding.clone());
                    constants.require_number(id, "<=", LARGEST, finding);
                    id
                }
                Count::Known(n) => constants.number(n.min(IMAGE_LIMIT as u64), span),
            };
            let product = elements.map_or(n, |elements| {
                // each product on the way, so that none has more than 64 bits
                let product = constants.int("*", elements, n);
                let finding = errors::rust_size(span, &name.name.text, &Constants::mark(product), "elements");
                constants.require_number(product, "<=", LARGEST, finding);
                product
            });
            elements = Some(product);
        }
        if let Some((size, _)) = shape.rust {
            let finding = errors::rust_size(span, &name.name.text, &Constants::mark(size), "bytes");
            constants.require_number(size, "<=", LARGEST, finding);
        }
        if let Some((Count::Rust(id), whole)) = decl.align {
            self.rust_alignment(id, whole);
        }
        true
    }

    /// `.align TILE`
    pub(in crate::check) fn rust_alignment(&mut self, id: ConstId, whole: Span) {
        let (constants, span) = (&mut self.out.constants, Span::token(whole.last));
        let finding = errors::rust_alignment(span, &constants.written(id, 0), &Constants::mark(id));
        let one = constants.number(1, span);
        let less = constants.int("-", id, one);
        let common = constants.int("&", id, less);
        constants.require_number(common, "==", 0, finding.clone());
        constants.require_number(id, ">=", 1, finding.clone());
        constants.require_number(id, "<=", 1 << 20, finding);
    }

    /// The text of a kernel with const parameters is one for each instance, so that it has no other kernel in it.
    pub(in crate::check) fn alone_with_parameters(&mut self) {
        let entries: Vec<&hir::Function> = self.out.functions.iter().filter(|f| f.entry && f.defined).collect();
        if let [first, .., last] = entries[..]
            && let Some(f) = entries.iter().find(|f| !f.rust.generics.is_empty())
        {
            let other = if f.name == last.name { first } else { last };
            let names: Vec<String> = f.rust.generics.iter().map(|id| self.out.constants.written(*id, 0)).collect();
            self.diags.push(errors::several_kernels(f.span, &f.name, &names, other.span));
        }
    }

    /// The dimensions of an array with initial values. The first may be one that rustc knows, if it is as large as there are values.
    pub(in crate::check) fn rust_dimensions(
        &mut self,
        dims: &[Count],
        init: &ast::Init,
        declarator: &ast::Declarator,
    ) -> Option<Vec<u64>> {
        let (first, rest) = match dims {
            [Count::Rust(id), rest @ ..] => (Some(*id), rest),
            rest => (None, rest),
        };
        let Some(known) = rest.iter().map(|n| n.known()).collect::<Option<Vec<u64>>>() else {
            let what = "an inner dimension of an array with initial values";
            let unknown = rest.iter().find_map(|n| match n {
                Count::Rust(id) => Some(*id),
                Count::Known(_) => None,
            });
            let finding = unknown.map(|id| unknown_here(declarator.name.span, what, &self.out.constants, id));
            finding.into_iter().for_each(|finding| self.report(finding));
            return None;
        };
        let Some(id) = first else { return Some(known) };
        let values = match init {
            ast::Init::List(list, _) => list.len(),
            _ => 0,
        };
        let constants = &mut self.out.constants;
        let shown = constants.written(id, 0);
        let finding = errors::rust_values(declarator.name.span, &shown, &Constants::mark(id), values);
        constants.require_number(id, ">=", i64::try_from(values).unwrap_or(i64::MAX), finding);
        Some([vec![values as u64], known].concat())
    }

    /// An initial value of a variable.
    pub(in crate::check) fn rust_initial(
        &mut self,
        (space, ty): (Space, Ty),
        (var, at): (Option<VarId>, u64),
        value: ConstId,
        span: Span,
    ) {
        let fits = match self.out.constants.kind(value) {
            Kind::Int => ty.class() != Class::Float,
            Kind::F32 => matches!(ty, Ty::F32 | Ty::B32 | Ty::F64 | Ty::B64),
            Kind::F64 => matches!(ty, Ty::F32 | Ty::F64 | Ty::B64),
        };
        if !fits {
            let text = format!("this value cannot initialise a `.{}`", ty.name());
            self.report(errors::initialiser(span, &text, "declare the constant with a type that fits"));
            return;
        }
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let patch = Patch { var, at, width: ty.bytes(), value, single: ty.bytes() == 4 };
        self.patches(space).push(patch);
    }

    /// Initial bytes of a variable whose place rustc knows.
    pub(in crate::check) fn rust_bytes(&mut self, space: Space, var: VarId, bytes: &[u8], span: Span) {
        for (n, bytes) in bytes.chunks(8).enumerate() {
            let mut all = [0; 8];
            all[..bytes.len()].copy_from_slice(bytes);
            let value = self.out.constants.number(u64::from_le_bytes(all), span);
            let (at, width) = (8 * n as u32, bytes.len() as u32);
            self.patches(space).push(Patch { var: Some(var), at, width, value, single: false });
        }
    }

    fn patches(&mut self, space: Space) -> &mut Vec<Patch> {
        if space == Space::Const { &mut self.out.const_patches } else { &mut self.out.global_patches }
    }

    /// Places variables in `.shared` whose sizes depend on Rust constants after all others: those of different kernels do not
    /// overlap. `alone`: what each kernel has besides.
    pub(in crate::check) fn lay_out_rust_shared(&mut self, users: &[Vec<usize>], limit: u64, alone: &[u64]) {
        let span = Span::default();
        let hir::Module { vars, constants, functions, shared_size, .. } = &mut self.out;
        let is_static = |var: &Var| var.space == Space::Shared && !var.dynamic;
        let is_dynamic = |var: &Var| var.space == Space::Shared && var.dynamic;
        if !vars.iter().any(|var| var.space == Space::Shared && var.rust.is_some()) {
            return;
        }
        let known = constants.number(u64::from(*shared_size), span);
        let end = behind(constants, vars.iter_mut().filter(|var| is_static(var)), known);
        // dynamic shared memory begins after them
        let mut align = constants.number(u64::from(DYNAMIC_ALIGN), span);
        for var in vars.iter().filter(|var| is_dynamic(var)) {
            let own = var.rust.map_or_else(|| constants.number(u64::from(var.align), span), |layout| layout.align);
            align = constants.int("max", align, own);
        }
        let (variables_end, end) = (end, constants.int("up", end, align));
        let size = constants.number(0, span);
        for var in vars.iter_mut().filter(|var| is_dynamic(var)) {
            var.rust = Some(hir::RustLayout { size, align, offset: end, span });
        }
        for (f, function) in functions.iter_mut().enumerate().filter(|(_, function)| function.entry) {
            (function.rust.shared_end, function.rust.shared_variables_end) = (Some(end), Some(variables_end));
            let mut own = constants.number(alone[f], function.span);
            for (var, users) in vars.iter().zip(users) {
                if let (true, Some(layout), true) = (is_static(var), var.rust, users.contains(&f)) {
                    let from = constants.int("up", own, layout.align);
                    own = constants.int("+", from, layout.size);
                }
            }
            let finding = errors::rust_shared_size(function.span, &function.name, &Constants::mark(own), limit);
            constants.require_number(own, "<=", limit.cast_signed(), finding);
        }
    }

    /// The same for the other state spaces.
    pub(in crate::check) fn lay_out_rust(&mut self) {
        let generic = self.out.functions.iter().any(|f| !f.rust.generics.is_empty());
        let (local, global, constant) =
            (self.out.functions.iter().map(|f| f.local_end).max(), self.ends.global, self.ends.constant);
        let hir::Module { vars, constants, functions, const_open, global_end, .. } = &mut self.out;
        let of = |space| move |var: &&mut Var| var.space == space && var.rust.is_some();
        if let Some(first) = vars.iter_mut().find(of(Space::Local)) {
            let span = declared(first);
            let begin = constants.number(u64::from(local.unwrap_or(0)), span);
            let end = behind(constants, vars.iter_mut().filter(of(Space::Local)), begin);
            let finding = errors::rust_space(span, "local", &Constants::mark(end));
            constants.require_number(end, "<=", LARGEST, finding);
            functions.iter_mut().filter(|f| f.entry).for_each(|f| f.rust.local_end = Some(end));
        }
        if let Some(first) = vars.iter_mut().find(of(Space::Const)) {
            let span = declared(first);
            let begin = constants.number(constant, span);
            let open = vars.iter_mut().filter(of(Space::Const));
            let own = behind(constants, open, begin);
            let finding = errors::rust_const_size(span, &Constants::mark(own), CONST_LIMIT);
            constants.require_number(own, "<=", CONST_LIMIT.cast_signed(), finding);
            // the engines keep values before them
            let begin = constants.variable(constant, span);
            let end = behind(constants, vars.iter_mut().filter(of(Space::Const)), begin);
            *const_open = Some((begin, end));
        }
        if let Some(first) = vars.iter_mut().find(of(Space::Global)) {
            let span = declared(first);
            if generic {
                let what = "the size of a `.global` variable beside a kernel with const parameters";
                let size = first.rust.map_or(ConstId(0), |layout| layout.size);
                self.diags.push(unknown_here(span, what, constants, size));
                return;
            }
            let begin = constants.number(global, span);
            let end = behind(constants, vars.iter_mut().filter(of(Space::Global)), begin);
            let finding = errors::rust_space(span, "global", &Constants::mark(end));
            constants.require_number(end, "<=", LARGEST, finding);
            *global_end = Some(end);
        }
    }
}

/// Where a variable is declared.
fn declared(var: &Var) -> Span {
    var.rust.map_or(Span::default(), |layout| layout.span)
}

/// Places the variables that rustc sizes one after another. Returns their end.
fn behind<'v>(constants: &mut Constants, vars: impl Iterator<Item = &'v mut Var>, mut end: ConstId) -> ConstId {
    for layout in vars.filter_map(|var| var.rust.as_mut()) {
        layout.offset = constants.int("up", end, layout.align);
        end = constants.int("+", layout.offset, layout.size);
    }
    end
}
