//! Format strings of `printf`, as CUDA documents them: `%[flags][width][.precision][size]type`.

use super::number;

/// The most bytes of a string, and of the text of one call.
pub const MOST: usize = 1 << 16;

/// The largest width and precision.
pub const WIDEST: usize = 1 << 12;

/// A part of a format string.
pub enum FormatPiece<'f> {
    /// Copied.
    Text(&'f [u8]),
    /// Replaced by an argument.
    Conversion {
        /// The parsed conversion.
        spec: Spec,
        /// The conversion as in the format string, with its `%`.
        text: &'f [u8],
    },
}

/// A conversion, `%08.3f`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spec {
    pub left: bool,
    pub plus: bool,
    pub space: bool,
    pub alternate: bool,
    pub zero: bool,
    pub width: usize,
    pub precision: Option<usize>,
    /// `*`: an argument of type `int`.
    pub width_is_argument: bool,
    pub precision_is_argument: bool,
    /// Bits of an integer: 8, 16, 32, 64.
    pub bits: u32,
    /// `d`, `x`, `f`, ...
    pub letter: u8,
}

/// The value of an argument.
pub enum Argument {
    Value(u64),
    Text(Vec<u8>),
}

/// The parts of a format string. What is not a conversion is text.
pub fn pieces(format: &[u8]) -> impl Iterator<Item = FormatPiece<'_>> {
    let mut rest = format;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if rest[0] == b'%' {
            if let [_, b'%', after @ ..] = rest {
                let (percent, _) = rest.split_at(1);
                rest = after;
                return Some(FormatPiece::Text(percent));
            }
            if let Some((spec, after)) = Spec::parse(&rest[1..]) {
                let (text, after) = rest.split_at(rest.len() - after.len());
                rest = after;
                return Some(FormatPiece::Conversion { spec, text });
            }
        }
        let end = rest.iter().skip(1).position(|c| *c == b'%').map_or(rest.len(), |at| at + 1);
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(FormatPiece::Text(text))
    })
}

/// The string for a null pointer, which is empty if it does not fit.
pub fn null(spec: &Spec) -> Vec<u8> {
    let fits = spec.precision.is_none_or(|p| p >= 6);
    if fits { b"(null)".to_vec() } else { Vec::new() }
}

impl Spec {
    /// A conversion after its `%`, and what follows it.
    fn parse(text: &[u8]) -> Option<(Spec, &[u8])> {
        let mut spec = Spec { bits: 32, ..Spec::default() };
        let mut rest = text;
        loop {
            let flag = match rest.first()? {
                b'-' => &mut spec.left,
                b'+' => &mut spec.plus,
                b' ' => &mut spec.space,
                b'#' => &mut spec.alternate,
                b'0' => &mut spec.zero,
                _ => break,
            };
            *flag = true;
            rest = &rest[1..];
        }
        if let Some(after) = rest.strip_prefix(b"*") {
            (spec.width_is_argument, rest) = (true, after);
        } else {
            (spec.width, rest) = digits(rest);
        }
        if let Some(after) = rest.strip_prefix(b".") {
            if let Some(after) = after.strip_prefix(b"*") {
                (spec.precision_is_argument, rest) = (true, after);
            } else {
                let (precision, after) = digits(after);
                (spec.precision, rest) = (Some(precision), after);
            }
        }
        for (size, bits) in [(&b"hh"[..], 8), (b"h", 16), (b"ll", 64), (b"l", 64)] {
            if let Some(after) = rest.strip_prefix(size) {
                (spec.bits, rest) = (bits, after);
                break;
            }
        }
        let (letter, rest) = rest.split_first()?;
        spec.letter = *letter;
        b"cdiouxXpeEfFgGaAs".contains(letter).then_some((spec, rest))
    }

    /// Bytes of the argument.
    pub fn bytes(&self) -> u32 {
        match self.letter {
            b'c' => 4,
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => self.bits.max(32) / 8,
            _ => 8,
        }
    }

    pub fn is_text(&self) -> bool {
        self.letter == b's'
    }

