//! Exploration with weak memory, compared with the axioms of the memory consistency model (`ptx-dsl-weak`).
//!
//! The host does not show load buffering. It needs two threads that read before they write, so programs with at most one such thread
//! must have the same outcomes in both.

use crate::{HEAD, one};
use ptx_dsl::Error;
use ptx_dsl::explore::Explored;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::load::{Kernel, Module};
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;
use ptx_dsl_weak::condition::{Condition, Value};
use ptx_dsl_weak::event::{Order, Proxy, Scope};
use ptx_dsl_weak::program::{Access, Arithmetic, Compare, Instruction, Operand, Place, Program, Thread};
use ptx_dsl_weak::{Version, find};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Load(usize, Order, Scope),
    Store(usize, u32, Order, Scope),
    Add(usize, u32, Order, Scope),
    Fence(Order, Scope),
}
use Op::{Add, Fence, Load, Store};

/// A thread: warp `at % 2` of CTA `at / 2` of cluster `at / 4`.
#[derive(Clone, Debug)]
struct Code {
    at: u32,
    ops: Vec<Op>,
}

/// What the loads and additions have read, thread by thread, and the two variables at the end.
type Outcome = Vec<u32>;

const VARIABLES: usize = 2;
const CLUSTERS: u32 = 2;

fn threads(codes: &[(u32, &[Op])]) -> Vec<Code> {
    codes.iter().map(|(at, ops)| Code { at: *at, ops: ops.to_vec() }).collect()
}

fn order(order: Order) -> &'static str {
    match order {
        Order::Weak => "weak",
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::Sc => "sc",
    }
}

fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => "cta",
        Scope::Cluster => "cluster",
        Scope::Gpu => "gpu",
        Scope::Sys => "sys",
    }
}

fn kernel(threads: &[Code]) -> Kernel {
    let mut text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 out)\n\
         .reqntid 64 .reqnctapercluster 2\n{{\n\
         .reg .b32 %c, %t, %v; .reg .pred %p; .reg .b64 %x, %out;\n\
         ld.param.u64 %x, [x]; ld.param.u64 %out, [out]; mov.u32 %c, %ctaid.x; mov.u32 %t, %tid.x;\n\
         mad.lo.u32 %c, %c, 64, %t;\n"
    );
    for thread in threads {
        text += &format!("setp.eq.u32 %p, %c, {}; @%p bra t{};\n", thread.at * 32, thread.at);
    }
    text += "ret;\n";
    let mut at = 0;
    for thread in threads {
        text += &format!("t{}:\n", thread.at);
        for op in &thread.ops {
            match *op {
                Load(v, o, s) => {
                    text += &format!("ld.{}.{}.global.u32 %v, [%x+{}];\n", order(o), scope(s), v * 4);
                }
                Store(v, n, o, s) => {
                    text += &format!("st.{}.{}.global.u32 [%x+{}], {n};\n", order(o), scope(s), v * 4);
                    continue;
                }
                Add(v, n, o, s) => {
                    text += &format!("atom.{}.{}.global.add.u32 %v, [%x+{}], {n};\n", order(o), scope(s), v * 4);
                }
                Fence(o, s) => {
                    text += &format!("fence.{}.{};\n", order(o), scope(s));
                    continue;
                }
            }
            text += &format!("st.global.u32 [%out+{}], %v;\n", at * 4);
            at += 1;
        }
        text += "ret;\n";
    }
    Module::parse(&(text + "}\n")).unwrap().kernel("k").unwrap().clone()
}

fn reads(threads: &[Code]) -> usize {
    threads.iter().flat_map(|thread| &thread.ops).filter(|op| matches!(op, Load(..) | Add(..))).count()
}

fn launch<M>(kernel: &Kernel, reads: usize, host: &Host<M>) -> Result<Outcome, Error> {
    let (mut x, mut out) = (vec![0u32; VARIABLES], vec![0u32; reads.max(1)]);
    kernel.launch_raw(host, Launch::grid(2 * CLUSTERS), &mut [(&mut x).into(), (&mut out).into()])?;
    out.truncate(reads);
    out.extend(x);
    Ok(out)
}

/// All outcomes on the host; `None` if there is a data race.
fn explored(threads: &[Code]) -> Option<BTreeSet<Outcome>> {
    let (kernel, reads) = (kernel(threads), reads(threads));
    let all = Host::checked().explore(1 << 20).exhaustive().weak().run(|host| launch(&kernel, reads, host));
    let all: Explored<Outcome> = match all {
        Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::DataRace(_)) => return None,
        all => all.unwrap(),
    };
    assert!(all.is_complete());
    Some(all.into_iter().collect())
}

