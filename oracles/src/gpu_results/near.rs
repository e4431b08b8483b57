//! Instructions that approximate: the tolerance of the host, and samples of the results of a GPU.

use std::fmt::Write;
use std::path::Path;

use super::data::{Form, Kernel, Set, Width, add, header};
use super::kind::Kind;
use super::values::count;

/// Results that are kept of each form.
const KEPT: usize = 256;

/// The largest distance of the host from an H200: in units in the last place, or absolute. docs/model/numerics.md has the same.
const BOUNDS: &[(&str, u64, f64)] = &[
    ("rcp.approx.f32", 1, 0.0),
    ("rcp.approx.ftz.f32", 1, 0.0),
    ("sqrt.approx", 1, 0.0),
    ("rsqrt.approx.f32", 2, 0.0),
    ("rsqrt.approx.ftz.f32", 2, 0.0),
    ("ex2.approx", 2, 0.0),
    ("lg2.approx", 2, 0.000_000_25),
    ("sin.approx", 0, 0.000_000_2),
    ("cos.approx", 0, 0.000_000_2),
    ("tanh.approx.f32", 134, 0.0),
    ("tanh.approx", 1, 0.0),
    ("div.approx", 2, 0.0),
    ("div.full", 2, 0.0),
    ("rsqrt.approx.f64", 1, 0.0),
    // Of the upper 32 bits.
    ("rcp.approx.ftz.f64", 1 << 32, 0.0),
    ("rsqrt.approx.ftz.f64", 1 << 32, 0.0),
];

/// Does the form approximate? (`ex2` of 16-bit types does, but has the same bits on the host.)
pub fn is(form: &Form) -> bool {
    bound(&form.text).is_some() && !(form.text.starts_with("ex2.") && form.text.contains("f16"))
}

fn bound(text: &str) -> Option<(u64, f64)> {
    let single = !text.trim_end_matches(';').contains(';');
    BOUNDS.iter().find(|b| single && text.starts_with(b.0)).map(|b| (b.1, b.2))
}

/// Forms with the same operands, and for each the results of a GPU for a sample of the operands.
pub struct Near {
    pub set: Set,
    results: Vec<Vec<u64>>,
}

/// The operands whose results are kept.
fn kept(kinds: &[Kind]) -> impl Iterator<Item = usize> {
    let step = count(kinds) / KEPT;
    // Another place in each stretch.
    (0..KEPT).map(move |i| i * step + i * 7 % step)
}

/// Reads `near.txt`.
pub fn read(text: &str) -> Result<Vec<Near>, String> {
    let mut all: Vec<Near> = Vec::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        if let Some(names) = line.strip_prefix("operands") {
            let kinds: Option<Vec<Kind>> = names.split_whitespace().map(Kind::from_name).collect();
            let kinds = kinds.ok_or_else(|| format!("no such operands: {line}"))?;
            all.push(Near { set: Set { kinds, forms: Vec::new() }, results: Vec::new() });
            continue;
        }
        let near = all.last_mut().ok_or_else(|| format!("no operands before: {line}"))?;
        match line.strip_prefix("  ") {
            Some(values) => {
                let values: Result<Vec<u64>, _> =
                    values.split_whitespace().map(|v| u64::from_str_radix(v, 16)).collect();
                let last = near.results.last_mut().ok_or_else(|| format!("no form before: {line}"))?;
                last.extend(values.map_err(|e| format!("{e}: {line}"))?);
            }
            None => {
                near.set.forms.push(Form::new(line));
                near.results.push(Vec::new());
            }
        }
    }
    Ok(all)
}

/// Writes it from results by kernel and form.
pub fn text(kernels: &[Kernel], results: &str) -> Result<String, String> {
    let mut sets: Vec<Set> = Vec::new();
    let mut found: Vec<(String, Vec<u64>)> = Vec::new();
    for line in results.lines() {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or("");
        let form = words.next().and_then(|n| n.parse::<usize>().ok());
        let kernel = kernels.iter().find(|k| k.name == name);
        let (Some(kernel), Some(form)) = (kernel, form) else { return Err(format!("no such kernel: {name}")) };
        let values: Vec<u64> = words.filter_map(|w| u64::from_str_radix(w, 16).ok()).collect();
        let form = &kernel.forms[form];
        add(&mut sets, &kernel.kinds, form.clone());
        let kept = kept(&kernel.kinds).filter_map(|i| values.get(i).copied());
        found.push((form.text.clone(), kept.collect()));
    }
    let mut out = String::from("# What an H200 gave for some operands of each form: tests/hardware/README.md.\n");
    for set in sets {
        out += &header(&set.kinds);
        for form in set.forms {
            let _ = writeln!(out, "{}", form.text);
            let values = found.iter().find(|f| f.0 == form.text).map_or(&[][..], |f| &f.1);
            for row in values.chunks(12) {
                let row: Vec<String> = row.iter().map(|v| format!("{v:x}")).collect();
                let _ = writeln!(out, "  {}", row.join(" "));
            }
        }
    }
    Ok(out)
}

