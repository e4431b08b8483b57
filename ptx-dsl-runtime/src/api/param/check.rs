//! The checks that emitted code makes in const evaluation: a Rust type against the parameter, and accesses against its fields.

use super::{ParamShape, Parts, ends, leaf};
use ptx_dsl_isa::constant::{Const, Piece, Text};

/// A parameter as the kernel declares it.
#[derive(Debug, Clone, Copy)]
pub struct Declared {
    /// The name of the parameter.
    pub name: &'static str,
    /// `` a `.u32` ``
    pub what: &'static str,
    /// The type of the parameter without the dot, and the kind of that type; `.b8` for an array.
    pub ty: (&'static str, ParamKind),
    /// The types that suit it, `` `u32` or `i32` ``. Of an array nothing.
    pub suits: &'static str,
    /// In bytes.
    pub size: usize,
    /// The alignment of an array, in bytes.
    pub align: Option<usize>,
    /// The Rust type, as written.
    pub rust: &'static str,
}

/// A load from a parameter.
#[derive(Debug, Clone, Copy)]
pub struct ParamAccess {
    /// The name of the parameter.
    pub name: &'static str,
    /// The type of the access, without its dot.
    pub ty: &'static str,
    /// The offset of the load in the parameter.
    pub offset: usize,
    /// Bytes of each element.
    pub size: usize,
    /// Elements of the vector.
    pub lanes: usize,
    /// The kind of the loaded type.
    pub kind: ParamKind,
}

/// The kind of a type.
#[derive(Debug, Clone, Copy)]
pub enum ParamKind {
    /// `.b32`
    Bits,
    /// `.u32`
    Integer,
    /// `.f32`
    Float,
}

#[track_caller]
const fn fail(pieces: &[Piece<'_>]) -> ! {
    let text = Text::<LONGEST>::new(pieces);
    panic!("{}", text.as_str())
}

/// More than names in a program have.
const LONGEST: usize = 8192;

const fn text(text: &str) -> Piece<'_> {
    Piece::Text(if text.len() < 1024 { text } else { "..." })
}

const fn number(n: usize) -> Piece<'static> {
    Piece::Value(Const::unsigned(n as u64))
}

/// Fails unless the type has the size of the parameter, no larger alignment, and is a floating-point number where that is one.
#[track_caller]
pub const fn declared(shape: &'static ParamShape, p: &Declared) {
    let ParamShape { size, align, .. } = *shape;
    if size != p.size {
        fail(&[
            text("[PTX0153] `"),
            text(p.name),
            text("` is "),
            text(p.what),
            text(", which has "),
            number(p.size),
            text(if p.size == 1 { " byte, but `" } else { " bytes, but `" }),
            text(p.rust),
            text("` has "),
            number(size),
            text("\n  = help: "),
            text(if p.suits.is_empty() { "pass a type of " } else { "pass " }),
            if p.suits.is_empty() { number(p.size) } else { text(p.suits) },
            text(match (p.suits.is_empty(), p.size) {
                (false, _) => "",
                (true, 1) => " byte",
                (true, _) => " bytes",
            }),
        ]);
    }
    if let Some(given) = p.align
        && align > given
    {
        fail(&[
            text("[PTX0153] `"),
            text(p.name),
            text("` is aligned to "),
            number(given),
            text(if given == 1 { " byte, but `" } else { " bytes, but `" }),
            text(p.rust),
            text("` to "),
            number(align),
            text("\n  = help: declare `.param .align "),
            number(align),
            text(" .b8 "),
            text(p.name),
            text("["),
            number(size),
            text("]`"),
        ]);
    }
    if let Some(ParamShape { size: whole, parts, .. }) = leaf(shape, 0)
        && *whole == size
    {
        let what = match (p.ty.1, parts) {
            (ParamKind::Integer, Parts::Float(_)) => "a floating-point number",
            (ParamKind::Float, Parts::Float(ty)) if !same(ty, p.ty.0) => "another floating-point type",
            (ParamKind::Float, Parts::Integer) => "an integer",
            _ => return,
        };
        fail(&[
            text("[PTX0153] `"),
            text(p.name),
            text("` is "),
            text(p.what),
            text(", but `"),
            text(p.rust),
            text("` is "),
            text(what),
            text("\n  = help: pass "),
            text(p.suits),
            text(", or declare `.param .b"),
            number(8 * size),
            text(" "),
            text(p.name),
            text("` for the bits"),
        ]);
    }
}

/// Fails unless a load suits the fields of the type: `.b32` reads whole fields or parts of them, integers whole fields, and a
/// floating-point type one of its own, or an integer with its bits.
#[track_caller]
pub const fn access(of: &'static ParamShape, a: &ParamAccess) {
    let mut lane = 0;
    while lane < a.lanes {
        let from = a.offset + lane * a.size;
        let found = leaf(of, from);
        let suits = match (a.kind, found) {
            (ParamKind::Bits, _) => true,
            (ParamKind::Integer, Some(_)) => ends(of, from + a.size),
            (ParamKind::Float, Some(shape)) => match shape.parts {
                Parts::Float(ty) => same(ty, a.ty),
                _ => shape.size == a.size,
            },
            (_, None) => false,
        };
        if !suits && from + a.size <= of.size {
            let loads = [
                text("[PTX0161] this loads a `."),
                text(a.ty),
                text("` from byte "),
                number(from),
                text(" of `"),
                text(a.name),
                text("`, where `"),
                text(of.name),
            ];
            match found {
                Some(shape) => fail(&[
                    loads[0],
                    loads[1],
                    loads[2],
                    loads[3],
                    loads[4],
                    loads[5],
                    loads[6],
                    loads[7],
                    text("` has a `"),
                    text(shape.name),
                    text("`\n  = help: load a type of its size, or `.b"),
                    number(8 * a.size),
                    text("` for the bits"),
                ]),
                None => fail(&[
                    loads[0],
                    loads[1],
                    loads[2],
                    loads[3],
                    loads[4],
                    loads[5],
                    loads[6],
                    loads[7],
                    text(
                        "` has no field that begins there\n  = help: see `core::mem::offset_of!` for the offset of a field; `.b",
                    ),
                    number(8 * a.size),
                    text("` loads any bits"),
                ]),
            }
        }
        lane += 1;
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut n = 0;
    while n < a.len() && n < b.len() {
        if a[n] != b[n] {
            return false;
        }
        n += 1;
    }
    a.len() == b.len()
}
