//! Entries of the table in words.

use ptx_dsl_frontend::isa::syntax::{Form, forms};
use ptx_dsl_frontend::isa::{Gate, Host, Instr, Multiple, OpTy, OperandSpec, Ptx, Role, Rule, Targets, When, target};
use ptx_dsl_frontend::table::FAMILIES;
use std::fmt::Write;

/// The entries that an opcode names: those with this opcode, else those whose opcodes begin with it, else those of the opcode that it
/// begins with. Empty if there are none.
pub fn entries_of(opcode: &str) -> Vec<&'static Instr> {
    let all = || FAMILIES.iter().flat_map(|(_, list)| list.iter());
    let mut found: Vec<&'static Instr> = all().filter(|i| i.opcode == opcode).collect();
    if found.is_empty() {
        // `mbarrier` is not an opcode of its own, but the beginning of several.
        found = all().filter(|i| i.opcode.strip_prefix(opcode).is_some_and(|r| r.starts_with(['.', ':']))).collect();
    }
    // `mbarrier.arrive.release.cta` is an opcode with qualifiers.
    let mut shorter = opcode;
    while let (true, Some((before, _))) = (found.is_empty(), shorter.rsplit_once('.')) {
        shorter = before;
        found = all().filter(|i| i.opcode == shorter).collect();
    }
    found
}

/// An entry with its forms, qualifiers, operands, requirements and rules, over several lines.
pub fn describe(i: &'static Instr) -> String {
    let mut out = format!("{} (PTX ISA {})\n", i.opcode, i.section);
    let _ = writeln!(out, "  since {}", needs(Some(i.since), Some(i.requires)));
    if let Some((version, targets)) = i.until {
        let _ = writeln!(out, "  gone since PTX ISA {}.{} for {}", version.0, version.1, target::describe(targets));
    }
    let forms = forms(i);
    let _ = writeln!(out, "  forms:");
    for form in &forms {
        let _ = writeln!(out, "    {};", form.line.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    let sets = sets(&forms, i);
    if !sets.is_empty() {
        let _ = writeln!(out, "  qualifiers:");
        sets.iter().for_each(|s| out.push_str(s));
    }
    if !i.operands.is_empty() {
        let _ = writeln!(out, "  operands:");
        i.operands.iter().for_each(|o| out.push_str(&operand(o)));
    }
    if !i.gates.is_empty() {
        let _ = writeln!(out, "  requirements:");
        i.gates.iter().for_each(|g| out.push_str(&gate(g)));
    }
    let rules: Vec<String> = i.rules.iter().filter_map(rule).collect();
    let computed = i.rules.len() - rules.len();
    if !i.rules.is_empty() {
        let _ = writeln!(out, "  rules:");
        rules.iter().for_each(|r| {
            let _ = writeln!(out, "    {r}");
        });
        if computed > 0 {
            let s = if computed == 1 { "" } else { "s" };
            let _ = writeln!(out, "    {computed} check{s} of values and combinations");
        }
    }
    let _ = writeln!(out, "  host: {}", host(i.host));
    out
}

/// The sets of alternatives that the forms name.
pub(crate) fn sets(forms: &[Form], i: &Instr) -> Vec<String> {
    let mut seen: Vec<(String, String)> = Vec::new();
    for slot in forms.iter().flat_map(|f| &f.slots).filter(|s| s.alts.len() > 1) {
        let alts: Vec<String> = slot.alts.iter().map(|a| a.to_string()).collect();
        let name = if slot.name.contains([',', ' ']) { String::new() } else { slot.name.to_string() };
        let line = (name, alts.join(", "));
        if !seen.contains(&line) {
            seen.push(line);
        }
    }
    let default = |name: &str| {
        let found = i.defaults.iter().find(|(n, _)| *n == name);
        found.map_or(String::new(), |(_, value)| format!(" (default: {value})"))
    };
    seen.iter()
        .map(|(name, alts)| match name.as_str() {
            "" => format!("    one of {alts}\n"),
            name => format!("    {name} = {alts}{}\n", default(name)),
        })
        .collect()
}

pub(crate) fn operand(o: &OperandSpec) -> String {
    let role = match o.role {
        Role::Dst => "written",
        Role::Src => "read",
        Role::Addr => "address",
        Role::Name => "name",
    };
    let ty = match o.ty {
        OpTy::Ty(t) => format!(" .{}", t.name()),
        OpTy::Slot(s) | OpTy::Parts(s) => format!(" {s}"),
        OpTy::Wide(s) => format!(" {s}, twice as wide with .wide"),
        OpTy::Vec(s, 0) => format!(" {s}, as many as .vec says"),
        OpTy::Vec(s, n) => format!(" {n} of {s}"),
        OpTy::Coords(s) => format!(" {s}, as many as the geometry needs"),
        OpTy::PerAxis(t) => format!(" .{}, one for each axis of the geometry", t.name()),
        OpTy::Fragment(_) => " values, as many as the shape and type say".into(),
        OpTy::Many(t, _) => format!(" .{}, as many as the qualifiers say", t.name()),
        OpTy::None => String::new(),
    };
    let mut more = String::new();
    if o.sink {
        more += ", or `_`";
    }
    if o.imm_only {
        more += ", a constant";
    }
    if let Some((low, high)) = o.range {
        let _ = write!(more, ", constants {low} to {high}");
    }
    if o.no_imm && o.role == Role::Src {
        more += ", a register";
    }
    if o.wider {
        more += ", the register may be wider";
    }
    if o.align > 1 {
        let _ = write!(more, ", aligned to {} bytes", o.align);
    }
    format!("    {}: {role}{ty}{more}\n", o.name)
}

pub(crate) fn gate(g: &Gate) -> String {
    let when: Vec<String> = g.when.iter().map(condition).collect();
    format!("    {}: {}\n", when.join(" "), needs(g.since, g.requires))
}

fn condition(w: &When) -> String {
    match w {
        When::Has(q) => (*q).to_string(),
        When::Not(q) => format!("without {q}"),
        When::HasAny(list) => list.iter().map(|q| q.text()).collect::<Vec<_>>().join(" or "),
        When::Operand(name) => format!("operand {name}"),
        When::Sink("_") => "`_` in the form".to_owned(),
        When::Sink(name) => format!("operand {name} is `_`"),
        When::Types(list) => list.iter().map(|t| format!(".{}", t.name())).collect(),
    }
}

pub(crate) fn needs(since: Option<Ptx>, requires: Option<Targets>) -> String {
    let version = since.map(|v| format!("PTX ISA {}.{}", v.0, v.1));
    let targets = requires.map(target::describe);
    [version, targets].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A rule that is text; others are computed.
fn rule(r: &Rule) -> Option<String> {
    match r {
        Rule::Never(_, text) | Rule::Needs(_, _, text) => Some((*text).to_owned()),
        Rule::Multiple(Multiple { what, unit, .. }) => Some(format!("{what} is a multiple of {unit}")),
        Rule::Custom(_) => None,
    }
}

pub(crate) fn host(h: Host) -> String {
    match h {
        Host::NotYet(why) => format!("does not run it yet: {why}. It is checked and printed"),
        Host::Lane | Host::Warp | Host::Control => "runs it".into(),
        Host::Block | Host::Registers => "runs it; it may wait".into(),
    }
}
