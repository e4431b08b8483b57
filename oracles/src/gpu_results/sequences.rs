//! Forms that no single entry of the table spells: carry chains, predicates, NaNs passed between instructions, registers wider
//! than types, memory, warps, and random sequences. Operands and results are named as in [`Form`].

use super::data::{Form, Set, Width, add};
use super::kind::Kind;
use crate::Random;

/// All sequences. `singles` are the forms of the table. Seeds other than 0 make more random ones.
pub fn all(singles: &[&Set], seed: u64) -> Vec<Set> {
    let (each, rows) = if seed == 0 { (2, 160) } else { (20, 600) };
    let mut out = Vec::new();
    carries(&mut out);
    logic(&mut out);
    wider(&mut out);
    packed(&mut out);
    atomics(&mut out);
    memory(&mut out);
    warps(&mut out);
    super::video::all(&mut out);
    predicated(singles, each, &mut out);
    nans(singles, &mut out);
    in_a_row(singles, seed, rows, &mut out);
    out
}

/// Chains of up to three instructions, of one width and of both.
fn carries(out: &mut Vec<Set>) {
    let words = [Kind::B32; 4];
    let doubles = [Kind::B64; 4];
    for (types, kinds, letter) in [(["u32", "s32"], words, 'w'), (["u64", "s64"], doubles, 'd')] {
        for (n, ty) in types.into_iter().enumerate() {
            let one = |op: &str, i: usize| {
                let sources = if op.starts_with("mad") { "%a0, %a3, %a1" } else { "%a1, %a2" };
                let sources = if i == 0 && !op.starts_with("mad") { "%a0, %a1" } else { sources };
                let sources =
                    if i == 2 { if op.starts_with("mad") { "%a2, %a1, %a3" } else { "%a3, %a0" } } else { sources };
                format!("{op}.{ty} %{letter}{i}, {sources};")
            };
            let starts = ["add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"];
            let middles = ["addc.cc", "subc.cc", "madc.lo.cc", "madc.hi.cc", "addc", "subc"];
            let ends = ["addc", "subc", "madc.lo", "madc.hi"];
            for start in starts {
                for end in ends {
                    add(out, &kinds, Form::new(format!("{} {}", one(start, 0), one(end, 1))));
                    for middle in middles.into_iter().filter(|_| n == 0) {
                        let text = format!("{} {} {}", one(start, 0), one(middle, 1), one(end, 2));
                        add(out, &kinds, Form::new(text));
                    }
                }
                // The carry itself, and its value after a guarded instruction.
                for end in ["addc", "subc"] {
                    add(out, &kinds, Form::new(format!("{} {end}.{ty} %{letter}1, 0, 0;", one(start, 0))));
                    for middle in ["add.cc", "sub.cc", "addc.cc", "subc.cc"] {
                        let mut kinds = kinds.to_vec();
                        kinds.push(Kind::Pred);
                        let bits = kinds[0].bits();
                        let text = format!(
                            "{} mov.b{bits} %{letter}1, %a0; @%a4 {} {end}.{ty} %{letter}2, 0, 0;",
                            one(start, 0),
                            one(middle, 1)
                        );
                        add(out, &kinds, Form::new(text));
                    }
                }
            }
        }
    }
    // One carry for both widths.
    let kinds = [Kind::B32, Kind::B32, Kind::B64, Kind::B64];
    for (start, end) in [("add", "addc"), ("sub", "subc"), ("add", "subc"), ("sub", "addc")] {
        for text in [
            format!("{start}.cc.u32 %w0, %a0, %a1; {end}.u64 %d1, %a2, %a3;"),
            format!("{start}.cc.u64 %d1, %a2, %a3; {end}.u32 %w0, %a0, %a1;"),
        ] {
            add(out, &kinds, Form::new(text));
        }
    }
}

