//! Explorations: that an exhaustive one runs each schedule once, what it finds, and how failures are repeated.

use crate::HEAD;
use ptx_dsl::explore::Explored;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::load::{Kernel, Module};
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Fault, Report};
use ptx_dsl_test_support::random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// A step of a small program. Each thread is a CTA of its own.
#[derive(Clone, Copy, Debug)]
enum Op {
    Load(usize),
    Store(usize, u32),
    Add(usize, u32),
}
use Op::{Add, Load, Store};

type Program = Vec<Vec<Op>>;

/// What a program returns: of each thread, what each of its operations has read (0 for a store), and at last the variables.
type Outcome = Vec<u32>;

/// Independent operations, thread and number of each, in layers that depend on each other.
type Layers = Vec<Vec<(usize, usize)>>;

const VARIABLES: usize = 4;

fn kernel(program: &Program) -> Kernel {
    let mut text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 out) .reqntid 1\n{{\n\
         .reg .b32 %c, %v; .reg .pred %p; .reg .b64 %x, %out;\n\
         ld.param.u64 %x, [x]; ld.param.u64 %out, [out]; mov.u32 %c, %ctaid.x;\n"
    );
    for thread in 0..program.len() {
        text += &format!("setp.eq.u32 %p, %c, {thread}; @%p bra t{thread};\n");
    }
    let mut at = 0;
    for (thread, ops) in program.iter().enumerate() {
        text += &format!("t{thread}:\n");
        for op in ops {
            text += &match op {
                Load(v) => format!("ld.relaxed.gpu.global.u32 %v, [%x+{}];", v * 4),
                Store(v, n) => format!("mov.u32 %v, 0; st.relaxed.gpu.global.u32 [%x+{}], {n};", v * 4),
                Add(v, n) => format!("atom.relaxed.gpu.global.add.u32 %v, [%x+{}], {n};", v * 4),
            };
            text += &format!(" st.global.u32 [%out+{}], %v;\n", at * 4);
            at += 1;
        }
        text += "ret;\n";
    }
    Module::parse(&(text + "}\n")).unwrap().kernel("k").unwrap().clone()
}

/// All outcomes of an exhaustive exploration, with the number of schedules that have each.
fn explored(program: &Program) -> BTreeMap<Outcome, usize> {
    let kernel = kernel(program);
    let all = Host::checked().explore(1 << 20).exhaustive().run(|host| {
        let (mut x, mut out) = (vec![0u32; VARIABLES], vec![0u32; program.iter().map(Vec::len).sum()]);
        kernel.launch_raw(host, Launch::grid(program.len() as u32), &mut [(&mut x).into(), (&mut out).into()])?;
        out.extend(x);
        Ok(out)
    });
    let all = all.unwrap();
    assert!(all.is_complete());
    let mut outcomes = BTreeMap::new();
    all.into_iter().for_each(|outcome| *outcomes.entry(outcome).or_default() += 1);
    outcomes
}

/// The same in plain Rust: all interleavings, of which those count once that differ only in the order of independent operations.
fn expected(program: &Program) -> BTreeMap<Outcome, usize> {
    struct Search<'p> {
        program: &'p Program,
        seen: BTreeMap<Outcome, BTreeSet<Layers>>,
    }
    fn dependent(a: Op, b: Op) -> bool {
        let (of, is_load) = (
            |op| match op {
                Load(v) | Store(v, _) | Add(v, _) => v,
            },
            |op| matches!(op, Load(_)),
        );
        of(a) == of(b) && !(is_load(a) && is_load(b))
    }
    impl Search<'_> {
        fn go(
            &mut self,
            at: &mut Vec<usize>,
            x: [u32; VARIABLES],
            read: &mut Vec<Vec<u32>>,
            order: &mut Vec<(usize, usize)>,
        ) {
            let mut ended = true;
            for t in 0..self.program.len() {
                let Some(&op) = self.program[t].get(at[t]) else { continue };
                ended = false;
                let mut next = x;
                read[t].push(match op {
                    Load(v) => x[v],
                    Store(v, n) => {
                        next[v] = n;
                        0
                    }
                    Add(v, n) => {
                        next[v] += n;
                        x[v]
                    }
                });
                order.push((t, at[t]));
                at[t] += 1;
                self.go(at, next, read, order);
                at[t] -= 1;
                order.pop();
                read[t].pop();
            }
            if ended {
                // Foata's normal form: layers of independent operations
                let mut layers: Layers = Vec::new();
                for &(t, i) in order.iter() {
                    let op = self.program[t][i];
                    let behind = layers
                        .iter()
                        .rposition(|layer| layer.iter().any(|&(u, j)| u == t || dependent(self.program[u][j], op)));
                    let layer = behind.map_or(0, |l| l + 1);
                    if layer == layers.len() {
                        layers.push(Vec::new());
                    }
                    layers[layer].push((t, i));
                    layers[layer].sort_unstable();
                }
                let outcome = read.iter().flatten().copied().chain(x).collect();
                self.seen.entry(outcome).or_default().insert(layers);
            }
        }
    }
    let mut search = Search { program, seen: BTreeMap::new() };
    search.go(&mut vec![0; program.len()], [0; VARIABLES], &mut vec![Vec::new(); program.len()], &mut Vec::new());
    search.seen.into_iter().map(|(outcome, orders)| (outcome, orders.len())).collect()
}

