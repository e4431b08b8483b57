//! The table and the runtime agree on the opcodes that the host runs.

use ptx_dsl::__private::semantics::list::SEMANTICS;
use ptx_dsl_frontend::isa::Host;
use ptx_dsl_frontend::opcode::Opcode;
use ptx_dsl_frontend::table::{FAMILIES, SYSTEM};
use std::collections::BTreeMap;

/// The name of an opcode's function: `.` as `_`, without `.cta`, which changes nothing.
fn function(opcode: Opcode) -> String {
    let words: Vec<&str> = opcode.name().split('.').filter(|word| *word != "cta").collect();
    let name = words.join("_");
    if name == "match" { "match_".to_string() } else { name }
}

#[test]
fn the_host_has_semantics_for_what_the_table_says_it_runs() {
    let mut table = BTreeMap::new();
    for instr in FAMILIES.iter().chain([&SYSTEM]).flat_map(|(_, list)| *list) {
        if matches!(instr.host, Host::Lane | Host::Warp | Host::Block | Host::Registers) {
            let opcode = Opcode::of(instr.opcode);
            table.insert(opcode, function(opcode));
        }
    }
    let runtime: BTreeMap<Opcode, String> =
        SEMANTICS.iter().copied().flatten().map(|(opcode, name)| (*opcode, name.to_string())).collect();
    assert_eq!(table, runtime);
    assert_eq!(SEMANTICS.iter().map(|list| list.len()).sum::<usize>(), runtime.len(), "each opcode once");
}
