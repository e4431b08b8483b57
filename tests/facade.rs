//! The names of `ptx_dsl`: few at the root, the rest in rooms, and each in one place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::{Item, UseTree, Visibility};

/// The modules of the facade that users read.
const ROOMS: &[&str] = &[
    "agree",
    "argument",
    "build",
    "cuda",
    "explore",
    "fault",
    "half",
    "kernel",
    "launch",
    "load",
    "monitor",
    "prelude",
    "profile",
    "tensor_map",
    "trace",
];

/// Most names at the root, the rooms aside.
const MOST: usize = 15;

/// The names that a tree of `use` brings; a glob is `*`.
fn names(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Path(path) => names(&path.tree),
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Rename(rename) => vec![rename.rename.to_string()],
        UseTree::Glob(_) => vec!["*".to_owned()],
        UseTree::Group(group) => group.items.iter().flat_map(names).collect(),
    }
}

fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        matches!(&attribute.meta, syn::Meta::List(list) if list.path.is_ident("doc") && list.tokens.to_string() == "hidden")
    })
}

/// What is public at the root, what each room written in the file has, and what is hidden.
#[derive(Default)]
struct Facade {
    root: Vec<String>,
    modules: BTreeSet<String>,
    rooms: BTreeMap<String, Vec<String>>,
    hidden: Vec<String>,
}

fn facade() -> Facade {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx-dsl/src/lib.rs");
    let file = syn::parse_file(&std::fs::read_to_string(path).expect("the facade")).expect("Rust");
    let mut all = Facade::default();
    for item in &file.items {
        let (attributes, visibility, found) = match item {
            Item::Use(item) => (&item.attrs, &item.vis, names(&item.tree)),
            Item::Mod(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Const(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Static(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Fn(item) => (&item.attrs, &item.vis, vec![item.sig.ident.to_string()]),
            Item::Struct(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Enum(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Trait(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Type(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            _ => panic!("the facade has an item that this test does not know, after {:?}", all.root),
        };
        if !matches!(visibility, Visibility::Public(_)) {
            continue;
        }
        if is_hidden(attributes) {
            all.hidden.extend(found);
            continue;
        }
        if let Item::Mod(room) = item {
            let uses = room.content.iter().flat_map(|(_, items)| items).filter_map(|item| match item {
                Item::Use(item) if !is_hidden(&item.attrs) => Some(names(&item.tree)),
                _ => None,
            });
            all.rooms.insert(room.ident.to_string(), uses.flatten().collect());
        }
        let (modules, root) = found.into_iter().partition::<Vec<_>, _>(|name| ROOMS.contains(&name.as_str()));
        all.modules.extend(modules);
        all.root.extend(root);
    }
    all
}

#[test]
fn the_root_has_few_names() {
    let root: BTreeSet<String> = facade().root.into_iter().collect();
    assert!(root.contains("Host") && root.contains("ptx"), "{root:?}");
    assert!(!root.contains("*"), "a glob at the root");
    assert!(root.len() <= MOST, "{} names at the root: {root:?}", root.len());
}

#[test]
fn each_name_is_in_one_place() {
    let facade = facade();
    assert!(facade.rooms["fault"].contains(&"FaultKind".to_owned()), "{:?}", facade.rooms);
    // a trait and its derive share a name
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let root: BTreeSet<&String> = facade.root.iter().collect();
    for name in root {
        places.entry(name.clone()).or_default().push("the root");
    }
    for (room, names) in facade.rooms.iter().filter(|(room, _)| *room != "prelude") {
        assert!(!names.contains(&"*".to_owned()), "a glob in `{room}`");
        for name in names {
            places.entry(name.clone()).or_default().push(room);
        }
    }
    let twice: Vec<_> = places.iter().filter(|(_, places)| places.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn one_hidden_module_is_for_emitted_code() {
    let facade = facade();
    assert_eq!(facade.hidden, ["__private"]);
    assert!(facade.modules.iter().all(|room| ROOMS.contains(&room.as_str())));
}

/// The prelude brings what nearly every program with a kernel writes, and traits without their names.
#[test]
fn the_prelude_is_part_of_the_root() {
    let facade = facade();
    let own = ["_", "bf16", "f16"];
    let others: Vec<_> = facade.rooms["prelude"]
        .iter()
        .filter(|name| !own.contains(&name.as_str()) && !facade.root.contains(name))
        .collect();
    assert!(others.is_empty(), "{others:?}");
}

/// `load`, `build` and the command line make no tokens of Rust: the crates below them do not depend on what makes such tokens.
#[test]
fn only_the_macros_make_tokens_of_rust() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut manifests: Vec<_> = std::fs::read_dir(root.join("crates"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path().join("Cargo.toml"))
        .filter(|manifest| manifest.exists())
        .collect();
    manifests.extend(["ptx-dsl", "ptx-dsl-macros", "ptx-dsl-runtime"].map(|name| root.join(name).join("Cargo.toml")));
    let dependent: BTreeSet<String> = manifests
        .iter()
        .filter(|manifest| {
            let text = std::fs::read_to_string(manifest).expect("a manifest");
            let dependencies = text.split("\n[").filter(|section| section.starts_with("dependencies]"));
            dependencies.flat_map(str::lines).any(|line| line.starts_with("quote") || line.starts_with("syn"))
        })
        .map(|manifest| manifest.parent().and_then(Path::file_name).expect("a crate").to_string_lossy().into_owned())
        .collect();
    assert_eq!(dependent, ["ptx-dsl-codegen", "ptx-dsl-macros"].map(str::to_owned).into());
}