#[test]
fn each_order_of_dependent_steps_runs_once() {
    // one writes, n read: 2^n orders
    for n in 1..=5 {
        let mut program = vec![vec![Store(0, 7)]];
        program.extend((0..n).map(|_| vec![Load(0)]));
        let all = explored(&program);
        assert_eq!(all.values().sum::<usize>(), 1 << n, "{n} readers");
        assert_eq!(all, expected(&program));
    }
    // independent threads: one
    assert_eq!(explored(&vec![vec![Store(0, 1), Load(0)], vec![Store(1, 1)], vec![Add(2, 1)]]).len(), 1);
    // random programs
    let mut numbers = Random::new(1);
    let mut random = |n: usize| numbers.below(n);
    for i in 0..150 {
        let program: Program = (0..2 + random(2))
            .map(|_| {
                let op = |random: &mut dyn FnMut(usize) -> usize| {
                    let v = random(2);
                    match random(3) {
                        0 => Load(v),
                        1 => Store(v, 1 + random(3) as u32),
                        _ => Add(v, 1 + random(3) as u32),
                    }
                };
                (0..1 + random(3)).map(|_| op(&mut random)).collect()
            })
            .collect();
        assert_eq!(explored(&program), expected(&program), "program {i}: {program:?}");
    }
}

/// Four warps: a producer of `tiles` tiles over three stages, and three consumers. `wait` is the instruction of the waits.
fn pipeline(tiles: u32, wait: &str, again: &str) -> Kernel {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 sums) .reqntid 128\n{{\n\
         .reg .b32 %t, %w, %l, %i, %s, %ph, %at, %full, %empty, %v, %sum; .reg .pred %p; .reg .b64 %x;\n\
         .shared .align 8 .b64 full[3]; .shared .align 8 .b64 empty[3]; .shared .align 4 .b32 ring[96];\n\
         mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; and.b32 %l, %t, 31; mov.u32 %i, 0; mov.u32 %sum, 0;\n\
         setp.ge.u32 %p, %t, 3; @%p bra made; mov.u32 %full, full; mad.lo.u32 %full, %t, 8, %full;\n\
         mov.u32 %empty, empty; mad.lo.u32 %empty, %t, 8, %empty;\n\
         mbarrier.init.shared.b64 [%full], 32; mbarrier.init.shared.b64 [%empty], 96;\n\
         made: bar.sync 0;\n\
         again: setp.ge.u32 %p, %i, {tiles}; @%p bra done;\n\
         rem.u32 %s, %i, 3; div.u32 %ph, %i, 3; and.b32 %ph, %ph, 1;\n\
         mov.u32 %full, full; mad.lo.u32 %full, %s, 8, %full; mov.u32 %empty, empty; mad.lo.u32 %empty, %s, 8, %empty;\n\
         mov.u32 %at, ring; mad.lo.u32 %at, %s, 128, %at; mad.lo.u32 %at, %l, 4, %at; add.u32 %i, %i, 1;\n\
         setp.ne.u32 %p, %w, 0; @%p bra consume;\n\
         xor.b32 %ph, %ph, 1;\n\
         w1: {wait}.parity.shared.b64 %p, [%empty], %ph; {again}\n\
         add.u32 %v, %i, %l; st.shared.u32 [%at], %v; mbarrier.arrive.shared.b64 _, [%full]; bra again;\n\
         consume:\n\
         w2: {wait}.parity.shared.b64 %p, [%full], %ph; {}\n\
         ld.shared.u32 %v, [%at]; add.u32 %sum, %sum, %v; mbarrier.arrive.shared.b64 _, [%empty]; bra again;\n\
         done: ld.param.u64 %x, [sums]; mad.wide.u32 %x, %t, 4, %x; st.global.u32 [%x], %sum; ret;\n}}\n",
        again.replace("w1", "w2")
    );
    Module::parse(&text).unwrap().kernel("k").unwrap().clone()
}

