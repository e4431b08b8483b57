//! Fixes for opcodes of other languages, and for old and misspelt ones.

use super::super::Checker;
use super::{Verdict, spelled, split, word};
use crate::ast::{self, Expr, OperandKind, Word};
use crate::edit::Help;
use crate::parse::foreign;
use crate::print;
use ptx_dsl_isa::opcode::Entry;

impl Checker {
    /// An opcode of another language, a help with the PTX for it, and whether that is certainly legal. `least`: of this many parts.
    pub(crate) fn foreign_instruction(&mut self, ast: &ast::Instr, least: usize) -> Option<(String, Help, bool)> {
        for count in (least..=ast.parts.len().min(3)).rev() {
            let (named, rest) = ast.parts.split_at(count);
            let name = spelled(named);
            if let Some(advice) = foreign::advice(&name) {
                return Some((name, advice.into(), true));
            }
            let own = foreign::instructions(&name);
            if !own.is_empty() {
                let (own, sure) = self.completed_foreign(ast, &own, rest);
                return Some((name, Help::did_you_mean(own), sure));
            }
        }
        None
    }

    /// The first of these opcodes that is legal with the written qualifiers, with a type or a mask of lanes added if needed; or a
    /// statement. If none is legal, the first one.
    fn completed_foreign(&mut self, ast: &ast::Instr, opcodes: &[&str], rest: &[Word]) -> (String, bool) {
        let mut tries = self.grant();
        let masked = with_mask(ast);
        for own in opcodes {
            if foreign::is_statement(own) {
                return (own.to_string(), true);
            }
            for trial in [ast, &masked] {
                for more in ["", "b32", "u32", "s32", "f32", "u64", "f64", "b64", "pred"] {
                    let mut parts = split(own);
                    for part in rest {
                        if !parts.iter().any(|p| p.text == part.text) {
                            parts.push(part.clone());
                        }
                    }
                    if !more.is_empty() {
                        parts.push(word(more));
                    }
                    tries = tries.saturating_sub(1);
                    let text = spelled(&parts);
                    let trial = ast::Instr { parts, ..trial.clone() };
                    if tries > 0 && self.accepts(&trial) {
                        let whole = trial.operands.len() > ast.operands.len();
                        return (if whole { print::statement(&trial) } else { text }, true);
                    }
                }
                if !own.contains(".sync.") {
                    break;
                }
            }
        }
        (opcodes.first().copied().unwrap_or("").to_string(), false)
    }

    /// The present form of a removed instruction: `mad.rn.f32`, `shfl.sync` with a mask of lanes.
    pub(crate) fn renewed(&mut self, ast: &ast::Instr) -> Option<String> {
        for (more, masked) in [("rn", false), ("sync", false), ("sync", true)] {
            let mut trial = if masked { with_mask(ast) } else { ast.clone() };
            trial.parts.insert(1.min(trial.parts.len()), word(more));
            if self.accepts(&trial) {
                return Some(if masked { print::statement(&trial) } else { spelled(&trial.parts) });
            }
        }
        None
    }

    /// The opcode with the missing dot in its first word: `mulf32`.
    pub(crate) fn with_dot(&mut self, ast: &ast::Instr) -> Option<String> {
        let (first, rest) = ast.parts.split_first()?;
        // `fence_proxy_async`
        if first.text.contains('_') {
            let parts: Vec<_> = first.text.split('_').map(word).chain(rest.iter().cloned()).collect();
            let text = spelled(&parts);
            if self.verdict_of(ast, parts) == Verdict::Legal {
                return Some(text);
            }
        }
        for i in 1..first.text.len().min(24) {
            let Some((a, b)) = first.text.split_at_checked(i) else { continue };
            if self.table.entries(a).is_empty() {
                continue;
            }
            let mut parts = vec![word(a), word(b)];
            parts.extend_from_slice(rest);
            let text = spelled(&parts);
            if self.verdict_of(ast, parts) == Verdict::Legal {
                return Some(text);
            }
        }
        None
    }

    /// The opcode with a missing word in the middle: `redux.add` for `redux.sync.add`.
    pub(crate) fn with_all_parts(&mut self, ast: &ast::Instr, same_first: &[Entry]) -> Option<String> {
        for entry in same_first.iter().take(16) {
            let mut parts = split(entry.opcode.name());
            for part in &ast.parts {
                if !parts.iter().any(|p| p.text == part.text) {
                    parts.push(part.clone());
                }
            }
            let text = spelled(&parts);
            if self.verdict_of(ast, parts) == Verdict::Legal {
                return Some(text);
            }
        }
        None
    }

    /// The only opcode that continues the last of these words: `tcgen05.relinquish`.
    pub(crate) fn continued(name: &str, opcodes: &[&'static str]) -> Option<&'static str> {
        let (_, last) = name.rsplit_once('.')?;
        let longer =
            |opcode: &&&str| last.len() > 2 && opcode.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
        let mut found = opcodes.iter().filter(longer);
        let first = found.next()?;
        found.all(|other| other == first).then_some(*first)
    }

    /// The lower-case form of a statement in capitals.
    pub(crate) fn small_letters(&mut self, ast: &ast::Instr) -> Option<String> {
        let mut parts = ast.parts.clone();
        let mut changed = false;
        for part in &mut parts {
            let small = part.text.to_ascii_lowercase();
            changed |= small != part.text;
            part.text = small;
        }
        let text = spelled(&parts);
        (changed && self.accepts_parts(ast, parts)).then_some(text)
    }
}

/// The instruction with a mask of all lanes as a last operand.
fn with_mask(ast: &ast::Instr) -> ast::Instr {
    let mut out = ast.clone();
    let (value, text) = (0xffff_ffff, Some("0xffffffff".to_string()));
    let mask = Expr::Int { value, unsigned: false, text, span: ast.span };
    out.operands.push(ast::Operand { kind: OperandKind::Expr(mask), span: ast.span });
    out
}
