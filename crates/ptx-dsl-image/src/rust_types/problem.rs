//! The wording about Rust types that do not suit their parameters: a sentence, and an edit.

use super::declared;
use ptx_dsl_isa::hir::Param;
use ptx_dsl_isa::ty::{Class, Ty};

type Mistake = (String, String);

/// A slice whose parameter has no 64 bits.
pub fn slice(p: &Param) -> Mistake {
    let message = format!("`{}` is passed as a slice, but a pointer parameter is `.u64`", p.name);
    (message, format!("declare `.param .u64 {}`", p.name))
}

/// `&T` of a tensor map, where the name of `T` is misspelt. Other names than `TensorMap` may be aliases of it.
pub fn map(p: &Param, element: &str) -> Option<Mistake> {
    let name = last_name(element);
    (name != MAP && resembles(&name, MAP)).then(|| {
        let message = format!("`{}` is a tensor map, but `{name}` is not `{MAP}`", p.name);
        (message, format!("did you mean `&{MAP}`?"))
    })
}

const MAP: &str = "TensorMap";

/// The last name of a path, without its arguments.
pub fn last_name(path: &str) -> String {
    let plain = path.split('<').next().unwrap_or_default();
    plain.rsplit("::").next().unwrap_or_default().trim().to_owned()
}

/// Do the names have the same letters, but for two?
fn resembles(name: &str, other: &str) -> bool {
    let mut rest: Vec<char> = other.to_lowercase().chars().collect();
    let mut more = 0;
    for letter in name.to_lowercase().chars() {
        match rest.iter().position(|other| *other == letter) {
            Some(at) => {
                rest.swap_remove(at);
            }
            None => more += 1,
        }
    }
    more + rest.len() <= 2
}

/// `&T`, where `T` could be what a slice has.
pub fn reference(p: &Param, mutable: bool, element: &str) -> Mistake {
    if super::is_tensor_map(p) {
        let message = format!("`{}` is a tensor map, which a kernel cannot write", p.name);
        return (message, format!("write `&{MAP}`"));
    }
    let help = match element.rsplit("::").next() {
        Some(name) if name.starts_with("TensorMap") => format!("declare `.param .align 64 .b8 {}[128]`", p.name),
        _ => format!("write `&{}[{element}]`", if mutable { "mut " } else { "" }),
    };
    let message =
        format!("`{}` has a Rust type that cannot be passed: memory of the device is passed as a slice", p.name);
    (message, help)
}

/// Tokens that are no type.
pub fn no_type(p: &Param) -> Mistake {
    let name = &p.name;
    let help = match (p.array, p.ty) {
        (true, _) => format!("write `{name}: [u8; {}]`, or a struct with `#[derive(ptx_dsl::Param)]`", p.size),
        (_, Ty::U64 | Ty::B64) => format!("write `{name}: &mut [f32]` for a pointer, `{name}: u64` for a number"),
        (_, ty) => match suits(ty).0.first() {
            Some(first) => format!("write `{name}: {first}`"),
            None => format!("write `{name}: [u8; {}]`", p.size),
        },
    };
    (format!("`{name}` has no valid Rust type"), help)
}

/// A primitive type that does not suit its parameter.
pub fn primitive(p: &Param, ty: &Primitive) -> Mistake {
    let (name, size, rust, bytes) = (&p.name, p.size as usize, ty.rust, ty.bytes);
    let what = declared(p);
    let message = if bytes != size {
        let s = if size == 1 { "" } else { "s" };
        format!("`{name}` is {what}, which has {size} byte{s}, but `{rust}` has {bytes}")
    } else if p.array {
        format!("`{name}` is {what}, but `{rust}` is not an array")
    } else if ty.float {
        format!("`{name}` is {what}, but `{rust}` is a floating-point number")
    } else {
        format!("`{name}` is {what}, but `{rust}` is an integer")
    };
    let pass = if p.array { format!("`[u8; {size}]`") } else { what_suits(p.ty) };
    let pass = if pass.is_empty() { String::new() } else { format!("pass {pass}, or ") };
    (message, format!("{pass}declare `.param .{} {name}`", ty.ptx))
}

/// A primitive type of Rust, and the type of PTX that is the same.
pub struct Primitive {
    rust: &'static str,
    /// The size of the type.
    pub bytes: usize,
    float: bool,
    ptx: &'static str,
}

/// The primitive types of Rust that parameters have.
#[rustfmt::skip]
const PRIMITIVES: [Primitive; 13] = {
    const fn of(rust: &'static str, bytes: usize, ptx: &'static str) -> Primitive {
        Primitive { rust, bytes, float: rust.as_bytes()[0] == b'f', ptx }
    }
    [
        of("u8", 1, "u8"), of("i8", 1, "s8"), of("bool", 1, "u8"), of("u16", 2, "u16"), of("i16", 2, "s16"),
        of("u32", 4, "u32"), of("i32", 4, "s32"), of("f32", 4, "f32"), of("u64", 8, "u64"), of("i64", 8, "s64"),
        of("usize", 8, "u64"), of("isize", 8, "s64"), of("f64", 8, "f64"),
    ]
};

impl Primitive {
    /// The primitive type that these tokens are.
    pub fn of(ty: &str) -> Option<&'static Primitive> {
        PRIMITIVES.iter().find(|known| known.rust == ty)
    }

    /// Does it have the size of the parameter, and is one a floating-point number if the other is?
    pub fn suits(&self, p: &Param) -> bool {
        let kind = match p.ty.class() {
            Class::Bits => true,
            _ if p.ty.is_float() => self.float || self.bytes == 2,
            _ => !self.float,
        };
        self.bytes == p.size as usize && !p.array && kind
    }
}

/// The Rust types of a scalar, and what else there is.
fn suits(ty: Ty) -> (&'static [&'static str], &'static str) {
    const HALF: &str = "with the feature `half` also `half::f16` and `half::bf16`";
    match ty {
        Ty::U8 | Ty::S8 | Ty::B8 => (&["u8", "i8", "bool"], ""),
        Ty::U16 | Ty::S16 => (&["u16", "i16"], ""),
        Ty::B16 | Ty::F16 | Ty::Bf16 => (&["u16", "i16"], HALF),
        Ty::U32 | Ty::S32 => (&["u32", "i32"], ""),
        Ty::B32 => (&["u32", "i32", "f32"], ""),
        Ty::F32 => (&["f32"], ""),
        Ty::U64 | Ty::S64 => (&["u64", "i64"], ""),
        Ty::B64 => (&["u64", "i64", "f64"], ""),
        Ty::F64 => (&["f64"], ""),
        _ => (&[], ""),
    }
}

/// `` `u32`, `i32` or `f32` ``
pub fn what_suits(ty: Ty) -> String {
    let (types, more) = suits(ty);
    let types: Vec<String> = types.iter().map(|ty| format!("`{ty}`")).collect();
    let types = match types.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    };
    if more.is_empty() { types } else { format!("{types} ({more})") }
}

/// A type as a programmer writes it: tokens without spaces, except after commas and between words.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric() || *c == '_');
        let between = word(out.chars().last().as_ref()) && word(rest.peek()) || out.ends_with([',', ';']);
        if c != ' ' || between {
            out.push(c);
        }
    }
    out
}
