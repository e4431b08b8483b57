//! What `run` reports, for programs: an object on each line.

use std::fmt::{Display, Write};

use ptx_dsl::Fault;
use ptx_dsl::fault::{At, FaultKind, NearMiss, Side, ThreadId};

use super::data::{Data, is_bits};
use super::launch::Outcome;
use crate::shown::quoted;

/// An object that is being written.
pub struct Object(String);

impl Object {
    /// An object that says what it is about: `{"event":"fault"`.
    pub fn event(name: &str) -> Self {
        Object(format!("{{\"event\":{}", quoted(name)))
    }

    /// An object within another.
    fn nested() -> Self {
        Object("{".into())
    }

    /// Adds a number, or another value that is written in JSON already.
    pub fn raw(mut self, name: &str, value: impl Display) -> Self {
        let comma = if self.0.len() > 1 { "," } else { "" };
        let _ = write!(self.0, "{comma}\"{name}\":{value}");
        self
    }

    /// Adds a text.
    pub fn text(self, name: &str, text: &str) -> Self {
        self.raw(name, quoted(text))
    }

    fn list(self, name: &str, items: impl Iterator<Item = String>) -> Self {
        let items: Vec<String> = items.collect();
        self.raw(name, format!("[{}]", items.join(",")))
    }

    fn end(self) -> String {
        self.0 + "}"
    }

    /// The object on a line.
    pub fn line(self) -> String {
        self.end() + "\n"
    }
}

/// A fault, and the other findings of its launch, each on a line.
pub fn faults(fault: &Fault) -> String {
    let replay = fault.replay.as_deref();
    std::iter::once(fault).chain(&fault.others).map(|fault| one(fault, replay)).collect()
}

fn one(fault: &Fault, replay: Option<&str>) -> String {
    let mut alone = fault.clone();
    alone.others.clear();
    let place = fault.at.as_ref();
    let mut out = Object::event("fault").text("kind", &kind(&fault.kind)).text("severity", "error");
    out = out.text("message", &fault.message()).text("kernel", &fault.kernel);
    out = at(out, place);
    out = out.list("callers", fault.callers.iter().map(|call| at(Object::nested(), Some(call)).end()));
    let role = fault.role.as_ref().map(|role| at(Object::nested(), Some(role)).end());
    out = out.raw("role", role.unwrap_or_else(null));
    out = out.raw("thread", fault.thread.map_or_else(null, thread));
    let register = |r: &ptx_dsl::fault::RegisterValue| {
        Object::nested()
            .text("name", &r.name)
            .text("value", &r.text)
            .raw("bits", quoted(&format!("{:#x}", r.bits)))
            .end()
    };
    out = out.list("registers", fault.registers.iter().map(register));
    let own = |access: &str| {
        let own = at(Object::nested().text("access", access), place);
        own.raw("thread", fault.thread.map_or_else(null, thread)).end()
    };
    let (sides, near): (Vec<String>, Option<&NearMiss>) = match &fault.kind {
        FaultKind::DataRace(race) => (vec![own(race.access), side(&race.other)], race.near_miss.as_ref()),
        FaultKind::TensorRace(race) => (vec![own(race.access), side(&race.other)], race.near_miss.as_ref()),
        _ => (Vec::new(), None),
    };
    out = out.list("sides", sides.into_iter());
    out = out.raw("near_miss", near.map_or_else(null, near_miss));
    let waiting = if let FaultKind::Deadlock { waiting } = &fault.kind { waiting.as_slice() } else { &[] };
    out = out.raw("alike", fault.alike);
    out = out.list("waiting", waiting.iter().map(|line| quoted(line)));
    out = out.list("schedule", fault.steps.iter().map(|step| quoted(step)));
    out = out.text("section", fault.section()).text("help", &fault.help());
    out = out.raw("replay", replay.map_or_else(null, |replay| quoted(replay.trim_matches('`'))));
    out.text("report", &alone.to_string()).line()
}

/// The name of the variant: `derive(Debug)` begins with it.
fn kind(kind: &FaultKind) -> String {
    let debug = format!("{kind:?}");
    debug.chars().take_while(char::is_ascii_alphanumeric).collect()
}

fn null() -> String {
    "null".into()
}

