//! Descriptors of `wgmma` and `tcgen05` from named fields: shared-memory descriptors (PTX ISA 9.7.15.5.1.2, 9.7.16.4.1) and instruction
//! descriptors (9.7.16.4.2). A field is checked by itself: units of 16 bytes, the bits that it has, the words that it can be.

/// A value of a field as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A word, such as `f16` or `none`.
    Word(String),
}

/// What is wrong with a descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The field that is wrong, by its position among those that are given; `None` if one is missing.
    pub field: Option<usize>,
    /// Is it the name of the field that is wrong, and not its value?
    pub name: bool,
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub help: String,
}

/// How a field is written.
#[derive(Debug, Clone, Copy)]
enum Written {
    /// In bytes; stored in units of this many.
    Units(i64),
    /// A number as it is stored.
    Number,
    /// One of these words; a number is compared as text.
    Words(&'static [(&'static str, u64)]),
}

/// A field of a descriptor.
#[derive(Debug, Clone, Copy)]
struct Field {
    name: &'static str,
    /// The first bit and the number of bits.
    bits: (u32, u32),
    written: Written,
    /// The stored value where the field is not given; `None` if it must be.
    default: Option<u64>,
}

const fn field(name: &'static str, bits: (u32, u32), written: Written, default: Option<u64>) -> Field {
    Field { name, bits, written, default }
}

const fn flag(name: &'static str, bit: u32) -> Field {
    field(name, (bit, 1), Written::Number, Some(0))
}

/// The names of the builders, after `descriptor::`.
pub const BUILDERS: [&str; 3] = ["wgmma", "tcgen05", "instruction"];

const WGMMA: &[Field] = &[
    field("start", (0, 14), Written::Units(16), Some(0)),
    field("leading", (16, 14), Written::Units(16), Some(1)),
    field("stride", (32, 14), Written::Units(16), None),
    field("base_offset", (49, 3), Written::Number, Some(0)),
    field("swizzle", (62, 2), Written::Words(&[("none", 0), ("128", 1), ("64", 2), ("32", 3)]), None),
];

/// Bits 46 to 48 are 0b001.
const TCGEN05_FIXED: u64 = 1 << 46;

const TCGEN05: &[Field] = &[
    field("start", (0, 14), Written::Units(16), Some(0)),
    field("leading", (16, 14), Written::Units(16), Some(1)),
    field("stride", (32, 14), Written::Units(16), None),
    field("base_offset", (49, 3), Written::Number, Some(0)),
    flag("absolute", 52),
    field(
        "swizzle",
        (61, 3),
        Written::Words(&[("none", 0), ("128_atom_32", 1), ("128", 2), ("64", 4), ("32", 6)]),
        None,
    ),
];

const F16: &[(&str, u64)] = &[("f16", 0), ("bf16", 1)];
const TF32: &[(&str, u64)] = &[("tf32", 2)];
const F8F6F4: &[(&str, u64)] = &[("e4m3", 0), ("e5m2", 1), ("e2m3", 3), ("e3m2", 4), ("e2m1", 5)];
const I8: &[(&str, u64)] = &[("u8", 0), ("s8", 1)];
const E2M1: &[(&str, u64)] = &[("e2m1", 1)];

