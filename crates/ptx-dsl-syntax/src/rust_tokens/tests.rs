use super::*;
use crate::lex::lex;
use std::path::Path;

/// The tokens of the macro if no compiler says which ones touch, except for pieces of one literal and operators.
fn without_positions(text: &str) -> Vec<Token> {
    let written = lex(text).0.tokens;
    let (mut tokens, mut known) = (Vec::new(), Vec::new());
    for (i, t) in written.iter().enumerate() {
        let sure = in_literal(&written, i) || between_operators(&written, i);
        for (n, kind) in pieces(&t.kind).into_iter().enumerate() {
            let sure = sure && n == 0;
            tokens.push(Token { kind, id: t.id, glued: sure && t.glued });
            known.push(sure);
        }
    }
    infer_glued(&mut tokens, &known);
    join_names(&tokens, &mut |_, _| {})
}

/// `%r1` and `a$b` are several tokens of Rust.
fn pieces(kind: &Tok) -> Vec<Tok> {
    let Tok::Word(word) = kind else { return vec![kind.clone()] };
    let mut out = Vec::new();
    for piece in word.split_inclusive(['%', '$']) {
        let name = piece.trim_end_matches(['%', '$']);
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            out.push(Tok::Number(name.to_owned()));
        } else if !name.is_empty() {
            out.push(Tok::Word(name.to_owned()));
        }
        out.extend(piece[name.len()..].chars().map(Tok::Punct));
    }
    out
}

/// Is it a later piece of one Rust literal, like the dot and the 5 of `1.5`, or the dot of `2.`?
fn in_literal(tokens: &[Token], i: usize) -> bool {
    let digits = |i: usize| matches!(&tokens[i].kind, Tok::Number(n) if n.bytes().all(|b| b.is_ascii_digit()));
    match &tokens[i].kind {
        Tok::Punct('.') if i > 0 && tokens[i].glued && digits(i - 1) => match tokens.get(i + 1) {
            Some(Token { kind: Tok::Word(_) | Tok::Punct('.'), glued, .. }) => !glued,
            _ => true,
        },
        Tok::Number(_) => {
            i > 0 && tokens[i].glued && tokens[i - 1].kind == Tok::Punct('.') && in_literal(tokens, i - 1)
        }
        _ => false,
    }
}

/// Rust says for a punctuation character whether the next one touches it; not for brackets.
fn between_operators(tokens: &[Token], i: usize) -> bool {
    let operator = |t: &Token| matches!(t.kind, Tok::Punct(c) if !"()[]{}".contains(c));
    i > 0 && operator(&tokens[i]) && operator(&tokens[i - 1])
}

/// All `.ptx` files below a directory.
fn modules(directory: &Path, out: &mut Vec<(String, String)>) {
    let entries = std::fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            modules(&path, out);
        } else if path.extension().is_some_and(|e| e == "ptx") {
            let text = std::fs::read_to_string(&path).expect("text");
            out.push((path.display().to_string(), text));
        }
    }
}

#[test]
fn modules_mean_the_same_without_positions() {
    let mut all = Vec::new();
    modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests"), &mut all);
    if let Some(more) = std::env::var_os("PTX_DSL_CORPUS") {
        modules(Path::new(&more), &mut all);
    }
    assert!(all.len() > 100);
    for (name, text) in all {
        let (lexed, _) = lex(&text);
        let kinds = |tokens: &[Token]| tokens.iter().map(|t| t.kind.clone()).collect::<Vec<_>>();
        let inferred = without_positions(&text);
        let (left, right) = (kinds(&lexed.tokens), kinds(&inferred));
        if let Some(i) = (0..left.len()).find(|i| left.get(*i) != right.get(*i)) {
            let from = i.saturating_sub(3);
            panic!(
                "{name}: {:?} instead of {:?}",
                &right[from..(i + 3).min(right.len())],
                &left[from..(i + 3).min(left.len())]
            );
        }
        let shown = |tokens: &[Token]| {
            let (module, diagnostics) = crate::parse::parse(tokens);
            let found: Vec<_> = diagnostics.iter().map(|d| (d.code, d.message.clone())).collect();
            (crate::print::print(&module, &|_| None), found)
        };
        assert_eq!(shown(&lexed.tokens), shown(&inferred), "{name}");
    }
}

