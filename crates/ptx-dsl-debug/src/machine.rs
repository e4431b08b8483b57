//! A launch that stands still, with the names of its program.

use crate::agent::Marks;
use crate::expression::Value;
use crate::{Program, Variable};
use ptx_dsl_runtime::debug::image::Register;
use ptx_dsl_runtime::debug::{Before, CodePlace, LaneState, MbarrierState, Stopped, WarpId};
use ptx_dsl_runtime::{Ty, debug};

/// A launch that stands still.
pub struct Machine<'m> {
    /// The code and its text.
    pub program: &'m Program,
    /// What the host machine answers.
    pub launch: &'m dyn Stopped,
    /// The lanes that are before a statement.
    pub before: Before,
    /// The number of this statement in the launch.
    pub count: u64,
    pub(crate) marks: &'m Marks,
}

/// Lanes of a warp and what they do, for a list.
#[derive(Debug, Clone)]
pub struct WarpRow {
    /// The warp.
    pub id: WarpId,
    /// `%ctaid`
    pub cta: [u32; 3],
    /// The lanes, a bit each.
    pub lanes: u32,
    /// The line of the statement that they execute next; 0 if unknown.
    pub line: u32,
    /// The text of that line.
    pub text: String,
    /// What they do.
    pub state: LaneState,
}

/// A register of a warp.
#[derive(Debug, Clone)]
pub struct RegisterRow {
    /// Its name.
    pub name: String,
    /// Its value in all lanes.
    pub value: Value,
}

/// An mbarrier object that is live.
#[derive(Debug, Clone)]
pub struct Mbarrier {
    /// The slot of its cluster.
    pub slot: u32,
    /// The rank of its CTA.
    pub rank: u32,
    /// Its offset in shared memory.
    pub offset: u32,
    /// Its state; `None` if its bytes are no object.
    pub state: Option<MbarrierState>,
}

impl Mbarrier {
    /// The state in words.
    pub fn words(&self) -> String {
        match self.state {
            Some(s) => format!(
                "phase parity {}, {} of {} arrivals pending, tx-count {} bytes",
                s.parity, s.pending, s.expected, s.tx
            ),
            None => "its bytes are no mbarrier object".into(),
        }
    }
}

impl Machine<'_> {
    /// `%ctaid` of the CTA of a warp.
    pub fn ctaid(&self, warp: WarpId) -> Option<[u32; 3]> {
        let clusters = self.launch.clusters();
        clusters.iter().find(|cluster| cluster.slot == warp.slot)?.ctas.get(warp.rank as usize).copied()
    }

    /// Where a warp is: the place of the first of its lanes.
    fn place(&self, warp: WarpId) -> Option<CodePlace> {
        if warp == self.before.warp {
            return Some(self.before.at);
        }
        let last = self.marks.warps.get(&warp).and_then(|of| of.last).map(|before| before.at);
        last.or_else(|| self.launch.lanes().into_iter().find(|lanes| lanes.warp == warp)?.at)
    }

    /// The register of the image that each lane of a warp has written last, of those of a register of the text.
    fn owners(&self, variable: usize, first: Register, warp: WarpId) -> [Register; 32] {
        let Some(marks) = self.marks.warps.get(&warp) else { return [first; 32] };
        let mut owners = marks.owners.get(&variable).copied().unwrap_or([first; 32]);
        // an instruction that may wait, of a warp that does not run, has run unless the warp is there
        if let Some(last) = marks.last.filter(|_| warp != self.before.warp)
            && let Some((_, register)) = self.program.results(last.at).find(|(of, _)| *of == variable)
            && !self.launch.lanes().iter().any(|lanes| lanes.warp == warp && lanes.at == Some(last.at))
        {
            (0..32).filter(|lane| last.lanes >> lane & 1 != 0).for_each(|lane| owners[lane] = register);
        }
        owners
    }

    /// The value of a register of the text in a warp.
    fn value(&self, at: usize, variable: &Variable, warp: WarpId) -> Option<Value> {
        let (first, others) = variable.registers.split_first()?;
        let mut lanes = self.launch.register(warp, *first)?;
        if !others.is_empty() {
            let owners = self.owners(at, *first, warp);
            for register in others {
                let of = self.launch.register(warp, *register)?;
                (0..32).filter(|lane| owners[*lane] == *register).for_each(|lane| lanes[lane] = of[lane]);
            }
        }
        Some(Value { ty: self.program.ty(*first), lanes: lanes.map(Some).to_vec() })
    }

    /// A register of a warp by name, in the function where the warp is.
    ///
    /// # Errors
    /// There is no such register, or the warp has not begun.
    pub fn register(&self, name: &str, warp: WarpId) -> Result<Value, String> {
        const NOT_BEGUN: &str = "the warp has no registers: it has not begun, or has ended";
        let place = self.place(warp).ok_or(NOT_BEGUN)?;
        let found = self.program.variables_at(place).find(|(_, of)| of.name == name);
        let (at, variable) = found.ok_or_else(|| match self.program.variables().iter().any(|of| of.name == name) {
            true => format!("the warp is not in the function of `{name}`"),
            false => format!("there is no register `{name}`"),
        })?;
        self.value(at, variable, warp).ok_or_else(|| NOT_BEGUN.into())
    }

    /// All registers of a warp, in the function where it is.
    pub fn registers(&self, warp: WarpId) -> Vec<RegisterRow> {
        let Some(place) = self.place(warp) else { return Vec::new() };
        let all = self.program.variables_at(place).filter_map(|(at, variable)| {
            Some(RegisterRow { name: variable.name.clone(), value: self.value(at, variable, warp)? })
        });
        all.collect()
    }

    /// The lanes of all warps of resident clusters that have not ended.
    pub fn warps(&self) -> Vec<WarpRow> {
        let rows = self.launch.lanes().into_iter().map(|lanes| {
            let line = lanes.at.map_or(0, |at| self.program.line(at));
            WarpRow {
                id: lanes.warp,
                cta: self.ctaid(lanes.warp).unwrap_or_default(),
                lanes: lanes.lanes,
                line,
                text: self.program.text(line).to_owned(),
                state: lanes.state,
            }
        });
        rows.collect()
    }

    /// The live mbarrier objects.
    pub fn mbarriers(&self) -> Vec<Mbarrier> {
        let all = self.marks.mbarriers.iter().map(|(slot, rank, offset)| {
            let bytes =
                self.launch.shared(*slot, *rank).and_then(|shared| shared.get(*offset as usize..*offset as usize + 8));
            let word = bytes.and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
            let state = word.and_then(debug::MbarrierState::decode);
            Mbarrier { slot: *slot, rank: *rank, offset: *offset, state }
        });
        all.collect()
    }

    /// The special registers that tell threads apart: name and value.
    pub fn specials(&self, warp: WarpId) -> Vec<RegisterRow> {
        let axis = |n: usize| ["x", "y", "z"][n];
        let tid = (0..3).map(|n| RegisterRow {
            name: format!("%tid.{}", axis(n)),
            value: Value {
                ty: Ty::U32,
                lanes: (0..32).map(|lane| Some(self.launch.tid(warp.warp, lane)?[n].into())).collect(),
            },
        });
        let cta = self.ctaid(warp).unwrap_or_default();
        let ctaid = (0..3).map(|n| RegisterRow {
            name: format!("%ctaid.{}", axis(n)),
            value: Value { ty: Ty::U32, lanes: vec![Some(cta[n].into()); 32] },
        });
        tid.chain(ctaid).collect()
    }
}
