//! Pieces of a module, without rustc: what their uses print, and what is wrong with them.

use crate::lex::lex;
use crate::token::Tok;
use crate::{Compiled, compile_rust_file};

fn compiled(text: &str) -> Compiled {
    compile_rust_file(&lex(text).0.tokens, None, None, &[], Default::default())
}

/// A module with these pieces, and a kernel with these statements.
fn module(pieces: &str, body: &str) -> String {
    format!(
        "<sm_90, ptx 8.0> {pieces} .visible .entry k() {{ .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .pred %p, %done;
        .shared .align 8 .b64 bar[4]; .shared .align 4 .b32 word; mov.u32 %r1, 0; mov.u32 %r2, 0; {body} ret; }}"
    )
}

/// The statements as printed.
fn printed(pieces: &str, body: &str) -> String {
    let compiled = compiled(&module(pieces, body));
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|d| d.code.number < 600).collect();
    assert!(errors.is_empty(), "{body}: {errors:?}");
    let (_, body) = compiled.ptx.split_once("mov.u32 %r2, 0;").expect("the beginning");
    body.rsplit_once("ret;").expect("the end").0.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The codes of the errors, with the text that each is at.
fn errors(pieces: &str, body: &str) -> Vec<(u16, String)> {
    let text = module(pieces, body);
    let lexed = lex(&text).0;
    let found = compiled(&text).diagnostics;
    let errors = found.iter().filter(|d| d.code.number < 600);
    errors.map(|d| (d.code.number, text[lexed.bytes(d.span)].to_owned())).collect()
}

const WAIT: &str = ".inline wait(.shared .b64 at, .b32 parity) {
    .reg .pred %done;
    again:
    mbarrier.try_wait.parity.shared::cta.b64 %done, [at], parity;
    @!%done bra again;
}";

#[test]
fn a_use_is_a_block_with_the_arguments() {
    let block = |at: &str, parity: &str| {
        format!(
            "{{ .reg .pred %done; again: mbarrier.try_wait.parity.shared::cta.b64 %done, [{at}], {parity}; @!%done bra again; }}"
        )
    };
    assert_eq!(printed(WAIT, "wait!(bar + 8, %r1);"), block("bar+8", "%r1"));
    assert_eq!(printed(WAIT, "wait!(%r2, 1);"), block("%r2", "1"));
    let two = format!("{} {}", block("bar+0", "0"), block("bar+8", "0"));
    assert_eq!(printed(WAIT, "@for I in 0..2 { wait!(bar + 8 * I, 0); }"), two);
}

#[test]
fn an_expression_for_a_value_is_computed_before() {
    let piece = ".inline set(.reg .b32 %x, .b32 v, .pred c) { @c mov.u32 %x, v; }";
    // a constant stays what it is
    assert_eq!(printed(piece, "const N: u32 = 4; set!(%r1, N, %p);"), "{ @%p mov.u32 %r1, 4; }");
    assert_eq!(
        printed(piece, "set!(%r1, word, %p);"),
        "{ .reg .b32 %given1_1; mov.b32 %given1_1, word; @%p mov.u32 %r1, %given1_1; }"
    );
    assert_eq!(
        printed(piece, "set!(%r1, %r2 * 4 + 1, %r2 < 3); set!(%r1, %tid.x, %p);"),
        "{ .reg .b32 %given1_1; mad.lo.u32 %given1_1, %r2, 4, 1; .reg .pred %given1_2; setp.lt.u32 %given1_2, %r2, 3; \
         @%given1_2 mov.u32 %r1, %given1_1; } \
         { .reg .b32 %given2_1; mov.u32 %given2_1, %tid.x; @%p mov.u32 %r1, %given2_1; }"
    );
}