#[test]
fn names_are_whole_without_positions() {
    for text in [
        "bra $L;",
        "@%p bra $L;",
        "@!p bra $L;",
        "bra.uni $L;",
        "$L: add.u32 %r1, %r2, 1;",
        "x: $L: ret;",
        ".branchtargets $L, $M;",
        "bra a$b;",
        "; a$b: ret;",
        "@p bra a$b;",
        "ld.u32 %r1, [a$b$c];",
        "ld.u32 %r1, [a$0];",
        "ld.u32 %r1, [a$0_b$1];",
        ".global .u32 a$b, $c;",
        ".loc 1 2 3, function_name $L__info, inlined_at 1 2 3",
        "tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r0}, [t];",
        "ld.shared::cta.b32 %r1, [%r2+4];",
        ".maxntid 256 .minnctapersm 2",
        "mov.f32 %f, 1.e5;",
        "mov.f32 %f, 1.e-5;",
        "mov.f32 %f, 2.;",
        "mov.u32 %r, 7 % (2);",
        "mov.u32 %r, 7 % n;",
        "mov.u32 %r, x % n + (n) % m;",
        "bra %r; call %f; @p mov.u32 %r, %q;",
        "shfl.sync.up.b32 %r|%p, %r, 1, 0, -1;",
        "add.u32 %r1, %tid.x, 1 << 2 || 3;",
    ] {
        let kinds = |tokens: &[Token]| tokens.iter().map(|t| t.kind.clone()).collect::<Vec<_>>();
        assert_eq!(kinds(&without_positions(text)), kinds(&lex(text).0.tokens), "{text}");
    }
}

#[test]
fn dots_are_told_apart_without_positions() {
    let dots = |text: &str| {
        let tokens = without_positions(text);
        tokens.iter().filter(|t| t.kind == Tok::Punct('.')).map(|t| if t.glued { '1' } else { '0' }).collect::<String>()
    };
    for (text, want) in [
        ("mov.u32 %r, %tid.x;", "11"),
        (".reg .b32 %r<5>; .reg .pred p;", "0000"),
        (".visible .entry k(.param .u64 .ptr .global .align 4 x) .maxntid 32 {", "00000000"),
        ("mov.u32 %r1, %r2 .reg .b32 %x;", "100"),
        ("ld.shared::cta.b32 %r, [x];", "11"),
        ("tcgen05.cp.cta_group::1.128x256b [t], d;", "111"),
        (".maxntid 256 .minnctapersm 2 .maxnreg 64", "000"),
        ("mov.f32 %f, 1.e5;", "11"),
    ] {
        assert_eq!(dots(text), want, "{text}");
    }
}

#[test]
fn literals_of_rust() {
    let cases = [
        ("1.128x256b", "1.128x256b"),
        ("02_13", "02_13"),
        ("4X", "4X"),
        ("0f3F800000", "0f3F800000"),
        ("1.5e-3", "1.5e-3"),
        ("\"str\"", "\"str\""),
        ("r#\"a\"b\"#", "\"a\"b\""),
        ("2.", "2."),
        ("'a'", "'a'"),
    ];
    let show = |tokens: &[Token]| {
        let text = |t: &Token| match &t.kind {
            Tok::Word(text) | Tok::Number(text) => text.clone(),
            Tok::Str(text) => format!("\"{text}\""),
            Tok::Punct(c) => c.to_string(),
        };
        tokens.iter().map(|t| format!("{}{}", if t.glued { "" } else { " " }, text(t))).collect::<String>()
    };
    for (literal, want) in cases {
        let mut out = Vec::new();
        split_literal(literal, 7, true, &mut out);
        assert_eq!(show(&out), want, "{literal}");
        assert!(out.iter().all(|t| t.id == 7));
    }
    let mut out = Vec::new();
    split_literal("1.5", 0, false, &mut out);
    assert_eq!(show(&out), " 1.5");
}