/// The same program for the model, with a register for each read.
fn program(threads: &[Code]) -> (Program, Vec<Value>) {
    let mut values = Vec::new();
    let mut model = Program {
        places: (0..VARIABLES).map(|v| Place { name: format!("x{v}"), location: v, address: v }).collect(),
        locations: vec![0; VARIABLES],
        ..Program::default()
    };
    for (t, thread) in threads.iter().enumerate() {
        let (cta, cluster) = (i64::from(thread.at / 2), i64::from(thread.at / 4));
        let mut own = Thread { cta, cluster, ..Thread::default() };
        for op in &thread.ops {
            let register = own.registers.len();
            let access = |order, scope| Access { order, scope: Some(scope), proxy: Proxy::Generic };
            if matches!(op, Load(..) | Add(..)) {
                own.registers.push(None);
                values.push(Value::Register(t, register));
            }
            own.code.push(match *op {
                Load(place, o, s) => Instruction::Load { register, place, access: access(o, s) },
                Store(place, n, o, s) => {
                    Instruction::Store { place, value: Operand::Constant(n.into()), access: access(o, s) }
                }
                Add(place, n, o, s) => Instruction::Atomic {
                    register: Some(register),
                    place,
                    operation: Arithmetic::Add,
                    value: Operand::Constant(n.into()),
                    compare: None,
                    access: access(o, s),
                },
                Fence(order, scope) => Instruction::Fence { order, scope },
            });
        }
        model.threads.push(own);
    }
    values.extend((0..VARIABLES).map(Value::Location));
    (model, values)
}

/// All outcomes that the axioms allow.
fn allowed(threads: &[Code]) -> BTreeSet<Outcome> {
    let (program, values) = program(threads);
    let ops = || threads.iter().flat_map(|thread| &thread.ops);
    // no sum is larger
    let most: u32 = ops().map(|op| if let Store(_, n, ..) | Add(_, n, ..) = op { *n } else { 0 }).sum();
    let is = |at: usize, n: u32| Condition::Compare(Compare::Eq, values[at], Value::Constant(n.into()));
    let mut outcomes = vec![(Vec::new(), Condition::True)];
    for at in 0..values.len() {
        let mut longer = Vec::new();
        for (outcome, condition) in outcomes {
            for n in 0..=most {
                let condition = Condition::And(Box::new(condition.clone()), Box::new(is(at, n)));
                if find(&program, Version::Ptx75, &condition).unwrap().is_some() {
                    longer.push(([&outcome[..], &[n]].concat(), condition));
                }
            }
        }
        outcomes = longer;
    }
    outcomes.into_iter().map(|(outcome, _)| outcome).collect()
}

#[track_caller]
fn agree(threads: &[Code]) -> BTreeSet<Outcome> {
    let (host, model) = (explored(threads).unwrap(), allowed(threads));
    assert_eq!(host, model, "{threads:?}");
    host
}

const R: Order = Order::Relaxed;
const GPU: Scope = Scope::Gpu;

#[test]
fn store_buffering() {
    let program = |fence: Option<Op>| {
        let code = |own, other| [Some(Store(own, 1, R, GPU)), fence, Some(Load(other, R, GPU))];
        let code = |own, other| code(own, other).into_iter().flatten().collect::<Vec<_>>();
        threads(&[(0, &code(0, 1)), (4, &code(1, 0))])
    };
    let both_old = vec![0, 0, 1, 1];
    assert!(agree(&program(None)).contains(&both_old));
    assert!(agree(&program(Some(Fence(Order::AcqRel, GPU)))).contains(&both_old));
    assert!(!agree(&program(Some(Fence(Order::Sc, GPU)))).contains(&both_old));
    // an ordinary exploration has one order of all accesses
    let kernel = kernel(&program(None));
    let all = Host::checked().explore(1000).exhaustive().run(|host| launch(&kernel, 2, host)).unwrap();
    assert!(all.is_complete() && !all.contains(&both_old));
    // a fence of the CTA orders threads of one CTA, not of two
    let narrow = |at| {
        let code = |own, other| [Store(own, 1, R, GPU), Fence(Order::Sc, Scope::Cta), Load(other, R, GPU)];
        threads(&[(0, &code(0, 1)), (at, &code(1, 0))])
    };
    assert!(!agree(&narrow(1)).contains(&both_old));
    assert!(agree(&narrow(2)).contains(&both_old));
}