#[test]
fn names_of_a_piece_are_its_own() {
    // the argument has a name that the piece declares
    let piece =
        ".inline inc(.reg .b32 %x) { .reg .b32 %r<2>, %y; mov.u32 %r1, 1; add.u32 %x, %x, %r1; mov.u32 %y, %x; L: }";
    assert_eq!(
        printed(piece, "inc!(%r1); inc!(%r2);"),
        "{ .reg .b32 %r_1_<2>, %y; mov.u32 %r_1_1, 1; add.u32 %r1, %r1, %r_1_1; mov.u32 %y, %r1; L: } \
         { .reg .b32 %r_1_<2>, %y; mov.u32 %r_1_1, 1; add.u32 %r2, %r2, %r_1_1; mov.u32 %y, %r2; L: }"
    );
    // loop variables and constants outside are not seen inside
    let piece = ".inline set(.reg .b32 %x, const N: u32) { @for I in 0..N { mov.u32 %x, I; } }";
    assert_eq!(
        printed(piece, "const N: u32 = 7; @for I in 2..4 { set!(%r1, I - 1); }"),
        "{ mov.u32 %r1, 0; } { mov.u32 %r1, 0; mov.u32 %r1, 1; }"
    );
}

#[test]
fn pieces_use_pieces_and_layouts_name_variables() {
    let part = "part ring {
        .layout stages(full, empty, const N: u32) { .shared .align 8 .b64 full[N], empty[N]; }
        .inline one(.shared .b64 at) { mbarrier.init.shared.b64 [at], 1; }
        .inline init(.shared .b64 at, const N: u32) { @for I in 0..N { one!(at + 8 * I); } }
    }";
    assert_eq!(
        printed(part, "const S: u32 = 2; ring::stages!(a, b, S); ring::init!(b, S);"),
        ".shared .align 8 .b64 a[2], b[2]; { { mbarrier.init.shared.b64 [b+0], 1; } { mbarrier.init.shared.b64 [b+8], 1; } }"
    );
}

#[test]
fn constants_of_rust_go_through_pieces() {
    let pieces = ".inline outer(.reg .b32 %x, const N: u32) { inner!(%x, 2 * N); }
        .inline inner(.reg .b32 %x, const M: u32) { inmost!(%x, M + 1); }
        .inline inmost(.reg .b32 %x, const N: u32) { add.u32 %x, %x, N; }";
    assert_eq!(errors(pieces, "const T: u32 = crate::T; outer!(%r1, T);"), []);
}

#[test]
fn parts_of_one_name_stay_apart() {
    let parts = "part ring { const N: u32 = 1; .inline f(.reg .b32 %x) { mov.u32 %x, N; g!(%x); } .inline g(.reg .b32 %x) { add.u32 %x, %x, 10; } }
        part ring as other { const N: u32 = 2; .inline f(.reg .b32 %x) { mov.u32 %x, N; ring::g!(%x); } .inline g(.reg .b32 %x) { add.u32 %x, %x, 20; } }";
    assert_eq!(
        printed(parts, "other::f!(%r1); ring::f!(%r2);"),
        "{ mov.u32 %r1, 2; { add.u32 %r1, %r1, 20; } } { mov.u32 %r2, 1; { add.u32 %r2, %r2, 10; } }"
    );
    // neither constant is the kernel's
    assert_eq!(errors(parts, "mov.u32 %r1, N;"), [(401, "N".to_owned())]);
    // a third part cannot say which it means
    let third = format!("{parts} part third {{ .inline h(.reg .b32 %x) {{ ring::g!(%x); }} }}");
    assert_eq!(errors(&third, "third::h!(%r1);").iter().map(|e| e.0).collect::<Vec<_>>(), [160]);
}

#[test]
fn arguments_that_do_not_fit() {
    for (body, code, at) in [
        ("wait!(bar);", 160, ")"),
        ("wait!(bar, 0, 1);", 160, "1"),
        ("wait!(bar, %f1);", 160, "%f1"),
        ("wait!(bar, %rd1);", 160, "%rd1"),
        ("wait!(bar, 1.5);", 160, ""),
        ("wait!(word, 0);", 160, "word"),
        ("wait!(%f1, 0);", 160, "%f1"),
        ("wait!(none, 0);", 401, "none"),
        ("wait!(bar, %none);", 401, "%none"),
        ("wait!(bar, %tid);", 160, "%tid"),
        ("wait!(bar, %r1 + %rd1);", 162, "%rd1"),
        ("wat!(bar, 0);", 160, "wat"),
        ("wait!(bar, 0)", 160, ")"),
    ] {
        let found = errors(WAIT, body);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert!(found[0].0 == code && (found[0].1 == at || at.is_empty()), "{body}: {found:?}");
    }
    let piece = ".inline p(const N: u8, label out) { bra out; }";
    for (body, code, at) in [
        ("L: p!(256, L);", 160, "256"),
        ("L: p!(%r1, L);", 160, "%r1"),
        ("p!(1, L);", 401, "L"),
        ("p!(1, %r1);", 160, "%r1"),
        ("p!(1, bar);", 160, "bar"),
        ("L: p!(@if 0 { 1 }, L);", 160, "@if 0 { 1 }"),
    ] {
        assert_eq!(errors(piece, body), [(code, at.to_owned())], "{body}");
    }
}

