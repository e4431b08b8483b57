//! Visitors of operands: the one place that knows which operands contain others.

use crate::isa::operand::Role;
use crate::meaning::access;
use crate::written::{Arg, Base, Operand, RegId, Written};

impl Operand {
    /// Calls `each` with this operand and with all operands that it contains, the whole before its parts.
    pub fn visit(&self, each: &mut dyn FnMut(&Operand)) {
        each(self);
        match self {
            Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
                list.iter().for_each(|part| part.visit(each));
            }
            Operand::Pair(a, b) => {
                a.visit(each);
                b.visit(each);
            }
            Operand::Neg(a) => a.visit(each),
            Operand::Reg(..)
            | Operand::Imm(_)
            | Operand::Rust(_)
            | Operand::Sreg(_)
            | Operand::VarAddr(..)
            | Operand::FuncAddr(_)
            | Operand::Sink
            | Operand::NotReg(_)
            | Operand::Address(..)
            | Operand::Label(_)
            | Operand::Labels(_)
            | Operand::Func(_)
            | Operand::Funcs(_)
            | Operand::Select(..) => {}
        }
    }

    /// The leaves of the operand, in order; the operand itself if it contains no others.
    pub fn parts(&self) -> Vec<&Operand> {
        match self {
            Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
                list.iter().flat_map(Operand::parts).collect()
            }
            Operand::Pair(a, b) => [a.parts(), b.parts()].concat(),
            Operand::Neg(a) => a.parts(),
            single => vec![single],
        }
    }

    /// As [`Operand::visit`], mutably. Operands that `each` puts in place are visited too.
    pub fn visit_mut(&mut self, each: &mut dyn FnMut(&mut Operand)) {
        each(self);
        match self {
            Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
                list.iter_mut().for_each(|part| part.visit_mut(each));
            }
            Operand::Pair(a, b) => {
                a.visit_mut(each);
                b.visit_mut(each);
            }
            Operand::Neg(a) => a.visit_mut(each),
            _ => {}
        }
    }

    /// The register that the operand itself names, with its element; [`Operand::registers`] also visits its parts.
    pub fn register(&self) -> Option<(RegId, u32)> {
        match self {
            Operand::Reg(r, element) => Some((*r, *element)),
            Operand::NotReg(r) | Operand::Select(r, _) | Operand::Address(Base::Reg(r), _) => Some((*r, 0)),
            _ => None,
        }
    }

    /// As [`Operand::register`], mutably.
    pub fn register_mut(&mut self) -> Option<&mut RegId> {
        match self {
            Operand::Reg(r, _) | Operand::NotReg(r) | Operand::Select(r, _) | Operand::Address(Base::Reg(r), _) => {
                Some(r)
            }
            _ => None,
        }
    }

    /// Calls `each` with every register of the operand, each with its element.
    pub fn registers(&self, each: &mut dyn FnMut(RegId, u32)) {
        self.visit(&mut |operand| {
            if let Some((r, element)) = operand.register() {
                each(r, element);
            }
        });
    }
}

impl Arg {
    /// Does the instruction write the operand?
    pub fn written(&self) -> bool {
        self.role == Role::Dst
    }
}

impl Written {
    /// The value of the operand of this name in the syntax block.
    pub fn value(&self, name: &str) -> Option<&Operand> {
        self.operand(name).map(|arg| &arg.value)
    }

    /// How many elements it moves: 1 without `.v2`, `.v4` or `.v8`.
    pub fn elements(&self) -> u32 {
        access::elements(|word| self.has(word))
    }

    /// The bytes that a plain access moves: the size of its last type times the number of elements.
    pub fn bytes(&self) -> u64 {
        self.types.last().map_or(0, |ty| u64::from(ty.bytes() * self.elements()))
    }

    /// The operand of this name, if it is a constant.
    pub fn constant(&self, name: &str) -> Option<u64> {
        match self.value(name) {
            Some(Operand::Imm(n)) => Some(*n),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::VarId;

    #[test]
    fn every_register_is_found_once() {
        let reg = |n| Operand::Reg(RegId(n), 0);
        let parts =
            vec![reg(1), Operand::Neg(Box::new(reg(2))), Operand::Address(Base::Reg(RegId(3)), 8), Operand::Sink];
        let pair = Operand::Pair(Box::new(Operand::Vector(parts)), Box::new(Operand::NotReg(RegId(4))));
        let mut operand =
            Operand::List(vec![pair, Operand::Address(Base::Var(VarId(9)), 0), Operand::Select(RegId(5), "b0".into())]);
        let mut found = Vec::new();
        operand.registers(&mut |r, _| found.push(r.0));
        assert_eq!(found, [1, 2, 3, 4, 5]);
        let parts: Vec<_> = operand.parts().into_iter().map(Operand::register).collect();
        assert_eq!(parts, [Some(1), Some(2), Some(3), None, Some(4), None, Some(5)].map(|r| r.map(|r| (RegId(r), 0))));
        operand.visit_mut(&mut |operand| {
            if let Some(r) = operand.register_mut() {
                r.0 += 10;
            }
        });
        found.clear();
        operand.registers(&mut |r, _| found.push(r.0));
        assert_eq!(found, [11, 12, 13, 14, 15]);
    }
}
