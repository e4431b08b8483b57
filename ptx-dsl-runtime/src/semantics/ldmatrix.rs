//! Matrices between shared memory and the registers of a warp (PTX ISA 9.7.14.5.15 to 9.7.14.5.17).
//!
//! A row is 16 bytes. Lane 8 *i* to 8 *i* + 7 (16 *i* to 16 *i* + 15 with `.m16n16`) give the addresses of the rows of matrix *i*.
//! Lane *l* holds four bytes of row *l* / 4, from byte 4 (*l* mod 4) on, lowest first.

use super::{active, own_shared_object, space};
use crate::fault::{Fault, FaultKind};
use crate::kernel::Flow;
use crate::machine::Ctx;
use crate::machine::findings::UndefinedAccess;
use crate::memory::address::{Place, decode_common};
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::{Destination, Source};
use crate::numerics::qual::{Q, q};
use crate::semantics::Blocks;

/// Unpacks a row of shared memory to bytes.
fn unpack(q: Q, row: [u8; 16]) -> [u8; 16] {
    let bits = u128::from_le_bytes(row);
    let element = |i: usize, width: usize| (bits >> (i * width)) as u8 & ((1 << width) - 1);
    if q.has(q::b6x16_p32) {
        std::array::from_fn(|i| element(i, 6))
    } else if q.has(q::b4x16_p64) {
        std::array::from_fn(|i| element(i, 4))
    } else if q.has(q::s4) {
        // the first eight bytes, by an H200
        std::array::from_fn(|i| ((element(i, 4) << 4) as i8 >> 4) as u8)
    } else {
        row
    }
}

/// Are elements of a row in shared memory narrower than a byte?
fn is_packed(q: Q) -> bool {
    q.has(q::b6x16_p32) || q.has(q::b4x16_p64) || q.has(q::s4)
}

/// The element of a row that begins in a byte, or `None` for padding.
fn element(q: Q, byte: usize) -> Option<usize> {
    if q.has(q::b4x16_p64) || q.has(q::s4) {
        (byte < 8).then_some(2 * byte)
    } else if q.has(q::b6x16_p32) {
        (byte < 12).then_some(byte * 8 / 6)
    } else {
        Some(byte)
    }
}

/// The lane that gets or gives a byte of the row whose address `lane` gives, so that the checked host knows whose access it is.
fn owner(q: Q, lane: usize, byte: usize) -> usize {
    let Some(element) = element(q, byte) else { return lane };
    if q.has(q::m16n16) {
        element % 8 * 4 + lane % 16 / 4
    } else if q.has(q::m16n8) {
        byte % 8 * 4 + lane % 8 / 2
    } else if q.has(q::trans) {
        byte / 2 * 4 + lane % 8 / 2
    } else {
        lane % 8 * 4 + element / 4
    }
}

/// The pieces of a row that one lane gets or gives: the first byte, their number, the lane.
fn pieces(q: Q, lane: usize) -> impl Iterator<Item = (usize, u32, u32)> {
    let step = match (is_packed(q) || q.has(q::m16n8) || q.has(q::m16n16), q.has(q::trans)) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 4,
    };
    (0..16).step_by(step).map(move |byte| (byte, step as u32, owner(q, lane, byte) as u32))
}

/// The row whose address `lane` gives.
fn row(x: &mut Ctx<'_>, q: Q, addr: u64, lane: usize) -> Result<[u8; 16], Box<Fault>> {
    let space = space(q);
    let offset = own_shared_object(x, space, addr, 16, lane, "a row of a matrix")? as usize;
    // the slow path reports a row outside of shared memory
    if !x.monitor.is_on()
        && let Ok(window) = x.window(x.rank())
        && let Some(row) = window.get(offset..).and_then(|bytes| bytes.first_chunk())
    {
        return Ok(*row);
    }
    let mut row = [0; 16];
    if x.monitor.is_on() {
        for (from, len, lane) in pieces(q, lane) {
            let words = x.read(space, addr + from as u64, len, lane)?;
            let bytes = words[0].to_le_bytes().into_iter().chain(words[1].to_le_bytes());
            row[from..].iter_mut().zip(bytes.take(len as usize)).for_each(|(to, byte)| *to = byte);
        }
        return Ok(row);
    }
    let words = x.read(space, addr, 16, lane as u32)?;
    for (bytes, word) in row.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Ok(row)
}

