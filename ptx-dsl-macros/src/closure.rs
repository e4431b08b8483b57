//! The expression form: `<sm_90, ptx 8.0> |x: &[f32], n: u32| { ... }`. The closure's parameters become kernel parameters.

use crate::expand;
use crate::report;
use crate::report::Problem;
use crate::rust_type::{path_end, rust_type};
use crate::tokens::Source;
use crate::trees;
use proc_macro::{TokenStream, TokenTree};
use ptx_dsl_emit::RustType;
use ptx_dsl_syntax::ast::{Declarator, Function, Item, Module, Ptr, Stmt, VarDecl, Word};
use ptx_dsl_syntax::parse::{parse_body, parse_header};
use ptx_dsl_syntax::span::Span;
use ptx_dsl_syntax::token::{Tok, Token};

/// Expands to a block whose value is the kernel.
pub fn closure(source: &Source, bar: usize) -> Vec<TokenTree> {
    let (header, _, mut diagnostics) = parse_header(&source.tokens);
    let tokens = source.tokens.as_slice();
    let start = tokens[bar].span();
    let mut block = Vec::new();
    let Some(close) = closing_bar(tokens, bar + 1) else {
        let (first, last) = source.span(start);
        let message = "the parameters of the kernel have no closing `|`".to_owned();
        report::problem(&Problem { code: 150, message, first, last, help: None }, &mut block);
        return block;
    };
    let params = parameters(source, &tokens[bar + 1..close], &mut block);
    let (body, instrs, mut more) = parse_body(&tokens[close + 1..]);
    let mut module = Module::default();
    if let Some(header) = header {
        header.apply(&mut module);
    }
    module.items.push(Item::Function(kernel(start, params, body)));
    module.instrs = instrs;
    let mut compiled = ptx_dsl_syntax::compile_ast(module);
    // In the order in which they were found.
    diagnostics.append(&mut more);
    diagnostics.append(&mut compiled.diagnostics);
    compiled.diagnostics = diagnostics;
    let (mut items, names) = expand::kernels(source, &compiled);
    block.append(&mut items);
    for name in names {
        block.push(TokenTree::Ident(name));
    }
    vec![TokenTree::Group(trees::block(block))]
}

/// The kernel that the expression stands for.
fn kernel(at: Span, params: Vec<VarDecl>, body: Vec<Stmt>) -> Function {
    Function {
        linkage: vec![word(".visible", at)],
        entry: true,
        attribute: None,
        name: word("kernel", at),
        rets: Vec::new(),
        params,
        directives: Vec::new(),
        body: Some(body),
        span: at,
    }
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

/// The parameters; what is wrong with one is put into `out`.
fn parameters(source: &Source, tokens: &[Token], out: &mut Vec<TokenTree>) -> Vec<VarDecl> {
    let mut params = Vec::new();
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

fn parameter(source: &Source, part: &[Token], params: &mut Vec<VarDecl>, out: &mut Vec<TokenTree>) {
    let (Some(first), Some(last)) = (part.first(), part.last()) else { return };
    let span = first.span().to(last.span());
    let [Token { kind: Tok::Word(name), .. }, Token { kind: Tok::Punct(':'), .. }, a, ..] = part else {
        return wrong(source, span, NO_TYPE, out);
    };
    let ty = a.span().to(last.span());
    match declaration(name, first.span(), span, ty, &source.rust(ty)) {
        Some(d) => params.push(d),
        None => wrong(
            source,
            span,
            "this type cannot be a parameter of the expression form; use the item form with `.param .align N .b8 name[size]`",
            out,
        ),
    }
}

const NO_TYPE: &str = "a parameter of the kernel is a name and a type";

fn wrong(source: &Source, span: Span, message: &str, out: &mut Vec<TokenTree>) {
    let (first, last) = source.span(span);
    let help = Some("write `name: &[f32]`, `name: &mut [u32]` or `name: u32`".to_owned());
    report::problem(&Problem { code: 151, message: message.to_owned(), first, last, help }, out);
}

fn declaration(name: &str, at: Span, span: Span, ty: Span, rust: &TokenStream) -> Option<VarDecl> {
    let mut read_only = false;
    let (ptx, ptr) = match rust_type(rust.clone())? {
        RustType::Slice { mutable, element } => {
            read_only = !mutable;
            let align = match scalar(&element) {
                Some((_, bytes)) => bytes,
                None => 1,
            };
            (".u64", Some(Ptr { space: Some(word(".global", at)), align: Some((align, at)), span: at }))
        }
        RustType::Reference { .. } => return None,
        RustType::Value(value) => (scalar(&value)?.0, None),
    };
    let name = word(name, at);
    let declarator = Declarator { name, range: None, dims: Vec::new(), init: None, rust_type: Some(ty), read_only };
    Some(VarDecl {
        linkage: Vec::new(),
        space: word(".param", at),
        attribute: None,
        align: None,
        vector: None,
        ty: word(ptx, at),
        ptr,
        names: vec![declarator],
        span,
    })
}

/// The PTX type of a Rust scalar, and its bytes.
fn scalar(ty: &TokenStream) -> Option<(&'static str, u64)> {
    Some(match path_end(ty)?.as_str() {
        "u8" => (".u8", 1),
        "i8" => (".s8", 1),
        "u16" => (".u16", 2),
        "i16" => (".s16", 2),
        "f16" | "bf16" => (".b16", 2),
        "u32" => (".u32", 4),
        "i32" => (".s32", 4),
        "f32" => (".f32", 4),
        "u64" => (".u64", 8),
        "i64" => (".s64", 8),
        "f64" => (".f64", 8),
        _ => return None,
    })
}
