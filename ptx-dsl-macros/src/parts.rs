//! Parts of modules in Rust: `ptx! { <sm_90, ptx 8.0> pub part ring { ... } }`, and `use crate::parts::ring;` in another `ptx!`.
//!
//! A procedural macro cannot read what another one got, but a macro of Rust carries tokens. So a part becomes a `macro_rules!` that
//! calls `ptx!` with its own tokens and those that it got, and a `ptx!` with `use` becomes a call of that macro with its own tokens:
//!
//! ```text
//! ptx! { <header> use crate::ring; kernels }
//! crate::ring! { {pending} {done} {path} {uses} {<header>} {kernels} }
//! ::ptx_dsl::ptx! { @ptx_dsl_part {of ring} {pending} {done} {path} {uses} {<header>} {kernels} }
//! ```
//!
//! The last state, with nothing pending, is what `ptx!` compiles. Groups are passed on as they are, so a step costs no more than the
//! number of parts.

use crate::hash::Hash;
use crate::report;
use crate::report::Problem;
use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use ptx_dsl_frontend::code;
use quote::{format_ident, quote};

/// The word that begins a state.
const STATE: &str = "ptx_dsl_part";

/// A part that a module uses.
pub struct Part {
    /// An identity that does not depend on the path by which the part was found.
    id: String,
    /// The package that defines it.
    package: String,
    /// The name of the part.
    name: Ident,
    /// Does the definition have errors? They were reported there.
    pub broken: bool,
    /// The paths of parts that it uses.
    uses: TokenStream,
    /// The items of the part.
    items: TokenStream,
    /// The place where the module names the part.
    pub path: Span,
    /// The module's name for the part: `use a::ring as other;`.
    alias: Option<Ident>,
}

impl Part {
    /// Does another crate define it?
    pub fn is_foreign(&self) -> bool {
        self.package != package()
    }

