//! Text with constants in it, put together in const evaluation: PTX, names of kernels, messages of failed checks.

use super::Const;

/// A piece of such a text.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// As it is.
    Text(&'a str),
    /// A literal of PTX.
    Value(Const),
    /// A part of a name: digits, after an `n` if the number is negative.
    Name(Const),
}

/// The text, in a buffer that may be longer.
#[derive(Debug, Clone, Copy)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

/// The most bytes of a number: `0d` and 16 digits, or a sign and 20 digits.
const NUMBER: usize = 24;

/// The most bytes that pieces can take: `text` bytes as they are, and this many numbers.
pub const fn longest(text: usize, numbers: usize) -> usize {
    text + numbers * NUMBER
}

impl<const N: usize> Text<N> {
    /// Puts pieces together. `N` is at least the [`longest`] that they can be.
    pub const fn new(pieces: &[Piece<'_>]) -> Self {
        let mut text = Text { bytes: [0; N], length: 0 };
        let mut n = 0;
        while n < pieces.len() {
            text.value(pieces[n]);
            n += 1;
        }
        text
    }

    pub(super) const fn value(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(text) => self.push(text.as_bytes()),
            Piece::Value(Const::Int { value, unsigned }) => self.integer(value, unsigned, b'-'),
            Piece::Name(Const::Int { value, unsigned }) => self.integer(value, unsigned, b'n'),
            Piece::Value(Const::F32(bits)) | Piece::Name(Const::F32(bits)) => {
                self.push(b"0f");
                self.hexadecimal(bits as u64, 8);
            }
            Piece::Value(Const::F64(value)) | Piece::Name(Const::F64(value)) => {
                self.push(b"0d");
                self.hexadecimal(value.to_bits(), 16);
            }
        }
    }

    /// The text.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }

    const fn push(&mut self, piece: &[u8]) {
        self.copy(piece, 0, piece.len());
    }

    /// Appends a part of a text.
    pub(super) const fn copy(&mut self, text: &[u8], from: usize, to: usize) {
        let (mut at, mut next) = (from, self.length);
        // in const evaluation a short loop is faster than calls
        if to - from > 64 {
            let (_, rest) = self.bytes.split_at_mut(next);
            let (_, text) = text.split_at(from);
            rest.split_at_mut(to - from).0.copy_from_slice(text.split_at(to - from).0);
            (at, next) = (to, next + to - from);
        }
        while at < to {
            self.bytes[next] = text[at];
            (at, next) = (at + 1, next + 1);
        }
        self.length = next;
    }

    const fn integer(&mut self, value: u64, unsigned: bool, sign: u8) {
        let mut rest = value;
        if !unsigned && (value as i64) < 0 {
            self.push(&[sign]);
            rest = value.wrapping_neg();
        }
        let (mut digits, mut at) = ([0; 20], 20);
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.copy(&digits, at, 20);
    }

    const fn hexadecimal(&mut self, bits: u64, digits: u32) {
        let mut left = digits;
        while left > 0 {
            left -= 1;
            let digit = (bits >> (4 * left)) as u8 & 15;
            self.push(&[if digit < 10 { b'0' + digit } else { b'A' - 10 + digit }]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: &[Piece<'_>]) -> String {
        Text::<200>::new(pieces).as_str().to_owned()
    }

    #[test]
    fn numbers_are_literals_of_ptx() {
        let value = |c| text(&[Piece::Value(c)]);
        assert_eq!(value(Const::signed(0)), "0");
        assert_eq!(value(Const::signed(-1)), "-1");
        assert_eq!(value(Const::signed(i64::MIN)), i64::MIN.to_string());
        assert_eq!(value(Const::unsigned(u64::MAX)), u64::MAX.to_string());
        assert_eq!(value(Const::f32(1.0)), "0f3F800000");
        assert_eq!(value(Const::F64(-0.5)), "0dBFE0000000000000");
        assert_eq!(text(&[Piece::Text("k_"), Piece::Name(Const::signed(-12))]), "k_n12");
        assert!(longest(0, 1) >= value(Const::signed(i64::MIN)).len());
        assert!(longest(0, 1) >= value(Const::F64(1.0)).len());
    }
}
