//! Asynchronous operations of one thread on its private bytes (PTX ISA 9.7.9.25): spellings and meanings. A thread has an
//! mbarrier object of its own, `[%gate]`, with the phase `%turn`.

use super::program::{Copies, Direction, OWN, RESULT, Small, Space, Wait, Zeros};

/// An operation of reductions, as they spell it: `.add.u32`.
pub struct Merge {
    pub name: &'static str,
    pub meaning: fn(u32, u32) -> u32,
}

/// The operations that `red.async` and `cp.reduce.async.bulk` have in shared memory.
pub const MERGES: &[Merge] = &[
    Merge { name: "add.u32", meaning: u32::wrapping_add },
    Merge { name: "min.u32", meaning: |a, b| a.min(b) },
    Merge { name: "max.u32", meaning: |a, b| a.max(b) },
    Merge { name: "min.s32", meaning: |a, b| (a as i32).min(b as i32) as u32 },
    Merge { name: "max.s32", meaning: |a, b| (a as i32).max(b as i32) as u32 },
    Merge { name: "and.b32", meaning: |a, b| a & b },
    Merge { name: "or.b32", meaning: |a, b| a | b },
    Merge { name: "xor.b32", meaning: |a, b| a ^ b },
    Merge { name: "inc.u32", meaning: |a, b| if a >= b { 0 } else { a + 1 } },
    Merge { name: "dec.u32", meaning: |a, b| if a == 0 || a > b { b } else { a - 1 } },
];

/// The start of a thread's bytes in global memory, from `%own`.
const FIRST: u32 = RESULT - OWN;

/// Starts the copies.
pub fn start(what: &Copies, guarded: impl Fn(&Small) -> String) -> String {
    match what {
        Copies::Small { copies, wait } => {
            let group = if matches!(wait, Wait::Groups(_)) { "cp.async.commit_group;\n" } else { "" };
            let mut text: String = copies.iter().map(|c| small(c, &guarded(c)) + group).collect();
            if let Wait::Arrive { noinc } = wait {
                let noinc = if *noinc { ".noinc" } else { "" };
                text += &format!("cp.async.mbarrier.arrive{noinc}.shared.b64 [%gate];\n");
            }
            text
        }
        Copies::Bulk { direction, from, to, size, merge, mask } => {
            let own =
                format!("[%own+{}]", FIRST + if *direction == Direction::GlobalToShared { 16 * from } else { 16 * to });
            let (from, to) = (format!("[%shared+{}]", 16 * from), format!("[%shared+{}]", 16 * to));
            let opcode = if merge.is_some() { "cp.reduce.async.bulk" } else { "cp.async.bulk" };
            let merge = merge.map_or(String::new(), |m| format!(".{}", MERGES[m].name));
            let expect = format!("mbarrier.arrive.expect_tx.shared.b64 %x, [%gate], {size};\n");
            let completed = "mbarrier::complete_tx::bytes";
            let start = match direction {
                Direction::GlobalToShared => {
                    format!("{expect}{opcode}.shared::cluster.global.{completed} {to}, {own}, {size}, [%gate];\n")
                }
                Direction::SharedToGlobal { .. } => {
                    let spaces = "global.shared::cta.bulk_group";
                    let group = "cp.async.bulk.commit_group;\n";
                    match mask {
                        Some(mask) => format!(
                            "mov.b16 %n, {mask};\n{opcode}.{spaces}.cp_mask {own}, {from}, {size}, %n;\n{group}"
                        ),
                        None => format!("{opcode}.{spaces}{merge} {own}, {from}, {size};\n{group}"),
                    }
                }
            };
            format!("fence.proxy.async;\n{start}")
        }
        Copies::Zeros { at, size } => {
            format!("add.u32 %t0, %shared, {at};\nst.bulk.weak.shared::cta [%t0], {size}, 0;\n")
        }
    }
}

fn small(copy: &Small, guard: &str) -> String {
    let Small { from, to, size, global, zeros, .. } = copy;
    let cached = if *global { "cg" } else { "ca" };
    let (before, last) = match zeros {
        Zeros::None => (String::new(), String::new()),
        Zeros::Behind(register) => {
            (format!("and.b32 %t0, %r{register}, {};\nmin.u32 %t0, %t0, {size};\n", 2 * size - 1), ", %t0".to_owned())
        }
        Zeros::If(predicate) => (String::new(), format!(", %p{predicate}")),
    };
    let from = FIRST + from;
    format!("{before}{guard}cp.async.{cached}.shared.global [%shared+{to}], [%own+{from}], {size}{last};\n")
}

