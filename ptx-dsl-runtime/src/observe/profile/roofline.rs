//! The roofline of a launch: the least time that a card needs, from published peaks, and what limits it. It is a bound, not an estimate: a
//! launch may take many times as long.

use super::card::{Card, Peaks};
use super::result::Profile;
use std::fmt::Write;

/// What a card has too little of to be faster.
///
/// [Example](Profile::roofline).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Traffic to DRAM.
    Memory,
    /// Operations on numbers outside of tensor cores, of this type.
    Flops(&'static str),
    /// Operations of tensor cores.
    Tensor,
}

impl Limit {
    /// The limit in words.
    pub fn name(&self) -> String {
        match self {
            Limit::Memory => "traffic to DRAM".to_owned(),
            Limit::Flops(ty) => format!("operations on .{ty}"),
            Limit::Tensor => "tensor cores".to_owned(),
        }
    }
}

/// The least time for a part of the work of a launch.
///
/// [Example](Profile::roofline).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// What the part needs.
    pub limit: Limit,
    /// Bytes, or operations.
    pub work: u64,
    /// The time in seconds.
    pub seconds: f64,
}

/// How CTAs fill the SMs of a card.
///
/// [Example](Profile::roofline).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Occupancy {
    /// CTAs that the card can run at the same time.
    pub at_once: u64,
    /// Waves, with the last.
    pub waves: u64,
    /// CTAs of the last wave.
    pub tail: u64,
    /// The part of the places in all waves that CTAs take, if all take equally long.
    pub used: f64,
}

/// The roofline of a launch on a card.
///
/// [Example](Profile::roofline).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Roofline {
    /// The peaks of the card.
    pub peaks: Peaks,
    /// The least time for each part of the work, the longest first. Parts may overlap, so the longest is the least time of the launch.
    pub bounds: Vec<Bound>,
    /// Operations, of all types and of tensor cores.
    pub operations: u64,
    /// Bytes that DRAM has to read and write at least: each sector that the launch touches once.
    pub bytes: u64,
    /// Types of products of which the card has no published rate.
    pub unknown: Vec<String>,
    /// SMs that have work: all, or as many as there are CTAs.
    pub busy_sms: u64,
    /// The part of the rate of tensor cores that is left if shared memory gives 128 bytes in a clock cycle to `wgmma` and `tcgen05`: less
    /// than 1 if tiles are so small that their operands take longer to read than to multiply. `None` without such reads.
    pub tensor_by_shape: Option<f64>,
    /// The part of the bytes in boxes that tensor copies brought that is in the tensor: products of the rest are for nothing. `None` without
    /// copies.
    pub tensor_by_tails: Option<f64>,
}

impl Profile {
    /// The roofline of the launch on a card.
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Host, profile::Card};
    /// let profile = Host::profile().profiled();
    /// let roofline = profile.roofline(Card::H200);
    /// assert_eq!(roofline.seconds(), 0.0);
    /// ```
    pub fn roofline(&self, card: Card) -> Roofline {
        let (peaks, total) = (card.peaks(), self.total());
        let busy_sms = self.ctas.min(peaks.sms.into());
        // a CTA runs on one SM
        let share = busy_sms as f64 / f64::from(peaks.sms);
        let bytes = self.least_read_bytes + self.least_written_bytes;
        let mut bounds = vec![(Limit::Memory, bytes, bytes as f64 / peaks.bytes)];
        let flops = [
            ("f16", total.flops_f16, peaks.f16),
            ("f32", total.flops_f32, peaks.f32),
            ("f64", total.flops_f64, peaks.f64),
        ];
        bounds.extend(flops.map(|(ty, work, peak)| (Limit::Flops(ty), work, work as f64 / (peak * share))));
        let (mut seconds, mut work, mut unknown, mut clocks) = (0.0, 0, Vec::new(), 0.0);
        for product in &self.products {
            match peaks.tensor(&product.element, product.sparse) {
                Some(peak) => {
                    seconds += product.operations as f64 / (peak * share);
                    let per_clock = peaks.tensor_f16_per_clock * peak / peaks.tensor_f16;
                    if is_of_descriptors(&product.opcode) {
                        clocks += product.operations as f64 / per_clock;
                    }
                }
                None => unknown.push(product.element.clone()),
            }
            work += product.operations;
        }
        bounds.push((Limit::Tensor, work, seconds));
        bounds.retain(|(_, work, _)| *work != 0);
        let mut bounds: Vec<Bound> =
            bounds.into_iter().map(|(limit, work, seconds)| Bound { limit, work, seconds }).collect();
        bounds.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        unknown.sort();
        unknown.dedup();
        let read = total.matrix_shared_bytes as f64 / 128.0;
        let brought = total.async_global_read_bytes + total.copy_multicast_bytes;
        Roofline {
            peaks,
            bounds,
            operations: total.flops_f16 + total.flops_f32 + total.flops_f64 + work,
            bytes,
            unknown,
            busy_sms,
            tensor_by_shape: (read > 0.0 && clocks > 0.0).then(|| (clocks / read).min(1.0)),
            tensor_by_tails: (brought > 0 && work > 0)
                .then(|| brought as f64 / (brought + total.copy_padded_bytes) as f64),
        }
    }
}

