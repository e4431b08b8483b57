//! Writes a profile as JSON.

use super::card::Card;
use super::counters::Counters;
use super::metrics::METRICS;
use super::result::{Memory, Profile, Statement};

/// The whole file.
pub(super) fn write(profile: &Profile) -> String {
    let statements: Vec<String> = profile.statements.iter().map(|s| statement(profile, s)).collect();
    let metrics = METRICS.iter().map(|metric| {
        let counts = |s: &&Statement| metric.memory.is_none_or(|memory| s.memory == memory);
        let value: u64 = profile.statements.iter().filter(counts).map(metric.of).sum();
        format!("    \"{}\": {value}", metric.name)
    });
    let metrics: Vec<String> = metrics.collect();
    format!(
        "{{\n  \"kernel\": {},\n  \"file\": {},\n  \"ctas\": {},\n  \"threads_per_cta\": {},\n  \"total\": {},\n  \"metrics\": {{\n{}\n  }},\n{}  \
         \"statements\": [\n{}\n  ]\n}}\n",
        string(&profile.kernel),
        string(&profile.file),
        profile.ctas,
        profile.threads_per_cta,
        counters(&profile.total()),
        metrics.join(",\n"),
        beside(profile),
        statements.join(",\n")
    )
}

/// What there is beside the counters: the mix of instructions, products of matrices, registers, waits, traffic, rooflines.
fn beside(profile: &Profile) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    let mix = profile.mix().into_iter().map(|(name, c)| {
        format!(
            "{{\"class\": \"{name}\", \"executed\": {}, \"threads\": {}}}",
            c.executed,
            c.threads - c.predicated_off
        )
    });
    let products = profile.products.iter().map(|p| {
        let [m, n, k] = p.shape;
        format!(
            "{{\"opcode\": {}, \"shape\": [{m}, {n}, {k}], \"element\": {}, \"sparse\": {}, \"count\": {}, \"operations\": {}}}",
            string(&p.opcode),
            string(&p.element),
            p.sparse,
            p.count,
            p.operations
        )
    });
    let registers = profile.registers.iter().map(|r| {
        format!("{{\"source_line\": {}, \"registers\": {}, \"warps\": {}}}", r.source_line, r.registers, r.warps)
    });
    let waits = profile.waits.iter().map(|w| {
        let by = match &w.by {
            Some((line, text, warp)) => {
                format!("{{\"source_line\": {line}, \"text\": {}, \"warp\": {warp}}}", string(text))
            }
            None => "null".to_owned(),
        };
        format!(
            "{{\"source_line\": {}, \"text\": {}, \"warp\": {}, \"times\": {}, \"turns\": {}, \"for\": {by}}}",
            w.source_line,
            string(&w.text),
            w.warp,
            w.times,
            w.turns
        )
    });
    let rooflines = Card::ALL.into_iter().map(|card| {
        let r = profile.roofline(card);
        format!(
            "{{\"card\": \"{}\", \"seconds\": {:e}, \"limit\": {}, \"operations\": {}, \"bytes\": {}, \"busy_sms\": {}}}",
            r.peaks.name,
            r.seconds(),
            r.limit().map_or("null".to_owned(), |limit| string(&limit.name())),
            r.operations,
            r.bytes,
            r.busy_sms
        )
    });
    let fields = [
        ("mix", list(mix.collect())),
        ("products", list(products.collect())),
        ("registers", list(registers.collect())),
        ("waits", list(waits.collect())),
        ("least_read_bytes", profile.least_read_bytes.to_string()),
        ("least_written_bytes", profile.least_written_bytes.to_string()),
        ("rooflines", list(rooflines.collect())),
    ];
    fields.iter().map(|(name, value)| format!("  \"{name}\": {value},\n")).collect()
}

fn statement(profile: &Profile, s: &Statement) -> String {
    let of = |metric: &super::metrics::Metric| {
        let value = (metric.of)(s);
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
        "    {{\"line\": {}, \"source_line\": {}, \"text\": {}, \"source\": {source}, \"origin\": {}, \"memory\": \"{memory}\", \"class\": \"{}\", \"counters\": \
         {}, \"metrics\": {{{}}}}}",
        s.line,
        s.source_line,
        string(&s.text),
        string(&s.origin),
        s.class_name(),
        counters(&s.counters),
        metrics.join(", ")
    )
}

fn counters(counters: &Counters) -> String {
    let all: Vec<String> = counters.all().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", all.join(", "))
}

/// A string of JSON.
pub(super) fn string(text: &str) -> String {
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
