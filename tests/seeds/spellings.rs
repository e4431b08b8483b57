//! Syntax lines, and the notes on versions and targets: what is accepted, what is refused with which code. ptxas judges
//! the same modules.

use crate::ptxas;
use ptx_dsl_frontend::diag::Severity;
use ptx_dsl_frontend::lex::lex;

const DECLARATIONS: &str = ".reg .pred p, q;
    .reg .b16 half;
    .reg .b32 cnt, s32, %a;
    .reg .f32 f;
    .reg .b64 state, addr, mbar, wide;
    .shared .align 8 .b64 sh;
    .shared .align 16 .b8 buf[32];";

pub fn module(version: &str, target: &str, body: &str) -> String {
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n.global .align 8 .b64 there;\n\
         .visible .entry k()\n{{\n    {DECLARATIONS}\n    {body}\n    ret;\n}}\n"
    )
}

/// The codes of all errors, and the printed module.
pub fn compile(text: &str) -> (Vec<u16>, String) {
    let (lexed, mut found) = lex(text);
    let compiled = ptx_dsl_frontend::compile(&lexed.tokens);
    found.extend(compiled.diagnostics);
    (found.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code.number).collect(), compiled.ptx)
}

/// Every module must be accepted, by ptxas too, as written and as printed.
pub fn accepted(modules: Vec<(String, String)>) {
    let mut wrong = Vec::new();
    let mut all = Vec::new();
    for (name, text) in modules {
        let (mut codes, printed) = compile(&text);
        // The pages print fragments: the mbarrier is initialised (PTX0613) somewhere else.
        codes.retain(|code| *code != 613);
        if !codes.is_empty() {
            wrong.push(format!("{name}: {codes:?}"));
        }
        all.push((format!("{name}, printed"), printed));
        all.push((name, text));
    }
    for ((name, _), verdict) in all.iter().zip(ptxas::assemble_all(&all).unwrap_or_default()) {
        if let Err(message) = verdict {
            wrong.push(format!("ptxas on {name}: {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether ptxas refuses the module too.
#[derive(Clone, Copy, PartialEq)]
enum Ptxas {
    Refuses,
    /// It takes what the manual forbids.
    Lenient,
}
use Ptxas::{Lenient, Refuses};

type Refusal = (&'static str, &'static str, &'static str, u16, Ptxas);

/// Every module must be refused with exactly this code.
fn refused(rows: &[Refusal]) {
    let mut wrong = Vec::new();
    let mut all = Vec::new();
    for (version, target, body, code, _) in rows {
        let text = module(version, target, body);
        let (codes, _) = compile(&text);
        if codes != [*code] {
            wrong.push(format!("{version} {target} `{body}`: {codes:?}, expected {code}"));
        }
        all.push(((*body).to_string(), text));
    }
    let verdicts = ptxas::assemble_all(&all).unwrap_or_default();
    for ((version, target, body, _, expected), verdict) in rows.iter().zip(verdicts) {
        if verdict.is_err() != (*expected == Refuses) {
            wrong.push(format!("ptxas on {version} {target} `{body}`: {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const SEM_SCOPE: [&str; 5] = ["", ".release.cta", ".release.cluster", ".relaxed.cta", ".relaxed.cluster"];
const OWN: [&str; 3] = ["", ".shared", ".shared::cta"];

/// A name in its space, a generic address in a register.
fn address(space: &str) -> &'static str {
    if space.is_empty() { "addr" } else { "sh" }
}

#[test]
fn arrive_drop_syntax_lines() {
    let mut lines: [Vec<String>; 5] = Default::default();
    for sem in SEM_SCOPE {
        for space in OWN {
            let at = address(space);
            for dst in ["state", "_"] {
                for count in ["", ", 1", ", 1048575", ", cnt"] {
                    lines[0].push(format!("mbarrier.arrive_drop{sem}{space}.b64 {dst}, [{at}]{count};"));
                }
                for tx in ["0", "16", "1048575", "cnt"] {
                    lines[2].push(format!("mbarrier.arrive_drop.expect_tx{sem}{space}.b64 {dst}, [{at}], {tx};"));
                }
            }
        }
        for count in ["", ", 2", ", cnt"] {
            // the space may be absent on this line too: a generic address
            for (space, at) in [("", "addr"), (".shared::cluster", "s32"), (".shared::cluster", "addr")] {
                lines[1].push(format!("mbarrier.arrive_drop{sem}{space}.b64 _, [{at}]{count};"));
            }
        }
        for at in ["s32", "s32+8", "addr"] {
            lines[3].push(format!("mbarrier.arrive_drop.expect_tx{sem}.shared::cluster.b64 _, [{at}], cnt;"));
        }
    }
    for sem in ["", ".release.cta"] {
        for space in OWN {
            for dst in ["state", "_"] {
                let at = address(space);
                lines[4].push(format!("mbarrier.arrive_drop.noComplete{sem}{space}.b64 {dst}, [{at}], cnt;"));
                lines[4].push(format!("mbarrier.arrive_drop.noComplete{sem}{space}.b64 {dst}, [{at}], 3;"));
            }
        }
    }
    // Supported addressing modes: a name, a register, either with an offset; the examples give the space first.
    lines[0].push("mbarrier.arrive_drop.shared::cta.b64 _, [buf+8];".into());
    lines[0].push("mbarrier.arrive_drop.shared::cta.b64 _, [s32+-8];".into());
    lines[0].push("mbarrier.arrive_drop.shared::cta.release.cluster.b64 _, [addr], cnt;".into());
    let modules = lines.iter().enumerate();
    accepted(modules.map(|(i, l)| (format!("line {}", i + 1), module("8.6", "sm_90", &l.join("\n    ")))).collect());
}

#[test]
fn arrive_drop_notes_accepted_from_here_on() {
    let rows = [
        ("7.0", "sm_80", "mbarrier.arrive_drop.b64 state, [addr];"),
        ("7.0", "sm_80", "mbarrier.arrive_drop.shared.b64 _, [sh];"),
        ("7.0", "sm_80", "mbarrier.arrive_drop.noComplete.shared.b64 _, [sh], %a;"),
        ("7.8", "sm_80", "mbarrier.arrive_drop.shared::cta.b64 state, [sh];"),
        ("7.8", "sm_90", "mbarrier.arrive_drop.shared.b64 state, [sh], 2;"),
        ("8.0", "sm_90", "mbarrier.arrive_drop.expect_tx.shared.b64 state, [sh], 2;"),
        ("8.0", "sm_90", "mbarrier.arrive_drop.shared::cluster.b64 _, [s32];"),
        ("8.0", "sm_80", "mbarrier.arrive_drop.release.cta.shared.b64 state, [sh];"),
        ("8.0", "sm_90", "mbarrier.arrive_drop.release.cluster.shared.b64 state, [sh];"),
        ("8.6", "sm_90", "mbarrier.arrive_drop.relaxed.cta.shared.b64 state, [sh];"),
    ];
    accepted(rows.iter().map(|(v, t, b)| (format!("{v} {t} {b}"), module(v, t, b))).collect());
}

#[test]
#[rustfmt::skip]
fn arrive_drop_notes_refused_before() {
    refused(&[
        ("6.5", "sm_75", "mbarrier.arrive_drop.b64 state, [addr];", 301, Refuses),
        ("7.0", "sm_75", "mbarrier.arrive_drop.b64 state, [addr];", 302, Refuses),
        ("7.7", "sm_80", "mbarrier.arrive_drop.shared::cta.b64 state, [sh];", 301, Refuses),
        ("7.7", "sm_80", "mbarrier.arrive_drop.shared.b64 state, [sh], 2;", 301, Refuses),
        ("7.8", "sm_80", "mbarrier.arrive_drop.shared.b64 state, [sh], 2;", 302, Refuses),
        ("8.6", "sm_89", "mbarrier.arrive_drop.shared.b64 state, [sh], 2;", 302, Refuses),
        ("7.8", "sm_90", "mbarrier.arrive_drop.expect_tx.shared.b64 state, [sh], 2;", 301, Refuses),
        ("8.0", "sm_80", "mbarrier.arrive_drop.expect_tx.shared.b64 state, [sh], 2;", 302, Refuses),
        ("7.8", "sm_90", "mbarrier.arrive_drop.shared::cluster.b64 _, [s32];", 301, Refuses),
        ("8.0", "sm_80", "mbarrier.arrive_drop.shared::cluster.b64 _, [s32];", 302, Refuses),
        ("7.8", "sm_90", "mbarrier.arrive_drop.release.cta.shared.b64 state, [sh];", 301, Refuses),
        ("8.0", "sm_80", "mbarrier.arrive_drop.release.cluster.shared.b64 state, [sh];", 302, Refuses),
        ("8.5", "sm_90", "mbarrier.arrive_drop.relaxed.cta.shared.b64 state, [sh];", 301, Refuses),
        ("8.6", "sm_89", "mbarrier.arrive_drop.relaxed.cta.shared.b64 state, [sh];", 302, Refuses),
    ]);
}

#[test]
#[rustfmt::skip]
fn arrive_drop_rules_refuse() {
    refused(&[
        // "Qualifiers `.sem` and `.scope` must be specified together."
        ("8.6", "sm_90", "mbarrier.arrive_drop.release.shared.b64 state, [sh];", 207, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.relaxed.shared.b64 state, [sh];", 207, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.cluster.shared.b64 state, [sh];", 207, Refuses),
        // the values of `.sem`, `.scope`, the space, the type
        ("8.6", "sm_90", "mbarrier.arrive_drop.release.gpu.shared.b64 state, [sh];", 201, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.acquire.cta.shared.b64 state, [sh];", 201, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.global.b64 state, [there];", 201, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared.b32 s32, [sh];", 201, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared state, [sh];", 202, Refuses),
        // the fifth line: `.release.cta` only, no `.shared::cluster`, no `.expect_tx`, the count is not optional
        ("8.6", "sm_90", "mbarrier.arrive_drop.noComplete.relaxed.cta.shared.b64 state, [sh], 1;", 204, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.noComplete.release.cluster.shared.b64 state, [sh], 1;", 204, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.noComplete.shared::cluster.b64 _, [s32], 1;", 204, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.noComplete.expect_tx.shared.b64 state, [sh], 1;", 204, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.noComplete.shared.b64 state, [sh];", 404, Refuses),
        // the third line: one operand more, no less
        ("8.6", "sm_90", "mbarrier.arrive_drop.expect_tx.shared.b64 state, [sh];", 404, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.expect_tx.shared.b64 state, [sh], 1, 16;", 404, Refuses),
        // "Sink symbol '_' is mandatory for the destination operand for such cases."
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared::cluster.b64 state, [s32];", 406, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.expect_tx.shared::cluster.b64 state, [s32], 8;", 406, Refuses),
        // the range of the count (9.7.13.15.2)
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared.b64 state, [sh], 0;", 409, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared.b64 state, [sh], 1048576;", 409, Lenient),
        ("8.6", "sm_90", "mbarrier.arrive_drop.noComplete.shared.b64 state, [sh], 0;", 409, Refuses),
        // 32-bit integer count, 64-bit state
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared.b64 state, [sh], wide;", 407, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared.b64 state, [sh], half;", 407, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared.b64 state, [sh], f;", 407, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared.b64 cnt, [sh];", 407, Refuses),
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared.b64 state, [sh], 1.0;", 408, Refuses),
        // alignment, and the space of a name
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared.b64 state, [buf+4];", 412, Lenient),
        ("8.6", "sm_90", "mbarrier.arrive_drop.shared.b64 state, [there];", 413, Refuses),
    ]);
}

const ASYNC: &str = "clusterlaunchcontrol.try_cancel.async";
const BYTES: &str = ".mbarrier::complete_tx::bytes";

#[test]
fn try_cancel_syntax_line_and_targets() {
    let one = |multicast: &str| {
        [
            ("", "addr", "mbar"),
            (".shared::cta", "buf", "sh"),
            (".shared::cta", "buf+16", "s32"),
            (".shared::cta", "s32", "buf+8"),
        ]
        .map(|(space, a, m)| format!("{ASYNC}{space}{BYTES}{multicast}.b128 [{a}], [{m}];"))
        .join("\n    ")
    };
    let targets = [("8.6", "sm_100"), ("8.7", "sm_120"), ("8.8", "sm_103"), ("9.0", "sm_110")];
    let multicast = [
        ("8.6", "sm_100a"),
        ("8.6", "sm_101a"),
        ("9.0", "sm_110a"),
        ("8.7", "sm_120a"),
        ("8.8", "sm_100f"),
        ("8.8", "sm_103f"),
        ("8.8", "sm_103a"),
        ("8.8", "sm_101f"),
        ("9.0", "sm_110f"),
        ("8.8", "sm_120f"),
        ("8.8", "sm_121f"),
        ("8.8", "sm_121a"),
    ];
    let plain = targets.map(|(v, t)| (format!("{v} {t}"), module(v, t, &one(""))));
    let multicast =
        multicast.map(|(v, t)| (format!("{v} {t} multicast"), module(v, t, &one(".multicast::cluster::all"))));
    accepted(plain.into_iter().chain(multicast).collect());
}

#[test]
#[rustfmt::skip]
fn try_cancel_rules_refuse() {
    refused(&[
        ("8.5", "sm_90", "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [addr], [mbar];", 301, Refuses),
        ("8.6", "sm_90", "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [addr], [mbar];", 302, Refuses),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [addr], [mbar];", 302, Refuses),
        ("8.8", "sm_103", "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [addr], [mbar];", 302, Refuses),
        ("9.0", "sm_120", "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [addr], [mbar];", 302, Refuses),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.mbarrier::complete_tx::bytes.b128 [addr], [mbar];", 202, Refuses),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.b128 [addr], [mbar];", 202, Refuses),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes [addr], [mbar];", 202, Refuses),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.shared::cluster.mbarrier::complete_tx::bytes.b128 [addr], [mbar];", 201, Refuses),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.global.mbarrier::complete_tx::bytes.b128 [addr], [mbar];", 201, Refuses),
        ("8.6", "sm_100a", "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster.b128 [addr], [mbar];", 201, Refuses),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b64 [addr], [mbar];", 201, Refuses),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [addr];", 404, Refuses),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [addr], mbar;", 405, Refuses),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [buf+8], [mbar];", 412, Lenient),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [addr], [buf+20];", 412, Lenient),
        ("8.6", "sm_100", "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [addr], [there];", 413, Refuses),
    ]);
}
