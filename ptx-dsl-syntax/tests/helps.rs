//! Every help that shows code is compiled: the edit that it describes is made, and the finding must be gone; ptxas takes what
//! comes out clean.

use std::path::Path;

use ptx_dsl_syntax::explain::EXPLANATIONS;

#[path = "../../tests/support/helps.rs"]
mod helps;
#[path = "../../tests/support/ptxas.rs"]
mod ptxas;

/// Modules with their names.
type Modules = Vec<(String, String)>;

#[test]
fn of_the_explanations() {
    let mut modules = Modules::new();
    for explanation in EXPLANATIONS.iter().flat_map(|list| list.iter()) {
        if !explanation.is_rust() {
            modules.push((format!("PTX{:04}", explanation.code), explanation.wrong()));
        }
    }
    helps::hold(&modules);
}

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

#[test]
fn of_the_snapshots() {
    helps::hold(&bodies("../tests/ui"));
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
    helps::hold(&around(include_str!("newcomers.txt")));
}
