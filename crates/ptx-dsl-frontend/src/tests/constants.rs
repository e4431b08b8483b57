//! Rust constants, without rustc: what the macro knows of them.

use crate::constant::Constants;
use crate::lex::lex;
use crate::{Compiled, compile, compile_in_rust, compile_rust_file};

fn compiled(text: &str) -> Compiled {
    compile_in_rust(&lex(text).0.tokens, Default::default())
}

/// A kernel with these statements, after constants of all types: `U`, `I`, `F`, `D`.
fn kernel(body: &str) -> String {
    format!(
        "<sm_90, ptx 8.0, const U: u32 = x::U> const I: i64 = x::I; const F: f32 = x::F; const D: f64 = x::D;
        .visible .entry k() {{ .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .f64 %d<4>; .reg .pred %p;
        .shared .align 16 .b8 s[64]; mov.u64 %rd1, 0; mov.u32 %r1, 0; {body} ret; }}"
    )
}

/// The statements as printed, with the constants as written.
fn printed(body: &str) -> String {
    let compiled = compiled(&kernel(body));
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|d| d.code.number < 600).collect();
    assert!(errors.is_empty(), "{body}: {errors:?}");
    let text = compiled.hir.constants.shown(&compiled.ptx);
    let (_, body) = text.split_once("mov.u32 %r1, 0;").expect("the beginning");
    body.split_once("ret;").expect("the end").0.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn expressions_are_printed_as_one_value() {
    for (text, shown) in [
        ("mov.u32 %r1, U;", "mov.u32 %r1, U;"),
        ("mov.u32 %r1, 2 * 3 + U;", "mov.u32 %r1, 6 + U;"),
        ("mov.u32 %r1, (U + 1) * -I;", "mov.u32 %r1, (U + 1) * -I;"),
        ("mov.u32 %r1, U > 1 ? I : 4;", "mov.u32 %r1, (U > 1 ? I : 4);"),
        ("mov.u64 %rd1, (.u64) I | ~U;", "mov.u64 %rd1, (.u64) I | ~U;"),
        ("mov.u64 %rd1, !U;", "mov.u64 %rd1, !U;"),
        ("ld.global.u32 %r1, [%rd1 + U];", "ld.global.u32 %r1, [%rd1+U];"),
        ("ld.global.u32 %r1, [%rd1 + 8 + U * 4 - 12];", "ld.global.u32 %r1, [%rd1+(8 + (U * 4)) - 12];"),
        ("mov.f32 %f1, F;", "mov.f32 %f1, F;"),
        ("mov.f64 %d1, F;", "mov.f64 %d1, F;"),
        ("mov.f64 %d1, -D / 2.0;", "mov.f64 %d1, -D / 2.0;"),
        ("mov.f32 %f1, D;", "mov.f32 %f1, D;"),
    ] {
        assert_eq!(printed(text), shown, "{text}");
    }
}

#[test]
fn a_name_in_scope_is_not_declared_again() {
    assert_eq!(compiled(&kernel("{ const U: u32 = 7; }")).diagnostics[0].code.number, 145);
    assert_eq!(printed("{ const V: u32 = 7; } { const V: u32 = 8; mov.u32 %r1, V; }"), "{ } { mov.u32 %r1, 8; }");
}

