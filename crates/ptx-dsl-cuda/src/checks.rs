//! Checks of a kernel against a device, before anything runs.

use crate::error::{GpuError, TargetRule};

/// The newest PTX ISA that the driver of a CUDA release reads: `(12, 8)` reads 8.7. The release notes of the PTX ISA list them.
///
/// ```
/// assert_eq!(ptx_dsl_cuda::supported_ptx((13, 0)), (9, 0));
/// ```
pub fn supported_ptx(cuda: (u32, u32)) -> (u32, u32) {
    match cuda {
        (12, minor @ 0..=5) => (8, minor),
        // 12.6 has no PTX of its own
        (12, minor @ 6..=9) => (8, minor - 1),
        (12, _) => (8, 8),
        (0..=11, _) => (7, 8),
        (major, minor) => (major - 4, minor),
    }
}

/// Checks the `.target` of a module against the compute capability of a device.
pub(crate) fn target(target: &str, capability: (u32, u32)) -> Result<(), GpuError> {
    let Some(name) = target.strip_prefix("sm_") else { return Ok(()) };
    let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
    let Ok(number) = digits.parse::<u32>() else { return Ok(()) };
    let wanted = (number / 10, number % 10);
    let (fits, why) = match &name[digits.len()..] {
        "a" => (wanted == capability, TargetRule::Exactly),
        "f" => (wanted.0 == capability.0 && wanted <= capability, TargetRule::Family),
        _ => (wanted <= capability, TargetRule::Later),
    };
    if fits { Ok(()) } else { Err(GpuError::Target { target: target.to_owned(), capability, why }) }
}

/// Checks the `.version` of a module against the driver.
pub(crate) fn version(ptx: &str, cuda: (u32, u32)) -> Result<(), GpuError> {
    let supported = supported_ptx(cuda);
    match version_of(ptx) {
        Some(version) if version > supported => Err(GpuError::PtxVersion { version, supported }),
        _ => Ok(()),
    }
}

/// The `.version` of PTX text.
fn version_of(ptx: &str) -> Option<(u32, u32)> {
    let line = ptx.lines().find_map(|line| line.trim_start().strip_prefix(".version"))?;
    let (major, minor) = line.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?))
}

/// Checks that a device has as much as a launch needs.
pub(crate) fn resource(what: &'static str, needed: u64, available: u64) -> Result<(), GpuError> {
    if needed <= available { Ok(()) } else { Err(GpuError::Resource { what, needed, available }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the release history of the PTX ISA manual.
    #[test]
    fn drivers_read_the_ptx_of_their_release() {
        let listed = [
            ((11, 8), (7, 8)),
            ((12, 0), (8, 0)),
            ((12, 5), (8, 5)),
            ((12, 6), (8, 5)),
            ((12, 7), (8, 6)),
            ((12, 8), (8, 7)),
            ((12, 9), (8, 8)),
            ((13, 0), (9, 0)),
            ((13, 1), (9, 1)),
        ];
        for (cuda, ptx) in listed {
            assert_eq!(supported_ptx(cuda), ptx, "CUDA {cuda:?}");
        }
    }

    #[test]
    fn targets_with_a_suffix_run_nowhere_else() {
        let fits = |name, capability| target(name, capability).is_ok();
        assert!(fits("sm_75", (9, 0)) && fits("sm_90", (9, 0)) && fits("sm_90", (10, 0)));
        assert!(!fits("sm_100", (9, 0)));
        assert!(fits("sm_90a", (9, 0)) && !fits("sm_90a", (10, 0)) && !fits("sm_100a", (10, 3)));
        assert!(fits("sm_100f", (10, 3)) && !fits("sm_100f", (12, 0)) && !fits("sm_103f", (10, 0)));
        let error = target("sm_100a", (9, 0)).unwrap_err().to_string();
        assert_eq!(
            error,
            "the header says `sm_100a`, and this GPU is sm_90: a target with `a` runs on GPUs of that compute capability alone"
        );
    }

    #[test]
    fn a_version_above_the_driver_is_an_error() {
        let text = "// a comment\n.version 9.4\n.target sm_90a\n";
        assert!(version(text, (13, 4)).is_ok());
        let error = version(text, (13, 0)).unwrap_err().to_string();
        assert_eq!(
            error,
            "the driver reads PTX up to 9.0, and this header says 9.4: lower the version in the header, embed a cubin, or update the driver"
        );
    }
}