/// The kinds of instruction descriptors: the name, the types of A and B, the types of D, the types of scale factors.
type InstructionKind =
    (&'static str, &'static [(&'static str, u64)], &'static [(&'static str, u64)], &'static [(&'static str, u64)]);

const KINDS: [InstructionKind; 7] = [
    ("f16", F16, &[("f16", 0), ("f32", 1)], &[]),
    ("tf32", TF32, &[("f32", 1)], &[]),
    ("f8f6f4", F8F6F4, &[("f16", 0), ("f32", 1)], &[]),
    ("i8", I8, &[("s32", 2)], &[]),
    ("mxf8f6f4", F8F6F4, &[], &[("ue8m0", 1)]),
    ("mxf4", E2M1, &[], &[("ue8m0", 1)]),
    ("mxf4nvf4", E2M1, &[], &[("ue4m3", 0), ("ue8m0", 1)]),
];

const MS: &[(&str, u64)] = &[("32", 2), ("64", 4), ("128", 8), ("256", 16)];
const SCALED_MS: &[(&str, u64)] = &[("128", 1), ("256", 2)];
const SHIFTS: &[(&str, u64)] = &[("0", 0), ("8", 1), ("16", 2), ("32", 3)];

/// The fields of an instruction descriptor of this kind.
fn instruction((name, ab, d, scales): InstructionKind) -> Vec<Field> {
    let plain = scales.is_empty();
    let four_bits = ab.len() == 1 && !plain;
    let mut fields = vec![
        flag("sparse", 2),
        field("a", (7, 3), Written::Words(ab), None),
        field("b", (10, if four_bits { 2 } else { 3 }), Written::Words(ab), None),
        flag("negate_a", 13),
        flag("negate_b", 14),
        field("n", (17, 6), Written::Units(8), None),
    ];
    if !four_bits {
        fields.extend([flag("transpose_a", 15), flag("transpose_b", 16)]);
    }
    if plain {
        fields.push(field("d", (4, 2), Written::Words(d), None));
        fields.push(field("m", (24, 5), Written::Words(MS), None));
        fields.push(field("max_shift", (30, 2), Written::Words(SHIFTS), Some(0)));
        if name == "i8" {
            fields.push(flag("saturate", 3));
        }
    } else {
        fields.push(field("scale_type", (23, 1), Written::Words(scales), None));
        fields.push(field("m", (27, 2), Written::Words(SCALED_MS), None));
        fields.push(field("scale_a", (29, 2), Written::Number, Some(0)));
        fields.push(field("scale_b", (4, 2), Written::Number, Some(0)));
    }
    fields
}

fn listed<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The descriptor with these fields, of the builder of this name.
pub fn build(builder: &str, given: &[(String, Value)]) -> Result<u64, Wrong> {
    match builder {
        "wgmma" => of_fields(WGMMA, given, &[]),
        "tcgen05" => Ok(of_fields(TCGEN05, given, &[])? | TCGEN05_FIXED),
        "instruction" => {
            let names = || listed(KINDS.iter().map(|kind| kind.0));
            let help = format!("the kinds are {}", names());
            let Some(at) = given.iter().position(|(name, _)| name == "kind") else {
                return Err(Wrong {
                    field: None,
                    name: false,
                    message: "the field `kind` is missing".to_owned(),
                    help,
                });
            };
            let named = |kind: &&InstructionKind| matches!(&given[at].1, Value::Word(word) if word == kind.0);
            match KINDS.iter().find(named) {
                Some(kind) => of_fields(&instruction(*kind), given, &["kind"]),
                None => Err(Wrong {
                    field: Some(at),
                    name: false,
                    message: "this is not a kind of `tcgen05.mma`".to_owned(),
                    help,
                }),
            }
        }
        _ => {
            let message = format!("there is no descriptor `{builder}`");
            Err(Wrong {
                field: None,
                name: false,
                message,
                help: format!("write one of {}", listed(BUILDERS.into_iter())),
            })
        }
    }
}

/// The fields as bits. `others`: names that are read elsewhere.
fn of_fields(fields: &[Field], given: &[(String, Value)], others: &[&str]) -> Result<u64, Wrong> {
    for (n, (name, _)) in given.iter().enumerate() {
        let names = || listed(others.iter().copied().chain(fields.iter().map(|field| field.name)));
        if !others.contains(&name.as_str()) && !fields.iter().any(|field| field.name == name) {
            let message = format!("this descriptor has no field `{name}`");
            return Err(Wrong { field: Some(n), name: true, message, help: format!("its fields are {}", names()) });
        }
        if given[..n].iter().any(|(other, _)| other == name) {
            let message = format!("the field `{name}` is given twice");
            return Err(Wrong { field: Some(n), name: true, message, help: "remove one of them".to_owned() });
        }
    }
    let mut bits = 0;
    for field in fields {
        let stored = match (given.iter().position(|(name, _)| name == field.name), field.default) {
            (Some(n), _) => stored(field, &given[n].1).map_err(|(message, help)| Wrong {
                field: Some(n),
                name: false,
                message,
                help,
            })?,
            (None, Some(default)) => default,
            (None, None) => {
                let message = format!("the field `{}` is missing", field.name);
                return Err(Wrong {
                    field: None,
                    name: false,
                    message,
                    help: format!("write `{}: {}`", field.name, example(field)),
                });
            }
        };
        bits |= stored << field.bits.0;
    }
    Ok(bits)
}

/// A value that the field can have.
fn example(field: &Field) -> &'static str {
    match field.written {
        Written::Units(16) => "1024",
        Written::Units(_) => "128",
        Written::Number => "0",
        Written::Words(words) => words.last().map_or("", |(word, _)| word),
    }
}

/// What the field stores for a value, or what is wrong and what to write.
fn stored(field: &Field, value: &Value) -> Result<u64, (String, String)> {
    let name = field.name;
    let most = (1i64 << field.bits.1) - 1;
    match (field.written, value) {
        (Written::Words(words), value) => {
            let text = match value {
                Value::Number(number) => number.to_string(),
                Value::Word(word) => word.clone(),
            };
            let found = words.iter().find(|(word, _)| *word == text);
            found.map(|(_, stored)| *stored).ok_or_else(|| {
                let help = format!("write one of {}", listed(words.iter().map(|(word, _)| *word)));
                (format!("`{text}` is not a value of `{name}`"), help)
            })
        }
        (_, Value::Word(word)) => Err((format!("`{name}` is a number, not `{word}`"), "write a number".to_owned())),
        (Written::Units(unit), Value::Number(number)) => {
            let what = if unit == 16 { " bytes" } else { "" };
            if *number < 0 || *number > most * unit {
                let help = format!("write a multiple of {unit} up to {}", most * unit);
                return Err((format!("`{name}` has no room for {number}{what}"), help));
            }
            if number % unit != 0 {
                let help = format!("write a multiple of {unit}");
                return Err((format!("`{name}` is in units of {unit}{what}, and {number} is no multiple"), help));
            }
            Ok((number / unit) as u64)
        }
        (Written::Number, Value::Number(number)) => {
            if (0..=most).contains(number) {
                Ok(*number as u64)
            } else {
                Err((format!("{number} is out of range for `{name}`"), format!("write a number from 0 to {most}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(builder: &str, fields: &[(&str, &str)]) -> Result<u64, Wrong> {
        let value = |text: &str| match text.parse() {
            Ok(number) => Value::Number(number),
            Err(_) => Value::Word(text.to_owned()),
        };
        let given: Vec<_> = fields.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect();
        build(builder, &given)
    }

    /// The values that kernels of `examples/` have as hex.
    #[test]
    fn descriptors_have_their_bits() {
        let tile = [("stride", "1024"), ("swizzle", "128")];
        assert_eq!(of("wgmma", &tile), Ok(0x4000_0040_0001_0000));
        assert_eq!(of("tcgen05", &tile), Ok(0x4000_4040_0001_0000));
        let mut f16 = vec![("kind", "f16"), ("d", "f32"), ("a", "f16"), ("b", "f16"), ("m", "128"), ("n", "128")];
        assert_eq!(of("instruction", &f16), Ok(0x0820_0010));
        f16[4] = ("m", "256");
        f16[5] = ("n", "256");
        assert_eq!(of("instruction", &f16), Ok(0x1040_0010));
        let scaled =
            [("kind", "mxf8f6f4"), ("a", "e4m3"), ("b", "e4m3"), ("m", "128"), ("n", "128"), ("scale_type", "ue8m0")];
        assert_eq!(of("instruction", &scaled), Ok(0x08A0_0000));
    }

    #[test]
    fn each_wrong_field_is_named() {
        for (builder, fields, at) in [
            ("wgmma", &[("stride", "1000"), ("swizzle", "128")][..], Some(0)),
            ("wgmma", &[("stride", "262144"), ("swizzle", "128")], Some(0)),
            ("wgmma", &[("stride", "1024"), ("swizzle", "256")], Some(1)),
            ("wgmma", &[("stride", "1024")], None),
            ("wgmma", &[("stride", "1024"), ("swizzle", "none"), ("stride", "16")], Some(2)),
            ("wgmma", &[("step", "1024"), ("swizzle", "none")], Some(0)),
            ("tcgen05", &[("stride", "f16"), ("swizzle", "none")], Some(0)),
            ("tcgen05", &[("stride", "16"), ("swizzle", "none"), ("base_offset", "8")], Some(2)),
            ("instruction", &[("a", "f16")], None),
            ("instruction", &[("kind", "f12")], Some(0)),
            (
                "instruction",
                &[("kind", "f16"), ("a", "e4m3"), ("b", "f16"), ("d", "f32"), ("m", "64"), ("n", "8")],
                Some(1),
            ),
            ("other", &[], None),
        ] {
            let wrong = of(builder, fields).expect_err("it is wrong");
            assert_eq!(wrong.field, at, "{builder} {fields:?}: {wrong:?}");
        }
    }
}