#[test]
fn known_constants_are_numbers() {
    for (declared, value) in [
        ("u32 = 16", "16"),
        ("u8 = 0xff_u8", "255"),
        ("i32 = -7", "-7"),
        ("u64 = 18446744073709551615", "18446744073709551615"),
        ("bool = true", "1"),
        ("usize = 1_000", "1000"),
        ("i8 = -128i8", "-128"),
        ("u16 = 0o17", "15"),
        ("u32 = 010", "10"),
    ] {
        let text = format!(
            "<sm_90, ptx 8.0> const N: {declared}; .visible .entry k() {{ .reg .b64 %r; mov.b64 %r, N; ret; }}"
        );
        let compiled = compile(&lex(&text).0.tokens);
        assert!(compiled.diagnostics.is_empty(), "{declared}: {:?}", compiled.diagnostics);
        assert!(compiled.ptx.contains(&format!("mov.b64 %r, {value};")), "{declared}: {}", compiled.ptx);
    }
    for (declared, code) in [("u8 = 256", 155), ("i8 = -129", 155), ("u32 = 4294967296", 155), ("char = 4", 155)] {
        let text = format!("<sm_90, ptx 8.0> const N: {declared}; .visible .entry k() {{ ret; }}");
        let found = compile(&lex(&text).0.tokens).diagnostics;
        assert_eq!(found.iter().map(|d| d.code.number).collect::<Vec<_>>(), [code], "{declared}");
    }
}

#[test]
fn only_rust_evaluates_rust() {
    let text = "<sm_90, ptx 8.0> const N: u32 = crate::N; .visible .entry k() .reqntid N { ret; }";
    let found = compile(&lex(text).0.tokens).diagnostics;
    assert_eq!(found.iter().map(|d| d.code.number).collect::<Vec<_>>(), [156]);
    assert!(compiled(text).diagnostics.is_empty());
    let text = "<sm_90, ptx 8.0> .visible .entry k<const N: u32>() .reqntid N { ret; }";
    assert_eq!(compile(&lex(text).0.tokens).diagnostics[0].code.number, 156);
}

#[test]
fn what_depends_on_a_value_is_asserted() {
    for (text, codes) in [
        ("lop3.b32 %r1, %r1, %r1, %r1, U;", &[409, 409][..]),
        ("st.shared.b32 [s + U], %r1;", &[412, 633]),
        ("st.shared.b8 [s + U], %r1;", &[633]),
        (".shared .b8 t[U]; st.shared.b8 [t + 7], %r1;", &[509, 509, 509, 633, 507]),
        (".shared .b8 t[U][2];", &[509, 509, 509, 509, 507]),
        (".local .align U .b32 l[4]; st.local.b32 [l + 12], %r1;", &[509, 509, 509, 509, 633, 509]),
        (".reg .b32 %q<U>; mov.u32 %q7, 1; mov.u32 %q3, 1;", &[509, 509, 401]),
        (".reg .b32 %q<U>;", &[509, 509]),
        ("mov.u32 %r1, U;", &[]),
        // the base alone is not an access, and a form that does not fit asserts nothing
        ("st.global.b32 [%rd1 + U], %r1;", &[]),
    ] {
        let found = compiled(&kernel(text)).hir.constants.assertions;
        assert_eq!(found.iter().map(|a| a.finding.code.number).collect::<Vec<_>>(), codes, "{text}");
    }
}

#[test]
fn what_no_value_can_keep_is_an_error_at_once() {
    for (text, expected) in [
        (
            "lop3.b32 %r1, %r1, %r1, %r1, U + 256;",
            "409 U + 256: `U + 256` is 256 or more, which is out of range for operand `immLut`",
        ),
        (
            "st.shared.b32 [s + 4 * U + 2], %r1;",
            "412 s: `s + (4 * U) + 2` is `s+((4 * U) + 2)`, which is not a multiple of 4 bytes",
        ),
        (
            "st.shared.b32 [s + 4 * U + 1024], %r1;",
            "633 s: this accesses 4 bytes at `s + (4 * U) + 1024`, which is `s+((4 * U) + 1024)`, outside of `s`",
        ),
        (".shared .align 3 * (U | 1) + 1 .b8 t[4];", ""),
        (
            "bar.sync 0, U * 64 + 1;",
            "418 U * 64 + 1: the number of threads is `(U * 64) + 1`, but must be a multiple of the warp size, 32",
        ),
        ("bar.sync 0, U * 64 + 32;", ""),
        ("st.shared.b32 [s + 4 * U], %r1;", ""),
        // a value of 64 bits may wrap
        ("const L: u64 = x::L; st.shared.b8 [s + L + 1024], %r1;", ""),
    ] {
        let text = kernel(text);
        let lexed = lex(&text).0;
        let found = compiled(&text).diagnostics.into_iter().filter(|d| d.code.number < 600 || d.code.number == 633);
        let shown: Vec<String> =
            found.map(|d| format!("{} {}: {}", d.code.number, &text[lexed.bytes(d.span)], d.message)).collect();
        assert_eq!(shown.join("; "), expected, "{text}");
    }
    let generic = "<sm_90, ptx 8.0> .visible .entry g<const N: u32>() .reqntid N + 1025 { ret; }";
    let found = compile_in_rust(&lex(generic).0.tokens, Default::default()).diagnostics;
    assert_eq!(found.iter().map(|d| d.code.number).collect::<Vec<_>>(), [504]);
    assert_eq!(found[0].notes.last().map(String::as_str), Some("every value of `N` breaks this rule"));
}

