//! SSA values: the definition and the users of each value, the values that each instruction reads and writes.

use ptx_dsl_isa::hir::RegId;

/// A value: an index into [`Ssa::values`].
pub type Val = u32;

/// The value of a register that was never written.
pub const UNDEF: Val = 0;

/// The origin of a value.
#[derive(Debug)]
pub enum Value {
    /// Undefined.
    Undef,
    /// A `.reg` parameter.
    Param,
    /// Written by an instruction; under a guard the old value may remain.
    Def {
        /// The instruction.
        instr: u32,
        /// The variable that it writes.
        var: u32,
        /// The value that remains if the guard is false.
        old: Option<Val>,
    },
    /// A phi with an argument for each predecessor edge, up to [`MAX_PHI_EDGES`] of them.
    Phi {
        /// The block of the phi.
        block: u32,
        /// The arguments.
        args: Vec<Val>,
    },
}

/// A phi of more edges has each value once.
pub const MAX_PHI_EDGES: usize = 16;

/// The index of the argument for an edge; `None` if each value is there once.
pub fn phi_argument(pred: &[(u32, u32)], edge: (u32, u32)) -> Option<usize> {
    if pred.len() > MAX_PHI_EDGES {
        return None;
    }
    pred.iter().position(|p| *p == edge)
}

/// The values of a function.
pub struct Ssa {
    /// All values, by their numbers.
    pub values: Vec<Value>,
    /// By instruction: the variables and values that it reads and writes.
    pub(super) uses: Vec<(u32, Val)>,
    pub(super) use_at: Vec<(u32, u32)>,
    pub(super) defs: Vec<(u32, Val)>,
    pub(super) def_at: Vec<(u32, u32)>,
    /// First variable of each register (one for each element).
    pub(super) base: Vec<u32>,
    /// Each value's users among the values.
    pub(super) users: Vec<Val>,
    pub(super) user_at: Vec<u32>,
    /// By value: the value after trivial phis.
    pub origin: Vec<Val>,
}

/// The value of a variable in a list.
pub(super) fn of_var(list: &[(u32, Val)], var: u32) -> Option<Val> {
    list.iter().find(|(of, _)| *of == var).map(|(_, v)| *v)
}

impl Ssa {
    /// The variable of an element of a register.
    pub fn var(&self, reg: RegId, lane: u32) -> u32 {
        match self.base.get(reg.0 as usize) {
            Some(b) => b + lane,
            None => u32::MAX,
        }
    }

    /// The register of a variable.
    pub fn register(&self, var: u32) -> Option<u32> {
        (self.base.partition_point(|b| *b <= var) as u32).checked_sub(1)
    }

    /// The variables that an instruction reads, with their values.
    pub fn uses(&self, i: u32) -> &[(u32, Val)] {
        let (a, b) = self.use_at[i as usize];
        &self.uses[a as usize..b as usize]
    }

    /// The variables that an instruction writes, with their values.
    pub fn defs(&self, i: u32) -> &[(u32, Val)] {
        let (a, b) = self.def_at[i as usize];
        &self.defs[a as usize..b as usize]
    }

    /// The value that an instruction reads from a register.
    pub fn read(&self, i: u32, reg: RegId, lane: u32) -> Val {
        of_var(self.uses(i), self.var(reg, lane)).unwrap_or(UNDEF)
    }

    /// Adds the values that a value is computed from.
    pub fn push_sources(&self, v: Val, out: &mut Vec<Val>) {
        self.sources(v, &mut |source| out.push(source));
    }

    /// Adds the values that an instruction reads.
    pub fn push_uses(&self, at: u32, out: &mut Vec<Val>) {
        out.extend(self.uses(at).iter().map(|(_, v)| *v));
    }

    pub(super) fn sources(&self, v: Val, each: &mut dyn FnMut(Val)) {
        match &self.values[v as usize] {
            Value::Undef | Value::Param => {}
            Value::Def { instr, old, .. } => {
                for u in self.uses(*instr) {
                    each(u.1);
                }
                if let Some(o) = old {
                    each(*o);
                }
            }
            Value::Phi { args, .. } => {
                for a in args {
                    each(*a);
                }
            }
        }
    }

    /// The values computed from this one.
    pub fn users(&self, v: Val) -> &[Val] {
        &self.users[self.user_at[v as usize] as usize..self.user_at[v as usize + 1] as usize]
    }

    /// The instruction that made the value, if one did unconditionally.
    pub fn maker(&self, v: Val) -> Option<u32> {
        let o = *self.origin.get(v as usize)?;
        match self.values.get(o as usize)? {
            Value::Def { instr, old: None, .. } => Some(*instr),
            _ => None,
        }
    }
}