fn sums<M>(kernel: &Kernel, host: &Host<M>) -> Result<Vec<u32>, Error> {
    let mut sums = vec![0u32; 128];
    kernel.launch_raw(host, Launch::grid(1), &mut [(&mut sums).into()])?;
    Ok(sums)
}

#[test]
fn a_pipeline_is_exhausted() {
    let tiles = 12;
    let expected: Vec<u32> = (0..128).map(|t| if t < 32 { 0 } else { (1..=tiles).map(|i| i + t % 32).sum() }).collect();
    for (wait, again) in [("mbarrier.try_wait", "@!%p bra w1;"), ("mbarrier.test_wait", "@!%p bra w1;")] {
        let kernel = pipeline(tiles, wait, again);
        let all = Host::checked().explore(1000).exhaustive().run(|host| sums(&kernel, host)).unwrap();
        assert!(all.is_complete(), "{wait}");
        assert!(all.schedules() <= 100, "{wait}: {} schedules", all.schedules());
        assert!(all.iter().all(|sums| *sums == expected));
    }
}

#[test]
fn a_wait_that_may_return_false_is_tried_both_ways() {
    let kernel = pipeline(4, "mbarrier.try_wait", "");
    sums(&kernel, &Host::checked()).unwrap();
    let failed = Host::checked().explore(1000).exhaustive().run(|host| sums(&kernel, host)).unwrap_err();
    assert!(matches!(failed.fault().unwrap().kind, FaultKind::DataRace(_)), "{failed}");
}

/// A loop that tries to take a lock, or reads a flag, waits for it.
#[test]
fn polling_loops_wait() {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1\n{{\n\
         .reg .b32 %c, %v; .reg .pred %p; .reg .b64 %x;\n\
         ld.param.u64 %x, [x];\n\
         lock: atom.acquire.gpu.global.cas.b32 %v, [%x], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra lock;\n\
         ld.global.u32 %v, [%x+4]; add.u32 %v, %v, 1; st.global.u32 [%x+4], %v;\n\
         st.release.gpu.global.u32 [%x], 0;\n\
         flag: ld.acquire.gpu.global.u32 %v, [%x+4]; setp.ne.u32 %p, %v, 3; @%p bra flag; ret;\n}}\n"
    );
    // the counter after the lock is read by a strong load too, which races with weak stores: those are made strong
    let text = text.replace("ld.global.u32 %v, [%x+4]", "ld.relaxed.gpu.global.u32 %v, [%x+4]");
    let text = text.replace("st.global.u32 [%x+4]", "st.relaxed.gpu.global.u32 [%x+4]");
    let kernel = Module::parse(&text).unwrap().kernel("k").unwrap().clone();
    let all = Host::checked().explore(10_000).exhaustive().run(|host| {
        let mut x = [0u32; 2];
        kernel.launch_raw(host, Launch::grid(3), &mut [(&mut x).into()])?;
        Ok(x)
    });
    let all = all.unwrap();
    assert!(all.is_complete() && all.iter().all(|x| *x == [0, 3]), "{} schedules", all.schedules());
    // three threads take the lock in one of six orders
    assert!(all.schedules() >= 6, "{}", all.schedules());
    // some runs wait for a lock that is taken, and end there
    assert!(all.runs() > all.schedules() as u64, "{} runs, {} schedules", all.runs(), all.schedules());
}

/// Two threads add 1 without an atomic operation; the last one traps if a sum is lost.
fn lost_update() -> Kernel {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1\n{{\n\
         .reg .b32 %v; .reg .pred %p; .reg .b64 %x;\n\
         ld.param.u64 %x, [x];\n\
         ld.relaxed.gpu.global.u32 %v, [%x]; add.u32 %v, %v, 1; st.relaxed.gpu.global.u32 [%x], %v;\n\
         atom.acq_rel.gpu.global.add.u32 %v, [%x+4], 1; setp.ne.u32 %p, %v, 1; @%p ret;\n\
         ld.relaxed.gpu.global.u32 %v, [%x]; setp.eq.u32 %p, %v, 2; @%p ret; trap;\n}}\n"
    );
    Module::parse(&text).unwrap().kernel("k").unwrap().clone()
}

