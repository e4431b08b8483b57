//! Calls in the image: arguments and results as moves between registers and variables.

use super::{Writer, region_id};
use crate::instr::{home, list_of, variable};
use crate::region::graph;
use ptx_dsl_isa::hir::{Arg, FUNCTIONS, FuncId, Instr, Operand, Param};
use ptx_dsl_isa::image::{Callee, End, Place, Transfer};
use ptx_dsl_isa::isa::Role;

impl Writer<'_, '_> {
    pub(super) fn call(&mut self, f: FuncId, instr: &Instr, callees: &[graph::Callee]) -> End {
        let is_pointer = |a: &&Arg| matches!(a.value, Operand::Reg(..)) && matches!(a.role, Role::Name | Role::Src);
        let pointer = instr.operands.iter().rfind(is_pointer).map(|a| self.source(f, &a.value, None, false));
        let callees = callees.iter().map(|callee| self.callee(f, instr, callee)).collect();
        End::Call { site: self.sites.site(instr), pointer, callees }
    }

    fn callee(&mut self, f: FuncId, instr: &Instr, callee: &graph::Callee) -> Callee {
        let params = &self.kernel.module.functions[callee.func.0 as usize].params;
        let given = params.iter().zip(list_of(instr, "args"));
        let moves = given.filter_map(|(param, arg)| {
            let from = self.place_of_value(f, arg, param);
            Some((from, self.place(callee.func, &home(param)?, param)))
        });
        let moves = moves.collect();
        Callee {
            address: FUNCTIONS + u64::from(callee.func.0),
            start: region_id(callee.start),
            back: region_id(callee.back),
            return_address: self.return_address(callee.func),
            arguments: self.transfer(instr, (f, callee.func), moves),
        }
    }

    /// The transfers at the start of the region that a call returns to.
    pub(super) fn call_results(&mut self, f: FuncId, instr: &Instr, callee: FuncId) -> Transfer {
        let rets = &self.kernel.module.functions[callee.0 as usize].rets;
        let wanted = rets.iter().zip(list_of(instr, "ret"));
        let moves = wanted.filter_map(|(param, to)| {
            let from = self.place_of_value(callee, &home(param)?, param);
            Some((from, self.place(f, to, param)))
        });
        let moves = moves.collect();
        self.transfer(instr, (f, callee), moves)
    }

    /// The moves of a call, with the frame of a recursive function, and the registers of its caller if that may be entered again
    /// before it returns.
    fn transfer(&mut self, instr: &Instr, (f, callee): (FuncId, FuncId), moves: Vec<(Place, Place)>) -> Transfer {
        let frame = self.kernel.frames.of(callee.0);
        let saves = self.saved.get(&f.0).copied().filter(|_| frame.is_some());
        Transfer { site: self.sites.site(instr), saves, frame, moves }
    }

    /// The place that a value comes from.
    fn place_of_value(&mut self, f: FuncId, from: &Operand, param: &Param) -> Place {
        if let Some(place) = self.place_of_variable(f, from, param) {
            return place;
        }
        let mut list = Vec::new();
        from.parts().into_iter().for_each(|part| self.sources(f, part, Some(param.ty), false, &mut list));
        Place::Values { list }
    }

    /// The place that a value goes to.
    fn place(&mut self, f: FuncId, to: &Operand, param: &Param) -> Place {
        if let Some(place) = self.place_of_variable(f, to, param) {
            return place;
        }
        let mut list = Vec::new();
        to.parts().into_iter().for_each(|part| self.destination(f, part, &mut list));
        Place::Registers { list }
    }

    fn place_of_variable(&self, f: FuncId, o: &Operand, param: &Param) -> Option<Place> {
        let v = variable(o)?;
        let (at, framed) = (self.kernel.var_address(v, 0), self.kernel.is_framed(f, v));
        Some(Place::Variable { at, size: param.size, framed })
    }
}
