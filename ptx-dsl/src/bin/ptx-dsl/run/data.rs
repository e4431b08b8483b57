//! Typed data: element types by name, numbers as bytes and back, initial values.

use half::{bf16, f16};
use ptx_dsl::load::Ty;

use super::small::Small;

/// A type of elements on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// In PTX. Small elements are bytes there.
    pub ty: Ty,
    /// The format of small elements.
    pub small: Option<Small>,
}

impl From<Ty> for Element {
    fn from(ty: Ty) -> Self {
        Element { ty, small: None }
    }
}

impl From<Small> for Element {
    fn from(small: Small) -> Self {
        Element { ty: Ty::B8, small: Some(small) }
    }
}

impl Element {
    /// Its name, without a dot.
    pub fn name(self) -> &'static str {
        self.small.map_or_else(|| self.ty.name(), Small::name)
    }

    /// The bits that it takes in memory.
    pub fn bits(self) -> u32 {
        self.small.map_or_else(|| self.ty.bits(), Small::bits)
    }

    /// A number as an integer with its bits.
    fn encode(self, text: &str) -> Result<u64, String> {
        let Some(small) = self.small else { return bits(self.ty, text) };
        let plain = text.replace('_', "");
        let code = match plain.strip_prefix("0x").or(plain.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16).ok().filter(|code| *code < 1 << small.bits()),
            None => plain.parse().ok().and_then(|value| small.encode(value)).map(u64::from),
        };
        code.ok_or_else(|| format!("`{text}` is not a value of `.{}`", small.name()))
    }

    /// A finite number, rounded.
    fn of_float(self, value: f64, otherwise: u64) -> u64 {
        self.small.map_or(otherwise, |small| small.encode(value).map_or(0, u64::from))
    }
}

/// Elements of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// Their type.
    pub ty: Ty,
    /// The format of small elements, which are bytes in PTX.
    pub small: Option<Small>,
    /// Their number along each axis.
    pub shape: Vec<u64>,
    /// Little endian.
    pub bytes: Vec<u8>,
}

/// How elements are initialised.
#[derive(Debug, Clone, PartialEq)]
pub enum Init {
    /// 0, 1, 2, ...
    Iota,
    /// Pseudo-random numbers from a seed.
    Random(u64),
    /// This number, as written.
    Number(String),
}

impl Init {
    pub fn from_text(text: &str) -> Result<Init, String> {
        let seed = |inside: &str| number(inside).map(Init::Random).ok();
        Ok(match text {
            "zeros" => Init::Number("0".into()),
            "ones" => Init::Number("1".into()),
            "iota" => Init::Iota,
            "random" => Init::Random(0),
            _ => match text.strip_prefix("random(").and_then(|rest| rest.strip_suffix(')')) {
                Some(inside) => seed(inside).ok_or_else(|| format!("`{inside}` is not a seed"))?,
                None => Init::Number(text.to_owned()),
            },
        })
    }
}

/// A type of elements, as in PTX or in Rust.
pub fn element_type(name: &str) -> Option<Element> {
    if let Some(small) = Small::from_name(name) {
        return Some(small.into());
    }
    let ty = match name {
        "i8" => Ty::S8,
        "i16" => Ty::S16,
        "i32" => Ty::S32,
        "i64" => Ty::S64,
        name => Ty::from_name(name)?,
    };
    is_element(ty).then_some(ty.into())
}

/// Can data have this type?
pub fn is_element(ty: Ty) -> bool {
    use Ty::*;
    matches!(ty, B8 | B16 | B32 | B64 | U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 | F16 | Bf16 | F32 | F64)
}

