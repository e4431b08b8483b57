//! Consecutive registers of a vector as a range, `{%d0..=%d63}`, in the texts of findings. Such ranges may be written in Rust only, so the
//! helps for a file of PTX have none.

use crate::parse::repeat::registers::numbered;
use ptx_dsl_isa::diag::Diagnostic;

/// Fewer registers than this are written one by one.
const LEAST: u32 = 5;

/// Writes ranges in messages, notes and labels, and in helps and edits if the module is in Rust.
pub fn shorten(found: &mut [Diagnostic], rust: bool) {
    for d in found {
        let texts = d.notes.iter_mut().chain(d.labels.iter_mut().map(|(_, text)| text)).chain([&mut d.message]);
        let edits = d.edits.iter_mut().map(|edit| &mut edit.text);
        texts.chain(d.helps.iter_mut().chain(edits).filter(|_| rust)).filter(|text| text.contains(", ")).for_each(
            |text| {
                *text = shortened(text);
            },
        );
    }
}

/// The text with ranges in its braces.
fn shortened(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut depth) = (text, 0u32);
    while let Some(first) = rest.chars().next() {
        let word = first_word(rest);
        if word.is_empty() {
            depth = match first {
                '{' => depth + 1,
                '}' => depth.saturating_sub(1),
                _ => depth,
            };
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        rest = &rest[word.len()..];
        out.push_str(word);
        if depth > 0
            && let Some((stem, number)) = numbered(word)
            && let Some((last, behind)) = last_of_run(stem, number, rest)
        {
            out.push_str("..=");
            out.push_str(last);
            rest = behind;
        }
    }
    out
}

/// The last register of a run that begins before `rest`, and what follows it. `None` if the run is short.
fn last_of_run<'t>(stem: &str, first: u32, rest: &'t str) -> Option<(&'t str, &'t str)> {
    let (mut last, mut behind, mut count) = ("", rest, 1);
    while let Some(next) = behind.strip_prefix(", ") {
        let word = first_word(next);
        let wanted = first.checked_add(count);
        if wanted.is_none() || numbered(word) != wanted.map(|wanted| (stem, wanted)) {
            break;
        }
        (last, behind, count) = (word, &next[word.len()..], count + 1);
    }
    (count >= LEAST).then_some((last, behind))
}

/// The name at the start of the text; empty if there is none.
fn first_word(text: &str) -> &str {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '$');
    &text[..text.find(|c| !is_of_name(c)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn runs_of_a_vector() {
        for (text, wanted) in [
            ("{%d0, %d1, %d2, %d3, %d4}, %a", "{%d0..=%d4}, %a"),
            ("{%d0, %d1, %d2, %d3}", "{%d0, %d1, %d2, %d3}"),
            ("{%x, %d8, %d9, %d10, %d11, %d12, %d14}", "{%x, %d8..=%d12, %d14}"),
            ("{%d1, %d1, %d2, %d3, %d4, %d5, %e6}", "{%d1, %d1..=%d5, %e6}"),
            ("bfi.b32 %r1, %r2, %r3, %r4, %r5;", "bfi.b32 %r1, %r2, %r3, %r4, %r5;"),
            ("{%d00, %d01, %d02, %d03, %d04}", "{%d00, %d01, %d02, %d03, %d04}"),
            ("`ä{a1, a2, a3, a4, a5", "`ä{a1..=a5"),
        ] {
            assert_eq!(shortened(text), wanted);
        }
    }
}
