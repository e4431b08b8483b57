//! Constants of a kernel: qualifiers of its instructions, and the sites that faults report.

use super::origins::{Collector, Origins};
use crate::kernel::Kernel;
use crate::names::RT;
use crate::source::{Line, Printed};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{Instr, Module, Operand};
use ptx_dsl_isa::isa::{Role, fragment};
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::span::Span;
use ptx_dsl_isa::ty::Ty;
use quote::{format_ident, quote};
use std::collections::BTreeMap;

/// A statement that faults name.
#[derive(Debug, Clone)]
pub struct Site {
    /// The statement as printed.
    pub text: String,
    /// Line in the printed PTX.
    pub line: u32,
    /// Line in the source, 0 if unknown.
    pub source_line: u32,
    /// The number of its place in [`Origins`] from 1, 0 if there is none but `source_line`.
    pub origin: u32,
    /// The bytes of a load that the program uses; `None`: all.
    pub used_bytes: Option<u32>,
}

pub struct Constants<'m> {
    /// Line in the source.
    line: &'m dyn Fn(Span) -> Line,
    text: &'m Printed<'m>,
    /// The qualifiers and types of each constant.
    qualifiers: Vec<(Vec<Qualifier>, Vec<Ty>)>,
    /// Instructions that can fault, with the number of their site.
    numbers: BTreeMap<u32, u32>,
    sites: Vec<Site>,
    origins: Collector<'m>,
}

impl<'m> Constants<'m> {
    pub fn new(module: &'m Module, line: &'m dyn Fn(Span) -> Line, text: &'m Printed<'m>) -> Self {
        let origins = Collector::new(&module.origins);
        Constants { line, text, qualifiers: Vec::new(), numbers: BTreeMap::new(), sites: Vec::new(), origins }
    }

    /// All sites so far.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The places that they come from.
    pub fn origins(&self) -> &Origins {
        self.origins.all()
    }

    /// Takes the sites and origins out, to keep them.
    pub fn into_parts(self) -> (Vec<Site>, Origins) {
        (self.sites, self.origins.into_all())
    }

    /// The qualifiers of an instruction as its semantics read them: without types, with what operands say besides.
    pub fn flags(&self, kernel: &Kernel<'_>, i: &Instr) -> Vec<Qualifier> {
        let mut flags: Vec<Qualifier> = i.quals.iter().copied().filter(|q| q.ty().is_none()).collect();
        flags.extend(kernel.param_space(i));
        // A descriptor of A in shared memory, or an address in Tensor Memory: only the brackets tell.
        if i.operand("a-tmem").is_some() {
            flags.push(q::a_tmem);
        }
        // A predicate in place of a source size.
        if i.operand("ignore-src").is_some() {
            flags.push(q::ignore_src);
        }
        // A state, or `_` in its place.
        if matches!(i.operand("state"), Some(a) if a.role == Role::Dst && !matches!(a.value, Operand::Sink)) {
            flags.push(q::state);
        }
        flags.extend(fragment::order(&i.quals));
        flags
    }

    /// The constant for an instruction's qualifiers and types, and its item if it is new.
    pub fn qualifiers(&mut self, kernel: &Kernel<'_>, i: &Instr) -> (Ident, Option<TokenStream>) {
        let flags = self.flags(kernel, i);
        if let Some(n) = self.qualifiers.iter().position(|(f, t)| *f == flags && *t == i.types) {
            return (format_ident!("Q{n}"), None);
        }
        let rt = RT;
        let name = format_ident!("Q{}", self.qualifiers.len());
        let names = flags.iter().map(|f| format_ident!("{}", f.constant()));
        let types = i.types.iter().map(|t| format_ident!("{t:?}"));
        let item = quote! {
            const #name: #rt::Q =
                #rt::Q::of(&const { #rt::Qualifiers::new(&[#(#rt::q::#names),*], &[#(#rt::Ty::#types),*]) });
        };
        self.qualifiers.push((flags, i.types.clone()));
        (name, Some(item))
    }

    /// The number of the instruction's site.
    pub fn site(&mut self, i: &Instr) -> u32 {
        if let Some(&n) = self.numbers.get(&i.index) {
            return n;
        }
        let n = self.sites.len() as u32;
        let (line, text) = self.text.line(i);
        let Line { number: source_line, of_piece } = (self.line)(i.span);
        let origin = match self.origins.of(i.index) {
            0 => self.origins.of_piece(&of_piece),
            of_loc => of_loc,
        };
        self.sites.push(Site { text: text.to_owned(), line, source_line, origin, used_bytes: i.used_bytes });
        self.numbers.insert(i.index, n);
        n
    }
}