/// `1000`, `1_000`, `0x3e8`
pub fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let plain = text.trim().replace('_', "");
    let hex = plain.strip_prefix("0x").or(plain.strip_prefix("0X"));
    let digits = hex.unwrap_or(&plain);
    // `from_str_radix` also takes a sign
    let number = digits.starts_with(|c: char| c.is_ascii_hexdigit());
    let value = u128::from_str_radix(digits, if hex.is_some() { 16 } else { 10 }).ok().filter(|_| number);
    let value = value.ok_or_else(|| format!("`{text}` is not a number, such as `64` or `0x40`"))?;
    u64::try_from(value).ok().and_then(|v| v.try_into().ok()).ok_or_else(|| format!("`{text}` is too large"))
}

/// A number as bytes. `0x...` is the bit pattern of a float.
pub fn encode(of: impl Into<Element>, text: &str) -> Result<Vec<u8>, String> {
    let of = of.into();
    Ok(low_bytes(of.encode(text)?, of.ty))
}

/// A number of a type of PTX.
fn bits(ty: Ty, text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a value of `.{}`", ty.name());
    let plain = text.replace('_', "");
    let hex = plain.strip_prefix("0x").or(plain.strip_prefix("0X"));
    let bits = match hex {
        Some(digits) => u64::from_str_radix(digits, 16).ok().filter(|v| fits(i128::from(*v), 0, ty.bits())),
        None if ty.is_float() => float_bits(ty, &plain),
        None => {
            let low = if ty.is_signed() || is_bits(ty) { -(1 << (ty.bits() - 1)) } else { 0 };
            let width = if ty.is_signed() { ty.bits() - 1 } else { ty.bits() };
            plain.parse().ok().filter(|v| fits(*v, low, width)).map(|v| v as u64)
        }
    };
    bits.ok_or_else(wrong)
}

/// Is it at least `low` and below 2^`width`?
fn fits(v: i128, low: i128, width: u32) -> bool {
    (low..1 << width).contains(&v)
}

/// Is it untyped bits?
pub fn is_bits(ty: Ty) -> bool {
    matches!(ty, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64)
}

fn float_bits(ty: Ty, text: &str) -> Option<u64> {
    Some(match ty {
        Ty::F32 => text.parse::<f32>().ok()?.to_bits().into(),
        Ty::F64 => text.parse::<f64>().ok()?.to_bits(),
        Ty::F16 => f16::from_f32(to_odd(text.parse().ok()?)).to_bits().into(),
        Ty::Bf16 => bf16::from_f32(to_odd(text.parse().ok()?)).to_bits().into(),
        _ => return None,
    })
}

/// A number with fewer bits, the last one set if the rest is not 0: rounded again, it is what rounding once gives.
fn to_odd(v: f64) -> f32 {
    let near = v as f32;
    let bits = near.to_bits() - u32::from(f64::from(near).abs() > v.abs());
    let rest = f64::from(f32::from_bits(bits)) != v && !v.is_nan();
    f32::from_bits(bits | u32::from(rest))
}

/// The bytes of a value of this type.
fn low_bytes(bits: u64, ty: Ty) -> Vec<u8> {
    bits.to_le_bytes()[..ty.bytes() as usize].to_vec()
}

impl Data {
    /// No elements.
    pub fn empty() -> Data {
        Data { ty: Ty::U8, small: None, shape: vec![0], bytes: Vec::new() }
    }