#[test]
fn coherence_against_the_order_of_execution() {
    let stores = |first, second| [Store(first, 1, R, GPU), Store(second, 2, R, GPU)];
    let outcomes = agree(&threads(&[(0, &stores(0, 1)), (4, &stores(1, 0))]));
    assert!(outcomes.contains(&vec![1, 1]), "2+2W");
    // reads of one place go forward
    let outcomes = agree(&threads(&[(0, &[Store(0, 1, R, GPU)]), (4, &[Load(0, R, GPU), Load(0, R, GPU)])]));
    assert!(!outcomes.contains(&vec![1, 0, 1, 0]), "CoRR");
}

#[test]
fn independent_reads_of_independent_writes() {
    let program = |order| {
        let reads = |a, b| [Load(a, order, GPU), Load(b, order, GPU)];
        threads(&[(0, &[Store(0, 1, R, GPU)]), (2, &[Store(1, 1, R, GPU)]), (4, &reads(0, 1)), (6, &reads(1, 0))])
    };
    for order in [R, Order::Acquire] {
        assert!(agree(&program(order)).contains(&vec![1, 0, 1, 0, 1, 1]));
    }
}

#[test]
fn load_buffering_is_left_out() {
    let code = |from, to| [Load(from, R, GPU), Store(to, 1, R, GPU)];
    let program = threads(&[(0, &code(0, 1)), (4, &code(1, 0))]);
    let (host, mut model) = (explored(&program).unwrap(), allowed(&program));
    assert!(model.remove(&vec![1, 1, 1, 1]));
    assert_eq!(host, model);
}

/// Each of two CTAs raises its flag, and enters if the other flag is down.
fn entering(fence: &str) -> Kernel {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1\n{{\n\
         .reg .b32 %c, %d, %v; .reg .pred %p; .reg .b64 %x, %own, %other;\n\
         ld.param.u64 %x, [x]; mov.u32 %c, %ctaid.x; xor.b32 %d, %c, 1;\n\
         mad.wide.u32 %own, %c, 4, %x; mad.wide.u32 %other, %d, 4, %x;\n\
         st.relaxed.gpu.global.u32 [%own], 1; {fence}\n\
         ld.relaxed.gpu.global.u32 %v, [%other]; setp.ne.u32 %p, %v, 0; @%p bra done;\n\
         atom.relaxed.gpu.global.add.u32 %v, [%x+8], 1; setp.eq.u32 %p, %v, 0; @%p bra done; trap;\ndone: ret;\n}}\n"
    );
    Module::parse(&text).unwrap().kernel("k").unwrap().clone()
}

#[test]
fn a_missing_fence_is_found_and_repeated() {
    let run = |kernel: &Kernel, host: &Host<_>| {
        kernel.launch_raw(host, Launch::grid(2), &mut [(&mut vec![0u32; 3]).into()]).map(|_| ())
    };
    let explore = Host::checked().explore(1000).exhaustive();
    let (without, with) = (entering("fence.acq_rel.gpu;"), entering("fence.sc.gpu;"));
    assert!(explore.run(|host| run(&without, host)).unwrap().is_complete(), "in any order of accesses");
    let weak = explore.weak();
    assert!(weak.run(|host| run(&with, host)).unwrap().is_complete());
    let Err(Error::Fault(fault)) = weak.run(|host| run(&without, host)) else { panic!("both may enter") };
    assert!(matches!(fault.kind, FaultKind::Trap), "{fault}");
    let replay = fault.replay.clone().unwrap();
    let schedule = replay.strip_prefix("`Host::checked().weak().schedule(\"").and_then(|s| s.strip_suffix("\")?`"));
    let host = Host::checked().weak().schedule(schedule.expect(&replay)).unwrap();
    let Err(Error::Fault(again)) = run(&without, &host) else { panic!("the schedule repeats it") };
    assert_eq!((again.kind, again.at), (fault.kind, fault.at));
    // by chance
    let seeds = Host::checked().explore(500).weak().run(|host| run(&without, host));
    assert!(matches!(seeds, Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::Trap)));
    assert_eq!(Host::checked().weak().explore(500).run(|host| run(&with, host)).unwrap().schedules(), 500);
}

/// A fence without `.sem` is `.acq_rel`, and `membar` is `fence.sc` (9.7.13.4).
#[test]
fn fences_without_semantics_have_the_default_of_the_manual() {
    let may_both_enter = |fence: &str| {
        let kernel = entering(fence);
        let run =
            |host: &Host<_>| kernel.launch_raw(host, Launch::grid(2), &mut [(&mut vec![0u32; 3]).into()]).map(|_| ());
        Host::checked().explore(1000).exhaustive().weak().run(run).is_err()
    };
    let fences = ["fence.gpu;", "fence.acq_rel.gpu;", "membar.gl;", "fence.sc.gpu;"];
    assert_eq!(fences.map(may_both_enter), [true, true, false, false]);
}

