//! A profile as text for the terminal.

use super::counters::Counters;
use super::result::{Profile, Statement};
use std::fmt::Write;

/// Lines that are marked as the worst.
const WORST: usize = 3;
/// Characters of a bar.
const BAR: usize = 10;

/// What is lost on a line: sectors and wavefronts that a better layout would not need.
fn lost(c: &Counters) -> u64 {
    let sectors = c.global_sectors.saturating_sub(c.global_ideal_sectors);
    sectors + c.bank_conflicts
}

/// A line of the source with the statements on it.
struct Row<'p> {
    line: u32,
    text: &'p str,
    counters: Counters,
}

fn rows(profile: &Profile) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut statements: Vec<&Statement> = profile.statements.iter().collect();
    statements.sort_by_key(|s| (s.source_line, s.line));
    for s in statements {
        match rows.last_mut() {
            Some(row) if row.line == s.source_line && s.source_line != 0 && profile.source_of(s).is_some() => {
                row.counters += s.counters;
            }
            _ => {
                let text = profile.source_of(s).unwrap_or(&s.text);
                rows.push(Row { line: s.source_line, text, counters: s.counters });
            }
        }
    }
    rows
}

/// The listing.
pub(super) fn write(profile: &Profile) -> String {
    let rows = rows(profile);
    let mut worst: Vec<usize> = (0..rows.len()).filter(|i| lost(&rows[*i].counters) != 0).collect();
    worst.sort_by_key(|i| std::cmp::Reverse(lost(&rows[*i].counters)));
    worst.truncate(WORST);
    let most = rows.iter().map(|row| row.counters.executed).max().unwrap_or(0).max(1);
    let mut out = format!(
        "`{}` in {}: {} CTAs of {} threads\n\n{:>6} {:>10} {:10} {:>5} {:>9} {:>9} {:>9} {:>9}\n",
        profile.kernel,
        profile.file,
        profile.ctas,
        profile.threads_per_cta,
        "line",
        "executed",
        "",
        "lanes",
        "sectors",
        "ideal",
        "wavefr.",
        "conflicts"
    );
    for (i, row) in rows.iter().enumerate() {
        let c = &row.counters;
        let bar = "#".repeat((c.executed * BAR as u64).div_ceil(most) as usize);
        let mark = worst.iter().position(|w| *w == i).map_or(String::from("  "), |n| format!("{}>", n + 1));
        let number = if row.line == 0 { String::new() } else { row.line.to_string() };
        let _ = writeln!(
            out,
            "{mark}{number:>4} {:>10} {bar:BAR$} {:>5} {:>9} {:>9} {:>9} {:>9}  {}",
            c.executed,
            lanes(c),
            shown(c.global_sectors),
            shown(c.global_ideal_sectors),
            shown(c.shared_wavefronts),
            shown(c.bank_conflicts),
            row.text
        );
    }
    out.push('\n');
    summary(&mut out, &profile.total());
    for (n, i) in worst.iter().enumerate() {
        let row = &rows[*i];
        let _ = writeln!(out, "{}> line {}: {}", n + 1, row.line, reason(&row.counters));
    }
    out.push_str(LEGEND);
    out
}

/// What the columns mean.
const LEGEND: &str = "\n\
    executed   instructions, by warp; the bar compares lines\n\
    lanes      lanes of 32 that take effect, on average: fewer where warps diverge, or a guard does not hold\n\
    sectors    32-byte sectors that global memory moves; ideal: the fewest that could hold the bytes asked for\n\
    wavefr.    passes over the 32 banks of shared memory; conflicts: those that are needed because lanes meet in a bank\n";

fn shown(n: u64) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}

fn lanes(c: &Counters) -> String {
    match c.executed {
        0 => String::new(),
        n => format!("{:.1}", c.threads.saturating_sub(c.predicated_off) as f64 / n as f64),
    }
}

fn summary(out: &mut String, c: &Counters) {
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{name:22} {text}");
    };
    line(
        "instructions",
        format!("{} by warps, {} by threads, {} predicated off", c.executed, c.threads, c.predicated_off),
    );
    if c.global_requests != 0 {
        let per = c.global_sectors as f64 / c.global_requests as f64;
        line(
            "global memory",
            format!(
                "{} requests, {} sectors ({per:.1} each, {} ideal), {} bytes asked, {} moved",
                c.global_requests,
                c.global_sectors,
                c.global_ideal_sectors,
                c.global_bytes,
                32 * c.global_sectors
            ),
        );
    }
    if c.local_requests != 0 {
        line("local memory", format!("{} requests, {} sectors", c.local_requests, c.local_sectors));
    }
    if c.shared_requests != 0 {
        line(
            "shared memory",
            format!(
                "{} requests, {} wavefronts, {} bank conflicts, {} bytes asked",
                c.shared_requests, c.shared_wavefronts, c.bank_conflicts, c.shared_bytes
            ),
        );
    }
    if c.remote_bytes != 0 {
        line("shared memory of peers", format!("{} bytes", c.remote_bytes));
    }
    let copied = [
        ("read from global", c.async_global_read_bytes),
        ("written to global", c.async_global_written_bytes),
        ("read from shared", c.async_shared_read_bytes),
        ("written to shared", c.async_shared_written_bytes),
    ];
    let copied: Vec<String> =
        copied.iter().filter(|(_, n)| *n != 0).map(|(name, n)| format!("{n} bytes {name}")).collect();
    if !copied.is_empty() {
        line("asynchronous copies", copied.join(", "));
    }
}

/// Why a line is among the worst.
fn reason(c: &Counters) -> String {
    let mut parts = Vec::new();
    if c.bank_conflicts != 0 {
        let times = c.shared_wavefronts as f64 / c.shared_ideal_wavefronts.max(1) as f64;
        parts.push(format!("{} bank conflicts: {times:.1} times the wavefronts that it needs", c.bank_conflicts));
    }
    if c.global_sectors > c.global_ideal_sectors {
        let times = c.global_sectors as f64 / c.global_ideal_sectors.max(1) as f64;
        parts.push(format!("{times:.1} times the sectors that hold what it asks for"));
    }
    parts.join("; ")
}
