//! Names of a function with their types, and fresh registers and labels.

use crate::ast::{Declarator, Stmt, VarDecl, Word};
use crate::span::Span;
use ptx_dsl_isa::constant::Count;
use ptx_dsl_isa::isa::sreg::sreg;
use ptx_dsl_isa::ty::Ty;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The types of integer expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    U32,
    S32,
    U64,
    S64,
    Pred,
}

impl Kind {
    /// As in PTX, without a dot.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::U32 => "u32",
            Kind::S32 => "s32",
            Kind::U64 => "u64",
            Kind::S64 => "s64",
            Kind::Pred => "pred",
        }
    }

    /// The type of this name, with or without a dot.
    pub(super) fn named(name: &str) -> Option<Kind> {
        Some(match Ty::from_name(name.trim_start_matches('.'))? {
            Ty::B32 | Ty::U32 => Kind::U32,
            Ty::S32 => Kind::S32,
            Ty::B64 | Ty::U64 => Kind::U64,
            Ty::S64 => Kind::S64,
            Ty::Pred => Kind::Pred,
            _ => return None,
        })
    }

    /// In bits; of a predicate 1.
    pub(super) fn width(self) -> u32 {
        match self {
            Kind::U32 | Kind::S32 => 32,
            Kind::U64 | Kind::S64 => 64,
            Kind::Pred => 1,
        }
    }

    pub(super) fn signed(self) -> bool {
        matches!(self, Kind::S32 | Kind::S64)
    }

    /// The type for instructions that have none with a sign: `b32`.
    pub(super) fn bits(self) -> &'static str {
        match self.width() {
            32 => "b32",
            64 => "b64",
            _ => "pred",
        }
    }

    /// The type of a register that holds such values.
    fn declared(self) -> &'static str {
        if self.signed() { self.name() } else { self.bits() }
    }
}

/// What a name is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Known {
    /// A register, or a special one, with the name of its type.
    Register(Rc<str>),
    /// A special register.
    Special(Kind),
    /// A parameter in memory, with the name of its type, and where it is declared.
    Parameter(Rc<str>, Span),
    /// A variable in shared memory, or in another state space. Its value is its address.
    Variable { shared: bool },
}

/// A declared name.
#[derive(Debug)]
struct Declared {
    name: Rc<str>,
    /// The name continues with a number.
    prefix: bool,
    known: Known,
}

/// The names in scope.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// In the order of their declarations.
    all: Vec<Declared>,
    /// Where each name is declared, the last place last.
    places: FxHashMap<Rc<str>, Vec<usize>>,
}

impl Names {
    pub(super) fn open(&self) -> usize {
        self.all.len()
    }

    pub(super) fn close(&mut self, open: usize) {
        for declared in self.all.drain(open..) {
            if let Some(places) = self.places.get_mut(&declared.name) {
                places.pop();
            }
        }
    }

    fn add(&mut self, name: &str, prefix: bool, known: Known) {
        let name: Rc<str> = name.into();
        self.places.entry(Rc::clone(&name)).or_default().push(self.all.len());
        self.all.push(Declared { name, prefix, known });
    }

    /// The place of the last declaration of this name, with or without a number behind it.
    fn last(&self, name: &str, prefix: bool) -> Option<usize> {
        self.places.get(name)?.iter().rev().copied().find(|at| self.all[*at].prefix == prefix)
    }

    /// Adds what a declaration declares.
    pub(super) fn variable(&mut self, var: &VarDecl) {
        for declarator in &var.names {
            let array = !declarator.dims.is_empty();
            let known = match var.space.text.as_str() {
                ".reg" | ".sreg" if var.vector.is_none() => Known::Register(var.ty.text.as_str().into()),
                ".reg" | ".sreg" => Known::Register(".v".into()),
                ".param" if !array => Known::Parameter(var.ty.text.as_str().into(), declarator.name.span),
                ".param" => Known::Parameter(".b8".into(), declarator.name.span),
                space => Known::Variable { shared: space == ".shared" },
            };
            self.add(&declarator.name.text, declarator.range.is_some(), known);
        }
    }

    /// Adds what a declaration in a body declares, or a result of a function. Its `.param` variables are written there, so their values are
    /// not known where the function begins.
    pub(super) fn local(&mut self, var: &VarDecl) {
        if var.space.text == ".param" {
            for declarator in &var.names {
                self.add(&declarator.name.text, false, Known::Register(".param".into()));
            }
        } else {
            self.variable(var);
        }
    }

