//! Checks functions: parameters, labels, bodies. `directive` has their directives.

use crate::edit::Help;
use std::rc::Rc;

use super::directive::{self, Attributed};
use super::names::Scope;
use super::signature::{Formal, Signature, signature};
use super::symbol::Sym;
use super::words::{self, argument_names};
use super::{Checker, Declared};
use crate::ast;
use crate::check::errors;
use crate::diag::{Severity, Wanted};
use crate::span::Span;
use ptx_dsl_isa::constant::Count;
use ptx_dsl_isa::hir::{self, FuncId, LabelId, Param, Space, VarId};
use ptx_dsl_isa::isa::Ptx;

/// A function of which only the part before its parameters is known.
fn empty(f: &ast::Function) -> hir::Function {
    let mut linkage = Vec::new();
    for word in &f.linkage {
        linkage.push(word.text.clone());
    }
    hir::Function {
        name: f.name.text.clone(),
        entry: f.entry,
        defined: f.body.is_some(),
        linkage,
        params: Vec::new(),
        rets: Vec::new(),
        regs: Vec::new(),
        labels: Vec::new(),
        body: Vec::new(),
        local_end: 0,
        reqntid: None,
        maxntid: None,
        reqnctapercluster: None,
        maxclusterrank: None,
        explicitcluster: false,
        shared_size: 0,
        dynamic_shared: false,
        cooperative: false,
        reserved_shared: false,
        maxnreg: None,
        minnctapersm: None,
        rust: hir::RustParts { generics: f.generics.clone(), ..hir::RustParts::default() },
        span: f.name.span,
    }
}

/// Bytes of kernel parameters: PTX ISA 11.2.1.
const PARAMS_LARGE: u32 = 32764;
const PARAMS: u32 = 4352;

impl Checker {
    pub(super) fn function(&mut self, f: &ast::Function) {
        let known = self.declared.get(&f.name.text).copied();
        if let Some(first) = known
            && first.defined
        {
            self.report(errors::redefined(f.name.span, &f.name.text, first.span));
        } else if let Some(first) = known
            && first.external
            && f.body.is_some()
        {
            let text = format!("`{}` is defined here and declared `.extern`", f.name.text);
            let d = errors::linkage(f.name.span, &text, "make it `.visible` there too");
            self.report(d.label(first.span, "it is declared `.extern` here"));
        }
        self.linkage(&f.linkage, true, "", f.body.is_some());
        if let Some(attribute) = &f.attribute {
            let on = if f.entry { Attributed::Entry } else { Attributed::Func };
            self.attribute(attribute, on);
        }
        self.fun = Some(empty(f));
        self.dropped = false;
        self.forget_location();
        let before = self.diags.len();
        // Its registers of the module, and what it declares.
        self.scopes.extend([Scope::default(), Scope::default()]);
        if f.entry
            && let Some(first) = f.rets.first()
        {
            self.report(errors::entry_returns(first.span));
        }
        self.open_parameters(f);
        let rets = self.params(&f.rets, Space::ParamFunc);
        let params = self.params(&f.params, if f.entry { Space::ParamEntry } else { Space::ParamFunc });
        if f.entry {
            self.lay_out_params(&params, f);
        }
        if let Some(fun) = &mut self.fun {
            fun.rets = rets;
            fun.params = params;
        }
        self.directives(f);

        let mut noreturn = false;
        for d in &f.directives {
            noreturn |= d.name.text == ".noreturn";
        }
        let external = words::has(&f.linkage, ".extern");
        // A function is known from its signature on, to itself too.
        let id = match known {
            Some(k) => {
                if let Some(fun) = &self.fun
                    && signature(fun) != signature(&self.out.functions[k.id.0 as usize])
                {
                    self.report(errors::prototype(f.name.span, &f.name.text, k.span));
                }
                let now = Declared {
                    defined: k.defined || f.body.is_some(),
                    noreturn: k.noreturn || noreturn,
                    external: k.external || external,
                    ..k
                };
                self.declared.insert(f.name.text.clone(), now);
                k.id
            }
            None => {
                let id = FuncId(self.out.functions.len() as u32);
                let (span, defined) = (f.name.span, f.body.is_some());
                let new = Declared { id, span, defined, external, noreturn, alias: None };
                self.declared.insert(f.name.text.clone(), new);
                if let Some(fun) = &self.fun {
                    let (rets, params) = (fun.rets.clone(), fun.params.clone());
                    self.out.functions.push(hir::Function { rets, params, ..empty(f) });
                }
                id
            }
        };
        self.define_function(&f.name.text, f.name.span, id);
        if let Some(body) = &f.body {
            self.statements(body);
        }
        self.undeclared_once(before);
        // What a statement that is broken would have done is not known.
        let mut errors = false;
        for d in &self.diags[before..] {
            errors |= d.severity == Severity::Error;
        }
        if !errors && !self.dropped && f.body.is_some() {
            let at = self.whole.partition_point(|f| *f < id);
            self.whole.insert(at, id);
        }
        while self.scopes.len() > 1 {
            self.close_scope();
        }
        if let Some(fun) = self.fun.take() {
            let slot = &mut self.out.functions[id.0 as usize];
            // A prototype after the definition changes nothing.
            if fun.defined || !slot.defined {
                *slot = fun;
            }
        }
    }

