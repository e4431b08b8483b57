//! Rewrites a typed module for the engines: calls of system functions, operands of video instructions, the stack of functions,
//! addresses of shared variables in clusters, registers of `wgmma`, Rust constants.

use crate::{cluster_address, rust_constants, stack, system_calls, video, wgmma};
use ptx_dsl_isa::hir::{Module, Stmt};
use std::borrow::Cow;

/// A module without errors as code generation takes it: once for all its kernels.
pub fn for_engines(module: &Module) -> Cow<'_, Module> {
    let functions = system_calls::Functions::of(module);
    let changes = |stmt: &Stmt| functions.called(stmt).is_some() || video::is_video(stmt);
    let peers = cluster_address::reaches_peers(module);
    let changes = module.functions.iter().any(|f| f.body.iter().any(changes) || stack::restores(f));
    let multiplies = module.functions.iter().any(wgmma::multiplies);
    if !peers && !changes && !multiplies && module.constants.is_empty() {
        return Cow::Borrowed(module);
    }
    let mut out = module.clone();
    for function in &mut out.functions {
        if stack::restores(function) {
            stack::restore(function);
        }
        for stmt in std::mem::take(&mut function.body) {
            let (call, video) = (functions.called(&stmt), video::is_video(&stmt));
            match (stmt, call) {
                (Stmt::Instr(i), Some(entry)) => system_calls::emit(function, i, entry),
                (Stmt::Instr(mut i), None) if video => {
                    video::with_modifiers(&mut i);
                    function.body.push(Stmt::Instr(i));
                }
                (Stmt::Instr(mut i), None) if peers => {
                    cluster_address::with_rank(module, function, &mut i);
                    function.body.push(Stmt::Instr(i));
                }
                (stmt, _) => function.body.push(stmt),
            }
        }
    }
    // what the others make may name them
    if !module.constants.is_empty() {
        rust_constants::lower(&mut out);
    }
    if multiplies {
        wgmma::prepare(&mut out.functions);
    }
    Cow::Owned(out)
}
