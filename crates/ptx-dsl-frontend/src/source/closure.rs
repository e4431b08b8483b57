//! The expression form as a module: `|x: &[f32], n: u32| { ... }` becomes an `.entry` with these parameters.

mod errors;

use crate::diag::Diagnostic;
use crate::parse::parse_header;
use crate::token::{Tok, Token};

/// Where the bar of the parameters is, if the tokens are in expression form: after the header, and `use` of parts.
pub fn bar(tokens: &[Token]) -> Option<usize> {
    let mut at = parse_header(tokens).1;
    while is_word(tokens.get(at), "use") {
        at += 1 + tokens[at..].iter().position(|token| token.kind == Tok::Punct(';'))?;
    }
    if is_word(tokens.get(at), "move") {
        at += 1;
    }
    (tokens.get(at)?.kind == Tok::Punct('|')).then_some(at)
}

/// The kernel as an item of this name, and errors in its parameters. Its tokens have the numbers of those that they come from.
///
/// # Errors
/// It is not a kernel.
pub fn as_module(tokens: &[Token], name: &str) -> Result<(Vec<Token>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let Some(bar) = bar(tokens) else { return Err(Vec::new()) };
    let wrong = parse_header(tokens).2;
    if wrong.iter().any(|d| d.span.last + 1 >= tokens[bar].id) {
        // the header does not end before the kernel
        return Err(wrong);
    }
    let (mut found, mut header) = (Vec::new(), bar);
    if is_word(tokens.get(bar.wrapping_sub(1)), "move") {
        header = bar - 1;
        found.push(errors::moves(tokens[header].span()));
    }
    let mut depth = 0i32;
    let close = (bar + 1..tokens.len()).find(|at| {
        let kind = &tokens[*at].kind;
        depth += change(kind);
        depth == 0 && *kind == Tok::Punct('|')
    });
    let Some(close) = close else {
        found.push(errors::unclosed(tokens[bar].span()));
        return Err(found);
    };
    let mut out = tokens[..header].to_vec();
    let id = tokens[bar].id;
    dotted(&mut out, "visible", id);
    dotted(&mut out, "entry", id);
    out.push(made(Tok::Word(name.to_owned()), id, false));
    out.push(made(Tok::Punct('('), id, false));
    let mut rest = &tokens[bar + 1..close];
    while !rest.is_empty() {
        let mut depth = 0i32;
        let end = rest.iter().position(|token| {
            depth += change(&token.kind);
            depth == 0 && token.kind == Tok::Punct(',')
        });
        let one = &rest[..end.unwrap_or(rest.len())];
        rest = end.map_or(&[], |end| &rest[end + 1..]);
        let before = out.len();
        found.extend(parameter(&mut out, one));
        if !rest.is_empty() && out.len() > before {
            out.push(made(Tok::Punct(','), id, false));
        }
    }
    let id = tokens[close].id;
    out.push(made(Tok::Punct(')'), id, false));
    let body = &tokens[close + 1..];
    let alone = !has_braces(body);
    if alone {
        out.push(made(Tok::Punct('{'), id, false));
    }
    out.extend_from_slice(body);
    if alone {
        out.push(made(Tok::Punct('}'), tokens[tokens.len() - 1].id, false));
    }
    Ok((out, found))
}

/// Is it a body in braces, maybe after directives of the kernel? Otherwise it is the statements alone.
fn has_braces(body: &[Token]) -> bool {
    let is = |token: Option<&Token>, c| token.is_some_and(|token| token.kind == Tok::Punct(c));
    let mut depth = 0u32;
    match () {
        _ if !is(body.last(), '}') || begins_declaration(body) => false,
        _ if is(body.first(), '.') => true,
        // `{ ... } { ... }` is two blocks
        _ if is(body.first(), '{') => {
            let close = body.iter().position(|token| {
                depth += u32::from(token.kind == Tok::Punct('{'));
                depth = depth.saturating_sub(u32::from(token.kind == Tok::Punct('}')));
                depth == 0
            });
            close.is_none_or(|close| close + 1 == body.len())
        }
        _ => false,
    }
}