    /// `part ring { ... }`
    pub fn tokens(&self) -> TokenStream {
        let (name, items) = (&self.name, &self.items);
        match &self.alias {
            Some(alias) => quote!(part #name as #alias { #items }),
            None => quote!(part #name { #items }),
        }
    }

    /// The part as a group of a state.
    fn group(&self) -> TokenTree {
        let Part { id, package, name, broken, uses, items, path, alias } = self;
        let path = Ident::new("path", *path);
        braces(quote!(#id #package #name #broken { #uses } { #items } #path #alias))
    }

    fn read(group: &TokenTree, path: Span) -> Option<Self> {
        let trees = contents(group)?;
        let [
            TokenTree::Literal(id),
            TokenTree::Literal(package),
            TokenTree::Ident(name),
            TokenTree::Ident(broken),
            uses,
            items,
            end @ ..,
        ] = trees.as_slice()
        else {
            return None;
        };
        let text = |literal: &Literal| literal.to_string().trim_matches('"').to_owned();
        Some(Part {
            id: text(id),
            package: text(package),
            name: name.clone(),
            broken: broken == "true",
            uses: contents(uses)?.into_iter().collect(),
            items: contents(items)?.into_iter().collect(),
            path: end.first().map_or(path, TokenTree::span),
            alias: match end.get(1) {
                Some(TokenTree::Ident(alias)) => Some(alias.clone()),
                _ => None,
            },
        })
    }
}

/// A module with all the parts that it uses.
#[derive(Default)]
pub struct Module {
    /// The tokens before the first `use`.
    pub before: TokenStream,
    /// The parts, each after those that it uses.
    pub parts: Vec<Part>,
    /// The tokens after the last `use`.
    pub rest: TokenStream,
    /// The paths that it names.
    uses: TokenStream,
}

/// The next step of `ptx!` with its input.
pub enum Step {
    /// Expand to a call of the macro of a part, or to errors.
    Call(TokenStream),
    /// Compile the module.
    Module(Module),
}

/// The next step.
pub fn step(input: TokenStream) -> Step {
    let trees: Vec<TokenTree> = input.into_iter().collect();
    if let [TokenTree::Punct(at), TokenTree::Ident(word), rest @ ..] = trees.as_slice()
        && at.as_char() == '@'
        && word == STATE
    {
        return match state(rest) {
            Some(step) => step,
            None => {
                Step::Call(problem("this is not a part of a module", "write `use` and the path of a part", word.span()))
            }
        };
    }
    let Some(first) = (0..trees.len()).find(|at| begins_use(&trees, *at)) else {
        return Step::Module(Module { before: trees.into_iter().collect(), ..Module::default() });
    };
    let (mut paths, mut rest, mut at) = (Vec::new(), Vec::new(), first);
    let (mut aliases, part) = (Vec::new(), trees.windows(3).any(defines));
    while at < trees.len() {
        if !begins_use(&trees, at) {
            rest.push(trees[at].clone());
            at += 1;
            continue;
        }
        let end = (at..trees.len()).find(|end| is(&trees[*end], ';')).unwrap_or(trees.len());
        if let Err(error) = use_tree(&trees[at + 1..end], &[], (&mut paths, &mut aliases)) {
            return Step::Call(error);
        }
        at = end + 1;
    }
    if let (true, [_, _, word, ..]) = (part, aliases.as_slice()) {
        let help = "remove `as` and the name after it; a module of kernels may have it";
        return Step::Call(problem("a part calls others by their names", help, word.span()));
    }
    // the names are for what expands the uses of pieces
    rest.append(&mut aliases);
    let pending: Vec<TokenTree> = paths.into_iter().map(braces).collect();
    let module = Module {
        before: trees[..first].iter().cloned().collect(),
        rest: rest.into_iter().collect(),
        uses: pending.iter().cloned().collect(),
        ..Module::default()
    };
    next(pending, module)
}

/// A state: `{the part that was called} {pending} {done} {path} {uses} {before} {rest}`, without the first one if the module is complete.
fn state(trees: &[TokenTree]) -> Option<Step> {
    let (part, groups) = match trees {
        [groups @ .., _, _, _, _, _, _] if groups.len() <= 1 => (groups.first(), &trees[groups.len()..]),
        _ => return None,
    };
    let [pending, done, path, uses, before, rest] = groups else { return None };
    let plain = |group: &TokenTree| Some(contents(group)?.into_iter().collect::<TokenStream>());
    let (path, alias) = split_alias(contents(path)?);
    let path = path.last().map_or(Span::call_site(), TokenTree::span);
    let mut parts = Vec::new();
    for part in contents(done)? {
        parts.push(Part::read(&part, path)?);
    }
    let mut pending = contents(pending)?;
    if let Some(part) = part {
        let part = Part { alias, ..Part::read(part, path)? };
        // what is pending may be a part that waits for those that it uses
        let waiting = |group: &TokenTree| Part::read(group, path).is_some_and(|waiting| waiting.id == part.id);
        if !parts.iter().any(|known| known.id == part.id) && !pending.iter().any(waiting) {
            let mut first: Vec<TokenTree> = part.uses.clone().into_iter().collect();
            first.push(part.group());
            first.append(&mut pending);
            pending = first;
        }
    }
    let module = Module { before: plain(before)?, parts, rest: plain(rest)?, uses: plain(uses)? };
    Some(next(pending, module))
}

/// Calls the macro of the next part.
fn next(pending: Vec<TokenTree>, mut module: Module) -> Step {
    let mut pending = pending.into_iter();
    while let Some(group) = pending.next() {
        if let Some(part) = Part::read(&group, Span::call_site()) {
            module.parts.push(part);
            continue;
        }
        let path: TokenStream = split_alias(contents(&group).unwrap_or_default()).0.into_iter().collect();
        let state = module.state(pending.collect(), group);
        return Step::Call(quote!(#path ! { #state }));
    }
    Step::Module(module)
}

impl Module {
    fn state(&self, pending: TokenStream, path: TokenTree) -> TokenStream {
        let (before, rest, uses) = (&self.before, &self.rest, &self.uses);
        let parts = self.parts.iter().map(Part::group);
        quote!({ #pending } { #(#parts)* } #path { #uses } { #before } { #rest })
    }

    /// The module as input of `ptx!`.
    pub fn again(&self) -> TokenStream {
        let state = Ident::new(STATE, Span::call_site());
        if self.parts.is_empty() {
            return [self.before.clone(), self.rest.clone()].into_iter().collect();
        }
        let groups = self.state(TokenStream::new(), braces(TokenStream::new()));
        quote!(@ #state #groups)
    }

    /// The parts that it defines; a module that defines parts has nothing else.
    pub fn definitions(&self) -> Vec<Definition> {
        let trees: Vec<TokenTree> = self.before.clone().into_iter().chain(self.rest.clone()).collect();
        let mut out = Vec::new();
        let mut from = 0;
        for (at, tree) in trees.iter().enumerate() {
            let brace = matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            if !brace && !is(tree, ';') && !is(tree, '>') {
                continue;
            }
            if let [before @ .., TokenTree::Ident(part), TokenTree::Ident(name), TokenTree::Group(group)] =
                &trees[from..=at]
                && part == "part"
                && brace
            {
                let split = before
                    .iter()
                    .position(|tree| !matches!(tree, TokenTree::Punct(p) if p.as_char() == '#') && !is_attribute(tree));
                let (attributes, visibility) = before.split_at(split.unwrap_or(before.len()));
                out.push(Definition {
                    attributes: attributes.iter().cloned().collect(),
                    visibility: visibility.iter().cloned().collect(),
                    name: name.clone(),
                    items: group.stream(),
                });
            }
            from = at + 1;
        }
        out
    }
}

/// `pub part ring { ... }`
pub struct Definition {
    attributes: TokenStream,
    visibility: TokenStream,
    name: Ident,
    items: TokenStream,
}

impl Definition {
    /// The word before `part`: `pub`, or nothing.
    pub fn visibility(&self) -> &TokenStream {
        &self.visibility
    }

    /// The macro that carries the part.
    pub fn item(&self, module: &Module, broken: bool) -> TokenStream {
        let Definition { attributes, visibility, name, items } = self;
        let start = name.span().unwrap();
        let mut hash = Hash::default();
        for text in [package(), start.file(), format!("{}:{}", start.line(), start.column()), items.to_string()] {
            hash.add(&text);
        }
        let id = format!("{name}_{:016x}", hash.value());
        let carrier = format_ident!("__ptx_part_{id}");
        let package = package();
        let (mut wrong, mut uses) = (None, TokenStream::new());
        for group in module.uses.clone() {
            let path: Vec<TokenTree> = contents(&group).unwrap_or_default();
            match path.first() {
                Some(TokenTree::Ident(first)) if first == "self" || first == "super" => {
                    let help = "begin the path with `crate`, or with the name of a crate";
                    let text = format!("a part is used in other places, where `{first}` means something else");
                    wrong.get_or_insert_with(TokenStream::new).extend(problem(&text, help, first.span()));
                }
                _ => uses.extend([braces(carried(path.into_iter().collect(), &mut wrong))]),
            }
        }
        let carried = carried(items.clone(), &mut wrong);
        if let Some(wrong) = wrong {
            return wrong;
        }
        let public = visibility.clone().into_iter().count() == 1;
        let export = if public { quote!(#[macro_export]) } else { quote!(#[allow(unused_macros)]) };
        quote! {
            #[doc(hidden)]
            #export
            macro_rules! #carrier {
                ($($state:tt)*) => {
                    ::ptx_dsl::ptx! { @ptx_dsl_part { #id #package #name #broken { #uses } { #carried } } $($state)* }
                };
            }
            #attributes
            #[allow(unused_imports)]
            #visibility use #carrier as #name;
        }
    }
}

/// Tokens as they stand in a macro of Rust: `crate` is the crate of the macro.
fn carried(tokens: TokenStream, wrong: &mut Option<TokenStream>) -> TokenStream {
    let mut out = Vec::new();
    for tree in tokens {
        match tree {
            TokenTree::Ident(word) if word == "crate" => {
                out.push(Punct::new('$', Spacing::Alone).into());
                out.push(word.into());
            }
            TokenTree::Punct(p) if p.as_char() == '$' => {
                let text = "a name in a part cannot begin with `$`, which has another meaning in a Rust macro";
                let help = "remove the `$`: labels and registers of a piece are its own";
                wrong.get_or_insert_with(TokenStream::new).extend(problem(text, help, p.span()));
            }
            // the brackets of a new group have no places of their own
            TokenTree::Group(group) if changes(group.stream()) => {
                let mut new = Group::new(group.delimiter(), carried(group.stream(), wrong));
                new.set_span(group.span());
                out.push(new.into());
            }
            tree => out.push(tree),
        }
    }
    out.into_iter().collect()
}

/// Is there something that a macro of Rust does not carry as it stands?
fn changes(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(word) => word == "crate",
        TokenTree::Punct(p) => p.as_char() == '$',
        TokenTree::Group(group) => changes(group.stream()),
        TokenTree::Literal(_) => false,
    })
}

/// The paths of `a::b`, `a::{b, c::d}`, and of `a::b as c` the tokens `use b as c;`.
fn use_tree(
    trees: &[TokenTree],
    prefix: &[TokenTree],
    (out, aliases): (&mut Vec<TokenStream>, &mut Vec<TokenTree>),
) -> Result<(), TokenStream> {
    for part in trees.split(|tree| is(tree, ',')) {
        let mut path = prefix.to_vec();
        let (mut group, mut called) = (None, TokenStream::new());
        let part = match part {
            [before @ .., name, TokenTree::Ident(word), alias @ TokenTree::Ident(_)] if word == "as" => {
                aliases.extend(quote!(use #name #word #alias;));
                called = quote!(#word #alias);
                &part[..before.len() + 1]
            }
            part => part,
        };
        for tree in part {
            match tree {
                TokenTree::Ident(word) if word == "as" => {
                    return Err(problem(
                        "`as` has no name after it",
                        "write `use crate::parts::ring as other;`",
                        word.span(),
                    ));
                }
                TokenTree::Ident(_) => path.push(tree.clone()),
                TokenTree::Punct(p) if p.as_char() == ':' => path.push(tree.clone()),
                TokenTree::Group(inner) if inner.delimiter() == Delimiter::Brace => group = Some(inner.stream()),
                TokenTree::Group(inner) if inner.delimiter() == Delimiter::None => path.extend(inner.stream()),
                tree => {
                    return Err(problem(
                        "this is not the path of a part",
                        "write `use crate::parts::ring;`",
                        tree.span(),
                    ));
                }
            }
        }
        match group {
            Some(inner) => {
                let inner: Vec<TokenTree> = inner.into_iter().collect();
                use_tree(&inner, &path, (out, aliases))?;
            }
            None if !path.is_empty() => out.push(path.into_iter().chain(called).collect()),
            None => {}
        }
    }
    Ok(())
}

/// `a::ring as other`: the path and the alias.
fn split_alias(mut path: Vec<TokenTree>) -> (Vec<TokenTree>, Option<Ident>) {
    if let [.., TokenTree::Ident(word), TokenTree::Ident(alias)] = path.as_slice()
        && word == "as"
    {
        let alias = alias.clone();
        path.truncate(path.len() - 2);
        return (path, Some(alias));
    }
    (path, None)
}

/// `part ring { ... }`
fn defines(trees: &[TokenTree]) -> bool {
    matches!(trees, [TokenTree::Ident(part), TokenTree::Ident(_), group] if part == "part" && is_group(group))
}

/// Does `use` begin an item here?
fn begins_use(trees: &[TokenTree], at: usize) -> bool {
    let item = at == 0 || is(&trees[at - 1], ';') || is(&trees[at - 1], '>') || is_group(&trees[at - 1]);
    item && matches!(&trees[at], TokenTree::Ident(word) if word == "use")
}

fn is_group(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn is_attribute(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket)
}

fn is(tree: &TokenTree, c: char) -> bool {
    matches!(tree, TokenTree::Punct(p) if p.as_char() == c)
}

/// The tokens in braces.
fn contents(tree: &TokenTree) -> Option<Vec<TokenTree>> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream().into_iter().collect()),
        _ => None,
    }
}

fn braces(tokens: TokenStream) -> TokenTree {
    Group::new(Delimiter::Brace, tokens).into()
}

/// A text that differs between crates that are compiled: without cargo the command line of rustc.
fn package() -> String {
    std::env::var("CARGO_CRATE_NAME").unwrap_or_else(|_| {
        let mut hash = Hash::default();
        std::env::args().for_each(|argument| hash.add(&argument));
        format!("{:016x}", hash.value())
    })
}

/// An error in a part, or in its use.
pub fn problem(message: &str, help: &str, at: Span) -> TokenStream {
    report::problem(&Problem {
        code: code::MALFORMED_PART,
        message: message.to_owned(),
        first: at,
        last: at,
        help: Some(help.to_owned()),
    })
}
