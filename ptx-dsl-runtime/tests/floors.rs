//! No import of the runtime runs up: a module names only what its own floor and the floors below have.

use std::fs;
use std::path::{Path, PathBuf};

/// The floors, from the bottom. A module belongs to the longest path here that it begins with.
const FLOORS: [&str; 12] = [
    "numerics",
    "fault",
    "memory",
    "sync",
    "kernel",
    // the interface between the machine and who watches it
    "observe::monitor",
    "observe::probe",
    "machine",
    "semantics",
    "engines",
    "observe",
    "api",
];

/// The floor of a module, 0 at the bottom.
fn floor(module: &[&str]) -> Option<usize> {
    let begins = |path: &str| path.split("::").zip(module).filter(|(a, b)| a == *b).count() == path.split("::").count();
    (0..FLOORS.len()).filter(|n| begins(FLOORS[*n])).max_by_key(|n| FLOORS[*n].len())
}

/// The Rust files of a folder that are not tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The text without comments and without what only tests have.
fn code(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let text = lines.join("\n");
    let mut parts = text.split("#[cfg(test)]");
    let mut code = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        code.push_str(after_item(part));
    }
    code
}

/// What follows an item: its end is a `;` or `}` outside of all braces.
fn after_item(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ';' => {}
            _ => continue,
        }
        if depth == 0 && c != '{' {
            return &text[at + 1..];
        }
    }
    ""
}

/// The paths in a text that begin with `start`, each without it. Braces are opened: `a::{b, c}` is `a::b` and `a::c`.
fn paths(text: &str, start: &str) -> Vec<String> {
    let begins = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    let all = text.match_indices(start).filter(|(at, _)| begins(*at));
    all.flat_map(|(at, _)| opened(&text[at + start.len()..])).collect()
}

fn opened(text: &str) -> Vec<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
    let (path, rest) = text.split_at(end);
    let Some(list) = rest.strip_prefix('{').filter(|_| path.is_empty() || path.ends_with("::")) else {
        return vec![path.to_owned()];
    };
    let (mut depth, mut begin, mut all) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                let inner = opened(list[begin..at].trim());
                all.extend(inner.into_iter().filter(|i| !i.is_empty()).map(|inner| format!("{path}{inner}")));
                begin = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    all
}

/// What a file names that its floor does not have.
fn faults(module: &[&str], text: &str) -> Vec<String> {
    let code = code(text);
    let own = floor(module).unwrap_or_else(|| panic!("no floor has {}", module.join("::")));
    let mut named: Vec<String> = paths(&code, "crate::").into_iter().chain(paths(&code, "$crate::")).collect();
    let parent = &module[..module.len() - 1];
    named.extend(paths(&code, "super::").into_iter().filter(|path| !path.starts_with("super")).map(|path| {
        let all: Vec<&str> = parent.iter().copied().chain([path.as_str()]).collect();
        all.join("::")
    }));
    let up = |path: &String| {
        let path: Vec<&str> = path.split("::").collect();
        floor(&path).is_none_or(|floor| floor > own)
    };
    let mut up: Vec<String> = named.into_iter().filter(up).collect();
    up.sort();
    up.dedup();
    up
}

#[test]
fn no_import_runs_up() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().with_extension("");
        let module: Vec<&str> = name.iter().map(|part| part.to_str().unwrap()).collect();
        if module == ["lib"]
            || FLOORS
                .iter()
                .any(|floor| floor.split("::").count() > 1 && floor.starts_with(&format!("{}::", module.join("::"))))
        {
            continue;
        }
        let up = faults(&module, &fs::read_to_string(&file).unwrap());
        found.extend(up.iter().map(|path| format!("{} names {path}", module.join("::"))));
    }
    assert!(found.is_empty(), "{} imports run up:\n{}", found.len(), found.join("\n"));
}

#[test]
fn what_runs_up_is_found() {
    let of = |module: &[&str], text: &str| faults(module, text);
    assert_eq!(of(&["memory", "global"], "use crate::machine::Ctx;"), ["machine::Ctx"]);
    assert_eq!(
        of(&["machine"], "use crate::{fault::Fault, semantics::{bar, warp}};"),
        ["semantics::bar", "semantics::warp"]
    );
    assert_eq!(of(&["observe", "monitor"], "fn f(_: super::checked::Checked) {}"), ["observe::checked::Checked"]);
    // names of the root say no floor
    assert_eq!(of(&["api", "host"], "use crate::Ctx;"), ["Ctx"]);
    assert_eq!(
        of(
            &["semantics", "bar"],
            "// crate::api\nuse crate::machine::Ctx;\n#[cfg(test)]\nmod tests { use crate::api::Host; }"
        ),
        [""; 0]
    );
    assert_eq!(of(&["observe", "checked", "shadow"], "use crate::machine::Ctx; use super::clock::Clock;"), [""; 0]);
}
