//! Repetitions as text, and inputs that are none.

use super::*;
use crate::lex::lex;
use crate::parse::directive::text_of;

/// The tokens after the expansion, and the codes of its errors.
fn expanded(text: &str) -> (String, Vec<u16>) {
    let tokens = lex(text).0.tokens;
    let out = expand(&tokens, tokens.len() as u32);
    (text_of(&out.tokens), out.diagnostics.iter().map(|d| d.code.number).collect())
}

/// The same without white space.
fn dense(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn repetitions_are_written_out() {
    for (text, wanted) in [
        ("@for I in 0..3 { mov.u32 %r{I}, I; }", "mov.u32 %r0, 0; mov.u32 %r1, 1; mov.u32 %r2, 2;"),
        ("@for I in 1..=2 { L{I}: }", "L1: L2:"),
        ("@for I in 2..2 { trap; } ret;", "ret;"),
        ("const N: u32 = 1; @for I in 3..N { trap; } ret;", "const N: u32 = 1; ret;"),
        ("@for I in -1..2 { @for J in I..0 { I } }", "-1"),
        ("@for I in -1..1 { mov.s32 %r{I + 1}, I; L{I}x: }", "mov.s32 %r0, -1; Ln1x: mov.s32 %r1, 0; L0x:"),
        ("@for I in 0..2 { @for J in I..2 { %a{I}_{J} } }", "%a0_0 %a0_1 %a1_1"),
        (
            "@for I in 0..2 { .reg .b32 %r{2 * I}; .reg .b32 %r<4>; }",
            ".reg .b32 %r0; .reg .b32 %r<4>; .reg .b32 %r2; .reg .b32 %r<4>;",
        ),
        ("@for I in 0..1 { [m, {I, %x}] mov.b64 {%a, %b}, %d; }", "[m, {0, %x}] mov.b64 {%a, %b}, %d;"),
        ("@for I in 1..3 { ld.v{I * 2}.f32 a; ld.I.f32 b; }", "ld.v2.f32 a; ld.I.f32 b; ld.v4.f32 a; ld.I.f32 b;"),
        ("const N: u32 = 2; @for I in 0..N { I }", "const N: u32 = 2; 0 1"),
        ("<sm_90, ptx 8.0, const N: u32 = 2> @for I in 0..N { I }", "<sm_90, ptx 8.0, const N: u32 = 2> 0 1"),
        ("@for I in 0..2 { const N: u32 = 2; @for J in 0..N { J } }", "0 1 0 1"),
        ("@if 1 { a } else { b } c", "a c"),
        ("@if 0 { a } else { b } c", "b c"),
        ("@if 0 { a } else @if 2 > 1 { b } else { c } d", "b d"),
        ("@if 0 { a } else if 1 { b } else @if 1 { c } else { d } e", "b e"),
        ("@if 0 { a } c", "c"),
        ("@for I in 0..3 { @if I % 2 == 0 { %e{I} } else { %o{I} } }", "%e0 %o1 %e2"),
        ("@for I in [1, 2, 4,] { I }", "1 2 4"),
        ("@for I in [] { I } x", "x"),
        (".entry k<const N: u32 in [2, 4]>() { N; }", ".entry k_2() { 2; } .entry k_4() { 4; }"),
        (
            ".visible .entry k<const A: i8 in -1..=0, const B: bool in [true, false],>(.param .u32 n) .reqntid 8 { @if B { A } }",
            ".visible .entry k_n1_1(.param .u32 n) .reqntid 8 { -1 } .visible .entry k_n1_0(.param .u32 n) .reqntid 8 { }
             .visible .entry k_0_1(.param .u32 n) .reqntid 8 { 0 } .visible .entry k_0_0(.param .u32 n) .reqntid 8 { }",
        ),
        ("const M: u32 = 2 * 4; .entry k<const N: u32 in [M]> { N }", "const M: u32 = 2 * 4; .entry k_8 { 8 }"),
        (".entry k<const N: u32>() { N }", ".entry k<const N: u32>() { N }"),
        ("{%d0..=%d3}", "{%d0, %d1, %d2, %d3}"),
        ("{%a, %d9..=%d11, r0..=r1}", "{%a, %d9, %d10, %d11, r0, r1}"),
        ("{%d7..=%d7}", "{%d7}"),
        ("@for I in 0..2 { {%d{4 * I}..=%d{4 * I + 3}, %e} }", "{%d0, %d1, %d2, %d3, %e} {%d4, %d5, %d6, %d7, %e}"),
        ("@for I in 0..2 { %a{I}_0..=%a{I}_{I} }", "%a0_0 %a1_0, %a1_1"),
        ("@for I in (0..4).rev() { I }", "3 2 1 0"),
        ("@for I in (0..=64).step_by(32) { I }", "0 32 64"),
        ("@for I in (0..7).rev().step_by(3) { I }", "6 3 0"),
        ("@for I in (2 + 1)..5 { I }", "3 4"),
        ("const A: [u32; 3] = [4, 1, 2]; @for I in A { I }", "4 1 2"),
        ("const A: [i8; 2] = [-1, 3]; @for I in 0..A.len() { %r{A[I]} A[I] + A[1 - I] }", "%rn1 -1 + 3 %r3 3 + -1"),
        ("const A: [u8; 4] = [1, 2, 3, 4]; { const A: [u8; 1] = [9]; A[0] } A[0]", "{ 9 } 1"),
        ("const A: [u8; 2] = [1, 2]; const B: u32 = A[1] * 2; @if B == 4 { B }", "const B: u32 = 4; B"),
        ("@for I in 0..2 { const A: [u32; 2] = [I, 7]; const B: u32 = A[0] + 1; B }", "1 2"),
        // guards are what they were
        ("@p bra L; @!q ret; @if bra L; @for bra L;", "@p bra L; @!q ret; @if bra L; @for bra L;"),
    ] {
        let (got, codes) = expanded(text);
        assert_eq!((dense(&got), codes), (dense(wanted), vec![]), "{text}");
    }
}

#[test]
fn what_is_no_repetition_is_reported() {
    for (text, code) in [
        ("@for I in 4 { a }", 157),
        ("@for I in 3..1 { a }", 157),
        ("@for I in (0..4).map(f) { a }", 157),
        ("@for I in (0..4).step_by(0) { a }", 157),
        ("const A: [u8; 2] = [1, 256];", 157),
        ("const A: [u8; 2] = [1];", 157),
        ("const A: [f32; 1] = [1];", 157),
        ("const A: [u8; 2] = [1, 2]; A[2]", 157),
        ("@peel F { a }", 157),
        ("@for I in 0..X { a }", 157),
        ("@for I in 0..1.5 { a }", 157),
        ("@for I in 0..4 a; b", 157),
        ("@for I in 0..4 { a", 157),
        ("@if X { a }", 157),
        ("@if 1 { a } else b", 157),
        ("@if 1 { a", 157),
        ("@for I in 0..9000000000000000000 { }", 157),
        ("@for I in 0..3000 { @for J in 0..3000 { a } }", 157),
        ("const N: u32 = crate::N; @for I in 0..N { a }", 156),
        ("const N: u32 = crate::N; @if N > 1 { a }", 156),
        (".entry k<const N: u32>() { @for I in 0..N { a } }", 156),
        ("{%d0..%d4}", 157),
        ("{%d4..=%d0}", 157),
        ("{%d0..=%e4}", 157),
        ("{%d0..=4}", 157),
        ("{%d0..=}", 157),
        ("{%d..=%d4}", 157),
        ("{%d0..=%d04}", 157),
        ("{%d0..=%d4294967295}", 157),
        (".entry k<const N: u32 in [2], const M: u32>() { a }", 157),
        (".entry k<const N: u32 in []>() { a }", 157),
        (".entry k<const N: u32 in [2, 2]>() { a }", 157),
        (".entry k<const N: u8 in [256]>() { a }", 157),
        (".entry k<const N: u8 in -1..2>() { a }", 157),
        (".entry k<const N: u32 in [1.5]>() { a }", 157),
        (".entry k<const N: u32 in 4>() { a }", 157),
        (".entry k<const N: u32 in [1]>();", 157),
        (".entry k<const N: u32 in 0..9000000000000000000>() { a }", 157),
        (".entry k<const N: f32 in [1]>() { a }", 155),
        (".entry k<const N: u8 in [1], const N: u8 in [1]>() { a }", 155),
        ("const M: u32 = crate::M; .entry k<const N: u32 in [M]>() { a }", 156),
    ] {
        assert_eq!(expanded(text).1, [code], "{text}");
    }
    let deep = format!("{}a{}", "@if 1 { ".repeat(1000), "}".repeat(1000));
    assert_eq!(expanded(&deep).1, [140]);
    let chain = format!("@if 0 {{ a }} {} b", "else @if 0 { a }".repeat(5000));
    assert_eq!(dense(&expanded(&chain).0), "b");
}

#[test]
fn findings_of_iterations_are_one() {
    let tokens = lex("@for I in 0..3 { x }").0.tokens;
    let out = expand(&tokens, tokens.len() as u32);
    let mut found: Vec<Diagnostic> =
        out.tokens.iter().map(|token| Diagnostic::error(crate::code::UNDECLARED, token.span(), "unknown")).collect();
    out.report(&mut found);
    let [d] = found.as_slice() else { panic!("{found:?}") };
    let x = tokens.iter().find(|t| t.kind == Tok::Word("x".into())).expect("an x");
    assert_eq!((d.span, d.notes.as_slice()), (x.span(), ["where `I = 0` and 2 more".to_owned()].as_slice()));
}

#[test]
fn no_tokens_panic() {
    let text = "<sm_90, ptx 8.0, const A: u8 = 2> const N: u32 = 3; const X: u8 = 4 * 2; .visible .entry k<const M: u32 in [X, 1], const L: i8 in -1..=2>() {
        @for I in 0..N { .reg .b32 %r{I}_{A}; @if I > 1 { mov.u32 %r{I}_{A}, I; } else @if A { x } else { y } } }";
    let tokens = lex(text).0.tokens;
    for at in 0..tokens.len() {
        expand(&tokens[..at], 1000);
        expand(&tokens[at..], 1000);
        for other in
            [Tok::Punct('{'), Tok::Punct('}'), Tok::Punct('@'), Tok::Word("if".into()), Tok::Number("9".into())]
        {
            let mut changed = tokens.clone();
            changed[at].kind = other;
            expand(&changed, 1000);
            changed.remove(at);
            expand(&changed, 1000);
        }
    }
}
