//! Writes a profile as JSON.

use super::counters::Counters;
use super::metrics::METRICS;
use super::result::{Memory, Profile, Statement};

/// The whole file.
pub(super) fn write(profile: &Profile) -> String {
    let statements: Vec<String> = profile.statements.iter().map(|s| statement(profile, s)).collect();
    let metrics = METRICS.iter().map(|metric| {
        let counts = |s: &&Statement| metric.memory.is_none_or(|memory| s.memory == memory);
        let value: u64 = profile.statements.iter().filter(counts).map(|s| (metric.of)(&s.counters)).sum();
        format!("    \"{}\": {value}", metric.name)
    });
    let metrics: Vec<String> = metrics.collect();
    format!(
        "{{\n  \"kernel\": {},\n  \"file\": {},\n  \"ctas\": {},\n  \"threads_per_cta\": {},\n  \"total\": {},\n  \"metrics\": {{\n{}\n  }},\n  \
         \"statements\": [\n{}\n  ]\n}}\n",
        string(&profile.kernel),
        string(&profile.file),
        profile.ctas,
        profile.threads_per_cta,
        counters(&profile.total()),
        metrics.join(",\n"),
        statements.join(",\n")
    )
}

fn statement(profile: &Profile, s: &Statement) -> String {
    let of = |metric: &super::metrics::Metric| {
        let value = (metric.of)(&s.counters);
        let counts = value != 0 && metric.memory.is_none_or(|memory| s.memory == memory);
        counts.then(|| format!("\"{}\": {value}", metric.name))
    };
    let metrics: Vec<String> = METRICS.iter().filter_map(of).collect();
    let source = profile.source_of(s).map_or("null".to_owned(), string);
    let memory = match s.memory {
        Memory::None => "none",
        Memory::Load => "load",
        Memory::Store => "store",
        Memory::Atomic => "atomic",
        Memory::Reduction => "reduction",
        Memory::Copy => "copy",
    };
    format!(
        "    {{\"line\": {}, \"source_line\": {}, \"text\": {}, \"source\": {source}, \"origin\": {}, \"memory\": \"{memory}\", \"counters\": \
         {}, \"metrics\": {{{}}}}}",
        s.line,
        s.source_line,
        string(&s.text),
        string(&s.origin),
        counters(&s.counters),
        metrics.join(", ")
    )
}

fn counters(counters: &Counters) -> String {
    let all: Vec<String> = counters.all().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", all.join(", "))
}

/// A string of JSON.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            c if c < ' ' => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out + "\""
}