    fn params(&mut self, decls: &[ast::VarDecl], space: Space) -> Vec<Param> {
        let mut out = Vec::new();
        for decl in decls {
            for name in &decl.names {
                let Some(shape) = self.shape(decl, name) else {
                    self.define(&name.name.text, name.name.span, Sym::Broken);
                    continue;
                };
                if decl.space.text == ".reg" && space == Space::ParamEntry {
                    let text = "a kernel's parameters are `.param` variables";
                    self.report(errors::variable(decl.space.span, text, "5.1.6.1", Help::write(".param")));
                }
                let sym = self.declare_one(decl, name, Some(space));
                let (mut var, mut reg) = (None, None);
                match sym {
                    Some(Sym::Var(id)) => var = Some(id),
                    Some(Sym::Reg(id)) => reg = Some(id),
                    _ => continue,
                }
                out.push(Param {
                    var,
                    reg,
                    lanes: if reg.is_some() { shape.lanes as u32 } else { 1 },
                    name: name.name.text.clone(),
                    ty: shape.ty,
                    size: u32::try_from(shape.size).unwrap_or(u32::MAX),
                    align: shape.align,
                    array: shape.array,
                    ptr: decl.ptr.as_ref().map(pointer),
                    rust_align: match decl.ptr.as_ref().and_then(|ptr| ptr.align) {
                        Some((Count::Rust(id), _)) => Some(id),
                        _ => None,
                    },
                    rust_type: name.rust_type,
                    read_only: name.read_only,
                    span: name.name.span,
                });
            }
        }
        out
    }

    /// Lays out kernel parameters one after another, each aligned.
    fn lay_out_params(&mut self, params: &[Param], f: &ast::Function) {
        let mut end = 0u64;
        for p in params {
            end = end.next_multiple_of(u64::from(p.align.max(1)));
            if let Some(VarId(v)) = p.var {
                self.out.vars[v as usize].offset = u32::try_from(end).unwrap_or(u32::MAX);
            }
            end += u64::from(p.size);
        }
        let large = self.version >= Ptx(8, 1) && self.target.is_none_or(|t| t.number >= 70);
        let limit = if large { PARAMS_LARGE } else { PARAMS };
        if end > u64::from(limit) {
            let last = params.last().map_or(f.span, |p| p.span);
            self.report(errors::param_bytes(last, end, limit));
        }
    }

    fn block(&mut self, stmts: &[ast::Stmt]) {
        self.scopes.push(Scope::default());
        self.statements(stmts);
        self.close_scope();
    }

    /// In a `{ }`: its labels are visible in all of it, everything else, lists of targets too, from its declaration on.
    fn statements(&mut self, stmts: &[ast::Stmt]) {
        for stmt in stmts {
            if let ast::Stmt::Label(word) = stmt
                && let Some(fun) = &mut self.fun
            {
                let id = LabelId(fun.labels.len() as u32);
                fun.labels.push(hir::Label { name: word.text.clone(), span: word.span });
                self.define(&word.text, word.span, Sym::Label(id));
            }
        }
        for stmt in stmts {
            if let ast::Stmt::Directive(d) = stmt
                && let Some(label) = &d.label
            {
                self.define(&label.text, label.span, Sym::Below);
            }
        }
        let mut used_bytes = None;
        for stmt in stmts {
            match stmt {
                ast::Stmt::Var(decl) => self.declare(decl, None),
                ast::Stmt::Label(word) => {
                    if let Some(Sym::Label(id)) = self.lookup(&word.text) {
                        self.emit(hir::Stmt::Label(id));
                    }
                }
                ast::Stmt::Instr(i) => {
                    self.locate(i);
                    let typed = self.instr(i);
                    self.dropped |= typed.is_none();
                    let used_bytes = used_bytes.take();
                    if !self.before.is_empty() {
                        for mut made in std::mem::take(&mut self.before) {
                            made.pred = typed.as_ref().and_then(|typed| typed.pred.clone());
                            self.emit(hir::Stmt::Instr(Box::new(made)));
                        }
                    }
                    if let Some(mut typed) = typed {
                        typed.used_bytes = used_bytes;
                        if let Some(slot) = self.out.spelling.get_mut(i.index as usize) {
                            *slot = Some(typed.spelling.clone());
                        }
                        self.emit(hir::Stmt::Instr(Box::new(typed)));
                    }
                }
                ast::Stmt::Arguments(arguments) => {
                    if !self.fit_piece(arguments) {
                        self.dropped = true;
                        break;
                    }
                }
                // written as instructions before
                ast::Stmt::Form(_) => {}
                ast::Stmt::Block(inner, _) => {
                    if self.scopes.len() < 200 {
                        self.block(inner);
                    }
                }
                ast::Stmt::Directive(d) => {
                    self.body_directive(d);
                    used_bytes = directive::used_bytes(d).or(used_bytes);
                    if let Some(label) = &d.label {
                        let sym = self.label_directive(d);
                        self.define(&label.text, label.span, sym);
                    }
                }
            }
        }
    }

