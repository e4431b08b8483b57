//! Public bugs, each reduced to a wrong and a right kernel (`tests/bugs/`): what finds them? This test compares the answers with
//! the table in docs/internals/real-bugs.md, and writes it if `BLESS=1` is set.

mod ring;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::ptxas;
use ptx_dsl::tensor_map::{ElementType, TensorMap};
use ptx_dsl::{Arg, Error, Host, KernelFn as _, Report};
use ptx_dsl_frontend::diag::Severity;
use ptx_dsl_frontend::lex::lex;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/internals/real-bugs.md");

/// The result of a run on the host.
type Run = Result<(), Error>;

/// Both hosts over several schedules: plain, checked.
struct Runs {
    plain: Run,
    checked: Run,
}

const SCHEDULES: u64 = 12;

fn decisions(reports: &[Report]) -> impl Iterator<Item = &[u32]> {
    reports.iter().map(|r| r.schedule.as_slice())
}

/// Dimensions from the directives, and arguments for a signature.
macro_rules! run {
    ($kernel:expr, $host:expr, $text:expr, pair) => {{
        let (mut a, mut b) = (vec![1u8; 16384], vec![0u8; 16384]);
        $kernel.launch_raw($host, launch($text), &mut [Arg::buffer(&mut a), Arg::buffer(&mut b)])
    }};
    ($kernel:expr, $host:expr, $text:expr, pair_and_map) => {{
        let (mut a, mut b) = (vec![1u8; 16384], vec![0u8; 16384]);
        let mut tensor = [0u8; 32];
        let map = TensorMap::tiled(&mut tensor, ElementType::U8).dims([32]).box_dims([32]).build().unwrap();
        $kernel.launch_raw($host, launch($text), &mut [Arg::buffer(&mut a), Arg::buffer(&mut b), (&map).into()])
    }};
    ($kernel:expr, $host:expr, $text:expr, map) => {{
        let (mut a, mut b) = ([1u8; 128], [2u8; 128]);
        let map = TensorMap::tiled(&mut a, ElementType::U8).dims([128]).box_dims([128]).build().unwrap();
        $kernel.launch_raw($host, launch($text), &mut [(&map).into(), Arg::buffer(&mut b)])
    }};
}

macro_rules! modules {
    ($($name:ident $file:literal $signature:ident)*) => {
        $(
            // The compiler warns; the table has the codes.
            #[allow(deprecated, dead_code, non_upper_case_globals)]
            mod $name {
                ptx_dsl::include_ptx!($file);
            }
        )*

        /// Runs every kernel that compiles on the host.
        fn runs() -> BTreeMap<&'static str, Runs> {
            let mut out = BTreeMap::new();
            $({
                let text = include_str!($file);
                let plain = Host::new().explore(SCHEDULES).run(|host| run!($name::k, host, text, $signature));
                let checked = Host::checked().explore(SCHEDULES).run(|host| match is_dependent(text) {
                    true => run!($name::k, &host.stream().after_writer_of([0]), text, $signature),
                    false => run!($name::k, host, text, $signature),
                });
                // A seed finds the same on the checked host as on the plain one: they take the same decisions.
                match (&plain, &checked) {
                    (Ok(plain), Ok(checked)) => assert!(decisions(plain).eq(decisions(checked)), "{}", $file),
                    (Err(_), Ok(_)) => panic!("{}: only the plain host finds it", $file),
                    _ => {}
                }
                out.insert($file.trim_start_matches("bugs/"), Runs { plain: plain.map(drop), checked: checked.map(drop) });
            })*
            out
        }
    };
}