/// Stores the row whose address `lane` gives.
fn store_row(x: &mut Ctx<'_>, q: Q, addr: u64, lane: usize, bytes: &[u8; 16]) -> Result<(), Box<Fault>> {
    let space = space(q);
    own_shared_object(x, space, addr, 16, lane, "a row of a matrix")?;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, b| word << 8 | u64::from(*b));
    if x.monitor.is_on() {
        for (from, len, lane) in pieces(q, lane) {
            let value = number(&bytes[from..from + len as usize]);
            x.write(space, addr + from as u64, len, [value, 0, 0, 0], lane)?;
        }
        return Ok(());
    }
    let (low, high) = bytes.split_at(8);
    x.write(space, addr, 16, [number(low), number(high), 0, 0], lane as u32)
}

/// The rows of a matrix with those of 16-bit elements as columns.
fn transposed(rows: &[[u8; 16]; 8]) -> [[u8; 16]; 8] {
    std::array::from_fn(|r| std::array::from_fn(|i| rows[i / 2][2 * r + i % 2]))
}

/// The four bytes of a lane.
fn word(rows: &[[u8; 16]; 8], lane: usize) -> u32 {
    let at = 4 * (lane % 4);
    u32::from_le_bytes([0, 1, 2, 3].map(|i| rows[lane / 4][at + i]))
}

/// Matrices of whole rows from shared memory. `None` if an address is not that of a row there.
#[inline(always)]
fn load(
    window: &[u8],
    offset: impl Fn(u64) -> Option<usize>,
    addresses: &Lanes,
    transposes: bool,
    d: &mut [Destination<'_>],
) -> Option<()> {
    for (d, addresses) in d.iter_mut().zip(addresses.as_chunks::<8>().0) {
        let mut words = [0; 32];
        // elements of 16 bits, which LLVM loads as vectors
        let mut rows = [[0u16; 8]; 8];
        for ((row, words), address) in rows.iter_mut().zip(words.as_chunks_mut::<4>().0).zip(addresses) {
            let bytes: &[u8; 16] = window.get(offset(*address)?..)?.first_chunk()?;
            if transposes {
                for (element, bytes) in row.iter_mut().zip(bytes.as_chunks::<2>().0) {
                    *element = u16::from_le_bytes(*bytes);
                }
            } else {
                for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *word = u32::from_le_bytes(*bytes);
                }
            }
        }
        if transposes {
            for (r, words) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                for t in 0..4 {
                    words[t] = u32::from(rows[2 * t][r]) | u32::from(rows[2 * t + 1][r]) << 16;
                }
            }
        }
        d.put(&words);
    }
    Some(())
}

/// Tells the monitor which lane gets which bytes of whole matrices of 16-bit elements. False if it must see each of them.
fn report(x: &mut Ctx<'_>, q: Q, addresses: &Lanes, matrices: usize) -> bool {
    let (parts, space) = (if q.has(q::trans) { 2 } else { 1 }, space(q));
    addresses.as_chunks::<8>().0.iter().take(matrices).all(|rows| {
        (0..parts).all(|part| {
            let of_lane: Lanes = std::array::from_fn(|lane| {
                let (row, byte) =
                    if parts == 2 { (lane % 4 * 2 + part, lane / 4 * 2) } else { (lane / 4, lane % 4 * 4) };
                rows[row].wrapping_add(byte as u64)
            });
            x.report().lanes(space, &of_lane, 4 / parts as u32, false, u32::MAX)
        })
    })
}

/// The bytes of a matrix with elements of 16 bits that a lane has in a register: the row, the first byte of it, and how many. None where
/// elements have other sizes.
pub(crate) fn matrix_words(q: Q, lane: usize) -> impl Iterator<Item = (usize, u64, u32)> {
    let parts = if is_packed(q) || q.has(q::m16n16) || q.has(q::m16n8) {
        0
    } else if q.has(q::trans) {
        2
    } else {
        1
    };
    (0..parts).map(move |part| match parts {
        1 => (lane / 4, lane as u64 % 4 * 4, 4),
        _ => (lane % 4 * 2 + part, lane as u64 / 4 * 2, 2),
    })
}

