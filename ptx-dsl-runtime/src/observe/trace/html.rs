//! Writes a timeline as one page with its data and no references to other files.

use super::json::{category, string};
use super::timeline::Timeline;

/// The page, with `DATA` where the data belongs.
const PAGE: &str = include_str!("page.html");

/// The whole file.
pub(super) fn write(timeline: &Timeline) -> String {
    let (before, after) = PAGE.split_once("DATA").unwrap_or((PAGE, ""));
    [before, &data(timeline), after].concat()
}

fn data(t: &Timeline) -> String {
    let tracks = t.tracks.iter().map(|t| format!("[{},{},{}]", string(&t.process), string(&t.name), t.order));
    let slices = t.slices.iter().map(|s| {
        let notes = list(s.notes.iter().map(|(name, value)| format!("[{},{}]", string(name), string(value))), ",");
        format!("[{},\"{}\",{},{},{},{notes}]", s.track, category(s.kind), string(&s.name), s.from, s.to)
    });
    let instants = t.instants.iter().map(|i| format!("[{},{},{}]", i.track, string(&i.name), i.at));
    let arrows = t.arrows.iter().map(|a| format!("[{},{}]", a.from, a.to));
    let fields = [
        format!("\"kernel\":{}", string(&t.kernel)),
        format!("\"dropped\":{}", t.dropped),
        format!("\"tracks\":{}", list(tracks, ",\n")),
        format!("\"slices\":{}", list(slices, ",\n")),
        format!("\"instants\":{}", list(instants, ",\n")),
        format!("\"arrows\":{}", list(arrows, ",")),
    ];
    // no end tag in the data
    format!("{{{}}}", fields.join(",\n")).replace('<', "\\u003c")
}

fn list(items: impl Iterator<Item = String>, separator: &str) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(separator))
}
