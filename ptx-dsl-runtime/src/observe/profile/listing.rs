//! A profile as text for the terminal.

use super::card::Card;
use super::counters::Counters;
use super::result::{Profile, Statement};
use super::summary;
use std::fmt::Write;

/// Lines that are marked as the worst.
const WORST: usize = 3;
/// Characters of a bar.
const BAR: usize = 10;

/// What is lost on a line: sectors and wavefronts that a better layout would not need.
pub(super) fn lost(c: &Counters) -> u64 {
    let sectors = c.global_sectors.saturating_sub(c.global_ideal_sectors);
    sectors + c.bank_conflicts
}

/// A line of the source with the statements on it.
pub(super) struct ListingRow<'p> {
    pub line: u32,
    pub text: &'p str,
    pub counters: Counters,
}

pub(super) fn rows(profile: &Profile) -> Vec<ListingRow<'_>> {
    let mut rows: Vec<ListingRow<'_>> = Vec::new();
    let mut statements: Vec<&Statement> = profile.statements.iter().collect();
    statements.sort_by_key(|s| (s.source_line, s.line));
    for s in statements {
        match rows.last_mut() {
            Some(row) if row.line == s.source_line && s.source_line != 0 && profile.source_of(s).is_some() => {
                row.counters += s.counters;
            }
            _ => {
                let text = profile.source_of(s).unwrap_or(&s.text);
                rows.push(ListingRow { line: s.source_line, text, counters: s.counters });
            }
        }
    }
    rows
}

/// The numbers of the rows that lose the most.
pub(super) fn worst(rows: &[ListingRow<'_>]) -> Vec<usize> {
    let mut worst: Vec<usize> = (0..rows.len()).filter(|i| lost(&rows[*i].counters) != 0).collect();
    worst.sort_by_key(|i| std::cmp::Reverse(lost(&rows[*i].counters)));
    worst.truncate(WORST);
    worst
}

/// The listing.
pub(super) fn write(profile: &Profile) -> String {
    let rows = rows(profile);
    let worst = worst(&rows);
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
    summary::write(&mut out, profile);
    for (n, i) in worst.iter().enumerate() {
        let row = &rows[*i];
        let _ = writeln!(out, "{}> line {}: {}", n + 1, row.line, reason(&row.counters));
    }
    rooflines(&mut out, profile);
    out.push_str(LEGEND);
    out
}

/// The least time on each card.
fn rooflines(out: &mut String, profile: &Profile) {
    for (i, card) in Card::ALL.into_iter().enumerate() {
        let line = profile.roofline(card).line();
        if i == 0 && !line.is_empty() {
            out.push_str("\nleast time on a card, from published peaks; a launch may take many times as long\n");
        }
        out.push_str(&line);
    }
}

/// What the columns mean.
const LEGEND: &str = "\n\
    executed   instructions, by warp; the bar compares lines\n\
    lanes      lanes of 32 that take effect, on average: fewer where warps diverge, or a guard does not hold\n\
    sectors    32-byte sectors that global memory moves; ideal: the fewest that could hold the bytes asked for\n\
    wavefr.    passes over the 32 banks of shared memory; conflicts: those that are needed because lanes meet in a bank\n\
    mix        parts of all instructions by class, as in Nsight Compute; turns: regions that warps run, in the host's order\n";

fn shown(n: u64) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}

fn lanes(c: &Counters) -> String {
    match c.executed {
        0 => String::new(),
        n => format!("{:.1}", c.threads.saturating_sub(c.predicated_off) as f64 / n as f64),
    }
}

/// Why a line is among the worst.
pub(super) fn reason(c: &Counters) -> String {
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
