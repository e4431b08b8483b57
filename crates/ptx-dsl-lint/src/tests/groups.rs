//! For every rule of the groups "addresses", "scopes", "mbarriers", "proxies": wrong and right kernels of different shapes.
//!
//! A kernel is written as its body. A first line `# ...` gives directives of the entry (`.reqntid 128` without it), what stands
//! before a line `--` is of module scope. Wrong kernels have `// error: PTX0630` where it is said, right ones nothing.

use super::verdicts;

mod addresses;
mod drops;
mod functions;
mod lives;
mod mbarriers;
mod peers;
mod phases;
mod proxies;
mod races;
mod ranks;
mod refills;
mod rings;
mod scopes;
mod spaces;
mod tma_ring;

/// A code and kernels about it.
struct Rule {
    code: u16,
    wrong: &'static [&'static str],
    right: &'static [&'static str],
}

const SHARED: &str = ".shared .align 128 .b8 sh[1024];\n.shared .align 128 .b8 other[1024];\n.shared .align 8 .b64 bar;\n\
    .shared .align 8 .b64 bars[4];\n.shared .align 16 .b128 answer;\n.shared .align 4 .u32 word;\n\
    .global .align 16 .u32 g[64];\n.global .align 4 .u32 flag;\n.const .align 16 .u32 c[64];\n.extern .shared .align 16 .b8 dyn[];\n";
const REGISTERS: &str =
    ".reg .b16 %h<4>; .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .pred %p<20>; .reg .f32 %f<20>; .reg .b128 %q<4>;\n";

fn module(text: &str) -> String {
    let text = text.trim_start();
    if text.contains(".entry") {
        return format!(".version 9.0\n.target sm_100a\n.address_size 64\n{SHARED}{text}\n");
    }
    let (directives, text) = match text.strip_prefix('#') {
        Some(rest) => rest.split_once('\n').unwrap_or((rest, "")),
        None => (".reqntid 128", text),
    };
    let (scope, body) = text.split_once("\n--\n").unwrap_or(("", text));
    let target = if body.contains("wgmma") { "sm_90a" } else { "sm_100a" };
    format!(
        ".version 9.0\n.target {target}\n.address_size 64\n{SHARED}{scope}\n\
         .visible .entry k(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr .global .align 16 b,\n\
         .param .u64 any, .param .u32 n, .param .align 64 .b8 map[128]) {directives}\n{{\n{REGISTERS}{body}\nret;\n}}\n"
    )
}

/// Each rule says what it should, and nothing of what is right.
#[track_caller]
fn rules(list: &[Rule]) {
    let mut bad = String::new();
    for rule in list {
        assert!(rule.wrong.len() >= 2 && rule.right.len() >= 2, "two of each for PTX{:04}", rule.code);
        for (right, body) in rule.wrong.iter().map(|b| (false, b)).chain(rule.right.iter().map(|b| (true, b))) {
            let text = module(body);
            let (got, mut want, full) = verdicts(&text);
            // Registers that nothing wrote are beside the point.
            let got: Vec<String> = got.into_iter().filter(|g| !g.ends_with("PTX0620") || rule.code == 620).collect();
            want.sort();
            let about = want.iter().any(|w| w.ends_with(&format!("PTX{:04}", rule.code)));
            if got != want || about == right {
                let kind = if right { "right" } else { "wrong" };
                bad += &format!(
                    "---- {kind} for PTX{:04}: {got:?} in place of {want:?}\n{}\n{body}\n",
                    rule.code,
                    full.join("\n")
                );
            }
        }
    }
    assert!(bad.is_empty(), "\n{bad}");
}
