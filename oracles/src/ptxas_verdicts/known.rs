//! Known disagreements with their reasons: `known.txt`.

use ptx_dsl_frontend::ty::Ty;

use super::batch::{Case, Verdict};

const KNOWN: &str = include_str!("known.txt");

/// A reason, and where it holds.
pub struct Known {
    /// We accept what ptxas refuses.
    pub accept: bool,
    /// Parts that all occur, each as one of its alternatives, in the statement or in the refusing side's message.
    parts: Vec<&'static str>,
    /// Kinds of mutations.
    pub kinds: Vec<&'static str>,
    /// Why.
    pub reason: &'static str,
    /// The opcodes of the table; `*` for all.
    pub opcodes: Vec<&'static str>,
}

/// An opcode of an entry: the key for disagreements.
pub type Place = (usize, usize);

/// Reads the list: a line `refuse MESSAGE
/// KINDS
/// REASON` or `accept ...`, then, indented, the opcodes.
pub fn list() -> Result<Vec<Known>, String> {
    let mut out: Vec<Known> = Vec::new();
    for line in KNOWN.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        if line.starts_with(' ') {
            let last = out.last_mut().ok_or(format!("opcodes of nothing: {line}"))?;
            last.opcodes.extend(line.split_whitespace());
            continue;
        }
        let mut fields = line.split(" | ").map(str::trim);
        let (Some(head), Some(kinds), Some(reason), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(format!("not `refuse MESSAGE | KINDS | REASON`: {line}"));
        };
        let (accept, parts) = match head.split_once(' ') {
            Some(("accept", parts)) => (true, parts),
            Some(("refuse", parts)) => (false, parts),
            _ => return Err(format!("neither `accept` nor `refuse`: {line}")),
        };
        out.push(Known {
            accept,
            parts: parts.split(" & ").collect(),
            kinds: kinds.split(", ").collect(),
            reason,
            opcodes: Vec::new(),
        });
    }
    Ok(out)
}

impl Known {
    /// Is this disagreement of the kind, whatever the opcode?
    pub fn alike(&self, case: &Case, verdict: &Verdict) -> bool {
        let Some(message) = verdict.ours.as_ref().or(verdict.theirs.as_ref()) else { return false };
        let one = |part: &str| message.contains(part) || case.text.contains(part) || is(part, message, &case.text);
        let alike = |part: &&str| part.split(" or ").any(one);
        self.accept == verdict.ours.is_none() && self.kinds.contains(&case.kind) && self.parts.iter().all(alike)
    }
}

/// Parts with a meaning of their own: `(wider)`, `(narrower)`, `(other kind)` for a register of another type than needed, `(in
/// braces)` for such a register or a constant.
fn is(part: &str, message: &str, statement: &str) -> bool {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let name = quoted.next().unwrap_or("");
    match part {
        "(in braces)" => {
            let element = |e: &str| match name.strip_prefix('%') {
                Some(_) => e == name,
                None => e.starts_with(|c: char| c == '-' || c.is_ascii_digit()) || e == "WARP_SZ",
            };
            let inside = |at: usize| statement[at + 1..].split('}').next().unwrap_or("");
            statement.match_indices('{').any(|(at, _)| inside(at).split([',', '{']).any(|e| element(e.trim())))
        }
        "(wider)" | "(narrower)" | "(other kind)" => {
            let bits = |name: Option<&str>| Ty::from_name(name?.strip_prefix('.')?).map(Ty::bits);
            let (Some(have), Some(want)) = (bits(quoted.next()), bits(quoted.next())) else { return false };
            part == if have > want {
                "(wider)"
            } else if have < want {
                "(narrower)"
            } else {
                "(other kind)"
            }
        }
        _ => false,
    }
}

/// The entry that covers this disagreement.
pub fn find(known: &[Known], case: &Case, verdict: &Verdict) -> Option<Place> {
    known.iter().enumerate().find_map(|(i, k)| {
        let at = k.opcodes.iter().position(|o| *o == case.opcode || *o == "*")?;
        k.alike(case, verdict).then_some((i, at))
    })
}

#[cfg(test)]
mod tests {
    use super::is;

    #[test]
    fn registers_and_constants_in_their_places() {
        let message = "PTX0407 `%f1` is a `.f32` register, but `.u64` is needed here";
        let same = "PTX0407 `%f1` is a `.f32` register, but `.b32` is needed here";
        assert!(is("(narrower)", message, "") && !is("(wider)", message, "") && is("(other kind)", same, ""));
        assert!(is("(in braces)", message, "st.v2.f32 [%d1], {%r1, %f1};"));
        assert!(!is("(in braces)", message, "st.v2.f32 [%f1], {%r1, %f11};"));
        let constant = "PTX0408 an integer cannot be a `.f32` operand";
        assert!(is("(in braces)", constant, "x {%f1, -1};") && !is("(in braces)", constant, "x {%f1}, 7;"));
    }
}
