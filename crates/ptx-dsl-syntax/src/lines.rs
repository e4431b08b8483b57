//! Lines and columns of bytes in a text, by binary search instead of counting for each diagnostic.

use std::ops::Range;

/// The beginnings of the lines of a text.
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Finds the lines.
    pub fn new(text: &'t str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1));
        Lines { text, starts }
    }

    /// The line of a byte, from 0.
    pub fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|s| *s <= byte).saturating_sub(1)
    }

    /// Line and column of a byte, both from 1; the column counts characters.
    pub fn line_column(&self, byte: usize) -> (usize, usize) {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self.line(byte);
        (line + 1, self.text[self.starts[line]..byte].chars().count() + 1)
    }

    /// A line, from 0, without its end; empty after the last one.
    pub fn text(&self, line: usize) -> &'t str {
        let Some(&start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The lines from that of the first byte to that of the last, as bytes, without the last line break.
    pub fn around(&self, bytes: Range<usize>) -> Range<usize> {
        let start = self.starts[self.line(bytes.start)];
        let end = self.starts.get(self.line(bytes.end.max(bytes.start)) + 1).map_or(self.text.len(), |e| e - 1);
        // A carriage return would be drawn.
        let end = end.max(start) - usize::from(self.text[start..end.max(start)].ends_with('\r'));
        start..end
    }

    /// The bytes of `part` within `whole`, cut between characters.
    pub fn part(&self, part: Range<usize>, whole: Range<usize>) -> Range<usize> {
        let clamp = |byte: usize| {
            let mut byte = byte.clamp(whole.start, whole.end);
            while !self.text.is_char_boundary(byte) {
                byte -= 1;
            }
            byte
        };
        clamp(part.start)..clamp(part.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns() {
        let lines = Lines::new("ab\né c\r\n");
        for (byte, want) in [(0, (1, 1)), (1, (1, 2)), (3, (2, 1)), (4, (2, 1)), (6, (2, 3)), (9, (3, 1)), (99, (3, 1))]
        {
            assert_eq!(lines.line_column(byte), want, "{byte}");
        }
        assert_eq!([0, 1, 2, 3].map(|line| lines.text(line)), ["ab", "é c", "", ""]);
    }
}
