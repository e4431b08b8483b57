//! Operands as the table describes them: a register of the right type for each, and vectors.

use ptx_dsl_frontend::isa::syntax::{Form, OpForm, Shape, is_type};
use ptx_dsl_frontend::isa::{Instr, OpTy, OperandSpec, Role};
use ptx_dsl_frontend::qualifier::Qualifier;
use ptx_dsl_frontend::ty::Ty;

use super::statement::Node;

/// Coordinates (so many of them integers whatever the type) and axes by geometry: PTX ISA 9.7.10.3.
const GEOMETRIES: &[(&str, usize, usize, usize)] = &[
    ("1d", 1, 0, 1),
    ("2d", 2, 0, 2),
    ("3d", 4, 0, 4),
    ("a1d", 2, 1, 1),
    ("a2d", 4, 1, 2),
    ("cube", 4, 0, 4),
    ("acube", 4, 1, 4),
    ("2dms", 4, 1, 2),
    ("a2dms", 4, 2, 2),
];

/// A register of the type, or an untyped one of its width.
fn register(ty: Ty, number: usize) -> Node {
    let (letter, count) = match (ty, ty.bits()) {
        (Ty::Pred, _) => ('p', 9),
        (Ty::F32, _) => ('f', 140),
        (Ty::F64, _) => ('e', 60),
        (Ty::Texref, _) => return Node::word("tex"),
        (Ty::Samplerref, _) => return Node::word("smp"),
        (Ty::Surfref, _) => return Node::word("srf"),
        (_, 8) => ('c', 9),
        (_, 16) => ('h', 40),
        (_, 64) => ('d', 60),
        (_, 128) => ('q', 9),
        _ => ('r', 300),
    };
    Node::word(format!("%{letter}{}", number % count))
}

/// Writes the operands of a form with these qualifiers.
pub struct Writer<'a> {
    pub family: &'static str,
    pub entry: &'static Instr,
    pub form: &'a Form,
    /// By slot; empty if nothing is written.
    pub words: &'a [String],
    /// The written ones, with their dots.
    pub quals: &'a [Qualifier],
    /// Optional parts of addresses are written too.
    pub inner: bool,
    pub next: usize,
}