fn update<M>(kernel: &Kernel, host: &Host<M>) -> Result<(), Error> {
    kernel.launch_raw(host, Launch::grid(2), &mut [(&mut [0u32; 2]).into()]).map(drop)
}

fn fault<T>(explored: Result<Explored<T>, Error>) -> Fault {
    match explored {
        Err(Error::Fault(fault)) => *fault,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("no fault"),
    }
}

#[test]
fn a_found_schedule_is_short_and_can_be_repeated() {
    let kernel = lost_update();
    update(&kernel, &Host::checked()).unwrap();
    let explore = Host::checked().explore(1000);
    let by_all = fault(explore.exhaustive().run(|host| update(&kernel, host)));
    let by_priorities = fault(Host::checked().explore(1000).pct(2).run(|host| update(&kernel, host)));
    for found in [by_all, by_priorities] {
        assert_eq!(found.kind, FaultKind::Trap);
        // one loads, the other one runs to its end, the first one stores and looks
        assert_eq!(found.steps.len(), 3, "{found}");
        let text = ptx_dsl::explore::Schedule::Steps(found.schedule.clone()).to_string();
        assert!(text.len() < 24, "{text}");
        assert!(found.to_string().contains(&format!("`Host::checked().schedule(\"{text}\")?`")), "{found}");
        let Err(Error::Fault(again)) = update(&kernel, &Host::checked().schedule(&text).unwrap()) else {
            panic!("`{text}` does not repeat it")
        };
        assert_eq!((again.kind, again.at, again.steps), (found.kind, found.at, found.steps));
    }
    let wrong = Host::checked().schedule("s1_3.2_fff").unwrap_err().to_string();
    assert!(wrong.contains("`s1_3.2_fff` is not a schedule: its checksum is wrong"), "{wrong}");
}

/// Seeds switch before every operation that other threads can see, on every host.
#[test]
fn seeds_find_a_lost_update() {
    let kernel = lost_update();
    let plain = fault(Host::new().explore(64).run(|host| update(&kernel, host)));
    let checked = fault(Host::checked().explore(64).run(|host| update(&kernel, host)));
    assert_eq!((&plain.kind, &plain.schedule), (&FaultKind::Trap, &checked.schedule), "{plain}\n{checked}");
    let text = ptx_dsl::explore::Schedule::Turns(plain.schedule).to_string();
    assert!(text.starts_with("t3_"), "{text}");
    let again = update(&kernel, &Host::new().schedule(&text).unwrap()).unwrap_err();
    assert_eq!(again.fault().map(|f| &f.kind), Some(&FaultKind::Trap));
    // each seed has the same turns on both hosts
    for seed in 0..16 {
        let run = |of: Result<Report, Error>| of.map_or_else(|e| e.fault().unwrap().schedule.clone(), |r| r.schedule);
        let mut x = [[0u32; 2]; 2];
        let [a, b] = &mut x;
        let one = kernel.launch_raw(&Host::new().seed(seed).record(), Launch::grid(2), &mut [a.into()]);
        let other = kernel.launch_raw(&Host::checked().seed(seed).record(), Launch::grid(2), &mut [b.into()]);
        assert_eq!(run(one), run(other), "seed {seed}");
        assert_eq!(x[0], x[1], "seed {seed}");
    }
}