    fn emit(&mut self, stmt: hir::Stmt) {
        if let Some(fun) = &mut self.fun {
            fun.body.push(stmt);
        }
    }

    /// `L: .branchtargets a, b;`, `.calltargets`, `.callprototype`.
    fn label_directive(&mut self, d: &ast::Directive) -> Sym {
        match d.name.text.as_str() {
            ".branchtargets" => {
                let mut ids = Vec::new();
                for word in argument_names(d) {
                    ids.extend(self.label(word));
                }
                self.lists.labels.push(ids);
                Sym::Labels(self.lists.labels.len() - 1)
            }
            ".calltargets" => {
                let mut ids = Vec::new();
                for word in argument_names(d) {
                    ids.extend(self.callee(word));
                }
                self.lists.functions.push(ids);
                Sym::Funcs(self.lists.functions.len() - 1)
            }
            ".callprototype" => {
                let mut sig = Signature::default();
                if let Some(p) = &d.prototype {
                    sig.rets = self.prototype_params(&p.rets).0;
                    let (params, rest) = self.prototype_params(&p.params);
                    (sig.params, sig.variadic, sig.rest_align) = (params, rest.is_some(), rest.unwrap_or(0));
                }
                self.lists.prototypes.push(Rc::new(sig));
                Sym::Prototype(self.lists.prototypes.len() - 1)
            }
            _ => Sym::Broken,
        }
    }

    /// The parameters, and the alignment of an open array if that is the last one.
    fn prototype_params(&mut self, decls: &[ast::VarDecl]) -> (Vec<Formal>, Option<u32>) {
        let (mut out, mut rest) = (Vec::new(), None);
        for decl in decls {
            for name in &decl.names {
                if let Some(shape) = self.shape(decl, name) {
                    let align = shape.align.max(shape.ty.bytes());
                    rest = shape.unsized_.then_some(align);
                    if !shape.unsized_ {
                        let size = u32::try_from(shape.size).unwrap_or(u32::MAX);
                        let reg = decl.space.text == ".reg";
                        let lanes = if reg { shape.lanes as u32 } else { 1 };
                        out.push(Formal { ty: shape.ty, size, align, array: shape.array, reg, lanes });
                    }
                }
            }
        }
        (out, rest)
    }

    /// A label by its name.
    pub(super) fn label(&mut self, word: &ast::Word) -> Option<LabelId> {
        match self.lookup(&word.text) {
            Some(Sym::Label(id)) => Some(id),
            other => {
                self.not_a(word.span, &word.text, other, Wanted::Label);
                None
            }
        }
    }

    /// A function by its name.
    pub(super) fn callee(&mut self, word: &ast::Word) -> Option<FuncId> {
        match self.lookup(&word.text) {
            Some(Sym::Func(id)) => Some(id),
            other => {
                self.not_a(word.span, &word.text, other, Wanted::Function);
                None
            }
        }
    }

    /// Reports a name that means something else, or nothing.
    pub(super) fn not_a(&mut self, span: Span, name: &str, sym: Option<Sym>, wanted: Wanted) {
        let d = match sym {
            Some(Sym::Broken) => return,
            Some(other) => errors::wrong_name(span, name, other.describe(), &format!("a {}", wanted.text())),
            None => self.undeclared(span, wanted, name),
        };
        self.report(d);
    }
}

/// The state space that a kernel parameter points to, and its alignment.
fn pointer(p: &ast::Ptr) -> (Option<Space>, u32) {
    let space = match &p.space {
        Some(s) => match s.text.as_str() {
            ".global" => Some(Space::Global),
            ".shared" => Some(Space::Shared),
            ".const" => Some(Space::Const),
            ".local" => Some(Space::Local),
            _ => None,
        },
        None => None,
    };
    let align = match p.align {
        Some((Count::Known(align), _)) => u32::try_from(align).unwrap_or(1),
        Some((Count::Rust(_), _)) | None => 1,
    };
    (space, align)
}