/// Does an instruction read matrices with descriptors?
fn is_of_descriptors(opcode: &str) -> bool {
    opcode.starts_with("wgmma") || opcode.starts_with("tcgen05")
}

impl Roofline {
    /// The least time of the launch in seconds.
    pub fn seconds(&self) -> f64 {
        self.bounds.first().map_or(0.0, |bound| bound.seconds)
    }

    /// What limits the launch, if it does anything.
    pub fn limit(&self) -> Option<&Limit> {
        self.bounds.first().map(|bound| &bound.limit)
    }

    /// Operations for each byte of DRAM.
    pub fn intensity(&self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.operations as f64 / self.bytes as f64 }
    }

    /// Waves of the CTAs of a profile, if this many fit on an SM.
    pub fn waves(&self, profile: &Profile, ctas_per_sm: u32) -> Occupancy {
        let at_once = u64::from(self.peaks.sms) * u64::from(ctas_per_sm.max(1));
        let waves = profile.ctas.div_ceil(at_once);
        let tail = profile.ctas - waves.saturating_sub(1) * at_once;
        let used = if waves == 0 { 0.0 } else { profile.ctas as f64 / (waves * at_once) as f64 };
        Occupancy { at_once, waves, tail, used }
    }

    /// The roofline in one line. Empty if the launch does nothing.
    pub(super) fn line(&self) -> String {
        let Some(limit) = self.limit() else { return String::new() };
        format!(
            "{:6} {:>9} at least, limited by {}; {:.1} operations for each byte of DRAM\n",
            self.peaks.name,
            time(self.seconds()),
            limit.name(),
            self.intensity()
        )
    }

    /// The roofline in a few lines, each with what it means. `ctas_per_sm`: CTAs that fit on an SM, if that is known.
    pub fn report(&self, profile: &Profile, ctas_per_sm: Option<u32>) -> String {
        let mut out = self.line();
        if out.is_empty() {
            return out;
        }
        for bound in &self.bounds {
            let unit = if bound.limit == Limit::Memory { "bytes" } else { "operations" };
            let _ =
                writeln!(out, "       {:>9} for {}: {} {unit}", time(bound.seconds), bound.limit.name(), bound.work);
        }
        if !self.unknown.is_empty() {
            let _ = writeln!(out, "       no rate is published for tensor cores on {}", self.unknown.join(", "));
        }
        let mut percent = |part: f64, what: &str| {
            let _ = writeln!(out, "       {:>8.0}% {what}", part * 100.0);
        };
        if let Some(part) = self.tensor_by_shape {
            percent(
                part,
                "of the tensor cores' rate is left by the tiles' shape: their operands come from shared memory",
            );
        }
        if let Some(part) = self.tensor_by_tails.filter(|part| *part < 1.0) {
            percent(part, "of what tensor copies brought is in the tensor: the rest is padding of tails");
        }
        let waves = self.waves(profile, ctas_per_sm.unwrap_or(1));
        let known = if ctas_per_sm.is_some() { "fit" } else { "is assumed to fit" };
        let _ = writeln!(
            out,
            "       {:>8.0}% of the SMs' places are used: {} CTAs in {} waves, {} in the last ({} {known} on each of {} SMs)",
            waves.used * 100.0,
            profile.ctas,
            waves.waves,
            waves.tail,
            ctas_per_sm.unwrap_or(1),
            self.peaks.sms
        );
        out
    }
}

