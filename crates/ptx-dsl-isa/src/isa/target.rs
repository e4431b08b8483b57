//! Targets of `.target` (manual 11.1.2), their families, and whether a target supports an instruction.

use super::{Ptx, Targets, ptx};

/// The compatibility that the letter after the number promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suffix {
    /// `sm_90`: runs on later targets too.
    None,
    /// `sm_100f`: runs on later targets of the family.
    Family,
    /// `sm_90a`: runs on this target only.
    Exact,
}

/// A row of the table of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// `sm_100a`
    pub name: &'static str,
    /// 100
    pub number: u32,
    /// The letter.
    pub suffix: Suffix,
    /// First PTX ISA version.
    pub since: Ptx,
    /// First version in which the name is gone (`sm_101`, which is `sm_110` from 9.0 on).
    pub until: Option<Ptx>,
}

/// What is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// No version of PTX has it on this target.
    Target,
    /// This target has it from this version on.
    Version(Ptx),
}

const fn row(name: &'static str, number: u32, suffix: Suffix, since: Ptx) -> Target {
    Target { name, number, suffix, since, until: None }
}

const fn old(name: &'static str, suffix: Suffix, since: Ptx) -> Target {
    Target { name, number: 101, suffix, since, until: Some(ptx(9, 0)) }
}

use Suffix::{Exact, Family, None as Plain};

/// The last minor version of each major version that has a successor.
pub static LAST: &[Ptx] = &[Ptx(1, 5), Ptx(2, 3), Ptx(3, 2), Ptx(4, 3), Ptx(5, 1), Ptx(6, 5), Ptx(7, 8), Ptx(8, 8)];

/// All targets, ascending.
pub static TARGETS: &[Target] = &[
    row("sm_10", 10, Plain, ptx(1, 0)),
    row("sm_11", 11, Plain, ptx(1, 0)),
    row("sm_12", 12, Plain, ptx(1, 2)),
    row("sm_13", 13, Plain, ptx(1, 2)),
    row("sm_20", 20, Plain, ptx(2, 0)),
    row("sm_21", 21, Plain, ptx(2, 0)),
    row("sm_30", 30, Plain, ptx(3, 0)),
    row("sm_32", 32, Plain, ptx(4, 0)),
    row("sm_35", 35, Plain, ptx(3, 1)),
    row("sm_37", 37, Plain, ptx(4, 1)),
    row("sm_50", 50, Plain, ptx(4, 0)),
    row("sm_52", 52, Plain, ptx(4, 1)),
    row("sm_53", 53, Plain, ptx(4, 2)),
    row("sm_60", 60, Plain, ptx(5, 0)),
    row("sm_61", 61, Plain, ptx(5, 0)),
    row("sm_62", 62, Plain, ptx(5, 0)),
    row("sm_70", 70, Plain, ptx(6, 0)),
    row("sm_72", 72, Plain, ptx(6, 1)),
    row("sm_75", 75, Plain, ptx(6, 3)),
    row("sm_80", 80, Plain, ptx(7, 0)),
    row("sm_86", 86, Plain, ptx(7, 1)),
    row("sm_87", 87, Plain, ptx(7, 4)),
    row("sm_88", 88, Plain, ptx(9, 0)),
    row("sm_89", 89, Plain, ptx(7, 8)),
    row("sm_90", 90, Plain, ptx(7, 8)),
    row("sm_90a", 90, Exact, ptx(8, 0)),
    row("sm_100", 100, Plain, ptx(8, 6)),
    row("sm_100f", 100, Family, ptx(8, 8)),
    row("sm_100a", 100, Exact, ptx(8, 6)),
    old("sm_101", Plain, ptx(8, 6)),
    old("sm_101f", Family, ptx(8, 8)),
    old("sm_101a", Exact, ptx(8, 6)),
    row("sm_103", 103, Plain, ptx(8, 8)),
    row("sm_103f", 103, Family, ptx(8, 8)),
    row("sm_103a", 103, Exact, ptx(8, 8)),
    row("sm_107", 107, Plain, ptx(9, 4)),
    row("sm_107f", 107, Family, ptx(9, 4)),
    row("sm_107a", 107, Exact, ptx(9, 4)),
    row("sm_110", 110, Plain, ptx(9, 0)),
    row("sm_110f", 110, Family, ptx(9, 0)),
    row("sm_110a", 110, Exact, ptx(9, 0)),
    row("sm_120", 120, Plain, ptx(8, 7)),
    row("sm_120f", 120, Family, ptx(8, 8)),
    row("sm_120a", 120, Exact, ptx(8, 7)),
    row("sm_121", 121, Plain, ptx(8, 8)),
    row("sm_121f", 121, Family, ptx(8, 8)),
    row("sm_121a", 121, Exact, ptx(8, 8)),
];

