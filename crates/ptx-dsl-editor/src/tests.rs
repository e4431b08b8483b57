//! The answers on a small kernel, whole and broken. `|` in a text is the cursor.

use crate::*;

const KERNEL: &str = "\
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .b32 total;
.visible .entry scale(.param .u64 .ptr .global .align 4 x, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %x, %off;
    .shared .align 8 .b64 full;
    ld.param.u64 %x, [x];
    mov.u32 %r0, %tid.x;
    ld.param.u32 %r1, [n];
    setp.ge.u32 %p, %r0, %r1;
    @%p bra done;
    mad.wide.u32 %off, %r0, 4, %x;
    ld.global.u32 %r2, [%off];
    st.global.u32 [%off], %r2;
done:
    ret;
}
";

/// The kernel with other text in place of a line, and the cursor in it.
fn with(line: &str, new: &str) -> (Document, usize) {
    let text = KERNEL.replace(line, new);
    assert_ne!(text, KERNEL, "there is no line `{line}`");
    let at = text.find('|').expect("a cursor");
    (Document::new(text.replacen('|', "", 1)), at)
}

/// The place of a text in the kernel, and the kernel.
fn at(what: &str) -> (Document, usize) {
    (Document::new(KERNEL), KERNEL.find(what).expect("the text"))
}

fn texts(document: &Document, byte: usize) -> Vec<String> {
    completions(document, byte).into_iter().filter(|c| c.fits).map(|c| c.text).collect()
}

#[test]
fn a_right_kernel_has_no_findings() {
    assert_eq!(Document::new(KERNEL).findings(), []);
}

#[test]
fn a_finding_has_its_place_and_its_help() {
    let document = Document::new(KERNEL.replace("ld.global.u32 %r2", "ld.globl.u32 %r2"));
    let [found] = document.findings() else { panic!("{:?}", document.findings()) };
    assert!(found.is_error && document.text()[found.at.clone()].contains("globl"), "{found:?}");
    assert!(found.message.contains("\nhelp: "), "{}", found.message);
}

#[test]
fn an_opcode_tells_its_form_and_a_qualifier_its_alternatives() {
    let (document, byte) = at("mad.wide");
    let of_opcode = hover(&document, byte + 1).expect("an opcode");
    assert!(of_opcode.text.contains("mad.") && of_opcode.text.contains("PTX ISA 9.7.1.4"), "{}", of_opcode.text);
    assert!(of_opcode.text.contains("Host: runs it"), "{}", of_opcode.text);
    let of_qualifier = hover(&document, byte + 5).expect("a qualifier");
    assert_eq!(&document.text()[of_qualifier.at], "wide");
    assert!(of_qualifier.text.contains("`.lo`"), "{}", of_qualifier.text);
}

#[test]
fn names_tell_their_declarations() {
    for (what, part) in [
        ("%off, %r0, 4", ".reg .b64 %off"),
        ("%r2, [%off]", ".reg .b32 %r<4>"),
        ("done;", "label"),
        ("x];", ".param .u64 .ptr .global x"),
        ("scale(", ".entry scale("),
        ("%tid.x", "special register"),
    ] {
        let (document, byte) = at(what);
        let found = hover(&document, byte).unwrap_or_else(|| panic!("nothing is known of `{what}`"));
        assert!(found.text.contains(part), "{what}: {}", found.text);
    }
}

#[test]
fn uses_and_renames_follow_scopes() {
    let text = KERNEL.replace("done:\n", "{ .reg .b32 %x; mov.b32 %x, 1; }\ndone:\n");
    let document = Document::new(text.clone());
    let outer = text.find("%x, %off").unwrap();
    let inner = text.find("%x; mov").unwrap();
    assert_eq!(document.names().uses_of(outer).len(), 3, "declared, loaded, added");
    assert_eq!(document.names().uses_of(inner).len(), 2);
    let mut renamed = text.clone();
    for (range, new) in document.names().rename(inner, "%one").unwrap().into_iter().rev() {
        renamed.replace_range(range, &new);
    }
    assert!(renamed.contains("{ .reg .b32 %one; mov.b32 %one, 1; }") && renamed.contains("[x];"), "{renamed}");
    assert!(Document::new(renamed).findings().iter().all(|f| !f.is_error));
    // all registers of a range
    let (document, byte) = at("%r<4>");
    let edits = document.names().rename(byte, "%value").unwrap();
    assert_eq!(edits.len(), 8, "the declaration and seven uses");
    assert!(document.names().rename(byte, "%r9").is_err() && document.names().rename(byte, "1x").is_err());
    assert!(document.names().rename(byte, "%off").is_err(), "it is taken");
}

