//! Searches in the text of syntax blocks.

/// The next position of a character, or the end.
pub(super) fn place_of(c: u8, text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut i = from;
    while i < bytes.len() && bytes[i] != c {
        i += 1;
    }
    i
}

/// The next position of a dot or an opening brace, or the end.
pub(super) fn piece_end(text: &str, from: usize) -> usize {
    place_of(b'.', text, from).min(place_of(b'{', text, from))
}

/// Is the character in the text?
pub(super) fn has(text: &str, c: u8) -> bool {
    place_of(c, text, 0) < text.len()
}

/// Does a text contain another?
pub(super) fn contains(text: &str, part: &str) -> bool {
    for i in 0..text.len() {
        if text.as_bytes()[i..].starts_with(part.as_bytes()) {
            return true;
        }
    }
    false
}

/// The position of the brace that closes the one at `open`, or the end.
pub(super) fn matching(text: &str, open: usize) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut i = open;
    while i < bytes.len() {
        match bytes[i] {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return i;
                }
            }
            _ => {}
        }
        i += 1;
    }
    bytes.len()
}

/// Is there a comma outside of inner braces?
pub(super) fn has_comma(text: &str) -> bool {
    let mut depth = 0usize;
    for b in text.as_bytes() {
        match b {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// Without the star of a footnote.
pub(super) fn suffix(text: &str) -> &str {
    text.trim().trim_end_matches('*')
}

pub(super) fn skip_space(bytes: &[u8], mut i: usize) -> usize {
    while i < bytes.len() && bytes[i].is_ascii_whitespace() {
        i += 1;
    }
    i
}

pub(super) fn word_end(bytes: &[u8], mut i: usize) -> usize {
    while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || matches!(bytes[i], b'_' | b'-')) {
        i += 1;
    }
    i
}
