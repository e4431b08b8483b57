//! Machine code that a build has made, so that the driver need not compile.

use ptx_dsl_runtime::device::text_hash;

/// The machine code of a module for some GPUs, as ptxas writes it. `ptx_dsl::build::Kernels::cubins` makes them:
///
/// ```no_run
/// # use ptx_dsl_cuda::{Cubin, Gpu};
/// // static CUBINS: &[Cubin] = &include!(concat!(env!("OUT_DIR"), "/cubins.rs"));
/// # static CUBINS: &[Cubin] = &[];
/// // SAFETY: the kernels of this program access their arguments alone.
/// let gpu = unsafe { Gpu::new(0) }?.with_cubins(CUBINS);
/// # Ok::<(), ptx_dsl_cuda::GpuError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Cubin {
    target: &'static str,
    text: u64,
    code: &'static [u8],
}

impl Cubin {
    /// Machine code for `target`, such as `sm_90a`. `text` is the hash of the PTX text that it was made from, so that it is never taken
    /// for a module with another text.
    pub const fn new(target: &'static str, text: u64, code: &'static [u8]) -> Self {
        Cubin { target, text, code }
    }

    /// Machine code for `target` of a module with this text.
    pub fn of(target: &'static str, ptx: &str, code: &'static [u8]) -> Self {
        Cubin { target, text: text_hash(ptx), code }
    }

    /// The machine code.
    pub(crate) fn code(&self) -> &'static [u8] {
        self.code
    }

    /// Whether all bytes are there that the header of the ELF file and its sections name: the driver is not told the length.
    pub(crate) fn is_whole(&self) -> bool {
        is_whole(self.code).unwrap_or(false)
    }

    /// The machine code for this module on a device of this compute capability: that of the latest target that fits.
    pub(crate) fn fitting(all: &[Cubin], ptx: &str, capability: (u32, u32)) -> Option<Cubin> {
        if all.is_empty() {
            return None;
        }
        let text = text_hash(ptx);
        let fits = |cubin: &&Cubin| cubin.text == text && rank(cubin.target, capability).is_some();
        all.iter().filter(fits).max_by_key(|cubin| rank(cubin.target, capability)).copied()
    }
}

/// Whether a file is of ELF with 64 bits, and has the bytes that its tables and sections name. `None` if a table is not there.
fn is_whole(file: &[u8]) -> Option<bool> {
    let bytes = |at: u64, n: u64| file.get(usize::try_from(at).ok()?..usize::try_from(at.checked_add(n)?).ok()?);
    let number = |at: u64, n: u64| Some(bytes(at, n)?.iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte)));
    let table = |offset: u64, size: u64, count: u64| Some((number(offset, 8)?, number(size, 2)?, number(count, 2)?));
    let is_elf = bytes(0, 6)? == b"\x7fELF\x02\x01";
    let (segments, size, count) = table(0x20, 0x36, 0x38)?;
    bytes(segments, size * count)?;
    let (sections, size, count) = table(0x28, 0x3a, 0x3c)?;
    for at in (0..count).map(|n| sections.checked_add(n * size)) {
        let header = at?;
        bytes(header, size.max(0x40))?;
        // a section without bits has a size, and no bytes
        if number(header + 4, 4)? != 8 {
            bytes(number(header + 0x18, 8)?, number(header + 0x20, 8)?)?;
        }
    }
    Some(is_elf && count > 0)
}

/// How well machine code for a target fits a device, or `None` if it does not run there: it runs on later minor versions of its major
/// version, and with `a` on its own alone.
fn rank(target: &str, capability: (u32, u32)) -> Option<(u32, bool)> {
    let name = target.strip_prefix("sm_")?;
    let digits = name.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u32 = digits.parse().ok()?;
    let of_target = (number / 10, number % 10);
    let is_exact = of_target == capability;
    let fits = match &name[digits.len()..] {
        "a" => is_exact,
        "" | "f" => of_target.0 == capability.0 && of_target.1 <= capability.1,
        _ => false,
    };
    fits.then_some((number, name.ends_with('a')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_runs_on_its_major_version() {
        let fits = |target, capability| rank(target, capability).is_some();
        assert!(fits("sm_80", (8, 0)) && fits("sm_80", (8, 9)) && !fits("sm_89", (8, 6)) && !fits("sm_80", (9, 0)));
        assert!(
            fits("sm_90a", (9, 0)) && !fits("sm_100a", (10, 3)) && fits("sm_100f", (10, 3)) && fits("sm_120", (12, 1))
        );
        assert!(!fits("compute_90", (9, 0)) && !fits("sm_", (9, 0)) && !fits("sm_90x", (9, 0)));
    }

    #[test]
    fn a_file_that_is_cut_off_is_not_whole() {
        let file: &'static [u8] = include_bytes!("../tests/device/data/newer.cubin");
        assert!(Cubin::of("sm_90", "", file).is_whole());
        assert!((0..file.len()).step_by(7).all(|n| !Cubin::of("sm_90", "", &file[..n]).is_whole()));
        assert!(!Cubin::of("sm_90", "", b"no machine code").is_whole());
    }

    #[test]
    fn the_latest_target_of_the_same_text_is_taken() {
        let cubin = |target, ptx, code| Cubin::of(target, ptx, code);
        let all = [
            cubin("sm_80", "a", b"1"),
            cubin("sm_86", "a", b"2"),
            cubin("sm_86", "b", b"3"),
            cubin("sm_90a", "a", b"4"),
        ];
        let found = |ptx, capability| Cubin::fitting(&all, ptx, capability).map(|cubin| cubin.code());
        assert_eq!(found("a", (8, 0)), Some(&b"1"[..]));
        assert_eq!(found("a", (8, 9)), Some(&b"2"[..]));
        assert_eq!((found("b", (8, 0)), found("b", (8, 7)), found("c", (8, 7))), (None, Some(&b"3"[..]), None));
        assert_eq!((found("a", (9, 0)), found("a", (12, 0))), (Some(&b"4"[..]), None));
    }
}
