//! What `--arg`, `--out` and `--print` say.

use super::data::{Element, Init, element_type, number};
use super::npy::is_npz;
use super::tensor_map::{Fields, parts};
use std::ops::Range;

/// `NAME=...`
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T> {
    pub name: String,
    pub value: T,
}

impl<T> Named<T> {
    fn split(text: &str, of: impl FnOnce(&str) -> Result<T, String>) -> Result<Self, String> {
        let (name, rest) = text.split_once('=').ok_or("write it as `NAME=...`")?;
        Ok(Named { name: name.trim().to_owned(), value: of(rest.trim())? })
    }
}

/// An argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// `2.5`, `f32:2.5`
    Number { ty: Option<Element>, text: String },
    /// `null`
    Null,
    /// `f32[1024]:iota`, `[64,64]`
    New { ty: Option<Element>, shape: Vec<u64>, init: Init },
    /// `@in.npy`, `@in.bin:f32[1024]`, `@in.bin:f32`
    File { path: String, ty: Option<Element>, shape: Option<Vec<u64>> },
    /// `tensormap(f16[64,64], box=64x32)`
    TensorMap { tensor: Box<Argument>, fields: Fields },
    /// The parameter that has the tensor: `x` of `tensormap(x, box=64x32)`
    Name(String),
}

/// `--arg`
pub fn argument(text: &str) -> Result<Named<Argument>, String> {
    Named::split(text, value)
}

fn value(text: &str) -> Result<Argument, String> {
    if let Some(inside) = text.strip_prefix("tensormap(") {
        let inside = inside.strip_suffix(')').ok_or("`)` is missing after `tensormap(`")?;
        let mut parts = parts(inside);
        let tensor = Box::new(tensor(parts.next().unwrap_or_default())?);
        return Ok(Argument::TensorMap { tensor, fields: Fields::from_text(parts)? });
    }
    if let Some(file) = text.strip_prefix('@') {
        return Ok(from_file(file));
    }
    if text == "null" {
        return Ok(Argument::Null);
    }
    if let Some((typed, init)) = split_shape(text) {
        let (ty, shape) = elements(typed)?;
        let init = init.trim_start();
        let init = match init.strip_prefix(':') {
            Some(init) => Init::from_text(init.trim())?,
            None if init.is_empty() => Init::Number("0".into()),
            None => return Err(format!("`{init}` after `]`: write `:zeros` or another initialiser")),
        };
        return Ok(Argument::New { ty, shape, init });
    }
    match text.split_once(':') {
        Some((ty, number)) => {
            let ty = element_type(ty).ok_or_else(|| format!("`{ty}` is not a type of elements"))?;
            Ok(Argument::Number { ty: Some(ty), text: number.to_owned() })
        }
        None if text.is_empty() => Err("there is no value after `=`".into()),
        None => Ok(Argument::Number { ty: None, text: text.to_owned() }),
    }
}

/// The tensor of a map: new data, a file, or the name of a parameter.
fn tensor(text: &str) -> Result<Argument, String> {
    match value(text)? {
        Argument::Number { ty: None, text } => Ok(Argument::Name(text)),
        data @ (Argument::New { .. } | Argument::File { .. }) => Ok(data),
        _ => Err(format!("`{text}` is not a tensor: write `f16[64,64]`, `@x.npy` or the name of a parameter")),
    }
}

/// `f32[4]` and `:iota` of `f32[4]:iota`.
fn split_shape(text: &str) -> Option<(&str, &str)> {
    let end = text.find(']')? + 1;
    text[..end].contains('[').then(|| text.split_at(end))
}

/// A file with a type after a colon; a colon with anything else after it is part of the path.
fn from_file(text: &str) -> Argument {
    if let Some((path, typed)) = text.rsplit_once(':') {
        if let Some(ty) = element_type(typed) {
            return Argument::File { path: path.to_owned(), ty: Some(ty), shape: None };
        }
        if let (true, Ok((ty, shape))) = (typed.ends_with(']'), elements(typed)) {
            return Argument::File { path: path.to_owned(), ty, shape: Some(shape) };
        }
    }
    Argument::File { path: text.to_owned(), ty: None, shape: None }
}