#[test]
fn uses_that_are_written_wrongly() {
    let part = "part p { .inline inc(.reg .b32 %x) { add.u32 %x, %x, 1; } .layout l(a) { .shared .b32 a; } }";
    for (body, at, help) in [
        ("setp.ne.u32 %p, %r1, 0; @%p p::inc!(%r1);", "@%p", "branch around it: `@!%p bra over; p::inc!(...); over:`"),
        ("setp.ne.u32 %p, %r1, 0; @!%p p::inc!(%r1);", "@!%p", "branch around it: `@%p bra over; p::inc!(...); over:`"),
        ("@%p p::l!(x);", "@%p", "remove the guard"),
        ("p::inc(%r1);", "p::inc", "write `p::inc!(...)`"),
        ("setp.ne.u32 %p, %r1, 0; @%p p::inc(%r1);", "p::inc", "write `p::inc!(...)`"),
        ("setp.ne.u32 %p, %r1, 0; @!%p p::inc(%r1); L:", "p::inc", "write `p::inc!(...)`"),
        ("L: p::inc(%r1);", "p::inc", "write `p::inc!(...)`"),
        ("p::l(x);", "p::l", "write `p::l!(...)`"),
        ("p::incc!(%r1);", "p::incc", "did you mean `p::inc!(...)`?"),
        ("inc!(%r1);", "inc", "write `p::inc!(...)`"),
    ] {
        let text = module(part, body);
        let lexed = lex(&text).0;
        let found = compiled(&text).diagnostics;
        let errors: Vec<_> =
            found.iter().map(|d| (d.code.number, &text[lexed.bytes(d.span)], d.helps.as_slice())).collect();
        assert_eq!(errors, [(160, at, &[help.to_owned()][..])], "{body}");
    }
    assert_eq!(errors("part p { .inline a() { b(); } .inline b() { } }", "p::a!();"), [(160, "b".to_owned())]);
}

#[test]
fn a_part_is_alone_in_its_module() {
    for (module, at) in [
        ("part p { } .visible .entry k() .reqntid 4 { bogus; }", ".visible"),
        (".shared .b32 s[4]; use a::b; part p { }", ".shared"),
        ("part p { } const N: u32 = crate::N;", "const"),
        ("pub(crate) part p { } .func f() { ret; }", ".func"),
        ("part p { } .global .b32 x[2] = {1, 2};", ".global"),
        ("part p { } .inline f() { }", ".inline"),
        ("part p { } pub part q { }", "q"),
        ("bogus part p { }", "bogus"),
        ("part p { .func f() { ret; } .visible .entry z() { bogus; } }", ".entry"),
    ] {
        let text = format!("<sm_90, ptx 8.0> {module}");
        let lexed = lex(&text).0;
        let found = crate::parse::repeat::beside_part(&lexed.tokens);
        let errors: Vec<_> = found.iter().map(|d| (d.code.number, &text[lexed.bytes(d.span)])).collect();
        assert_eq!(errors, [(159, at)], "{module}");
    }
    // the lexer of text has no `#`
    let right = "<sm_90, ptx 8.0> use a::{b, c}; use d; HASH [allow(x)] pub(in a::b) part p { const N: u32 = 1; };";
    let mut tokens = lex(right).0.tokens;
    let hash = tokens.iter_mut().find(|token| token.kind == Tok::Word("HASH".to_owned())).expect("the attribute");
    hash.kind = Tok::Punct('#');
    assert_eq!(crate::parse::repeat::beside_part(&tokens), []);
    let header = "<sm_90, ptx 8.0, const N: u32 = 1> part p { }";
    assert_eq!(crate::parse::repeat::beside_part(&lex(header).0.tokens).len(), 1);
}

