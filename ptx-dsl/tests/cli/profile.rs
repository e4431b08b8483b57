//! `ptx-dsl profile`, `ptx-dsl run --profile` and `ptx-dsl resources`. Expected numbers are computed by hand.

use super::run;
use crate::run_command::Temporary;

fn text(arguments: &[&str]) -> (i32, String, String) {
    let out = run(arguments, b"");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

const KERNEL: [&str; 5] = ["run/conflicts.ptx", "--arg", "x=u32[256]", "--grid", "2"];

#[test]
fn a_listing_has_the_lines_of_the_source() {
    let (status, out, err) = text(&[&["profile"], &KERNEL[..]].concat());
    assert_eq!(status, 0, "{err}");
    let line = |words: &str| out.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{out}"));
    // 2 CTAs of 4 warps, 10 turns; a pitch of 8 words has 8 wavefronts
    let numbers: Vec<&str> = line("tile store").split_whitespace().collect();
    assert!(numbers.contains(&"80") && numbers.contains(&"640") && numbers.contains(&"560"), "{numbers:?}");
    // every second word: 8 sectors for 4
    assert!(line("// strided").contains("640 ") && line("// strided").contains("320 "), "{out}");
    assert!(out.contains("1>") && out.contains("bank conflicts"), "{out}");
}

#[test]
fn json_goes_to_a_file_or_to_standard_output() {
    let sectors = "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\": 640";
    let (_, out, err) = text(&[&["profile", "--json"], &KERNEL[..]].concat());
    assert!(out.contains(sectors), "{out}{err}");
    let file = Temporary::new("profile.json");
    let option = format!("--profile={}", file.path());
    let (status, _, err) = text(&[&["run", &option], &KERNEL[..]].concat());
    assert_eq!(status, 0, "{err}");
    assert!(String::from_utf8_lossy(&file.bytes()).contains(sectors));
    let (status, _, err) = text(&[&["profile", "--checked"], &KERNEL[..]].concat());
    assert!(status == 2 && err.contains("cannot be made with `--checked`"), "{err}");
}

#[test]
fn resources_without_ptxas_are_bounds() {
    let (status, out, err) = text(&["resources", "run/conflicts.ptx", "--block", "128", "--shared", "50000"]);
    assert_eq!(status, 0, "{err}");
    assert!(out.starts_with("`k`, 128 threads, 50000 bytes"), "{out}");
    // the tests run with a ptxas or without one; with it, 16,384 bytes are static
    let of_sm_90 = out.lines().find(|line| line.starts_with("sm_90 ")).unwrap_or_else(|| panic!("{out}"));
    let blocks = if of_sm_90.contains('?') { "4" } else { "3" };
    assert!(of_sm_90.split_whitespace().nth(6) == Some(blocks), "{out}");
    assert!(of_sm_90.contains("shared memory; one more needs"), "{out}");
}

#[test]
fn a_baseline_fails_when_fewer_ctas_fit() {
    let file = Temporary::with("baseline", b"k sm_90 spilled 0 CTAs 99\n");
    let (status, _, err) = text(&["resources", "run/conflicts.ptx", "--baseline", &file.path()]);
    assert!(status == 1 && err.contains("`k` for sm_90"), "{status} {err}");
    let (status, _, _) = text(&["resources", "run/conflicts.ptx", "--save", &file.path(), "--baseline", &file.path()]);
    assert_eq!(status, 0);
}
