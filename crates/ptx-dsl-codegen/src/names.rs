//! Names in emitted code: the runtime's functions, and PTX names as Rust identifiers; types and literals of registers.

use proc_macro2::{Ident, Span, TokenStream};
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::effect::Carry;
use ptx_dsl_isa::qualifier::q;
use quote::{ToTokens, format_ident, quote};

/// The path of the runtime in emitted code.
#[derive(Clone, Copy)]
pub struct Runtime;

pub const RT: Runtime = Runtime;

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(quote!(::ptx_dsl::__private));
    }
}

/// The runtime module of a family. The arithmetic families of the manual share their opcodes, so they share one module.
fn module_of(family: &str) -> &str {
    match family {
        "integer" | "extended" | "float" | "half" | "mixed" => "arith",
        "convert" => "cvt",
        other => other,
    }
}

/// The runtime function of an instruction. `bar.cta.sync` and `bar.sync` share one; `.cc` on `mad` selects another.
fn function_of(instr: &Instr) -> String {
    let words: Vec<String> =
        instr.opcode.name().split('.').filter(|word| *word != "cta").map(identifier_chars).collect();
    let mut name = words.join("_");
    if instr.entry.effects.carry == Carry::Out && instr.has(q::cc) {
        name.push_str("_cc");
    }
    if matches!(name.as_str(), "match" | "as" | "type") {
        name.push('_');
    }
    name
}

/// The path of an instruction's function below `semantics` of the runtime.
pub fn path_of(instr: &Instr) -> String {
    format!("{}::{}", module_of(instr.family), function_of(instr))
}

/// The instruction's function in the runtime.
pub fn runtime_function(instr: &Instr) -> TokenStream {
    let rt = RT;
    let family = format_ident!("{}", module_of(instr.family));
    let name = format_ident!("{}", function_of(instr));
    quote!(#rt::semantics::#family::#name)
}

/// The word with `_` for every character that an identifier cannot have.
pub fn identifier_chars(word: &str) -> String {
    word.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

/// A PTX name as a Rust identifier. Keywords become raw identifiers; those that cannot be raw get a trailing `_`.
pub fn rust_name(name: &str) -> Ident {
    #[rustfmt::skip]
    const KEYWORDS: [&str; 48] = [
        "as", "async", "await", "break", "const", "continue", "dyn", "else", "enum", "extern", "false", "fn", "for", "if", "impl", "in",
        "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "static", "struct", "trait", "true", "type", "unsafe",
        "use", "where", "while", "abstract", "become", "box", "do", "final", "gen", "macro", "override", "priv", "try", "typeof",
        "unsized", "virtual", "yield",
    ];
    let mut clean = identifier_chars(name);
    if clean.is_empty() || clean.starts_with(|c: char| c.is_ascii_digit()) || clean == "_" {
        clean.insert(0, '_');
    }
    match clean.as_str() {
        "self" | "Self" | "super" | "crate" => format_ident!("{clean}_"),
        word if KEYWORDS.contains(&word) => Ident::new_raw(word, Span::call_site()),
        _ => format_ident!("{clean}"),
    }
}

/// A primitive type where names of the user are, one of which may be `u32`.
pub fn primitive(name: &str) -> TokenStream {
    let name = format_ident!("{name}");
    quote!(::core::primitive::#name)
}

/// The Rust integer type of this width.
pub fn int(bits: u32, signed: bool) -> Ident {
    let types = match bits {
        0..=8 => ["u8", "i8"],
        16 => ["u16", "i16"],
        32 => ["u32", "i32"],
        64 => ["u64", "i64"],
        _ => ["u128", "i128"],
    };
    format_ident!("{}", types[usize::from(signed)])
}

/// The Rust type of a register of this width; a predicate has one bit.
pub fn ty(bits: u32) -> Ident {
    if bits == 1 { format_ident!("bool") } else { int(bits, false) }
}

/// A literal of a register's type.
pub fn literal(v: u64, bits: u32) -> TokenStream {
    match bits {
        1 => (v & 1 != 0).to_token_stream(),
        8 => (v as u8).to_token_stream(),
        16 => (v as u16).to_token_stream(),
        32 => (v as u32).to_token_stream(),
        64 => v.to_token_stream(),
        _ => u128::from(v).to_token_stream(),
    }
}

/// A signed number as a literal of a register's type, modulo its width.
pub fn wrapped_literal(v: i64, bits: u32) -> TokenStream {
    literal(v as u64 & (u64::MAX >> (64 - bits.min(64))), bits)
}
