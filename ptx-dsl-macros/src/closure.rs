//! The expression form: `<sm_90, ptx 8.0> |x: &[f32], n: u32| { ... }`. The closure's parameters become kernel parameters.

use crate::expand;
use crate::report;
use crate::report::Problem;
use crate::rust_type::{path_end, rust_type};
use crate::tokens::Source;
use proc_macro::{Delimiter, Group, TokenStream, TokenTree};
use ptx_dsl_emit::RustType;
use ptx_dsl_syntax::ast::{Declarator, Function, Item, Module, Ptr, VarDecl, Word};
use ptx_dsl_syntax::parse::{parse_body, parse_header};
use ptx_dsl_syntax::span::Span;
use ptx_dsl_syntax::token::{Tok, Token};

/// Expands to a block whose value is the kernel.
pub fn closure(source: &Source, bar: usize) -> TokenStream {
    let (header, _, mut diagnostics) = parse_header(&source.tokens);
    let tokens = &source.tokens;
    let Some(close) = closing_bar(tokens, bar + 1) else {
        let (first, last) = source.span(tokens[bar].span());
        let message = "the parameters of the kernel have no closing `|`".to_owned();
        return report::problem(&Problem { code: 150, message, first, last, help: None });
    };
    let mut problems = Vec::new();
    let params = parameters(source, &tokens[bar + 1..close], &mut problems);
    let (body, instrs, more) = parse_body(&tokens[close + 1..]);
    diagnostics.extend(more);
    let start = tokens[bar].span();
    let word = |text: &str| Word { text: text.into(), span: start };
    let function = Function {
        linkage: vec![word(".visible")],
        entry: true,
        attribute: None,
        name: word("kernel"),
        rets: Vec::new(),
        params,
        directives: Vec::new(),
        body: Some(body),
        span: start,
    };
    let mut module = Module::default();
    if let Some(header) = header {
        header.apply(&mut module);
    }
    module.items.push(Item::Function(function));
    module.instrs = instrs;
    let mut compiled = ptx_dsl_syntax::compile_ast(module);
    compiled.diagnostics.splice(0..0, diagnostics);
    let (items, names) = expand::kernels(source, &compiled);
    let mut block: TokenStream = problems.iter().map(report::problem).collect();
    block.extend(items);
    block.extend(names.into_iter().map(TokenTree::Ident));
    TokenTree::Group(Group::new(Delimiter::Brace, block)).into()
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
    for (i, t) in tokens.iter().enumerate().skip(from) {
        if depth == 0 && t.kind == Tok::Punct('|') {
            return Some(i);
        }
        depth += depth_change(&t.kind);
    }
    None
}

fn parameters(source: &Source, tokens: &[Token], problems: &mut Vec<Problem>) -> Vec<VarDecl> {
    let mut depth = 0;
    let parts = tokens.split(|t| {
        let comma = depth == 0 && t.kind == Tok::Punct(',');
        depth += depth_change(&t.kind);
        comma
    });
    let mut out = Vec::new();
    for part in parts.filter(|p| !p.is_empty()) {
        let span = part[0].span().to(part[part.len() - 1].span());
        let mut wrong = |message: &str| {
            let (first, last) = source.span(span);
            let help = Some("write `name: &[f32]`, `name: &mut [u32]` or `name: u32`".into());
            problems.push(Problem { code: 151, message: message.into(), first, last, help });
        };
        let [Token { kind: Tok::Word(name), .. }, Token { kind: Tok::Punct(':'), .. }, rest @ ..] = part else {
            wrong("a parameter of the kernel is a name and a type");
            continue;
        };
        let (Some(a), Some(b)) = (rest.first(), rest.last()) else {
            wrong("a parameter of the kernel is a name and a type");
            continue;
        };
        let ty = a.span().to(b.span());
        match declaration(name, part[0].span(), span, ty, &source.rust(ty)) {
            Some(d) => out.push(d),
            None => wrong(
                "this type cannot be a parameter of the expression form; use the item form with `.param .align N .b8 name[size]`",
            ),
        }
    }
    out
}

fn declaration(name: &str, at: Span, span: Span, ty: Span, rust: &TokenStream) -> Option<VarDecl> {
    let word = |text: &str| Word { text: text.into(), span: at };
    let mut read_only = false;
    let (ptx, ptr) = match rust_type(rust.clone())? {
        RustType::Slice { mutable, element } => {
            read_only = !mutable;
            let align = scalar(&element).map_or(1, |(_, bytes)| bytes);
            (".u64", Some(Ptr { space: Some(word(".global")), align: Some((align, at)), span: at }))
        }
        RustType::Reference { .. } => return None,
        RustType::Value(value) => (scalar(&value)?.0, None),
    };
    let declarator =
        Declarator { name: word(name), range: None, dims: Vec::new(), init: None, rust_type: Some(ty), read_only };
    Some(VarDecl {
        linkage: Vec::new(),
        space: word(".param"),
        attribute: None,
        align: None,
        vector: None,
        ty: word(ptx),
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
