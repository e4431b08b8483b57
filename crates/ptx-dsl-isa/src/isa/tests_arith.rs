//! Invariants of every entry, in all families.

use super::*;

#[test]
fn entries_name_their_section_and_spell_their_opcode() {
    for (family, list) in FAMILIES {
        assert!(!list.is_empty(), "{family}");
        for instr in *list {
            assert!(instr.section.starts_with(|c: char| c.is_ascii_digit()), "{family}: {}", instr.opcode);
            let forms = instr.syntax.split(';').map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('.'));
            let mut count = 0;
            for form in forms {
                let rest = form.strip_prefix(instr.opcode);
                assert!(rest.is_some_and(|r| r.is_empty() || r.starts_with(['.', '{', ' ', ':'])), "{family}: {form}");
                count += 1;
            }
            assert!(count > 0, "{family}: {}", instr.opcode);
        }
    }
}

#[test]
fn operands_are_named_once() {
    for (family, list) in FAMILIES {
        for instr in *list {
            for (i, spec) in instr.operands.iter().enumerate() {
                let earlier = &instr.operands[..i];
                assert!(earlier.iter().all(|o| o.name != spec.name), "{family}: {}: {}", instr.opcode, spec.name);
            }
        }
    }
}
