//! Each analysis on small kernels. Expected values are worked out by hand.

use crate::flow::Flow;
use crate::ssa::Val;
use ptx_dsl_frontend::{check, lex, parse};
use ptx_dsl_isa::diag::Severity;
use ptx_dsl_isa::hir::{FuncId, Module, Operand, RegId, Stmt};
use ptx_dsl_isa::opcode::Opcode;

mod addresses;
mod calls;
mod conditions;
mod data_flow;
mod graphs;
mod iterations;
mod launch;
mod pointees;
mod registers;
mod values;

/// The typed module of a text, for the rest of the test process.
fn module(text: &str) -> &'static Module {
    let (lexed, _) = lex::lex(text);
    let (ast, _) = parse::parse(&lexed.tokens);
    let checked = check::check(&ast, &check::Options::default());
    let errors: Vec<_> = checked.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    Box::leak(Box::new(checked.hir))
}

/// A module with one kernel `k`: its directives, its body, what stands before it.
fn text(directives: &str, body: &str, before: &str) -> String {
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.shared .align 16 .b8 sh[64];\n.shared .align 8 .b64 bar;\n{before}\n\
         .visible .entry k(.param .u32 n, .param .u32 m, .param .u64 .ptr .global .align 4 w) {directives}\n\
         {{\n.reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<10>;\n{body}\n}}\n"
    )
}

/// The flow of the kernel `k` with this body.
fn flow(directives: &str, body: &str) -> Flow<'static> {
    flow_of(module(&text(directives, body, "")))
}

fn flow_of(module: &'static Module) -> Flow<'static> {
    let kernel = module.functions.iter().find(|f| f.name == "k").expect("the kernel");
    Flow::new(module, kernel).expect("a small kernel")
}

/// All functions of a module.
fn whole(module: &Module) -> Vec<FuncId> {
    (0..module.functions.len() as u32).map(FuncId).collect()
}

/// The number of the first instruction after a label.
fn at_label(flow: &Flow, label: &str) -> u32 {
    let mut at = 0;
    for stmt in &flow.function.body {
        match stmt {
            Stmt::Label(id) if flow.function.labels[id.0 as usize].name == label => return at,
            Stmt::Label(_) => {}
            Stmt::Instr(_) => at += 1,
        }
    }
    panic!("no label {label}")
}

/// The block of a label.
fn block(flow: &Flow, label: &str) -> u32 {
    flow.cfg.block_of(at_label(flow, label))
}

/// The number of the first instruction with this opcode.
fn first(flow: &Flow, opcode: Opcode) -> u32 {
    nth(flow, opcode, 0)
}

/// The number of instruction `n` with this opcode.
fn nth(flow: &Flow, opcode: Opcode, n: usize) -> u32 {
    let all = flow.cfg.instrs.iter().enumerate().filter(|(_, i)| i.opcode == opcode);
    all.map(|(at, _)| at as u32).nth(n).expect("the instruction")
}

/// A register by its name.
fn reg(flow: &Flow, name: &str) -> RegId {
    let at = flow.function.regs.iter().position(|r| r.name == name).expect("the register");
    RegId(at as u32)
}

/// The value that an instruction reads from a register.
fn read(flow: &Flow, at: u32, name: &str) -> Val {
    flow.ssa.read(at, reg(flow, name), 0)
}

/// The value that an instruction writes first.
fn written(flow: &Flow, at: u32) -> Val {
    flow.ssa.defs(at)[0].1
}

/// The opcodes and registers of a body, one line for each instruction.
fn listing(regs: &[ptx_dsl_isa::hir::Reg], body: &[Stmt]) -> Vec<String> {
    let mut out = Vec::new();
    for stmt in body {
        let Stmt::Instr(i) = stmt else { continue };
        let mut line = i.opcode.to_string();
        for a in &i.operands {
            line += &match &a.value {
                Operand::Reg(r, _) if regs[r.0 as usize].name.is_empty() => " new".to_owned(),
                Operand::Reg(r, _) => format!(" {}", regs[r.0 as usize].name),
                Operand::Imm(n) => format!(" {n}"),
                Operand::Label(_) => " label".to_owned(),
                _ => " _".to_owned(),
            };
        }
        out.push(line);
    }
    out
}
