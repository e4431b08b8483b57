//! `KernelInfo` as a constant.

use super::parameters::Passing;
use crate::Prepared;
use crate::info::Info;
use crate::kernel::Kernel;
use crate::names::RT;
use crate::region::graph::NotYet;
use crate::values::Values;
use proc_macro2::{Literal, TokenStream};
use ptx_dsl_isa::constant::Count;
use quote::{ToTokens, quote};

/// The constant. `file`: the source file, if it is not that of the invocation.
pub fn kernel_info(
    kernel: &Kernel<'_>,
    Prepared { constants, image, info, .. }: &Prepared<'_>,
    (file, values): (Option<&str>, &Values<'_>),
    passing: &[Passing],
) -> TokenStream {
    let (rt, module) = (RT, kernel.module);
    let Info { name, shared_size, local_size, explicit_cluster, uses_dynamic_shared, registers, .. } = info;
    let file = file.map_or_else(|| quote!(::core::file!()), |file| quote!(#file));
    let params = info.parameters.iter().zip(passing).map(|(p, pass)| {
        let (name, offset, size, align, read_only) = (&p.name, p.offset, p.size, p.align, pass.read_only);
        let pointer = option(pass.pointer);
        quote!(#rt::ParamInfo { name: #name, offset: #offset, size: #size, align: #align, pointer: #pointer, read_only: #read_only })
    });
    let f = &module.functions[kernel.entry.0 as usize];
    let rust = |rust: Option<[Count; 3]>, known| match rust {
        Some([x, y, z]) => {
            let (x, y, z) = (values.count(x), values.count(y), values.count(z));
            quote!(Some([#x, #y, #z]))
        }
        None => dims(known),
    };
    let (req, max) = (rust(f.rust.reqntid, info.reqntid), rust(f.rust.maxntid, info.maxntid));
    let cluster = rust(f.rust.reqnctapercluster, info.reqnctapercluster);
    let rank = match f.rust.maxclusterrank {
        Some(id) => {
            let rank = values.number(id);
            quote!(Some(#rank))
        }
        None => option(info.maxclusterrank),
    };
    let shared_size = f.rust.shared_end.map_or_else(|| shared_size.to_token_stream(), |end| values.number(end));
    let name = if f.rust.generics.is_empty() { quote!(#name) } else { quote!(Self::NAME) };
    let target = &module.target;
    let consts = values.image(&module.const_image, &module.const_patches);
    let globals = values.image(&module.global_image, &module.global_patches);
    let not_yet = info
        .not_yet
        .iter()
        .map(|NotYet { what, why, site }| quote!(#rt::NotYet { what: #what, why: #why, site: #site }));
    let image = Literal::byte_string(&image.encode());
    let sites = constants.sites().iter().map(|site| {
        let (text, line, rust_line) = (values.text(&site.text), site.line, site.source_line);
        let used_bytes = option(site.used_bytes);
        quote!(#rt::Site { text: #text, line: #line, rust_line: #rust_line, used_bytes: #used_bytes })
    });
    quote! {
        #rt::KernelInfo {
            name: #name,
            file: #file,
            params: &[#(#params),*],
            shared_size: #shared_size,
            local_size: #local_size,
            const_image: #consts,
            global_image: #globals,
            reqntid: #req,
            maxntid: #max,
            reqnctapercluster: #cluster,
            maxclusterrank: #rank,
            uses_dynamic_shared: #uses_dynamic_shared,
            explicit_cluster: #explicit_cluster,
            registers: #registers,
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
