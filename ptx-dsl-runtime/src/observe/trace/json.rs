//! Writes a timeline as JSON in the Trace Event format.

use super::timeline::{Kind, Timeline};
use std::collections::HashMap;
use std::fmt::Write;

/// The whole file.
pub(super) fn write(timeline: &Timeline) -> String {
    let mut out = JsonWriter { text: String::from("{\"traceEvents\":[\n"), first: true };
    let mut processes: HashMap<&str, usize> = HashMap::new();
    let places: Vec<(usize, usize)> = timeline
        .tracks
        .iter()
        .enumerate()
        .map(|(thread, track)| {
            let next = processes.len() + 1;
            let process = *processes.entry(&track.process).or_insert(next);
            if process == next {
                out.metadata(process, 0, "process_name", "name", &string(&track.process));
            }
            out.metadata(process, thread + 1, "thread_name", "name", &string(&track.name));
            out.metadata(process, thread + 1, "thread_sort_index", "sort_index", &track.order.to_string());
            (process, thread + 1)
        })
        .collect();
    let place = |track: usize| places.get(track).copied().unwrap_or((0, 0));
    for slice in &timeline.slices {
        let notes: Vec<_> =
            slice.notes.iter().map(|(name, value)| format!("{}:{}", string(name), string(value))).collect();
        let (category, name, from) = (category(slice.kind), string(&slice.name), time(slice.from));
        let (duration, notes) = (time(slice.to.saturating_sub(slice.from)), notes.join(","));
        let rest = format!("\"cat\":\"{category}\",\"name\":{name},\"dur\":{duration},\"args\":{{{notes}}}");
        out.event("X", place(slice.track), &from, &rest);
    }
    for instant in &timeline.instants {
        let rest = format!("\"s\":\"t\",\"name\":{}", string(&instant.name));
        out.event("i", place(instant.track), &time(instant.at), &rest);
    }
    for (id, arrow) in timeline.arrows.iter().enumerate() {
        let (Some(from), Some(to)) = (timeline.slices.get(arrow.from), timeline.slices.get(arrow.to)) else { continue };
        let rest = format!("\"cat\":\"completion\",\"name\":\"completes\",\"id\":{id}");
        // within the slice, so that the arrow starts at it
        out.event("s", place(from.track), &time(from.to.saturating_sub(1).max(from.from)), &rest);
        out.event("f", place(to.track), &time(to.from), &format!("{rest},\"bp\":\"e\""));
    }
    let JsonWriter { mut text, .. } = out;
    let kernel = string(&timeline.kernel);
    let _ = write!(
        text,
        "\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{{\"kernel\":{kernel},\"time\":\"a microsecond is a turn of the host machine: a \
         region that a warp runs\",\"dropped slices\":{}}}}}\n",
        timeline.dropped
    );
    text
}

struct JsonWriter {
    text: String,
    first: bool,
}

impl JsonWriter {
    fn event(&mut self, ph: &str, (pid, tid): (usize, usize), ts: &str, rest: &str) {
        let comma = if std::mem::take(&mut self.first) { "" } else { ",\n" };
        let _ = write!(self.text, "{comma}{{\"ph\":\"{ph}\",\"pid\":{pid},\"tid\":{tid},\"ts\":{ts},{rest}}}");
    }

    fn metadata(&mut self, pid: usize, tid: usize, what: &str, field: &str, value: &str) {
        self.event("M", (pid, tid), "0", &format!("\"name\":\"{what}\",\"args\":{{\"{field}\":{value}}}"));
    }
}

/// Thousandths of turns as microseconds.
fn time(thousandths: u64) -> String {
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

pub(super) fn category(kind: Kind) -> &'static str {
    match kind {
        Kind::Run => "run",
        Kind::Wait => "wait",
        Kind::Async => "async",
        Kind::Phase => "phase",
        Kind::Cta => "cta",
    }
}

/// A string of JSON.
pub(super) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_times() {
        assert_eq!(string("a \"b\" \\ \n é"), "\"a \\\"b\\\" \\\\ \\u000a é\"");
        assert_eq!((time(0), time(12_003)), ("0.000".to_owned(), "12.003".to_owned()));
    }
}
