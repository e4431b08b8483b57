//! Applies and compiles every help that shows code: the finding must be gone, and ptxas accepts the results without errors.

use std::path::Path;

use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::lex::lex;

// Only its modules are used here, not their marks.
#[allow(dead_code)]
#[path = "../../../tests/support/corpus.rs"]
mod corpus;
#[path = "../../../tests/support/helps.rs"]
mod helps;

/// Modules with their names.
type Modules = Vec<(String, String)>;

/// The bodies of the macros in the files.
fn bodies(directory: &str) -> Modules {
    let mut modules = Modules::new();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut files: Vec<_> = std::fs::read_dir(directory).expect("files").map(|f| f.expect("a file").path()).collect();
    files.sort();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "rs")) {
        let text = std::fs::read_to_string(file).expect("a text");
        for part in text.split("ptx! {").skip(1) {
            let Some(end) = part.find("\n}") else { continue };
            modules
                .push((file.file_stem().unwrap_or_default().to_string_lossy().into_owned(), part[..end].to_string()));
        }
    }
    modules
}

/// Modules with constants whose values only rustc knows, with repetition, and with parts of other macros: here, without rustc, their helps cannot be tried.
const OF_RUSTC: [&str; 8] = [
    "a_break_outside_of_a_loop",
    "a_division_by_what_is_no_power_of_two",
    "constant",
    "errors_in_",
    "instances_of",
    "parameters_that_are_no_constants",
    "part",
    "registers_that_a_macro_names",
];

/// Their helps that no other module has.
const HELPS_OF_RUSTC: [&str; 33] = [
    "write `{example} {{ ... }}`",
    "write `{ ... }` after its parameters",
    "write `@if N > 1 { ... }`, with a constant `N`",
    "write `else { ... }`",
    "write `0..4`, `0..=3` or `[1, 2, 4]` after `in`",
    "write `const N: u32 in [2, 4]` or `const N: u32 in 2..=4`",
    "declare them together, for example `.reg .f32 %d<32>;`, and write `{%d0..=%d31}`",
    "write `{stem}{first}..={stem}{last}`",
    "write a number, or declare `const N: u32 = 4;` before it",
    "write `const {name}: {ty} = crate::{name};`, or a number after the `=`",
    "write `.layout ring(full, empty, const N: u32) { ... }`",
    "write `.inline wait(.reg .b32 %bar, .b32 %parity) { ... }`",
    "write `full` or `const N: u32`",
    "write `.reg .b32 %r`, `.reg .b32 %r<4>`, `.b32 %value`, `.shared .b64 address`, `const N: u32` or `label done`",
    "write `if` without `@`, which branches when the kernel runs",
    "write `(0..8).rev()` or `(0..64).step_by(16)`",
    "write `const ROWS: [u32; 3] = [0, 8, 4];`",
    "write `@peel FIRST while %x < %n { ... }`, or `loop { ... }`",
    "write `<OP: add | max, T: f32 | s32>`; constants are parameters in the parentheses",
    "write `{%d0..=%d31}`, or `%d<32>` for the first registers of `.reg .f32 %d<64>`",
    "add `{name}` to the parameters",
    "add `)` and `;` after them",
    "add `;` after the `)`",
    "write `{name}!(...)`",
    "write `{same}!(...)`",
    "did you mean `{near}!(...)`?",
    "define `.inline {name}(...) {{ ... }}`, or put `use` with the path of its part after the header",
    "write `{name}!(...)` with `{parameters}`",
    "write `{name}: loop {{ ... }}` or `{name}: while ... {{ ... }}` around it",
    "write `32`, `64`, `128`, `128_atom_32`, or `none`",
    "write `{name}.bytes` for its size, `{name}.at(0, 0)` for the offset of an element, or the name of a variable",
    "write `let %place = ...;`, or an address in brackets",
    "write `mn` if K is along the rows of the tile",
];

#[test]
fn of_the_snapshots() {
    let mut modules = bodies("../../tests/ui");
    modules.retain(|(name, _)| !OF_RUSTC.iter().any(|begin| name.starts_with(begin)));
    helps::hold(&modules);
}