modules! {
    n01_right "bugs/01_tma_store_of_generic_writes.right.ptx" pair
    n02_right "bugs/02_sparse_wgmma_of_generic_writes.right.ptx" pair
    n03_right "bugs/03_tensor_store_of_own_writes.right.ptx" pair_and_map
    n04_right "bugs/04_tcgen05_mma_of_generic_writes.right.ptx" pair
    n05_right "bugs/05_fence_behind_the_store.right.ptx" pair
    n06_right "bugs/06_stage_refilled_after_generic_reads.right.ptx" pair
    n06_wrong "bugs/06_stage_refilled_after_generic_reads.wrong.ptx" pair
    n07_right "bugs/07_loads_before_tma_load.right.ptx" pair
    n07_wrong "bugs/07_loads_before_tma_load.wrong.ptx" pair
    n08_right "bugs/08_clc_response_reused_without_fence.right.ptx" pair
    n08_wrong "bugs/08_clc_response_reused_without_fence.wrong.ptx" pair
    n09_right "bugs/09_mbarrier_used_before_init_is_seen.right.ptx" pair
    n10_right "bugs/10_mbarrier_never_initialised.right.ptx" pair
    n11_right "bugs/11_init_fenced_by_another_thread.right.ptx" pair
    n11_wrong "bugs/11_init_fenced_by_another_thread.wrong.ptx" pair
    n12_right "bugs/12_init_not_fenced_for_the_cluster.right.ptx" pair
    n12_wrong "bugs/12_init_not_fenced_for_the_cluster.wrong.ptx" pair
    n13_right "bugs/13_two_barriers_in_one_place.right.ptx" pair
    n14_right "bugs/14_data_over_a_live_mbarrier.right.ptx" pair
    n15_right "bugs/15_bulk_copy_without_arrival.right.ptx" pair
    n16_right "bugs/16_expect_tx_of_too_many_bytes.right.ptx" pair
    n17_right "bugs/17_parity_of_the_loop.right.ptx" pair
    n18_right "bugs/18_wait_for_another_stage.right.ptx" pair
    n19_right "bugs/19_all_lanes_arrive_on_a_count_of_one.right.ptx" pair
    n19_wrong "bugs/19_all_lanes_arrive_on_a_count_of_one.wrong.ptx" pair
    n20_right "bugs/20_named_barrier_for_fewer_warps.right.ptx" pair
    n21_right "bugs/21_named_barrier_for_both_warpgroups.right.ptx" pair
    n22_right "bugs/22_syncthreads_in_a_role.right.ptx" pair
    n22_wrong "bugs/22_syncthreads_in_a_role.wrong.ptx" pair
    n23_right "bugs/23_syncthreads_of_some_warps.right.ptx" pair
    n23_wrong "bugs/23_syncthreads_of_some_warps.wrong.ptx" pair
    n24_right "bugs/24_elect_in_the_branch_of_one_thread.right.ptx" pair
    n25_right "bugs/25_elect_in_a_block_of_half_a_warp.right.ptx" pair
    n25_wrong "bugs/25_elect_in_a_block_of_half_a_warp.wrong.ptx" pair
    n26_right "bugs/26_shuffle_of_five_lanes.right.ptx" pair
    n27_right "bugs/27_match_moved_into_a_branch.right.ptx" pair
    n27_wrong "bugs/27_match_moved_into_a_branch.wrong.ptx" pair
    n28_right "bugs/28_barrier_duplicated_by_jump_threading.right.ptx" pair
    n29_right "bugs/29_unaligned_syncthreads.right.ptx" pair
    n30_right "bugs/30_generic_store_to_a_shared_address.right.ptx" pair
    n31_right "bugs/31_ldmatrix_without_its_space.right.ptx" pair
    n32_right "bugs/32_cvta_of_a_generic_address.right.ptx" pair
    n33_right "bugs/33_cvta_to_shared_of_a_shared_address.right.ptx" pair
    n34_right "bugs/34_global_address_cast_to_shared.right.ptx" pair
    n35_right "bugs/35_mapped_address_taken_for_the_own_cta.right.ptx" pair
    n36_right "bugs/36_local_arrive_on_a_remote_barrier.right.ptx" pair
    n37_right "bugs/37_peer_leaves_before_it_is_read.right.ptx" pair
    n38_right "bugs/38_no_cluster_barrier_before_the_end.right.ptx" pair
    n39_right "bugs/39_remote_store_without_entry_barrier.right.ptx" pair
    n40_right "bugs/40_remote_arrival_of_cta_scope.right.ptx" pair
    n41_right "bugs/41_wait_of_cta_scope_for_the_cluster.right.ptx" pair
    n41_wrong "bugs/41_wait_of_cta_scope_for_the_cluster.wrong.ptx" pair
    n42_right "bugs/42_epilogue_over_copies_in_flight.right.ptx" pair
    n43_right "bugs/43_wait_group_leaves_the_newest.right.ptx" pair
    n44_right "bugs/44_tma_store_never_committed.right.ptx" pair
    n45_right "bugs/45_wait_group_of_the_leader_alone.right.ptx" pair
    n46_right "bugs/46_tensor_map_changed_under_a_store.right.ptx" map
    n47_right "bugs/47_tensor_map_changed_under_a_load.right.ptx" map
    n48_right "bugs/48_tensor_map_used_without_fence.right.ptx" map
    n49_right "bugs/49_wgmma_without_commit_and_wait.right.ptx" pair
    n50_right "bugs/50_fragment_overwritten_under_wgmma.right.ptx" pair
    n51_right "bugs/51_accumulator_read_before_the_wait.right.ptx" pair
    n52_right "bugs/52_wgmma_without_fence.right.ptx" pair
    n53_right "bugs/53_tensor_memory_registers_without_wait.right.ptx" pair
    n54_right "bugs/54_tensor_memory_released_while_loading.right.ptx" pair
    n55_right "bugs/55_address_of_tensor_memory_read_too_early.right.ptx" pair
    n56_right "bugs/56_pair_deallocated_before_the_peer_is_done.right.ptx" pair
    n56_wrong "bugs/56_pair_deallocated_before_the_peer_is_done.wrong.ptx" pair
    n57_right "bugs/57_registers_oversubscribed.right.ptx" pair
    n58_right "bugs/58_registers_for_two_blocks.right.ptx" pair
    n59_right "bugs/59_warps_of_a_warpgroup_ask_for_different_numbers.right.ptx" pair
    n60_right "bugs/60_volatile_flag.right.ptx" pair
    n60_wrong "bugs/60_volatile_flag.wrong.ptx" pair
    n61_right "bugs/61_release_of_the_device_for_another_device.right.ptx" pair
    n61_wrong "bugs/61_release_of_the_device_for_another_device.wrong.ptx" pair
    n62_right "bugs/62_misspelt_inval.right.ptx" pair
    n63_right "bugs/63_proxy_fence_on_ampere.right.ptx" pair
    n64_right "bugs/64_no_wait_for_the_grid_before.right.ptx" pair
    n64_wrong "bugs/64_no_wait_for_the_grid_before.wrong.ptx" pair
    n65_right "bugs/65_scratch_reused_before_it_is_read.right.ptx" pair
    n65_wrong "bugs/65_scratch_reused_before_it_is_read.wrong.ptx" pair
}

