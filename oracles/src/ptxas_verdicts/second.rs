//! Statements of the second source: its spellings and operand shapes, with random registers. The table takes no part: what ptxas
//! accepts here, the table must have.

use crate::Random;

/// The shortest and longest spelling of each form, then a bar and the shape of its operands: `crates/ptx-dsl-frontend/tests/forms.rs`.
const SPELLINGS: &str = include_str!("../../../crates/ptx-dsl-frontend/tests/forms/spellings.txt");

const REGISTERS: &[&str] = &["%r", "%d", "%f", "%e", "%h", "%p", "%q", "%c"];

/// Writes `each` statements of each spelling.
pub fn statements(each: usize, random: &mut Random) -> Vec<String> {
    let mut out = Vec::new();
    for line in SPELLINGS.lines() {
        let Some((head, looks)) = line.split_once(" | ") else { continue };
        let spelling = head.split(' ').next().unwrap_or("");
        let looks: Vec<&str> = looks.split(" / ").collect();
        let types: Vec<&str> = spelling.split('.').filter_map(registers).collect();
        for _ in 0..each {
            let look = random.pick(&looks).copied().unwrap_or("");
            let mut writer = Writer { types: &types, number: 0, random: &mut *random };
            let operands: Vec<String> = look.split_whitespace().filter_map(|l| writer.operand(l)).collect();
            out.push(format!("{spelling} {};", operands.join(", ")));
        }
    }
    out.sort();
    out.dedup();
    out
}

/// The usual registers of a type.
fn registers(word: &str) -> Option<&'static str> {
    Some(match word {
        "pred" => "%p",
        "f32" => "%f",
        "f64" => "%e",
        "b8" | "u8" | "s8" => "%c",
        "b16" | "u16" | "s16" | "f16" | "bf16" => "%h",
        "b64" | "u64" | "s64" | "f32x2" => "%d",
        "b128" => "%q",
        "b32" | "u32" | "s32" | "f16x2" | "bf16x2" | "tf32" => "%r",
        _ => return None,
    })
}

struct Writer<'a> {
    /// Registers of the types in the spelling.
    types: &'a [&'static str],
    number: usize,
    random: &'a mut Random,
}

impl Writer<'_> {
    /// A register for the letter; nothing for some optional ones.
    fn operand(&mut self, letter: &str) -> Option<String> {
        let (letter, optional) = letter.strip_suffix('?').map_or((letter, false), |l| (l, true));
        if optional && self.random.below(2) == 0 {
            return None;
        }
        let (kind, number) = letter.split_at(1);
        let count = number.split('-').next_back().and_then(|n| n.parse().ok()).unwrap_or(1);
        Some(match kind {
            "!" => ["%p1", "!%p2"][self.random.below(2)].to_string(),
            "P" => "%p1|%p2".to_string(),
            "p" => ["%p1", "%p1|%p2"][self.random.below(2)].to_string(),
            "N" => number.to_string(),
            "B" => self.braces(count),
            "L" => "(%r1)".to_string(),
            "_" => "_".to_string(),
            "A" => {
                let low = number.split('-').next().and_then(|n| n.parse().ok()).unwrap_or(1);
                let parts = low + self.random.below(count.saturating_sub(low) + 1);
                let first = ["%d1", "gv", "sv", "tex", "srf"];
                let mut list = vec![first[self.random.below(first.len())].to_string()];
                list.extend((1..parts).map(|_| if self.random.below(2) == 0 { self.any() } else { self.value() }));
                format!("[{}]", list.join(", "))
            }
            _ if self.random.below(8) == 0 => self.any(),
            _ => self.value(),
        })
    }

    /// Braces around some values, usually so many that 32-bit registers fill the type.
    fn any(&mut self) -> String {
        let count = [1, 2, 4, 8][self.random.below(4)];
        self.braces(count)
    }

    fn braces(&mut self, count: usize) -> String {
        let register = self.register();
        let list: Vec<String> = (0..count).map(|_| self.next(register)).collect();
        format!("{{{}}}", list.join(", "))
    }

    fn value(&mut self) -> String {
        match self.random.below(8) {
            0 => ["0", "1", "16", "1.0"][self.random.below(4)].to_string(),
            _ => {
                let register = self.register();
                self.next(register)
            }
        }
    }

    fn register(&mut self) -> &'static str {
        let by_type = self.random.below(4) > 0;
        let of = if by_type && !self.types.is_empty() { self.types } else { REGISTERS };
        of[self.random.below(of.len())]
    }

    fn next(&mut self, register: &str) -> String {
        self.number = (self.number + 1) % 9;
        format!("{register}{}", self.number)
    }
}