    /// A negative width is `-` and a width.
    pub fn set_width(&mut self, width: i32) {
        self.left |= width < 0;
        self.width = width.unsigned_abs() as usize;
    }

    /// A negative precision is none.
    pub fn set_precision(&mut self, precision: i32) {
        self.precision = usize::try_from(precision).ok();
    }

    /// Appends the argument in this format.
    pub fn write(&self, argument: &Argument, out: &mut Vec<u8>) {
        match argument {
            Argument::Text(text) => self.pad(b"", text, false, out),
            Argument::Value(v) => match self.letter {
                b'c' => self.pad(b"", &[*v as u8], false, out),
                b'p' if *v == 0 => self.pad(b"", b"(nil)", false, out),
                b'p' => Spec { bits: 64, alternate: true, letter: b'x', ..self.clone() }.integer(*v, out),
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => self.integer(*v, out),
                _ => self.float(f64::from_bits(*v), out),
            },
        }
    }

    fn sign(&self, negative: bool) -> &'static [u8] {
        match () {
            () if negative => b"-",
            () if self.plus => b"+",
            () if self.space => b" ",
            () => b"",
        }
    }

    fn integer(&self, v: u64, out: &mut Vec<u8>) {
        let unused = 64 - self.bits;
        let signed = (v << unused) as i64 >> unused;
        let unsigned = v << unused >> unused;
        let (mut prefix, mut digits) = match self.letter {
            b'd' | b'i' => (self.sign(signed < 0), signed.unsigned_abs().to_string()),
            b'o' => (&b""[..], format!("{unsigned:o}")),
            b'x' => (&b"0x"[..], format!("{unsigned:x}")),
            b'X' => (&b"0X"[..], format!("{unsigned:X}")),
            _ => (&b""[..], unsigned.to_string()),
        };
        if matches!(self.letter, b'x' | b'X') && !(self.alternate && unsigned != 0) {
            prefix = b"";
        }
        if self.precision == Some(0) && unsigned == 0 {
            digits.clear();
        }
        let mut zeros = self.precision.unwrap_or(0).saturating_sub(digits.len());
        if self.letter == b'o' && self.alternate && zeros == 0 && !digits.starts_with('0') {
            zeros = 1;
        }
        let digits = "0".repeat(zeros) + &digits;
        self.pad(prefix, digits.as_bytes(), self.precision.is_none(), out);
    }

    fn float(&self, v: f64, out: &mut Vec<u8>) {
        let Spec { letter, precision, alternate, .. } = *self;
        let digits = number::digits(v.abs(), &number::Style { letter, precision, alternate });
        let prefix = self.sign(v.is_sign_negative());
        if v.is_finite() && matches!(self.letter, b'a' | b'A') {
            let prefix = [prefix, if self.letter == b'a' { b"0x" } else { b"0X" }].concat();
            return self.pad(&prefix, digits.as_bytes(), true, out);
        }
        self.pad(prefix, digits.as_bytes(), v.is_finite(), out);
    }

    /// Appends a field: with zeros after the prefix if the flag says so and the value takes them.
    fn pad(&self, prefix: &[u8], body: &[u8], takes_zeros: bool, out: &mut Vec<u8>) {
        let missing = self.width.saturating_sub(prefix.len() + body.len());
        let zeros = self.zero && takes_zeros && !self.left;
        let fill = |out: &mut Vec<u8>, with| out.extend(std::iter::repeat_n(with, missing));
        if !self.left && !zeros {
            fill(out, b' ');
        }
        out.extend_from_slice(prefix);
        if zeros {
            fill(out, b'0');
        }
        out.extend_from_slice(body);
        if self.left {
            fill(out, b' ');
        }
    }
}

/// A decimal number, and what follows it.
fn digits(text: &[u8]) -> (usize, &[u8]) {
    let (mut n, mut rest) = (0usize, text);
    while let [c @ b'0'..=b'9', after @ ..] = rest {
        n = n.saturating_mul(10).saturating_add(usize::from(c - b'0'));
        rest = after;
    }
    (n, rest)
}
