//! Prints canonical PTX: one statement a line, four spaces a level, `.version`, `.target` and `.address_size` first. The printed
//! text parses to the same module, so printing is a fixpoint of parsing and printing.

mod directive;
mod entry;
mod notes;
pub mod ranges;

pub use entry::Entries;

use directive::directive;
pub(crate) use directive::prototype;
use notes::Open;

use crate::ast::{
    Declarator, Directive, Expr, Function, Init, Instr, Item, Module, Operand, OperandKind, Stmt, VarDecl, Word,
};
use crate::parse::{Const, SUFFIX, fold, precedence};
use crate::span::Span;
use ptx_dsl_isa::constant::Constants;

/// A spelling for the opcode of an instruction with its qualifiers in the manual's order; `None` keeps what was written.
pub type Spelling<'a> = dyn Fn(&Instr) -> Option<String> + 'a;

/// A printed module.
pub struct Printed {
    /// The text.
    pub text: String,
    /// By [`Instr::index`]: the line, from 1.
    pub lines: Vec<u32>,
    /// Where its items are.
    pub items: Items,
}

/// Where the items of a module are in its text.
#[derive(Debug, Clone, Default)]
pub struct Items {
    /// The bytes before the first.
    header: usize,
    /// By item: where its text ends.
    ends: Vec<usize>,
}

/// The module as PTX. `spelling` gives opcodes with their qualifiers in the manual's order; Rust types are left out.
pub fn print(module: &Module, spelling: &Spelling) -> String {
    print_with_lines(module, spelling).text
}

/// Like [`print()`], with the places of instructions and items.
pub fn print_with_lines(module: &Module, spelling: &Spelling) -> Printed {
    let mut p = Printer {
        out: String::new(),
        line: 1,
        level: 0,
        lines: vec![0; module.instrs as usize],
        spelling,
        open: Open::new(&module.notes),
    };
    if let Some(v) = module.version {
        p.comments_before(v.span.first);
        p.line(&format!(".version {}.{}", v.major, v.minor));
    }
    if let Some(first) = module.target.first() {
        p.comments_before(first.span.first);
        let mut text = String::from(".target ");
        separated(&mut text, &module.target, word);
        p.line(&text);
    }
    let (size, place) = module.address_size.unwrap_or((64, Span::default()));
    p.comments_before(place.first);
    p.line(&format!(".address_size {size}"));
    p.files();
    let (header, mut ends) = (p.out.len(), Vec::new());
    let mut gap = module.notes.places.is_none();
    for item in &module.items {
        let function = matches!(item, Item::Function(f) if f.body.is_some());
        let place = match item {
            Item::Var(v) => v.span,
            Item::Directive(d) => d.span,
            Item::Function(f) => f.span,
        };
        while p.comment_behind(place.first) {}
        // a comment belongs to the item after it
        if let Some(end) = ends.last_mut() {
            *end = p.out.len();
        }
        if gap || function {
            p.line("");
        }
        gap = function;
        p.comments_before(place.first);
        match item {
            Item::Var(v) => p.declaration(v, ";"),
            Item::Directive(d) => p.directive(d),
            Item::Function(f) => p.function(f),
        }
        ends.push(p.out.len());
    }
    p.last_comments();
    if let Some(end) = ends.last_mut() {
        *end = p.out.len();
    }
    Printed { text: p.out, lines: p.lines, items: Items { header, ends } }
}

struct Printer<'a> {
    out: String,
    /// The number of the next line.
    line: u32,
    level: usize,
    lines: Vec<u32>,
    spelling: &'a Spelling<'a>,
    open: Open<'a>,
}

