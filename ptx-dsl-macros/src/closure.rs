//! The expression form: `<sm_90, ptx 8.0> |x: &[f32], n: u32| .maxntid 256 { ... }`. The parameters of the closure become kernel
//! parameters; performance directives follow them.

use crate::elements;
use crate::expand;
use crate::expand::Pass;
use crate::hash::Hash;
use crate::report;
use crate::report::Problem;
use crate::rust_type::{path_end, rust_type};
use crate::tokens::Source;
use proc_macro2::TokenStream;
use ptx_dsl_codegen::{RustType, shown};
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::ast::{Declarator, Function, Item, Module, Ptr, VarDecl, Word};
use ptx_dsl_frontend::closure as errors;
use ptx_dsl_frontend::constant::Count;
use ptx_dsl_frontend::diag::{Diagnostic, Subject, Wanted, show_uses};
use ptx_dsl_frontend::hints;
use ptx_dsl_frontend::notes::Notes;
use ptx_dsl_frontend::parse::repeat::Expanded;
use ptx_dsl_frontend::parse::{parse_closure, parse_header};
use ptx_dsl_frontend::span::Span;
use ptx_dsl_frontend::token::{Tok, Token};
use ptx_dsl_frontend::ty::Ty;
use quote::quote;
use syn::{Expr, ExprLit, Lit, Type, TypeArray};

/// Finds the parameters, if these tokens are a closure; the first `used` tokens are the header.
pub fn bar(tokens: &[Token], used: usize) -> Option<usize> {
    let bar = |i: usize| matches!(tokens.get(i), Some(Token { kind: Tok::Punct('|'), .. }));
    if bar(used) {
        return Some(used);
    }
    let moves = matches!(tokens.get(used), Some(Token { kind: Tok::Word(word), .. }) if word == "move");
    (moves && bar(used + 1)).then_some(used + 1)
}

