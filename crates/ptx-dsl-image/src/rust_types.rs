//! Mistakes in the Rust types of parameters that the tokens of the types show. rustc finds others.

mod problem;

pub use problem::{Primitive, shown, what_suits};
use ptx_dsl_analysis::pointees::accesses_of_parameters;
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::{Function, Module, Param, Stmt};
use ptx_dsl_isa::isa::MemoryOp;
use ptx_dsl_isa::span::Span;
use ptx_dsl_isa::ty::Ty;

/// A type, as far as the macros tell types apart.
#[derive(Debug, Clone)]
pub enum RustType<T> {
    /// `&[T]` or `&mut [T]`, with its `T`.
    Slice {
        /// Is it `&mut`?
        mutable: bool,
        /// `T`.
        element: T,
    },
    /// A reference to a type that is no slice.
    Reference {
        /// Is it `&mut`?
        mutable: bool,
        /// The element type of a slice in place of this type: `f32` of `&f32`, `&[f32; 4]` or `&Vec<f32>`.
        element: T,
    },
    /// Anything else.
    Value(T),
}

impl<T> RustType<T> {
    /// Converts the type inside.
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> RustType<U> {
        match self {
            RustType::Slice { mutable, element } => RustType::Slice { mutable, element: to(element) },
            RustType::Reference { mutable, element } => RustType::Reference { mutable, element: to(element) },
            RustType::Value(value) => RustType::Value(to(value)),
        }
    }
}

/// Types that do not suit their parameters, for those who do not compile the kernels. `rust_type` gives a type as [`shown`]; `None` if
/// the tokens are no type.
pub fn wrong_types(module: &Module, rust_type: &dyn Fn(Span) -> Option<RustType<String>>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for p in kernels(module).flat_map(|kernel| &kernel.params) {
        let Some(at) = p.rust_type else { continue };
        let mistake = mistake(p, rust_type(at).as_ref());
        found
            .extend(mistake.map(|(message, help)| Diagnostic::error(code::RUST_TYPE_MISMATCH, at, message).help(help)));
    }
    found
}

/// The mistake in the type of a parameter, and an edit.
pub fn mistake(p: &Param, ty: Option<&RustType<String>>) -> Option<(String, String)> {
    match ty {
        Some(RustType::Reference { mutable: false, element }) if is_tensor_map(p) => problem::map(p, element),
        Some(RustType::Slice { .. }) => (p.size != 8 || p.array).then(|| problem::slice(p)),
        Some(RustType::Reference { mutable, element }) => Some(problem::reference(p, *mutable, element)),
        Some(RustType::Value(ty)) => {
            Primitive::of(ty).filter(|known| !known.suits(p)).map(|known| problem::primitive(p, known))
        }
        None => Some(problem::no_type(p)),
    }
}

/// Can it be a tensor map: 128 bytes, aligned to 64?
pub fn is_tensor_map(p: &Param) -> bool {
    p.array && p.size == 128 && p.align >= 64
}

/// Is it `TensorMap`, by whatever path?
pub fn is_tensor_map_type(ty: &str) -> bool {
    problem::last_name(ty) == "TensorMap"
}

/// The parameter as PTX declares it.
pub fn declared(p: &Param) -> String {
    if p.array { "an array".to_owned() } else { format!("a `.{}`", p.ty.name()) }
}

/// Accesses of another floating-point type than the elements of the slice that Rust passes: `ld.global.f64` through `&mut [f32]`.
/// `element`: the last name of the path of the elements, if the type is a slice.
pub fn other_elements(module: &Module, element: &dyn Fn(Span) -> Option<String>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for kernel in kernels(module) {
        let of = |p: &Param| {
            let name = element(p.rust_type?)?;
            float(Ty::from_name(&name)?).map(|ty| (ty, name))
        };
        let elements: Vec<_> = kernel.params.iter().map(of).collect();
        if may_differ(kernel, &elements) {
            accesses(module, kernel, &elements, &mut found);
        }
    }
    found
}

fn kernels(module: &Module) -> impl Iterator<Item = &Function> {
    module.functions.iter().filter(|f| f.entry && f.defined)
}

/// Is there an access of another floating-point type than some slice has? Only then its address matters.
fn may_differ(kernel: &Function, elements: &[Option<(Ty, String)>]) -> bool {
    let accessed = |stmt: &Stmt| match stmt {
        Stmt::Instr(i) if i.entry.effects.memory != MemoryOp::None => i.types.last().copied().and_then(float),
        _ => None,
    };
    kernel.body.iter().filter_map(accessed).any(|access| elements.iter().flatten().any(|(ty, _)| *ty != access))
}

fn float(ty: Ty) -> Option<Ty> {
    matches!(ty, Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64).then_some(ty)
}

/// Integers may be any bits of the elements, so only floating-point accesses are compared.
fn accesses(module: &Module, kernel: &Function, elements: &[Option<(Ty, String)>], found: &mut Vec<Diagnostic>) {
    accesses_of_parameters(module, kernel, &mut |parameter, i, _| {
        let Some(Some((element, name))) = elements.get(parameter) else { return };
        let Some(access) = i.types.last().copied().and_then(float).filter(|access| access != element) else { return };
        let p = &kernel.params[parameter];
        let message =
            format!("this accesses `.{}` values through `{}`, whose elements are `{name}`", access.name(), p.name);
        let d = Diagnostic::warning(code::OTHER_ELEMENT_TYPE, i.span, message)
            .label(p.span, format!("`{}` is declared here", p.name))
            .help(format!("access `.{}` values, or declare a slice of `{}`", element.name(), access.name()));
        if !found.contains(&d) {
            found.push(d);
        }
    });
}