/// The last CTA to take a ticket adds what the others have stored; `fence` is what it does between the two.
#[test]
fn seeds_find_a_missing_acquire_of_the_last_block() {
    let kernel = |fence: &str| {
        let text = format!(
            "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1\n{{\n\
             .reg .b32 %c, %n, %v, %sum; .reg .pred %p; .reg .b64 %x, %own;\n\
             ld.param.u64 %x, [x]; mov.u32 %c, %ctaid.x; mov.u32 %n, %nctaid.x; sub.u32 %n, %n, 1;\n\
             mad.wide.u32 %own, %c, 4, %x; st.global.u32 [%own+4], 1; membar.gl;\n\
             atom.global.inc.u32 %v, [%x], %n; {fence} setp.ne.u32 %p, %v, %n; @%p ret;\n\
             ld.global.u32 %sum, [%x+4]; ld.global.u32 %v, [%x+8]; add.u32 %sum, %sum, %v; ld.global.u32 %v, [%x+12];\n\
             add.u32 %sum, %sum, %v; st.global.u32 [%x+16], %sum; ret;\n}}\n"
        );
        Module::parse(&text).unwrap().kernel("k").unwrap().clone()
    };
    let run = |kernel: &Kernel, host: &Host<ptx_dsl::Checked>| {
        let mut x = [0u32; 5];
        kernel.launch_raw(host, Launch::grid(3), &mut [(&mut x).into()])?;
        Ok(x[4])
    };
    let (wrong, right) = (kernel(""), kernel("membar.gl;"));
    run(&wrong, &Host::checked()).unwrap();
    let race = fault(Host::checked().explore(64).run(|host| run(&wrong, host)));
    assert!(matches!(race.kind, FaultKind::DataRace(_)), "{race}");
    assert!(Host::checked().explore(64).run(|host| run(&right, host)).unwrap().iter().all(|sum| *sum == 3));
}

/// Each CTA waits for the one before it, by number, which is that of the CTA or a ticket.
fn look_back(number: &str) -> Kernel {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1\n{{\n\
         .reg .b32 %c, %v; .reg .pred %p; .reg .b64 %x, %own;\n\
         ld.param.u64 %x, [x]; {number} mad.wide.u32 %own, %c, 4, %x; mov.u32 %v, 0;\n\
         setp.eq.u32 %p, %c, 0; @%p bra first;\n\
         look: ld.acquire.gpu.global.u32 %v, [%own]; setp.eq.u32 %p, %v, 0; @%p bra look;\n\
         first: add.u32 %v, %v, 1; st.release.gpu.global.u32 [%own+4], %v; ret;\n}}\n"
    );
    Module::parse(&text).unwrap().kernel("k").unwrap().clone()
}

/// The CTAs of a grid may start in any order.
#[test]
fn a_look_back_without_a_ticket_is_found() {
    let without = look_back("mov.u32 %c, %ctaid.x;");
    let with = look_back("atom.relaxed.gpu.global.add.u32 %c, [%x], 1;");
    fn run<M>(kernel: &Kernel, host: &Host<M>) -> Result<u32, Error> {
        let mut x = [0u32; 8];
        kernel.launch_raw(host, Launch::grid(6), &mut [(&mut x).into()])?;
        Ok(x[6])
    }
    let (plain, checked) = (Host::new().resident_clusters(2), Host::checked().resident_clusters(2));
    // in order it ends
    assert_eq!((run(&without, &plain).unwrap(), run(&with, &plain).unwrap()), (6, 6));
    let found = [
        fault(plain.explore(64).run(|host| run(&without, host))),
        fault(checked.explore(64).run(|host| run(&without, host))),
        fault(checked.explore(64).pct(2).run(|host| run(&without, host))),
        fault(checked.explore(1000).exhaustive().run(|host| run(&without, host))),
    ];
    for deadlock in found {
        assert!(matches!(deadlock.kind, FaultKind::Deadlock { .. }), "{deadlock}");
        let text = deadlock.to_string();
        assert!(text.contains("CTAs start in any order") && text.contains(" starts before CTA ("), "{text}");
    }
    // with a ticket it ends in any order
    assert!(plain.explore(64).run(|host| run(&with, host)).unwrap().iter().all(|n| *n == 6));
    assert!(checked.explore(64).pct(3).run(|host| run(&with, host)).unwrap().iter().all(|n| *n == 6));
    let all = checked.explore(2000).exhaustive().run(|host| run(&with, host)).unwrap();
    assert!(all.iter().all(|n| *n == 6), "{} schedules", all.schedules());
    // and without one if they start in order
    let in_order = plain.start_in_order().explore(64).run(|host| run(&without, host));
    assert!(in_order.unwrap().iter().all(|n| *n == 6));
    // all are resident: the order is of no account
    let resident = Host::checked().explore(64).run(|host| run(&without, host));
    assert!(resident.unwrap().iter().all(|n| *n == 6));
}