#[test]
fn definitions_that_are_wrong() {
    for (piece, at) in [
        (".inline f { }", ".inline"),
        (".inline f() ;", ".inline"),
        (".inline f(x) { }", "x"),
        (".inline f(const N: f32) { }", "const N: f32"),
        (".inline f(.b32 %a, .b32 %a) { }", ".b32 %a"),
        (".inline f() { } .inline f() { }", "f"),
        (".layout f(a) { .shared .b32 a, b; }", "b"),
        (".layout f(.b32 a) { }", ".b32 a"),
    ] {
        assert_eq!(errors(piece, ""), [(159, at.to_owned())], "{piece}");
    }
}

#[test]
fn a_name_given_twice_is_an_error_where_it_is_given() {
    let part = "part p { .layout l(a, const N: u32) { .shared .b32 a[N]; } .layout two(a, b) { l!(a, 1); l!(b, 2); } }";
    for body in
        ["p::l!(x, 4); p::l!(x, 4);", "p::l!(x, 4); .reg .b32 x;", ".reg .b32 x; p::l!(x, 4);", "p::two!(x, x);"]
    {
        let text = module(part, body);
        let found = compiled(&text).diagnostics;
        let lexed = lex(&text).0;
        let body = text.find(body).unwrap();
        let errors: Vec<_> = found.iter().filter(|d| d.code.number < 600).collect();
        let [d] = errors.as_slice() else { panic!("{body}: {errors:?}") };
        let (at, first) = (lexed.bytes(d.span), lexed.bytes(d.labels[0].0));
        assert_eq!((d.code.number, &text[at.clone()], &text[first.clone()]), (402, "x", "x"), "{body}");
        assert!(body < first.start && first.start < at.start, "{body}: {d:?}");
    }
    let errors = errors(part, "p::l!(x, 4); p::l!(x, 4); p::l!(x, 4);");
    assert_eq!(errors.len(), 2, "{errors:?}");
}

#[test]
fn an_error_in_a_piece_is_reported_once_with_its_uses() {
    let piece = ".inline f(.b32 %a) { .reg .b32 %t; add.u32 %t, %a; }";
    let text = module(piece, "f!(%r1); f!(%r2); f!(1);");
    let found = compiled(&text).diagnostics;
    let errors: Vec<_> = found.iter().filter(|d| d.code.number < 600).collect();
    assert!(!errors.is_empty());
    let lexed = lex(&text).0;
    for d in &errors {
        assert!(lexed.bytes(d.span).end < text.find(".visible").unwrap(), "{d:?}");
        let (at, label) = d.labels.last().expect("the use");
        assert_eq!((&text[lexed.bytes(*at)], label.as_str()), ("f", "in this use of `f` and 2 more"));
    }
}

#[test]
fn pieces_end() {
    for (pieces, body) in [(".inline f() { f!(); }", "f!();"), (".inline f() { g!(); } .inline g() { f!(); }", "f!();")]
    {
        assert_eq!(errors(pieces, body).iter().map(|d| d.0).collect::<Vec<_>>(), [160], "{pieces}");
    }
    // 2^30 uses
    let mut pieces = ".inline p0() { add.u32 %x, 1, 1; }".to_owned();
    for n in 1..30 {
        pieces.push_str(&format!(".inline p{n}() {{ p{}!(); p{}!(); }}", n - 1, n - 1));
    }
    assert!(errors(&pieces, "p29!();").iter().any(|d| d.0 == 157));
    assert_eq!(errors(WAIT, "ret; } wait!(bar, 0); .visible .entry l() {")[0].0, 160);
}

#[test]
fn constants_of_a_kernel_do_not_reach_the_next() {
    let text = "<sm_90, ptx 8.0> .visible .entry a() { .reg .b32 %r; const N: u32 = 2; @for I in 0..N { mov.u32 %r, I; } ret; }
        .visible .entry b() { .reg .b32 %r; const N: u32 = 3; @for I in 0..N { mov.u32 %r, I; } ret; }";
    assert_eq!(compiled(text).ptx.matches("mov.u32").count(), 5);
}

