//! `KernelInfo` as a constant.

use super::parameters::Passing;
use crate::Prepared;
use crate::names::RT;
use crate::values::Values;
use proc_macro2::{Literal, TokenStream};
use ptx_dsl_image::kernel::Kernel;
use ptx_dsl_image::region::graph::NotYet;
use ptx_dsl_image::{Info, Origins};
use ptx_dsl_isa::constant::{ConstId, Count};
use quote::{ToTokens, quote};

/// Bytes of `.const` variables of a module (PTX ISA 5.1.3), with room for alignment.
const CONST_LIMIT: usize = 128 * 1024;

/// The constant. `file`: the source file, if it is not that of the invocation.
pub fn kernel_info(
    kernel: &Kernel<'_>,
    Prepared { sites, image, info, .. }: &Prepared<'_>,
    (file, values): (Option<&str>, &Values<'_>),
    passing: &[Passing],
) -> TokenStream {
    let (rt, module) = (RT, kernel.module);
    let Info {
        name,
        shared_size,
        shared_padding,
        local_size,
        stack,
        explicit_cluster,
        uses_dynamic_shared,
        heap,
        cooperative,
        reserved_shared,
        registers,
        ..
    } = info;
    let most_registers = info.most_registers;
    let of_file = file.is_some();
    let file = file.map_or_else(|| quote!(::core::file!()), |file| quote!(#file));
    let params = info.parameters.iter().zip(passing).map(|(p, pass)| {
        let (name, offset, size, align, read_only) = (&p.name, p.offset, p.size, p.align, pass.read_only);
        let pointer = match pass.rust_align {
            Some(id) => {
                let align = values.number(id);
                quote!(::core::option::Option::Some(#align))
            }
            None => option(pass.pointer),
        };
        quote!(#rt::ParamInfo { name: #name, offset: #offset, size: #size, align: #align, pointer: #pointer, read_only: #read_only })
    });
    let f = &module.functions[kernel.entry.0 as usize];
    let rust = |rust: Option<[Count; 3]>, known| match rust {
        Some([x, y, z]) => {
            let (x, y, z) = (values.count(x), values.count(y), values.count(z));
            quote!(::core::option::Option::Some([#x, #y, #z]))
        }
        None => dims(known),
    };
    let (req, max) = (rust(f.rust.reqntid, info.reqntid), rust(f.rust.maxntid, info.maxntid));
    let cluster = rust(f.rust.reqnctapercluster, info.reqnctapercluster);
    let rank = match f.rust.maxclusterrank {
        Some(id) => {
            let rank = values.number(id);
            quote!(::core::option::Option::Some(#rank))
        }
        None => option(info.maxclusterrank),
    };
    let shared_size = f.rust.shared_end.map_or_else(|| shared_size.to_token_stream(), |end| values.number(end));
    let shared_padding = match f.rust.shared_variables_end {
        Some(end) => {
            let end = values.number(end);
            quote!(#shared_size - #end)
        }
        None => shared_padding.to_token_stream(),
    };
    let local_size = match f.rust.local_end {
        Some(end) => {
            let end = values.number(end);
            quote!(#end.next_multiple_of(16).saturating_add(#stack))
        }
        None => local_size.to_token_stream(),
    };
    let registers = match (f.rust.maxnreg, f.rust.minnctapersm) {
        (None, None) if f.minnctapersm.is_none() || f.rust.reqntid.or(f.rust.maxntid).is_none() => {
            registers.to_token_stream()
        }
        (maxnreg, minnctapersm) => {
            let number = |rust: Option<ConstId>, known| match rust {
                Some(id) => {
                    let n = values.number(id);
                    quote!(::core::option::Option::Some(#n))
                }
                None => option(known),
            };
            let (maxnreg, minnctapersm) = (number(maxnreg, f.maxnreg), number(minnctapersm, f.minnctapersm));
            let threads = if f.rust.reqntid.is_some() || info.reqntid.is_some() { &req } else { &max };
            quote!(#rt::constant::registers(#maxnreg, #minnctapersm, #threads, #most_registers))
        }
    };
    let name = if f.rust.generics.is_empty() { quote!(#name) } else { quote!(Self::NAME) };
    let target = &module.target;
    let image_of = |bytes, patches, end| values.image(bytes, patches, &module.vars, end);
    let const_end = module.const_open.map(|(_, end)| (end, CONST_LIMIT));
    let consts = image_of(&module.const_image, &module.const_patches, const_end);
    let globals = image_of(&module.global_image, &module.global_patches, module.global_end.map(|end| (end, 0)));
    let not_yet = info
        .not_yet
        .iter()
        .map(|NotYet { what, why, site }| quote!(#rt::NotYet { what: #what, why: #why, site: #site }));
    let image = Literal::byte_string(&image.encode());
    let origins = origins(sites.origins());
    let sites = sites.all().iter().map(|site| {
        let (text, rust_line, origin) = (values.marked(&site.text), site.source_line, site.origin);
        let line = if of_file { rust_line } else { site.line };
        let used_bytes = option(site.used_bytes);
        quote!(#rt::Site { text: #text, line: #line, rust_line: #rust_line, origin: #origin, used_bytes: #used_bytes })
    });
    let values = values.all();
    quote! {
        #rt::KernelInfo {
            name: #name,
            file: #file,
            params: &[#(#params),*],
            shared_size: #shared_size,
            shared_padding: #shared_padding,
            local_size: #local_size,
            const_image: #consts,
            global_image: #globals,
            reqntid: #req,
            maxntid: #max,
            reqnctapercluster: #cluster,
            maxclusterrank: #rank,
            uses_dynamic_shared: #uses_dynamic_shared,
            heap: #heap,
            cooperative: #cooperative,
            reserved_shared: #reserved_shared,
            explicit_cluster: #explicit_cluster,
            registers: #registers,
            target: #target,
            of_file: #of_file,
            source: "",
            sites: &[#(#sites),*],
            origins: #origins,
            values: #values,
            not_yet: &[#(#not_yet),*],
            image: #image,
        }
    }
}

fn origins(Origins { files, places }: &Origins) -> TokenStream {
    let rt = RT;
    if places.is_empty() {
        return quote!(#rt::Origins::NONE);
    }
    let places = places.iter().map(|numbers| quote!([#(#numbers),*]));
    quote!(#rt::Origins { files: &[#(#files),*], places: &[#(#places),*] })
}

fn option(n: Option<u32>) -> TokenStream {
    match n {
        Some(n) => quote!(::core::option::Option::Some(#n)),
        None => quote!(::core::option::Option::None),
    }
}

fn dims(dims: Option<[u32; 3]>) -> TokenStream {
    match dims {
        Some([a, b, c]) => quote!(::core::option::Option::Some([#a, #b, #c])),
        None => quote!(::core::option::Option::None),
    }
}
