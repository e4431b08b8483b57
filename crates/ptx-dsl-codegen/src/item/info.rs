//! `KernelInfo`: what the runtime knows of a kernel before it runs.

use super::parameters::Passing;
use crate::Prepared;
use crate::emit::calls::STACK;
use crate::kernel::Kernel;
use crate::names::RT;
use proc_macro2::{Literal, TokenStream};
use ptx_dsl_isa::hir::{Instr, Module, Stmt};
use quote::quote;

/// The constant. `file`: the source file, if it is not that of the invocation.
pub fn kernel_info(
    kernel: &Kernel<'_>,
    Prepared { program, constants, image }: &mut Prepared<'_>,
    file: Option<&str>,
    passing: &[Passing],
) -> TokenStream {
    let (rt, module) = (RT, kernel.module);
    let f = &module.functions[kernel.entry.0 as usize];
    let name = &f.name;
    let file = file.map_or_else(|| quote!(::core::file!()), |file| quote!(#file));
    let params = f.params.iter().zip(passing).map(|(p, pass)| {
        let offset = p.var.map_or(0, |v| module.vars[v.0 as usize].offset);
        let (name, size, align, read_only) = (&p.name, p.size, p.align, pass.read_only);
        let pointer = option(pass.pointer);
        quote!(#rt::ParamInfo { name: #name, offset: #offset, size: #size, align: #align, pointer: #pointer, read_only: #read_only })
    });
    let (req, max, cluster) = (dims(f.reqntid), dims(f.maxntid), dims(f.reqnctapercluster));
    let rank = option(f.maxclusterrank);
    let explicit = f.explicitcluster;
    let dynamic = module.vars.iter().any(|v| v.dynamic);
    let shared = kernel.static_shared();
    let stack = if program.recursive.is_empty() { 0 } else { STACK };
    let local = program.local_size(module).next_multiple_of(16).saturating_add(stack);
    let target = &module.target;
    let (consts, globals) = (Literal::byte_string(&module.const_image), Literal::byte_string(&module.global_image));
    let mut not_yet = Vec::new();
    for (what, index) in &program.not_yet {
        let site = instruction(module, *index).map_or(0, |i| constants.site(i));
        not_yet.push(quote!((#what, #site)));
    }
    if module.address_size == 32 {
        not_yet.push(quote!((".address_size 32", 0)));
    }
    let image = Literal::byte_string(&image.encode());
    let sites = &constants.site_items;
    quote! {
        #rt::KernelInfo {
            name: #name,
            file: #file,
            params: &[#(#params),*],
            shared_size: #shared,
            local_size: #local,
            const_image: #consts,
            global_image: #globals,
            reqntid: #req,
            maxntid: #max,
            reqnctapercluster: #cluster,
            maxclusterrank: #rank,
            uses_dynamic_shared: #dynamic,
            explicit_cluster: #explicit,
            target: #target,
            sites: &[#(#sites),*],
            not_yet: &[#(#not_yet),*],
            image: #image,
        }
    }
}

fn option(n: Option<u32>) -> TokenStream {
    match n {
        Some(n) => quote!(Some(#n)),
        None => quote!(None),
    }
}

fn dims(dims: Option<[u32; 3]>) -> TokenStream {
    match dims {
        Some([a, b, c]) => quote!(Some([#a, #b, #c])),
        None => quote!(None),
    }
}

/// The instruction with this number.
fn instruction(module: &Module, index: u32) -> Option<&Instr> {
    let instructions = module.functions.iter().flat_map(|f| &f.body).filter_map(|s| match s {
        Stmt::Instr(i) => Some(&**i),
        Stmt::Label(_) => None,
    });
    instructions.into_iter().find(|i| i.index == index)
}
