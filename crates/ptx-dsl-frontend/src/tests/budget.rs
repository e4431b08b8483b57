//! Helps in modules with many errors: each error has the help that it has by itself.

use crate::compile;
use crate::lex::lex;

/// Mistakes whose helps are found by trying edits.
const MISTAKES: [&str; 8] = [
    "ld.sahred.u32 %r1, [s];",
    "add.b32 %r1, %r1, %r2;",
    "st.global.u32 %r1, [%rd1];",
    "mul.u32 %r1, %r1, %r2;",
    "add.u32 %r1, %rd1, %r2;",
    "atom.global.u32 %r1, [%rd1], %r2;",
    "setp.u32 %p1, %r1, %r2;",
    "mbarrier.arrive.expect_tx.shared.b64 %rd1, [s];",
];

fn module(statements: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n.reg .b32 %r<4>; .reg .b64 %rd<4>;
         .reg .pred %p<4>; .shared .align 8 .b64 s[4];\n{statements}\nret;\n}}\n"
    )
}

/// The code and the helps of each error.
fn helps(statements: &str) -> Vec<(u16, Vec<String>)> {
    let found = compile(&lex(&module(statements)).0.tokens).diagnostics;
    found.into_iter().filter(|d| d.code.number < 500).map(|d| (d.code.number, d.helps)).collect()
}

#[test]
fn each_error_has_the_help_that_it_has_by_itself() {
    let alone: Vec<_> = MISTAKES.iter().map(|mistake| helps(mistake)).collect();
    assert!(alone.iter().flatten().all(|(_, helps)| !helps.is_empty()), "{alone:?}");
    let times = 60;
    let found = helps(&MISTAKES.join("\n").repeat(times));
    let one: Vec<_> = alone.into_iter().flatten().collect();
    assert_eq!(found.len(), one.len() * times);
    for (n, d) in found.iter().enumerate() {
        assert_eq!(*d, one[n % one.len()], "error {n}");
    }
}
