//! Calls of functions of CUDA's device runtime (`vprintf`), which a module declares and does not define: each becomes an
//! instruction of the table's system functions, between loads of its `.param` variables and stores of its results.

use ptx_dsl_isa::hir::{Arg, Base, Function, Instr, Module, Operand, Reg, RegId, Stmt};
use ptx_dsl_isa::isa::{OpTy, OperandSpec, Role};
use ptx_dsl_isa::opcode::{Entry, Opcode, op};
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::Ty;

/// The system functions of a module, by the ids of its functions.
pub struct Functions(Vec<Option<Entry>>);

impl Functions {
    pub fn of(module: &Module) -> Self {
        Functions(module.functions.iter().map(system_function).collect())
    }

    /// The system function that a statement calls.
    pub fn called(&self, stmt: &Stmt) -> Option<Entry> {
        let Stmt::Instr(i) = stmt else { return None };
        if i.opcode != op::call {
            return None;
        }
        let Operand::Func(id) = i.operand("func")?.value else { return None };
        *self.0.get(id.0 as usize)?
    }
}

/// Appends the instruction of a call to a function.
pub fn emit(function: &mut Function, call: Box<Instr>, entry: Entry) {
    Lowering { function, call }.emit(entry);
}

/// The system function that a function without a body is: one of the same name and with values of the same sizes.
fn system_function(f: &Function) -> Option<Entry> {
    if f.defined || f.entry {
        return None;
    }
    let entry = Opcode::of_function(&f.name)?.entries().next()?;
    let sizes = |role| entry.instr.operands.iter().filter(move |spec| spec.role == role).map(size);
    let same =
        sizes(Role::Dst).eq(f.rets.iter().map(|p| p.size)) && sizes(Role::Src).eq(f.params.iter().map(|p| p.size));
    same.then_some(entry)
}

fn size(spec: &OperandSpec) -> u32 {
    type_of(spec).bytes()
}

fn type_of(spec: &OperandSpec) -> Ty {
    if let OpTy::Ty(ty) = spec.ty { ty } else { Ty::B64 }
}

struct Lowering<'f> {
    function: &'f mut Function,
    call: Box<Instr>,
}

impl Lowering<'_> {
    fn emit(mut self, entry: Entry) {
        let list = |name: &str| match self.call.operand(name).map(|a| &a.value) {
            Some(Operand::List(list)) => list.clone(),
            _ => Vec::new(),
        };
        let (mut given, mut results) = (list("args").into_iter(), list("ret").into_iter());
        let (mut operands, mut stores) = (Vec::new(), Vec::new());
        for spec in entry.instr.operands {
            let ty = type_of(spec);
            let value = match (spec.role, if spec.role == Role::Dst { results.next() } else { given.next() }) {
                (_, None) => Operand::Sink,
                (Role::Dst, Some(Operand::VarAddr(var, at))) => {
                    let register = self.register(ty);
                    stores.push((ty, Operand::Address(Base::Var(var), at), register.clone()));
                    register
                }
                (_, Some(Operand::VarAddr(var, at))) => {
                    let register = self.register(ty);
                    self.load(ty, register.clone(), Operand::Address(Base::Var(var), at));
                    register
                }
                (_, Some(value)) => value,
            };
            operands.push(self.arg(spec.name, spec.role, ty, value));
        }
        self.push(entry, Vec::new(), Vec::new(), operands);
        for (ty, address, register) in stores {
            self.store(ty, address, register);
        }
    }

    fn register(&mut self, ty: Ty) -> Operand {
        self.function.regs.push(Reg { name: String::new(), ty, lanes: 1 });
        Operand::Reg(RegId(self.function.regs.len() as u32 - 1), 0)
    }

    fn load(&mut self, ty: Ty, register: Operand, address: Operand) {
        let operands = vec![self.arg("d", Role::Dst, ty, register), self.arg("a", Role::Addr, ty, address)];
        self.access(op::ld, ty, operands);
    }

    fn store(&mut self, ty: Ty, address: Operand, register: Operand) {
        let operands = vec![self.arg("a", Role::Addr, ty, address), self.arg("b", Role::Src, ty, register)];
        self.access(op::st, ty, operands);
    }

    /// An access to a `.param` variable.
    fn access(&mut self, opcode: Opcode, ty: Ty, operands: Vec<Arg>) {
        let Some(entry) = opcode.entries().next() else { return };
        let quals = [q::param].into_iter().chain(Qualifier::from_word(ty.name())).collect();
        self.push(entry, quals, vec![ty], operands);
    }

    fn arg(&self, name: &'static str, role: Role, ty: Ty, value: Operand) -> Arg {
        Arg { name, role, ty: Some(ty), value, span: self.call.span }
    }

    /// Appends an instruction in the place of the call.
    fn push(&mut self, entry: Entry, quals: Vec<Qualifier>, types: Vec<Ty>, operands: Vec<Arg>) {
        let mut instr = Instr::made(entry, quals, types, operands, &self.call);
        instr.pred = self.call.pred.clone();
        self.function.body.push(Stmt::Instr(Box::new(instr)));
    }
}