/// A kernel around each of the statements, with what Hopper and Blackwell take.
fn around_for(target: &str, version: &str, statements: &str) -> Modules {
    let mut modules = Modules::new();
    for statement in statements.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let text = format!(
            ".version {version}\n.target {target}\n.address_size 64\n.global .align 16 .b8 g[64];\n\
             .visible .entry k(.param .align 64 .b8 tm[128])\n{{\n.reg .b8 %c<4>; .reg .b16 %h<9>; .reg .b32 %r<16>;\n\
             .reg .b64 %rd<9>; .reg .b128 %q<4>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .pred %p<9>;\n\
             .shared .align 128 .b8 s[256]; .shared .b64 mbar; .shared .b32 slot;\n{statement}\nret;\n}}\n"
        );
        modules.push((statement.to_string(), text));
    }
    modules
}

/// A kernel around each of the statements.
fn around(statements: &str) -> Modules {
    let mut modules = Modules::new();
    for statement in statements.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 16 .b8 g[64];\n.shared .align 16 .b8 s[64];\n\
             .visible .entry k(.param .u64 p, .param .u32 n)\n{{\n.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n\
             .reg .f64 %fd<9>; .reg .pred %p<9>; .reg .b16 %h<9>;\n{statement}\nL:\nret;\n}}\n"
        );
        modules.push((statement.to_string(), text));
    }
    modules
}

#[test]
fn of_newcomers() {
    helps::hold(&around(include_str!("helps/newcomers.txt")));
}

/// Unlike those of newcomers, all of these are errors.
#[test]
fn of_tensor_cores() {
    for (target, version, statements) in
        [("sm_90a", "8.6", include_str!("helps/hopper.txt")), ("sm_100a", "9.0", include_str!("helps/blackwell.txt"))]
    {
        let modules = around_for(target, version, statements);
        let is_error = |text: &str| helps::findings(text).1.iter().any(|d| d.severity == Severity::Error);
        let missed: Vec<&str> = modules.iter().filter(|(_, text)| !is_error(text)).map(|(name, _)| &**name).collect();
        assert!(missed.is_empty(), "no errors:\n{}", missed.join("\n"));
        helps::hold(&modules);
    }
}

/// In Rust a help writes consecutive registers as a range, which compiles; in a file of PTX one by one.
#[test]
fn of_many_registers() {
    let registers: Vec<String> = (0..8).map(|n| format!("%d{n}")).collect();
    let registers = registers.join(", ");
    let wgmma = "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16";
    let edit = |vector: &str| format!("{wgmma} {vector}, %rd2, %rd1, %p1, 1, 1, 0, 0;");
    let text = |statement: &str| around_for("sm_90a", "8.6", &format!(".reg .f32 %d<8>; {statement}")).remove(0).1;
    let of_rust = |text: &str| {
        ptx_dsl_frontend::compile_rust_file(&lex(text).0.tokens, None, None, &[], Default::default()).diagnostics
    };
    let helps = |found: &[Diagnostic]| found.iter().flat_map(|d| d.helps.clone()).collect::<Vec<_>>();
    let wrong = text(&format!("{wgmma} %rd1, %rd2, {{{registers}}}, %p1, 1, 1, 0, 0;"));
    let (short, long) = (edit("{%d0..=%d7}"), edit(&format!("{{{registers}}}")));
    assert_eq!(helps(&of_rust(&wrong)), [format!("write `{short}`")]);
    assert_eq!(helps(&ptx_dsl_frontend::compile(&lex(&wrong).0.tokens).diagnostics), [format!("write `{long}`")]);
    let edited = of_rust(&text(&short));
    assert!(edited.iter().all(|d| d.code.is_flow()), "{edited:?}");
}

/// All helps in the sources occur in these modules, so that each is tried.
#[test]
fn of_all_kinds() {
    let mut modules = bodies("../../tests/ui");
    for folder in ["tests/diagnostics", "crates/ptx-dsl-catalogue/src/examples"] {
        modules.extend(corpus::below(folder).into_iter().map(|case| (case.name, case.text)));
    }
    modules.extend(around(include_str!("helps/newcomers.txt")));
    let found = modules.iter().flat_map(|(_, text)| helps::findings(text).1);
    let given: Vec<String> = found.flat_map(|d| d.helps).collect();
    let mut untried = Vec::new();
    for stage in ["isa", "syntax", "analysis", "lint"] {
        for literal in literals(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../ptx-dsl-{stage}/src"))) {
            let of_rustc = HELPS_OF_RUSTC.contains(&literal.as_str());
            if asks(&literal) && !of_rustc && !given.iter().any(|help| fits(&literal, help)) {
                untried.push(format!("{stage}: {literal}"));
            }
        }
    }
    assert!(untried.is_empty(), "{} helps\n{}", untried.len(), untried.join("\n"));
}

