//! Expressions over registers and memory, and conditions of breakpoints.
//!
//! ```text
//! %r1                 a register, in all lanes
//! %r1[3]              in lane 3
//! [shared + 16]       32 bits of shared memory
//! [%rd1 + 8]:f32      a float at an address in a register, in all lanes
//! [global + 0x1000]   at an address of global memory
//! %tid.x  lane  warp  cta
//! %r1 == 5 && lane < 4
//! ```

use crate::machine::Machine;
use ptx_dsl_runtime::Ty;
use ptx_dsl_runtime::debug::{AddrSpace, WarpId};

/// Addresses in the lanes of a warp.
#[derive(Debug, Clone, PartialEq)]
pub struct Addresses {
    /// The state space.
    pub space: AddrSpace,
    /// The address in each lane; `None` where there is none.
    pub lanes: Vec<Option<u64>>,
    /// The type of the memory.
    pub ty: Ty,
}

/// A value in the lanes of a warp.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Its type.
    pub ty: Ty,
    /// The bits in each lane, zero-extended; `None` where there is none.
    pub lanes: Vec<Option<u64>>,
}

impl Value {
    /// The value in words: once if all lanes have the same one.
    pub fn show(&self) -> String {
        let mut some = self.lanes.iter().flatten();
        let Some(first) = some.next() else { return "no value".into() };
        if some.all(|bits| bits == first) {
            return show(self.ty, *first);
        }
        if let Some(text) = self.progression() {
            return text;
        }
        let all = self.lanes.iter().map(|bits| bits.map_or_else(|| "-".into(), |bits| show(self.ty, bits)));
        all.collect::<Vec<_>>().join(" ")
    }

    /// Integers that grow by one step from lane to lane.
    fn progression(&self) -> Option<String> {
        let bits: Vec<u64> = self.lanes.iter().copied().collect::<Option<_>>()?;
        let (Ok(numbers), 32) =
            (bits.iter().map(|bits| integer_of(self.ty, *bits)).collect::<Result<Vec<_>, _>>(), bits.len())
        else {
            return None;
        };
        let step = numbers[1] - numbers[0];
        let grows = numbers.windows(2).all(|pair| pair[1] - pair[0] == step);
        let (first, last) = (show(self.ty, bits[0]), show(self.ty, bits[31]));
        grows.then(|| format!("{first}, {}, ... {last}", show(self.ty, bits[1])))
    }

    /// Is the value the same in all lanes that have one?
    pub fn is_uniform(&self) -> bool {
        let mut some = self.lanes.iter().flatten();
        some.next().is_none_or(|first| some.all(|bits| bits == first))
    }
}

/// The bits of a type as a number.
pub fn show(ty: Ty, bits: u64) -> String {
    let unused = 64 - ty.bits().clamp(1, 64);
    match ty {
        Ty::Pred => if bits & 1 != 0 { "true" } else { "false" }.into(),
        Ty::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Ty::F64 => format!("{:?}", f64::from_bits(bits)),
        _ if ty.is_signed() => ((bits << unused) as i64 >> unused).to_string(),
        // an address, mostly
        Ty::U64 if bits >> 32 != 0 => format!("{bits:#x}"),
        Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 => bits.to_string(),
        _ => format!("{bits:#x}"),
    }
}

