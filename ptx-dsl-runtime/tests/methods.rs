//! No type of the runtime collects methods from all over the crate.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The most methods of a type.
const MOST: usize = 60;

/// Counts the methods of each type in the inherent `impl` blocks at the margin of a file.
fn count(text: &str, methods: &mut BTreeMap<String, usize>) {
    let mut of: Option<String> = None;
    for line in text.lines() {
        if line == "}" {
            of = None;
        } else if let Some(rest) = line.strip_prefix("impl") {
            of = (!rest.contains(" for ")).then(|| name(rest)).flatten();
        } else if let Some(of) = &of
            && let Some(item) = line.strip_prefix("    ")
            && is_method(item)
        {
            *methods.entry(of.clone()).or_default() += 1;
        }
    }
}

/// The type of an `impl` block, from what follows the word.
fn name(rest: &str) -> Option<String> {
    let mut depth = 0;
    // the arrow of a function type closes nothing
    let closes = |(at, c): &(usize, char)| {
        depth += i32::from(*c == '<') - i32::from(*c == '>' && !rest[..*at].ends_with('-'));
        depth == 0
    };
    let after =
        if rest.starts_with('<') { rest.char_indices().find(closes).map(|(end, _)| &rest[end + 1..])? } else { rest };
    let name: String = after.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// Does an item in an `impl` block begin a function?
fn is_method(item: &str) -> bool {
    let words = item.split(' ').take_while(|word| !word.starts_with("fn")).collect::<Vec<_>>();
    let modifiers =
        words.iter().all(|word| word.starts_with("pub") || ["const", "unsafe", "crate)", "super)"].contains(word));
    modifiers && item.split(' ').any(|word| word == "fn")
}

fn sources(folder: &Path, methods: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, methods);
        } else if path.extension().is_some_and(|e| e == "rs") {
            count(&fs::read_to_string(&path).unwrap(), methods);
        }
    }
}

#[test]
fn no_type_has_too_many_methods() {
    let mut methods = BTreeMap::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut methods);
    let above: Vec<_> = methods.iter().filter(|(_, n)| **n > MOST).collect();
    assert!(above.is_empty(), "types with too many methods: {above:?}");
}

#[test]
fn methods_are_counted() {
    let mut methods = BTreeMap::new();
    let text = "impl<'a, T: Fn(u8) -> u8> Ctx<'a> {\n    pub(crate) const fn f() {}\n    fn g() {\n        fn inner() {}\n    }\n}\n\
                impl Drop for Ctx<'_> {\n    fn drop(&mut self) {}\n}\nfn free() {}\n";
    count(text, &mut methods);
    assert_eq!(methods.into_iter().collect::<Vec<_>>(), [("Ctx".to_owned(), 2)]);
}
