//! The table and the runtime meet by name only; here each side is held against the other.

use ptx_dsl_frontend::isa::{FAMILIES, Host};
use std::collections::BTreeSet;
use std::path::Path;

/// `pub fn name` of every file of a runtime module, sub-files included.
fn functions(module: &str) -> BTreeSet<String> {
    let isa = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-dsl-runtime/src/isa");
    let mut files = vec![isa.join(format!("{module}.rs"))];
    files.extend(std::fs::read_dir(isa.join(module)).into_iter().flatten().flatten().map(|e| e.path()));
    let mut found = BTreeSet::new();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            if let Some(rest) = line.trim_start().strip_prefix("pub fn ") {
                found.insert(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
            }
            // `nothing! { brkpt ... }`
            if !line.trim().is_empty() && line.trim().chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                found.insert(line.trim().to_owned());
            }
            for name in line.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
                if line.trim_start().starts_with("pub use") {
                    found.insert(name.to_owned());
                }
            }
        }
    }
    found
}

#[test]
fn every_instruction_the_host_runs_has_its_function() {
    let mut missing = Vec::new();
    for (family, list) in FAMILIES {
        let module = match *family {
            "integer" | "extended" | "float" | "half" | "mixed" => "arith",
            "convert" => "cvt",
            other => other,
        };
        let have = functions(module);
        for i in list.iter().filter(|i| matches!(i.host, Host::Lane | Host::Warp | Host::Block)) {
            let name = i.opcode.replace(".cta.", ".").replace('.', "_");
            let name = if name == "match" { "match_".to_owned() } else { name };
            if !have.contains(&name) {
                missing.push(format!("{module}::{name}"));
            }
        }
    }
    assert!(missing.is_empty(), "the runtime lacks {missing:?}");
}
