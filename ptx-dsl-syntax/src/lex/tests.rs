use super::*;

/// Tokens as a compact text: words and numbers as they are, a space before what is not glued.
fn show(tokens: &[Token]) -> String {
    let mut out = String::new();
    for t in tokens {
        if !t.glued {
            out.push(' ');
        }
        match &t.kind {
            Tok::Word(w) => out.push_str(&format!("w{w}")),
            Tok::Number(n) => out.push_str(&format!("n{n}")),
            Tok::Str(s) => out.push_str(&format!("s\"{s}\"")),
            Tok::Punct(c) => out.push(*c),
        }
    }
    out
}

fn lexed(text: &str) -> String {
    let (lexed, diags) = lex(text);
    assert!(diags.is_empty(), "{text}: {diags:?}");
    show(&lexed.tokens)
}

#[test]
fn tokens_of_text() {
    let cases = [
        ("mov.u32 %r1, %tid.x;", " wmov.wu32 w%r1, w%tid.wx;"),
        ("$L__BB0_3: // here\n@!p bra $L__BB0_3;", " w$L__BB0_3: @!wp wbra w$L__BB0_3;"),
        ("tcgen05.cp.cta_group::1.128x256b", " wtcgen05.wcp.wcta_group::n1.n128x256b"),
        (".align 4 %p", " .walign n4 w%p"),
        (".reg .b32 %r<100>;", " .wreg .wb32 w%r<n100>;"),
        ("5 % 3", " n5 % n3"),
        ("5%3", " n5%n3"),
        ("(N)%3", " (wN)%n3"),
        ("[x, N%3", " [wx, wN%n3"),
        ("mov.b32 %1, %2", " wmov.wb32 w%1, w%2"),
        ("1.5e-3 2.", " n1.n5e-n3 n2."),
        ("/* a\n b */ \"a \\\" _", " s\"a \\\" w_"),
        ("a$b a<<2", " wa$b wa<<n2"),
    ];
    for (text, want) in cases {
        assert_eq!(lexed(text), want, "{text}");
    }
}

#[test]
fn ranges_point_into_the_text() {
    let text = "ld.b32 # %r1;";
    let (lexed, diags) = lex(text);
    assert_eq!(diags.len(), 1);
    assert_eq!(diags[0].code, 101);
    assert_eq!(&text[lexed.bytes(diags[0].span)], "#");
    let last = lexed.tokens.last().expect("the semicolon");
    assert_eq!(&text[lexed.bytes(last.span())], ";");
}

#[test]
fn bad_bytes() {
    for (text, code) in [("a é b", 101), ("$ x", 101), ("'a'", 101), ("\"open\nb", 102), ("a /* b", 103)] {
        let (_, diags) = lex(text);
        assert_eq!(diags.first().map(|d| d.code), Some(code), "{text}");
    }
}

#[test]
fn rust_literals() {
    let cases = [
        ("1.128x256b", "n1.n128x256b"),
        ("02_13", "n02_13"),
        ("4X", "n4X"),
        ("0f3F800000", "n0f3F800000"),
        ("1.5e-3", "n1.n5e-n3"),
        ("\"str\"", "s\"str\""),
        ("r#\"a\"b\"#", "s\"a\"b\""),
        ("2.", "n2."),
        ("'a'", "'wa'"),
    ];
    for (text, want) in cases {
        let mut out = Vec::new();
        split_literal(text, 7, true, &mut out);
        assert_eq!(show(&out), want, "{text}");
        assert!(out.iter().all(|t| t.id == 7));
    }
    let mut out = Vec::new();
    split_literal("1.5", 0, false, &mut out);
    assert_eq!(show(&out), " n1.n5");
}

#[test]
fn lines_and_columns() {
    let text = "ab\né c\n";
    for (byte, want) in [(0, (1, 1)), (1, (1, 2)), (3, (2, 1)), (4, (2, 1)), (6, (2, 3)), (8, (3, 1)), (99, (3, 1))] {
        assert_eq!(line_col(text, byte), want, "{byte}");
    }
}