/// A time in words.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.1} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::counters::Counters;
    use super::super::mix::Product;
    use super::super::result::Statement;
    use super::*;

    fn profile(ctas: u64) -> Profile {
        Profile { ctas, least_read_bytes: 3_350_000, least_written_bytes: 3_350_000, ..Profile::default() }
    }

    #[test]
    fn the_longest_part_is_the_bound() {
        let roofline = profile(132).roofline(Card::H100);
        // 6.7 MB at 3.35 TB/s
        assert!((roofline.seconds() - 2e-6).abs() < 1e-9, "{roofline:?}");
        assert_eq!(roofline.limit(), Some(&Limit::Memory));
        let product = |operations| Product {
            opcode: "wgmma.mma_async".to_owned(),
            shape: [64, 128, 16],
            element: "f16".to_owned(),
            sparse: false,
            count: 1,
            operations,
        };
        let mut gemm = profile(66);
        // on half of the SMs
        gemm.products = vec![product(989_500_000_000)];
        let roofline = gemm.roofline(Card::H100);
        assert!((roofline.seconds() - 2e-3).abs() < 1e-9, "{roofline:?}");
        assert_eq!((roofline.limit(), roofline.busy_sms), (Some(&Limit::Tensor), 66));
        gemm.products = vec![Product { sparse: true, ..product(989_500_000_000) }];
        assert!((gemm.roofline(Card::H100).seconds() - 1e-3).abs() < 1e-9);
    }

    #[test]
    fn the_last_wave_has_the_rest() {
        let p = profile(300);
        let waves = p.roofline(Card::H100).waves(&p, 2);
        assert_eq!((waves.at_once, waves.waves, waves.tail), (264, 2, 36));
        assert!((waves.used - 300.0 / 528.0).abs() < 1e-9);
        let waves = p.roofline(Card::A100).waves(&p, 3);
        assert_eq!((waves.waves, waves.tail), (1, 300));
    }

    /// The time of `wgmma.mma_async` in cycles on an H200: one warpgroup that executes 3,200 of them, 32 in each group
    /// (`oracles/src/memory_counters/compute.py`, `rates`). Columns of B, and cycles with A in shared memory.
    const RATES: [(u32, f64); 8] = [
        (8, 61937.0),
        (16, 68420.0),
        (32, 81643.0),
        (64, 108_024.0),
        (96, 159_222.0),
        (128, 210_569.0),
        (192, 312_888.0),
        (256, 415_311.0),
    ];

    #[test]
    fn tiles_take_as_long_as_their_operands_or_their_products() {
        for (n, cycles) in RATES {
            let operations = 2 * 64 * u64::from(n) * 16;
            let counters = Counters { matrix_shared_bytes: 2 * 16 * (64 + u64::from(n)), ..Counters::default() };
            let product = Product {
                opcode: "wgmma.mma_async".to_owned(),
                shape: [64, n, 16],
                element: "f16".to_owned(),
                sparse: false,
                count: 1,
                operations,
            };
            let mut p = profile(1);
            p.statements = vec![Statement::recorded("", 1, |name| {
                counters.all().find(|(known, _)| *known == name).map_or(0, |(_, n)| n)
            })];
            p.products = vec![product];
            let part = p.roofline(Card::H200).tensor_by_shape.unwrap();
            // of the time that the products alone would take
            let measured = operations as f64 / 4096.0 / (cycles / 3200.0);
            assert!(measured <= part && part < measured * 1.08, "{n} columns: {measured} is at most {part}");
        }
    }

    #[test]
    fn every_card_has_a_name() {
        for card in Card::ALL {
            assert_eq!(Card::from_name(&card.peaks().name.to_lowercase()), Some(card));
        }
        assert_eq!(Card::from_name("x"), None);
    }
}