/// Tables of `lop3`, negated predicates.
fn logic(out: &mut Vec<Set>) {
    let words = [Kind::B32; 3];
    let with = [Kind::B32, Kind::B32, Kind::B32, Kind::Pred];
    for table in [0x01, 0x1a, 0x2b, 0x3c, 0x69, 0x96, 0xca, 0xe8, 0xb8, 0xfe] {
        add(out, &words, Form::new(format!("lop3.b32 %w0, %a0, %a1, %a2, {table:#x};")));
        for op in ["and", "or"] {
            let text = format!("lop3.{op}.b32 %w0|%p0, %a0, %a1, %a2, {table:#x}, %a3;");
            add(out, &with, Form::new(text));
        }
    }
    for op in ["and", "or", "xor"] {
        let text = format!("setp.lt.{op}.s32 %p0|%p1, %a0, %a1, !%a3; set.ge.{op}.u32.u32 %w0, %a0, %a2, !%a3;");
        add(out, &with, Form::new(text));
        let text = format!("setp.ltu.{op}.ftz.f32 %p0|%p1, %a0, %a1, !%a2;");
        add(out, &[Kind::F32, Kind::F32, Kind::Pred], Form::new(text));
    }
}

/// Registers wider than the types: upper bits are ignored, and results are extended.
fn wider(out: &mut Vec<Set>) {
    for (kind, suffix) in
        [(Kind::B32, ["u8", "s8", "u16", "s16"].as_slice()), (Kind::B64, &["u8", "s8", "u16", "s16", "u32", "s32"])]
    {
        for from in suffix {
            for to in ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"] {
                let wide = to.ends_with("64");
                for sat in ["", ".sat"] {
                    add(out, &[kind], Form::new(format!("cvt{sat}.{to}.{from} %d0, %a0;")));
                    if !wide {
                        add(out, &[kind], Form::new(format!("cvt{sat}.{to}.{from} %w0, %a0;")));
                    }
                }
            }
            for to in ["f16", "bf16", "f32", "f64"] {
                let result = match to {
                    "f32" => "%w0",
                    "f64" => "%d0",
                    _ => "%h0",
                };
                add(out, &[kind], Form::new(format!("cvt.rz.{to}.{from} {result}, %a0;")));
            }
        }
    }
    for to in ["u8", "s8", "u16", "s16"] {
        for (kind, name) in [(Kind::F32, "f32"), (Kind::F64, "f64"), (Kind::F16, "f16")] {
            add(out, &[kind], Form::new(format!("cvt.rni.{to}.{name} %w0, %a0; cvt.rpi.{to}.{name} %d0, %a0;")));
        }
    }
}

/// `mov` that packs and unpacks.
fn packed(out: &mut Vec<Set>) {
    add(out, &[Kind::B64], Form::new("mov.b64 {%w0, %w1}, %a0; mov.b64 {%h0, %h1, %h2, %h3}, %a0;"));
    add(out, &[Kind::B32, Kind::B32], Form::new("mov.b64 %d0, {%a0, %a1}; mov.b32 {%h0, %h1}, %a1;"));
    add(out, &[Kind::B16, Kind::B16], Form::new("mov.b32 %w0, {%a0, %a1}; mov.b64 %d0, {%a1, %a0, %a0, %a1};"));
    let text = ".reg .b128 %tq; mov.b128 %tq, {%a0, %a1}; mov.b128 {%d0, %d1}, %tq;";
    add(out, &[Kind::B64, Kind::B64], Form::new(text));
}

/// Atomic operations of a thread on its own cell, in global and in shared memory.
fn atomics(out: &mut Vec<Set>) {
    let forms: &[(Kind, &[&str])] = &[
        (
            Kind::B32,
            &["add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"],
        ),
        (Kind::B32, &["exch.b32", "inc.u32", "dec.u32"]),
        (
            Kind::B64,
            &["add.u64", "min.u64", "min.s64", "max.u64", "max.s64", "and.b64", "or.b64", "xor.b64", "exch.b64"],
        ),
        (Kind::F32, &["add.f32"]),
        (Kind::F64, &["add.f64"]),
        (Kind::F16, &["add.noftz.f16"]),
        (Kind::Bf16, &["add.noftz.bf16"]),
        (Kind::F16x2, &["add.noftz.f16x2"]),
        (Kind::Bf16x2, &["add.noftz.bf16x2"]),
    ];
    for (space, cell) in [("global", "%cell"), ("shared", "%scell")] {
        for (kind, ops) in forms {
            let bits = kind.bits();
            let letter = if bits == 64 {
                'd'
            } else if bits == 16 {
                'h'
            } else {
                'w'
            };
            for op in *ops {
                let around = |what: String| {
                    Form::new(format!(
                        "st.{space}.b{bits} [{cell}], %a0; {what} ld.{space}.b{bits} %{letter}1, [{cell}];"
                    ))
                };
                add(out, &[*kind; 2], around(format!("atom.{space}.{op} %{letter}0, [{cell}], %a1;")));
                if !op.starts_with("exch") {
                    add(out, &[*kind; 2], around(format!("red.{space}.{op} [{cell}], %a1;")));
                }
            }
        }
        for (kind, letter) in [(Kind::B16, 'h'), (Kind::B32, 'w'), (Kind::B64, 'd')] {
            let bits = kind.bits();
            let text = format!(
                "st.{space}.b{bits} [{cell}], %a0; atom.{space}.cas.b{bits} %{letter}0, [{cell}], %a1, %a2; \
                 ld.{space}.b{bits} %{letter}1, [{cell}];"
            );
            add(out, &[kind; 3], Form::new(text));
        }
    }
}

