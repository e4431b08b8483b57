//! Modules that are loaded at run time, on each host. `checked/` tests what the checked host finds, `interpreter/` how the interpreter
//! runs what other tests do not reach.

mod agree;
mod checked;
mod clusters;
mod devices;
mod interpreter;
mod load;
mod multimem;
mod profile;
mod streams;

use ptx_dsl::Error;
use ptx_dsl::load::{Kernel, Module};
use ptx_dsl::prelude::*;

const HEAD: &str = ".version 8.3\n.target sm_90\n.address_size 64\n";

fn module(text: &str) -> Module {
    Module::parse(&format!("{HEAD}{text}")).unwrap()
}

/// A kernel with one pointer `x`, whose `%x` is the address of the thread's element, and `%i` its number.
fn one(directives: &str, body: &str) -> Kernel {
    let text = format!(
        ".visible .entry k(.param .u64 .ptr .global .align 4 x) {directives}\n{{\n\
         .reg .b32 %i, %c, %n, %v, %w; .reg .pred %p; .reg .b64 %x, %a;\n\
         ld.param.u64 %x, [x]; mov.u32 %i, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x;\n\
         mad.lo.u32 %i, %c, %n, %i; mad.wide.u32 %x, %i, 4, %x;\n{body}\n}}\n"
    );
    module(&text).kernel("k").unwrap().clone()
}

fn run(kernel: &Kernel, launch: Launch, x: &mut [u32]) -> Result<(), Error> {
    kernel.launch_raw(&Host::new(), launch, &mut [x.into()]).map(|_| ())
}
