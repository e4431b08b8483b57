//! Targets and versions: some that have an instruction, and some that just do not.

use ptx_dsl_frontend::isa::target::target;
use ptx_dsl_frontend::isa::{Instr, Ptx, Targets};

use crate::Random;

/// The newest version that the pinned ptxas accepts.
pub const NEWEST: Ptx = Ptx(9, 5);

/// Current targets; older ones come from the gates.
const HOMES: &[&str] = &[
    "sm_100a", "sm_107a", "sm_90a", "sm_120a", "sm_110a", "sm_103a", "sm_100f", "sm_107f", "sm_121a", "sm_120f",
    "sm_90", "sm_80", "sm_75", "sm_100", "sm_120", "sm_103f", "sm_110f",
];

/// Versions of the PTX ISA, ascending; earlier ones have no `.address_size`.
#[rustfmt::skip]
const VERSIONS: &[Ptx] = &[
    Ptx(2, 3), Ptx(3, 0), Ptx(3, 1), Ptx(3, 2), Ptx(4, 0), Ptx(4, 1), Ptx(4, 2), Ptx(4, 3), Ptx(5, 0), Ptx(6, 0), Ptx(6, 1),
    Ptx(6, 2), Ptx(6, 3), Ptx(6, 4), Ptx(6, 5), Ptx(7, 0), Ptx(7, 1), Ptx(7, 2), Ptx(7, 3), Ptx(7, 4), Ptx(7, 5), Ptx(7, 6),
    Ptx(7, 7), Ptx(7, 8), Ptx(8, 0), Ptx(8, 1), Ptx(8, 2), Ptx(8, 3), Ptx(8, 4), Ptx(8, 5), Ptx(8, 6), Ptx(8, 7), Ptx(8, 8),
    Ptx(9, 0), Ptx(9, 1), Ptx(9, 2), Ptx(9, 3), Ptx(9, 4), Ptx(9, 5),
];

/// Current targets that have the instruction.
pub fn homes(entry: &Instr) -> Vec<&'static str> {
    let has = |name: &&&str| target(name).is_some_and(|t| t.satisfies(entry.requires, NEWEST).is_ok());
    HOMES.iter().filter(has).copied().collect()
}

/// Any current target.
pub fn anywhere(random: &mut Random) -> &'static str {
    random.pick(HOMES).copied().unwrap_or("sm_100a")
}

/// Versions and targets on both sides of the limits of the entry and its gates.
pub fn edges(entry: &Instr) -> Vec<(&'static str, Ptx)> {
    let mut versions = vec![entry.since];
    let mut targets = homes(entry);
    targets.extend(["sm_70", "sm_60", "sm_52"]);
    let mut wanted = |requires: Targets, versions: &mut Vec<Ptx>| match requires {
        Targets::Sm(number) => targets.extend(step(number)),
        Targets::Only(list) => {
            for (name, since) in list {
                versions.push(*since);
                targets.push(name);
                targets.extend(target(name).into_iter().flat_map(|t| step(t.number)));
            }
        }
    };
    wanted(entry.requires, &mut versions);
    for gate in entry.gates {
        versions.extend(gate.since);
        if let Some(requires) = gate.requires {
            wanted(requires, &mut versions);
        }
    }
    versions.extend(entry.until.map(|u| u.0));
    let mut out = Vec::new();
    for version in versions {
        let at = VERSIONS.iter().position(|v| *v >= version).unwrap_or(VERSIONS.len() - 1);
        for version in [Some(VERSIONS[at]), at.checked_sub(1).map(|b| VERSIONS[b]), Some(NEWEST)].into_iter().flatten()
        {
            for name in &targets {
                if target(name).is_some_and(|t| t.exists(version).is_ok()) {
                    out.push((*name, version));
                }
            }
        }
    }
    out.sort();
    out.dedup();
    out
}

/// The plain target of this number, and the one before it.
fn step(number: u32) -> impl Iterator<Item = &'static str> {
    let plain =
        ptx_dsl_frontend::isa::target::TARGETS.iter().filter(|t| t.name[3..].bytes().all(|b| b.is_ascii_digit()));
    let list: Vec<_> = plain.filter(|t| t.number <= number && t.number >= 30).collect();
    list.into_iter().rev().take(2).map(|t| t.name)
}
