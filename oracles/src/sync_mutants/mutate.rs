//! Mutations: each deletes or weakens one synchronising operation of a module.

use std::ops::Range;

use ptx_dsl_frontend::isa::effect::{Barrier, Effects, Fence, Group, Mbarrier, Step, Tensor};
use ptx_dsl_frontend::opcode;

/// A changed module.
pub struct Mutant {
    /// The line of the operation.
    pub line: usize,
    /// The statement, and its change.
    pub what: String,
    pub text: String,
}

/// An instruction in the text.
struct Statement<'t> {
    /// The range of the statement without its label, with its `;`.
    range: Range<usize>,
    /// `@%p `, or nothing.
    guard: &'t str,
    /// Opcode and qualifiers.
    head: &'t str,
    /// The text of the operands with the `;`.
    operands: &'t str,
    effects: Effects,
    opcode: &'static str,
}

/// All mutants of a module.
pub fn mutants(text: &str) -> Vec<Mutant> {
    let mut all = Vec::new();
    for s in statements(text) {
        for (change, new) in changes(&s) {
            let line =
                text[..s.range.start].lines().count().max(1) + usize::from(text[..s.range.start].ends_with('\n'));
            let statement = text[s.range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
            let mut mutated = format!("{}{new}{}", &text[..s.range.start], &text[s.range.end..]);
            if change.contains("relaxed") {
                mutated = at_least(mutated, 8, 6);
            }
            all.push(Mutant { line, what: format!("`{statement}`: {change}"), text: mutated });
        }
    }
    all
}

/// The module with this version, if it has a lower one: `.relaxed` of mbarrier operations is newer than the others.
fn at_least(text: String, major: u32, minor: u32) -> String {
    let Some((before, rest)) = text.split_once(".version ") else { return text };
    let (version, rest) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
    let number = |part: Option<&str>| part.and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut parts = version.split('.');
    if (number(parts.next()), number(parts.next())) >= (major, minor) {
        return text;
    }
    format!("{before}.version {major}.{minor}{rest}")
}

/// The changes of a statement: in words, and as text.
fn changes(s: &Statement<'_>) -> Vec<(String, String)> {
    let e = &s.effects;
    let mut all = Vec::new();
    let Statement { guard, head, operands, .. } = *s;
    let waits = e.mbarrier == Mbarrier::Wait;
    let step = match e.group {
        Group::Copy(step) | Group::Bulk(step) | Group::Wgmma(step) => Some(step),
        Group::None => None,
    };
    let deletes = e.fence != Fence::None
        || e.barrier != Barrier::None
        || !matches!(e.mbarrier, Mbarrier::None | Mbarrier::Query | Mbarrier::Wait)
        || matches!(step, Some(Step::Commit | Step::Wait))
        || matches!(e.tensor, Tensor::Wait | Tensor::Fence | Tensor::Commit)
        || matches!(s.opcode, "wgmma.fence" | "griddepcontrol");
    if deletes {
        all.push(("deleted".into(), String::new()));
    }
    let orders = [".relaxed", ".acquire", ".release", ".acq_rel", ".sc"];
    if waits && !operands.contains('|') {
        let result = operands.split(',').next().unwrap_or_default().trim();
        all.push(("does not wait".into(), format!("{guard}setp.eq.u32 {result}, 0, 0;")));
    }
    let synchronises =
        e.fence == Fence::Memory || e.mbarrier != Mbarrier::None || orders.iter().any(|o| head.contains(o));
    for (wide, narrow) in [(".cluster", ".cta"), (".gpu", ".cta"), (".sys", ".gpu")] {
        if synchronises && let Some(new) = with_qualifier(head, wide, narrow) {
            all.push((format!("`{wide}` is `{narrow}`"), format!("{guard}{new}{operands}")));
        }
    }
    for (strong, weak) in
        [(".acquire", ".relaxed"), (".release", ".relaxed"), (".acq_rel", ".relaxed"), (".sc", ".acq_rel")]
    {
        let fence = e.fence != Fence::None && strong != ".sc";
        if let (Some(new), false) = (with_qualifier(head, strong, weak), fence) {
            all.push((format!("`{strong}` is `{weak}`"), format!("{guard}{new}{operands}")));
        }
    }
    let arrives = matches!(e.mbarrier, Mbarrier::Arrive | Mbarrier::Drop);
    if (arrives || waits)
        && !orders.iter().any(|o| head.contains(o))
        && s.opcode.starts_with("mbarrier.")
        && let Some(at) = head.find(".shared").or_else(|| head.find(".b64"))
    {
        let (head, rest) = head.split_at(at);
        all.push(("is `.relaxed`".into(), format!("{guard}{head}.relaxed.cta{rest}{operands}")));
    }
    if e.barrier == Barrier::Cluster && head.contains(".arrive") && !orders.iter().any(|o| head.contains(o)) {
        let new = head.replacen(".arrive", ".arrive.relaxed", 1);
        all.push(("is `.relaxed`".into(), format!("{guard}{new}{operands}")));
    }
    numbers(s, &mut all);
    all
}

/// Changes of counts, bytes, parities and numbers of groups.
fn numbers(s: &Statement<'_>, all: &mut Vec<(String, String)>) {
    let e = &s.effects;
    let Statement { guard, head, operands, .. } = *s;
    let mut parts: Vec<String> = operands.trim_end_matches(';').split(',').map(|p| p.trim().to_owned()).collect();
    let Some(last) = parts.pop() else { return };
    let number = last.parse::<u64>().ok();
    let mut put = |what: String, new: u64| {
        let list: Vec<String> = parts.iter().cloned().chain([new.to_string()]).collect();
        all.push((what, format!("{guard}{head} {};", list.join(", "))));
    };
    let bytes = head.contains(".expect_tx") || e.mbarrier == Mbarrier::ExpectTx;
    match (e.mbarrier, number) {
        (_, Some(n)) if bytes => put(format!("{n} bytes are {}", n + 16), n + 16),
        (Mbarrier::Init, Some(n)) => {
            put(format!("count {n} is {}", n + 1), n + 1);
            if n > 1 {
                put(format!("count {n} is {}", n - 1), n - 1);
            }
        }
        (Mbarrier::Wait, Some(n)) if head.contains(".parity") => put("the other parity".into(), n ^ 1),
        (Mbarrier::Wait, None) if head.contains(".parity") => {
            let flip = format!("xor.b32 {last}, {last}, 1;");
            all.push(("the other parity".into(), format!("{flip} {guard}{head}{operands} {flip}")));
        }
        _ => {}
    }
    let waits = matches!(e.group, Group::Copy(Step::Wait) | Group::Bulk(Step::Wait) | Group::Wgmma(Step::Wait));
    if let (true, Some(n)) = (waits, number) {
        let list = format!("{guard}{head} {};", n + 1);
        all.push((format!("waits for all but {} groups", n + 1), list));
    }
    if e.barrier == Barrier::Cta && parts.len() == 1 {
        if let Some(n) = number.filter(|n| *n > 32) {
            let list = format!("{guard}{head} {}, {};", parts[0], n - 32);
            all.push((format!("{n} threads are {}", n - 32), list));
        }
        if let Ok(id) = parts[0].parse::<u64>() {
            let list = format!("{guard}{head} {}, {last};", (id + 1) % 16);
            all.push(("another barrier".into(), list));
        }
    }
}

/// The head with one qualifier in place of another.
fn with_qualifier(head: &str, old: &str, new: &str) -> Option<String> {
    let at = head.match_indices(old).map(|(at, _)| at).find(|at| {
        let rest = &head[at + old.len()..];
        // `.shared::cluster` and `.multicast::cluster` are others
        !head[..*at].ends_with(':') && (rest.is_empty() || rest.starts_with('.'))
    })?;
    Some(format!("{}{new}{}", &head[..at], &head[at + old.len()..]))
}

/// The instructions of all bodies.
fn statements(text: &str) -> Vec<Statement<'_>> {
    let bytes = text.as_bytes();
    let (mut all, mut depth, mut start, mut at) = (Vec::new(), 0usize, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                if text[start..at].trim_start().starts_with("//") {
                    start = at;
                }
                continue;
            }
            b'"' => at += text[at + 1..].find('"').map_or(0, |n| n + 1),
            b'{' if is_block(&text[start..at]) => {
                depth += 1;
                start = at + 1;
            }
            b'}' if is_block(&text[start..at]) => {
                depth = depth.saturating_sub(1);
                start = at + 1;
            }
            b':' if depth > 0 && bytes.get(at + 1) != Some(&b':') && at > 0 && bytes[at - 1] != b':' => start = at + 1,
            b';' => {
                if depth > 0 {
                    all.extend(statement(text, start, at + 1));
                }
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    all
}

/// Does a brace after this text open or close a block? Others are lists of registers.
fn is_block(before: &str) -> bool {
    let code: Vec<&str> = before.lines().map(|l| l.split("//").next().unwrap_or_default().trim()).collect();
    let code = code.join(" ");
    let code = code.trim();
    code.is_empty() || code.ends_with(')') || code.starts_with('.') || code.contains(".entry") || code.contains(".func")
}

fn statement(text: &str, start: usize, end: usize) -> Option<Statement<'_>> {
    let mut from = start;
    loop {
        let rest = &text[from..end];
        let trimmed = rest.trim_start();
        from += rest.len() - trimmed.len();
        match trimmed.strip_prefix("//") {
            Some(_) => from += trimmed.find('\n')?,
            None => break,
        }
    }
    let whole = &text[from..end];
    let (guard, rest) = match whole.starts_with('@') {
        true => whole.split_at(whole.find(char::is_whitespace)? + 1),
        false => ("", whole),
    };
    let (head, operands) = rest.split_at(rest.find(|c: char| c.is_whitespace() || c == ';')?);
    let first = head.split('.').next()?;
    let named = |name: &str| head.strip_prefix(name).is_some_and(|r| r.is_empty() || r.starts_with('.'));
    let entries = opcode::entries(first).into_iter().filter(|e| named(e.instr.opcode));
    let entry = entries.max_by_key(|e| e.instr.opcode.len())?;
    Some(Statement {
        range: from..end,
        guard,
        head,
        operands,
        effects: entry.instr.effects,
        opcode: entry.instr.opcode,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n    .shared .b64 mb;\n\
        // mbarrier.init.shared.b64 [mb], 9;\n    mbarrier.init.shared.b64 [mb], 2;\n    bar.sync 0;\nloop:\n    \
        mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [mb], 0;\n    @!%p bra loop;\n    fence.proxy.async.shared::cta;\n    \
        ld.acquire.gpu.global.u32 {%r1}, [%rd1];\n    ret;\n}\n";

    #[test]
    fn each_mutant_differs_in_one_operation() {
        let all = mutants(MODULE);
        let what: Vec<String> = all.iter().map(|m| format!("{}: {}", m.line, m.what)).collect();
        for wanted in [
            "8: `mbarrier.init.shared.b64 [mb], 2;`: deleted",
            "8: `mbarrier.init.shared.b64 [mb], 2;`: count 2 is 3",
            "8: `mbarrier.init.shared.b64 [mb], 2;`: count 2 is 1",
            "9: `bar.sync 0;`: deleted",
            "11: `mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [mb], 0;`: does not wait",
            "11: `mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [mb], 0;`: `.cluster` is `.cta`",
            "11: `mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [mb], 0;`: `.acquire` is `.relaxed`",
            "11: `mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [mb], 0;`: the other parity",
            "13: `fence.proxy.async.shared::cta;`: deleted",
            "14: `ld.acquire.gpu.global.u32 {%r1}, [%rd1];`: `.gpu` is `.cta`",
            "14: `ld.acquire.gpu.global.u32 {%r1}, [%rd1];`: `.acquire` is `.relaxed`",
        ] {
            assert!(what.iter().any(|w| w == wanted), "{wanted} is not in {what:#?}");
        }
        assert_eq!(all.len(), 11, "{what:#?}");
        assert!(all.iter().all(|m| m.text != MODULE));
    }
}