/// A target by its name; `compute_90` is another name of `sm_90`.
pub fn target(name: &str) -> Option<&'static Target> {
    let rest = match name.strip_prefix("sm_") {
        Some(rest) => rest,
        None => name.strip_prefix("compute_")?,
    };
    let mut found = None;
    for row in TARGETS {
        if &row.name[3..] == rest {
            found = Some(row);
            break;
        }
    }
    found
}

/// `sm_101` is the name of `sm_110` before 9.0.
fn current(number: u32) -> u32 {
    if number == 101 { 110 } else { number }
}

/// The first member of the family of a target that has one.
fn family(number: u32) -> Option<u32> {
    match number {
        100 | 103 | 107 => Some(100),
        101 | 110 => Some(110),
        120 | 121 => Some(120),
        _ => None,
    }
}

impl Target {
    /// Does this version know the name? `Err` says whether it is too new or removed.
    pub fn exists(&self, version: Ptx) -> Result<(), Missing> {
        if let Some(gone) = self.until
            && version >= gone
        {
            return Err(Missing::Target);
        }
        if version < self.since { Err(Missing::Version(self.since)) } else { Ok(()) }
    }

    /// Does `wanted` (a name of the table) include this target?
    fn is(&self, wanted: &Target) -> bool {
        let (have, want) = (current(self.number), current(wanted.number));
        match wanted.suffix {
            Suffix::None => have >= want,
            Suffix::Exact => self.suffix == Exact && have == want,
            Suffix::Family => {
                self.suffix != Plain && have >= want && family(have) == family(want) && family(have).is_some()
            }
        }
    }

    /// Does this target, in a module of this version, support what requires `wanted`? The caller checks the version of the whole;
    /// this checks the versions of single targets in a list.
    pub fn satisfies(&self, wanted: Targets, version: Ptx) -> Result<(), Missing> {
        match wanted {
            Targets::Sm(number) => {
                if self.number >= number {
                    Ok(())
                } else {
                    Err(Missing::Target)
                }
            }
            Targets::Only(list) => {
                let mut missing = Missing::Target;
                for (name, since) in list {
                    match target(name) {
                        Some(t) if self.is(t) => {}
                        _ => continue,
                    }
                    if version >= *since {
                        return Ok(());
                    }
                    missing = match missing {
                        Missing::Version(v) if v <= *since => missing,
                        _ => Missing::Version(*since),
                    };
                }
                Err(missing)
            }
        }
    }
}

/// Describes targets: "`sm_90` or higher", "`sm_100a`, `sm_120f` or higher in its family".
pub fn describe(wanted: Targets) -> String {
    match wanted {
        Targets::Sm(0) => "any target".to_string(),
        Targets::Sm(number) => format!("`sm_{number}` or higher"),
        // Plain targets, each with its version: the first is the lowest.
        Targets::Only([(name, _), ..]) if !name.ends_with('a') && !name.ends_with('f') => {
            format!("`{name}` or higher")
        }
        Targets::Only(list) => {
            let mut text = String::new();
            let mut last = "";
            for (name, _) in list {
                // `sm_101*` is only an old name of `sm_110*`.
                if name.starts_with("sm_101") {
                    continue;
                }
                if !last.is_empty() {
                    add(&mut text, ", ", last);
                }
                last = name;
            }
            add(&mut text, " or ", last);
            text
        }
    }
}

