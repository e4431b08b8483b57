//! A sparse solver: a worklist over SSA values, which evaluates a value again when one of its sources has changed.

use crate::ssa::values::{Ssa, UNDEF, Val, Value};

impl Ssa {
    /// Solves for a fact about each value, from `bottom` upwards. `None` if the facts keep growing.
    pub fn solve<T: Copy + PartialEq>(
        &self,
        bottom: T,
        eval: &mut dyn FnMut(Val, &Value, &[T]) -> T,
    ) -> Option<Vec<T>> {
        let mut facts = vec![bottom; self.values.len()];
        let mut again = |v: Val| {
            let new = eval(v, &self.values[v as usize], &facts);
            let changed = new != facts[v as usize];
            facts[v as usize] = new;
            changed
        };
        self.run_worklist(&mut again).then_some(facts)
    }

    /// Evaluates all values, and the users of those that change again. `false` if that takes too long.
    fn run_worklist(&self, again: &mut dyn FnMut(Val) -> bool) -> bool {
        let n = self.values.len();
        let mut queued = vec![true; n];
        let mut now: Vec<Val> = (0..n as Val).collect();
        let mut next = Vec::new();
        let mut budget = n * 16 + 1000;
        while !now.is_empty() {
            for &v in &now {
                queued[v as usize] = false;
                if budget == 0 {
                    return false;
                }
                budget -= 1;
                if !again(v) {
                    continue;
                }
                for &u in self.users(v) {
                    if !queued[u as usize] {
                        queued[u as usize] = true;
                        next.push(u);
                    }
                }
            }
            now.clear();
            std::mem::swap(&mut now, &mut next);
        }
        true
    }

    /// Finds the value after trivial phis.
    pub fn origins(&mut self) {
        const BOTTOM: Val = Val::MAX;
        let found = self.solve(BOTTOM, &mut |v, value, facts| {
            let Value::Phi { args, .. } = value else { return v };
            let mut one = BOTTOM;
            for a in args {
                let o = facts[*a as usize];
                if o == BOTTOM || o == v {
                    continue;
                }
                if one != BOTTOM && one != o {
                    return v;
                }
                one = o;
            }
            one
        });
        let n = self.values.len();
        let mut origin = match found {
            Some(found) => found,
            None => vec![BOTTOM; n],
        };
        for (v, o) in origin.iter_mut().enumerate() {
            if *o == BOTTOM {
                *o = v as Val;
            }
        }
        self.origin = origin;
    }

    /// By value: does some path leave it unwritten?
    pub fn maybe_undefined(&self) -> Vec<bool> {
        let found = self.solve(false, &mut |v, value, facts| match value {
            Value::Undef => v == UNDEF,
            Value::Param => false,
            Value::Phi { args, .. } => {
                let mut any = false;
                for a in args {
                    any |= facts[*a as usize];
                }
                any
            }
            Value::Def { old, .. } => matches!(old, Some(o) if facts[*o as usize]),
        });
        found.unwrap_or_default()
    }
}