    /// The number of elements.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64 * 8 / u64::from(self.element().bits())
    }

    /// The type of an element.
    pub fn element(&self) -> Element {
        Element { ty: self.ty, small: self.small }
    }

    /// New data.
    pub fn new(of: impl Into<Element>, shape: &[u64], init: &Init) -> Result<Data, String> {
        let of: Element = of.into();
        let Element { ty, small } = of;
        let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
        if count.is_some_and(|count| of.bits() == 4 && !count.is_multiple_of(2)) {
            return Err(format!("the number of elements of `.{}` is even: two are in a byte", of.name()));
        }
        let bits = count.and_then(|n| n.checked_mul(of.bits().into()));
        let size = bits.and_then(|bits| usize::try_from(bits / 8).ok());
        let mut bytes = Vec::new();
        let reserved = size.is_some_and(|size| bytes.try_reserve_exact(size).is_ok());
        let (true, Some(count)) = (reserved, count) else { return Err("there is not enough memory".into()) };
        let mut add = |value: u64, i: u64| match (of.bits(), bytes.last_mut()) {
            (4, Some(last)) if i % 2 == 1 => *last |= (value as u8) << 4,
            _ => bytes.extend(low_bytes(value, ty)),
        };
        match init {
            Init::Number(text) => {
                let one = of.encode(text)?;
                bytes = match (of.bits(), one) {
                    // memory that nobody touches takes no time, whatever its size
                    (_, 0) => vec![0; size.unwrap_or_default()],
                    (4, one) => vec![one as u8 * 0x11; size.unwrap_or_default()],
                    _ => low_bytes(one, ty).repeat(count as usize),
                };
            }
            Init::Iota => (0..count).for_each(|i| add(of.of_float(i as f64, from_integer(ty, i)), i)),
            Init::Random(seed) => {
                let mut state = *seed;
                (0..count).for_each(|i| add(random(of, &mut state), i));
            }
        }
        Ok(Data { ty, small, shape: shape.to_vec(), bytes })
    }

    /// Bytes as elements in one row.
    pub fn from_bytes(of: impl Into<Element>, bytes: Vec<u8>) -> Result<Data, String> {
        let of: Element = of.into();
        let Element { ty, small } = of;
        let size = ty.bytes() as usize;
        if !bytes.len().is_multiple_of(size) {
            return Err(format!("{} bytes are not a whole number of `.{}`", bytes.len(), ty.name()));
        }
        let mut data = Data { ty, small, shape: Vec::new(), bytes };
        data.shape = vec![data.len()];
        Ok(data)
    }

    /// An element in words; untyped bits in hexadecimal.
    pub fn show(&self, at: u64) -> String {
        if let Some(small) = self.small {
            let elements = u64::from(8 / small.bits());
            let byte = self.bytes.get((at / elements) as usize).copied().unwrap_or_default();
            let code = byte >> (at % elements * u64::from(small.bits()));
            return format!("{:?}", small.decode(code & (u8::MAX >> (8 - small.bits()))));
        }
        let size = self.ty.bytes() as usize;
        let start = at as usize * size;
        let mut wide = [0; 8];
        if let Some(bytes) = self.bytes.get(start..start + size) {
            wide[..size].copy_from_slice(bytes);
        }
        let bits = u64::from_le_bytes(wide);
        match self.ty {
            Ty::F32 => format!("{:?}", f32::from_bits(bits as u32)),
            Ty::F64 => format!("{:?}", f64::from_bits(bits)),
            Ty::F16 => format!("{:?}", f16::from_bits(bits as u16)),
            Ty::Bf16 => format!("{:?}", bf16::from_bits(bits as u16)),
            ty if ty.is_signed() => {
                let unused = 64 - ty.bits();
                format!("{}", (bits << unused) as i64 >> unused)
            }
            ty if is_bits(ty) => format!("{bits:#0width$x}", width = size * 2 + 2),
            _ => bits.to_string(),
        }
    }
}

/// An integer in a type, rounded, or modulo its width.
fn from_integer(ty: Ty, i: u64) -> u64 {
    match ty {
        Ty::F32 => (i as f32).to_bits().into(),
        Ty::F64 => (i as f64).to_bits(),
        Ty::F16 => f16::from_f64(i as f64).to_bits().into(),
        Ty::Bf16 => bf16::from_f64(i as f64).to_bits().into(),
        _ => i,
    }
}

/// The next pseudo-random number: a float in [-1, 1), an integer of all values.
fn random(of: Element, state: &mut u64) -> u64 {
    let bits = split_mix(state);
    // 24 bits are exact in all but the 16-bit types
    let unit = (bits >> 40) as f64 / f64::from(1 << 23) - 1.0;
    if of.small == Some(Small::Ue8m0) {
        // a power of two from 1/16 to 8
        return 123 + (bits & 7);
    }
    if of.small.is_some() {
        return of.of_float(unit, bits);
    }
    match of.ty {
        Ty::F32 => (unit as f32).to_bits().into(),
        Ty::F64 => unit.to_bits(),
        Ty::F16 => f16::from_f64(unit).to_bits().into(),
        Ty::Bf16 => bf16::from_f64(unit).to_bits().into(),
        _ => bits,
    }
}

