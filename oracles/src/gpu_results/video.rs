//! Video instructions with selectors, masks, negated operands and merged results, which the syntax of the table does not spell.

use super::data::{Form, Set, add};
use super::kind::Kind;
use crate::Random;

const PARTS: [&str; 7] = ["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"];
const COMPARISONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

/// The number of forms of each instruction.
const EACH: usize = 24;

pub fn all(out: &mut Vec<Set>) {
    let mut random = Random::new(7);
    for _ in 0..EACH {
        for opcode in ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"] {
            add(out, &[Kind::B32; 3], Form::new(scalar(opcode, &mut random)));
        }
        add(out, &[Kind::B32; 3], Form::new(multiply_add(&mut random)));
        for opcode in ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"] {
            for lanes in [2, 4] {
                add(out, &[Kind::B32; 3], Form::new(parallel(opcode, lanes, &mut random)));
            }
        }
    }
}

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len())]
}

/// The types and the comparison or the shift mode.
fn qualifiers(opcode: &str, random: &mut Random) -> String {
    let mut ty = || pick(random, &["u32", "s32"]);
    match opcode {
        "vset" => format!("{}.{}.{}", ty(), ty(), pick(random, &COMPARISONS)),
        "vshl" | "vshr" => format!("{}.{}.u32", ty(), ty()),
        _ => format!("{}.{}.{}", ty(), ty(), ty()),
    }
}

fn scalar(opcode: &str, random: &mut Random) -> String {
    let types = qualifiers(opcode, random);
    let saturated = if opcode == "vset" { "" } else { pick(random, &["", ".sat"]) };
    let mode = if opcode.starts_with("vsh") { pick(random, &[".clamp", ".wrap"]) } else { "" };
    let (a, b) = (pick(random, &PARTS), pick(random, &PARTS));
    let head = format!("{opcode}.{types}{saturated}{mode}");
    match random.below(3) {
        0 => format!("{head} %w0, %a0{a}, %a1{b};"),
        1 => format!("{head}{} %w0, %a0{a}, %a1{b}, %a2;", pick(random, &[".add", ".min", ".max"])),
        _ => format!("{head} %w0{}, %a0{a}, %a1{b}, %a2;", pick(random, &PARTS[1..])),
    }
}

fn multiply_add(random: &mut Random) -> String {
    let types = qualifiers("vmad", random);
    let saturated = pick(random, &["", ".sat"]);
    let scale = pick(random, &["", ".shr7", ".shr15"]);
    let (a, b) = (pick(random, &PARTS), pick(random, &PARTS));
    let [po, minus_a, minus_b, minus_c] = [
        ["", "", "", ""],
        [".po", "", "", ""],
        ["", "-", "", ""],
        ["", "", "-", ""],
        ["", "", "", "-"],
        ["", "-", "-", ""],
    ][random.below(6)];
    format!("vmad.{types}{po}{saturated}{scale} %w0, {minus_a}%a0{a}, {minus_b}%a1{b}, {minus_c}%a2;")
}

fn parallel(opcode: &str, lanes: usize, random: &mut Random) -> String {
    let types = qualifiers(opcode, random);
    let last = pick(random, if opcode == "vset" { &["", ".add"] } else { &["", ".sat", ".add"] });
    let kind = if lanes == 2 { 'h' } else { 'b' };
    let mut selector = || {
        let digits: String = (0..lanes).map(|_| random.below(2 * lanes).to_string()).collect();
        if random.below(3) == 0 { String::new() } else { format!(".{kind}{digits}") }
    };
    let (a, b) = (selector(), selector());
    let mask: String = (0..lanes).rev().filter(|_| random.below(2) == 0).map(|lane| lane.to_string()).collect();
    let mask = if mask.is_empty() { String::new() } else { format!(".{kind}{mask}") };
    format!("{opcode}{lanes}.{types}{last} %w0{mask}, %a0{a}, %a1{b}, %a2;")
}