#[test]
fn the_next_qualifiers_are_those_of_the_forms() {
    let (document, byte) = with("    ld.global.u32 %r2, [%off];", "    ld.|");
    let found = texts(&document, byte);
    for word in ["global", "relaxed", "acquire", "u32", "v2"] {
        assert!(found.iter().any(|f| f == word), "`{word}` is missing: {found:?}");
    }
    let (document, byte) = with("    ld.global.u32 %r2, [%off];", "    ld.relaxed.|");
    let found = texts(&document, byte);
    assert!(found.iter().any(|f| f == "gpu") && found.iter().all(|f| f != "acquire"), "{found:?}");
    let (document, byte) = with("    ld.global.u32 %r2, [%off];", "    mbarrier.|");
    let found = texts(&document, byte);
    assert!(found.iter().any(|f| f == "arrive") && found.iter().any(|f| f == "try_wait"), "{found:?}");
    let (document, byte) = with("    ld.global.u32 %r2, [%off];", "    mb|");
    assert!(texts(&document, byte).iter().any(|f| f == "mbarrier.init"));
}

#[test]
fn operands_are_registers_of_their_type_and_labels() {
    let (document, byte) = with("    ld.global.u32 %r2, [%off];", "    ld.global.u32 |");
    let found = texts(&document, byte);
    assert!(found.iter().any(|f| f == "%r3") && found.iter().all(|f| f != "%x" && f != "%p"), "{found:?}");
    let (document, byte) = with("    ld.global.u32 %r2, [%off];", "    bra |;");
    assert_eq!(texts(&document, byte), ["done"]);
    let (document, byte) = with("    mov.u32 %r0, %tid.x;", "    mov.u32 %r0, %|;");
    assert!(texts(&document, byte).iter().any(|f| f == "%ctaid.x"));
    let (document, byte) = with("    mov.u32 %r0, %tid.x;", "    // ld.|");
    assert_eq!(texts(&document, byte), [""; 0], "a comment");
}

#[test]
fn a_signature_follows_the_commas() {
    let (document, byte) = with("    mad.wide.u32 %off, %r0, 4, %x;", "    mad.wide.u32 %off, %r0, |;");
    let found = signature(&document, byte);
    let first = found.first().expect("a signature");
    assert_eq!((first.label.as_str(), first.active), ("mad.wide.u32 d, a, b, c", 2));
}

#[test]
fn an_outline_has_what_is_declared() {
    let document = Document::new(KERNEL);
    let found = outline(&document);
    let names: Vec<&str> = found.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["total", "scale"]);
    let inside: Vec<&str> = found[1].inside.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(inside, ["x", "n", "full", "done"]);
    assert_eq!(folds(&document).len(), 1);
}

#[test]
fn words_have_kinds() {
    let document = Document::new(KERNEL);
    let all = words(&document);
    let kind = |text: &str| all.iter().find(|w| &document.text()[w.at.clone()] == text).map(|w| w.kind);
    assert_eq!(kind("mad"), Some(WordKind::Opcode));
    assert_eq!(kind("wide"), Some(WordKind::Qualifier));
    assert_eq!(kind("reg"), Some(WordKind::Directive));
    assert_eq!(kind("%r2"), Some(WordKind::Name(SymbolKind::Register)));
    assert_eq!(kind("%tid"), Some(WordKind::SpecialRegister));
    assert!(all.windows(2).all(|two| two[0].at.end <= two[1].at.start), "words are in order");
}