#[test]
fn no_tokens_with_pieces_panic() {
    let pieces = format!(
        "{WAIT} part ring {{ .layout l(a, const N: u32) {{ .shared .b32 a[N]; }} .inline i(label d, const N: i8) {{ L{{N}}: bra d; }} }}"
    );
    let text = module(&pieces, "L: ring::l!(x, 4); ring::i!(L, -1); wait!(bar, 0); @if 1 { wait!(bar + 8, %r1); }");
    let tokens = lex(&text).0.tokens;
    for at in 0..tokens.len() {
        let mut changed = tokens.clone();
        changed.remove(at);
        for tokens in [&tokens[..at], &tokens[at..], &changed] {
            compile_rust_file(tokens, None, None, &[], Default::default());
            crate::passes::pieces::check(tokens, 0..tokens.len(), Vec::new());
        }
    }
}

/// The errors of a part by itself: the codes, with the text that each is at.
fn alone(part: &str) -> Vec<(u16, String)> {
    let text = format!("<sm_90, ptx 8.0> part p {{ {part} }}");
    let lexed = lex(&text).0;
    let found = crate::passes::pieces::check(&lexed.tokens, 0..lexed.tokens.len(), Vec::new());
    found.iter().map(|d| (d.code.number, text[lexed.bytes(d.span)].to_owned())).collect()
}

#[test]
fn what_a_piece_is_given_is_unknown_where_it_is_defined() {
    for right in [
        ".inline at(.reg .b32 %x, .shared .b32 b, const O: u32) { ld.shared.u32 %x, [b + O]; }",
        ".inline sync(const N: u32) { bar.sync 0, N; bar.sync N, N; }",
        ".inline copy(.shared .b32 b, .reg .b64 %g, const N: u32) { cp.async.ca.shared.global [b], [%g], N; }",
        ".inline part_of(.reg .b32 %x, const N: u32) { mov.u32 %x, 12 / (N - 1); }",
        ".inline minus(.reg .b32 %x, const N: i32) { @for I in N..4 { mov.u32 %x, 12 / I; } }",
        ".inline names(.reg .b32 %x, const N: u32) { @for I in 0..N { .reg .b32 %a{I}; }
            @for I in 0..N - 1 { add.u32 %a{I}, %a{I + 1}, %x; } mov.u32 %x, %a3; }",
        ".inline name(.reg .b32 %x, const N: u32) { mov.u{N} %x, 1; }",
        ".inline either(.reg .b32 %x, const N: u32) {
            @if N == 4 { .reg .b32 %v; } else @if N == 8 { .reg .b64 %v; } else { .reg .f32 %w; }
            @if N == 8 { cvt.u32.u64 %x, %v; } else { mov.b32 %x, %v; } }",
        ".inline registers(.reg .b32 %x, const N: u32) { .reg .b32 %v<N>; mov.u32 %v3, %x; }",
        ".inline outer(.reg .b32 %x, const N: u32) { inner!(%x, N + 1); @for I in 0..N { inner!(%x, I); } }
         .inline inner(.reg .b32 %x, const M: u32) { @if M > 2 { shl.b32 %x, %x, 64 / (M - 1); } inmost!(%x, M * M); }
         .inline inmost(.reg .b32 %x, const N: u32) { add.u32 %x, %x, N; }",
        "const N: u32 = 2; .inline own(.reg .b32 %x, const N: u32) { @for N in 0..N { mov.u32 %x, 4 / (N - 1); } }",
        "const T: u32 = crate::T; .global .b32 g[T]; .inline of_rust(.reg .b32 %x, const N: u32) { mov.u32 %x, T * N; }",
        ".layout l(a, b, const N: u32) { .shared .align N .b32 a[N - 1]; .shared .b64 b[2 * N]; }",
    ] {
        assert_eq!(alone(right), [], "{right}");
    }
    for (wrong, code, at) in [
        (".inline f(.reg .b32 %x, const N: u32) { mov.u64 %x, N; }", 407, "%x"),
        (".inline f(.reg .b32 %x, const N: u32) { @if N > 4 { mov.u32 %x; } }", 404, "mov"),
        (".inline f(.reg .b32 %x, const N: u32) { @if N > 4 { } else { mov.u32 %x, %y; } }", 401, "%y"),
        (".inline f(.reg .b32 %x, const N: u32) { @for I in 1..N { mov.u32 %x, %y; } }", 401, "%y"),
        (".inline f(.reg .f32 %x, const N: u32) { mov.f32 %x, N; }", 408, "N"),
        (".inline f(const N: u32) { const T: u32 = crate::T; @for I in 0..N + T { } }", 156, "N + T"),
        (
            "const T: u32 = crate::T; .inline f(.shared .b32 b, .reg .b64 %g, const N: u32) {
            cp.async.ca.shared.global [b], [%g], N; cp.async.ca.shared.global [b], [%g], T; }",
            156,
            "T",
        ),
    ] {
        assert_eq!(alone(wrong), [(code, at.to_owned())], "{wrong}");
    }
}