/// `f32[64,64]`, `[1024]`
fn elements(text: &str) -> Result<(Option<Element>, Vec<u64>), String> {
    let wrong = || format!("`{text}` is not a type with a number of elements, such as `f32[1024]`");
    let (ty, counts) = text.strip_suffix(']').and_then(|t| t.split_once('[')).ok_or_else(wrong)?;
    let ty = match ty {
        "" => None,
        ty => Some(element_type(ty).ok_or_else(|| format!("`{ty}` is not a type of elements"))?),
    };
    let shape = counts.split(',').map(|n| n.trim().replace('_', "").parse().map_err(|_| wrong()));
    Ok((ty, shape.collect::<Result<_, _>>()?))
}

/// `--out`
pub fn output(text: &str) -> Result<Named<String>, String> {
    Named::split(text, |path| match path {
        "" => Err("there is no file after `=`".into()),
        path if is_npz(path) => Err("arrays are written as .npy, or as raw bytes".into()),
        path => Ok(path.to_owned()),
    })
}

/// `--print`: `y`, `y[3]`, `y[0..8]`, `y[..8]`, `y[8..]`
pub fn shown(text: &str) -> Result<Named<Range<u64>>, String> {
    let all = |range| Named { name: text.split('[').next().unwrap_or_default().trim().to_owned(), value: range };
    let Some((_, range)) = text.split_once('[') else { return Ok(all(0..u64::MAX)) };
    let wrong = || format!("`{text}`: write `y`, `y[3]` or `y[0..8]`");
    let range = range.strip_suffix(']').ok_or_else(wrong)?;
    let number = |text: &str, otherwise: u64| match text.trim() {
        "" => Ok(otherwise),
        text => self::number(text).map_err(|_| wrong()),
    };
    let range = match range.split_once("..") {
        Some((first, end)) => number(first, 0)?..number(end, u64::MAX)?,
        None => {
            let at: u64 = self::number(range).map_err(|_| wrong())?;
            at..at.checked_add(1).ok_or_else(wrong)?
        }
    };
    if range.start > range.end { Err(wrong()) } else { Ok(all(range)) }
}

/// A number that is not 0.
pub fn positive(text: &str) -> Result<u64, String> {
    number(text).and_then(|n| if n > 0 { Ok(n) } else { Err("it is 1 or more".into()) })
}

/// `--grid`, `--block`, `--cluster`: `4`, `4,2` or `4x2x1`
pub fn dims(text: &str) -> Result<[u32; 3], String> {
    let mut dims = [1; 3];
    let parts: Vec<&str> = text.split([',', 'x']).collect();
    if parts.len() > 3 {
        return Err("there are at most three dimensions".into());
    }
    for (to, part) in dims.iter_mut().zip(parts) {
        *to = part.trim().parse().map_err(|_| format!("`{part}` is not a number"))?;
    }
    Ok(dims)
}

/// `--explore`
#[derive(Clone, Debug)]
pub struct Exploration {
    pub schedules: u64,
    pub how: How,
}

/// How schedules are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    Seeds,
    Priorities(usize),
    Exhaustive,
}