impl Writer<'_> {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }

    /// The type written for a slot: by its name; otherwise types count in order, and a literal type is `.type`.
    fn slot(&self, name: &str) -> Ty {
        let slots = &self.form.slots;
        let at = |i: usize| Ty::from_name(&self.words[i]);
        if let Some(i) = slots.iter().position(|s| s.name == name) {
            return at(i).unwrap_or(Ty::B32);
        }
        let types: Vec<usize> = (0..slots.len()).filter(|i| slots[*i].is_type).collect();
        let literal = types.iter().find(|i| slots[**i].alts.len() == 1 && slots[**i].name == slots[**i].alts[0].text());
        let found = match name {
            ".type" => literal.or(types.first()),
            ".dtype" => types.first(),
            ".atype" | ".stype" | ".ctype" => types.get(1).or(types.first()),
            ".btype" => types.get(2).or(types.last()),
            _ => return self.words.iter().find(|w| is_type(w)).and_then(|w| Ty::from_name(w)).unwrap_or(Ty::B32),
        };
        found.and_then(|i| at(*i)).unwrap_or(Ty::B32)
    }

    fn one(&mut self, ty: Ty) -> Node {
        self.next += 1;
        register(ty, self.next)
    }

    fn some(&mut self, ty: Ty, count: usize) -> Vec<Node> {
        (0..count).map(|_| self.one(ty)).collect()
    }

    fn constant(&self, name: &str, spec: &OperandSpec) -> Node {
        let fixed = match name {
            "cp-size" | "immAlign" => 16,
            "nCols" => 64,
            "scale-input-d" => 3,
            "immHalfSplitoff" => 8,
            "f" => 0,
            _ => spec.range.map_or(1, |r| r.0),
        };
        Node::word(fixed.to_string())
    }

    fn value(&mut self, name: &str) -> Node {
        let Some(spec) = self.entry.operands.iter().find(|o| o.name == name) else { return self.one(Ty::B32) };
        match spec.role {
            Role::Name => return self.name(name),
            Role::Addr => return self.pointer(name),
            Role::Dst | Role::Src => {}
        }
        if spec.imm_only || name == "nCols" {
            return self.constant(name, spec);
        }
        match spec.ty {
            OpTy::Ty(ty) => self.one(ty),
            OpTy::Slot(slot) | OpTy::Parts(slot) => {
                let ty = self.slot(slot);
                self.one(ty)
            }
            OpTy::Wide(slot) => {
                let wide = match (self.has("wide"), self.slot(slot).bits()) {
                    (true, 16) => Ty::B32,
                    (true, 32) => Ty::B64,
                    _ => self.slot(slot),
                };
                self.one(wide)
            }
            OpTy::Vec(slot, count) => {
                let written = [("v2", 2), ("v4", 4), ("v8", 8)].iter().find(|v| self.has(v.0)).map_or(1, |v| v.1);
                let count = if count == 0 { written } else { count as usize };
                let ty = Ty::from_name(&slot[1..]).unwrap_or_else(|| self.slot(slot));
                if count == 1 { self.one(ty) } else { Node::vector(self.some(ty, count)) }
            }
            OpTy::Many(ty, numbers) => {
                let written = numbers.iter().filter(|n| self.quals.contains(&n.0));
                let count = written.map(|n| n.1 as usize).product();
                Node::vector(self.some(ty, count))
            }
            OpTy::Fragment(of) => {
                let (ty, count) = of(self.quals);
                Node::vector(self.some(ty, count as usize))
            }
            OpTy::Coords(slot) => {
                let ty = Ty::from_name(&slot[1..]).unwrap_or_else(|| self.slot(slot));
                let (_, count, integers, _) = self.geometry();
                let parts = (0..count).map(|i| self.one(if i < integers { Ty::U32 } else { ty })).collect();
                Node::vector(parts)
            }
            OpTy::PerAxis(ty) => {
                let axes = self.geometry().3;
                Node::vector(self.some(ty, axes))
            }
            OpTy::None => self.one(Ty::B32),
        }
    }

    fn geometry(&self) -> (&'static str, usize, usize, usize) {
        GEOMETRIES.iter().find(|g| self.has(g.0)).copied().unwrap_or(("", 1, 0, 1))
    }

    /// Declarations for control flow in the module of a batch.
    fn name(&self, name: &str) -> Node {
        let parameters = self.form.operands.iter().any(|o| o.name == "param-list");
        let result = self.form.operands.iter().any(|o| o.name == "ret-param");
        let one = match (name, parameters, result) {
            ("tgt", ..) => "LAST",
            ("tlist", ..) => "TARGETS",
            ("func", true, true) => "f2",
            ("func", true, false) => "f1",
            ("func", ..) => "f0",
            ("fptr", ..) => "%d1",
            ("flist", true, true) => "P2",
            ("flist", true, false) => "P1",
            ("flist", ..) => "P0",
            ("ret-param" | "param-list", ..) => return Node::list(vec![Node::word("%r1")]),
            _ => "LAST",
        };
        Node::word(one)
    }

    /// Addresses of Tensor Memory have 32 bits.
    fn pointer(&mut self, name: &str) -> Node {
        let tensor_memory = self.family == "tcgen05" && !matches!(name, "dst" | "mbar");
        self.one(if tensor_memory { Ty::B32 } else { Ty::B64 })
    }

    /// An operand.
    pub fn operand(&mut self, form: &OpForm) -> Node {
        match &form.shape {
            Shape::Addr(parts) if parts.len() <= 1 => {
                let inner = match parts.first().map(|p| &p.shape) {
                    Some(Shape::Vector(_)) => self.operand(&parts[0]),
                    _ => self.value(form.name),
                };
                Node::address(vec![inner])
            }
            Shape::Addr(parts) => {
                let inner = self.inner;
                let given = parts.iter().filter(|p| p.group == 0 || inner);
                Node::address(given.map(|p| self.operand(p)).collect::<Vec<_>>())
            }
            Shape::Vector(parts) if parts.is_empty() => {
                let value = self.value(form.name);
                if value.open == "{" { value } else { Node::vector(vec![value]) }
            }
            Shape::Vector(parts) => Node::vector(parts.iter().map(|p| self.operand(p)).collect()),
            Shape::Pair(second, optional) => {
                let first = self.value(form.name);
                if *optional && !self.inner {
                    return first;
                }
                let known = self.entry.operands.iter().any(|o| o.name == *second);
                let second = if known { self.value(second) } else { self.one(Ty::Pred) };
                Node::pair(first, second)
            }
            Shape::Sink => Node::word("_"),
            Shape::Number(n) => Node::word(n.to_string()),
            Shape::List => match self.value(form.name) {
                list if list.open == "(" => list,
                other => Node::list(vec![other]),
            },
            Shape::Value => self.value(form.name),
        }
    }
}
