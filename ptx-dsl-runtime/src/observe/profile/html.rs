//! Writes a profile as one page with its data and no references to other files: the source with its counters, and a timeline beside it.

use super::card::Card;
use super::counters::Counters;
use super::json::string;
use super::listing::{lost, reason, rows, worst};
use super::result::Profile;
use super::summary;
use crate::observe::trace::Timeline;

/// The page, with `DATA` where the data belongs, and `TIMELINE` where the timeline does.
const PAGE: &str = include_str!("page.html");

/// The whole file.
pub(super) fn write(profile: &Profile, timeline: Option<&Timeline>) -> String {
    let (before, rest) = PAGE.split_once("DATA").unwrap_or((PAGE, ""));
    let (between, after) = rest.split_once("TIMELINE").unwrap_or((rest, ""));
    // the page of the timeline, as a string of JSON
    let timeline = timeline.map_or("null".to_owned(), |timeline| hidden(&string(&timeline.to_html())));
    [before, &hidden(&data(profile)), between, &timeline, after].concat()
}

/// Text of JSON without anything that ends the element of the page that it is in.
fn hidden(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn data(profile: &Profile) -> String {
    let rows = rows(profile);
    let worst = worst(&rows);
    let of_rows = rows.iter().enumerate().map(|(i, row)| {
        let rank = worst.iter().position(|w| *w == i).map_or(0, |n| n + 1);
        let why = if rank == 0 { String::new() } else { reason(&row.counters) };
        format!(
            "{{\"line\":{},\"text\":{},\"rank\":{rank},\"why\":{},\"lost\":{},\"counters\":{}}}",
            row.line,
            string(row.text),
            string(&why),
            lost(&row.counters),
            counters(&row.counters)
        )
    });
    let statements = profile.statements.iter().map(|s| {
        format!(
            "{{\"line\":{},\"text\":{},\"class\":\"{}\",\"origin\":{},\"counters\":{}}}",
            s.source_line,
            string(&s.text),
            s.class_name(),
            string(&s.origin),
            counters(&s.counters)
        )
    });
    let source = profile.source.iter().map(|line| string(line));
    let meanings = Counters::meanings().map(|(name, meaning)| format!("{}:{}", string(name), string(meaning)));
    let mut sums = String::new();
    summary::write(&mut sums, profile);
    let rooflines: String = Card::ALL.iter().map(|card| profile.roofline(*card).report(profile, None)).collect();
    let waits = profile.waits.iter().map(|w| {
        let by = w.by.as_ref().map_or("null".to_owned(), |(line, _, warp)| format!("[{line},{warp}]"));
        format!("[{},{},{},{},{by}]", w.source_line, w.warp, w.times, w.turns)
    });
    let fields = [
        ("kernel", string(&profile.kernel)),
        ("file", string(&profile.file)),
        ("ctas", profile.ctas.to_string()),
        ("threads", profile.threads_per_cta.to_string()),
        ("rows", list(of_rows)),
        ("statements", list(statements)),
        ("source", list(source)),
        ("meanings", format!("{{{}}}", meanings.collect::<Vec<_>>().join(","))),
        ("total", counters(&profile.total())),
        ("sums", string(&sums)),
        ("rooflines", string(&rooflines)),
        ("waits", list(waits)),
    ];
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", fields.join(",\n"))
}

/// The counters that are not 0.
fn counters(counters: &Counters) -> String {
    let all: Vec<String> =
        counters.all().filter(|(_, n)| *n != 0).map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", all.join(","))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(",\n"))
}