#[test]
fn a_fix_mends_its_finding() {
    for (line, broken, mended) in [
        ("ld.global.u32 %r2", "ld.globl.u32 %r2", "ld.global.u32 %r2"),
        ("@%p bra done;", "@%p bra dome;", "@%p bra done;"),
        ("setp.ge.u32", "setp.ge.u23", "setp.ge.u32"),
    ] {
        let document = Document::new(KERNEL.replace(line, broken));
        let finding = document.findings().first().unwrap_or_else(|| panic!("`{broken}` has no finding"));
        let all = fixes(&document, finding.at.clone());
        let results: Vec<String> = all
            .iter()
            .map(|fix| {
                let mut text = document.text().to_owned();
                text.replace_range(fix.at.clone(), &fix.text);
                text
            })
            .collect();
        assert!(results.iter().any(|text| text.contains(mended)), "{broken}: {all:?}");
    }
}

/// No text panics, and each answer is about bytes of the text: the kernel with pieces removed, doubled and exchanged.
#[test]
fn no_text_panics() {
    let mut state = 1u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n.max(1)
    };
    for round in 0..120 {
        let mut text = KERNEL.to_owned();
        for _ in 0..1 + round % 4 {
            let from = random(text.len());
            let to = (from + random(30)).min(text.len());
            let piece = [";", "{", "}", "\u{e9}", "%r", ".", "/*", "\"", "[", "@", "::"][random(11)];
            text.replace_range(from..to, piece);
            if !text.is_char_boundary(random(text.len())) {
                text.push('\n');
            }
        }
        let document = Document::new(text.clone());
        let whole =
            |range: &std::ops::Range<usize>| assert!(text.get(range.clone()).is_some(), "{range:?} in {text:?}");
        document.findings().iter().for_each(|f| whole(&f.at));
        words(&document).iter().for_each(|w| whole(&w.at));
        outline(&document).iter().for_each(|o| whole(&o.all));
        folds(&document).iter().for_each(|f| whole(&f.at));
        for _ in 0..8 {
            let byte = random(text.len());
            if !text.is_char_boundary(byte) {
                continue;
            }
            if let Some(found) = hover(&document, byte) {
                whole(&found.at);
            }
            completions(&document, byte).iter().for_each(|c| whole(&c.replaces));
            let _ = signature(&document, byte);
            document.names().uses_of(byte).iter().for_each(whole);
        }
    }
}

/// The tokens of a body of `ptx!`, as a macro has them.
fn of_tokens(body: &str) -> (Document, Vec<String>) {
    let (lexed, _) = ptx_dsl_frontend::lex::lex_rust(body);
    let words = lexed.tokens.iter().map(|token| body[lexed.ranges[token.id as usize].clone()].to_owned()).collect();
    (Document::of_tokens(lexed.tokens.clone(), lexed.ranges.len() as u32), words)
}

const MACRO: &str = "\
<sm_90, ptx 8.0>
.inline wait(.shared .b64 at, .b32 parity) {
    .reg .pred %again;
  retry:
    mbarrier.try_wait.parity.shared::cta.b64 %again, [at], parity;
    @!%again bra retry;
}
.visible .entry k(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
    .reg .b32 %r<4>, %s;
    .reg .b64 %x;
    .shared .align 8 .b64 full;
    ld.param.u64 %x, [x];
    wait!(full, 0);
    @for I in 0..4 { mov.u32 %r{I}, I; }
    let %q: b32 = %r0 + 1;
    { .reg .b32 %s; mov.u32 %s, %q; }
    mov.u32 %s, %tid.x;
    add.u32 %s, %s, 1;
    st.global.u32 [%x], %s;
    ret;
}
";

