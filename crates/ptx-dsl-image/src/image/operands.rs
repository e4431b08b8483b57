//! Operands of instructions as sources and registers of the image.

use super::Writer;
use crate::instr::{truncated, words};
use crate::kernel::window;
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_isa::hir::{Base, FUNCTIONS, FuncId, GLOBALS, NamedRegion, Operand, Space, VarId};
use ptx_dsl_isa::image::{Register, Source, Variable};
use ptx_dsl_isa::isa::sreg::special;
use ptx_dsl_isa::ty::Ty;

impl Writer<'_, '_> {
    /// The (first) register of a register.
    pub(super) fn register(&mut self, key: RegKey) -> Register {
        if let Some(register) = self.registers.get(&key) {
            return *register;
        }
        let bits = if key.is_carry() { 1 } else { self.kernel.reg_bits(key.func, key.reg) };
        let first = self.image.registers.len() as Register;
        let name = self.name(key);
        match bits {
            128 => {
                self.image.registers.extend([64, 64]);
                self.image.names.extend([format!("{name}[63:0]"), format!("{name}[127:64]")]);
            }
            bits => {
                self.image.registers.push(bits as u8);
                self.image.names.push(name);
            }
        }
        self.registers.insert(key, first);
        first
    }

    /// The name of a register in the PTX text.
    fn name(&self, key: RegKey) -> String {
        let regs = &self.kernel.function_of(key.func).regs;
        let Some(reg) = regs.get(key.reg.0 as usize) else { return String::new() };
        match ["x", "y", "z", "w"].get(key.element as usize) {
            Some(element) if reg.lanes > 1 => format!("{}.{element}", reg.name),
            _ => reg.name.clone(),
        }
    }

    /// The condition code of a function.
    pub(super) fn carry(&mut self, f: FuncId) -> Register {
        self.register(RegKey::carry(f))
    }

    /// The register with the return address of a function.
    pub(super) fn return_address(&mut self, f: FuncId) -> Register {
        if let Some(register) = self.return_addresses.get(&f.0) {
            return *register;
        }
        let register = self.image.registers.len() as Register;
        self.image.registers.push(16);
        self.image.names.push(String::new());
        self.return_addresses.insert(f.0, register);
        register
    }

    /// Adds the 64-bit words of an operand that has no parts.
    pub(super) fn sources(&mut self, f: FuncId, o: &Operand, ty: Option<Ty>, generic: bool, to: &mut Vec<Source>) {
        match o {
            Operand::Reg(r, e) if self.kernel.reg_bits(f, *r) == 128 => {
                let low = self.register(RegKey::new(f, *r, *e));
                to.extend([Source::Register { register: low }, Source::Register { register: low + 1 }]);
            }
            Operand::Imm(v) if words(ty) == 2 => {
                let high = if (*v as i64) < 0 { u64::MAX } else { 0 };
                to.extend([Source::Constant { value: *v }, Source::Constant { value: high }]);
            }
            o => to.push(self.source(f, o, ty, generic)),
        }
    }

    /// An operand of one word. `generic`: the instruction names no state space.
    pub(super) fn source(&mut self, f: FuncId, o: &Operand, ty: Option<Ty>, generic: bool) -> Source {
        match o {
            Operand::Reg(r, e) => Source::Register { register: self.register(RegKey::new(f, *r, *e)) },
            Operand::NotReg(r) => Source::Not { register: self.register(RegKey::new(f, *r, 0)) },
            Operand::Imm(v) => Source::Constant { value: truncated(*v, ty) },
            Operand::Sreg(register) if *register == special::warp_sz => Source::Constant { value: 32 },
            Operand::Sreg(register) => Source::Special { register: *register },
            Operand::VarAddr(v, at) => self.variable(f, *v, truncated(self.kernel.var_address(*v, *at), ty)),
            Operand::FuncAddr(f) => Source::Constant { value: FUNCTIONS + u64::from(f.0) },
            Operand::Address(Base::Reg(r), offset) => {
                Source::Address { base: self.register(RegKey::new(f, *r, 0)), offset: *offset }
            }
            Operand::Address(Base::Var(v), offset) => {
                self.variable(f, *v, self.kernel.var_address_for(generic, *v, *offset))
            }
            Operand::Address(Base::Abs, offset) => Source::Constant { value: *offset as u64 },
            // those with parts come here part by part; `rewrite` removes selectors, signs and Rust constants
            Operand::Vector(_)
            | Operand::Addresses(_)
            | Operand::List(_)
            | Operand::Pair(..)
            | Operand::Neg(_)
            | Operand::Select(..)
            | Operand::Sink
            | Operand::Label(_)
            | Operand::Labels(_)
            | Operand::Func(_)
            | Operand::Funcs(_)
            | Operand::Rust(_) => Source::Constant { value: 0 },
        }
    }

    /// The address of a variable of `f`: one of a recursive function moves with its frame.
    fn variable(&mut self, f: FuncId, v: VarId, at: u64) -> Source {
        if self.kernel.is_framed(f, v) {
            return Source::Frame { at };
        }
        let var = &self.kernel.module.vars[v.0 as usize];
        let parameter = matches!(var.space, Space::ParamEntry | Space::ParamFunc);
        // the values of Rust constants are no variable of the program, and their loads have the sites of its instructions
        if parameter || (var.size == 0 && !var.dynamic) || var.name.is_empty() {
            return Source::Constant { value: at };
        }
        let new = self.image.variables.len() as u32;
        let variable = *self.variables.entry(v.0).or_insert(new);
        if variable == new {
            let start = if var.space == Space::Global { GLOBALS } else { 0 };
            let from = self.kernel.var_address(v, 0) - start;
            let to = if var.dynamic { u64::MAX } else { from + u64::from(var.size) };
            self.image.variables.push(Variable { name: var.name.clone(), window: window(var.space), from, to });
            let module = self.kernel.module;
            let function = Some(&module.functions[f.0 as usize].name);
            let is = |region: &NamedRegion, of| region.variable == var.name && region.function.as_ref() == of;
            // those of the function come first
            let of = function.filter(|_| module.regions.iter().any(|region| is(region, function)));
            for region in module.regions.iter().filter(|region| is(region, of)) {
                let from = from + region.offset;
                let (name, to) = (region.name.clone(), from + region.bytes);
                self.image.named.push(Variable { name, window: window(var.space), from, to });
            }
        }
        Source::Variable { variable, value: at }
    }

    /// Adds the registers of a destination that has no parts.
    pub(super) fn destination(&mut self, f: FuncId, o: &Operand, to: &mut Vec<Option<Register>>) {
        let Operand::Reg(r, e) = o else { return to.push(None) };
        let first = self.register(RegKey::new(f, *r, *e));
        to.push(Some(first));
        if self.kernel.reg_bits(f, *r) == 128 {
            to.push(Some(first + 1));
        }
    }
}