/// Loads and stores that extend and truncate.
fn memory(out: &mut Vec<Set>) {
    for (space, cell) in [("global", "%cell"), ("shared", "%scell")] {
        for ty in ["u8", "s8", "u16", "s16", "u32", "s32"] {
            let text = format!(
                "st.{space}.b64 [{cell}], %a0; ld.{space}.{ty} %d0, [{cell}]; ld.{space}.{ty} %w0, [{cell}+4];"
            );
            add(out, &[Kind::B64], Form::new(text));
        }
        let text = format!(
            "st.{space}.b64 [{cell}], %a0; st.{space}.u8 [{cell}+1], %a1; st.{space}.u16 [{cell}+4], %a1; \
             ld.{space}.v2.b32 {{%w0, %w1}}, [{cell}];"
        );
        add(out, &[Kind::B64, Kind::B32], Form::new(text));
    }
}

/// Instructions of all threads of a warp.
fn warps(out: &mut Vec<Set>) {
    let one = |text: String| Form::new(format!("{text}, 0xffffffff;"));
    for op in ["add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"] {
        add(out, &[Kind::B32], one(format!("redux.sync.{op} %w0, %a0")));
    }
    for (kind, bits) in [(Kind::B32, 32), (Kind::B64, 64)] {
        add(out, &[kind], one(format!("match.any.sync.b{bits} %w0, %a0")));
        add(out, &[kind], one(format!("match.all.sync.b{bits} %w0|%p0, %a0")));
    }
    for mode in ["all.pred %p0", "any.pred %p0", "uni.pred %p0", "ballot.b32 %w0"] {
        add(out, &[Kind::Pred], one(format!("vote.sync.{mode}, %a0")));
        add(out, &[Kind::Pred], one(format!("vote.sync.{mode}, !%a0")));
    }
    for mode in ["up", "down", "bfly", "idx"] {
        add(out, &[Kind::B32; 3], one(format!("shfl.sync.{mode}.b32 %w0|%p0, %a0, %a1, %a2")));
    }
}

/// The result of a single instruction, unless it has none or is an approximation.
fn result(form: &Form) -> Option<(Width, String)> {
    let mut outputs = form.outputs();
    let one = outputs.pop()?;
    (outputs.is_empty() && !form.text.contains(".approx") && !form.text.contains(".full")).then_some(one)
}

fn opcode(form: &Form) -> &str {
    form.text.split(' ').next().unwrap_or("")
}

/// A sample of the forms of each first word and kinds.
fn some<'a>(singles: &[&'a Set], each: usize) -> Vec<(&'a [Kind], &'a Form)> {
    let mut out = Vec::new();
    for set in singles {
        let mut known: Vec<(&str, usize)> = Vec::new();
        for form in &set.forms {
            let word = form.text.split(['.', ' ']).next().unwrap_or("");
            let at = known.iter().position(|k| k.0 == word).unwrap_or_else(|| {
                known.push((word, 0));
                known.len() - 1
            });
            known[at].1 += 1;
            if known[at].1 <= each {
                out.push((set.kinds.as_slice(), form));
            }
        }
    }
    out
}

/// Sequences with a false guard: the destination keeps its value. (Except after `set` in ptxas 13.5: if the type is not a 32-bit integer, it
/// converts the old value.)
fn predicated(singles: &[&Set], each: usize, out: &mut Vec<Set>) {
    for (kinds, form) in some(singles, each).into_iter().filter(|f| !f.1.text.starts_with("set.")) {
        let Some((width, name)) = result(form) else { continue };
        let before = match width {
            Width::Half => format!("mov.b16 {name}, 0x5a5a;"),
            Width::Word => format!("mov.b32 {name}, 0x12345678;"),
            Width::Double => format!("mov.b64 {name}, 0x123456789abcdef;"),
            _ => continue,
        };
        let mut kinds = kinds.to_vec();
        kinds.push(Kind::Pred);
        let not = if form.text.len() % 2 == 0 { "!" } else { "" };
        add(out, &kinds, Form::new(format!("{before} @{not}%a{} {}", kinds.len() - 1, form.text)));
    }
}