#[test]
fn loops_end() {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1\n{{\n\
         .reg .b32 %c, %v; .reg .pred %p; .reg .b64 %x; ld.param.u64 %x, [x]; mov.u32 %c, %ctaid.x;\n\
         setp.eq.u32 %p, %c, 0; @%p bra store;\n\
         again: ld.acquire.gpu.global.u32 %v, [%x]; setp.ne.u32 %p, %v, 1; @%p bra again;\n\
         ld.global.u32 %v, [%x+4]; st.global.u32 [%x+8], %v; ret;\n\
         store: st.global.u32 [%x+4], 7; st.release.gpu.global.u32 [%x], 1; ret;\n}}\n"
    );
    let kernel = Module::parse(&text).unwrap().kernel("k").unwrap().clone();
    let all = Host::checked().explore(100).exhaustive().weak().run(|host| {
        let mut x = vec![0u32; 3];
        kernel.launch_raw(host, Launch::grid(2), &mut [(&mut x).into()])?;
        Ok(x)
    });
    let all = all.unwrap();
    assert!(all.is_complete() && all.iter().all(|x| x == &[1, 7, 7]));
}

#[test]
fn random_programs() {
    let mut numbers = Random::new(7);
    let mut random = |n: usize| numbers.below(n);
    // more on demand
    let count = std::env::var("PTX_DSL_WEAK").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let (mut compared, mut racy, mut weak) = (0, 0, 0);
    while compared < count {
        let mut places: Vec<u32> = (0..8).collect();
        let mut read_first = 0;
        let mut program: Vec<Code> = Vec::new();
        for _ in 0..2 + random(2) {
            let at = places.swap_remove(random(places.len()));
            let mut ops: Vec<Op> = Vec::new();
            // most outcomes that need weak memory have two accesses to different places
            let (first, writes) = (random(VARIABLES), random(3));
            for i in 0..1 + random(3) {
                let (v, n) = (if random(4) > 0 { (first + i) % VARIABLES } else { first }, 1 + random(2) as u32);
                let scopes = [Scope::Sys, Scope::Cluster, Scope::Cta];
                let scope = if random(8) > 0 { GPU } else { scopes[random(3)] };
                if random(5) == 0 {
                    ops.push(Fence([Order::AcqRel, Order::Sc][random(2)], scope));
                }
                ops.push(match random(6) {
                    0 => Add(v, n, [R, Order::Acquire, Order::Release, Order::AcqRel][random(4)], scope),
                    1 | 2 if writes > 0 => Store(v, n, [R, Order::Release][random(2)], scope),
                    3 if writes > i => Store(v, n, R, scope),
                    _ => Load(v, [R, Order::Acquire][random(2)], scope),
                });
            }
            let first_read = ops.iter().position(|op| matches!(op, Load(..) | Add(..)));
            let last_write = ops.iter().rposition(|op| matches!(op, Store(..) | Add(..)));
            read_first += usize::from(first_read.zip(last_write).is_some_and(|(read, write)| read < write));
            program.push(Code { at, ops });
        }
        if read_first > 1 || reads(&program) > 4 {
            continue;
        }
        let Some(outcomes) = explored(&program) else {
            racy += 1;
            continue;
        };
        assert_eq!(outcomes, allowed(&program), "{program:?}");
        compared += 1;
        let (kernel, reads) = (kernel(&program), reads(&program));
        let all = Host::checked().explore(1 << 20).exhaustive().run(|host| launch(&kernel, reads, host));
        weak += usize::from(all.unwrap().into_iter().collect::<BTreeSet<_>>() != outcomes);
    }
    assert!(racy > 0 && weak > count / 20, "{racy} with a race, {weak} with outcomes that need weak memory");
}

#[test]
fn endless_loops_of_strong_stores_end() {
    for store in ["atom.global.add.u32 %w, [%x], 1;", "st.relaxed.gpu.global.u32 [%x], %v;"] {
        let kernel = one("", &format!("mov.u32 %v, 0;\nL: add.u32 %v, %v, 1; {store} bra L;"));
        for host in [Host::checked().weak(), Host::checked().weak().seed(1)] {
            let mut x = [0];
            let fault = kernel.launch_raw(&host, Launch::grid(1).block(1), &mut [x.as_mut_slice().into()]).unwrap_err();
            // a turn for each store, with a seed two: by far not those of other hosts
            let FaultKind::StepLimit { turns, .. } = fault.fault().unwrap().kind else { panic!("{fault}") };
            assert!(turns < 2_100_000, "{fault}");
        }
    }
}