/// The string literals of the files in a folder.
fn literals(folder: &Path) -> Vec<String> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            out.extend(literals(&path));
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(&path).expect("a text");
            let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            out.extend(strings(own));
        }
    }
    out
}

/// The string literals of a Rust source, without comments.
fn strings(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|c| *c != '\n').is_some() {},
            // `'"'` and `'\''`
            '\'' => {
                let first = chars.next();
                if first == Some('\\') || chars.peek() == Some(&'\'') {
                    chars.next();
                    chars.next_if_eq(&'\'');
                }
            }
            '"' => {
                let mut literal = String::new();
                while let Some(c) = chars.next_if(|c| *c != '"') {
                    match (c, chars.peek().copied()) {
                        ('\\', Some('\n')) => while chars.next_if(|c| c.is_whitespace()).is_some() {},
                        ('\\', Some('n')) => {
                            chars.next();
                            literal.push('\n');
                        }
                        ('\\', Some(escaped)) => {
                            chars.next();
                            literal.push(escaped);
                        }
                        _ => literal.push(c),
                    }
                }
                chars.next();
                out.push(literal);
            }
            _ => {}
        }
    }
    out
}

/// Does the text ask for an edit? A rule of the table has its help after a line break.
fn asks(literal: &str) -> bool {
    let help = literal.split_once('\n').map_or(literal, |(_, help)| help);
    let verbs = ["write", "did you mean", "remove", "add", "put", "declare", "close it with", "end the statement with"];
    verbs.iter().any(|verb| {
        help.match_indices(verb).any(|(i, _)| {
            let begins = i == 0 || help[..i].ends_with([' ', ',']);
            let code = help[i + verb.len()..].trim_start();
            begins && (code.starts_with('`') || code == "{}")
        })
    })
}

/// Can this literal produce the help? Placeholders match anything.
fn fits(literal: &str, help: &str) -> bool {
    let own = literal.split_once('\n').map_or(literal, |(_, help)| help).replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut rest = help;
    for (i, piece) in own.split('{').enumerate() {
        let piece = if i == 0 { piece } else { piece.split_once('}').map_or("", |p| p.1) };
        let piece = piece.replace('\u{1}', "{").replace('\u{2}', "}");
        match rest.find(&piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

/// Legal modules in which one word of an opcode has lost a letter or is of another type.
fn misspelt() -> Modules {
    let types = ["u32", "f64", "b16", "s64", "pred", "f32", "b64", "b8"];
    let mut modules = Modules::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("files").map(|f| f.expect("a file").path()).collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let (lexed, _) = lex(&text);
        for (i, token) in lexed.tokens.iter().enumerate() {
            let range = lexed.ranges[token.id as usize].clone();
            let (own, line) = (&text[range.clone()], text[..range.start].rfind('\n').map_or(0, |i| i + 1));
            let opcode = &text[line..range.start];
            // After the guard, before the operands.
            let opcode = opcode.trim_start().split_once(' ').filter(|o| o.0.starts_with('@')).map_or(opcode, |o| o.1);
            if !text[line..].starts_with(' ')
                || opcode.trim_start().contains(' ')
                || opcode.trim_start().starts_with('.')
            {
                continue;
            }
            let mut wrong = Vec::new();
            if own.len() > 2 && own.is_ascii() {
                wrong.push(format!("{}{}", &own[..i % own.len()], &own[i % own.len() + 1..]));
            }
            if types.contains(&own) {
                wrong.push(types[i % types.len()].to_string());
            }
            for wrong in wrong {
                let name = format!("{} {own} as {wrong}", file.file_name().unwrap_or_default().to_string_lossy());
                modules.push((name, format!("{}{wrong}{}", &text[..range.start], &text[range.end..])));
            }
        }
    }
    modules
}

/// One word of three; `PTX_DSL_MUTATIONS` sets more, as in mutations.rs.
#[test]
fn of_misspelt_opcodes() {
    let step = if std::env::var_os("PTX_DSL_MUTATIONS").is_some() { 1 } else { 3 };
    let modules: Modules = misspelt().into_iter().step_by(step).collect();
    assert!(modules.len() > 400, "{}", modules.len());
    let mut failures = Vec::new();
    for (name, text) in &modules {
        failures.extend(helps::followed(text).failures.iter().map(|f| format!("{name}: {f}")));
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    // ptxas is slow, and gets one of ten.
    helps::hold(&modules.into_iter().step_by(10).collect::<Modules>());
}
