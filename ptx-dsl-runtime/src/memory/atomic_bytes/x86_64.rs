//! Atomic bytes on x86-64: moves and locked instructions. The parent module says what they stand for in Rust, and why that is
//! sound.

#![allow(unsafe_code)]

use std::arch::asm;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Loads one, two, four or eight bytes, little endian; other sizes byte by byte.
#[inline]
pub(crate) fn load(s: &[AtomicU8]) -> u64 {
    let p = s.as_ptr();
    let v: u64;
    // SAFETY: each reads as many bytes as there are in `s`.
    unsafe {
        match s.len() {
            1 => asm!("movzx {v:e}, byte ptr [{p}]", p = in(reg) p, v = out(reg) v, options(nostack, preserves_flags)),
            2 => asm!("movzx {v:e}, word ptr [{p}]", p = in(reg) p, v = out(reg) v, options(nostack, preserves_flags)),
            4 => asm!("mov {v:e}, dword ptr [{p}]", p = in(reg) p, v = out(reg) v, options(nostack, preserves_flags)),
            8 => asm!("mov {v}, qword ptr [{p}]", p = in(reg) p, v = out(reg) v, options(nostack, preserves_flags)),
            _ => v = s.iter().take(8).rev().fold(0, |v, b| v << 8 | b.load(Relaxed) as u64),
        }
    }
    v
}

/// Stores one, two, four or eight bytes of `v`; other sizes byte by byte.
#[inline]
pub(crate) fn store(s: &[AtomicU8], v: u64) {
    let p = s.as_ptr();
    // SAFETY: each writes as many bytes as there are in `s`; those of an `AtomicU8` may change after a shared reference.
    unsafe {
        match s.len() {
            1 => {
                asm!("mov byte ptr [{p}], {v}", p = in(reg) p, v = in(reg_byte) v as u8, options(nostack, preserves_flags))
            }
            2 => asm!("mov word ptr [{p}], {v:x}", p = in(reg) p, v = in(reg) v, options(nostack, preserves_flags)),
            4 => asm!("mov dword ptr [{p}], {v:e}", p = in(reg) p, v = in(reg) v, options(nostack, preserves_flags)),
            8 => asm!("mov qword ptr [{p}], {v}", p = in(reg) p, v = in(reg) v, options(nostack, preserves_flags)),
            _ => s.iter().enumerate().take(8).for_each(|(i, b)| b.store((v >> (8 * i)) as u8, Relaxed)),
        }
    }
}

/// Loads as many bytes as both have, each aligned element as a whole.
#[inline(always)]
pub(crate) fn copy_in(s: &[AtomicU8], to: &mut [u8]) {
    let n = s.len().min(to.len());
    // SAFETY: both have `n` bytes, and `to` is borrowed mutably.
    unsafe { copy(s.as_ptr().cast(), to.as_mut_ptr(), n) }
}

/// Stores as many bytes as both have, each aligned element as a whole.
#[inline(always)]
pub(crate) fn copy_out(from: &[u8], s: &[AtomicU8]) {
    let n = s.len().min(from.len());
    // SAFETY: both have `n` bytes; those of an `AtomicU8` may change after a shared reference.
    unsafe { copy(from.as_ptr(), s.as_ptr().cast::<u8>().cast_mut(), n) }
}

macro_rules! moves {
    ($from:ident, $to:ident, $at:ident, $n:ident, $($bytes:literal $class:ident $load:literal $store:literal;)*) => { $(
        if $n - $at >= $bytes {
            asm!($load, $store, f = in(reg) $from.add($at), t = in(reg) $to.add($at), v = out($class) _,
                options(nostack, preserves_flags));
            $at += $bytes;
        }
    )* };
}

/// # Safety
/// `n` bytes may be read at `from` and written at `to`.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, n: usize) {
    let mut at = 0;
    // SAFETY: the bytes from `at` on, no more than `n` in all.
    unsafe {
        while n - at >= 64 {
            asm!(
                "movups {a}, [{f}]", "movups {b}, [{f} + 16]", "movups {c}, [{f} + 32]", "movups {d}, [{f} + 48]",
                "movups [{t}], {a}", "movups [{t} + 16], {b}", "movups [{t} + 32], {c}", "movups [{t} + 48], {d}",
                f = in(reg) from.add(at), t = in(reg) to.add(at),
                a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
                options(nostack, preserves_flags)
            );
            at += 64;
        }
        while n - at >= 16 {
            asm!("movups {v}, [{f}]", "movups [{t}], {v}", f = in(reg) from.add(at), t = in(reg) to.add(at),
                v = out(xmm_reg) _, options(nostack, preserves_flags));
            at += 16;
        }
        moves!(from, to, at, n,
            8 reg "mov {v}, qword ptr [{f}]" "mov qword ptr [{t}], {v}";
            4 reg "mov {v:e}, dword ptr [{f}]" "mov dword ptr [{t}], {v:e}";
            2 reg "mov {v:x}, word ptr [{f}]" "mov word ptr [{t}], {v:x}";
            1 reg_byte "mov {v}, byte ptr [{f}]" "mov byte ptr [{t}], {v}";
        );
    }
    let _ = at;
}