/// One grid with as many CTAs as a cluster; the step budget ends a spinning kernel.
fn launch(text: &str) -> ptx_dsl::Launch {
    let cluster = text.split_once(".reqnctapercluster ").map_or(1, |(_, rest)| {
        rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse::<u32>().ok()).unwrap_or(1)
    });
    let launch = ptx_dsl::Launch::grid(cluster).step_limit(200_000);
    if is_dependent(text) { launch.programmatic() } else { launch }
}

/// Is the kernel launched as a programmatic dependent of a grid that writes its first argument? A line `// written before: a` says so.
fn is_dependent(text: &str) -> bool {
    text.lines().any(|line| line == "// written before: a")
}

/// A bug: number and name, and its two kernels.
struct Bug {
    stem: String,
    wrong: String,
    right: String,
}

impl Bug {
    fn file(&self, kind: &str) -> String {
        format!("{}.{kind}.ptx", self.stem)
    }

    /// Link and sentence, from the comment that begins the file.
    fn header(&self) -> (String, String) {
        let mut lines = self.wrong.lines().map_while(|l| l.strip_prefix("// "));
        let link = lines.next().unwrap_or_default().to_owned();
        (link, lines.collect::<Vec<_>>().join(" "))
    }
}

fn bugs() -> Vec<Bug> {
    read_bugs("")
}