/// `64`, `1000,pct`, `1000,pct=2`, `100000,exhaustive`
pub fn exploration(text: &str) -> Result<Exploration, String> {
    let (schedules, how) = text.split_once(',').map_or((text, None), |(n, how)| (n, Some(how)));
    let schedules = positive(schedules).map_err(|_| "the number of schedules is 1 or more")?;
    let how = match how {
        None => How::Seeds,
        Some("exhaustive") => How::Exhaustive,
        Some("pct") => How::Priorities(3),
        Some(how) => {
            let depth = how.strip_prefix("pct=").and_then(|depth| depth.parse().ok()).filter(|depth| *depth > 0);
            How::Priorities(depth.ok_or_else(|| format!("`{how}` is not `pct`, `pct=DEPTH` or `exhaustive`"))?)
        }
    };
    Ok(Exploration { schedules, how })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::small::Small;
    use ptx_dsl::load::Ty;

    #[test]
    fn arguments() {
        let of = |text: &str| argument(&format!("x={text}")).unwrap().value;
        let iota = Argument::New { ty: Some(Ty::F32.into()), shape: vec![1024], init: Init::Iota };
        assert_eq!(of("f32[1024]:iota"), iota);
        let zeros = Init::Number("0".into());
        assert_eq!(of("[8, 1_6]"), Argument::New { ty: None, shape: vec![8, 16], init: zeros.clone() });
        assert_eq!(of("[2]:random(7)"), Argument::New { ty: None, shape: vec![2], init: Init::Random(7) });
        assert_eq!(of("-2.5"), Argument::Number { ty: None, text: "-2.5".into() });
        assert_eq!(of("i8:3"), Argument::Number { ty: Some(Ty::S8.into()), text: "3".into() });
        assert_eq!(of("e4m3:0.5"), Argument::Number { ty: Some(Small::E4m3.into()), text: "0.5".into() });
        assert_eq!(of("null"), Argument::Null);
        let file = |path: &str, ty, shape| Argument::File { path: path.into(), ty, shape };
        assert_eq!(of("@a/b.npy"), file("a/b.npy", None, None));
        assert_eq!(of("@b.bin:f32[4]"), file("b.bin", Some(Ty::F32.into()), Some(vec![4])));
        assert_eq!(of("@b.bin:[4]"), file("b.bin", None, Some(vec![4])));
        assert_eq!(of("@C:b.bin:bf16"), file("C:b.bin", Some(Ty::Bf16.into()), None));
        assert_eq!(of("@C:b[1].bin"), file("C:b[1].bin", None, None));
        let map = of("tensormap(@x.npy, box=64x32, swizzle=128)");
        assert!(matches!(&map, Argument::TensorMap { tensor, .. } if **tensor == file("x.npy", None, None)));
        let map = of("tensormap(f16[4,64]:iota,box=64x1)");
        assert!(matches!(&map, Argument::TensorMap { tensor, .. } if matches!(**tensor, Argument::New { .. })));
        assert!(
            matches!(of("tensormap(y)"), Argument::TensorMap { tensor, .. } if *tensor == Argument::Name("y".into()))
        );
        for wrong in ["tensormap(", "tensormap()", "tensormap(x, box)", "tensormap(x, box=64x)", "tensormap(x, side=4)"]
        {
            assert!(argument(&format!("x={wrong}")).is_err(), "{wrong}");
        }
        for wrong in ["x", "x=", "x=f33[4]", "x=f32[]", "x=f32[4", "x=pred[4]", "x=f32[4]iota", "x=f33:4", "x=f32[-1]"]
        {
            // only the last one of these is a number as far as the form goes
            assert!(argument(wrong).is_err() || wrong == "x=f32[4", "{wrong}");
        }
    }

    #[test]
    fn numbers() {
        for (text, value) in [("0", 0), ("1_000", 1000), ("0x3e8", 1000), ("0Xff", 255), (" 7 ", 7)] {
            assert_eq!(number::<u32>(text), Ok(value), "{text}");
        }
        for wrong in ["", "0x", "-1", "+1", "0x+1", "0x-1", "3e8", "x", "1.5"] {
            let text = format!("`{wrong}` is not a number, such as `64` or `0x40`");
            assert_eq!(number::<u64>(wrong), Err(text));
        }
        assert_eq!(number("0xffffffffffffffff"), Ok(u64::MAX));
        assert_eq!(number::<u64>("0x1_0000_0000_0000_0000"), Err("`0x1_0000_0000_0000_0000` is too large".into()));
        assert_eq!(number::<u32>("0x100000000"), Err("`0x100000000` is too large".into()));
        assert_eq!(positive("0x10"), Ok(16));
        assert!(positive("0x0").is_err());
        assert_eq!(shown("y[0x10..0x20]").unwrap().value, 16..32);
        assert_eq!(exploration("0x40,pct").unwrap().schedules, 64);
    }

    #[test]
    fn ranges_and_dimensions() {
        let range = |text: &str| shown(text).map(|s| (s.name, s.value));
        assert_eq!(range("y"), Ok(("y".into(), 0..u64::MAX)));
        assert_eq!(range("y[0..8]"), Ok(("y".into(), 0..8)));
        assert_eq!(range("y[..8]"), Ok(("y".into(), 0..8)));
        assert_eq!(range("y[8..]"), Ok(("y".into(), 8..u64::MAX)));
        assert_eq!(range("y[3]"), Ok(("y".into(), 3..4)));
        for wrong in ["y[", "y[]", "y[a]", "y[8..4]", "y[18446744073709551615]", "y[1..2"] {
            assert!(shown(wrong).is_err(), "{wrong}");
        }
        assert_eq!(dims("4,2"), Ok([4, 2, 1]));
        assert_eq!(dims("4x2x3"), Ok([4, 2, 3]));
        for wrong in ["", "4,", "a", "1,2,3,4", "-1", "4294967296"] {
            assert!(dims(wrong).is_err(), "{wrong}");
        }
    }
}