fn add(text: &mut String, between: &str, name: &str) {
    let between = if text.is_empty() { "" } else { between };
    let family = if name.ends_with('f') { " or higher in its family" } else { "" };
    text.push_str(&format!("{between}`{name}`{family}"));
}

/// A platform option: a word of `.target` other than a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlatformOption {
    /// `texmode_unified`
    pub name: &'static str,
    /// First version.
    pub since: Ptx,
    /// The option that it excludes.
    pub excludes: Option<&'static str>,
}

/// All of them.
pub static OPTIONS: &[PlatformOption] = &[
    PlatformOption { name: "texmode_unified", since: ptx(1, 5), excludes: Some("texmode_independent") },
    PlatformOption { name: "texmode_independent", since: ptx(1, 5), excludes: Some("texmode_unified") },
    PlatformOption { name: "debug", since: ptx(3, 0), excludes: None },
    PlatformOption { name: "map_f64_to_f32", since: ptx(1, 0), excludes: None },
];

/// A platform option by its name.
pub fn option(name: &str) -> Option<&'static PlatformOption> {
    let mut found = None;
    for row in OPTIONS {
        if row.name == name {
            found = Some(row);
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(name: &str, wanted: Targets, version: Ptx) -> Result<(), Missing> {
        target(name).unwrap().satisfies(wanted, version)
    }

    // The notes of clusterlaunchcontrol.try_cancel on `.multicast::cluster::all`, manual 9.7.13.17.
    const MULTICAST: Targets = super::super::clusterlaunchcontrol::MULTICAST;

    #[test]
    fn multicast_of_try_cancel_as_the_manual_lists_it() {
        assert_eq!(has("sm_100a", MULTICAST, ptx(8, 6)), Ok(()));
        assert_eq!(has("sm_100", MULTICAST, ptx(9, 4)), Err(Missing::Target));
        assert_eq!(has("sm_100f", MULTICAST, ptx(8, 8)), Ok(()));
        assert_eq!(has("sm_103a", MULTICAST, ptx(8, 8)), Ok(()));
        assert_eq!(has("sm_103f", MULTICAST, ptx(8, 6)), Err(Missing::Version(ptx(8, 8))));
        assert_eq!(has("sm_101a", MULTICAST, ptx(8, 6)), Ok(()));
        assert_eq!(has("sm_110a", MULTICAST, ptx(9, 0)), Ok(()));
        assert_eq!(has("sm_121a", MULTICAST, ptx(8, 8)), Ok(()));
        assert_eq!(has("sm_90a", MULTICAST, ptx(9, 4)), Err(Missing::Target));
    }

    #[test]
    fn an_exact_target_is_no_other() {
        const LIST: &[(&str, Ptx)] = &[("sm_100a", ptx(8, 6)), ("sm_103f", ptx(8, 8))];
        let wanted = Targets::Only(LIST);
        assert_eq!(has("sm_100a", wanted, ptx(8, 6)), Ok(()));
        assert_eq!(has("sm_100f", wanted, ptx(9, 0)), Err(Missing::Target));
        assert_eq!(has("sm_107a", wanted, ptx(9, 4)), Ok(()));
        assert_eq!(has("sm_110a", wanted, ptx(9, 4)), Err(Missing::Target));
    }

    #[test]
    fn names() {
        assert_eq!(target("compute_90a").unwrap().name, "sm_90a");
        assert!(target("sm_91").is_none() && target("90").is_none() && target("sm_").is_none());
        assert_eq!(target("sm_101a").unwrap().exists(ptx(9, 0)), Err(Missing::Target));
        assert_eq!(target("sm_88").unwrap().exists(ptx(8, 8)), Err(Missing::Version(ptx(9, 0))));
    }
}
