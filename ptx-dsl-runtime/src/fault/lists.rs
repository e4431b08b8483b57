//! Lists of registers in the texts of statements: `{%d0..=%d63}` in place of 64 names.

use std::borrow::Cow;

/// The fewest registers in a row that are written as a range.
const LEAST: usize = 5;

/// The text with ranges in place of long rows of registers that are numbered one after the other.
pub(crate) fn with_ranges(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('{') {
        return text;
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), &*text);
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        out.push('{');
        let end = after.find(['{', '}']).unwrap_or(after.len());
        push_list(&after[..end], &mut out);
        rest = &after[end..];
    }
    out.push_str(rest);
    if out.len() < text.len() { Cow::Owned(out) } else { text }
}

/// Adds the items of a list, with ranges.
fn push_list(list: &str, out: &mut String) {
    let items: Vec<&str> = list.split(", ").collect();
    let mut at = 0;
    while at < items.len() {
        let row = row(&items[at..]);
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(items[at]);
        if row >= LEAST {
            out.push_str("..=");
            out.push_str(items[at + row - 1]);
            at += row;
        } else {
            at += 1;
        }
    }
}

/// The number of leading items that have consecutive numbers.
fn row(items: &[&str]) -> usize {
    let Some((stem, first)) = numbered(items[0]) else { return 1 };
    let follows = |(n, item): &(u64, &&str)| numbered(item) == Some((stem, first.wrapping_add(*n)));
    (0..).zip(items).take_while(follows).count()
}

/// `%d` and 12 of `%d12`.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    let number = digits.parse().ok().filter(|_| digits == "0" || !digits.starts_with('0'));
    number.filter(|_| stem.starts_with('%')).map(|number| (stem, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_are_ranges() {
        let list = |numbers: std::ops::Range<u32>| numbers.map(|n| format!("%d{n}")).collect::<Vec<_>>().join(", ");
        for (text, wanted) in [
            (format!("wgmma {{{}}}, %a;", list(0..64)), "wgmma {%d0..=%d63}, %a;"),
            (
                format!("x {{%q, {}, %d9, %e0}}, {{1, 2, 3, 4, 5, 6}};", list(3..8)),
                "x {%q, %d3..=%d7, %d9, %e0}, {1, 2, 3, 4, 5, 6};",
            ),
            (format!("x {{{}}};", list(0..4)), "x {%d0, %d1, %d2, %d3};"),
            ("x {%d1, %d01, %d2, %d3, %d4}, {".to_owned(), "x {%d1, %d01, %d2, %d3, %d4}, {"),
            ("ret;".to_owned(), "ret;"),
        ] {
            assert_eq!(with_ranges(Cow::Borrowed(&text)), wanted);
        }
    }
}
