//! A step of a plan: an instruction whose way of running is decided.

use super::super::affine::AffineRule;
use super::super::code::{Instr, Run};
use super::super::memory::{self, Indexed, Products};
use super::super::op::Op;
use super::super::registers::{RegisterKind, Scalar};
use super::super::rows::{Resolved, RowLoops};
use super::super::runner::Runner;
use super::super::value::Value;
use super::scalars::{Computed, How, Scalars};
use crate::fault::Fault;

use ptx_dsl_isa::image::Register;

/// The outcome of an instruction of a plan.
pub(super) enum StepOutcome {
    /// The instruction has run, and its results have the kinds that the plan knows.
    Done,
    /// The instruction has not run.
    Left,
    /// The earlier instructions have run, but this one has not.
    LeftAt(usize),
    /// The instruction has not run, and would better be planned in another way.
    Refused,
    /// The instruction has run, and its results have other kinds.
    Otherwise,
}

/// The planned strategy of an instruction, or of several.
pub(super) enum PlanStep {
    /// Several instructions run once for all lanes.
    Scalars(Scalars),
    /// A loop on rows.
    Rows(Resolved),
    /// A loop on rows in the lanes whose guard holds.
    Guarded(Resolved),
    /// Several loops.
    Loops(RowLoops),
    /// All lanes load the same elements.
    LoadOnce { address: Value },
    /// The lanes access memory at affine addresses.
    Affine { address: Value },
    /// Each lane accesses memory.
    Each,
    /// Each lane accesses memory at an index. After it, registers of addresses that were not made are rows; and for which lanes they
    /// would be made.
    Indexed { indexed: Indexed, fresh: Box<[(Register, bool)]> },
    /// Pairs of loads, and the `fma` of what they load.
    Products(Products),
    /// The instruction is not planned, but its results have these kinds.
    Any { results: Box<[(Register, RegisterKind)]> },
}

/// The operands, if they are scalars.
fn values<const N: usize>(r: &Runner<'_, '_>, op: &Op) -> Option<[Value; N]> {
    let mut values = [Value::constant(Scalar::Uniform(0)); N];
    for (at, o) in op.sources.iter().enumerate() {
        *values.get_mut(at)? = Value::of(r, o)?;
    }
    Some(values)
}

impl PlanStep {
    /// Runs an instruction, and finds how that went.
    pub fn record(r: &mut Runner<'_, '_>, at: usize, instr: &Instr) -> Result<PlanStep, Box<Fault>> {
        let step = match (&instr.op.guard, instr.op.is_watched()) {
            (None, false) => PlanStep::of(r, at, instr),
            (Some(_), false) => PlanStep::guarded(r, instr),
            _ => None,
        };
        r.execute(instr)?;
        let results = instr.op.results.iter().flatten();
        let results: Box<[_]> = results.map(|register| (*register, r.scalar(*register).kind())).collect();
        let step = step.map(|step| step.folded(r, at, instr));
        Ok(match step {
            Some(step) if results.iter().all(|(_, kind)| step.gives() == Some(*kind)) => step,
            _ => PlanStep::Any { results },
        })
    }

    /// The step as a copy of its result, which has run, if that is the same in all of the launch: the load of a kernel parameter.
    fn folded(self, r: &Runner<'_, '_>, at: usize, Instr { op, run }: &Instr) -> PlanStep {
        match (&self, run, &op.results[..]) {
            (PlanStep::LoadOnce { address }, Run::Memory { access, .. }, [Some(result)])
                if address.is_constant()
                    && access.is_of_constants()
                    && r.x.geometry.devices == 1
                    && r.scalar(*result).kind() == RegisterKind::Uniform =>
            {
                let how = How::Copy(Value::constant(r.scalar(*result)));
                PlanStep::computed(r, at, how, &op.results, RegisterKind::Uniform).unwrap_or(self)
            }
            _ => self,
        }
    }

    /// The scalars that one instruction computes. `None` without a first result.
    fn computed(
        r: &Runner<'_, '_>,
        at: usize,
        how: How,
        to: &[Option<Register>],
        kind: RegisterKind,
    ) -> Option<PlanStep> {
        let place = |register: Register| (register, r.registers.slot(register).truncated(u64::MAX));
        let first = place((*to.first()?)?);
        let second = to.get(1).copied().flatten().map_or((0, 0), place);
        Some(PlanStep::Scalars(Scalars::of(Computed { at, how, places: [first, second], kind })))
    }

    /// The kind of the results of the step.
    fn gives(&self) -> Option<RegisterKind> {
        match self {
            PlanStep::Scalars(scalars) => scalars.gives(),
            PlanStep::LoadOnce { .. } => Some(RegisterKind::Uniform),
            PlanStep::Rows(_) | PlanStep::Guarded(_) | PlanStep::Affine { .. } | PlanStep::Each => {
                Some(RegisterKind::Rows)
            }
            PlanStep::Loops(_) | PlanStep::Indexed { .. } | PlanStep::Products(_) | PlanStep::Any { .. } => None,
        }
    }

