//! Addresses of the first warp of a CTA, by interpretation: `%tid` and `%laneid` are known, and what all lanes share but the text does
//! not say (parameters, `%ctaid`, loaded values) is a sample. What holds for every sample hardly depends on the values of a launch.

use crate::affine::sreg;
use crate::cfg::NONE;
use crate::flow::Flow;
use crate::fold::fold;
use crate::induction::Thread;
use crate::lanes::{Lanes, Uniformity};
use crate::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Arg, Base, Operand};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, special};
use ptx_dsl_isa::ty::Class;

/// A number for each lane of the warp.
pub type Row = [u64; 32];

/// The number of samples.
pub const SAMPLES: usize = 3;
/// Limits of one evaluation: values, and depth of recursion.
const BUDGET: u32 = 20_000;
const DEPTH: u32 = 100;
/// Pointers and variables are aligned to this.
const ALIGNED: u64 = 256;

/// The values of the first warp for one sample of what is not known.
pub struct FirstWarp<'a, 'h> {
    flow: &'a Flow<'h>,
    lanes: &'a Lanes,
    /// The shape of the CTA.
    shape: Option<[u32; 3]>,
    sample: usize,
    /// By value: its numbers, once they were asked for.
    known: Vec<Option<Option<Row>>>,
    budget: u32,
}

impl<'a, 'h> FirstWarp<'a, 'h> {
    /// For one of the [`SAMPLES`]. `None` if the shape of the CTA decides about lanes and is not known.
    pub fn new(flow: &'a Flow<'h>, lanes: &'a Lanes, sample: usize) -> Option<FirstWarp<'a, 'h>> {
        let of_rows = |o: &Operand| matches!(o, Operand::Sreg(special::tid | special::tid_y | special::tid_z));
        let shape = flow.function.reqntid;
        if shape.is_none() && flow.cfg.any(&|i| i.operands.iter().any(|a| of_rows(&a.value))) {
            return None;
        }
        let known = vec![None; flow.ssa.values.len()];
        Some(FirstWarp { flow, lanes, shape, sample, known, budget: BUDGET })
    }

    /// The lanes of the warp that exist.
    pub fn existing(&self) -> u32 {
        let threads = self.shape.map_or(32, |[x, y, z]| u64::from(x) * u64::from(y) * u64::from(z));
        if threads >= 32 { u32::MAX } else { (1 << threads) - 1 }
    }

    /// The lanes that execute an instruction of a block that does not diverge. `None` if that is not known.
    pub fn executing(&mut self, block: u32, at: u32) -> Option<u32> {
        if self.lanes.divergent[block as usize] {
            return None;
        }
        let Some((guard, positive)) = self.flow.guard(at) else { return Some(self.existing()) };
        if self.lanes.uniformity(guard) >= Uniformity::Warp {
            return Some(self.existing());
        }
        let row = self.value(guard, 0)?;
        let holds = |lane: &usize| (row[*lane] & 1 != 0) == positive;
        Some((0..32).filter(holds).fold(0, |mask, lane| mask | 1 << lane) & self.existing())
    }

    /// The addresses of an operand.
    pub fn addresses(&mut self, at: u32, arg: &Arg) -> Option<Row> {
        match &arg.value {
            Operand::Address(Base::Var(v), offset) => Some([self.variable(v.0).wrapping_add_signed(*offset); 32]),
            Operand::Address(Base::Reg(r), offset) => {
                let v = self.flow.ssa.read(at, *r, 0);
                Some(self.value(v, 0)?.map(|address| address.wrapping_add_signed(*offset)))
            }
            _ => None,
        }
    }

    /// The address of a variable, in this sample.
    fn variable(&self, var: u32) -> u64 {
        ALIGNED * (1 + 64 * u64::from(var) + self.sample as u64)
    }

    fn value(&mut self, v: Val, depth: u32) -> Option<Row> {
        let v = self.flow.origin(v);
        if let Some(known) = self.known.get(v as usize)? {
            return *known;
        }
        self.budget = self.budget.checked_sub(1)?;
        if depth > DEPTH {
            return None;
        }
        // A cycle has no number.
        self.known[v as usize] = Some(None);
        let row = self.computed(v, depth).or_else(|| self.shared(v));
        self.known[v as usize] = Some(row);
        row
    }

