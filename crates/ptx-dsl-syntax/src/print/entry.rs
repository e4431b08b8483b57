//! The text of one kernel without the others: the items of the module that it needs.

use super::Items;
use crate::ast::{Arg, Directive, Expr, Item, Module};
use std::collections::HashMap;

/// The items of a printed module, by the names that they declare.
pub struct Entries<'m> {
    module: &'m Module,
    ptx: &'m str,
    items: &'m Items,
    declared: HashMap<&'m str, Vec<usize>>,
}

impl<'m> Entries<'m> {
    /// `ptx`: the module's text.
    pub fn new(module: &'m Module, ptx: &'m str, items: &'m Items) -> Self {
        let mut declared: HashMap<&str, Vec<usize>> = HashMap::new();
        for (i, item) in module.items.iter().enumerate() {
            let mut declare = |name: &'m str| declared.entry(name).or_default().push(i);
            match item {
                Item::Var(v) => v.names.iter().for_each(|d| declare(&d.name.text)),
                Item::Function(f) => declare(&f.name.text),
                Item::Directive(d) => {
                    if let Some(alias) = alias(d) {
                        declare(alias);
                    }
                }
            }
        }
        Entries { module, ptx, items, declared }
    }

    /// The text of the kernel with what it needs; `None` if that is all of the module.
    ///
    /// An item is needed if its name occurs in one that is needed. Debug information is left out. Other directives stay.
    pub fn alone(&self, kernel: &str) -> Option<String> {
        let mut needed: Vec<bool> = self.module.items.iter().map(stays).collect();
        let mut open = Vec::new();
        let mut need = |name: &str, open: &mut Vec<usize>| {
            for &item in self.declared.get(name).into_iter().flatten() {
                if !std::mem::replace(&mut needed[item], true) {
                    open.push(item);
                }
            }
        };
        need(kernel, &mut open);
        while let Some(item) = open.pop() {
            let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
            for word in code(self.text(item)).flat_map(|line| line.split(|c| !inside(c))) {
                need(word, &mut open);
            }
        }
        if needed.iter().all(|needed| *needed) {
            return None;
        }
        let mut out = self.ptx[..self.items.header].to_owned();
        for (item, _) in needed.iter().enumerate().filter(|(_, needed)| **needed) {
            let text = self.text(item);
            if out.len() == self.items.header && !text.starts_with('\n') {
                out.push('\n');
            }
            out.push_str(text);
        }
        Some(out)
    }

    /// The printed item, with the empty line before it.
    fn text(&self, item: usize) -> &'m str {
        let start = item.checked_sub(1).map_or(self.items.header, |before| self.items.ends[before]);
        &self.ptx[start..self.items.ends[item]]
    }
}

/// The lines of a text up to a comment. Of comments that have several lines, the others count as code: more may be needed then.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| {
        let end = [line.find("//"), line.find("/*")].into_iter().flatten().min();
        line.get(..end.unwrap_or(line.len())).unwrap_or(line)
    })
}

/// Is it a directive that does not belong to some names?
fn stays(item: &Item) -> bool {
    matches!(item, Item::Directive(d) if d.name.text != ".section" && alias(d).is_none())
}

/// The name that `.alias` declares.
fn alias(d: &Directive) -> Option<&str> {
    match d.args.first() {
        Some(Arg::Expr(Expr::Name(name, _))) if d.name.text == ".alias" => Some(&name.text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;
    use crate::parse::parse;
    use crate::print::{Printed, print_with_lines};

    fn parsed(text: &str) -> Module {
        let (module, found) = parse(&lex(text).0.tokens);
        assert!(found.is_empty(), "{found:?}");
        module
    }

    #[test]
    fn a_kernel_alone_has_what_it_needs() {
        let module = parsed(
            ".version 7.0\n.target sm_80\n.global .u32 a[2] = {1, 2}; .global .u64 b[1] = {generic(a)+4}; .global .u32 c; .const .f32 d = 1.5;
            .extern .func (.param .b32 r) printf(.param .b64 s); .func used(); .func unused() { ret; }
            .func used() { .reg .b64 %x; mov.u64 %x, b; ret; }
            .alias other, used;
            .entry first() { .reg .b32 d; call other; ret; }
            .entry second() { .reg .b32 %r; ld.global.u32 %r, [c]; ret; }
            .entry third() { ret; }",
        );
        let Printed { text, items, .. } = print_with_lines(&module, &|_| None);
        let entries = Entries::new(&module, &text, &items);
        let alone = |name| entries.alone(name).expect("it needs less than all");
        let head = ".version 7.0\n.target sm_80\n.address_size 64\n\n";
        let second =
            ".global .u32 c;\n\n.entry second()\n{\n    .reg .b32 %r;\n    ld.global.u32 %r, [c];\n    ret;\n}\n";
        assert_eq!(alone("second"), format!("{head}{second}"));
        assert_eq!(alone("third"), format!("{head}.entry third()\n{{\n    ret;\n}}\n"));
        let first = alone("first");
        for (part, wanted) in [
            ("a[2]", true),
            ("b[1]", true),
            ("u32 c", false),
            (".const .f32 d", true), // a register has its name
            ("printf", false),
            ("used()", true),
            ("unused", false),
            (".alias other, used;", true),
            ("second", false),
        ] {
            assert_eq!(first.contains(part), wanted, "{part}: {first}");
        }
        assert_eq!(print_with_lines(&parsed(&first), &|_| None).text, first);
        let one = parsed(
            ".version 7.0\n.target sm_80\n.pragma \"nounroll\"; .global .u32 a; .entry k() { .reg .b64 %x; mov.u64 %x, a; ret; }",
        );
        let Printed { text, items, .. } = print_with_lines(&one, &|_| None);
        assert_eq!(Entries::new(&one, &text, &items).alone("k"), None);
    }
}
