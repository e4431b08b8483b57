//! Arguments and results of calls, and the frames of recursive ones.

use super::runner::{Masks, Runner};
use crate::fault::{Fault, FaultKind};
use crate::semantics::Done;

use crate::engines::compiled::emitted;
use crate::numerics::lanes::Lanes;
use ptx_dsl_isa::image::{Callee, Frame, Place, Register, Transfer};

/// The lanes of `masks` call a function: reads all arguments, makes the frame, writes all parameters.
pub(super) fn pass_arguments(r: &mut Runner<'_, '_>, callee: &Callee, masks: &Masks) -> Done {
    (r.masks, r.all, r.guarded) = (*masks, false, true);
    written(r, &callee.arguments).for_each(|register| r.rows_for(register));
    r.rows_for(callee.return_address);
    for (k, &m) in masks.iter().enumerate().take(r.n) {
        if m == 0 {
            continue;
        }
        r.enter(k, m);
        r.x.site = callee.arguments.site;
        let values = read(r, &callee.arguments, k)?;
        if let Some(n) = callee.arguments.saves {
            save(r, n, k, m);
        }
        if let Some(frame) = callee.arguments.frame {
            push_frame(r, frame, k, m)?;
        }
        write(r, &callee.arguments, k, &values, m)?;
        r.registers.put(callee.return_address, r.lo + k, &[u64::from(callee.back); 32], m);
    }
    Ok(())
}

/// The lanes of `masks` have come back: reads all results, drops the frame, writes all results.
pub(super) fn give_results(r: &mut Runner<'_, '_>, results: &Transfer, masks: &Masks) -> Done {
    (r.masks, r.all, r.guarded) = (*masks, false, true);
    written(r, results).for_each(|register| r.rows_for(register));
    if let Some(n) = results.saves {
        let image = r.image;
        image.saved[n as usize].iter().for_each(|register| r.rows_for(*register));
    }
    for (k, &m) in masks.iter().enumerate().take(r.n) {
        if m == 0 {
            continue;
        }
        r.enter(k, m);
        r.x.site = results.site;
        let values = read(r, results, k)?;
        if let Some(frame) = results.frame {
            pop_frame(r, frame, k, m);
        }
        if let Some(n) = results.saves {
            restore(r, n, k, m);
        }
        write(r, results, k, &values, m)?;
    }
    Ok(())
}

/// The registers that a transfer writes.
fn written(_: &Runner<'_, '_>, transfer: &Transfer) -> impl Iterator<Item = Register> + use<> {
    let mut all = Vec::new();
    for (_, to) in &transfer.moves {
        if let Place::Registers { list } = to {
            all.extend(list.iter().flatten().copied());
        }
    }
    all.into_iter()
}

/// The frame that variables of a function are relative to.
fn frame(r: &Runner<'_, '_>, k: usize, framed: bool) -> Option<Lanes> {
    framed.then(|| {
        let stacks = r.registers.stacks.get((r.lo + k) * 32..(r.lo + k + 1) * 32).unwrap_or_default();
        std::array::from_fn(|l| stacks.get(l).map_or(0, |s| s.frame))
    })
}

fn read(r: &mut Runner<'_, '_>, transfer: &Transfer, k: usize) -> Result<Vec<Vec<Lanes>>, Box<Fault>> {
    let mut values = Vec::new();
    for (from, _) in &transfer.moves {
        values.push(match from {
            Place::Values { list } => list.iter().map(|s| r.operand(&super::op::operand(s), k)).collect(),
            Place::Variable { at, size, framed } => {
                let frame = frame(r, k, *framed);
                emitted::read_param(r.x, frame.as_ref(), *at, *size)?
            }
            Place::Registers { .. } => Vec::new(),
        });
    }
    Ok(values)
}

fn write(r: &mut Runner<'_, '_>, transfer: &Transfer, k: usize, values: &[Vec<Lanes>], m: u32) -> Done {
    for ((_, to), words) in transfer.moves.iter().zip(values) {
        match to {
            Place::Registers { list } => {
                for (register, v) in list.iter().zip(words) {
                    if let Some(register) = register {
                        r.registers.put(*register, r.lo + k, v, m);
                        if let Some(undefined) = &mut r.registers.undefined {
                            undefined.set(*register, r.lo + k, m, None);
                        }
                    }
                }
            }
            Place::Variable { at, size, framed } => {
                let frame = frame(r, k, *framed);
                emitted::write_param(r.x, frame.as_ref(), *at, *size, words)?;
            }
            Place::Values { .. } => {}
        }
    }
    Ok(())
}

/// The work of a recursive call of one lane, in instructions, besides that of each register of the caller.
const RECURSION: u64 = 16;

/// Saves the caller's registers.
fn save(r: &mut Runner<'_, '_>, saved: u32, k: usize, m: u32) {
    let (image, w) = (r.image, r.lo + k);
    let rows: Vec<Lanes> = image.saved[saved as usize].iter().map(|s| r.registers.lanes(r.leader(k), *s, w)).collect();
    r.x.scheduling.works(u64::from(m.count_ones()) * (RECURSION + 4 * rows.len() as u64));
    for l in active(m) {
        if let Some(stack) = r.registers.stacks.get_mut(w * 32 + l) {
            stack.saved.extend(rows.iter().map(|row| row[l]));
        }
    }
}

fn restore(r: &mut Runner<'_, '_>, saved: u32, k: usize, m: u32) {
    let (image, w) = (r.image, r.lo + k);
    for register in image.saved[saved as usize].iter().rev() {
        let mut row = r.registers.lanes(r.leader(k), *register, w);
        for l in active(m) {
            if let Some(stack) = r.registers.stacks.get_mut(w * 32 + l) {
                row[l] = stack.saved.pop().unwrap_or_default();
            }
        }
        r.registers.put(*register, w, &row, m);
    }
}

/// Gives the callee local memory of its own.
fn push_frame(r: &mut Runner<'_, '_>, frame: Frame, k: usize, m: u32) -> Done {
    let (limit, w) = (r.image.stack, r.lo + k);
    for l in active(m) {
        let Some(stack) = r.registers.stacks.get_mut(w * 32 + l) else { continue };
        stack.saved.push(stack.frame);
        stack.frame = frame.moved + stack.used;
        stack.used += frame.size;
        if stack.used > limit || stack.saved.len() as u64 * 8 > limit {
            return Err(r.x.fault(FaultKind::StackOverflow { bytes: limit }, l as u32));
        }
    }
    Ok(())
}

fn pop_frame(r: &mut Runner<'_, '_>, frame: Frame, k: usize, m: u32) {
    let w = r.lo + k;
    for l in active(m) {
        if let Some(stack) = r.registers.stacks.get_mut(w * 32 + l) {
            stack.frame = stack.saved.pop().unwrap_or_default();
            stack.used = stack.used.saturating_sub(frame.size);
        }
    }
}

fn active(m: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |l| m >> l & 1 != 0)
}