    /// What a name is.
    pub(super) fn get(&self, text: &str) -> Option<Known> {
        let mut last = self.last(text, false);
        let mut end = text.len();
        while text[..end].ends_with(|c: char| c.is_ascii_digit()) {
            end -= 1;
            last = last.max(self.last(&text[..end], true));
        }
        match last {
            Some(at) => Some(self.all[at].known.clone()),
            None => {
                let sreg = sreg(text).filter(|sreg| !sreg.vector)?;
                Kind::named(sreg.ty.name()).map(Known::Special)
            }
        }
    }

    /// Is the name declared in the block that was opened there?
    pub(super) fn is_register(&self, text: &str) -> bool {
        matches!(self.get(text), Some(Known::Register(_)))
    }
}

/// `.reg .b32 %x;`
pub(super) fn register(name: Word, kind: Kind, count: Option<u64>, span: Span) -> VarDecl {
    let word = |text: &str| Word { text: text.to_owned(), span };
    let range = count.map(|count| (Count::Known(count), span));
    let declarator = Declarator { name, range, dims: Vec::new(), init: None, rust_type: None, read_only: false };
    VarDecl {
        linkage: Vec::new(),
        space: word(".reg"),
        attribute: None,
        align: None,
        vector: None,
        ty: word(&format!(".{}", kind.declared())),
        ptr: None,
        names: vec![declarator],
        span,
    }
}

/// Names that nobody has written.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    stem: String,
    label: String,
    /// How many registers of each type there are.
    registers: [(Option<Kind>, u64); 5],
    labels: u32,
}

impl Fresh {
    /// Names that the statements and parameters do not declare.
    pub(super) fn new(body: &[Stmt], params: &[VarDecl]) -> Self {
        let mut written: Vec<&str> = Vec::new();
        params.iter().for_each(|var| written.extend(var.names.iter().map(|n| n.name.text.as_str())));
        declared(body, &mut written);
        let free = |begin: &str| {
            let mut stem = begin.to_owned();
            while written.iter().any(|word| word.starts_with(&stem)) {
                stem.push('_');
            }
            stem
        };
        Fresh { stem: free("%e"), label: free("$at"), ..Fresh::default() }
    }

    /// A new register. Signed and unsigned ones are of one family.
    pub(super) fn register(&mut self, kind: Kind, span: Span) -> Word {
        let (at, letter) = match kind {
            Kind::U32 => (0, "r"),
            Kind::S32 => (1, "s"),
            Kind::U64 => (2, "rd"),
            Kind::S64 => (3, "sd"),
            Kind::Pred => (4, "p"),
        };
        let (known, count) = &mut self.registers[at];
        *known = Some(kind);
        *count += 1;
        Word { text: format!("{}{letter}{}", self.stem, *count - 1), span }
    }

    /// A new label that begins like this.
    pub(super) fn label(&mut self, what: &str) -> String {
        self.labels += 1;
        format!("{}_{what}_{}", self.label, self.labels)
    }

    /// The type of a register that was made here.
    pub(super) fn kind_of(&self, text: &str) -> Option<Kind> {
        let rest = text.strip_prefix(self.stem.as_str())?;
        Some(match rest.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "r" => Kind::U32,
            "s" => Kind::S32,
            "rd" => Kind::U64,
            "sd" => Kind::S64,
            "p" => Kind::Pred,
            _ => return None,
        })
    }

    /// The declarations of all new registers.
    pub(super) fn declarations(&self, span: Span) -> Vec<Stmt> {
        let letters = ["r", "s", "rd", "sd", "p"];
        let made = self.registers.iter().zip(letters);
        made.filter_map(|((kind, count), letter)| {
            let name = Word { text: format!("{}{letter}", self.stem), span };
            Some(Stmt::Var(register(name, (*kind)?, Some(*count), span)))
        })
        .collect()
    }
}

/// The names that statements declare, and labels.
fn declared<'s>(body: &'s [Stmt], out: &mut Vec<&'s str>) {
    use crate::ast::Form;
    for stmt in body {
        match stmt {
            Stmt::Var(var) => out.extend(var.names.iter().map(|n| n.name.text.as_str())),
            Stmt::Label(label) => out.push(&label.text),
            Stmt::Block(inner, _) => declared(inner, out),
            Stmt::Form(form) => match form.as_ref() {
                Form::Assign(assign) => out.push(&assign.target.text),
                Form::If { then, otherwise, .. } => {
                    declared(then, out);
                    declared(otherwise, out);
                }
                Form::Loop { first, body, .. } => {
                    declared(first.as_deref().unwrap_or_default(), out);
                    declared(body, out);
                }
                Form::Break(..) | Form::Continue(..) => {}
            },
            Stmt::Instr(_) | Stmt::Directive(_) | Stmt::Arguments(_) => {}
        }
    }
}
