//! Initial values of variables (PTX ISA 5.4.4): numbers, and addresses of variables and functions.

use super::super::Checker;
use super::super::symbol::Sym;
use super::{IMAGE_LIMIT, Shape, dims};
use crate::ast;
use crate::check::errors;
use crate::diag::Wanted;
use crate::edit::Help;
use crate::parse::constant::unknown_here;
use crate::parse::{Const, fold};
use crate::span::Span;
use ptx_dsl_isa::hir::{self, GLOBALS, Space, VarId};
use ptx_dsl_isa::isa;
use ptx_dsl_isa::ty::{Class, Ty};

impl Checker {
    /// Initial values of a variable.
    pub(super) fn initial(
        &mut self,
        space: Space,
        shape: &Shape,
        (var, offset): (VarId, u64),
        init: &ast::Init,
        declarator: &ast::Declarator,
    ) {
        let name = &declarator.name;
        if !matches!(space, Space::Global | Space::Const) {
            let text =
                format!("`{}` cannot have an initial value: only `.global` and `.const` variables have one", name.text);
            let help = "remove the value, and store it at the start of the kernel";
            self.report(errors::initialiser(name.span, &text, help));
            return;
        }
        // What `declarable` has reported, or has no bytes.
        let scalar = declarator.dims.is_empty() && shape.lanes == 1;
        if shape.ty.class() == Class::Opaque
            || scalar && matches!(init, ast::Init::List(..))
            || shape.array && matches!(init, ast::Init::Value(_))
        {
            return;
        }
        let width = u64::from(shape.ty.bytes());
        let mut values = Vec::new();
        let Some(known) = self.rust_dimensions(&dims(declarator), init, declarator) else { return };
        let mut short = Vec::new();
        if let Err((span, text, help)) = flatten(init, &known, shape.lanes, false, &mut values, &mut short) {
            self.report(errors::initialiser(span.unwrap_or(name.span), &text, &help));
            return;
        }
        // A list that is not full moves nothing if no value follows it.
        if let Some(list) = short.into_iter().find(|list| list.end < values.len()) {
            let next = values[list.end].span();
            self.report(errors::short_list(list.span, list.given, list.room, next, list.end));
        }
        let (mut image, mut rust) = (Vec::new(), Vec::new());
        for (at, value) in (0..).zip(values) {
            if let ast::Expr::Rust(id, span) = value {
                rust.push((at * width, *id, *span));
            }
            let bits = self.initial_value(shape.ty, value).unwrap_or(0).to_le_bytes();
            let start = usize::try_from(at * width).unwrap_or(0);
            if image.len() < start + width as usize {
                image.resize(start + width as usize, 0);
            }
            let bytes = bits.len().min(width as usize);
            image[start..start + bytes].copy_from_slice(&bits[..bytes]);
        }
        let here = |at| if shape.rust.is_some() { (Some(var), at) } else { (None, offset + at) };
        if shape.rust.is_some() {
            self.rust_bytes(space, var, &image, name.span);
            image.clear();
        }
        for (at, id, span) in rust {
            self.rust_initial((space, shape.ty), here(at), id, span);
        }
        let bank = if space == Space::Const { &mut self.out.const_image } else { &mut self.out.global_image };
        let start = usize::try_from(offset).unwrap_or(0);
        if start + image.len() <= IMAGE_LIMIT {
            if bank.len() < start + image.len() {
                bank.resize(start + image.len(), 0);
            }
            bank[start..start + image.len()].copy_from_slice(&image);
        }
    }