#[test]
fn marks_tell_of_each_token_what_may_stand_there() {
    let (document, words) = of_tokens(MACRO);
    let marks = marks(&document);
    assert_eq!(marks.tokens.len(), words.len() + 1);
    let names = |list: usize| match &marks.lists[list] {
        List::Words(words) => words.iter().map(|(word, _)| word.clone()).collect::<Vec<_>>(),
        List::Groups(groups) | List::GroupsAndWords(groups, _) => {
            groups.iter().flat_map(|group| &marks.groups[*group]).map(|declared| declared.name.clone()).collect()
        }
    };
    let nth = |word: &str, n: usize| words.iter().enumerate().filter(|(_, w)| *w == word).nth(n).expect("the word").0;
    let at = |word: &str, n: usize| marks.tokens[nth(word, n)];
    let list = |word: &str, n: usize| names(at(word, n).list.expect("a list"));
    assert!(at("add", 0).in_opcode && list("add", 0).contains(&"mbarrier".to_owned()));
    assert!(list("try_wait", 0).contains(&"expect_tx".to_owned()) && !list("try_wait", 0).contains(&"add".to_owned()));
    // of the inner `%s` and the outer one, each use sees its own; a statement sees the registers that fit
    let registers = list("%s", 4);
    assert!(["r0", "s", "q"].iter().all(|name| registers.contains(&(*name).to_owned())), "{registers:?}");
    assert!(!registers.contains(&"x".to_owned()) && !registers.contains(&"again".to_owned()), "{registers:?}");
    assert_eq!(list("%again", 2), ["again"], "the guard");
    assert_eq!(list("retry", 1), ["retry"]);
    assert_eq!(list("wait", 1), ["wait"]);
    // what is declared has no list, a range a text
    assert!(at("%x", 0).list.is_none() && at("%r", 0).text.is_some());
    let text = |word: &str, n: usize| &marks.texts[at(word, n).text.expect("a text")];
    assert!(text("parity", 1).contains("by its parity"), "{}", text("parity", 1));
    assert!(text("%tid", 0).contains("index of the thread"));
    let declared: Vec<&str> = marks.groups.iter().flatten().map(|declared| declared.name.as_str()).collect();
    for name in ["at", "parity", "again", "retry", "wait", "x", "r3", "s", "q", "full"] {
        assert!(declared.contains(&name), "{name}: {declared:?}");
    }
    assert!(!declared.contains(&"k"), "a kernel is an item of Rust");
}

/// A macro may never panic in an editor: then nothing is known of the file.
#[test]
fn marks_of_any_tokens_do_not_panic() {
    let mut state = 11u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n.max(1)
    };
    for _ in 0..60 {
        let mut text = MACRO.to_owned();
        for _ in 0..1 + random(4) {
            let from = random(text.len());
            let to = (from + random(25)).min(text.len());
            text.replace_range(
                from..to,
                [";", "{", "}", "%", "$", ".", "::", "@", "@for", "(", "<", "add"][random(12)],
            );
        }
        let (document, words) = of_tokens(&text);
        let marks = marks(&document);
        assert_eq!(marks.tokens.len(), words.len() + 1);
        for mark in &marks.tokens {
            assert!(mark.list.is_none_or(|list| list < marks.lists.len()));
            assert!(mark.text.is_none_or(|text| text < marks.texts.len()));
        }
        inlays(&document, 0..usize::MAX);
    }
}

/// A file of this many lines: kernels of 100 lines each.
fn large(lines: usize) -> String {
    let mut text = KERNEL.lines().take(3).map(|line| format!("{line}\n")).collect::<String>();
    for kernel in 0..lines / 100 {
        text += &format!(".visible .entry k{kernel}(.param .u64 .ptr .global .align 4 x)\n{{\n");
        text += ".reg .b32 %r<4>; .reg .b64 %x;\nld.param.u64 %x, [x];\nmov.u32 %r0, %tid.x;\n";
        text += &"mad.lo.u32 %r1, %r0, 3, 1;\nst.global.u32 [%x], %r1;\n".repeat(46);
        text += "ret;\n}\n";
    }
    text
}

/// Each question takes time in proportion to the file. `cargo test --release -- --nocapture` prints the times.
#[test]
fn large_files_take_time_in_proportion() {
    let time = |lines: usize| {
        let text = large(lines);
        let start = std::time::Instant::now();
        let document = Document::new(text.clone());
        let analysed = start.elapsed();
        let start = std::time::Instant::now();
        assert!(words(&document).len() > lines * 4 && outline(&document).len() == lines / 100);
        let byte = text.rfind("%r0, 3").expect("an operand");
        assert!(hover(&document, byte).is_some() && completions(&document, byte).len() > 4);
        assert_eq!(document.names().uses_of(byte).len(), 2 + 46 * 3);
        println!("{lines} lines: {analysed:?} to analyse, {:?} to answer", start.elapsed());
        (analysed + start.elapsed()).as_secs_f64()
    };
    let (small, large) = (time(1000), time(8000));
    assert!(large < 8.0 * 2.5 * small, "{small} s for 1,000 lines, {large} s for 8,000");
}
