//! Threads and lanes in words, for reports.

/// Threads by their number in the CTA.
pub(super) fn threads(lo: u32, hi: u32, mask: u32) -> String {
    if mask == u32::MAX {
        return format!("threads {} to {}", lo * 32, hi * 32 - 1);
    }
    let warps = if hi - lo == 1 { format!("warp {lo}") } else { format!("warps {lo} to {}", hi - 1) };
    format!("{warps} lanes {}", lanes(mask))
}

/// Lanes, as ranges.
pub(super) fn lanes(mask: u32) -> String {
    let mut ranges = Vec::new();
    let mut l = 0;
    while l < 32 {
        let n = (mask as u64 >> l).trailing_ones();
        match n {
            0 => {}
            1 => ranges.push(l.to_string()),
            _ => ranges.push(format!("{l} to {}", l + n - 1)),
        }
        l += n.max(1);
    }
    ranges.join(", ")
}
