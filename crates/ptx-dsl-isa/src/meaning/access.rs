//! What an instruction accesses: the state space that it names, the elements that it moves, and whether it is a plain access.

use crate::hir::{Arg, Instr, Space};
use crate::isa::effect::MemoryOp;
use crate::isa::memory::Size;
use crate::qualifier::{Qualifier, q};

/// The vector qualifiers, each with its number of elements.
pub const VECTORS: [(Qualifier, u32); 3] = [(q::v2, 2), (q::v4, 4), (q::v8, 8)];

/// The number of elements of an access with these qualifiers: 1 without a vector qualifier.
pub fn elements(has: impl Fn(Qualifier) -> bool) -> u32 {
    VECTORS.into_iter().find(|(vector, _)| has(*vector)).map_or(1, |(_, n)| n)
}

/// The state space that a qualifier names. All of `.shared`, `.shared::cta` and `.shared::cluster` name shared memory.
pub fn space(qualifier: Qualifier) -> Option<Space> {
    Some(match qualifier {
        q::global => Space::Global,
        q::_const => Space::Const,
        q::shared | q::shared_cta | q::shared_cluster => Space::Shared,
        q::local => Space::Local,
        q::param | q::param_entry => Space::ParamEntry,
        _ => return None,
    })
}

/// The address operand of a plain access, and whether it writes: the executing thread accesses a known number of bytes through the generic
/// proxy.
pub fn plain_access(i: &Instr) -> Option<(&Arg, bool)> {
    let operation = i.entry.effects.ordinary();
    if operation == MemoryOp::None {
        return None;
    }
    let arg = i.address()?;
    let known = matches!(i.entry.operand(arg.name)?.memory?.size, Size::Type | Size::Bytes(_));
    known.then_some((arg, operation != MemoryOp::Load))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::FAMILIES;

    /// The manual's vector qualifiers, 6.4.3 and 9.7.9.8: `.v2`, `.v4` and `.v8`. No syntax has another one.
    #[test]
    fn vectors_of_the_table_have_a_number_of_elements() {
        for instr in FAMILIES.iter().flat_map(|(_, list)| *list) {
            for (at, _) in instr.syntax.match_indices(".v") {
                let digits: String = instr.syntax[at + 2..].chars().take_while(char::is_ascii_digit).collect();
                let number: Option<u32> = digits.parse().ok();
                let name = Qualifier::named(&format!(".v{digits}"));
                if let (Some(number), Some(name)) = (number, name) {
                    assert_eq!(elements(|word| word == name), number, "{}: {}", instr.opcode, instr.syntax);
                }
            }
        }
        assert_eq!(elements(|_| false), 1);
    }
}