    fn initial_value(&mut self, ty: Ty, expr: &ast::Expr) -> Option<u64> {
        let span = expr.span();
        if let ast::Expr::Rust(..) = expr {
            return Some(0);
        }
        if let Some(c) = fold(expr) {
            return match (c, ty) {
                (Const::Int { value, .. }, _) if !matches!(ty.class(), Class::Float) => Some(value),
                (Const::F32(bits), Ty::F32 | Ty::B32) => Some(u64::from(bits)),
                (Const::F32(bits), Ty::F64 | Ty::B64) => Some(f64::from(f32::from_bits(bits)).to_bits()),
                (Const::F64(v), Ty::F64 | Ty::B64) => Some(v.to_bits()),
                (Const::F64(v), Ty::F32) => Some(u64::from((v as f32).to_bits())),
                _ => {
                    let text = format!("this value cannot initialise a `.{}`", ty.name());
                    let help = match c {
                        Const::Int { value, .. } => Help::write(format!("{:?}", value as i64 as f64)),
                        _ if matches!(ty.class(), Class::Float) => {
                            "store its bits into a `.b16` or `.b32` variable".into()
                        }
                        _ => "write an integer".into(),
                    };
                    self.report(errors::initialiser(span, &text, help));
                    None
                }
            };
        }
        if let ast::Expr::Call(mask, args, span) = expr
            && matches!(mask.text.as_bytes(), [b'0'..=b'9', ..])
        {
            return self.masked_address(ty, mask, args, *span);
        }
        match self.initial_address(expr) {
            Some(v) if matches!(ty, Ty::U32 | Ty::U64) => Some(v),
            Some(_) => {
                let text = format!("an address cannot initialise a `.{}`", ty.name());
                let help = if ty.bits() == 32 { "declare the variable `.u32`" } else { "declare the variable `.u64`" };
                self.report(errors::initialiser(span, &text, help));
                None
            }
            None => None,
        }
    }

    /// `x`, `x+4`, `generic(x)`, `generic(x)+4`.
    fn initial_address(&mut self, expr: &ast::Expr) -> Option<u64> {
        match expr {
            ast::Expr::Binary("+", a, b, span) => {
                let base = self.initial_address(a)?;
                match (fold(b), &**b) {
                    (Some(Const::Int { value, .. }), _) => Some(base.wrapping_add(value)),
                    (_, &ast::Expr::Rust(id, span)) => {
                        self.report(unknown_here(span, "an offset of an initial value", &self.out.constants, id));
                        None
                    }
                    _ => {
                        let text = "only an integer can be added to an address";
                        self.report(errors::initialiser(*span, text, "put one after the `+`"));
                        None
                    }
                }
            }
            ast::Expr::Call(word, args, _) if word.text == "generic" => match args.as_slice() {
                [ast::Expr::Name(name, None)] => self.named_address(name, true),
                _ => self.no_address(expr),
            },
            ast::Expr::Name(word, None) => self.named_address(word, false),
            other => self.no_address(other),
        }
    }

    fn no_address<T>(&mut self, expr: &ast::Expr) -> Option<T> {
        let help =
            "put a number or the name of a variable here; `generic` with the name in `( )` gives a generic address";
        self.report(errors::initialiser(expr.span(), "this is neither a constant nor an address", help));
        None
    }

    fn named_address(&mut self, word: &ast::Word, generic: bool) -> Option<u64> {
        match self.lookup(&word.text) {
            Some(Sym::Var(id)) => {
                let var = &self.out.vars[id.0 as usize];
                if let Some(layout) = var.rust {
                    let what = format!("the address of `{}` as an initial value", word.text);
                    let finding = unknown_here(word.span, &what, &self.out.constants, layout.size);
                    self.report(finding);
                    return None;
                }
                match var.space {
                    Space::Global => Some(GLOBALS + u64::from(var.offset)),
                    Space::Const if generic => Some(hir::CONSTS + u64::from(var.offset)),
                    Space::Const => Some(u64::from(var.offset)),
                    _ => {
                        let text = format!("the address of `{}` is not known before the launch", word.text);
                        self.report(errors::initialiser(word.span, &text, "store it at the start of the kernel"));
                        None
                    }
                }
            }
            Some(Sym::Func(id)) => Some(hir::FUNCTIONS + u64::from(id.0)),
            Some(Sym::Broken) => None,
            Some(other) => {
                self.report(errors::wrong_name(word.span, &word.text, other.describe(), "a variable"));
                None
            }
            None => {
                let d = self.undeclared(word.span, Wanted::Variable, &word.text);
                self.report(d);
                None
            }
        }
    }