/// The order in which clusters start is explored where they depend on each other.
#[test]
fn starts_of_independent_clusters_are_one_schedule() {
    let kernel = |at: &str| {
        let text = format!(
            "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1\n{{\n\
             .reg .b32 %c, %v; .reg .b64 %x;\n\
             ld.param.u64 %x, [x]; mov.u32 %c, {at}; mad.wide.u32 %x, %c, 4, %x;\n\
             mov.u32 %v, %ctaid.x; add.u32 %v, %v, 1; atom.relaxed.gpu.global.exch.b32 %v, [%x], %v; ret;\n}}\n"
        );
        Module::parse(&text).unwrap().kernel("k").unwrap().clone()
    };
    let results = |kernel: &Kernel| {
        let host = Host::checked().resident_clusters(1);
        let all = host.explore(100).exhaustive().run(|host| {
            let mut x = [0u32; 4];
            kernel.launch_raw(host, Launch::grid(4), &mut [(&mut x).into()])?;
            Ok(x)
        });
        let all = all.unwrap();
        assert!(all.is_complete());
        all
    };
    assert_eq!(results(&kernel("%ctaid.x")), vec![[1, 2, 3, 4]]);
    // one after the other, in each of the 24 orders: any of them is the last
    let all = results(&kernel("0"));
    let last: BTreeSet<u32> = all.iter().map(|x| x[0]).collect();
    assert_eq!((all.schedules(), last), (24, BTreeSet::from([1, 2, 3, 4])));
}

/// A wait that ends early is a decision of the schedule.
#[test]
fn a_schedule_says_which_wait_returned_false() {
    let kernel = pipeline(4, "mbarrier.try_wait", "");
    let explore = Host::checked().explore(1000);
    let failed = fault(explore.exhaustive().run(|host| sums(&kernel, host)));
    let says = failed.steps.iter().any(|step| {
        step.starts_with("`mbarrier.try_wait") && step.contains("of warp ") && step.ends_with(" returns false")
    });
    assert!(says, "{failed}");
    let seeded = fault(Host::checked().explore(64).run(|host| sums(&kernel, host)));
    assert!(seeded.steps.iter().all(|step| step.ends_with(" returns false")), "{seeded}");
}