/// Expands to a block whose value is the kernel.
pub fn closure(
    source: &Source,
    bar: usize,
    (expanded, notes): (Option<&Expanded>, Notes),
    pass: (Pass, bool, &TokenStream),
) -> TokenStream {
    let (mut header, used, mut diagnostics) = parse_header(&source.tokens);
    let scope = header.as_mut().map(|header| std::mem::take(&mut header.scope)).unwrap_or_default();
    let tokens = source.tokens.as_slice();
    let start = tokens[bar].span();
    let mut problems = TokenStream::new();
    if used < bar {
        let d = errors::moves(tokens[used].span());
        problems.extend(problem(source, d));
    }
    let Some(close) = closing_bar(tokens, bar + 1) else {
        let d = errors::unclosed(start);
        problems.extend(problem(source, d));
        return problems;
    };
    let Params { right: params, broken } = parameters(source, &tokens[bar + 1..close], &mut problems);
    let name = word(&entry_name(source, start), start);
    let linkage = vec![word(".visible", start)];
    let mut function = Function { linkage, entry: true, name, params, span: start, ..Function::default() };
    function.end = tokens.last().map_or(start, Token::span);
    let (instrs, constants, mut more) = parse_closure(&tokens[close + 1..], scope, &mut function);
    let mut module = Module::default();
    if let Some(header) = header {
        header.apply(&mut module);
    }
    module.items.push(Item::Function(function));
    (module.instrs, module.constants, module.notes) = (instrs, constants, notes);
    let mut compiled = ptx_dsl_frontend::compile_ast(module);
    say_what_is_no_capture(tokens, &broken, &mut compiled);
    // In the order in which they were found.
    diagnostics.append(&mut more);
    diagnostics.append(&mut compiled.diagnostics);
    compiled.diagnostics = diagnostics;
    if pass.0 == Pass::Types && !compiled.failed() {
        elements::check(&mut compiled, &|span| source.rust(span));
    }
    expand::place(source, (expanded, &[]), &mut compiled.diagnostics);
    let written = expanded.map_or(tokens, |expanded| &expanded.written);
    hints::constants(written, true, &mut compiled.diagnostics);
    show_uses(&[], &mut compiled.diagnostics);
    let (items, names) = expand::kernels(source, (&compiled, &[]), pass);
    if pass.0 == Pass::Code {
        return items;
    }
    quote!({ #problems #items #(#names())* })
}

/// A name that no other closure has, so that several texts can be combined into one module: line, column, and a hash of the file
/// name and the tokens.
fn entry_name(source: &Source, at: Span) -> String {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let span = source.span(at).0.unwrap();
    let file = span.file();
    // The same wherever the package lies.
    let file = file.strip_prefix(&variable("CARGO_MANIFEST_DIR")).unwrap_or(&file);
    let mut hash = Hash::default();
    hash.add(&variable("CARGO_PKG_NAME"));
    hash.add(file);
    for token in &source.tokens {
        match &token.kind {
            Tok::Word(text) | Tok::Number(text) | Tok::Str(text) => hash.add(text),
            Tok::Punct(c) => hash.add(c.encode_utf8(&mut [0; 4])),
        }
    }
    let hash = hash.value();
    format!("kernel_{}_{}_{:08x}", span.line(), span.column(), hash as u32 ^ (hash >> 32) as u32)
}

/// Explains undeclared names where a value or an address could be: they may be Rust names outside of the kernel. Drops errors about
/// names of faulty parameters, which were already reported.
fn say_what_is_no_capture(tokens: &[Token], broken: &[String], compiled: &mut Compiled) {
    compiled.diagnostics.retain_mut(|d| {
        let Subject::Undeclared { wanted, declares, .. } = &d.subject else { return true };
        let Some(name) = name_at(tokens, d.span) else { return true };
        for parameter in broken {
            if parameter == name {
                return false;
            }
        }
        let value = match wanted {
            Wanted::RegisterOrVariable => Some(("&[f32]", "ld.param.u64 %rd")),
            Wanted::Register if *declares != Some(Ty::Pred) => Some(("u32", "ld.param.u32 %r")),
            _ => None,
        };
        if let Some((ty, load)) = value {
            d.notes.push("a kernel cannot capture Rust values; it only gets its parameters".to_owned());
            d.helps.push(format!("for a Rust value write a parameter, `{name}: {ty}`, and `{load}, [{name}]`"));
        }
        true
    });
}

/// The name at this place, if it could be a Rust name.
fn name_at(tokens: &[Token], at: Span) -> Option<&str> {
    for token in tokens {
        if token.id == at.first
            && let Tok::Word(name) = &token.kind
        {
            return (!name.starts_with(['%', '$'])).then_some(name);
        }
    }
    None
}

fn word(text: &str, span: Span) -> Word {
    Word { text: text.to_owned(), span }
}

fn depth_change(kind: &Tok) -> i32 {
    match kind {
        Tok::Punct('(' | '[' | '{' | '<') => 1,
        Tok::Punct(')' | ']' | '}' | '>') => -1,
        _ => 0,
    }
}

fn closing_bar(tokens: &[Token], from: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, t) in tokens[from..].iter().enumerate() {
        if depth == 0 && matches!(t.kind, Tok::Punct('|')) {
            return Some(from + i);
        }
        depth += depth_change(&t.kind);
    }
    None
}

/// The parameters, and the names of faulty ones.
#[derive(Default)]
struct Params {
    right: Vec<VarDecl>,
    broken: Vec<String>,
}

/// The parameters; errors in them are added to `out`.
fn parameters(source: &Source, tokens: &[Token], out: &mut TokenStream) -> Params {
    let mut params = Params::default();
    let (mut depth, mut from) = (0, 0);
    for (i, t) in tokens.iter().enumerate() {
        if depth == 0 && matches!(t.kind, Tok::Punct(',')) {
            parameter(source, &tokens[from..i], &mut params, out);
            from = i + 1;
        }
        depth += depth_change(&t.kind);
    }
    parameter(source, &tokens[from..], &mut params, out);
    params
}

fn parameter(source: &Source, part: &[Token], params: &mut Params, out: &mut TokenStream) {
    let (Some(first), Some(last)) = (part.first(), part.last()) else { return };
    let span = first.span().to(last.span());
    let d = match part {
        [Token { kind: Tok::Word(name), .. }, Token { kind: Tok::Punct(':'), .. }, a, ..] => {
            let ty = a.span().to(last.span());
            match declaration(name, first.span(), span, ty, source.rust(ty)) {
                Some(d) => return params.right.push(d),
                None => errors::no_parameter(span, name, &shown(&source.rust(ty))),
            }
        }
        [Token { kind: Tok::Word(name), .. }] => errors::untyped(span, name),
        _ => errors::no_type(span),
    };
    if let Tok::Word(name) = &first.kind {
        params.broken.push(name.clone());
    }
    out.extend(problem(source, d));
}

fn problem(source: &Source, d: Diagnostic) -> TokenStream {
    let (first, last) = source.span(d.span);
    let note = d.notes.iter().map(|note| format!("\n  = note: {note}"));
    let message = std::iter::once(d.message.clone()).chain(note).collect();
    report::problem(&Problem { code: d.code, message, first, last, help: d.helps.into_iter().next() })
}

fn declaration(name: &str, at: Span, span: Span, ty: Span, rust: TokenStream) -> Option<VarDecl> {
    let mut read_only = false;
    let (mut align, mut dims) = (None, Vec::new());
    let (ptx, ptr) = match rust_type(rust)? {
        RustType::Slice { mutable, element } => {
            read_only = !mutable;
            let align = match scalar(&element) {
                Some((_, bytes)) => bytes,
                None => 1,
            };
            (".u64", Some(Ptr { space: Some(word(".global", at)), align: Some((Count::Known(align), at)), span: at }))
        }
        RustType::Reference { .. } => return None,
        RustType::Value(value) => match scalar(&value) {
            Some((ptx, _)) => (ptx, None),
            None => {
                let (bytes, aligned) = array(&value)?;
                (align, dims) = (Some((Count::Known(aligned), at)), vec![Some(Count::Known(bytes))]);
                (".b8", None)
            }
        },
    };
    let name = word(name, at);
    let declarator = Declarator { name, range: None, dims, init: None, rust_type: Some(ty), read_only };
    Some(VarDecl {
        linkage: Vec::new(),
        space: word(".param", at),
        attribute: None,
        align,
        vector: None,
        ty: word(ptx, at),
        ptr,
        names: vec![declarator],
        span,
    })
}

/// The bytes of an array of scalars, and their alignment. The macro must know the length.
fn array(ty: &Type) -> Option<(u64, u64)> {
    match ty {
        Type::Group(group) => array(&group.elem),
        Type::Array(TypeArray { elem, len: Expr::Lit(ExprLit { lit: Lit::Int(n), .. }), .. }) => {
            let (bytes, align) = scalar(elem).map(|(_, bytes)| (bytes, bytes)).or_else(|| array(elem))?;
            let n: u64 = n.base10_parse().ok().filter(|n| *n > 0)?;
            Some((bytes.checked_mul(n)?, align))
        }
        _ => None,
    }
}

/// The PTX type of a Rust scalar, and its bytes.
fn scalar(ty: &Type) -> Option<(&'static str, u64)> {
    Some(match path_end(ty)?.as_str() {
        "u8" | "bool" => (".u8", 1),
        "i8" => (".s8", 1),
        "u16" => (".u16", 2),
        "i16" => (".s16", 2),
        "f16" | "bf16" => (".b16", 2),
        "u32" => (".u32", 4),
        "i32" => (".s32", 4),
        "f32" => (".f32", 4),
        "u64" | "usize" => (".u64", 8),
        "i64" | "isize" => (".s64", 8),
        "f64" => (".f64", 8),
        _ => return None,
    })
}