/// The bugs in a folder of `tests/bugs`.
fn read_bugs(folder: &str) -> Vec<Bug> {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bugs").join(folder);
    let entries = std::fs::read_dir(&directory).expect("a folder of bugs");
    let names = entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut stems: Vec<String> = names.filter_map(|n| n.strip_suffix(".wrong.ptx").map(str::to_owned)).collect();
    stems.sort();
    let read = |stem: &str, kind: &str| {
        std::fs::read_to_string(directory.join(format!("{stem}.{kind}.ptx"))).unwrap_or_else(|e| panic!("{stem}: {e}"))
    };
    stems.into_iter().map(|s| Bug { wrong: read(&s, "wrong"), right: read(&s, "right"), stem: s }).collect()
}

/// Codes of errors and of warnings.
fn ours(text: &str) -> (Vec<u16>, Vec<u16>) {
    let (lexed, mut found) = lex(text);
    found.extend(ptx_dsl_frontend::compile(&lexed.tokens).diagnostics);
    let codes = |severity: Severity| {
        let mut codes: Vec<u16> = found.iter().filter(|d| d.severity == severity).map(|d| d.code.number).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    };
    (codes(Severity::Error), codes(Severity::Warning))
}

fn list(codes: &[u16]) -> String {
    codes.iter().map(|c| format!("PTX{c:04}")).collect::<Vec<_>>().join(", ")
}

/// Unreachable code causes no panic: checks each kernel with a `ret` before each of its instructions in turn.
#[test]
fn code_that_nobody_reaches() {
    for bug in bugs().into_iter().chain(read_bugs("ring")) {
        for text in [&bug.wrong, &bug.right] {
            let lines: Vec<&str> = text.lines().collect();
            for (n, line) in lines.iter().enumerate() {
                let end = line.starts_with("    ") && !line.trim_start().starts_with(['.', '}', '{']);
                if end {
                    ours(&format!("{}\n    ret;\n{}", lines[..n].join("\n"), lines[n..].join("\n")));
                }
            }
        }
    }
}

/// A fault by the name of its kind.
fn said(run: &Run) -> String {
    match run {
        Ok(()) => "runs".into(),
        Err(Error::NotYet { instruction, .. }) => format!("not run: `{instruction}`"),
        Err(Error::Fault(f)) => {
            let kind = format!("{:?}", f.kind);
            format!("fault: {}", kind.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default())
        }
        Err(e) => format!("not run: {e}").lines().next().unwrap_or_default().to_owned(),
    }
}

fn on_host(runs: Option<&Runs>) -> String {
    let Some(runs) = runs else { return "not run: refused".into() };
    let (plain, checked) = (said(&runs.plain), said(&runs.checked));
    if plain == checked { plain } else { format!("plain {plain}; checked {checked}") }
}

const NOT_RUN: &str = "not run";

/// What compute-sanitizer said of a kernel.
fn sanitizer(file: &str) -> &'static str {
    let stem = file.trim_end_matches(".ptx");
    let said = include_str!("bugs/sanitizer.txt").lines().filter_map(|line| line.split_once(": "));
    said.filter(|(of, _)| *of == stem).map(|(_, tools)| tools).next().unwrap_or(NOT_RUN)
}