#[test]
fn no_tokens_with_constants_panic() {
    let text = kernel(
        ".shared .align U .b8 t[U * 2][I]; st.shared.b32 [t + U * 4], U; mov.f32 %f1, F; @%p bra L; setp.lt.u32 %p, %r1, U; L:
        lop3.b32 %r1, %r1, %r1, %r1, U; mov.u32 %r1, s + U; call (%r1), f, (U);",
    );
    let text = format!(
        "{text} .const .u32 c[3] = {{U, 2 * U}}; .visible .entry g<const N: u32, const M: bool>() .reqntid N, M {{ ret; }}"
    );
    let tokens = lex(&text).0.tokens;
    for at in 0..tokens.len() {
        let mut changed = tokens.clone();
        changed.remove(at);
        for tokens in [&tokens[..at], &changed] {
            let compiled = compile_in_rust(tokens, Default::default());
            for assertion in &compiled.hir.constants.assertions {
                Constants::pieces(&assertion.finding.message);
            }
        }
    }
}

/// The errors of a module in a Rust file: code, text under the error, message, help.
fn mistakes(text: &str) -> Vec<(u16, String, String, String)> {
    let lexed = lex(text).0;
    let compiled = compile_rust_file(&lexed.tokens, None, None, &[], Default::default());
    let mut found = compiled.diagnostics;
    crate::passes::hints::constants(&lexed.tokens, false, &mut found);
    let errors = found.into_iter().filter(|d| d.code.number < 600);
    errors
        .map(|d| {
            (
                d.code.number,
                text[lexed.bytes(d.span)].to_owned(),
                d.message,
                d.helps.first().cloned().unwrap_or_default(),
            )
        })
        .collect()
}

