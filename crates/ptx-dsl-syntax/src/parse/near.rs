//! Suggestions for misspelt names, by edit distance.

/// The name nearest to a misspelt one, if it is near enough.
pub fn nearest<'a>(name: &str, legal: &[&'a str]) -> Option<&'a str> {
    all_near(name, legal).first().copied()
}

/// Candidates for a misspelt name, the nearest first.
pub fn all_near<'a>(name: &str, legal: &[&'a str]) -> Vec<&'a str> {
    // A name of the user's may be of any length; no legal one comes near it.
    if name.len() > 40 {
        return Vec::new();
    }
    let limit = (name.len() / 3).max(1);
    // Of a name of one or two letters a replaced letter makes another name, not a slip of the pen.
    let short = name.trim_start_matches(['%', '$', '.']).len() < 3;
    let mut near: Vec<(usize, &str)> = Vec::new();
    for candidate in legal {
        if candidate.eq_ignore_ascii_case(name) {
            near.insert(0, (0, candidate));
            continue;
        }
        if candidate.len().abs_diff(name.len()) > limit || short && candidate.len() == name.len() {
            continue;
        }
        let d = distance(name.as_bytes(), candidate.as_bytes());
        if d <= limit {
            near.push((d, candidate));
        }
    }
    near.sort_by_key(|n| n.0);
    let mut out: Vec<&str> = Vec::with_capacity(near.len());
    for (_, candidate) in near {
        if !out.contains(&candidate) {
            out.push(candidate);
        }
    }
    out
}

/// Optimal string alignment distance: a transposition counts as one edit.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let (mut before, mut row, mut next) = (Vec::new(), Vec::with_capacity(b.len() + 1), Vec::new());
    for j in 0..=b.len() {
        row.push(j);
    }
    for i in 0..a.len() {
        next.clear();
        next.push(i + 1);
        for j in 0..b.len() {
            let mut d = (row[j] + usize::from(a[i] != b[j])).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                d = d.min(before[j - 1] + 1);
            }
            next.push(d);
        }
        std::mem::swap(&mut before, &mut row);
        std::mem::swap(&mut row, &mut next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_of_the_pen() {
        for (name, legal, meant) in [
            ("u23", ["u32", "u64"], Some("u32")),
            ("gloabl", ["local", "global"], Some("global")),
            ("mbarrier.arive", ["mbarrier.init", "mbarrier.arrive"], Some("mbarrier.arrive")),
            ("relaxde", ["relaxed", "release"], Some("relaxed")),
            ("f46", ["u32", "f64"], Some("f64")),
            ("u99", ["u32", "u64"], None),
            ("%R1", ["%r1", "%r2"], Some("%r1")),
            // both are replaced, and neither was written elsewhere
            ("ba", ["cd", "ef"], None),
        ] {
            assert_eq!(nearest(name, &legal), meant, "{name}");
        }
    }
}