/// A NaN of f32 arithmetic before every instruction that reads one.
fn nans(singles: &[&Set], out: &mut Vec<Set>) {
    // Without a rounding, ptxas may fuse two instructions.
    let makers = ["add.rn.f32", "sub.rn.f32", "mul.rn.f32", "fma.rn.f32"];
    let mut number = 0;
    for (kinds, form) in some(singles, 4) {
        let takes = |k: Kind| matches!(k, Kind::F32 | Kind::B32);
        let approximates = form.text.contains(".approx") || form.text.contains(".full");
        if !kinds.iter().all(|k| takes(*k)) || kinds.len() > 3 || approximates {
            continue;
        }
        let maker = makers[number % makers.len()];
        number += 1;
        let third = if maker.starts_with("fma") { ", %a2" } else { "" };
        let text = form.text.replace("%a0", "%tw0");
        add(out, &[Kind::F32; 3], Form::new(format!("{maker} %tw0, %a0, %a1{third}; {text}")));
    }
}

/// Instructions whose result depends on ptxas: without a rounding they may be fused, moves of floats may be removed and keep a
/// NaN, and amounts of 64-bit shifts are taken for floats if a float instruction made them.
fn free(form: &Form) -> bool {
    let words: Vec<&str> = opcode(form).split('.').collect();
    let has = |some: &[&str]| words.iter().any(|w| some.contains(w));
    let float = has(&["f16", "f16x2", "bf16", "bf16x2", "f32", "f64"]);
    match words[0] {
        "add" | "sub" | "mul" => float && !has(&["rn", "rz", "rm", "rp"]),
        "abs" | "neg" | "min" | "max" => float,
        "cvt" => words[words.len() - 1] == words[words.len() - 2],
        "shl" | "shr" => has(&["b64", "u64", "s64"]),
        _ => false,
    }
}

/// Random sequences of single instructions, each with earlier results among its operands.
fn in_a_row(singles: &[&Set], seed: u64, rows: usize, out: &mut Vec<Set>) {
    const KINDS: [Kind; 6] = [Kind::F32, Kind::F32, Kind::B32, Kind::B32, Kind::B64, Kind::Pred];
    let mut random = Random::new(77 + seed);
    let usable = |k: &Kind| !matches!(k, Kind::B8 | Kind::F64);
    let forms: Vec<(&[Kind], &Form)> = some(singles, 12)
        .into_iter()
        .filter(|(kinds, f)| kinds.iter().all(usable) && !free(f) && result(f).is_some_and(|r| r.0 != Width::Byte))
        .collect();
    for _ in 0..rows {
        // Values so far: name and width in bits.
        let mut values: Vec<(String, u32)> =
            KINDS.iter().enumerate().map(|(i, k)| (format!("%a{i}"), k.bits())).collect();
        let mut text = String::new();
        let mut results = 0;
        while results < 8 {
            let Some((kinds, form)) = random.pick(&forms).copied() else { break };
            let mut line = form.text.clone();
            let mut known = true;
            for (i, kind) in kinds.iter().enumerate() {
                let fits: Vec<&String> = values.iter().rev().filter(|v| v.1 == kind.bits()).map(|v| &v.0).collect();
                // Prefer new values to old ones.
                let at = random.below(fits.len()).min(random.below(fits.len()));
                match fits.get(at) {
                    Some(name) => line = line.replace(&format!("%a{i}"), &name.replace('%', "%_")),
                    None => known = false,
                }
            }
            let Some((width, name)) = result(form).filter(|_| known) else { continue };
            let letter = name.as_bytes()[1] as char;
            let bits = match width {
                Width::Pred => 1,
                Width::Half => 16,
                Width::Word => 32,
                _ => 64,
            };
            line = line.replace(&name, &format!("%{letter}{results}"));
            text += &line.replace("%_", "%");
            text.push(' ');
            values.push((format!("%{letter}{results}"), bits));
            results += 1;
        }
        add(out, &KINDS, Form::new(text.trim_end()));
    }
}