/// Adds a statement and its places: the line of the PTX, and those of `.loc`.
fn at(out: Object, at: Option<&At>) -> Object {
    let Some(at) = at else {
        return out.raw("file", "null").raw("line", "null").raw("statement", "null").raw("origin", "[]");
    };
    let origin = at.origin.iter().map(|place| {
        Object::nested().text("file", &place.file).raw("line", place.line).raw("column", place.column).end()
    });
    out.text("file", &at.file).raw("line", at.line).text("statement", &at.text).list("origin", origin)
}

fn thread(thread: ThreadId) -> String {
    let dims = |[x, y, z]: [u32; 3]| format!("[{x},{y},{z}]");
    let ThreadId { ctaid, tid, warp, lane, rank, .. } = thread;
    let out = Object::nested().raw("ctaid", dims(ctaid)).raw("tid", dims(tid));
    out.raw("warp", warp).raw("lane", lane).raw("rank", rank).end()
}

fn side(side: &Side) -> String {
    at(Object::nested().text("access", side.access), side.at.as_ref()).raw("thread", thread(side.thread)).end()
}

fn near_miss(miss: &NearMiss) -> String {
    let place = |place: &Option<At>| at(Object::nested(), place.as_ref()).end();
    let out = Object::nested().raw("from", place(&miss.from_at)).raw("to", place(&miss.to_at));
    out.text("why", &miss.why.to_string()).end()
}

/// What ran.
pub fn ran(kernel: &str, outcome: &Outcome, seconds: f64) -> String {
    let Outcome { reports, differ, complete, .. } = outcome;
    let sum = |of: fn(&ptx_dsl::Report) -> u64| reports.iter().map(of).sum::<u64>();
    let out = Object::event("ran").text("kernel", kernel).raw("schedules", reports.len()).raw("complete", complete);
    let out = out.raw("clusters", sum(|r| r.clusters_launched)).raw("cancelled", sum(|r| r.clusters_cancelled));
    let out = out.raw("turns", sum(|r| r.turns)).raw("instructions", sum(|r| r.instructions));
    let out = out.raw("seconds", format!("{seconds:.6}"));
    let depends =
        |(name, schedule): &(String, String)| Object::nested().text("name", name).text("schedule", schedule).end();
    let out = out.list("differ", differ.iter().map(depends));
    outcome.lost.iter().fold(out, |out, lost| out.text("lost_update", lost)).line()
}

/// Elements that `--print` asks for, `first` and the following ones up to `end`. Numbers that JSON lacks, and untyped bits, are texts.
pub fn output(name: &str, data: &Data, first: u64, end: u64) -> String {
    let is_number = |shown: &str| shown.parse::<f64>().is_ok_and(f64::is_finite);
    let bits = data.small.is_none() && is_bits(data.ty);
    let value = |at: u64| {
        let shown = data.show(at);
        if bits || !is_number(&shown) { quoted(&shown) } else { shown }
    };
    let out = Object::event("output").text("name", name).text("type", data.element().name());
    out.raw("first", first).list("values", (first..end).map(value)).line()
}

/// What the kernel prints.
pub fn printed(bytes: &[u8]) -> String {
    Object::event("printed").text("text", &String::from_utf8_lossy(bytes)).line()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl::load::Ty;

    #[test]
    fn kinds_are_variants() {
        assert_eq!(kind(&FaultKind::Trap), "Trap");
        assert_eq!(kind(&FaultKind::Internal("(x)".into())), "Internal");
        assert_eq!(kind(&FaultKind::MbarrierNotLive { offset: 8 }), "MbarrierNotLive");
    }

    #[test]
    fn values() {
        let line = |ty: Ty, bytes: Vec<u8>| output("x", &Data::from_bytes(ty, bytes).unwrap(), 0, 1);
        let object = |ty: &str, value: &str| {
            format!("{{\"event\":\"output\",\"name\":\"x\",\"type\":\"{ty}\",\"first\":0,\"values\":[{value}]}}\n")
        };
        assert_eq!(line(Ty::F32, 1.5f32.to_le_bytes().to_vec()), object("f32", "1.5"));
        assert_eq!(line(Ty::F32, f32::NAN.to_le_bytes().to_vec()), object("f32", "\"NaN\""));
        assert_eq!(line(Ty::U64, u64::MAX.to_le_bytes().to_vec()), object("u64", "18446744073709551615"));
        assert_eq!(line(Ty::B16, vec![1, 2]), object("b16", "\"0x0201\""));
    }
}