/// Compare-and-exchange of one, two, four or eight bytes: stores `new` if they are `old`. Returns the old bytes.
#[inline]
pub(crate) fn exchange(s: &[AtomicU8], old: u64, new: u64) -> u64 {
    let p = s.as_ptr();
    // SAFETY: each reads and writes as many bytes as there are in `s`; those of an `AtomicU8` may change after a shared
    // reference.
    unsafe {
        match s.len() {
            1 => {
                let seen: u8;
                asm!("lock cmpxchg byte ptr [{p}], {v}", p = in(reg) p, v = in(reg_byte) new as u8,
                    inout("al") old as u8 => seen, options(nostack));
                seen as u64
            }
            2 => {
                let seen: u16;
                asm!("lock cmpxchg word ptr [{p}], {v:x}", p = in(reg) p, v = in(reg) new as u16,
                    inout("ax") old as u16 => seen, options(nostack));
                seen as u64
            }
            4 => {
                let seen: u32;
                asm!("lock cmpxchg dword ptr [{p}], {v:e}", p = in(reg) p, v = in(reg) new as u32,
                    inout("eax") old as u32 => seen, options(nostack));
                seen as u64
            }
            8 => {
                let seen: u64;
                asm!("lock cmpxchg qword ptr [{p}], {v}", p = in(reg) p, v = in(reg) new,
                    inout("rax") old => seen, options(nostack));
                seen
            }
            _ => under_lock(s, [old, 0], [new, 0])[0],
        }
    }
}

/// Compares and exchanges sixteen bytes.
pub(crate) fn exchange_16(s: &[AtomicU8], old: [u64; 2], new: [u64; 2]) -> [u64; 2] {
    let p = s.as_ptr();
    // `cmpxchg16b` needs alignment, and the first x86-64 processors lack it
    if s.len() != 16 || !p.addr().is_multiple_of(16) || !std::arch::is_x86_feature_detected!("cmpxchg16b") {
        return under_lock(s, old, new);
    }
    let (low, high): (u64, u64);
    // SAFETY: sixteen bytes, aligned, that may change after a shared reference; `rbx` is as it was at the end.
    unsafe {
        asm!("xchg rbx, rsi", "lock cmpxchg16b xmmword ptr [rdi]", "mov rbx, rsi",
            in("rdi") p, inout("rsi") new[0] => _, in("rcx") new[1],
            inout("rax") old[0] => low, inout("rdx") old[1] => high, options(nostack));
    }
    [low, high]
}

/// Sizes that no instruction handles, under a lock: atomic only with respect to itself.
#[cold]
fn under_lock(s: &[AtomicU8], old: [u64; 2], new: [u64; 2]) -> [u64; 2] {
    static LOCK: Mutex<()> = Mutex::new(());
    let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let n = s.len().min(16);
    let mut seen = [0; 16];
    copy_in(&s[..n], &mut seen[..n]);
    let word = |b: &[u8]| b.iter().rev().fold(0, |v, &b| v << 8 | b as u64);
    let seen = [word(&seen[..8]), word(&seen[8..])];
    if seen == old {
        let mut b = [0; 16];
        b[..8].copy_from_slice(&new[0].to_le_bytes());
        b[8..].copy_from_slice(&new[1].to_le_bytes());
        copy_out(&b[..n], &s[..n]);
    }
    seen
}

/// Adds to four or eight bytes. Returns the old value.
#[inline]
pub(crate) fn add(s: &[AtomicU8], v: u64) -> Option<u64> {
    let p = s.as_ptr();
    // SAFETY: as for `exchange`.
    unsafe {
        match s.len() {
            4 => {
                let mut v = v as u32;
                asm!("lock xadd dword ptr [{p}], {v:e}", p = in(reg) p, v = inout(reg) v, options(nostack));
                Some(v as u64)
            }
            8 => {
                let mut v = v;
                asm!("lock xadd qword ptr [{p}], {v}", p = in(reg) p, v = inout(reg) v, options(nostack));
                Some(v)
            }
            _ => None,
        }
    }
}