#[test]
fn the_message_of_a_failed_test_is_enough() {
    let kernel = lost_update();
    let explore = Host::checked().explore(1000).exhaustive();
    let check = || explore.check(|host| update(&kernel, host));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    for part in [
        "`trap` executed",
        "PTX line",
        "= schedule: warp 0 of CTA (",
        "= then warp 0 of CTA (",
        "from `ld.relaxed.gpu.global.u32 %v, [%x];` (PTX line 8)",
        "Host::checked().schedule(\"s1_",
        "`PTX_DSL_SCHEDULE=s1_",
        " cargo test checked::explore::the_message_of_a_failed_test_is_enough -- --exact`",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// The guarantee of the paper, for bugs of depth 2 and 3: in each run at least 1 / (n k^(d - 1)).
#[test]
fn random_priorities_keep_their_promise() {
    // one counts to 3, the other one reads twice
    let program = vec![vec![Store(0, 1), Store(0, 2), Store(0, 3)], vec![Load(0), Load(0)]];
    let kernel = kernel(&program);
    let runs = 4000;
    let reads = |depth| {
        let all = Host::new().explore(runs).pct(depth).run(|host| {
            let (mut x, mut out) = (vec![0u32; VARIABLES], vec![0u32; 5]);
            kernel.launch_raw(host, Launch::grid(2), &mut [(&mut x).into(), (&mut out).into()])?;
            Ok((out[3], out[4]))
        });
        all.unwrap()
    };
    let (n, k) = (2.0, 5.0);
    let rate =
        |depth, wanted: (u32, u32)| reads(depth).iter().filter(|read| **read == wanted).count() as f64 / runs as f64;
    // both reads between the first and the second store: two orderings
    let two = rate(2, (1, 1));
    assert!(two >= 1.0 / (n * k), "{two}");
    // the first read there, the second at the end: three orderings
    let three = rate(3, (1, 3));
    assert!(three >= 1.0 / (n * k * k), "{three}");
    // which two cannot force
    assert_eq!(rate(1, (1, 1)) + rate(1, (1, 3)), 0.0);
}

/// The seeds and priorities that a process of a shard runs: printed for the next test.
#[test]
#[ignore = "a part of `shards_together_run_everything`"]
fn shard() {
    let counts = super::explore::kernel(&vec![vec![Add(0, 1)]; 2]);
    let seeds = Host::new().explore(40).run(|host| {
        let (mut x, mut out) = (vec![0u32; VARIABLES], vec![0u32; 2]);
        counts.launch_raw(host, Launch::grid(2), &mut [(&mut x).into(), (&mut out).into()])?;
        Ok(format!("{host:?}"))
    });
    let seeds = seeds.unwrap();
    seeds.iter().for_each(|host| println!("shard seeds {host}"));
    let mut nth = 0;
    let program = vec![vec![Store(0, 1), Store(0, 2), Store(0, 3)], vec![Load(0), Load(0)]];
    let kernel = super::explore::kernel(&program);
    let runs = Host::new().explore(40).pct(3).run(|host| {
        let (mut x, mut out) = (vec![0u32; VARIABLES], vec![0u32; 5]);
        kernel.launch_raw(host, Launch::grid(2), &mut [(&mut x).into(), (&mut out).into()])?;
        nth += 1;
        Ok(out)
    });
    runs.unwrap().iter().for_each(|out| println!("shard pct {out:?}"));
    let all = Host::checked().explore(100).exhaustive().run(|_| Ok(()));
    println!("shard all {}", all.unwrap().schedules());
}

#[test]
fn shards_together_run_everything() {
    let lines = |shard: Option<String>| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["checked::explore::shard", "--exact", "--ignored", "--nocapture"]).env_remove("PTX_DSL_SHARD");
        if let Some(shard) = shard {
            command.env("PTX_DSL_SHARD", shard);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let all = text
            .lines()
            .filter(|l| l.starts_with("shard ") && !l.ends_with("all 0"))
            .map(str::to_owned)
            .collect::<Vec<_>>();
        (output.status.success(), all)
    };
    let (ok, mut whole) = lines(None);
    assert!(ok && whole.len() == 81, "{whole:?}");
    let mut parts = Vec::new();
    for k in 1..=8 {
        let (ok, part) = lines(Some(format!("{k}/8")));
        assert!(ok && (10..=11).contains(&part.len()), "{part:?}");
        parts.extend(part);
    }
    whole.sort();
    parts.sort();
    assert_eq!(whole, parts);
    assert!(!lines(Some("9/8".into())).0);
}

/// Tables 47 and 48 of the manual: whether `tcgen05.dealloc` waits for the peer CTA is open.
#[test]
fn table_47_is_clean_and_table_48_hangs() {
    let table = |odd: &str| {
        let text = format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n\
             .visible .entry k() .reqntid 32 .reqnctapercluster 2\n{{\n\
             .reg .pred %odd; .reg .b32 %t, %rank; .shared .align 4 .b32 tensor;\n\
             tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tensor], 32; ld.shared.b32 %t, [tensor];\n\
             mov.u32 %rank, %cluster_ctarank; setp.eq.u32 %odd, %rank, 1; @%odd bra odd;\n\
             barrier.cluster.arrive; barrier.cluster.wait;\n\
             tcgen05.dealloc.cta_group::2.sync.aligned.b32 %t, 32; exit;\n\
             odd: {odd} exit;\n}}\n"
        );
        let allowed =
            ptx_dsl::load::Options::new().level(ptx_dsl::load::Level::Allow, ptx_dsl::load::Selector::Code(608));
        allowed.parse(&text).unwrap().kernel("k").unwrap().clone()
    };
    let dealloc = "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %t, 32;";
    let meet = "barrier.cluster.arrive; barrier.cluster.wait;";
    let (right, wrong) = (table(&format!("{meet} {dealloc}")), table(&format!("{dealloc} {meet}")));
    let pair = || Launch::grid(2);
    let all = Host::checked().explore(1000).exhaustive().run(|host| right.launch_raw(host, pair(), &mut []));
    let all = all.unwrap();
    assert!(all.is_complete() && all.schedules() > 1, "{}", all.schedules());
    let hang = fault(Host::checked().explore(2).exhaustive().run(|host| wrong.launch_raw(host, pair(), &mut [])));
    assert!(matches!(hang.kind, FaultKind::Deadlock { .. }), "{hang}");
    // and it does not always hang
    wrong.launch_raw(&Host::new(), pair(), &mut []).unwrap();
}

