//! What a kernel wants, as a command line to start from.

use ptx_dsl::load::{Kernel, Parameter, Pointee, Ty};

use super::values::element;
use crate::names;

/// Can the kernel be launched without options?
pub fn is_complete(kernel: &Kernel) -> bool {
    kernel.parameters().is_empty() && kernel.required_block().or(kernel.largest_block()).is_some()
}

/// The command line, and comments about the parameters. `named`: it says which kernel.
pub fn command_line(kernel: &Kernel, file: &str, named: bool) -> String {
    let mut text = format!("# kernel `{}`\n", names::shown(kernel.name()));
    let cluster = kernel.required_cluster().unwrap_or([1; 3]);
    let block = kernel.required_block().or(kernel.largest_block());
    let mut line = format!("ptx-dsl run {}", quoted(file));
    if named {
        line += &format!(" --entry {}", quoted(kernel.name()));
    }
    line += &format!(" --grid {} --block {}", dims(cluster), dims(block.unwrap_or([32, 1, 1])));
    if kernel.uses_dynamic_shared() {
        line += " --shared 1024";
    }
    if kernel.is_cooperative() {
        line += " --cooperative";
    }
    let volume = |dims: [u32; 3]| dims.iter().map(|d| u64::from(*d)).product::<u64>();
    let threads = volume(cluster) * volume(block.unwrap_or([32, 1, 1]));
    let mut prints = String::new();
    for (at, (parameter, pointee)) in kernel.parameters().iter().zip(kernel.pointees()).enumerate() {
        // the names that compilers make say no more than the position
        let name = match parameter.name.ends_with(&format!("_param_{at}")) {
            true => at.to_string(),
            false => parameter.name.clone(),
        };
        text += &format!("#   {name}: {}\n", described(parameter, pointee.as_ref()));
        let value = example(parameter, pointee.as_ref(), threads);
        line += &format!(" --arg {}", quoted(&format!("{name}={value}")));
        let declared = parameter.pointer.as_ref().is_some_and(|p| p.element.is_some() && !p.read_only);
        if declared || pointee.is_some_and(|p| p.written) {
            prints += &format!(" --print {}", quoted(&format!("{name}[0..{}]", threads.min(8))));
        }
    }
    text + &line + &prints + "\n"
}

fn described(parameter: &Parameter, pointee: Option<&Pointee>) -> String {
    let mut text = match (parameter.pointer.is_none(), pointee) {
        _ if is_tensor_map(parameter) => format!("{parameter}, as a tensor map has"),
        (true, Some(_)) => format!("an address (`.{}`)", parameter.ty.name()),
        _ => parameter.to_string(),
    };
    let use_of = |written| if written { "written" } else { "read" };
    if let Some(p) = pointee {
        match p.element {
            Some(ty) => text += &format!("; {} as `.{}`", use_of(p.written), ty.name()),
            None => text += &format!("; {}", use_of(p.written)),
        }
    }
    text
}

/// Does it have the size and alignment of a tensor map?
fn is_tensor_map(parameter: &Parameter) -> bool {
    parameter.is_array && parameter.size == 128 && parameter.align >= 64
}

/// A value that fits the type.
fn example(parameter: &Parameter, pointee: Option<&Pointee>, threads: u64) -> String {
    if !parameter.takes_buffer() || (parameter.pointer.is_none() && pointee.is_none()) {
        return match parameter.ty {
            _ if is_tensor_map(parameter) => "tensormap(f16[64,64],box=64x64)".into(),
            _ if parameter.is_array => format!("u8[{}]", parameter.size),
            ty if ty.is_float() => "1.0".into(),
            Ty::U16 | Ty::U32 | Ty::U64 | Ty::S32 | Ty::S64 => threads.to_string(),
            _ => "0".into(),
        };
    }
    match (element(parameter, pointee), pointee) {
        (Some(ty), Some(p)) if p.written => format!("{}[{}]", ty.name(), elements(ty, p, threads)),
        (Some(ty), Some(p)) => format!("{}[{}]:iota", ty.name(), elements(ty, p, threads)),
        (Some(ty), None) => format!("{}[{threads}]:iota", ty.name()),
        (None, Some(p)) => format!("u8[{}]", threads * u64::from(p.bytes.max(4))),
        (None, None) => "null".into(),
    }
}

/// As many as there are if each thread makes the largest access.
fn elements(ty: Ty, pointee: &Pointee, threads: u64) -> u64 {
    threads * u64::from(pointee.bytes.div_ceil(ty.bytes()).max(1))
}

fn dims(dims: [u32; 3]) -> String {
    let length = dims.iter().rposition(|d| *d != 1).map_or(1, |last| last + 1);
    dims[..length].iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=,:+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
