//! Facts about a kernel that the runtime needs before it runs: `item/info.rs` emits them, a module that is loaded at run time keeps them.
//! What is the module's (target, images of variables) stays there.

use crate::frames::STACK;
use crate::kernel::Kernel;
use crate::region::graph::{NotYet, Program};
use crate::sites::Sites;
use crate::stack;
use ptx_dsl_isa::constant::registers;
use ptx_dsl_isa::hir::{Function, Instr, Module, Stmt};
use ptx_dsl_isa::isa::misc;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// Facts about a kernel.
#[derive(Debug, Clone)]
pub struct Info {
    /// Name of the `.entry`.
    pub name: String,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// Static shared memory in bytes, up to where dynamic shared memory begins.
    pub shared_size: u32,
    /// The number of these bytes that are after the last variable.
    pub shared_padding: u32,
    /// Local memory in bytes for each thread.
    pub local_size: u32,
    /// The bytes of local memory after the variables.
    pub stack: u32,
    /// `.reqntid`
    pub reqntid: Option<[u32; 3]>,
    /// `.maxntid`
    pub maxntid: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub reqnctapercluster: Option<[u32; 3]>,
    /// `.maxclusterrank`
    pub maxclusterrank: Option<u32>,
    /// `.explicitcluster`
    pub explicit_cluster: bool,
    /// The kernel reaches a variable of `.extern .shared`.
    pub uses_dynamic_shared: bool,
    /// Does the kernel use the heap?
    pub heap: bool,
    /// Does the kernel require a cooperative launch?
    pub cooperative: bool,
    /// Does the kernel use reserved shared memory?
    pub reserved_shared: bool,
    /// Registers of a thread when the kernel starts, if the directives say so; else 0.
    pub registers: u32,
    /// The largest number that these can be.
    pub most_registers: u32,
    /// The instructions that the host cannot run.
    pub not_yet: Vec<NotYet>,
}

/// A parameter in parameter memory.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// The name as declared.
    pub name: String,
    /// In bytes.
    pub offset: u32,
    /// In bytes.
    pub size: u32,
    /// In bytes.
    pub align: u32,
}

impl Info {
    pub(crate) fn new(kernel: &Kernel<'_>, program: &Program<'_>, sites: &mut Sites<'_>) -> Self {
        let module = kernel.module;
        let f = &module.functions[kernel.entry.0 as usize];
        let parameters = f.params.iter().map(|p| Parameter {
            name: p.name.clone(),
            offset: p.var.map_or(0, |v| module.vars[v.0 as usize].offset),
            size: p.size,
            align: p.align,
        });
        let recursion = if program.recursive.is_empty() { 0 } else { STACK };
        let uses_stack = program.funcs.iter().any(|f| stack::uses(&module.functions[f.0 as usize]));
        let alloca = if uses_stack { misc::STACK } else { 0 };
        let mut not_yet = program.not_yet.clone();
        for what in &mut not_yet {
            what.site = instruction(module, what.site).map_or(0, |i| sites.site(i));
        }
        if module.address_size == 32 {
            let (what, why) = (".address_size 32".to_owned(), "addresses of the host have 64 bits");
            not_yet.push(NotYet { what, why, site: 0 });
        }
        if f.rust.local_end.is_some() && !program.recursive.is_empty() {
            let what = "`.local` variables whose size is a Rust constant".to_owned();
            not_yet.push(NotYet { what, why: "the host needs the size of the frames of recursive functions", site: 0 });
        }
        let stack = recursion + alloca;
        let most_registers = most_registers(module, program);
        Info {
            name: f.name.clone(),
            parameters: parameters.collect(),
            shared_size: kernel.static_shared(),
            shared_padding: kernel.static_shared() - kernel.static_variables_end(),
            local_size: u32::try_from(kernel.frames.base).unwrap_or(u32::MAX).saturating_add(stack),
            stack,
            reqntid: f.reqntid,
            maxntid: f.maxntid,
            reqnctapercluster: f.reqnctapercluster,
            maxclusterrank: f.maxclusterrank,
            explicit_cluster: f.explicitcluster,
            uses_dynamic_shared: f.dynamic_shared,
            heap: program.funcs.iter().any(|f| uses_heap(&module.functions[f.0 as usize])),
            cooperative: f.cooperative,
            reserved_shared: f.reserved_shared,
            registers: registers(f.maxnreg, f.minnctapersm, f.reqntid.or(f.maxntid), most_registers),
            most_registers,
            not_yet,
        }
    }
}

/// The most registers of a thread when the kernel starts: what a `setmaxnreg.inc` requests.
fn most_registers(module: &Module, program: &Program<'_>) -> u32 {
    let bodies = program.funcs.iter().flat_map(|f| &module.functions[f.0 as usize].body);
    let requests = bodies.filter_map(|stmt| match stmt {
        Stmt::Instr(i) if i.opcode == op::setmaxnreg => Some(i),
        _ => None,
    });
    let increments = requests.filter(|i| i.has(q::inc)).filter_map(|i| i.constant("imm-reg-count"));
    increments.max().map_or(256, |n| n.min(256) as u32)
}

/// The instruction with this number.
fn instruction(module: &Module, index: u32) -> Option<&Instr> {
    let instructions = module.functions.iter().flat_map(|f| &f.body).filter_map(|s| match s {
        Stmt::Instr(i) => Some(&**i),
        Stmt::Label(_) => None,
    });
    instructions.into_iter().find(|i| i.index == index)
}

/// Does the function allocate or free memory of the heap?
fn uses_heap(function: &Function) -> bool {
    function.body.iter().any(|stmt| matches!(stmt, Stmt::Instr(i) if i.entry.effects.heap))
}