/// Does a declaration begin here, and no directive of the kernel?
fn begins_declaration(tokens: &[Token]) -> bool {
    let declared = ["reg", "shared", "local", "param", "const", "global", "loc", "loc_intermediate"];
    tokens.first().is_some_and(|dot| dot.kind == Tok::Punct('.'))
        && declared.iter().any(|word| is_word(tokens.get(1), word))
}

/// `x: &[f32]` as `.param .u64 .ptr .global .align 4 x: &[f32]`. One with an error is 8 bytes of anything, so that its name is known.
fn parameter(out: &mut Vec<Token>, tokens: &[Token]) -> Option<Diagnostic> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let span = first.span().to(last.span());
    let error = match tokens {
        [Token { kind: Tok::Word(name), .. }, Token { kind: Tok::Punct(':'), .. }, ty @ ..] if !ty.is_empty() => {
            if let Some((bytes, align)) = array(ty) {
                bytes_aligned(out, first, bytes, align);
                out.extend_from_slice(&tokens[1..]);
                return None;
            }
            match declaration(ty) {
                Some((words, align)) => {
                    words.iter().for_each(|word| dotted(out, word, first.id));
                    out.extend(align.map(|n| made(Tok::Number(n.to_string()), first.id, false)));
                    out.extend_from_slice(tokens);
                    return None;
                }
                None => errors::no_parameter(span, name, &shown(ty)),
            }
        }
        [Token { kind: Tok::Word(name), .. }] => errors::untyped(span, name),
        _ => errors::no_type(span),
    };
    if let Tok::Word(_) = &first.kind {
        bytes_aligned(out, first, 8, 8);
    }
    Some(error)
}

/// `.param .align 8 .b8 name[8]`
fn bytes_aligned(out: &mut Vec<Token>, name: &Token, bytes: u64, align: u64) {
    dotted(out, "param", name.id);
    dotted(out, "align", name.id);
    out.push(made(Tok::Number(align.to_string()), name.id, false));
    dotted(out, "b8", name.id);
    out.push(name.clone());
    for kind in [Tok::Punct('['), Tok::Number(bytes.to_string()), Tok::Punct(']')] {
        out.push(made(kind, name.id, false));
    }
}

/// The bytes of `[f32; 4]`, and their alignment.
fn array(ty: &[Token]) -> Option<(u64, u64)> {
    let [Token { kind: Tok::Punct('['), .. }, inside @ .., Token { kind: Tok::Punct(']'), .. }] = ty else {
        return None;
    };
    let [element @ .., Token { kind: Tok::Punct(';'), .. }, Token { kind: Tok::Number(n), .. }] = inside else {
        return None;
    };
    let (bytes, align) = scalar(element).map(|(_, bytes)| (bytes.into(), bytes.into())).or_else(|| array(element))?;
    let n: u64 = n.parse().ok().filter(|n| *n > 0)?;
    Some((n.checked_mul(bytes)?, align))
}

/// A type as a programmer writes it.
fn shown(ty: &[Token]) -> String {
    let mut text = String::new();
    let mut after_word = false;
    for token in ty {
        let word = matches!(token.kind, Tok::Word(_) | Tok::Number(_) | Tok::Str(_));
        if word && after_word || text.ends_with([',', ';']) {
            text.push(' ');
        }
        match &token.kind {
            Tok::Word(part) | Tok::Number(part) | Tok::Str(part) => text.push_str(part),
            Tok::Punct(c) => text.push(*c),
        }
        after_word = word;
    }
    text
}

/// What PTX calls a Rust type, with the alignment of a pointer.
fn declaration(ty: &[Token]) -> Option<(Vec<&'static str>, Option<u32>)> {
    let [Token { kind: Tok::Punct('&'), .. }, slice @ ..] = ty else {
        return Some((vec!["param", scalar(ty)?.0], None));
    };
    let slice = if is_word(slice.first(), "mut") { &slice[1..] } else { slice };
    let [Token { kind: Tok::Punct('['), .. }, element @ .., Token { kind: Tok::Punct(']'), .. }] = slice else {
        return None;
    };
    if element.iter().any(|token| token.kind == Tok::Punct(';')) {
        return None;
    }
    Some((vec!["param", "u64", "ptr", "global", "align"], Some(scalar(element).map_or(1, |(_, bytes)| bytes))))
}

