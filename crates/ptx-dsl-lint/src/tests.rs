//! Kernels with what the flow analysis says marked in the text: `// error: PTX0603` or `// warning: PTX0620` on its line.

use crate::rules::rule_of;
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_frontend::lines::Lines;
use ptx_dsl_isa::diag::Severity;

mod asynchronous;
mod converge;
#[path = "../../../tests/support/corpus.rs"]
mod corpus;
mod graph;
mod groups;
#[path = "../../../tests/support/helps.rs"]
mod helps;
mod kernels;
mod obligations;
mod ordinary;
mod protocol;
#[path = "../../../tests/support/ptxas.rs"]
mod ptxas;
mod spaces;
mod tensor;

/// Everything that is said about a text, as `line error PTXnnnn`, and what it is marked with.
fn verdicts(text: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let (lexed, early) = lex(text);
    let compiled = ptx_dsl_frontend::compile(&lexed.tokens);
    helps::hold(&[(String::new(), text.to_string())]);
    let (mut got, mut want, mut full) = (Vec::new(), Vec::new(), Vec::new());
    for d in early.iter().chain(&compiled.diagnostics) {
        let line = Lines::new(text).line_column(lexed.bytes(d.span).start).0;
        let level = if d.severity == Severity::Error { "error" } else { "warning" };
        got.push(format!("{line} {level} PTX{:04}", d.code));
        full.push(format!("{line}: PTX{:04} {} | {:?} | {:?}", d.code, d.message, d.notes, d.helps));
        if d.code >= 600 {
            assert!(!d.notes.is_empty() && !d.helps.is_empty(), "PTX{:04} explains and helps", d.code);
            let rule = rule_of(d.code).unwrap_or_else(|| panic!("PTX{:04} is in the list of rules", d.code));
            let known = rule.classes.iter().any(|(class, _)| *class == d.class);
            assert!(known, "the list of rules has class `{}` for PTX{:04}", d.class.name(), d.code);
        }
    }
    for (i, line) in text.lines().enumerate() {
        for level in ["error", "warning"] {
            for mark in line.split(&format!("{level}: ")).skip(1) {
                want.push(format!("{} {level} {}", i + 1, mark.split_whitespace().next().unwrap_or("")));
            }
        }
    }
    got.sort();
    want.sort();
    (got, want, full)
}

#[track_caller]
fn case(text: &str) {
    let (got, want, full) = verdicts(text);
    assert_eq!(got, want, "\n{}\n{text}", full.join("\n"));
}

const VARIABLES: &str = ".shared .align 16 .b8 sh[64];\n.shared .align 8 .b64 bar1;\n.shared .align 8 .b64 bar2;\n\
    .shared .align 16 .b128 answer;\n.global .align 8 .u32 g[4];\n.const .align 4 .u32 c[4];\n.extern .shared .align 16 .b8 dyn[];\n";
const REGISTERS: &str = ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<10>; .reg .f32 %f<4>; .reg .b128 %q<2>;\n\
    .local .align 8 .b8 loc[16];\n";

/// A kernel of that many threads (none: not said) around a body. Its parameters are `n`, `w` (`.ptr`) and `any`.
fn kernel(threads: &str, body: &str) -> String {
    let reqntid = if threads.is_empty() { String::new() } else { format!(".reqntid {threads}") };
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n{VARIABLES}\
         .visible .entry k(.param .u32 n, .param .u64 .ptr .global .align 4 w, .param .u64 any) {reqntid}\n\
         {{\n{REGISTERS}{body}\nret;\n}}\n"
    )
}

/// The body in kernels of 128 threads and of a number that is not said.
#[track_caller]
fn both(body: &str) {
    case(&kernel("128", body));
    case(&kernel("", body));
}

/// The modules of `tests/diagnostics` about the rules of 06xx, and those that are right in every respect.
#[test]
fn corpus_of_the_rules() {
    corpus::hold(&corpus::of_codes(600..700));
}

/// The public bugs of `tests/bugs`, which the suite also runs on the host.
#[test]
fn corpus_of_public_bugs() {
    corpus::hold(&corpus::below("tests/bugs"));
}
