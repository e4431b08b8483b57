//! Scopes and variables of the protocol: numbers that stand for parts of a launch that stands still.

use crate::expression::{Value, show};
use crate::session::{Moment, Session};
use serde_json::{Value as Json, json};

/// What a number stands for.
#[derive(Debug, Clone)]
enum Part {
    Registers(Moment),
    Specials(Moment),
    Shared(Moment),
    /// Shared memory from an offset on.
    Bytes(Moment, u64),
    Mbarriers,
    Lanes(Value),
}

/// Bytes of shared memory in one group.
const GROUP: u64 = 1024;

/// The numbers that a client has, until the launch goes on.
#[derive(Debug, Default)]
pub(super) struct Variables {
    parts: Vec<Part>,
}

impl Variables {
    /// Forgets all numbers.
    pub fn clear(&mut self) {
        self.parts.clear();
    }

    fn number(&mut self, part: Part) -> u64 {
        self.parts.push(part);
        self.parts.len() as u64
    }

    /// A number for the lanes of a value, 0 if they are all the same.
    pub fn lanes_of(&mut self, value: Value) -> u64 {
        if value.is_uniform() { 0 } else { self.number(Part::Lanes(value)) }
    }

    /// The scopes of lanes of a warp.
    pub fn scopes(&mut self, at: Moment) -> Vec<Json> {
        let parts = [
            ("Registers", Part::Registers(at)),
            ("Thread", Part::Specials(at)),
            ("Shared memory", Part::Shared(at)),
            ("mbarriers", Part::Mbarriers),
        ];
        let all = parts.into_iter().map(|(name, part)| {
            let is_large = name == "Shared memory";
            json!({ "name": name, "variablesReference": self.number(part), "expensive": is_large })
        });
        all.collect()
    }

    /// The memory that a child of a part is, as an expression.
    pub fn memory(&self, reference: u64, name: &str) -> Option<String> {
        let part = self.parts.get(usize::try_from(reference).ok()?.checked_sub(1)?)?;
        matches!(part, Part::Bytes(..)).then(|| name.to_owned())
    }

    /// What is in a part.
    pub fn children(&mut self, session: &Session, reference: u64) -> Result<Vec<Json>, String> {
        let part = usize::try_from(reference).ok().and_then(|n| self.parts.get(n.checked_sub(1)?)).cloned();
        const GONE: &str = "the launch does not stand still";
        Ok(match part.ok_or("this variable is of an earlier stop")? {
            Part::Registers(at) => {
                let rows = session.ask(move |machine| machine.registers(at.warp)).ok_or(GONE)?;
                rows.into_iter().map(|row| self.row(row.name, row.value)).collect()
            }
            Part::Specials(at) => {
                let rows = session.ask(move |machine| machine.specials(at.warp)).ok_or(GONE)?;
                rows.into_iter().map(|row| self.row(row.name, row.value)).collect()
            }
            Part::Mbarriers => {
                let all = session.ask(|machine| machine.mbarriers()).ok_or(GONE)?;
                let row = |of: &crate::Mbarrier| {
                    let name = format!("CTA rank {} of slot {}, {:#x}", of.rank, of.slot, of.offset);
                    json!({ "name": name, "value": of.words(), "variablesReference": 0 })
                };
                all.iter().map(row).collect()
            }
            Part::Shared(at) => {
                let of = at.warp;
                let size = session.ask(move |machine| machine.launch.shared(of.slot, of.rank).map(<[u8]>::len));
                let size = size.flatten().unwrap_or(0) as u64;
                let groups = (0..size).step_by(GROUP as usize).map(|from| {
                    let to = size.min(from + GROUP);
                    let number = self.number(Part::Bytes(at, from));
                    json!({ "name": format!("{from:#x} to {:#x}", to - 1), "value": format!("{} bytes", to - from), "variablesReference": number })
                });
                groups.collect()
            }
            Part::Bytes(at, from) => {
                let of = at.warp;
                let bytes = session.ask(move |machine| {
                    let all = machine.launch.shared(of.slot, of.rank)?;
                    let to = all.len().min((from + GROUP) as usize);
                    Some(all.get(from as usize..to)?.to_vec())
                });
                let bytes = bytes.flatten().ok_or(GONE)?;
                let words = bytes.chunks(4).enumerate().map(|(n, word)| {
                    let mut whole = [0; 4];
                    whole[..word.len()].copy_from_slice(word);
                    let bits = u32::from_le_bytes(whole);
                    let value = format!("{bits:#010x}  {}  {:?}", bits as i32, f32::from_bits(bits));
                    json!({ "name": format!("[shared + {:#x}]", from + 4 * n as u64), "value": value, "variablesReference": 0 })
                });
                words.collect()
            }
            Part::Lanes(value) => {
                let lanes = value.lanes.iter().enumerate();
                let rows = lanes.map(|(lane, bits)| {
                    let shown = bits.map_or_else(|| "-".to_owned(), |bits| show(value.ty, bits));
                    json!({ "name": format!("lane {lane}"), "value": shown, "variablesReference": 0 })
                });
                rows.collect()
            }
        })
    }

    fn row(&mut self, name: String, value: Value) -> Json {
        let (shown, ty) = (value.show(), format!(".{}", value.ty.name()));
        let reference = self.lanes_of(value);
        json!({ "name": name, "value": shown, "type": ty, "variablesReference": reference, "evaluateName": name })
    }
}