/// Results of the host that are outside of the tolerance.
pub fn compare(near: &[Near], kernels: &[Kernel], results: &Path) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for kernel in kernels.iter().filter(|k| k.name.starts_with("near")) {
        let file = results.join(format!("{}.bin", kernel.name));
        let bytes = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let words: Vec<u64> =
            bytes.chunks_exact(8).map(|b| b.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b))).collect();
        let count = count(&kernel.kinds);
        for (i, form) in kernel.forms.iter().enumerate() {
            let wanted = near.iter().filter(|n| n.set.kinds == kernel.kinds).find_map(|n| {
                let at = n.set.forms.iter().position(|f| f.text == form.text)?;
                n.results.get(at)
            });
            let (Some(wanted), Some((ulps, absolute))) = (wanted, bound(&form.text)) else { continue };
            let kind = result_kind(form);
            let far = kept(&kernel.kinds).zip(wanted).find(|(at, wanted)| {
                let found = words.get(i * count + at).copied().unwrap_or(!0);
                !is_near(kind, found, **wanted, ulps, absolute)
            });
            if let Some((at, wanted)) = far {
                let found = words.get(i * count + at).copied().unwrap_or(!0);
                wrong.push(format!("`{}` gives {found:#x} for operands {at}, a GPU gave {wanted:#x}", form.text));
            }
        }
    }
    Ok(wrong)
}

/// The kind of the result: the last type of the first word.
fn result_kind(form: &Form) -> Kind {
    let word = form.text.split(' ').next().unwrap_or("");
    let kind = word.rsplit('.').find_map(Kind::from_name);
    kind.unwrap_or(if form.outputs().first().is_some_and(|o| o.0 == Width::Double) { Kind::F64 } else { Kind::F32 })
}

fn is_near(kind: Kind, found: u64, wanted: u64, ulps: u64, absolute: f64) -> bool {
    if let Some(half) = kind.half() {
        let part = |v: u64, by: u32| v >> by & 0xffff;
        return [0, 16].into_iter().all(|by| is_near(half, part(found, by), part(wanted, by), ulps, absolute));
    }
    let Some(f) = kind.format() else { return found == wanted };
    let finite = |v: u64| v & (f.sign() - 1) < f.inf();
    if found == wanted || !finite(found) || !finite(wanted) {
        return found == wanted;
    }
    // The numbers in order; only zero occurs twice.
    let place = |v: u64| if v & f.sign() != 0 { -((v & (f.sign() - 1)) as i128) } else { v as i128 };
    let value = |v: u64| f64::from(f32::from_bits(v as u32));
    place(found).abs_diff(place(wanted)) <= u128::from(ulps)
        || kind == Kind::F32 && (value(found) - value(wanted)).abs() <= absolute
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert!(is_near(Kind::F32, 0x3f80_0000, 0x3f80_0001, 1, 0.0));
        assert!(!is_near(Kind::F32, 0x3f80_0000, 0x3f80_0002, 1, 0.0));
        assert!(is_near(Kind::F32, 0x8000_0001, 0, 1, 0.0), "across zero");
        assert!(!is_near(Kind::F32, 0x7f80_0000, 0x7f7f_ffff, 4, 0.0), "infinity is not a number");
        assert!(!is_near(Kind::F32, 0x7fff_ffff, 0x7fc0_0000, 4, 1.0), "a NaN has its bits");
        assert!(is_near(Kind::F32, 0x3400_0000, 0xb400_0000, 0, 0.000_000_25));
        assert!(is_near(Kind::F16x2, 0x3c00_3c01, 0x3bff_3c00, 1, 0.0));
        assert!(!is_near(Kind::F16x2, 0x3c00_3c01, 0x3bfe_3c01, 1, 0.0));
        assert!(!is_near(Kind::F64, 1, 3, 1, 0.0));
    }

    #[test]
    fn the_kind_of_a_result() {
        let kind = |text: &str| result_kind(&Form::new(text));
        assert_eq!(kind("rcp.approx.ftz.f64 %d0, %a0;"), Kind::F64);
        assert_eq!(kind("tanh.approx.bf16x2 %w0, %a0;"), Kind::Bf16x2);
        assert_eq!(kind("div.full.f32 %w0, %a0, %a1;"), Kind::F32);
    }

    #[test]
    fn what_is_written_is_read() {
        let form = Form::new("rcp.approx.f32 %w0, %a0;");
        let kernel = Kernel { name: "near0_0".into(), set: 0, first: 0, kinds: vec![Kind::F32], forms: vec![form] };
        let values: Vec<String> = (0..count(&[Kind::F32])).map(|i| format!("{i:x}")).collect();
        let text = text(&[kernel], &format!("near0_0 0 {}", values.join(" "))).unwrap();
        let near = read(&text).unwrap();
        assert_eq!((near.len(), near[0].results[0].len()), (1, KEPT));
        assert_eq!(near[0].results[0][3], kept(&[Kind::F32]).nth(3).unwrap() as u64);
    }
}
