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

#[test]
fn resources_of_a_rust_file_are_those_of_its_kernels() {
    let rust = b"ptx! { <sm_90, ptx 8.3> .visible .entry one() .reqntid 64 { ret; } }\n\
                 ptx! { <sm_80, ptx 7.8> .visible .entry two() .reqntid 96 { ret; } }\nfn main() {}\n";
    let file = Temporary::with("kernels.rs", rust);
    let (status, out, err) = text(&["resources", &file.path()]);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("`one`, 64 threads") && out.contains("`two`, 96 threads"), "{out}{err}");
    let file = Temporary::with("wrong.rs", b"ptx! { <sm_90, ptx 8.3> .visible .entry k() { mov.u32 %a, 1; ret; } }\n");
    let (status, _, err) = text(&["resources", &file.path()]);
    assert!(status == 2 && err.contains("has errors"), "{status} {err}");
}

#[test]
fn two_profiles_are_compared_by_line() {
    let conflicts =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/run/conflicts.ptx")).unwrap();
    let of = |name: &str, text_of: &str| {
        let (source, json) =
            (Temporary::with(&format!("{name}.ptx"), text_of.as_bytes()), Temporary::new(&format!("{name}.json")));
        let option = format!("--profile={}", json.path());
        let (status, _, err) = text(&["profile", &source.path(), &option, "--arg", "x=u32[256]"]);
        assert_eq!(status, 0, "{err}");
        json
    };
    // one word more in each row of 8
    let (before, now) = (of("before", &conflicts), of("now", &conflicts.replace("%t, 32, %a", "%t, 36, %a")));
    let (status, out, err) = text(&["profile", "--diff", &before.path(), &now.path()]);
    assert_eq!(status, 1, "{err}");
    // 4 warps, 10 turns: of 8 wavefronts 7 are conflicts
    let line = out.lines().find(|line| line.contains("st.shared")).unwrap_or_else(|| panic!("{out}"));
    assert!(line.starts_with("line 19: shared_wavefronts 320 to 40, bank_conflicts 280 to 0"), "{line}");
    assert!(!out.contains("sectors"), "{out}");
    let (status, out, _) = text(&["profile", "--diff", &now.path(), &now.path()]);
    assert_eq!((status, &*out), (0, "all: nothing changed\n"));
    let (status, _, err) = text(&["profile", "--diff", "run/conflicts.ptx", &now.path()]);
    assert!(status == 2 && err.contains("is not a profile"), "{err}");
}

#[test]
fn a_page_and_a_roofline_are_made_on_demand() {
    let page = Temporary::new("profile.html");
    let path = page.path();
    let (status, out, err) = text(&[&["profile"], &KERNEL[..], &["--html", &path, "--card", "h200"]].concat());
    assert_eq!(status, 0, "{err}");
    // the listing has all cards, and then the one that was asked for in full
    assert!(out.matches("H200 ").count() == 2 && out.contains("for traffic to DRAM: "), "{out}");
    assert!(out.contains("% of the SMs' places are used: 2 CTAs in 1 waves"), "{out}");
    let html = String::from_utf8_lossy(&page.bytes()).into_owned();
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("tile store") && html.contains("srcdoc"), "{html}");
    let (status, _, err) = text(&[&["profile"], &KERNEL[..], &["--card", "h300"]].concat());
    assert!(status != 0 && err.contains("`h300` is no card"), "{err}");
}

#[test]
fn the_help_says_what_each_number_is() {
    let (_, out, _) = text(&["profile", "--help"]);
    for word in
        ["executed", "lanes", "sectors", "wavefr.", "mix", "flops", "DRAM", "waits", "least time", "--html", "--diff"]
    {
        assert!(out.contains(word), "{word}");
    }
}