/// A ring of bulk copies: a copy is a process of its own, which completes at any time.
fn copies(wait: &str) -> Kernel {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 16 x, .param .u64 .ptr .global .align 4 y) .reqntid 64\n{{\n\
         .reg .b32 %t, %i, %v, %sum, %ph; .reg .pred %p, %q; .reg .b64 %x, %y, %g;\n\
         .shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 16 .b32 tile[32];\n\
         mov.u32 %t, %tid.x; ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %i, 0; mov.u32 %sum, 0;\n\
         setp.ne.u32 %p, %t, 0; @%p bra made;\n\
         mbarrier.init.shared.b64 [full], 1; mbarrier.init.shared.b64 [empty], 32; fence.proxy.async.shared::cta;\n\
         made: bar.sync 0; setp.ge.u32 %p, %t, 32; @%p bra consumer;\n\
         setp.ne.u32 %p, %t, 0; @%p bra done;\n\
         produce: and.b32 %ph, %i, 1; xor.b32 %ph, %ph, 1;\n\
         we: mbarrier.try_wait.parity.shared.b64 %q, [empty], %ph; @!%q bra we;\n\
         mbarrier.arrive.expect_tx.shared.b64 _, [full], 128;\n\
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%x], 128, [full];\n\
         add.u64 %x, %x, 128; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3; @%p bra produce; bra done;\n\
         consumer: mul.wide.u32 %g, %t, 4; add.u64 %y, %y, %g; sub.u32 %t, %t, 32; shl.b32 %t, %t, 2;\n\
         mov.u32 %v, tile; add.u32 %t, %t, %v;\n\
         consume: and.b32 %ph, %i, 1;\n\
         wf: {wait}\n\
         ld.shared.u32 %v, [%t]; add.u32 %sum, %sum, %v; fence.proxy.async.shared::cta;\n\
         mbarrier.arrive.shared.b64 _, [empty];\n\
         add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3; @%p bra consume; st.global.u32 [%y], %sum;\n\
         done: ret;\n}}\n"
    );
    Module::parse(&text).unwrap().kernel("k").unwrap().clone()
}

#[test]
fn asynchronous_copies_complete_in_all_orders() {
    let x: Vec<u32> = (0..96).collect();
    let run = |kernel: &Kernel, host: &Host<ptx_dsl::Checked>| {
        let mut y = vec![0u32; 64];
        kernel.launch_raw(host, Launch::grid(1), &mut [(&x).into(), (&mut y).into()])?;
        Ok(y[32..].to_vec())
    };
    let right = copies("mbarrier.try_wait.parity.shared.b64 %q, [full], %ph; @!%q bra wf;");
    let all = Host::checked().explore(1000).exhaustive().run(|host| run(&right, host)).unwrap();
    let expected: Vec<u32> = (0..32).map(|l| x[l] + x[32 + l] + x[64 + l]).collect();
    assert!(all.is_complete() && all.iter().all(|y| *y == expected), "{}", all.schedules());
    // a test without a loop
    let wrong = copies("mbarrier.test_wait.parity.shared.b64 %q, [full], %ph;");
    fault(Host::checked().explore(1000).exhaustive().run(|host| run(&wrong, host)));
}

/// A missing barrier between a store and a load of other warps: schedules of the plain host run each of them before the other.
#[test]
fn warps_of_a_cohort_run_in_any_order() {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 128\n{{\n\
         .reg .b32 %t, %a, %v; .reg .b64 %x; .shared .align 4 .b8 s[512];\n\
         ld.param.u64 %x, [x]; mov.u32 %t, %tid.x; mov.u32 %a, s; mad.lo.u32 %a, %t, 4, %a; st.shared.u32 [%a], 1;\n\
         mov.u32 %a, s; xor.b32 %v, %t, 32; mad.lo.u32 %a, %v, 4, %a; ld.shared.u32 %v, [%a];\n\
         mad.wide.u32 %x, %t, 4, %x; st.global.u32 [%x], %v; ret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    // by warp: has it read what the other warp of its pair has not stored yet?
    let mut early = [false; 4];
    for seed in 0..32 {
        let mut x = [7u32; 128];
        let host = Host::new().seed(seed);
        module.kernel("k").unwrap().launch_raw(&host, Launch::grid(1), &mut [(&mut x).into()]).unwrap();
        early.iter_mut().enumerate().for_each(|(w, early)| *early |= x[w * 32] == 0);
    }
    assert_eq!(early, [true; 4]);
}