#[test]
fn constants_that_a_part_does_not_declare() {
    let both = "add `const N: u32` to the parameters of `f`, or put `const N: u32 = crate::N;` into the part";
    let known = "add `const N: u32` to the parameters of `f`, or put `const N: u32 = 16;` into the part";
    for (items, help) in [
        (".inline f(.reg .b32 %x) { add.u32 %x, %x, N; }", both),
        (".inline g(const N: u32) { bar.sync N; } .inline f() { bar.sync N; }", both),
        (".inline f(.reg .b32 %x) { ld.shared.u32 %x, [%x + N]; }", both),
        (".layout f(a) { .shared .b32 a[N]; }", both),
        (".inline f() { @for I in 0..N { bar.sync I; } }", known),
        (".inline f() { @if N == 1 { bar.sync 0; } }", known),
        (".inline f() { .reg .b32 %x{N}; }", known),
        (
            ".func f(.reg .b32 %x) { add.u32 %x, %x, N; ret; }",
            "for a Rust constant put `const N: u32 = crate::N;` into the part, with its type and its path",
        ),
    ] {
        let text = format!("<sm_90, ptx 8.0> part p {{ {items} }}");
        let tokens = lex(&text).0.tokens;
        let header = crate::parse::parse_header(&tokens).1;
        let mut found = crate::passes::pieces::check(&tokens, header..tokens.len(), Vec::new());
        crate::passes::hints::constants(&tokens, false, &mut found);
        assert_eq!(found.iter().map(|d| d.helps.join("; ")).collect::<Vec<_>>(), [help], "{items}");
    }
    // the piece of a module sees no constant of a kernel
    let text = module(".inline f(.reg .b32 %x) { add.u32 %x, %x, N; }", "const N: u32 = 4; f!(%r1);");
    let tokens = lex(&text).0.tokens;
    let mut found = crate::passes::pieces::check(&tokens, 0..tokens.len(), Vec::new());
    crate::passes::hints::constants(&tokens, false, &mut found);
    let help = "add `const N: u32` to the parameters of `f`, or put `const N: u32 = N;` after the header";
    assert_eq!(found.iter().map(|d| d.helps.join("; ")).collect::<Vec<_>>(), [help]);
}

#[test]
fn a_boolean_argument_is_true_or_false() {
    let text = |argument: &str, ty: &str| {
        format!(
            "<sm_90, ptx 8.0> .inline p(const UP: {ty}) {{ @if UP {{ mov.u32 %a, 1; }} else {{ mov.u32 %a, 2; }} }}
             .visible .entry k() {{ .reg .b32 %a; p!({argument}); ret; }}"
        )
    };
    for (argument, wanted) in [("true", "mov.u32 %a, 1;"), ("false", "mov.u32 %a, 2;"), ("1", "mov.u32 %a, 1;")] {
        let compiled = compiled(&text(argument, "bool"));
        assert!(!compiled.failed(), "{argument}: {:?}", compiled.diagnostics);
        let ptx = compiled.ptx;
        assert!(ptx.contains(wanted), "{ptx}");
    }
    assert!(compiled(&text("true", "u32")).failed());
}

