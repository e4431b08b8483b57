//! The sums of a profile in words: each line says what its numbers are.

use super::counters::Counters;
use super::result::Profile;
use std::fmt::Write;

/// Waits that are shown.
const WAITS: usize = 5;

/// Writes the sums.
pub(super) fn write(out: &mut String, profile: &Profile) {
    let c = profile.total();
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{name:22} {text}");
    };
    line(
        "instructions",
        format!("{} by warps, {} by threads, {} predicated off", c.executed, c.threads, c.predicated_off),
    );
    let mix: Vec<String> =
        profile.mix().iter().map(|(name, c)| format!("{name} {}", share(c.executed, profile))).collect();
    if !mix.is_empty() {
        line("mix", mix.join(", "));
    }
    let flops = some(&[("f16", c.flops_f16), ("f32", c.flops_f32), ("f64", c.flops_f64)], "on .");
    if !flops.is_empty() {
        line("flops", format!("{flops} (an fma has two)"));
    }
    for p in &profile.products {
        let [m, n, k] = p.shape;
        let sparse = if p.sparse { ", sparse" } else { "" };
        line(
            "tensor cores",
            format!("{} {} m{m}n{n}k{k} on {}{sparse}: {} operations", p.count, p.opcode, p.element, p.operations),
        );
    }
    memory(&mut line, &c);
    copies(&mut line, &c);
    if c.least() + profile.least_read_bytes + profile.least_written_bytes != 0 {
        let (read, written) = (profile.least_read_bytes, profile.least_written_bytes);
        line(
            "DRAM at least",
            format!("{read} bytes read, {written} written: each sector that the launch touches once"),
        );
    }
    for change in &profile.registers {
        line("registers", format!("{} by {} warps: {}", change.registers, change.warps, change.text));
    }
    if c.cancel_requests != 0 {
        line(
            "cluster launch control",
            format!("{} requests for a pending cluster, {} got one", c.cancel_requests, c.cancelled_clusters),
        );
    }
    if c.waits != 0 {
        line("waits", format!("{} by warps, {} turns of the host in all", c.waits, c.wait_turns));
    }
    for w in profile.waits.iter().take(WAITS) {
        let by = match &w.by {
            Some((at, text, warp)) => format!(" for warp {warp} at line {at}: {text}"),
            None => String::new(),
        };
        line("", format!("warp {} at line {}, {} times, {} turns{by}", w.warp, w.source_line, w.times, w.turns));
    }
}

impl Counters {
    /// Whether global memory was accessed, in requests.
    fn least(&self) -> u64 {
        self.global_requests + self.async_global_read_bytes + self.async_global_written_bytes
    }
}

/// A part of all instructions in percent.
fn share(executed: u64, profile: &Profile) -> String {
    format!("{:.0}%", 100.0 * executed as f64 / profile.total().executed.max(1) as f64)
}

/// The numbers that are not 0, each with its name.
fn some(all: &[(&str, u64)], before: &str) -> String {
    let all: Vec<String> = all.iter().filter(|(_, n)| *n != 0).map(|(name, n)| format!("{n} {before}{name}")).collect();
    all.join(", ")
}

fn memory(line: &mut impl FnMut(&str, String), c: &Counters) {
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
    if c.matrix_shared_bytes != 0 {
        line("shared memory", format!("{} bytes read by descriptors of matrices", c.matrix_shared_bytes));
    }
    if c.remote_bytes != 0 {
        line("shared memory of peers", format!("{} bytes", c.remote_bytes));
    }
    if c.const_requests != 0 {
        line("constant memory", format!("{} requests, {} different words in them", c.const_requests, c.const_words));
    }
    if c.atomic_same_address != 0 {
        line(
            "atomic operations",
            format!("{} lanes wait for another lane with the same address", c.atomic_same_address),
        );
    }
}

fn copies(line: &mut impl FnMut(&str, String), c: &Counters) {
    let copied = some(
        &[
            ("read from global", c.async_global_read_bytes),
            ("written to global", c.async_global_written_bytes),
            ("read from shared", c.async_shared_read_bytes),
            ("written to shared", c.async_shared_written_bytes),
        ],
        "bytes ",
    );
    if !copied.is_empty() {
        line("asynchronous copies", copied);
    }
    if c.copy_padded_bytes != 0 {
        line("", format!("{} bytes of boxes outside of their tensor, filled with zeros", c.copy_padded_bytes));
    }
    if c.copy_multicast_bytes != 0 {
        line(
            "",
            format!("{} bytes that multicast brings to further CTAs without reading them", c.copy_multicast_bytes),
        );
    }
}