#[test]
fn mistakes_in_repetitions_are_explained() {
    let kernel = |body: &str| {
        format!("<sm_90, ptx 8.0, const S: u32 = 3> .visible .entry k() {{ .reg .b32 %a<3>; {body} ret; }}")
    };
    for (body, code, at, message, help) in [
        (
            "@for I in 0..2 { mov.u32 %a{J}, I; }",
            157,
            "J",
            "`J` is neither a constant nor the variable of an enclosing repetition",
            "put the statement into `@for J in 0..4 { ... }`, or name a constant",
        ),
        (
            "@for I 0..2 { mov.u32 %a{I}, I; }",
            157,
            "@for I 0..2",
            "a repetition needs a loop variable, and `in` after it",
            "write `@for I in 0..4 { ... }`",
        ),
        (
            "@for { mov.u32 %a0, 1; }",
            157,
            "@for",
            "a repetition needs a loop variable, and `in` after it",
            "write `@for I in 0..4 { ... }`",
        ),
        (
            "@if { mov.u32 %a0, 1; }",
            157,
            "@if",
            "`@if` has no condition",
            "write `@if N > 1 { ... }`, with a constant `N`",
        ),
        (
            "@if S > 2 { mov.u32 %a0, 1; } @else { mov.u32 %a0, 2; }",
            157,
            "@else",
            "`else` is written without `@`",
            "write `else { ... }`",
        ),
        (
            "@for I in 0..=18446744073709551615 { mov.u32 %a0, I; }",
            157,
            "18446744073709551615",
            "the end of a repetition is 18446744073709551615, which is too large",
            "write a number that fits in `i64`",
        ),
        (
            "@for I in 7..0 { mov.u32 %a0, I; }",
            157,
            "7..0",
            "the range `7..0` is empty, because 7 is greater than 0",
            "write `0..7`, and in the body what counts down, such as `7 - I`",
        ),
        (
            "@for I in S..=0 { mov.u32 %a0, I; }",
            157,
            "S..=0",
            "the range `3..=0` is empty, because 3 is greater than 0",
            "write `0..=3`, and in the body what counts down, such as `3 - I`",
        ),
        (
            "for I in 0..2 { mov.u32 %a0, 1; }",
            119,
            "for",
            "`for` is a C keyword",
            "write `@for I in 0..4 { ... }` to repeat code when it is compiled; a loop at run time is `while %i < %n { ... }`",
        ),
        (
            "if S > 2 { mov.u32 %a0, 1; }",
            163,
            "S > 2",
            "the condition is a constant, so nothing is decided when the kernel runs",
            "write `@if`, which keeps one of its bodies",
        ),
    ] {
        let wanted = [(code, at.to_owned(), message.to_owned(), help.to_owned())];
        assert_eq!(mistakes(&kernel(body)), wanted, "{body}");
    }
    // predicates may have these names
    let guards = ".reg .pred for, if; setp.eq.u32 for|if, S, 3; @for mov.u32 %a0, 1; @if bra L; @!for bra L; L:";
    assert_eq!(mistakes(&kernel(guards)), []);
}

/// Ranges that only some values of a constant make empty, and those with as many values as there is nothing to do.
#[test]
fn a_range_may_be_empty_by_a_constant() {
    for range in ["4..S", "S..2", "0..0", "S..S", "-1..0"] {
        let text = format!(
            "<sm_90, ptx 8.0, const S: u32 = 3> .visible .entry k() {{ .reg .b32 %a; @for I in {range} {{ mov.u32 %a, I; }} ret; }}"
        );
        assert_eq!(mistakes(&text), [], "{range}");
    }
}

#[test]
fn a_constant_in_a_repetition_has_a_value_in_each_iteration() {
    let text = "<sm_90, ptx 8.0> .visible .entry k() { .reg .b32 %a<8>;
        @for I in 0..2 {
            const J: u32 = I * 2 + 1;
            const L: u32 = J + 1;
            @for N in 0..J { const M: u32 = N + J; mov.u32 %a{N}, M; }
            mov.u32 %a{L}, J;
        } ret; }";
    assert_eq!(mistakes(text), []);
    let lexed = lex(text).0;
    let compiled = compile_rust_file(&lexed.tokens, None, None, &[], Default::default());
    let moves: Vec<&str> = compiled.ptx.lines().map(str::trim).filter(|line| line.starts_with("mov")).collect();
    let wanted = [
        "mov.u32 %a0, 1;",
        "mov.u32 %a2, 1;",
        "mov.u32 %a0, 3;",
        "mov.u32 %a1, 4;",
        "mov.u32 %a2, 5;",
        "mov.u32 %a4, 3;",
    ];
    assert_eq!(moves, wanted);
    let wrong = |body: &str| format!("<sm_90, ptx 8.0> .visible .entry k() {{ .reg .b32 %a<8>; {body} ret; }}");
    // numbers that are no integers, and values that only rustc knows, are the same in each iteration
    for (value, ty) in [("1.5", "f32"), ("crate::N", "u32")] {
        let body = format!("@for I in 0..3 {{ const J: {ty} = {value}; mov.b32 %a{{I}}, J; }}");
        assert_eq!(mistakes(&wrong(&body)), [], "{value}");
    }
    let found = mistakes(&wrong("@for I in 0..2 { const J: u32 = crate::N + I; mov.u32 %a0, J; }"));
    assert!(matches!(found.as_slice(), [(156, at, ..)] if at == "J"), "{found:?}");
    // after the repetition it has no value, and two in one iteration are two
    let found = mistakes(&wrong("@for I in 0..2 { const J: u32 = I; } mov.u32 %a0, J;"));
    assert!(matches!(found.as_slice(), [(401, at, ..)] if at == "J"), "{found:?}");
    let found = mistakes(&wrong("@for I in 0..2 { const J: u32 = I; const J: u32 = 2; mov.u32 %a0, J; }"));
    assert!(matches!(found.as_slice(), [(145, at, ..)] if at == "J"), "{found:?}");
    let found = mistakes(&wrong("@for I in 0..2 { const J: u8 = 300; mov.u32 %a0, J; }"));
    assert!(matches!(found.as_slice(), [(155, at, ..), ..] if at == "300"), "{found:?}");
}

