//! Instructions that public litmus tests do not have: mbarrier objects, clusters, asynchronous copies, `tcgen05`.

use ptx_dsl_weak::event::{Order, Scope};
use ptx_dsl_weak::program::{Async, Await, Instruction, Program};

use crate::reader::{Names, Result, number, order, scope};

/// The instruction, if it is one of these. Operands are `destination, source, mbarrier object, bytes`, as far as there are such.
pub fn instruction(
    name: &str,
    operands: &[&str],
    thread: usize,
    program: &mut Program,
    names: &mut Names,
) -> Result<Option<Instruction>> {
    let operand = |i: usize| operands.get(i).copied().ok_or_else(|| format!("too few operands of `{name}`"));
    let parts: Vec<_> = name.split('.').collect();
    let default = |order| if order == Order::Weak { None } else { Some(order) };
    let written = default(order(&parts));
    let within = scope(&parts).unwrap_or(Scope::Cta);
    let waits = [
        ("cp.async.wait_all", Await::Copies),
        ("cp.async.bulk.wait_group", Await::BulkGroups),
        ("cp.async.bulk.wait_group.read", Await::BulkGroupsRead),
        ("tcgen05.wait::ld", Await::Tcgen05Loads),
        ("tcgen05.wait::st", Await::Tcgen05Stores),
        ("tcgen05.fence::before_thread_sync", Await::BeforeThreadSync),
        ("tcgen05.fence::after_thread_sync", Await::AfterThreadSync),
    ];
    if let Some(&(_, wait)) = waits.iter().find(|(wait, _)| *wait == name) {
        return Ok(Some(Instruction::Await(wait)));
    }
    let starts = |start: &str| name.starts_with(start);
    Ok(Some(if starts("mbarrier.arrive") {
        let tx = if name.contains("expect_tx") { number(operand(1)?)? } else { 0 };
        let object = names.mbarrier(operand(0)?)?;
        Instruction::Arrive { object, order: written.unwrap_or(Order::Release), scope: within, count: 1, tx }
    } else if starts("mbarrier.expect_tx") {
        let (object, tx) = (names.mbarrier(operand(0)?)?, number(operand(1)?)?);
        Instruction::Arrive { object, order: Order::Relaxed, scope: within, count: 0, tx }
    } else if starts("mbarrier.try_wait") || starts("mbarrier.test_wait") {
        let register = names.register(thread, operand(0)?, program)?;
        let (object, parity) = (names.mbarrier(operand(1)?)?, number(operand(2)?)?);
        Instruction::TryWait { register, object, parity, order: written.unwrap_or(Order::Acquire), scope: within }
    } else if starts("barrier.cluster.arrive") {
        Instruction::ClusterArrive { order: written.unwrap_or(Order::Release), instance: number(operand(0)?)? }
    } else if starts("barrier.cluster.wait") {
        Instruction::ClusterWait { instance: number(operand(0)?)? }
    } else {
        let mut place = |i: usize| operand(i).map(|text| names.place(text, program));
        Instruction::Async(match name {
            "cp.async" => Async::Copy { to: place(0)?, from: place(1)? },
            "cp.async.bulk" => {
                let (to, from) = (place(0)?, place(1)?);
                let object = match operands.get(2) {
                    Some(object) => Some((names.mbarrier(object)?, number(operand(3)?)?)),
                    None => None,
                };
                Async::Bulk { to, from, object }
            }
            "st.async" => {
                let (to, value) = (place(0)?, number(operand(1)?)?);
                Async::Store { to, value, object: (names.mbarrier(operand(2)?)?, number(operand(3)?)?) }
            }
            "clusterlaunchcontrol.try_cancel" => {
                Async::TryCancel { to: place(0)?, object: names.mbarrier(operand(1)?)? }
            }
            "tcgen05.mma" => Async::Mma { to: place(0)?, from: place(1)? },
            "tcgen05.cp" => Async::Tcgen05Copy { to: place(0)?, from: place(1)? },
            "tcgen05.st" => Async::Tcgen05Store { to: place(0)?, value: number(operand(1)?)? },
            "tcgen05.ld" => {
                let from = place(1)?;
                Async::Tcgen05Load { register: names.register(thread, operand(0)?, program)?, from }
            }
            "tcgen05.commit" => Async::Commit { object: names.mbarrier(operand(0)?)? },
            _ => return Ok(None),
        })
    }))
}