/// Where an address comes from.
#[derive(Debug, Clone, PartialEq)]
enum Base {
    /// An offset in a state space.
    Space(AddrSpace),
    /// A generic address in a register.
    Register(String),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
enum Term {
    Integer(i128),
    Float(f64),
    Register { name: String, lane: Option<u32> },
    Memory { base: Base, offset: i64, ty: Ty },
    Tid(usize),
    Lane,
    Warp,
    Cta(usize),
}

/// An expression that has a value in each lane of a warp.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression(Term);

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compare {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Comparisons, all of which must hold in one lane.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    parts: Vec<(Term, Compare, Term)>,
    text: String,
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// The type of a suffix such as `f32`.
pub fn ty(name: &str) -> Result<Ty, String> {
    let all = [
        Ty::B8,
        Ty::B16,
        Ty::B32,
        Ty::B64,
        Ty::U8,
        Ty::U16,
        Ty::U32,
        Ty::U64,
        Ty::S8,
        Ty::S16,
        Ty::S32,
        Ty::S64,
        Ty::F32,
        Ty::F64,
    ];
    let found = all.into_iter().find(|ty| ty.name() == name.trim_start_matches('.'));
    found.ok_or_else(|| format!("`{name}` is not a type such as `u32` or `f32`"))
}

/// A state space by its name.
pub fn space(name: &str) -> Option<AddrSpace> {
    Some(match name {
        "shared" => AddrSpace::SharedCta,
        "global" => AddrSpace::Global,
        "generic" => AddrSpace::Generic,
        "local" => AddrSpace::Local,
        "const" => AddrSpace::Const,
        "param" => AddrSpace::ParamEntry,
        _ => return None,
    })
}

/// A whole number, decimal or `0x...`, with an optional sign.
pub fn integer(text: &str) -> Option<i128> {
    let (minus, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let plain = text.replace('_', "");
    let value = match plain.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None if plain.starts_with(|c: char| c.is_ascii_digit()) => plain.parse().ok()?,
        None => return None,
    };
    Some(if minus { -value } else { value })
}

fn term(text: &str) -> Result<Term, String> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('[') {
        let (inner, after) = rest.split_once(']').ok_or_else(|| format!("`{text}` has no `]`"))?;
        let ty = match after.trim().strip_prefix(':') {
            Some(name) => ty(name.trim())?,
            None if after.trim().is_empty() => Ty::B32,
            None => return Err(format!("`{after}` follows `]`; write a type as in `[shared + 16]:f32`")),
        };
        let at = inner.rfind(['+', '-']).filter(|at| *at > 0);
        let (base, offset) = match at {
            Some(at) => {
                let (base, offset) = inner.split_at(at);
                let digits = offset[1..].trim();
                let value = integer(digits).ok_or_else(|| format!("`{digits}` is not a number"))?;
                (base.trim(), if offset.starts_with('-') { -value } else { value })
            }
            None => (inner.trim(), 0),
        };
        let offset = offset as i64;
        let base = match space(base) {
            Some(space) => Base::Space(space),
            None if base.starts_with(['%', '$', '_']) || base.starts_with(|c: char| c.is_alphabetic()) => {
                Base::Register(base.to_owned())
            }
            None => return Err(format!("`{base}` is not a state space or a register")),
        };
        return Ok(Term::Memory { base, offset, ty });
    }
    let axis = |name: &str| ["x", "y", "z"].iter().position(|axis| *axis == name);
    if let Some(axis) = text.strip_prefix("%tid.").and_then(axis) {
        return Ok(Term::Tid(axis));
    }
    if let Some(axis) = text.strip_prefix("%ctaid.").and_then(axis) {
        return Ok(Term::Cta(axis));
    }
    match text {
        "lane" | "%laneid" => return Ok(Term::Lane),
        "warp" | "%warpid" => return Ok(Term::Warp),
        "cta" => return Ok(Term::Cta(0)),
        "true" => return Ok(Term::Integer(1)),
        "false" => return Ok(Term::Integer(0)),
        "" => return Err("an expression is missing".into()),
        _ => {}
    }
    if let Some(value) = integer(text) {
        return Ok(Term::Integer(value));
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return text.parse().map(Term::Float).map_err(|_| format!("`{text}` is not a number"));
    }
    let (name, lane) = match text.split_once('[') {
        None => (text, None),
        Some((name, rest)) => {
            let lane = rest.strip_suffix(']').and_then(|lane| lane.trim().parse().ok()).filter(|lane| *lane < 32);
            (name.trim(), Some(lane.ok_or_else(|| format!("`[{rest}` is not a lane from 0 to 31"))?))
        }
    };
    if name.contains(|c: char| c.is_whitespace() || "+*/()&|<>=!".contains(c)) {
        return Err(format!("`{text}` is not a register, an address in brackets, or a number"));
    }
    Ok(Term::Register { name: name.to_owned(), lane })
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// The text is not an expression.
    pub fn parse(text: &str) -> Result<Self, String> {
        term(text).map(Expression)
    }

    /// The value in the lanes of a warp.
    ///
    /// # Errors
    /// There is no such register, or no such memory.
    pub fn value(&self, machine: &Machine<'_>, warp: WarpId) -> Result<Value, String> {
        value(&self.0, machine, warp)
    }

    /// The address in each lane, if the expression is memory, with its type.
    ///
    /// # Errors
    /// There is no such register.
    pub fn address(&self, machine: &Machine<'_>, warp: WarpId) -> Result<Option<Addresses>, String> {
        let Term::Memory { base, offset, ty } = &self.0 else { return Ok(None) };
        let (space, lanes) = addresses(base, *offset, machine, warp)?;
        Ok(Some(Addresses { space, lanes, ty: *ty }))
    }
}

fn addresses(
    base: &Base,
    offset: i64,
    machine: &Machine<'_>,
    warp: WarpId,
) -> Result<(AddrSpace, Vec<Option<u64>>), String> {
    Ok(match base {
        Base::Space(space) => (*space, vec![Some(offset as u64); 32]),
        Base::Register(name) => {
            let register = machine.register(name, warp)?;
            // a register of 32 bits can only have an address of shared memory
            let space = if register.ty.bits() == 64 { AddrSpace::Generic } else { AddrSpace::SharedCta };
            (space, register.lanes.iter().map(|bits| bits.map(|bits| bits.wrapping_add_signed(offset))).collect())
        }
    })
}

fn value(term: &Term, machine: &Machine<'_>, warp: WarpId) -> Result<Value, String> {
    let all = |ty: Ty, of: &dyn Fn(u32) -> Option<u64>| Value { ty, lanes: (0..32).map(of).collect() };
    Ok(match term {
        Term::Integer(value) => all(Ty::S64, &|_| Some(*value as u64)),
        Term::Float(value) => all(Ty::F64, &|_| Some(value.to_bits())),
        Term::Lane => all(Ty::U32, &|lane| Some(lane.into())),
        Term::Warp => all(Ty::U32, &|_| Some(warp.warp.into())),
        Term::Tid(axis) => all(Ty::U32, &|lane| Some(machine.launch.tid(warp.warp, lane)?[*axis].into())),
        Term::Cta(axis) => {
            let id = machine.ctaid(warp).ok_or("the cluster has ended")?;
            all(Ty::U32, &|_| Some(id[*axis].into()))
        }
        Term::Register { name, lane } => {
            let value = machine.register(name, warp)?;
            match lane {
                Some(lane) => Value { lanes: vec![value.lanes[*lane as usize]], ..value },
                None => value,
            }
        }
        Term::Memory { base, offset, ty } => {
            let (space, addresses) = addresses(base, *offset, machine, warp)?;
            let bytes = (ty.bits() / 8).max(1) as usize;
            let read = |(lane, address): (u32, &Option<u64>)| {
                let bytes = machine.launch.read(space, (*address)?, bytes, (warp, lane))?;
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(&bytes);
                Some(u64::from_le_bytes(word))
            };
            let lanes: Vec<Option<u64>> = (0..).zip(&addresses).map(read).collect();
            if lanes.iter().all(Option::is_none) {
                return Err("there is no memory at this address".into());
            }
            Value { ty: *ty, lanes }
        }
    })
}

/// The bits of an integer type as a number.
fn integer_of(ty: Ty, bits: u64) -> Result<i128, ()> {
    match number(ty, bits) {
        Number::Integer(value) if ty != Ty::Pred => Ok(value),
        _ => Err(()),
    }
}

/// A number to be compared.
enum Number {
    Integer(i128),
    Float(f64),
}

fn number(ty: Ty, bits: u64) -> Number {
    let unused = 64 - ty.bits().clamp(1, 64);
    match ty {
        Ty::F32 => Number::Float(f32::from_bits(bits as u32).into()),
        Ty::F64 => Number::Float(f64::from_bits(bits)),
        _ if ty.is_signed() => Number::Integer(((bits << unused) as i64 >> unused).into()),
        _ => Number::Integer(bits.into()),
    }
}

fn compare(how: Compare, a: &Number, b: &Number) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => Some(a.cmp(b)),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(b),
        (Number::Float(a), Number::Integer(b)) => a.partial_cmp(&(*b as f64)),
        (Number::Integer(a), Number::Float(b)) => (*a as f64).partial_cmp(b),
    };
    match how {
        Compare::Equal => order == Some(Equal),
        Compare::NotEqual => order != Some(Equal),
        Compare::Less => order == Some(Less),
        Compare::LessOrEqual => matches!(order, Some(Less | Equal)),
        Compare::Greater => order == Some(Greater),
        Compare::GreaterOrEqual => matches!(order, Some(Greater | Equal)),
    }
}