/// Words that hold undefined values, which statements have stored, are undefined in the registers too.
#[cold]
fn follow_undefined(x: &mut Ctx<'_>, q: Q, addresses: &Lanes, registers: usize) {
    for result in 0..registers {
        let (mut lanes, mut found) = (0, None);
        for lane in 0..32 {
            let mut origins = matrix_words(q, lane).map(|(row, byte, bytes)| {
                let addr = addresses.get(8 * result + row)?.wrapping_add(byte);
                match decode_common(space(q), addr, x.rank()) {
                    Some(Place::Shared { offset, .. }) => x.report().undefined_in_shared(addr, offset, bytes),
                    _ => None,
                }
            });
            // an element that is written is a reason for the other one to be padding
            if let Some(origin) = origins.next().flatten().filter(|_| origins.all(|origin| origin.is_some())) {
                (lanes, found) = (lanes | 1 << lane, Some(origin));
            }
        }
        if let Some(origin) = found {
            let who = x.who(lanes);
            x.findings.undefined.push(UndefinedAccess::Word { result, who, origin });
        }
    }
}

/// Tells the monitor where the rows of each matrix are in the CTA's shared memory, which are read or have been written.
fn report_rows(x: &mut Ctx<'_>, q: Q, addresses: &Lanes, registers: usize, written: bool) -> Result<(), Box<Fault>> {
    let rows = if q.has(q::m16n16) { 16 } else { 8 };
    for (number, of_matrix) in (0..).zip(addresses[..(8 * registers).min(32)].chunks_exact(rows)) {
        let mut places = [0; 16];
        let place_of = |address: &u64| match decode_common(space(q), *address, x.rank()) {
            Some(Place::Shared { offset, .. }) => Some(offset),
            _ => None,
        };
        let found = places.iter_mut().zip(of_matrix).try_for_each(|(place, address)| {
            *place = place_of(address)?;
            Some(())
        });
        if found.is_none() {
            // what is elsewhere is a fault of its own
            continue;
        }
        x.report().matrix_rows(number, &places[..rows], written).map_err(|kind| x.fault(kind, number * rows as u32))?;
    }
    Ok(())
}

/// The last target on which `ldmatrix` needs the address of a row in each lane, also where the row is not read.
const LAST_WITH_ALL_ADDRESSES: u32 = 75;

/// Are the addresses of the lanes whose rows are not read those of rows, too?
#[cold]
fn check_unused(x: &Ctx<'_>, q: Q, addresses: &Lanes, used: usize) -> Result<(), Box<Fault>> {
    let is_row = |addr| match decode_common(space(q), addr, x.rank()) {
        Some(Place::Shared { offset, .. }) => {
            offset.is_multiple_of(16) && offset.checked_add(16).is_some_and(|end| end <= x.geometry.shared_end())
        }
        _ => false,
    };
    let Some(lane) = active(x.mask).find(|lane| *lane >= used && !is_row(addresses[*lane])) else { return Ok(()) };
    let what = format!(
        "address {:#x} of lane {lane}, whose row is not read, is not that of a row of 16 bytes in the CTA's shared memory, which `ldmatrix` needs in each lane up to `sm_75`",
        addresses[lane]
    );
    let help = "give each lane a valid address, such as that of lane `%laneid & 7`";
    Err(x.fault(FaultKind::undefined(what, "9.7.14.5.15", help), lane as u32))
}