impl Printer<'_> {
    /// Writes a line, or several if the text contains line breaks.
    fn line(&mut self, text: &str) {
        for line in text.split('\n') {
            if !line.is_empty() {
                for _ in 0..self.level {
                    self.out.push_str("    ");
                }
                self.out.push_str(line);
            }
            self.out.push('\n');
            self.line += 1;
        }
    }

    /// A declaration and the text after it.
    fn declaration(&mut self, v: &VarDecl, end: &str) {
        let mut text = String::new();
        declaration(&mut text, v);
        text.push_str(end);
        self.line(&text);
    }

    fn directive(&mut self, d: &Directive) {
        let mut text = String::new();
        directive(&mut text, d);
        self.line(&text);
    }

    fn function(&mut self, f: &Function) {
        let mut head = String::new();
        function_head(&mut head, f);
        // A prototype ends with its last line.
        let end = if f.body.is_none() && f.directives.is_empty() { ";" } else { "" };
        if f.params.is_empty() {
            self.line(&format!("{head}(){end}"));
        } else {
            head.push('(');
            self.line(&head);
            self.level += 1;
            for (i, param) in f.params.iter().enumerate() {
                self.comments_before(param.span.first);
                self.declaration(param, if i + 1 < f.params.len() { "," } else { "" });
            }
            if let Some(last) = f.params.last() {
                // the `)`
                self.comments_before(last.span.last + 1);
            }
            self.level -= 1;
            self.line(&format!("){end}"));
        }
        for d in &f.directives {
            self.comments_before(d.span.first);
            self.directive(d);
        }
        match &f.body {
            None if f.directives.is_empty() => {}
            None => self.line(";"),
            Some(body) => {
                self.line("{");
                self.level += 1;
                self.begin_lines();
                self.body(body);
                self.comments_before(f.end.first);
                self.level -= 1;
                self.line("}");
            }
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Var(v) => {
                    self.comments_before(v.span.first);
                    self.declaration(v, ";");
                }
                Stmt::Label(l) => {
                    self.comments_before(l.span.first);
                    // Labels stand out by one level.
                    self.level -= 1;
                    self.line(&format!("{}:", l.text));
                    self.level += 1;
                }
                Stmt::Arguments(_) | Stmt::Form(_) => {}
                Stmt::Directive(d) => {
                    self.comments_before(d.span.first);
                    self.directive(d);
                }
                Stmt::Block(body, span) => {
                    self.comments_before(span.first);
                    self.line("{");
                    self.level += 1;
                    self.body(body);
                    self.comments_before(span.last);
                    self.level -= 1;
                    self.line("}");
                }
                Stmt::Instr(i) => {
                    self.comments_before(i.pred.as_ref().map_or(i.span, |p| p.reg.span).first);
                    self.location(i.span);
                    if let Some(line) = self.lines.get_mut(i.index as usize) {
                        *line = self.line;
                    }
                    let mut text = String::new();
                    instruction(&mut text, i, (self.spelling)(i).as_deref());
                    self.line(&text);
                }
            }
        }
    }
}

/// The part of a function before its parameters.
fn function_head(out: &mut String, f: &Function) {
    words(out, &f.linkage);
    out.push_str(if f.entry { ".entry " } else { ".func " });
    if let Some(a) = &f.attribute {
        out.push_str(&a.text);
        out.push(' ');
    }
    if !f.rets.is_empty() {
        out.push('(');
        separated(out, &f.rets, declaration);
        out.push_str(") ");
    }
    out.push_str(&f.name.text);
    for parameter in &f.generics {
        put(out, format_args!("_{}", Constants::name_mark(*parameter)));
    }
}

/// An instruction as it is written, without its guard.
pub fn statement(instr: &Instr) -> String {
    let mut out = String::new();
    instruction(&mut out, &Instr { pred: None, ..instr.clone() }, None);
    out
}

/// An operand as it is written.
pub fn operand_text(o: &Operand) -> String {
    let mut out = String::new();
    operand(&mut out, o);
    out
}

/// An expression as it is written.
pub fn expression(e: &Expr) -> String {
    let mut out = String::new();
    expr(&mut out, e, 0);
    out
}

/// An instruction with its `;`.
fn instruction(out: &mut String, instr: &Instr, spelling: Option<&str>) {
    if let Some(p) = &instr.pred {
        out.push_str(if p.negated { "@!" } else { "@" });
        out.push_str(&p.reg.text);
        out.push(' ');
    }
    // `.unified` is a part that stands after the address (PTX ISA 9.7.9.8).
    let suffix = instr.parts.iter().find(|p| p.text == SUFFIX);
    match spelling {
        Some(s) => {
            for (i, part) in s.split('.').enumerate() {
                opcode_part(out, i, part);
            }
        }
        None => {
            for (i, part) in instr.parts.iter().enumerate() {
                opcode_part(out, i, &part.text);
            }
        }
    }
    if !instr.operands.is_empty() {
        out.push(' ');
        let carrier = match suffix {
            Some(s) => carrier(&instr.operands, s),
            None => None,
        };
        for (i, o) in instr.operands.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            operand(out, o);
            if carrier == Some(i) {
                out.push('.');
                out.push_str(SUFFIX);
            }
        }
    }
    out.push(';');
}

