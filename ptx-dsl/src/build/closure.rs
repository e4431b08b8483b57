//! The expression form as a module, for checks without rustc: `|x: &[f32], n: u32| { ... }` becomes an `.entry` with these parameters.

use ptx_dsl_frontend::parse::parse_header;
use ptx_dsl_frontend::token::{Tok, Token};

/// The kernel's name in the module. The macro makes one of its place.
const NAME: &str = "kernel";

/// Where the bar of the parameters is, if the tokens are in expression form: behind the header, and `use` of parts.
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

/// The same kernel as an item. Its tokens have the numbers of those that they come from. `None` if it is not of the usual form: only rustc
/// says what is wrong then.
pub fn as_module(tokens: &[Token]) -> Option<Vec<Token>> {
    let bar = bar(tokens).filter(|bar| !is_word(tokens.get(bar.wrapping_sub(1)), "move"))?;
    let mut depth = 0i32;
    let close = (bar + 1..tokens.len()).find(|at| {
        let kind = &tokens[*at].kind;
        depth += change(kind);
        depth == 0 && *kind == Tok::Punct('|')
    })?;
    let mut out = tokens[..bar].to_vec();
    let id = tokens[bar].id;
    dotted(&mut out, "entry", id);
    out.push(made(Tok::Word(NAME.into()), id, false));
    out.push(made(Tok::Punct('('), id, false));
    let mut rest = &tokens[bar + 1..close];
    while !rest.is_empty() {
        let mut depth = 0i32;
        let end = rest.iter().position(|token| {
            depth += change(&token.kind);
            depth == 0 && token.kind == Tok::Punct(',')
        });
        parameter(&mut out, &rest[..end.unwrap_or(rest.len())])?;
        rest = end.map_or(&[], |end| &rest[end + 1..]);
        if !rest.is_empty() {
            out.push(made(Tok::Punct(','), id, false));
        }
    }
    let id = tokens[close].id;
    out.push(made(Tok::Punct(')'), id, false));
    let body = &tokens[close + 1..];
    let first = body.iter().position(|token| matches!(token.kind, Tok::Punct('{' | ';')))?;
    let alone = body[first].kind == Tok::Punct(';');
    if alone {
        // statements without braces
        if !is_word(body.get(1), "reg") {
            return None;
        }
        out.push(made(Tok::Punct('{'), id, false));
    }
    out.extend_from_slice(body);
    if alone {
        out.push(made(Tok::Punct('}'), tokens[tokens.len() - 1].id, false));
    }
    Some(out)
}

/// `x: &[f32]` as `.param .u64 .ptr .global .align 4 x: &[f32]`.
fn parameter(out: &mut Vec<Token>, tokens: &[Token]) -> Option<()> {
    let [Token { kind: Tok::Word(_), id, .. }, Token { kind: Tok::Punct(':'), .. }, ty @ ..] = tokens else {
        return None;
    };
    dotted(out, "param", *id);
    match ty {
        [Token { kind: Tok::Punct('&'), .. }, slice @ ..] => {
            let slice = if is_word(slice.first(), "mut") { &slice[1..] } else { slice };
            let [Token { kind: Tok::Punct('['), .. }, element @ .., Token { kind: Tok::Punct(']'), .. }] = slice else {
                return None;
            };
            let align = scalar(element).map_or(1, |(_, bytes)| bytes);
            for word in ["u64", "ptr", "global", "align"] {
                dotted(out, word, *id);
            }
            out.push(made(Tok::Number(align.to_string()), *id, false));
        }
        value => dotted(out, scalar(value)?.0, *id),
    }
    out.extend_from_slice(tokens);
    Some(())
}

/// The PTX type of the last name of a path, and its bytes.
fn scalar(ty: &[Token]) -> Option<(&'static str, u32)> {
    let Some(Token { kind: Tok::Word(name), .. }) = ty.last() else { return None };
    Some(match name.as_str() {
        "u8" => ("u8", 1),
        "i8" => ("s8", 1),
        "u16" => ("u16", 2),
        "i16" => ("s16", 2),
        "f16" | "bf16" => ("b16", 2),
        "u32" => ("u32", 4),
        "i32" => ("s32", 4),
        "f32" => ("f32", 4),
        "u64" => ("u64", 8),
        "i64" => ("s64", 8),
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
    use ptx_dsl_frontend::compile_rust_file;
    use ptx_dsl_frontend::lex::lex;

    /// The printed module, or the codes of the errors.
    fn module(text: &str) -> Option<Result<String, Vec<u16>>> {
        let tokens = as_module(&lex(text).0.tokens)?;
        let compiled = compile_rust_file(&tokens, None, None, &[], Default::default());
        let codes: Vec<u16> = compiled.diagnostics.iter().map(|d| d.code).collect();
        Some(if codes.is_empty() { Ok(compiled.ptx) } else { Err(codes) })
    }

    #[test]
    fn closures_are_kernels() {
        let text = module("<sm_90, ptx 8.0> |x: &[half::f16], y: &mut [Complex<f32>], n: u32,| .maxntid 256 { ret; }");
        let text = text.unwrap().unwrap();
        let wanted = "\n.entry kernel(
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
        let none = module("<sm_90, ptx 8.0, const N: u32 = 4> || { bar.sync N; ret; }").unwrap().unwrap();
        assert!(none.contains("kernel()") && none.contains("bar.sync 4;"), "{none}");
        assert_eq!(
            module("<sm_90, ptx 8.0> |n: u32| { .reg .f32 %n; ld.param.u32 %n, [n]; ret; }"),
            Some(Err(vec![407]))
        );
        for none in [
            "|n| { ret; }",
            "move |n: u32| { ret; }",
            "|n: (u8, u8)| { ret; }",
            "|n: &u8| { ret; }",
            "|n: u32",
            "|",
            "",
        ] {
            assert_eq!(module(&format!("<sm_90, ptx 8.0> {none}")), None, "{none}");
        }
    }
}