const INTRODUCTION: &str = "\
# Real bugs

Public reports of mistakes in synchronisation, state spaces and PTX. [tests/bugs](../../tests/bugs) has a wrong and a right kernel for each,
reduced by hand to the mistake alone. If a report is ambiguous, the kernel follows the reading that its text supports. `tests/bugs.rs`
compares this page with what happens (`BLESS=1 cargo test -p ptx-dsl-tests bugs` writes it):

- *ptxas*: whether release 13.5 accepts the wrong kernel.
- *compile time*: what the macros and `ptx-dsl check` report on the wrong kernel ([flow.md](../reference/flow.md)).
- *host, wrong* and *host, right*: the results of both kernels under several schedules on the plain and the checked host. Refused kernels
  do not run; an instruction that the host does not have yet is named. The checked host launches bug 64 as a programmatic dependent of a
  grid that writes `a`.
- *compute-sanitizer*: which of its tools (memcheck, racecheck, synccheck, initcheck; release 2025.3) reports the wrong kernel on an H200.
  Kernels that may never end were not run there ([sanitizer.py](../../tests/bugs/sanitizer.py)). No tool reports a right kernel.

ptxas and the compiler accept every right kernel without a finding.
";

fn page(bugs: &[Bug], runs: &BTreeMap<&str, Runs>, verdicts: &[String]) -> String {
    let all: Vec<_> = bugs.iter().map(|b| ours(&b.wrong)).collect();
    let refused = all.iter().filter(|o| !o.0.is_empty()).count();
    let warned = all.iter().filter(|o| o.0.is_empty() && !o.1.is_empty()).count();
    let ptxas = verdicts.iter().filter(|v| *v == "refuses").count();
    let host = bugs.iter().filter_map(|b| runs.get(b.file("wrong").as_str()));
    let faults = host.filter(|r| [&r.plain, &r.checked].iter().any(|r| matches!(r, Err(Error::Fault(_))))).count();
    let sanitized: Vec<&str> = bugs.iter().map(|b| sanitizer(&b.file("wrong"))).collect();
    let (ran, silent) =
        (sanitized.iter().filter(|s| **s != NOT_RUN).count(), sanitized.iter().filter(|s| **s == "nothing").count());
    let mut out = format!(
        "{INTRODUCTION}\n{} bugs: ptxas refuses {ptxas}; the compiler refuses {refused} and warns of {warned} more; of those that it \
         accepts, the host finds {faults}. compute-sanitizer reports {} of the {ran} that ran.\n\n| | bug | ptxas | compile time | host, \
         wrong | host, right | compute-sanitizer |\n|---|---|---|---|---|---|---|\n",
        bugs.len(),
        ran - silent
    );
    for (((b, (errors, warnings)), ptxas), sanitizer) in bugs.iter().zip(&all).zip(verdicts).zip(sanitized) {
        let (link, text) = b.header();
        let number = b.stem.split('_').next().unwrap_or_default();
        let name = link.trim_start_matches("https://github.com/").replace("/issues/", "#").replace("/pull/", "#");
        let compile = match (errors.is_empty(), warnings.is_empty()) {
            (false, _) => format!("**error** {}", list(errors)),
            (true, false) => format!("warning {}", list(warnings)),
            (true, true) => "nothing".into(),
        };
        let wrong = on_host(runs.get(b.file("wrong").as_str()));
        let right = on_host(runs.get(b.file("right").as_str()));
        let _ = writeln!(
            out,
            "| {number} | [{name}]({link}): {text} | {ptxas} | {compile} | {wrong} | {right} | {sanitizer} |"
        );
    }
    out
}

/// The verdicts of ptxas on the page, for a run without ptxas.
fn known(bugs: &[Bug], page: &str) -> Vec<String> {
    let of = |b: &Bug| {
        let head = format!("| {} |", b.stem.split('_').next().unwrap_or_default());
        let row = page.lines().find(|l| l.starts_with(&head)).unwrap_or_default();
        row.split(" | ").nth(2).unwrap_or_default().to_owned()
    };
    bugs.iter().map(of).collect()
}