/// The PTX type of the last name of a path, and its bytes.
fn scalar(ty: &[Token]) -> Option<(&'static str, u32)> {
    let [path @ .., Token { kind: Tok::Word(name), .. }] = ty else { return None };
    if !path.iter().all(|token| matches!(token.kind, Tok::Word(_) | Tok::Punct(':'))) {
        return None;
    }
    Some(match name.as_str() {
        "u8" | "bool" => ("u8", 1),
        "i8" => ("s8", 1),
        "u16" => ("u16", 2),
        "i16" => ("s16", 2),
        "f16" | "bf16" => ("b16", 2),
        "u32" => ("u32", 4),
        "i32" => ("s32", 4),
        "f32" => ("f32", 4),
        "u64" | "usize" => ("u64", 8),
        "i64" | "isize" => ("s64", 8),
        "f64" => ("f64", 8),
        _ => return None,
    })
}

fn change(kind: &Tok) -> i32 {
    match kind {
        Tok::Punct('(' | '[' | '{' | '<') => 1,
        Tok::Punct(')' | ']' | '}' | '>') => -1,
        _ => 0,
    }
}

fn dotted(out: &mut Vec<Token>, word: &str, id: u32) {
    out.push(made(Tok::Punct('.'), id, false));
    out.push(made(Tok::Word(word.to_owned()), id, true));
}

fn made(kind: Tok, id: u32, glued: bool) -> Token {
    Token { kind, id, glued }
}

