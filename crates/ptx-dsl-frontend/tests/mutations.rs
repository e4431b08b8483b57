//! Mutation tests: pieces of `tests/ptx/*.ptx`, mutated as bytes and as tokens, go through the lexer, the parser, the checker and
//! the printer. Any input gives diagnostics, never a panic. The same seed gives the same modules; `PTX_DSL_MUTATIONS=100000`
//! tries more of them.

use ptx_dsl_frontend::lex::lex;
use ptx_dsl_test_support::random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Insertions: numbers near a limit, opening brackets, and words with a meaning elsewhere.
const WORDS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ".",
    ":",
    "::",
    "@",
    "@!",
    "|",
    "!",
    "+",
    "-",
    "<",
    ">",
    "=",
    "_",
    "%",
    "$",
    "\"",
    "/*",
    "//",
    "0",
    "1",
    "-1",
    "0x",
    "0b",
    "0f3F800000",
    "0d3FF0000000000000",
    "0f",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "1e999",
    ".5",
    "1.",
    "0xFFFFFFFFFFFFFFFFU",
    "4294967296",
    ".entry",
    ".func",
    ".visible",
    ".extern",
    ".weak",
    ".common",
    ".alias",
    ".pragma",
    ".attribute(.managed)",
    ".version",
    ".target",
    ".reg .b32 %r<4294967295>;",
    ".param",
    ".shared",
    ".global",
    ".const",
    ".local",
    ".align 0",
    ".align 16",
    ".v2",
    ".v4",
    ".v8",
    ".b8",
    ".b128",
    ".f64",
    ".pred",
    ".u32",
    ".texref",
    ".maxntid 1",
    ".reqntid 0",
    ".noreturn",
    ".branchtargets",
    ".callprototype",
    ".loc 1 1 1",
    ".section",
    "@@DWARF",
    ".file 1 \"a\"",
    "call",
    "ret;",
    "bra",
    "mov.b64",
    "ld",
    "st.global.u32",
    "cvt.rn.bf16.f32",
    "mbarrier.try_wait",
    "mbarrier.arrive.b64 _,",
    ".sys",
    ".cluster",
    ".relaxed",
    ".unified",
    "%tid.x",
    "%clock64",
    "WARP_SZ",
    "x[1]",
    "{_, _}",
    "p|q",
    "-2147483648",
    "é",
    "\u{0}",
    "\u{feff}",
    "<sm_90, ptx 8.0, deny(PTX0516)>",
    "sm_90a",
    "sm_10000000000a",
];

/// The header, with one function or declaration each.
fn pieces(text: &str) -> (String, Vec<String>) {
    let (mut head, mut items, mut item, mut depth) = (String::new(), Vec::new(), String::new(), 0i32);
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or("");
        if [".version", ".target", ".address_size"].iter().any(|d| code.trim_start().starts_with(d)) {
            head.push_str(line);
            head.push('\n');
            continue;
        }
        item.push_str(line);
        item.push('\n');
        depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
        if depth == 0 && (code.contains('}') || code.contains(';')) {
            items.push(std::mem::take(&mut item));
        }
    }
    items.push(item);
    (head, items)
}

fn mutate_bytes(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(12)).min(bytes.len());
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] = random.next() as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << random.below(7),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            4 => bytes.truncate(at),
            _ => {
                let word = WORDS[random.below(WORDS.len())];
                bytes.splice(at..at, word.bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn mutate_tokens(text: &str, random: &mut Random) -> String {
    // Words, numbers and punctuation; the text between them belongs to the previous one.
    let mut tokens: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in text.chars() {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '%' | '$');
        if tokens.is_empty() || !(word(c) && word(last) || c.is_whitespace()) {
            tokens.push(String::new());
        }
        tokens.last_mut().expect("one was pushed").push(c);
        last = c;
    }
    for _ in 0..1 + random.below(4) {
        let (a, b) = (random.below(tokens.len()), random.below(tokens.len()));
        if tokens.is_empty() {
            break;
        }
        match random.below(6) {
            0 => drop(tokens.remove(a)),
            1 => tokens.swap(a, b),
            2 => tokens[a] = tokens[b].clone(),
            3 => tokens.insert(a, tokens[b].clone()),
            4 => tokens[a] = format!("{} ", WORDS[random.below(WORDS.len())]),
            _ => tokens.insert(a, format!("{} ", WORDS[random.below(WORDS.len())])),
        }
    }
    tokens.concat()
}

/// The whole front end; accepted text prints, and the printed text is accepted again.
fn run(text: &str) {
    let (lexed, early) = lex(text);
    let compiled = ptx_dsl_frontend::compile(&lexed.tokens);
    for d in early.iter().chain(&compiled.diagnostics) {
        assert!(!d.message.is_empty());
        let bytes = lexed.bytes(d.span);
        assert!(bytes.start <= bytes.end && bytes.end <= text.len(), "{d:?} is at {bytes:?}");
    }
    if early.is_empty() && !compiled.failed() {
        let (again, _) = lex(&compiled.ptx);
        let second = ptx_dsl_frontend::compile(&again.tokens);
        assert!(!second.failed(), "printed as {}\n{:#?}", compiled.ptx, second.diagnostics);
        assert_eq!(second.ptx, compiled.ptx);
    }
}

#[test]
fn mutated_modules_give_diagnostics_and_no_panic() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/ptx");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("tests/ptx").map(|e| e.expect("an entry").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "ptx"));
    files.sort();
    let mut all = Vec::new();
    for file in &files {
        let (head, items) = pieces(&std::fs::read_to_string(file).expect("a module"));
        all.extend(items.into_iter().filter(|i| i.len() < 2500).map(|i| (head.clone(), i)));
    }
    assert!(all.len() > 20, "{}", all.len());
    let count = std::env::var("PTX_DSL_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(3000);
    let mut random = Random::from_state(20);
    for i in 0..count {
        let (head, item) = &all[random.below(all.len())];
        let whole = format!("{head}{item}");
        let text = match random.below(4) {
            0 => mutate_bytes(&whole, &mut random),
            1 => format!("{head}{}", mutate_bytes(item, &mut random)),
            2 => mutate_tokens(&whole, &mut random),
            _ => format!("{head}{}", mutate_tokens(item, &mut random)),
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&text)));
        assert!(outcome.is_ok(), "mutation {i}:\n{text}");
    }
}