/// SplitMix64 (Steele, Lea and Flood).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 GiB of zeros are not written, and others not one by one.
    #[test]
    fn large_data_takes_no_time() {
        let start = std::time::Instant::now();
        let data = Data::new(Ty::U8, &[1 << 31], &Init::Number("0".into())).unwrap();
        assert_eq!((data.len(), data.bytes[(1 << 31) - 1]), (1 << 31, 0));
        assert!(start.elapsed().as_millis() < 1000, "{:?}", start.elapsed());
    }

    #[test]
    fn constants_fill() {
        let of = |element: Element, text: &str, n| Data::new(element, &[n], &Init::Number(text.into())).unwrap().bytes;
        assert_eq!(of(Ty::F32.into(), "1.0", 3), [0, 0, 0x80, 0x3f].repeat(3));
        assert_eq!(of(Ty::F32.into(), "-0.0", 1), [0, 0, 0, 0x80]);
        assert_eq!(of(element_type("e2m1").unwrap(), "1.0", 4), [0x22, 0x22]);
        assert_eq!(of(Ty::U16.into(), "0", 2), [0; 4]);
    }

    #[test]
    fn numbers_have_the_bytes_of_rust() {
        assert_eq!(encode(Ty::F32, "2.5").unwrap(), 2.5f32.to_le_bytes());
        assert_eq!(encode(Ty::F32, "0x7fc00000").unwrap(), 0x7fc0_0000u32.to_le_bytes());
        assert_eq!(encode(Ty::F64, "-inf").unwrap(), f64::NEG_INFINITY.to_le_bytes());
        assert_eq!(encode(Ty::F16, "1.5").unwrap(), 0x3e00u16.to_le_bytes());
        assert_eq!(encode(Ty::Bf16, "1.5").unwrap(), 0x3fc0u16.to_le_bytes());
        // a little more and less than half way between two values
        for (ty, text, bits) in [
            (Ty::F16, "1.00048828125091", 0x3c01u16),
            (Ty::F16, "-1.00048828125091", 0xbc01),
            (Ty::F16, "1.00048828125", 0x3c00),
            (Ty::F16, "1.00146484374999", 0x3c01),
            (Ty::F16, "-1e-60", 0x8000),
            (Ty::F16, "1e60", 0x7c00),
            (Ty::F16, "inf", 0x7c00),
            (Ty::Bf16, "1.00390625001", 0x3f81),
            (Ty::Bf16, "1.00390625", 0x3f80),
            (Ty::Bf16, "1e60", 0x7f80),
        ] {
            assert_eq!(encode(ty, text).unwrap(), bits.to_le_bytes(), "{text}");
        }
        assert!(f16::from_le_bytes(encode(Ty::F16, "nan").unwrap().try_into().unwrap()).is_nan());
        assert_eq!(encode(Ty::S16, "-32768").unwrap(), i16::MIN.to_le_bytes());
        assert_eq!(encode(Ty::U64, "18_446_744_073_709_551_615").unwrap(), u64::MAX.to_le_bytes());
        assert_eq!(encode(Ty::B8, "-1").unwrap(), [255]);
        assert_eq!(encode(Ty::B8, "255").unwrap(), [255]);
        for (ty, text) in [
            (Ty::U8, "256"),
            (Ty::U8, "-1"),
            (Ty::S8, "128"),
            (Ty::S8, "-129"),
            (Ty::B8, "-129"),
            (Ty::U64, "18446744073709551616"),
            (Ty::U32, "0x100000000"),
            (Ty::U32, "2.5"),
            (Ty::F32, "two"),
            (Ty::F16, "0x10000"),
            (Ty::U32, ""),
            (Ty::U32, "0x"),
        ] {
            assert!(encode(ty, text).is_err(), "{text} as {ty:?}");
        }
    }

    #[test]
    fn what_is_shown_is_what_was_written() {
        for (ty, text) in [
            (Ty::F32, "2.5"),
            (Ty::F32, "NaN"),
            (Ty::F64, "0.1"),
            (Ty::F16, "-0.5"),
            (Ty::Bf16, "3.0"),
            (Ty::S8, "-128"),
            (Ty::S64, "-9223372036854775808"),
            (Ty::U64, "18446744073709551615"),
            (Ty::B16, "0x00ff"),
            (Ty::B64, "0x0000000000000001"),
        ] {
            let data = Data::from_bytes(ty, encode(ty, text).unwrap()).unwrap();
            assert_eq!(data.show(0), text);
        }
    }

    #[test]
    fn small_elements() {
        let data = Data::new(Small::E2m1, &[6], &Init::Iota).unwrap();
        // 0, 1, 2, 3, 4, and 4 for 5, which is half way to 6
        assert_eq!((data.len(), data.bytes.as_slice()), (6, &[0x20, 0x54, 0x66][..]));
        assert_eq!((0..6).map(|i| data.show(i)).collect::<Vec<_>>(), ["0.0", "1.0", "2.0", "3.0", "4.0", "4.0"]);
        assert!(Data::new(Small::E2m1, &[3], &Init::Iota).is_err());
        assert_eq!(encode(Small::E4m3, "-1.5"), Ok(vec![0xbc]));
        assert_eq!(encode(Small::E5m2, "0x3c"), Ok(vec![0x3c]));
        for (small, wrong) in [(Small::E2m1, "0x10"), (Small::E4m3, "inf"), (Small::Ue8m0, "-1"), (Small::E3m2, "x")] {
            assert!(encode(small, wrong).is_err(), "{wrong}");
        }
        let ones = Data::new(Small::Ue8m0, &[2], &Init::from_text("ones").unwrap()).unwrap();
        assert_eq!((ones.bytes.as_slice(), ones.show(1).as_str()), (&[0x7f, 0x7f][..], "1.0"));
        let data = Data::from_bytes(Small::E3m2, vec![0x0c, 0x2c]).unwrap();
        assert_eq!((data.shape.as_slice(), data.show(0), data.show(1)), (&[2][..], "1.0".into(), "-1.0".into()));
    }

    #[test]
    fn initial_values() {
        let new = |ty, init: &str| Data::new(ty, &[2, 2], &Init::from_text(init).unwrap()).unwrap();
        let shown = |data: &Data| (0..data.len()).map(|i| data.show(i)).collect::<Vec<_>>();
        assert_eq!(shown(&new(Ty::F16, "iota")), ["0.0", "1.0", "2.0", "3.0"]);
        assert_eq!(shown(&new(Ty::S32, "-7")), ["-7"; 4]);
        assert_eq!(shown(&new(Ty::F64, "ones")), ["1.0"; 4]);
        assert_eq!(new(Ty::U8, "zeros").bytes, [0; 4]);
        let (a, b) = (new(Ty::F32, "random(1)"), new(Ty::F32, "random(2)"));
        assert_eq!(a, new(Ty::F32, "random(1)"));
        assert_ne!(a, b);
        let within = |data: &Data| shown(data).iter().all(|v| (-1.0..1.0).contains(&v.parse::<f32>().unwrap()));
        assert!(within(&a) && within(&b));
        assert!(Init::from_text("random(x)").is_err());
        assert_eq!(Init::from_text("random(0x10)"), Ok(Init::Random(16)));
        assert!(Data::new(Ty::F32, &[1 << 40, 1 << 40], &Init::Iota).is_err());
        assert!(Data::new(Ty::U8, &[u64::MAX], &Init::Iota).is_err());
    }
}