/// What is at the first place of an error, its labels, and its notes.
type Place = (String, Vec<(String, String)>, Vec<String>);

/// The places of each error.
fn places(text: &str) -> Vec<Place> {
    let lexed = lex(text).0;
    let mut found = compiled(text).diagnostics;
    let alone = crate::passes::pieces::check(&lexed.tokens, 0..lexed.tokens.len(), Vec::new());
    crate::passes::pieces::add_alone(&alone, &mut found);
    crate::diag::show_uses(&alone, &mut found);
    let at = |span| text[lexed.bytes(span)].to_owned();
    let errors = found.into_iter().filter(|d| d.severity == crate::diag::Severity::Error);
    errors.map(|d| (at(d.span), d.labels.into_iter().map(|(span, text)| (at(span), text)).collect(), d.notes)).collect()
}

#[test]
fn errors_that_a_use_causes_are_at_the_use() {
    let pieces = ".inline wait(.shared .b64 at, const N: u32) { bar.sync N; @if N > 20 { st.shared.b32 [at + N], 5; } }
        .inline outer(const M: u32) { wait!(bar, M); }
        .inline wrong(.b32 v) { ld.shraed.b32 %r1, [v]; }";
    let text = |body: &str| module(pieces, body);
    // an argument, through two uses
    for (body, at) in [("wait!(bar, 99);", "99"), ("outer!(98);", "98")] {
        let found = places(&text(body));
        let barrier = found.iter().find(|(place, ..)| place == at).unwrap_or_else(|| panic!("{body}: {found:?}"));
        assert!(
            barrier.1.iter().any(|(token, label)| token == "N" && label.starts_with("it is here in `")),
            "{barrier:?}"
        );
    }
    // a statement that only these uses make
    let found = places(&text("wait!(bar, 3); wait!(bar, 30); wait!(bar, 31);"));
    let store = found.iter().find(|(_, labels, _)| labels.iter().any(|(token, _)| token == "at"));
    let (place, _, notes) = store.unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(place, "bar");
    assert!(notes.iter().any(|note| note == "another use has it too"), "{notes:?}");
    // an error of the piece itself stays there
    let found = places(&text("wrong!(%r1); wrong!(%r2);"));
    assert_eq!(found.iter().filter(|(place, ..)| place == "shraed").count(), 1, "{found:?}");
}

/// A part of a reduction, whose opcode and type its use says.
const REDUCE: &str = ".inline reduce<OP: add | max | mul.lo, T: f32 | u32>(.reg .T %x, .T other = 0) {
    .reg .T %y;
    @if OP == max { mov.T %y, other; } else @if T != f32 { mov.T %y, 1; }
    OP.T %x, %x, %y;
}";

#[test]
fn words_stand_for_types_and_opcodes() {
    assert_eq!(
        printed(REDUCE, "reduce.max.u32!(%r1, 7); reduce.add.u32!(%r2); reduce.mul.lo.u32!(%r2);"),
        "{ .reg .u32 %y; mov.u32 %y, 7; max.u32 %r1, %r1, %y; } \
         { .reg .u32 %y; mov.u32 %y, 1; add.u32 %r2, %r2, %y; } \
         { .reg .u32 %y; mov.u32 %y, 1; mul.lo.u32 %r2, %r2, %y; }"
    );
    // words go on to another piece
    let outer = format!("{REDUCE} .inline twice<O: add | max>(.reg .u32 %x) {{ reduce.O.u32!(%x); }}");
    assert!(printed(&outer, "twice.max!(%r1);").contains("max.u32 %r1, %r1, %y;"));
    for (body, code, at) in [
        ("reduce.min.u32!(%r1);", 160, "min"),
        ("reduce.max!(%r1);", 160, "reduce"),
        ("reduce!(%r1);", 160, "reduce"),
        ("reduce.max.u32.x!(%r1);", 160, "x"),
        ("reduce.max.f32!(%rd1, 0f00000000);", 160, "%rd1"),
        ("reduce.max.u32!();", 160, ")"),
        ("reduce.max.u32!(%r1, 1, 2);", 160, "2"),
    ] {
        assert_eq!(errors(REDUCE, body), [(code, at.to_owned())], "{body}");
    }
    for (piece, at) in [
        (".inline f<>() { } .inline f<T>() { }", "T"),
        (".inline f<T: f32 |>() { }", "T: f32 |"),
        (".inline f<const N: u32>() { }", "const N: u32"),
        (".inline f<T: f32, T: f16>() { }", "T: f16"),
        (".inline f(.b32 a = 1, .b32 b) { }", ".b32 b"),
        (".inline f(.reg .b32 %a = 1) { }", ".reg .b32 %a = 1"),
        (".inline f(const N: u32 =) { }", "const N: u32 ="),
    ] {
        let found = errors(piece, "");
        assert!(found.iter().any(|found| *found == (159, at.to_owned())), "{piece}: {found:?}");
    }
    let wrong = ".inline f<T: f32 | f64>() { @if T == f16 { ret; } }";
    assert_eq!(errors(wrong, "f.f32!();"), [(160, "f16".to_owned())]);
}