/// A constant of a body is named outside of it: in a directive of the kernel, and in another kernel.
#[test]
fn constants_of_another_body_are_not_visible() {
    let help = "move `const THREADS` after the header: it is declared in a body, and is not visible here";
    for text in [
        "<sm_90, ptx 8.0> .visible .entry k() .reqntid THREADS { const THREADS: u32 = 128; ret; }",
        "<sm_90, ptx 8.0> .visible .entry j() { const THREADS: u32 = 128; ret; }
         .visible .entry k() { .reg .b32 %a; mov.u32 %a, THREADS; ret; }",
        "<sm_90, ptx 8.0> .shared .b32 t[THREADS]; .visible .entry j() { const THREADS: u32 = 128; ret; }",
    ] {
        let found = mistakes(text);
        assert!(found.iter().any(|d| d.3 == help), "{text}: {found:?}");
    }
}

#[test]
fn mistakes_with_constants_are_explained() {
    for (text, found) in [
        (
            ".visible .entry k() .reqntid crate::sizes::TILE { ret; }",
            &[(
                110,
                "put `const TILE: u32 = crate::sizes::TILE;` after the header, with its type, and write `TILE` here",
            )][..],
        ),
        (
            ".visible .entry k() .reqntid TILE { ret; }",
            &[(504, "for a Rust constant put `const TILE: u32 = TILE;` after the header, with its type and its path")],
        ),
        (
            ".visible .entry k() { .reg .b32 %r; mov.u32 %r, TILE * 4; ret; }",
            &[(401, "for a Rust constant put `const TILE: u32 = TILE;` after the header, with its type and its path")],
        ),
        (
            ".visible .entry k() { .reg .b32 %r; mov.u32 %r, crate::TILE; ret; }",
            &[(110, "put `const TILE: u32 = crate::TILE;` after the header, with its type, and write `TILE` here")],
        ),
        (
            ".visible .entry k() { .reg .b32 %r<crate::TILE>; ret; }",
            &[(110, "put `const TILE: u32 = crate::TILE;` after the header, with its type, and write `TILE` here")],
        ),
        (
            ".shared .align crate::TILE .b32 x; .visible .entry k() { ret; }",
            &[(110, "put `const TILE: u32 = crate::TILE;` after the header, with its type, and write `TILE` here")],
        ),
        (
            ".shared .b32 x[crate::TILE]; .visible .entry k() { ret; }",
            &[(110, "put `const TILE: u32 = crate::TILE;` after the header, with its type, and write `TILE` here")],
        ),
        (
            ".visible .entry k() { .reg .b32 %r; .reg .b64 %x; mov.b64 %x, 0; ld.global.u32 %r, [%x + crate::TILE]; ret; }",
            &[(110, "put `const TILE: u32 = crate::TILE;` after the header, with its type, and write `TILE` here")],
        ),
        (
            ".visible .entry k() { @for I in 0..crate::TILE { bar.sync 0; } ret; }",
            &[(157, "write a number, or put `const TILE: u32 = 16;` after the header")],
        ),
        // registers, not Rust constants
        (
            ".visible .entry k() { .reg .b32 %r; .reg .f32 AT; ld.global.u32 %r, [AT]; ret; }",
            &[(416, "keep the address in a `.b64` or `.u64` register")],
        ),
        (".visible .entry k<const N>() { ret; }", &[(155, "write `const N: u32`")]),
        (
            "const r: u32 = 3; .visible .entry k() { .reg .b32 r; mov.u32 r, 4; ret; }",
            &[(155, "give one of them another name")],
        ),
        (
            "const n: u32 = 3; .visible .entry k(.param .u32 n) { .reg .b32 %r; ld.param.u32 %r, [n]; ret; }",
            &[(155, "give one of them another name")],
        ),
        ("const WARP_SZ: u32 = 8; .visible .entry k() { ret; }", &[(155, "write another name")]),
        ("const N: u32 = 4 .visible .entry k() { .reg .b32 %r; mov.u32 %r, N; ret; }", &[(110, "")]),
        (
            "const N: u32 = x::N; .visible .entry k() { .reg .b32 %r; .reg .b64 %x; mov.u64 %x, 0;
            ld.global.u32 %r, [%x - N * 4]; ret; }",
            &[(416, "write `%x + -(N * 4)`")],
        ),
        (
            "const N: u32 = x::N; .global .u64 first = 3; .global .u64 offset = first + N; .visible .entry k() { ret; }",
            &[(156, "declare `N` with a number: `const N: u32 = 16;`")],
        ),
    ] {
        let text = format!("<sm_90, ptx 8.0> {text}");
        let all = mistakes(&text);
        assert_eq!(all.iter().map(|d| (d.0, d.3.as_str())).collect::<Vec<_>>(), found, "{text}");
    }
    // both places of a name
    let text = "<sm_90, ptx 8.0> const N: u32 = 3; const M: u32 = 4; const N: u32 = 5; .visible .entry k() { ret; }";
    let lexed = lex(text).0;
    let found = compile(&lexed.tokens).diagnostics;
    let labels: Vec<usize> = found[0].labels.iter().map(|label| lexed.bytes(label.0).start).collect();
    assert_eq!((found[0].code.number, labels), (145, vec![text.find('N').expect("the first")]));
}

