//! The difference between two profiles, in words.

use super::counters::Counters;
use super::result::{Profile, Statement};
use std::collections::BTreeMap;

/// The statements by their text, and by their number among those with the same text.
fn by_text(profile: &Profile) -> BTreeMap<(&str, usize), &Statement> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let keyed = profile.statements.iter().map(|s| {
        let count = seen.entry(&s.text).or_default();
        *count += 1;
        ((s.text.as_str(), *count), s)
    });
    keyed.collect()
}

/// The counters that changed, as `bank_conflicts 7 to 0`.
fn changes(before: &Counters, now: &Counters) -> Vec<String> {
    let both = before.all().zip(now.all());
    both.filter(|(before, now)| before != now).map(|((name, a), (_, b))| format!("{name} {a} to {b}")).collect()
}

/// Each statement that did something else, and the sums.
pub(super) fn write(before: &Profile, now: &Profile) -> String {
    let (old, new) = (by_text(before), by_text(now));
    let mut lines: Vec<(u32, String)> = Vec::new();
    for (key, s) in &new {
        let text = match old.get(key) {
            None => "new".to_owned(),
            Some(was) => match &changes(&was.counters, &s.counters)[..] {
                [] => continue,
                changed => changed.join(", "),
            },
        };
        lines.push((s.source_line, format!("line {}: {text}: {}\n", s.source_line, s.text)));
    }
    let gone = old.iter().filter(|(key, _)| !new.contains_key(*key));
    lines.extend(gone.map(|(_, s)| (s.source_line, format!("line {} before: gone: {}\n", s.source_line, s.text))));
    lines.sort();
    let total = match &changes(&before.total(), &now.total())[..] {
        [] => "nothing changed".to_owned(),
        changed => changed.join(", "),
    };
    lines.into_iter().map(|(_, text)| text).collect::<String>() + &format!("all: {total}\n")
}
