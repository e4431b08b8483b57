//! Constants in place of the integers of the legal modules in `tests/`. A constant of PTX has the effect of its value. One that only
//! rustc knows gives no error but PTX0156.

use ptx_dsl_frontend::{Compiled, compile, compile_in_rust};
use ptx_dsl_syntax::lex::lex;
use ptx_dsl_syntax::token::Tok;
use std::fs;
use std::ops::Range;
use std::path::Path;

struct Module {
    name: String,
    text: String,
    /// Where constants are declared: after the version and the target.
    start: usize,
}

fn modules() -> Vec<Module> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut modules = Vec::new();
    for folder in ["ptx", "bugs", "diagnostics/clean"] {
        for file in fs::read_dir(tests.join(folder)).expect(folder) {
            let path = file.expect("an entry").path();
            let name = path.display().to_string();
            if !name.ends_with(".ptx") || name.ends_with(".wrong.ptx") {
                continue;
            }
            let text = fs::read_to_string(path).expect("a module");
            let Some((head, _)) = text.split_once(".address_size 64") else { continue };
            modules.push(Module { name, start: head.len() + ".address_size 64".len(), text });
        }
    }
    assert!(modules.len() > 80, "{}", modules.len());
    modules
}

impl Module {
    /// Without the constant, and with it where `at` is.
    fn replaced(&self, at: &Range<usize>, before: &str, after: &str, value: &str) -> [String; 2] {
        let Module { text, start, .. } = self;
        let with = |declared: &str, new: &str| {
            let (head, middle, tail) = (&text[..*start], &text[*start..at.start], &text[at.end..]);
            format!("{head}{declared}{middle}{new}{tail}")
        };
        [with("", before), with(&format!(" const C9: u64 = {value};"), after)]
    }

    /// The integers that are tokens of their own, and the names that are the whole of an address: `[name]`.
    fn places(&self) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
        let lexed = lex(&self.text).0;
        let tokens = &lexed.tokens;
        let is = |i: usize, c: char| tokens.get(i).is_some_and(|t| t.kind == Tok::Punct(c));
        let glued = |i: usize| tokens.get(i).is_some_and(|t| t.glued);
        let (mut integers, mut addresses) = (Vec::new(), Vec::new());
        for (i, token) in tokens.iter().enumerate() {
            let bytes = lexed.bytes(token.span());
            if bytes.start < self.start {
                continue;
            }
            match &token.kind {
                Tok::Word(_) if is(i - 1, '[') && is(i + 1, ']') => addresses.push(bytes),
                Tok::Number(number) => {
                    let decimal = number.bytes().all(|b| b.is_ascii_digit());
                    let part = is(i - 1, '.') && token.glued || is(i + 1, '.') && glued(i + 1);
                    let exponent = is(i - 1, '-') && token.glued && glued(i - 1);
                    if (decimal || number.starts_with("0x")) && !part && !exponent {
                        integers.push(bytes);
                    }
                }
                _ => {}
            }
        }
        (integers, addresses)
    }
}

fn errors(compiled: &Compiled) -> Vec<String> {
    let errors = compiled.diagnostics.iter().filter(|d| d.code.number < 600);
    errors.map(|d| format!("PTX{:04}: {}", d.code.number, d.message)).collect()
}

/// Compares a module without the constant with the module that has it, for both kinds of constants.
fn check(module: &Module, at: &Range<usize>, before: &str, after: &str, value: &str) {
    let [plain, known] = module.replaced(at, before, after, value);
    let place = || {
        let line = module.text[..at.start].lines().count();
        format!("{}:{line}: {}", module.name, module.text.lines().nth(line.max(1) - 1).unwrap_or_default())
    };
    let (plain, known) = (compile(&lex(&plain).0.tokens), compile(&lex(&known).0.tokens));
    assert_eq!(errors(&known), errors(&plain), "{}", place());
    assert_eq!(known.ptx, plain.ptx, "{}", place());
    let [_, unknown] = module.replaced(at, before, after, "crate::C9");
    let unknown = compile_in_rust(&lex(&unknown).0.tokens, Default::default());
    let (must_be_known, mut others): (Vec<_>, Vec<_>) =
        errors(&unknown).into_iter().partition(|e| e.starts_with("PTX0156"));
    if !must_be_known.is_empty() {
        // no argument suits a parameter of unknown size
        others.retain(|e| !e.starts_with("PTX0506"));
    }
    assert_eq!(others, errors(&plain), "{}", place());
}

#[test]
fn every_integer_may_be_a_constant() {
    let mut count = 0;
    for module in modules() {
        for at in module.places().0 {
            let number = &module.text[at.clone()];
            let value = match number.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => number.parse(),
            };
            let value = value.expect("an integer").to_string();
            check(&module, &at, &value, " C9 ", &value);
            count += 1;
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn every_address_may_have_a_constant_offset() {
    let mut count = 0;
    for module in modules() {
        for at in module.places().1 {
            let name = &module.text[at.clone()];
            check(&module, &at, &format!("{name} + 0"), &format!("{name} + C9"), "0");
            count += 1;
        }
    }
    assert!(count > 500, "{count}");
}