/// A part of an opcode, unless it is printed elsewhere.
fn opcode_part(out: &mut String, number: usize, part: &str) {
    if part != SUFFIX {
        out.push_str(if number > 0 { "." } else { "" });
        out.push_str(part);
    }
}

/// The address that `.unified` follows: the last before it, or the first of all.
fn carrier(operands: &[Operand], suffix: &Word) -> Option<usize> {
    let (mut first, mut last) = (None, None);
    for (i, o) in operands.iter().enumerate() {
        if matches!(o.kind, OperandKind::Address(_) | OperandKind::Index(..)) {
            first = first.or(Some(i));
            if o.span.last <= suffix.span.first {
                last = Some(i);
            }
        }
    }
    last.or(first)
}

/// A list with commas.
fn separated<T>(out: &mut String, list: &[T], one: fn(&mut String, &T)) {
    for (i, x) in list.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        one(out, x);
    }
}

/// Words with a space after each.
fn words(out: &mut String, list: &[Word]) {
    for w in list {
        out.push_str(&w.text);
        out.push(' ');
    }
}

fn word(out: &mut String, w: &Word) {
    out.push_str(&w.text);
}

/// Writes formatted text.
fn put(out: &mut String, text: std::fmt::Arguments) {
    out.push_str(&std::fmt::format(text));
}

fn operand(out: &mut String, o: &Operand) {
    match &o.kind {
        OperandKind::Expr(e) => expr(out, e, 0),
        OperandKind::Not(w) => {
            out.push('!');
            out.push_str(&w.text);
        }
        OperandKind::Vector(list) => {
            out.push('{');
            separated(out, list, operand);
            out.push('}');
        }
        OperandKind::Sink => out.push('_'),
        OperandKind::Pair(a, b) => {
            operand(out, a);
            out.push('|');
            operand(out, b);
        }
        OperandKind::Index(array, index) => {
            out.push_str(&array.text);
            out.push('[');
            expr(out, index, 0);
            out.push(']');
        }
        OperandKind::Address(list) => {
            out.push('[');
            separated(out, list, address_part);
            out.push(']');
        }
        OperandKind::List(list) => {
            out.push('(');
            separated(out, list, operand);
            out.push(')');
        }
        OperandKind::Neg(o) => {
            out.push('-');
            operand(out, o);
        }
        OperandKind::Select(r, s) => {
            out.push_str(&r.text);
            out.push('.');
            out.push_str(&s.text);
        }
    }
}

/// In an address ptxas accepts `+` only after the name: `[r-4]` is written `[r+-4]`, and a sum as its value.
fn address_part(out: &mut String, o: &Operand) {
    match &o.kind {
        // One literal stays as it was written.
        OperandKind::Expr(Expr::Binary("+", base, offset, _))
            if matches!((&**base, &**offset), (Expr::Name(..), Expr::Int { .. })) =>
        {
            operand(out, o);
        }
        OperandKind::Expr(e @ Expr::Binary("+" | "-", ..)) => match base_and_offset(e) {
            Some((base, offset)) => {
                expr(out, base, UNARY);
                put(out, format_args!("+{offset}"));
            }
            None => operand(out, o),
        },
        _ => operand(out, o),
    }
}

/// The name and the bytes of `name + constant - constant ...`.
fn base_and_offset(e: &Expr) -> Option<(&Expr, i64)> {
    match e {
        Expr::Name(name, None) if name.text != "WARP_SZ" => Some((e, 0)),
        Expr::Binary(op @ ("+" | "-"), a, b, _) => {
            let (base, offset) = base_and_offset(a)?;
            let Some(Const::Int { value, .. }) = fold(b) else { return None };
            let value = value as i64;
            Some((base, if *op == "+" { offset.wrapping_add(value) } else { offset.wrapping_sub(value) }))
        }
        _ => None,
    }
}

/// Binds tighter than every binary operator.
const UNARY: u8 = 11;