#[test]
fn real_bugs() {
    let bugs = bugs();
    let runs = runs();
    let (forms, mut wrong) = ring::forms(&bugs);
    for b in &bugs {
        let mut check = |right: bool, what: String| {
            if !right {
                wrong.push(format!("{}: {what}", b.stem));
            }
        };
        let (link, text) = b.header();
        check(link.starts_with("https://") && text.ends_with('.'), "link and sentence begin the file".into());
        check(b.right.lines().next() == b.wrong.lines().next(), "both files have one link".into());
        let found = ours(&b.right);
        check(found == (vec![], vec![]), format!("{found:?} about the right kernel"));
        let refused = !ours(&b.wrong).0.is_empty();
        check(refused != runs.contains_key(b.file("wrong").as_str()), "the list of modules has what compiles".into());
        match runs.get(b.file("right").as_str()) {
            Some(Runs { plain, checked }) => {
                for run in [plain, checked] {
                    let fine = matches!(run, Ok(()) | Err(Error::NotYet { .. }));
                    check(
                        fine,
                        format!("the right kernel: {}", run.as_ref().err().map_or(String::new(), Error::to_string)),
                    );
                }
            }
            None => check(false, "the right kernel is not in the list of modules".into()),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(bugs.len() >= 40, "{} bugs", bugs.len());
    let refused = bugs.iter().filter(|b| !ours(&b.wrong).0.is_empty()).count();
    assert!(refused * 40 >= 24 * bugs.len(), "{refused} of {} are refused", bugs.len());
    let silent = |b: &&Bug| {
        let found = runs.get(b.file("wrong").as_str()).is_some_and(|runs| runs.plain.is_err() || runs.checked.is_err());
        ours(&b.wrong) == (vec![], vec![]) && !found
    };
    let false_reports =
        bugs.iter().map(|b| b.file("right")).find(|file| !["nothing", NOT_RUN].contains(&sanitizer(file)));
    assert_eq!(false_reports, None, "compute-sanitizer reports a right kernel");
    let missed: Vec<&str> = bugs.iter().filter(silent).map(|b| b.stem.as_str()).collect();
    assert!(missed.len() <= 2, "nothing is said of {missed:?}");

    let on_disk = std::fs::read_to_string(PAGE).unwrap_or_default();
    let both = |b: &Bug| [(b.file("wrong"), b.wrong.clone()), (b.file("right"), b.right.clone())];
    let modules: Vec<(String, String)> = bugs.iter().flat_map(both).collect();
    let right_forms: Vec<_> = forms.iter().map(|b| (format!("ring/{}", b.file("right")), b.right.clone())).collect();
    for verdict in ptxas::assemble_all(&right_forms).unwrap_or_default() {
        verdict.unwrap_or_else(|said| panic!("ptxas refuses a right kernel: {said}"));
    }
    let verdicts = match ptxas::assemble_all(&modules) {
        Some(all) => {
            for (module, verdict) in modules.iter().zip(&all).filter(|(m, _)| m.0.ends_with(".right.ptx")) {
                assert!(verdict.is_ok(), "ptxas refuses {}: {verdict:?}", module.0);
            }
            all.iter().step_by(2).map(|v| if v.is_ok() { "accepts" } else { "refuses" }.to_owned()).collect()
        }
        None => known(&bugs, &on_disk),
    };
    let page = page(&bugs, &runs, &verdicts) + &ring::section(&forms);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PAGE, page).expect("docs/internals/real-bugs.md");
    } else {
        assert!(
            on_disk == page,
            "docs/internals/real-bugs.md is out of date: `BLESS=1 cargo test -p ptx-dsl-tests bugs` writes it"
        );
    }
}