/// `ldmatrix r, [p]`. `.m8n8.trans` transposes elements of 16 bits, `.m16n16.trans` those of 8 bits: two registers have the upper and
/// the lower eight rows of the transposed matrix. `.m8n16` and `.m16n16` unpack elements of 4 and 6 bits, `.s8.s4` with their
/// signs.
pub fn ldmatrix(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], d: &mut [Destination<'_>]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("ldmatrix")? {
        return Ok(Flow::Wait(wait));
    }
    let addresses = &*s[0].lanes();
    if x.geometry.target <= LAST_WITH_ALL_ADDRESSES {
        check_unused(x, q, addresses, 8 * d.len())?;
    }
    if x.monitor.is_on() {
        report_rows(x, q, addresses, d.len(), false)?;
        if x.findings.has_stored {
            follow_undefined(x, q, addresses, d.len());
        }
    }
    let whole = x.mask == u32::MAX && !is_packed(q) && !q.has(q::m16n16);
    let seen = whole && (!x.monitor.is_on() || report(x, q, addresses, d.len()));
    if seen && let Ok(window) = x.window(x.rank()) {
        let own = |address| match decode_common(space(q), address, x.rank()) {
            Some(Place::Shared { offset, .. }) if offset.is_multiple_of(16) => Some(offset as usize),
            _ => None,
        };
        if load(window, own, addresses, q.has(q::trans), d).is_some() {
            return Ok(Flow::Next);
        }
    }
    let mut rows = [[0; 16]; 32];
    let of_each = if q.has(q::m16n16) { 2 } else { 1 };
    for lane in 0..(8 * d.len()).min(32) {
        let row = row(x, q, addresses[lane], lane)?;
        rows[lane] = if is_packed(q) { unpack(q, row) } else { row };
    }
    for r in 0..d.len() {
        let part: [[u8; 16]; 8] = if of_each == 2 {
            let first = r / 2 * 16;
            std::array::from_fn(|line| std::array::from_fn(|i| rows[first + i][r % 2 * 8 + line]))
        } else {
            let own = std::array::from_fn(|line| rows[8 * r + line]);
            if q.has(q::trans) { transposed(&own) } else { own }
        };
        d[r].put(&std::array::from_fn(|lane| word(&part, lane)));
    }
    Ok(Flow::Next)
}

/// `stmatrix [p], r`: as [`ldmatrix`], the other way round. A register of `.m16n8.trans` has four elements of 8 bits: two neighbours in
/// row *l* / 4, and those in row *l* / 4 + 8. The columns of the matrix are the rows in shared memory.
pub fn stmatrix(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], _: &mut [Destination<'_>]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("stmatrix")? {
        return Ok(Flow::Wait(wait));
    }
    let [address, registers @ ..] = s else { return Ok(Flow::Next) };
    for (r, register) in registers.iter().enumerate() {
        let words = register.words();
        let byte = |lane: usize, i: usize| (words[lane] >> (8 * i)) as u8;
        let rows: [[u8; 16]; 8] = if q.has(q::m16n8) {
            std::array::from_fn(|n| std::array::from_fn(|m| byte(m % 8 * 4 + n / 2, n % 2 + m / 8 * 2)))
        } else {
            let own = std::array::from_fn(|line| std::array::from_fn(|i| byte(4 * line + i / 4, i % 4)));
            if q.has(q::trans) { transposed(&own) } else { own }
        };
        for (line, bytes) in rows.iter().enumerate() {
            let lane = 8 * r + line;
            store_row(x, q, address.lane(lane), lane, bytes)?;
        }
    }
    if x.monitor.is_on() {
        report_rows(x, q, &address.lanes(), registers.len(), true)?;
    }
    Ok(Flow::Next)
}

/// `movmatrix d, a`: the transposed matrix.
pub fn movmatrix(x: &mut Ctx<'_>, _: Q, s: &[Source<'_>], d: &mut [Destination<'_>]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("movmatrix")? {
        return Ok(Flow::Wait(wait));
    }
    let words = s[0].words();
    let element = |row: usize, column: usize| words[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    for l in active(x.mask) {
        let (row, column) = (l / 4, 2 * (l % 4));
        d.iter_mut().for_each(|d| d.set(l, (element(column, row) | element(column + 1, row) << 16).into()));
    }
    Ok(Flow::Next)
}

semantics! {
    registers "ldmatrix" => ldmatrix,
    registers "movmatrix" => movmatrix,
    registers "stmatrix" => stmatrix,
}
