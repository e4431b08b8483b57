//! Floating-point numbers as C writes them. Rust's decimal digits are exact.

/// The format in which a number is written.
pub struct Style {
    /// `f`, `e`, `g`, `a`, or upper case.
    pub letter: u8,
    pub precision: Option<usize>,
    /// Whether the point is always written, and zeros at the end of `%g` are kept.
    pub alternate: bool,
}

/// A number that is not negative, without sign and without the `0x` of `%a`.
pub fn digits(v: f64, style: &Style) -> String {
    let small = match style.letter.to_ascii_lowercase() {
        _ if v.is_nan() => "nan".to_owned(),
        _ if v.is_infinite() => "inf".to_owned(),
        b'e' => exponential(v, style.precision.unwrap_or(6), style.alternate),
        b'g' => shortest(v, style),
        b'a' => hexadecimal(v, style),
        _ => fixed(v, style.precision.unwrap_or(6), style.alternate),
    };
    if style.letter.is_ascii_uppercase() { small.to_ascii_uppercase() } else { small }
}

fn fixed(v: f64, precision: usize, point: bool) -> String {
    let mut digits = format!("{v:.precision$}");
    if precision == 0 && point {
        digits.push('.');
    }
    digits
}

fn exponential(v: f64, precision: usize, point: bool) -> String {
    let (mantissa, exponent) = parts(v, precision);
    let point = if precision == 0 && point { "." } else { "" };
    format!("{mantissa}{point}{}", written(exponent))
}

/// `e+05`
fn written(exponent: i32) -> String {
    format!("e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}

/// The decimal mantissa with this many digits after the point, and the exponent.
fn parts(v: f64, precision: usize) -> (String, i32) {
    let text = format!("{v:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_owned(), exponent.parse().unwrap_or(0))
}

/// `%g`: this many significant digits, without zeros at the end.
fn shortest(v: f64, style: &Style) -> String {
    let significant = style.precision.unwrap_or(6).max(1);
    let (mantissa, exponent) = parts(v, significant - 1);
    let strip = |text: String| match text.contains('.') {
        true if !style.alternate => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => text,
    };
    let point = if style.alternate && significant == 1 { "." } else { "" };
    if exponent < -4 || exponent as i64 >= significant as i64 {
        return strip(mantissa) + point + &written(exponent);
    }
    let behind = (significant as i64 - 1 - i64::from(exponent)) as usize;
    strip(fixed(v, behind, style.alternate))
}

/// `%a`: hexadecimal digits of the mantissa, rounded to nearest even, and a power of two.
fn hexadecimal(v: f64, style: &Style) -> String {
    const DIGITS: usize = 13;
    let bits = v.to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
    let exponent = match (exponent, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => exponent - 1023,
    };
    let mut mantissa = fraction | u64::from(bits >> 52 != 0) << 52;
    let mut precision = style.precision.unwrap_or_else(|| DIGITS - (fraction.trailing_zeros().min(52) / 4) as usize);
    let zeros = precision.saturating_sub(DIGITS);
    precision -= zeros;
    let dropped = 4 * (DIGITS - precision) as u32;
    if dropped > 0 {
        let (kept, rest, half) = (mantissa >> dropped, mantissa & ((1 << dropped) - 1), 1 << (dropped - 1));
        mantissa = kept + u64::from(rest > half || rest == half && kept & 1 != 0);
    }
    let (whole, behind) = (mantissa >> (4 * precision), mantissa & ((1 << (4 * precision)) - 1));
    let point = if precision > 0 || style.alternate { "." } else { "" };
    let behind = if precision > 0 { format!("{behind:0precision$x}") } else { String::new() };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{whole:x}{point}{behind}{}p{sign}{}", "0".repeat(zeros), exponent.unsigned_abs())
}