/// A mistake in a range or in a repetition is one finding, and takes time in proportion to the length.
#[test]
fn a_mistake_in_a_repetition_is_one_finding() {
    let found = |body: &str| {
        let text = format!(
            "<sm_100a, ptx 8.6> .visible .entry k() {{ .reg .b64 %w<64>; .reg .b32 %a, %n<64>, %r<64>; mov.u32 %a, 0; {body} ret; }}"
        );
        let found = compile_rust_file(&lex(&text).0.tokens, None, None, &[], Default::default()).diagnostics;
        found.into_iter().map(|d| (d.code.number, d.notes.last().cloned().unwrap_or_default())).collect::<Vec<_>>()
    };
    let unwritten = found("tcgen05.st.sync.aligned.32x32b.x32.b32 [%a], {%r0..=%r31};");
    assert_eq!(unwritten.len(), 1, "{unwritten:?}");
    let in_loop = found("@for I in 0..2 { tcgen05.st.sync.aligned.32x32b.x32.b32 [%a], {%w0..=%w31}; }");
    assert_eq!(in_loop, [(407, "where `I = 0` and one more".to_owned())]);
    let start = std::time::Instant::now();
    let many = found("@for I in 0..5000 { add.u32 %a, %a, %w0; add.u32 %a, %w1, 1; }");
    let where_first = "where `I = 0` and 4999 more";
    assert_eq!(many, [(407, where_first.to_owned()), (407, where_first.to_owned())]);
    assert!(start.elapsed().as_secs() < 20);
}
