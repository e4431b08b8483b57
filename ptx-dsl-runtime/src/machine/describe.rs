//! Threads and lanes in words, for reports.

/// Threads by their number in the CTA.
pub(super) fn threads(lo: u32, hi: u32, mask: u32) -> String {
    if mask == u32::MAX {
        return format!("threads {} to {}", lo * 32, hi * 32 - 1);
    }
    let warps = if hi - lo == 1 { format!("warp {lo}") } else { format!("warps {lo} to {}", hi - 1) };
    format!("{warps} {}", lanes(mask))
}

/// Groups that the text of a list names.
const MOST: usize = 8;

/// Threads of several warps of a CTA: warps that follow each other with the same lanes are one group. Each is a warp and its lanes.
pub(super) fn groups(warps: impl Iterator<Item = (u32, u32)>) -> String {
    let mut groups: Vec<(u32, u32, u32)> = Vec::new();
    for (warp, mask) in warps {
        match groups.last_mut() {
            Some((_, hi, same)) if (*hi, *same) == (warp, mask) => *hi += 1,
            _ => groups.push((warp, warp + 1, mask)),
        }
    }
    let texts: Vec<_> = groups.iter().take(MOST).map(|&(lo, hi, mask)| threads(lo, hi, mask)).collect();
    texts.join("; ")
}

/// Describes warps of the CTAs of a cluster. Each is a rank, a warp and its lanes.
pub(super) fn groups_of_cluster(warps: &[(u32, u32, u32)]) -> String {
    let ctas = warps.chunk_by(|a, b| a.0 == b.0).take(MOST);
    let texts: Vec<_> = ctas
        .map(|warps| format!("CTA rank {} {}", warps[0].0, groups(warps.iter().map(|&(_, warp, mask)| (warp, mask)))))
        .collect();
    texts.join("; ")
}

/// Lanes, as ranges: `lane 3`, `lanes 0 to 3, 7`.
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
    let lanes = if mask.count_ones() == 1 { "lane" } else { "lanes" };
    format!("{lanes} {}", ranges.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_group() {
        assert_eq!(threads(2, 3, 1 << 5), "warp 2 lane 5");
        assert_eq!(threads(2, 4, 0x8000_000f), "warps 2 to 3 lanes 0 to 3, 31");
        let warps = [(0, u32::MAX), (1, u32::MAX), (3, u32::MAX), (4, 1), (5, 1)];
        assert_eq!(groups(warps.into_iter()), "threads 0 to 63; threads 96 to 127; warps 4 to 5 lane 0");
        let cluster = [(0, 1, u32::MAX), (0, 2, u32::MAX), (2, 3, 2)];
        assert_eq!(groups_of_cluster(&cluster), "CTA rank 0 threads 32 to 95; CTA rank 2 warp 3 lane 1");
        assert_eq!(groups((0..20).map(|w| (2 * w, 1))).matches("; ").count(), MOST - 1);
    }
}
