//! Directives of functions with numbers that rustc alone knows.

use super::super::Checker;
use super::super::directive::{CONTROL_REGISTERS, CTAS, THREADS, value_span};
use crate::ast::{self, Arg, Expr};
use crate::check::errors;
use crate::parse::constant::unknown_here;
use ptx_dsl_isa::constant::{ConstId, Constants, Count, Kind};

/// Its numbers: how many at most, the least and the largest, and what they count.
fn limits(name: &str) -> Option<(usize, i64, i64, &'static str)> {
    let (threads, ctas) = (THREADS.cast_signed(), CTAS.cast_signed());
    Some(match name {
        ".reqntid" | ".maxntid" => (3, 1, threads, "threads in a CTA"),
        ".reqnctapercluster" => (3, 1, ctas, "CTAs in a cluster"),
        ".maxclusterrank" => (1, 1, ctas, "CTAs in a cluster"),
        ".maxnreg" => (1, 1, i64::from(u32::MAX), "registers of a thread"),
        ".minnctapersm" | ".maxnctapersm" => (1, 1, i64::from(u32::MAX), "CTAs of a multiprocessor"),
        ".minperctamemory" => (1, 0, i64::from(u32::MAX), "bytes of a CTA"),
        ".abi_preserve" => (1, 0, i64::from(u32::MAX), "registers"),
        ".abi_preserve_control" => (1, 0, CONTROL_REGISTERS.cast_signed(), "registers"),
        _ => return None,
    })
}

impl Checker {
    /// A directive of a function with Rust constants among its arguments: checks and records it. `false` if there are none.
    pub(in crate::check) fn rust_directive(&mut self, d: &ast::Directive) -> bool {
        let of_rust = |arg: &Arg| match arg {
            Arg::Expr(Expr::Rust(id, _)) => Some(*id),
            _ => None,
        };
        let Some(first) = d.args.iter().find_map(of_rust) else { return false };
        let (name, span) = (d.name.text.as_str(), value_span(d));
        let Some((most, low, high, unit)) = limits(name) else {
            let finding = unknown_here(span, &format!("the number of `{name}`"), &self.out.constants, first);
            self.report(finding);
            return true;
        };
        if d.args.len() > most {
            let rule = if most == 1 { "takes one integer" } else { "takes one to three positive integers" };
            self.report(errors::directive_value(span, name, rule, "remove the others".to_owned()));
            return true;
        }
        let mut all = [Count::Known(1); 3];
        let constants = &mut self.out.constants;
        let mut product: Option<ConstId> = None;
        for (slot, arg) in all.iter_mut().zip(&d.args) {
            let at = match arg {
                Arg::Expr(e) => e.span(),
                Arg::Str(word) => word.span,
            };
            *slot = match arg {
                Arg::Expr(Expr::Rust(id, _)) if constants.kind(*id) == Kind::Int => Count::Rust(*id),
                Arg::Expr(Expr::Int { value, .. }) => Count::Known(*value),
                _ => {
                    let help = "write an integer, or declare an integer constant".to_owned();
                    self.diags.push(errors::directive_value(at, name, "takes integers", help));
                    return true;
                }
            };
            let n = constants.count(*slot, at);
            let shown = constants.written(n, 0);
            let finding = errors::rust_directive(at, name, &shown, &Constants::mark(n), (low, high, unit));
            constants.require_number(n, ">=", low, finding.clone());
            constants.require_number(n, "<=", high, finding);
            product = Some(product.map_or(n, |product| constants.int("*", product, n)));
        }
        let Some(product) = product else { return true };
        if d.args.len() > 1 {
            let shown = constants.written(product, 0);
            let mark = Constants::mark(product);
            let finding = errors::rust_directive(span, name, &shown, &mark, (low, high, unit));
            constants.require_number(product, "<=", high, finding);
        }
        let Some(fun) = &mut self.fun else { return true };
        match name {
            ".reqntid" => (fun.reqntid, fun.rust.reqntid) = (None, Some(all)),
            ".maxntid" => (fun.maxntid, fun.rust.maxntid) = (None, Some(all)),
            ".reqnctapercluster" => (fun.reqnctapercluster, fun.rust.reqnctapercluster) = (None, Some(all)),
            ".maxclusterrank" => (fun.maxclusterrank, fun.rust.maxclusterrank) = (None, Some(product)),
            ".maxnreg" => (fun.maxnreg, fun.rust.maxnreg) = (None, Some(product)),
            ".minnctapersm" => (fun.minnctapersm, fun.rust.minnctapersm) = (None, Some(product)),
            _ => {}
        }
        true
    }
}
