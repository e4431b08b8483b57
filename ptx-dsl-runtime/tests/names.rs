//! No name of a type stands for three things.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The most types of one name. Tests may have further ones.
const MOST: usize = 2;

/// The name of the type that a line at the margin of a file declares.
fn declared(line: &str) -> Option<&str> {
    let item = match line.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ').map(|(_, item)| item)?,
        None => line,
    };
    let rest = ["enum ", "struct ", "trait ", "type "].iter().find_map(|word| item.strip_prefix(word))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "tests")
}

fn collect(folder: &Path, types: &mut BTreeMap<String, Vec<PathBuf>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if is_test(&path) {
            continue;
        }
        if path.is_dir() {
            collect(&path, types);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            for name in text.lines().filter_map(declared) {
                types.entry(name.to_owned()).or_default().push(path.clone());
            }
        }
    }
}

#[test]
fn no_name_of_a_type_stands_for_three_things() {
    let mut types = BTreeMap::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut types);
    assert!(types.contains_key("Ctx"), "the sources are not read");
    let above: Vec<_> = types.iter().filter(|(_, files)| files.len() > MOST).collect();
    assert!(above.is_empty(), "names of several types: {above:#?}");
}

#[test]
fn declarations_are_recognised() {
    let lines =
        ["pub(crate) struct Cohort<'a> {", "enum Step {", "pub type Lanes = [u64; 32];", "pub trait Kernel: Copy {"];
    assert_eq!(lines.map(declared), [Some("Cohort"), Some("Step"), Some("Lanes"), Some("Kernel")]);
    let others = ["    struct Inner;", "impl Cohort {", "pub fn step() {", "use crate::machine::Ctx;", "public"];
    assert_eq!(others.map(declared), [None; 5]);
}
