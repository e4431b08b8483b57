//! What both front ends say and ask: stops in words, memory by expression, ranges of bytes.

use crate::breaks::WriteBreak;
use crate::expression::{Expression, integer, space};
use crate::session::{Moment, Reason, Session};
use ptx_dsl_runtime::debug::{LaneState, WarpId};

/// A warp in words.
pub(crate) fn warp(id: WarpId, cta: Option<[u32; 3]>) -> String {
    match cta {
        Some([x, y, z]) => format!("CTA ({x},{y},{z}) warp {}", id.warp),
        None => format!("slot {} CTA rank {} warp {}", id.slot, id.rank, id.warp),
    }
}

/// Lanes, unless they are all.
pub(crate) fn lanes(mask: u32) -> String {
    if mask == u32::MAX { String::new() } else { format!(" lanes {mask:#010x}") }
}

/// What lanes do.
pub(crate) fn state(state: &LaneState) -> &str {
    match state {
        LaneState::Runs => "runs",
        LaneState::Ready => "ready",
        LaneState::Waits(what) => what,
        _ => "",
    }
}

/// Why a launch stands still, in words.
pub(crate) fn reason(of: &Reason) -> String {
    match of {
        Reason::Entry => "the launch begins".into(),
        Reason::Step => "step".into(),
        Reason::Pause => "paused".into(),
        Reason::Breakpoint(id) => format!("breakpoint {id}"),
        Reason::Condition(id, error) => format!("breakpoint {id}, whose condition has no value: {error}"),
        Reason::Write { id, text, warp, lanes: mask, is_asynchronous } => {
            let by = if *is_asynchronous { "an asynchronous operation of " } else { "" };
            format!("breakpoint {id}: {by}warp {} of CTA rank {}{} writes {text}", warp.warp, warp.rank, lanes(*mask))
        }
        Reason::Phase { id, rank, offset } => {
            format!("breakpoint {id}: a phase of the mbarrier at {offset:#x} of CTA rank {rank} completes")
        }
        Reason::Fault(report) => format!("fault: {report}"),
        Reason::Start => "the launch begins: nothing earlier".into(),
    }
}

/// A range of memory that a user names.
#[derive(Debug, Clone)]
pub(crate) struct Range {
    /// The state space of an address, and the address in the first active lane.
    pub space: ptx_dsl_runtime::debug::AddrSpace,
    pub address: u64,
    pub bytes: u64,
}

/// The memory that a text names for a warp: `[shared + 16]:f32`, `[%rd1]`, or `shared 16 64`, with the number of bytes at the end.
pub(crate) fn range(session: &Session, text: &str, at: Moment) -> Result<Range, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [name, offset, rest @ ..] = &words[..]
        && let Some(space) = space(name)
        && rest.len() < 2
    {
        let number = |text: &str| {
            let value = integer(text).and_then(|value| u64::try_from(value).ok());
            value.ok_or_else(|| format!("`{text}` is not a number such as 64 or 0x40"))
        };
        let bytes = rest.first().map_or(Ok(4), |text| number(text))?;
        return Ok(Range { space, address: number(offset)?, bytes });
    }
    let expression = Expression::parse(text)?;
    let lane = at.lanes.trailing_zeros() as usize & 31;
    let found = session.ask(move |machine| expression.address(machine, at.warp));
    let found = found.ok_or("the launch does not stand still")??;
    let found = found.ok_or_else(|| format!("`{text}` is not memory; write `[shared + 16]`"))?;
    let address = found.lanes.get(lane).copied().flatten().ok_or("the lane has no address")?;
    Ok(Range { space: found.space, address, bytes: u64::from(found.ty.bits() / 8).max(1) })
}

/// The bytes of a range.
pub(crate) fn bytes(session: &Session, range: &Range, at: Moment) -> Result<Vec<u8>, String> {
    if range.bytes > 1 << 20 {
        return Err("more than 1 MiB at a time".into());
    }
    let (range, lane) = (range.clone(), at.lanes.trailing_zeros() & 31);
    let read = session
        .ask(move |machine| machine.launch.read(range.space, range.address, range.bytes as usize, (at.warp, lane)));
    read.flatten().ok_or_else(|| "there is no memory at this address".into())
}

/// Adds a breakpoint at writes to memory that a text names. Returns its number.
pub(crate) fn watch(session: &mut Session, text: &str, at: Moment) -> Result<u32, String> {
    let range = range(session, text, at)?;
    let (space, address) = (range.space, range.address);
    let place = session.ask(move |machine| machine.launch.place(space, address, at.warp)).flatten();
    let place = place.ok_or("there is no memory at this address")?;
    use ptx_dsl_runtime::monitor::Place;
    if !matches!(place, Place::Global { .. } | Place::Shared { .. }) {
        return Err("writes to shared and global memory can be watched, no others".into());
    }
    let (id, slot) = (session.new_id(), at.warp.slot);
    let of = WriteBreak { id, slot, place, bytes: range.bytes, text: text.trim().to_owned() };
    session.set_breaks(|breaks| breaks.writes.push(of));
    Ok(id)
}

/// Bytes as lines of 16 from an offset, as words of 32 bits.
pub(crate) fn dump(bytes: &[u8], from: u64) -> String {
    let mut text = String::new();
    for (row, chunk) in bytes.chunks(16).enumerate() {
        let words = chunk.chunks(4).map(|word| {
            let digits: String = word.iter().rev().map(|byte| format!("{byte:02x}")).collect();
            format!(" {digits}")
        });
        text += &format!("{:#08x}: {}\n", from + 16 * row as u64, words.collect::<String>().trim_start());
    }
    text
}