    /// `0xFF00(x)`: a byte of an address (PTX ISA 5.4.4).
    fn masked_address(&mut self, ty: Ty, mask: &ast::Word, args: &[ast::Expr], span: Span) -> Option<u64> {
        let digits = mask.text.strip_prefix("0x").or_else(|| mask.text.strip_prefix("0X"));
        let value = match digits {
            Some(d) => u64::from_str_radix(d.trim_end_matches('U'), 16).ok(),
            None => mask.text.trim_end_matches('U').parse().ok(),
        };
        let shift = value.map_or(64, u64::trailing_zeros);
        if value != 0xFFu64.checked_shl(shift) || shift % 8 != 0 {
            let text = format!("`{}` masks no whole byte of an address", mask.text);
            self.report(errors::initialiser(mask.span, &text, "write `0xFF`, `0xFF00`, `0xFF0000` and so on"));
            return None;
        }
        // As for whole addresses: no `.b8`, no `.u16`, says ptxas.
        if !matches!(ty, Ty::U8 | Ty::U32 | Ty::U64) {
            let text = format!("a byte of an address cannot initialise a `.{}`", ty.name());
            self.report(errors::initialiser(span, &text, "declare the variable `.u8`"));
            return None;
        }
        let what = format_args!("a mask in an initial value");
        if let Some(d) = self.gate(mask.span, what, isa::Ptx(7, 1), isa::Targets::Sm(0), "5.4.4") {
            self.report(d);
            return None;
        }
        let [arg] = args else { return self.no_address(args.last()?) };
        Some(self.initial_address(arg)? >> shift & 0xFF)
    }
}

/// An error in an initialiser: its place (default: the variable's name), message, and help.
type Misshapen = (Option<Span>, String, String);

/// An inner list with fewer values than its row has.
struct Short {
    span: Span,
    /// Its values, or its lists.
    given: usize,
    /// What it has room for.
    room: u64,
    /// The values of the initialiser up to its end.
    end: usize,
}

/// The values of an initialiser in order. Braces follow the dimensions of an array and, innermost, the elements of a vector (PTX
/// ISA 5.4.4). They are not places: ptxas and the driver put the values one after another from the first element on, so that those
/// after a list that is not full move up. The elements after the last value are 0.
fn flatten<'a>(
    init: &'a ast::Init,
    dims: &[u64],
    lanes: u64,
    inner: bool,
    out: &mut Vec<&'a ast::Expr>,
    short: &mut Vec<Short>,
) -> Result<(), Misshapen> {
    let (room, rest, exact) = match (dims, lanes) {
        ([first, rest @ ..], _) => (*first, rest, false),
        ([], 2..) => (lanes, dims, true),
        _ => (0, dims, false),
    };
    match init {
        ast::Init::Value(e) if room == 0 => out.push(e),
        ast::Init::Value(e) => {
            let what = if exact { format!("a vector of {lanes}") } else { format!("an array of {room}") };
            let help = "write its values in `{ }` of their own".to_string();
            return Err((Some(e.span()), format!("one value stands for {what}"), help));
        }
        ast::Init::Field(word, _) => {
            let text = "only textures, samplers and surfaces have fields".to_string();
            return Err((Some(word.span), text, "write the value alone".to_string()));
        }
        ast::Init::List(list, span) => {
            let have = list.len() as u64;
            if room == 0 {
                let help = "remove the inner braces".to_string();
                return Err((Some(*span), "a scalar has one initial value".to_string(), help));
            }
            if have > room || exact && have != room {
                let what = if exact { "vector" } else { "array" };
                let text = format!("this {what} has {room} elements, but {have} values are given");
                let help = if exact { "give one for each" } else { "give as many as there are, or a larger size" };
                return Err(((exact || inner).then_some(*span), text, help.to_string()));
            }
            let lanes = if exact { 1 } else { lanes };
            for part in list {
                flatten(part, rest, lanes, true, out, short)?;
            }
            if inner && have < room {
                short.push(Short { span: *span, given: list.len(), room, end: out.len() });
            }
        }
    }
    Ok(())
}