#[test]
fn ranges_of_registers_are_arguments() {
    let sum = ".inline sum(.reg .u32 %s, .reg .b32 %x<N>, const N: u32) {
        @for I in 0..N { add.u32 %s, %s, %x{I}; }
    }";
    assert_eq!(
        printed(sum, "sum!(%r1, {%r2..=%r4}, 3); sum!(%r1, {%r5, %r3}, 2);"),
        "{ add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; } \
         { add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r3; }"
    );
    assert_eq!(printed(sum, "sum!(%r7, %r<2>, 2);"), "{ add.u32 %r7, %r7, %r0; add.u32 %r7, %r7, %r1; }");
    // through another piece, in part and as a whole; its own `%x` is another one
    let outer = format!(
        "{sum} .inline halves(.reg .b32 %s, .reg .b32 %x<4>) {{
            sum!(%s, {{%x2..=%x3}}, 2); sum!(%s, %x, 4); sum!(%s, %x<1>, 1); mov.b64 {{%s, %x1}}, 0;
        }}
        .inline vector(.reg .f32 %v<4>, .shared .b32 at) {{ ld.shared.v4.f32 %v, [at]; ld.shared.v2.f32 {{%v0..=%v1}}, [at]; }}"
    );
    let text = printed(&outer, "halves!(%r0, {%r1, %r2, %r3, %r4});");
    assert!(text.starts_with("{ { add.u32 %r0, %r0, %r3; add.u32 %r0, %r0, %r4; } { add.u32 %r0, %r0, %r1;"), "{text}");
    assert!(text.ends_with("{ add.u32 %r0, %r0, %r1; } mov.b64 {%r0, %r2}, 0; }"), "{text}");
    assert_eq!(
        printed(&outer, "vector!(%f<4>, word);"),
        "{ ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [word]; ld.shared.v2.f32 {%f0, %f1}, [word]; }"
    );
    for (body, code, at) in [
        ("sum!(%r1, {%r2..=%r4}, 4);", 160, "{%r2..=%r4}"),
        ("sum!(%r1, %r2, 1);", 160, "%r2"),
        ("sum!(%r1, {%r2, 4}, 2);", 160, "{%r2, 4}"),
        ("sum!(%r1, {%f2}, 1);", 160, "%f2"),
        ("sum!(%r1, {%r7..=%r8}, 2);", 401, "%r7"),
        ("vector!(%f<3>, word);", 160, "%f<3>"),
    ] {
        assert_eq!(errors(&outer, body), [(code, at.to_owned())], "{body}");
    }
    let beyond = ".inline f(.reg .b32 %x<2>) { mov.u32 %x2, 1; }";
    assert_eq!(errors(beyond, "f!({%r1, %r2});"), [(401, "%x2".to_owned())]);
    assert_eq!(alone(beyond).iter().map(|e| e.0).collect::<Vec<_>>(), [401]);
    for right in [
        sum,
        &outer,
        ".inline f<T: f32 | b32>(.reg .T %x<N>, const N: u32 = 4) { mov.T %x0, 0f00000000; @for I in 1..N { mov.T %x{I}, %x0; } }",
    ] {
        assert_eq!(alone(right), [], "{right}");
    }
}
