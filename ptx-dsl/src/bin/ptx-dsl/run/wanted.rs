//! What a kernel wants, as a command line to start from.

use ptx_dsl::load::{Kernel, Parameter, Pointee};

use super::proposal::{Value, is_tensor_map, proposal};
use crate::names;

/// Can the kernel be launched without options?
pub fn is_complete(kernel: &Kernel) -> bool {
    kernel.parameters().is_empty() && kernel.required_block().or(kernel.largest_block()).is_some()
}

/// The command line, and comments about the parameters. `named`: it says which kernel.
pub fn command_line(kernel: &Kernel, file: &str, named: bool) -> String {
    let mut text = format!("# kernel `{}`\n", names::shown(kernel.name()));
    let proposal = proposal(kernel);
    let mut line = format!("ptx-dsl run {}", quoted(file));
    if named {
        line += &format!(" --entry {}", quoted(kernel.name()));
    }
    line += &format!(" --grid {}", dims(proposal.cluster));
    if kernel.required_cluster().is_none() && proposal.cluster != [1; 3] {
        line += &format!(" --cluster {}", dims(proposal.cluster));
    }
    line += &format!(" --block {}", dims(proposal.block));
    if let Some(bytes) = proposal.shared {
        line += &format!(" --shared {bytes}");
    }
    if kernel.is_cooperative() {
        line += " --cooperative";
    }
    let mut prints = String::new();
    let parameters = kernel.parameters().iter().zip(kernel.pointees()).zip(&proposal.values);
    for (at, ((parameter, pointee), value)) in parameters.enumerate() {
        // the names that compilers make say no more than the position
        let name = match parameter.name.ends_with(&format!("_param_{at}")) {
            true => at.to_string(),
            false => parameter.name.clone(),
        };
        text += &format!("#   {name}: {}\n", described(parameter, pointee.as_ref()));
        line += &format!(" --arg {}", quoted(&format!("{name}={}", value.text())));
        let declared = parameter.pointer.as_ref().is_some_and(|p| p.element.is_some() && !p.read_only);
        if let Value::Buffer { elements, .. } = value
            && (declared || pointee.is_some_and(|p| p.written))
        {
            let shown = (*elements).min(proposal.threads()).min(8);
            prints += &format!(" --print {}", quoted(&format!("{name}[0..{shown}]")));
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
