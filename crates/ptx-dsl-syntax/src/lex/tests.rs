use super::*;

/// Tokens as compact text: words and numbers as they are, a space before each token that does not touch the previous one.
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
        ("5%3", " n5w%3"),
        ("(N)%3", " (wN)w%3"),
        ("5%(3)", " n5%(n3)"),
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
    assert_eq!(diags[0].code.number, 101);
    assert_eq!(&text[lexed.bytes(diags[0].span)], "#");
    let last = lexed.tokens.last().expect("the semicolon");
    assert_eq!(&text[lexed.bytes(last.span())], ";");
}

#[test]
fn bad_bytes() {
    for (text, code) in [("a é b", 101), ("$ x", 101), ("'a'", 101), ("\"open\nb", 102), ("a /* b", 103)] {
        let (_, diags) = lex(text);
        assert_eq!(diags.first().map(|d| d.code.number), Some(code), "{text}");
    }
}

/// Lines that the C preprocessor leaves in a file, with the verdicts of ptxas 13.5.
#[test]
fn lines_of_the_preprocessor() {
    let read = [
        "# 1 \"f\"",
        "#1 \"f\"",
        "#line 1 \"f\"",
        "# line 1 \"f\"",
        "#line1 \"f\"",
        "\t# 31 \"<command-line>\" 2",
        "# 1 \"/a b\" 1 3 4\r",
        "# 0 \"\"",
        "# 1 \"a\\\\b\"  1 ",
        "x # 1 \"f\"",
    ];
    for text in read {
        let (lexed, diags) = lex(&format!("{text}\nret;"));
        assert!(diags.is_empty(), "{text}");
        assert!(show(&lexed.tokens).ends_with(" wret;"), "{text}");
        assert_eq!(lexed.tokens.len(), 2 + usize::from(text.starts_with('x')), "{text}");
    }
    let refused = [
        "# 1",
        "#line 1",
        "# 1\"f\"",
        "# 1 \"f\"1",
        "# 1 \"f\" 12",
        "# 1 \"f\" x",
        "# -1 \"f\"",
        "# 0x1 \"f\"",
        "#LINE 1 \"f\"",
        "# 1 <f>",
        "# 1 \"a",
        "# 1 \"a\\\"b\"",
        "# 1 \"f\" // g",
        "#pragma once",
        "#",
        "# 1 \"é\"",
    ];
    for text in refused {
        let (_, diags) = lex(&format!("{text}\nret;"));
        assert_eq!(diags.first().map(|d| d.code.number), Some(101), "{text}");
    }
    // Without the end of its line it is none.
    assert_eq!(lex("# 1 \"f\"").1.len(), 1);
    assert!(lex("ret;\x1a").1.is_empty());
}

/// White space inside a name of several parts: ptxas 13.5 accepts it only before a dot.
#[test]
fn parts_stand_together() {
    for text in ["add . u32", "add. u32", ". reg", "%tid. x", "ld.shared:: cta", "ld.shared ::cta", "ld.shared :: cta"]
    {
        let (_, diags) = lex(text);
        assert_eq!(diags.first().map(|d| d.code.number), Some(110), "{text}");
    }
    for text in ["add .u32", "%tid\n.x", "1. ", "2. , x", "L : add", "a ? b : c", "add.u32. %r1"] {
        assert!(lex(text).1.is_empty(), "{text}");
    }
}