/// Writes an expression, in parentheses if it binds more loosely than `around`.
fn expr(out: &mut String, e: &Expr, around: u8) {
    let own = match e {
        Expr::Ternary(..) => 0,
        Expr::Binary(op, ..) => precedence(op),
        Expr::Unary(..) | Expr::Cast(..) => UNARY,
        _ => UNARY + 1,
    };
    // No more of them than needed: each is a level of nesting, of which a text may have only a limited number.
    let parentheses = own < around;
    if parentheses {
        out.push('(');
    }
    match e {
        Expr::Int { text: Some(text), .. } => out.push_str(text),
        Expr::Int { value, unsigned, .. } => {
            put(out, format_args!("{value}"));
            if *unsigned && *value <= i64::MAX as u64 {
                out.push('U');
            }
        }
        Expr::Rust(id, _) => out.push_str(&Constants::mark(*id)),
        Expr::F32 { text: Some(text), .. } | Expr::F64 { text: Some(text), .. } => out.push_str(text),
        Expr::F32 { bits, .. } => out.push_str(&format!("0f{bits:08X}")),
        Expr::F64 { bits, .. } => out.push_str(&format!("0d{bits:016X}")),
        Expr::Name(name, member) => {
            out.push_str(&name.text);
            if let Some(m) = member {
                out.push('.');
                out.push_str(&m.text);
            }
        }
        Expr::Unary(op, inner, _) => {
            out.push(*op);
            // ptxas takes a sign before `0f...` only if there is a parenthesis between them.
            expr(out, inner, if matches!(**inner, Expr::F32 { .. }) { UNARY + 2 } else { UNARY });
        }
        Expr::Cast(ty, inner, _) => {
            put(out, format_args!("({}) ", ty.text));
            expr(out, inner, UNARY);
        }
        Expr::Binary(op, a, b, _) => {
            expr(out, a, own);
            if own == precedence("+") {
                out.push_str(op);
            } else {
                put(out, format_args!(" {op} "));
            }
            expr(out, b, own + 1);
        }
        Expr::Ternary(c, a, b, _) => {
            expr(out, c, 1);
            out.push_str(" ? ");
            expr(out, a, 0);
            out.push_str(" : ");
            expr(out, b, 0);
        }
        Expr::Call(name, args, _) => {
            out.push_str(&name.text);
            out.push('(');
            separated(out, args, argument);
            out.push(')');
        }
    }
    if parentheses {
        out.push(')');
    }
}

/// An argument of a call, or an expression on its own.
fn argument(out: &mut String, e: &Expr) {
    expr(out, e, 0);
}

/// A declaration without its `;`.
fn declaration(out: &mut String, v: &VarDecl) {
    words(out, &v.linkage);
    out.push_str(&v.space.text);
    if let Some(a) = &v.attribute {
        put(out, format_args!(" {}", a.text));
    }
    // ptxas wants the alignment before the type; only that of `.ptr` stands after it.
    if let Some((n, _)) = v.align {
        put(out, format_args!(" .align {n}"));
    }
    if let Some((n, _)) = v.vector {
        put(out, format_args!(" .v{n}"));
    }
    put(out, format_args!(" {}", v.ty.text));
    if let Some(p) = &v.ptr {
        out.push_str(" .ptr");
        if let Some(s) = &p.space {
            put(out, format_args!(" {}", s.text));
        }
        if let Some((n, _)) = p.align {
            put(out, format_args!(" .align {n}"));
        }
    }
    out.push(' ');
    separated(out, &v.names, declarator);
}

fn declarator(out: &mut String, d: &Declarator) {
    out.push_str(&d.name.text);
    if let Some((n, _)) = d.range {
        put(out, format_args!("<{n}>"));
    }
    for dim in &d.dims {
        match dim {
            Some(n) => put(out, format_args!("[{n}]")),
            None => out.push_str("[]"),
        }
    }
    if let Some(init) = &d.init {
        out.push_str(" = ");
        initialiser(out, init);
    }
}

fn initialiser(out: &mut String, init: &Init) {
    match init {
        Init::Value(e) => expr(out, e, 0),
        Init::Field(name, value) => {
            out.push_str(&name.text);
            out.push_str(" = ");
            initialiser(out, value);
        }
        Init::List(list, _) => {
            out.push('{');
            separated(out, list, initialiser);
            out.push('}');
        }
    }
}