/// Waits for the thread's mbarrier object after this.
pub fn wait(label: usize, before: &str) -> String {
    let wait = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [%gate], %turn;";
    format!("{before}L{label}:\n{wait}\n@!%q bra L{label};\nxor.b32 %turn, %turn, 1;\n")
}

/// Waits for them; `label` is a free one.
pub fn finish(what: &Copies, label: usize) -> String {
    match what {
        Copies::Small { wait: Wait::All, .. } => "cp.async.wait_all;\n".to_owned(),
        Copies::Small { copies, wait: Wait::Groups(loads) } => {
            let group = |(i, (copy, to)): (usize, (&Small, &u8))| {
                let load = format!("ld.shared.u32 %r{to}, [%shared+{}];", copy.to);
                format!("cp.async.wait_group {};\n{load}\n", copies.len() - 1 - i)
            };
            copies.iter().zip(loads).enumerate().map(group).collect()
        }
        Copies::Small { wait: Wait::Arrive { noinc }, .. } => {
            self::wait(label, if *noinc { "" } else { "mbarrier.arrive.shared.b64 %x, [%gate];\n" })
        }
        Copies::Bulk { direction: Direction::SharedToGlobal { read }, .. } => {
            let read = if *read { "cp.async.bulk.wait_group.read 0;\n" } else { "" };
            format!("{read}cp.async.bulk.wait_group 0;\n")
        }
        Copies::Bulk { .. } => wait(label, ""),
        Copies::Zeros { .. } => String::new(),
    }
}

/// The thread's bytes afterwards, by space. `register` and `predicate` have the values at the start, `passes` the
/// guards; returns what is loaded into registers.
pub fn run(
    what: &Copies,
    own: &mut [[u8; OWN as usize]; 3],
    register: impl Fn(u8) -> u32,
    predicate: impl Fn(u8) -> bool,
    passes: impl Fn(&Small) -> bool,
) -> Vec<(u8, u32)> {
    let (global, shared) = (Space::Global as usize, Space::Shared as usize);
    match what {
        Copies::Small { copies, wait } => {
            for copy in copies.iter().filter(|c| passes(c)) {
                let given = match copy.zeros {
                    Zeros::None => copy.size,
                    Zeros::Behind(r) => (register(r) & (2 * copy.size - 1)).min(copy.size),
                    Zeros::If(p) => {
                        if predicate(p) {
                            0
                        } else {
                            copy.size
                        }
                    }
                };
                for i in 0..copy.size {
                    let byte = if i < given { own[global][(copy.from + i) as usize] } else { 0 };
                    own[shared][(copy.to + i) as usize] = byte;
                }
            }
            let Wait::Groups(loads) = wait else { return Vec::new() };
            let load = |(copy, to): (&Small, &u8)| (*to, word(&own[shared][copy.to as usize..]));
            return copies.iter().zip(loads).map(load).collect();
        }
        Copies::Bulk { direction, from, to, size, merge, mask } => {
            let (source, sink) = match direction {
                Direction::GlobalToShared => (global, shared),
                Direction::SharedToGlobal { .. } => (shared, global),
            };
            let bytes = own[source][16 * *from as usize..][..*size as usize].to_vec();
            let sink = &mut own[sink][16 * *to as usize..][..*size as usize];
            for (i, (sink, bytes)) in sink.chunks_mut(4).zip(bytes.chunks(4)).enumerate() {
                if let Some(merge) = merge {
                    sink.copy_from_slice(&(MERGES[*merge].meaning)(word(sink), word(bytes)).to_le_bytes());
                } else {
                    // a bit for each of 16 bytes
                    let kept = |j: usize| mask.is_none_or(|m| u32::from(m) >> ((4 * i + j) % 16) & 1 != 0);
                    (0..4).filter(|j| kept(*j)).for_each(|j| sink[j] = bytes[j]);
                }
            }
        }
        Copies::Zeros { at, size } => own[shared][*at as usize..][..*size as usize].fill(0),
    }
    Vec::new()
}

/// Replaces the second half of a thread's shared bytes by those of another thread, or merges them.
pub fn deliver(own: &mut [u8; OWN as usize], sent: &[u8; OWN as usize], merge: Option<usize>) {
    let half = OWN as usize / 2;
    for (to, from) in own[half..].chunks_mut(4).zip(sent[..half].chunks(4)) {
        let value = merge.map_or(word(from), |m| (MERGES[m].meaning)(word(to), word(from)));
        to.copy_from_slice(&value.to_le_bytes());
    }
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