    /// The step of an instruction with a guard.
    fn guarded(r: &Runner<'_, '_>, Instr { op, run }: &Instr) -> Option<PlanStep> {
        let Run::Lane { rows: Some(function), .. } = run else { return None };
        function.resolve(r, op).map(PlanStep::Guarded)
    }

    /// The strategy of an instruction for the current registers. `None`: no particular one.
    fn of(r: &Runner<'_, '_>, at: usize, Instr { op, run }: &Instr) -> Option<PlanStep> {
        match run {
            Run::Lane { rows: Some(function), rule, .. } => {
                if let (true, Some(sources)) = (r.all, values::<4>(r, op)) {
                    if sources.iter().all(|v| v.kind() == RegisterKind::Uniform) {
                        let sources = sources[..op.sources.len()].into();
                        let how = How::Once { one: function.one(), sources };
                        return PlanStep::computed(r, at, how, &op.results, RegisterKind::Uniform);
                    }
                    if let (Some(rule), [a, b, c, _], [Some(result)]) = (rule, sources, &op.results[..])
                        && let Some(order) = rule.order([a, b, c].map(|v| v.kind()))
                    {
                        let sources = order.map(|at| sources[at]);
                        let (lines, kinds) = (sources.map(|v| v.line(r)), sources.map(|v| v.kind()));
                        if let Some(kind) = r.kind_of_line(*rule, lines, kinds, *result) {
                            let how = match rule {
                                AffineRule::Compare { .. } => {
                                    How::Compare { rule: *rule, sources: [sources[0], sources[1]] }
                                }
                                rule => How::Line { rule: *rule, sources },
                            };
                            return PlanStep::computed(r, at, how, &op.results, kind);
                        }
                    }
                }
                function.resolve(r, op).map(PlanStep::Rows)
            }
            Run::Copy if r.all => {
                let value = Value::of(r, &op.sources[0])?;
                PlanStep::computed(r, at, How::Copy(value), &op.results, value.kind())
            }
            Run::Memory { access, .. } => match Value::of(r, &op.sources[0]) {
                Some(address) => match address.kind() {
                    RegisterKind::Uniform => access.is_once(r.all).then_some(PlanStep::LoadOnce { address }),
                    _ => access.is_in_pieces().then_some(PlanStep::Affine { address }),
                },
                None => access.is_each().then_some(PlanStep::Each),
            },
            _ => None,
        }
    }

    /// Runs instruction `at` of a region, or several from there on. No lane is guarded, before and after it.
    #[inline(always)]
    pub fn run(&self, r: &mut Runner<'_, '_>, body: &[Instr], at: usize) -> Result<StepOutcome, Box<Fault>> {
        let instr = &body[at];
        match self {
            PlanStep::Scalars(scalars) => {
                if let Err(at) = scalars.run(r) {
                    return Ok(StepOutcome::LeftAt(at));
                }
            }
            PlanStep::Rows(resolved) => resolved.run(r),
            PlanStep::Guarded(resolved) => {
                let some = r.guard(&instr.op);
                if some {
                    resolved.run(r);
                }
                r.unguarded();
                if !some && !resolved.fresh().is_empty() {
                    return Ok(StepOutcome::Otherwise);
                }
            }
            PlanStep::Loops(loops) => loops.run(r),
            PlanStep::LoadOnce { address } => {
                let Run::Memory { access, .. } = &instr.run else { return Ok(StepOutcome::Left) };
                if !memory::run_once(r, &instr.op, access, address.uniform(r))? {
                    return Ok(StepOutcome::Left);
                }
            }
            PlanStep::Affine { address } => {
                let Run::Memory { access, compiled, function } = &instr.run else { return Ok(StepOutcome::Left) };
                memory::run_affine(r, &instr.op, access, (compiled, *function), &address.line(r))?;
            }
            PlanStep::Each => {
                let Run::Memory { access, compiled, function } = &instr.run else { return Ok(StepOutcome::Left) };
                memory::run_each(r, &instr.op, access, (compiled, *function))?;
            }
            PlanStep::Indexed { indexed, fresh } => {
                let Run::Memory { access, .. } = &instr.run else { return Ok(StepOutcome::Left) };
                if !indexed.run(r, &instr.op, access) {
                    return Ok(StepOutcome::Refused);
                }
                for (register, all) in fresh {
                    r.all = *all;
                    r.rows_for(*register);
                }
            }
            PlanStep::Products(products) => {
                if !products.run(r, body) {
                    return Ok(StepOutcome::Left);
                }
            }
            PlanStep::Any { results } => {
                r.execute(instr)?;
                r.unguarded();
                if results.iter().any(|(register, kind)| r.scalar(*register).kind() != *kind) {
                    return Ok(StepOutcome::Otherwise);
                }
            }
        }
        Ok(StepOutcome::Done)
    }
}
