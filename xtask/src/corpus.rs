//! `cargo xtask corpus`: writes the seeds of cargo-fuzz: the modules of `tests/ptx`, `tests/bugs` and `tests/diagnostics` in
//! pieces, the examples of `ptx-dsl explain`, and a dictionary of the words that the front end knows.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Command;
use ptx_dsl_frontend::code;
use ptx_dsl_frontend::isa::{directive, sreg, syntax, target};
use ptx_dsl_frontend::table::FAMILIES;
use ptx_dsl_oracles::tools::root;

use crate::Task;

/// The targets of `fuzz/`.
const TARGETS: [&str; 6] = ["lex", "parse", "check", "print", "fmt", "launch"];

/// `cargo xtask corpus`.
pub fn task() -> Task {
    let command = Command::new("corpus").about("Writes the modules of the tests to the corpus of cargo-fuzz");
    Task { command, run: |_| write(root()) }
}

/// Writes `fuzz/corpus/<target>/<name>.ptx` and `fuzz/corpus/words`.
fn write(root: &Path) -> Result<(), String> {
    let mut seeds = Vec::new();
    for folder in ["ptx", "bugs", "diagnostics"] {
        modules(&root.join("tests").join(folder), &mut seeds)?;
    }
    for code in code::all().filter(|code| !code.example.is_rust) {
        seeds.extend([code.wrong(), code.right()]);
    }
    let corpus = root.join("fuzz").join("corpus");
    for target in TARGETS {
        let directory = corpus.join(target);
        std::fs::create_dir_all(&directory).map_err(seen(&directory))?;
        for (i, seed) in seeds.iter().enumerate() {
            let file = directory.join(format!("seed-{i}.ptx"));
            std::fs::write(&file, seed).map_err(seen(&file))?;
        }
    }
    let words = words();
    let lines: String = words.iter().map(|w| format!("\"{}\"\n", w.replace('"', "\\\""))).collect();
    let file = corpus.join("words");
    std::fs::write(&file, lines).map_err(seen(&file))?;
    eprintln!("> {} modules and {} words in fuzz/corpus", seeds.len(), words.len());
    Ok(())
}

/// The modules in a folder and its subfolders, in pieces.
fn modules(folder: &Path, seeds: &mut Vec<String>) -> Result<(), String> {
    for path in std::fs::read_dir(folder).map_err(seen(folder))?.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            modules(&path, seeds)?;
        } else if path.extension().is_some_and(|e| e == "ptx") {
            pieces(&std::fs::read_to_string(&path).map_err(seen(&path))?, seeds);
        }
    }
    Ok(())
}

fn seen(path: &Path) -> impl Fn(std::io::Error) -> String {
    let shown = path.display().to_string();
    move |error| format!("{shown}: {error}")
}

/// The header with one function or declaration each: many small modules fuzz better than a few large ones.
fn pieces(text: &str, seeds: &mut Vec<String>) {
    let (mut head, mut item, mut depth) = (String::new(), String::new(), 0i32);
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or("");
        if [".version", ".target", ".address_size"].iter().any(|d| code.trim_start().starts_with(d)) {
            head = head + line + "\n";
            continue;
        }
        item = item + line + "\n";
        depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
        if depth == 0 && (code.contains('}') || code.contains(';')) {
            seeds.push(format!("{head}{item}"));
            item.clear();
        }
    }
}

/// Opcodes, qualifiers, special registers, directives, targets, operators and literals.
fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for instr in FAMILIES.iter().flat_map(|(_, list)| list.iter()) {
        words.insert(instr.opcode.to_string());
        for slot in syntax::forms(instr).iter().flat_map(|f| &f.slots) {
            words.extend(slot.words().iter().map(|a| format!(".{a}")));
        }
    }
    words.extend(sreg::SREGS.iter().map(|s| s.name.to_string()));
    words.extend(directive::DIRECTIVES.iter().map(|d| d.name.to_string()));
    words.extend(target::TARGETS.iter().map(|t| t.name.to_string()));
    let others = ".version 9.0|.target|.address_size 64|.entry|.func|.reg|.pred|.param|.shared|.global|.const|.local|.align|{|}|(|)|[|]|                  ;|,|::|@!|@@DWARF|<<|>>|==|!=|<=|>=|&&|?|0x7fffffff|0f3F800000|0d3FF0000000000000|18446744073709551615|WARP_SZ|%r<9>|\
                  /*|*/|//|%p|_|.x|.b0|-1|1e9|=|ret;|.callprototype|.branchtargets|.loc 1 2 3|.section";
    words.extend(others.split('|').map(|w| w.trim().to_string()));
    words
}