fn is_word(token: Option<&Token>, word: &str) -> bool {
    matches!(token, Some(Token { kind: Tok::Word(found), .. }) if found == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile_rust_file;
    use crate::lex::lex;

    /// The printed module, or the codes of the errors.
    fn module(text: &str) -> Option<Result<String, Vec<u16>>> {
        let (tokens, mut found) = match as_module(&lex(text).0.tokens, "kernel") {
            Ok(module) => module,
            Err(found) if found.is_empty() => return None,
            Err(found) => return Some(Err(found.iter().map(|d| d.code.number).collect())),
        };
        let mut compiled = compile_rust_file(&tokens, None, None, &[], Default::default());
        found.append(&mut compiled.diagnostics);
        let codes: Vec<u16> = found.iter().map(|d| d.code.number).collect();
        Some(if codes.is_empty() { Ok(compiled.ptx) } else { Err(codes) })
    }

    #[test]
    fn closures_are_kernels() {
        let text = module("<sm_90, ptx 8.0> |x: &[half::f16], y: &mut [Complex<f32>], n: u32,| .maxntid 256 { ret; }");
        let text = text.unwrap().unwrap();
        let wanted = "\n.visible .entry kernel(
    .param .u64 .ptr .global .align 2 x,
    .param .u64 .ptr .global .align 1 y,
    .param .u32 n
)
.maxntid 256
{
    ret;
}
";
        assert!(text.ends_with(wanted), "{text}");
        let bare = module("<sm_90, ptx 8.0> |v: f64| .reg .f64 %v; ld.param.f64 %v, [v]; ret;").unwrap().unwrap();
        assert!(bare.contains(".param .f64 v") && bare.contains("ld.param.f64 %v, [v];"), "{bare}");
        let pragma = module("<sm_90, ptx 8.0> || .maxntid 32 .pragma \"nounroll\"; { ret; }").unwrap().unwrap();
        assert!(pragma.contains(".maxntid 32\n.pragma \"nounroll\";\n{\n    ret;"), "{pragma}");
        let block = module("<sm_90, ptx 8.0> || .reg .b32 %r; { mov.b32 %r, 0; }").unwrap().unwrap();
        assert!(block.contains("{\n    .reg .b32 %r;\n"), "{block}");
        let arrays =
            module("<sm_90, ptx 8.0> |a: [u16; 3], b: [[f32; 2]; 2], c: usize, d: bool| { ret; }").unwrap().unwrap();
        for wanted in [".param .align 2 .b8 a[6]", ".param .align 4 .b8 b[16]", ".param .u64 c", ".param .u8 d"] {
            assert!(arrays.contains(wanted), "{wanted} is not in\n{arrays}");
        }
        let none = module("<sm_90, ptx 8.0, const N: u32 = 4> || { bar.sync N; ret; }").unwrap().unwrap();
        assert!(none.contains("kernel()") && none.contains("bar.sync 4;"), "{none}");
        assert_eq!(
            module("<sm_90, ptx 8.0> |n: u32| { .reg .f32 %n; ld.param.u32 %n, [n]; ret; }"),
            Some(Err(vec![407]))
        );
        let read = "{ .reg .b32 %n; ld.param.u32 %n, [n]; ret; }";
        for (wrong, codes) in [
            ("|n|", &[151][..]),
            ("move |n: u32|", &[154]),
            ("|n: (u8, u8), 4, m|", &[151, 151, 151]),
            ("|n: &u8|", &[151]),
            ("|n: &[u8; 4]|", &[151]),
            ("|n: Vec<u8>|", &[151]),
            ("|n: [u8; N]|", &[151]),
            ("|n: u32", &[150]),
        ] {
            assert_eq!(module(&format!("<sm_90, ptx 8.0> {wrong} {read}")), Some(Err(codes.into())), "{wrong}");
        }
        let unclosed = module("<sm_90, ptx 8.0 |n: u32| { ret; }");
        assert_eq!(unclosed, Some(Err(vec![110])));
        // what is wrong in the body is said too
        assert_eq!(module("<sm_90, ptx 8.0> |n| { ld.param.u32 %r, [n]; ret; }"), Some(Err(vec![151, 401])));
        assert_eq!(module("<sm_90, ptx 8.0> .visible .entry k() { ret; }"), None);
    }

    #[test]
    fn parts_of_a_closure_never_panic() {
        let text =
            "<sm_90, ptx 8.0> move |x: &[f32], n: [u8; 4], f: Map<u8, (u8, u8)>| .maxntid 4 { { @p bra L; } L: }";
        let tokens = lex(text).0.tokens;
        for from in 0..tokens.len() {
            for to in from..tokens.len() {
                let without = [&tokens[..from], &tokens[to..]].concat();
                for part in [&tokens[from..to], &without] {
                    if let Ok((module, _)) = as_module(part, "k") {
                        assert!(module.iter().all(|token| (token.id as usize) < tokens.len()));
                    }
                }
            }
        }
    }

    #[test]
    fn bodies_with_and_without_braces() {
        let printed = |body: &str| module(&format!("<sm_90, ptx 8.0> || {body}"));
        let kernel = |body: &str| {
            let text = printed(body).unwrap().unwrap_or_else(|codes| panic!("{body}: {codes:?}"));
            text.split_once(")\n").unwrap_or(("", &text)).1.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        for (body, wanted) in [
            ("{ ret; }", "{ ret; }"),
            ("ret; exit;", "{ ret; exit; }"),
            ("{ ret; } { exit; }", "{ { ret; } { exit; } }"),
            ("ret; { ret; }", "{ ret; { ret; } }"),
            (".reg .b32 x; { ret; }", "{ .reg .b32 x; { ret; } }"),
            ("", "{ }"),
            ("{}", "{ }"),
            (".maxntid 256 .minnctapersm 2 { ret; }", ".maxntid 256 .minnctapersm 2 { ret; }"),
            (
                ".reqntid 8, 8 .maxnreg 64 .pragma \"nounroll\"; { ret; exit; }",
                ".reqntid 8, 8 .maxnreg 64 .pragma \"nounroll\"; { ret; exit; }",
            ),
        ] {
            assert!(kernel(body).ends_with(wanted), "{body}: {}", kernel(body));
        }
        for (body, code) in
            [(".maxntdi 256 .maxnreg 64 { ret; }", 114), (".target sm_90 { ret; }", 115), (".maxntid 3 ret;", 115)]
        {
            assert_eq!(printed(body), Some(Err(vec![code])), "{body}");
        }
    }
}