impl Condition {
    /// Reads a condition, such as `%r1 == 5 && lane < 4`.
    ///
    /// # Errors
    /// The text is not a condition.
    pub fn parse(text: &str) -> Result<Self, String> {
        let part = |text: &str| {
            let all = [
                ("==", Compare::Equal),
                ("!=", Compare::NotEqual),
                ("<=", Compare::LessOrEqual),
                (">=", Compare::GreaterOrEqual),
                ("<", Compare::Less),
                (">", Compare::Greater),
            ];
            let found = all.iter().find_map(|(sign, how)| Some((text.split_once(sign)?, *how)));
            match found {
                Some(((a, b), how)) => Ok((term(a)?, how, term(b)?)),
                // a predicate alone
                None => Ok((term(text)?, Compare::NotEqual, Term::Integer(0))),
            }
        };
        let parts = text.split("&&").map(part).collect::<Result<_, String>>()?;
        Ok(Condition { parts, text: text.trim().to_owned() })
    }

    /// Does it hold in one of these lanes of a warp? Not in lanes where something has no value.
    ///
    /// # Errors
    /// There is no such register.
    pub fn holds(&self, machine: &Machine<'_>, warp: WarpId, lanes: u32) -> Result<bool, String> {
        let mut left = lanes;
        for (a, how, b) in &self.parts {
            let (a, b) = (value(a, machine, warp)?, value(b, machine, warp)?);
            for lane in 0..32 {
                let of = |value: &Value| match &value.lanes[..] {
                    [one] => *one,
                    all => all[lane],
                };
                let holds = match (of(&a), of(&b)) {
                    (Some(x), Some(y)) => compare(*how, &number(a.ty, x), &number(b.ty, y)),
                    _ => false,
                };
                if !holds {
                    left &= !(1 << lane);
                }
            }
        }
        Ok(left != 0)
    }
}