    /// The numbers of a value that the text decides.
    fn computed(&mut self, v: Val, depth: u32) -> Option<Row> {
        let flow = self.flow;
        match &flow.ssa.values[v as usize] {
            Value::Undef | Value::Param => None,
            // In its first iteration a loop has the values from before it.
            Value::Phi { block, args } => {
                let edges = &flow.cfg.blocks[*block as usize].pred;
                if args.len() != edges.len() {
                    return None;
                }
                let enters = |from: u32| !flow.cfg.dominates(*block, from);
                let mut first = edges.iter().zip(args).filter(|((from, _), _)| enters(*from)).map(|(_, arg)| *arg);
                let (one, more) = (first.next()?, first.next());
                if more.is_none() { self.value(one, depth + 1) } else { None }
            }
            Value::Def { old: Some(_), .. } => None,
            Value::Def { instr, var, old: None } => {
                let i = flow.instr(*instr);
                match &i.operands.first()?.value {
                    Operand::Reg(r, lane) if flow.ssa.var(*r, *lane) == *var => {}
                    _ => return None,
                }
                // The operands first: `fold` asks for them lane by lane.
                let mut sources: Vec<(&Operand, Row)> = Vec::with_capacity(i.operands.len());
                for a in i.operands.get(1..)? {
                    sources.push((&a.value, self.operand(*instr, &a.value, depth)?));
                }
                let mut row = [0; 32];
                for (lane, out) in row.iter_mut().enumerate() {
                    let mut get = |o: &Operand| sources.iter().find(|(of, _)| std::ptr::eq(*of, o)).map(|s| s.1[lane]);
                    *out = fold(i, &mut get)?;
                }
                Some(row)
            }
        }
    }

    fn operand(&mut self, at: u32, o: &Operand, depth: u32) -> Option<Row> {
        match o {
            Operand::Reg(r, lane) => {
                let v = self.flow.ssa.read(at, *r, *lane);
                self.value(v, depth + 1)
            }
            Operand::NotReg(r) => {
                let v = self.flow.ssa.read(at, *r, 0);
                Some(self.value(v, depth + 1)?.map(|bit| bit ^ 1))
            }
            Operand::Imm(n) => Some([*n; 32]),
            Operand::VarAddr(v, offset) => Some([self.variable(v.0).wrapping_add_signed(*offset); 32]),
            Operand::Sreg(register) => self.special(*register),
            _ => None,
        }
    }

    /// The value of a special register in each lane.
    fn special(&self, register: SpecialRegister) -> Option<Row> {
        // Without a shape the rows of threads are not shorter than a warp.
        let shape = self.shape.unwrap_or([1024, 1, 1]);
        let decided = |number: usize| match register {
            special::ntid_x | special::ntid_y | special::ntid_z if self.shape.is_none() => None,
            _ => Thread { number, shape: Some(shape) }.special(register),
        };
        let mut row = [0; 32];
        for (lane, out) in row.iter_mut().enumerate() {
            *out = match (decided(lane), register) {
                (Some(value), _) => value,
                (None, special::ntid_x | special::ntid_y | special::ntid_z) => 1 << (5 + self.sample),
                (None, special::warpid) => 0,
                (None, _) if sreg::affine(self.shape, register).is_uniform() => self.number(u64::from(NONE)),
                (None, _) => return None,
            };
        }
        Some(row)
    }

    /// The sample of a value that all lanes share.
    fn shared(&self, v: Val) -> Option<Row> {
        if self.lanes.uniformity(v) < Uniformity::Warp {
            return None;
        }
        let Value::Def { instr, .. } = &self.flow.ssa.values[v as usize] else {
            return Some([self.number(u64::from(v)); 32]);
        };
        let ty = self.flow.instr(*instr).types.last();
        let wide = ty.is_some_and(|ty| ty.bits() == 64 && ty.class() != Class::Float);
        let number = self.number(u64::from(v));
        // What has 64 bits may be an address.
        Some([if wide { ALIGNED * number } else { number }; 32])
    }

    /// A number that is 1 in the first sample and odd in the others, so that a stride that a launch chooses causes no finding.
    fn number(&self, of: u64) -> u64 {
        match self.sample {
            0 => 1,
            n => 2 * (of % 5 + n as u64) + 1,
        }
    }
}
