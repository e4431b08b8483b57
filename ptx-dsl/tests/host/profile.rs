//! The profiler: its counters against those of Nsight Compute on an H200, and against what kernels do by hand.

mod compute;
mod page;
mod sums;

use crate::one;
use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;
use ptx_dsl::profile::{Counters, Profile};
use std::collections::BTreeMap;

const MEASURED: &str = include_str!("../../../tests/hardware/profile/measured.txt");
const KERNELS: &str = include_str!("../../../tests/hardware/profile/kernels.ptx");

/// The results of a file: those that are kept, or those in the folder that `PTX_DSL_PROFILE_RESULTS` names, where `cargo xtask gpu profile`
/// has new ones. True if they are kept.
fn results(file: &str, kept: &'static str) -> (String, bool) {
    match std::env::var_os("PTX_DSL_PROFILE_RESULTS") {
        Some(folder) => (std::fs::read_to_string(std::path::Path::new(&folder).join(file)).unwrap(), false),
        None => (kept.to_owned(), true),
    }
}

/// The kernel whose atomic addition ptxas makes a loop of comparisons with swaps. No results of it are kept.
const LOOP: &str = "shared_atom_64";

/// A launch of one warp, and two counters of it.
struct Measured<'t> {
    kernel: &'t str,
    mask: u32,
    offsets: Vec<u32>,
    counters: [Option<u64>; 2],
    /// The hardware moved more sectors than the rule says.
    more: bool,
}

/// A line of the file.
fn measured(line: &str) -> Measured<'_> {
    let words: Vec<&str> = line.split(' ').collect();
    let [kernel, mask, offsets, a, b] = words[..5] else { panic!("{line}") };
    let number = |text: &str| text.parse::<u32>().unwrap();
    let offsets = match offsets.split_once('+') {
        Some((first, step)) => (0..32).map(|lane| number(first) + lane * number(step)).collect(),
        None => offsets.split(',').map(number).collect(),
    };
    Measured {
        kernel,
        mask: u32::from_str_radix(mask, 16).unwrap(),
        offsets,
        counters: [a, b].map(|n| (n != "-").then(|| number(n).into())),
        more: words.get(5) == Some(&"more"),
    }
}

/// The counters of the statement that a kernel is about: the last one in its space that is not the final store of the result.
fn counters(profile: &Profile, kernel: &str) -> Counters {
    let (space, rest) = kernel.split_once('_').unwrap();
    let operation = match rest.split('_').next().unwrap() {
        "cas" | "min" | "exch" => "atom",
        "8" | "32" | "128" if space == "local" => "ld.volatile",
        operation => operation,
    };
    let is = |text: &str| match operation {
        "ldmatrix" | "stmatrix" => text.contains(operation),
        _ if space == "copy" => text.contains("cp.async.ca") || text.contains("cp.async.cg"),
        // a load of `%o` is the index, a store to `%q` the result
        _ => text.contains(&format!("{operation}.{space}")) && !text.contains("%o,") && !text.contains("[%q]"),
    };
    let found: Vec<&_> = profile.statements.iter().filter(|s| is(&s.text)).collect();
    let [statement] = found[..] else { panic!("`{kernel}` has {} such statements", found.len()) };
    statement.counters
}

#[test]
fn memory_is_counted_as_nsight_compute_does() {
    let module = Module::parse(KERNELS).unwrap();
    let (mut wrong, mut count, mut more, mut loops) = (BTreeMap::<&str, Vec<String>>::new(), 0, 0, 0);
    let host = Host::profile();
    let (text, kept) = results("measured.txt", MEASURED);
    for line in text.lines().filter(|line| !line.starts_with("//")) {
        let launch = measured(line);
        if launch.kernel == LOOP {
            loops += 1;
            continue;
        }
        let (mut buffer, mut out) = (vec![0u32; 1 << 14], vec![0u32; 128]);
        let mask = launch.mask.to_le_bytes();
        let mut offsets = launch.offsets.clone();
        let mut arguments =
            [(&mut offsets[..]).into(), (&mut buffer[..]).into(), (&mut out[..]).into(), Arg::value(mask)];
        module.kernel(launch.kernel).unwrap().launch_raw(&host, Launch::grid(1).block(32), &mut arguments).unwrap();
        let c = counters(&host.profiled(), launch.kernel);
        // a launch has one wavefront of its own; global loads also load the index: one request, four sectors
        let found = match launch.kernel {
            name if name.starts_with("shared") => [c.shared_wavefronts + 1, c.bank_conflicts],
            name if name.starts_with("global_ld") => [c.global_requests + 1, c.global_sectors + 4],
            name if name.starts_with("local") => [c.local_requests, c.local_sectors],
            _ => [c.global_requests, c.global_sectors],
        };
        count += 1;
        // new results do not say in which launches there are more
        let may_be_more = launch.more || !kept && launch.kernel.starts_with("global");
        let is_equal = launch.counters.iter().zip(found).all(|(counter, found)| counter.is_none_or(|n| n == found));
        more += u32::from(!is_equal && may_be_more);
        let is_so = match (may_be_more && !is_equal, launch.counters) {
            (true, [requests, sectors]) => {
                requests == Some(found[0]) && [1, 2].map(|n| Some(found[1] + n)).contains(&sectors)
            }
            (false, _) => is_equal,
        };
        if !is_so {
            wrong.entry(launch.kernel).or_default().push(format!("{line}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    if kept {
        assert_eq!((count, more, MEASURED.matches(" more\n").count()), (878, 4, 4));
    } else {
        println!("{count} launches, in {more} of them more sectors than by the rule; {loops} of `{LOOP}` left out");
    }
}

/// The profile of a kernel of [`one`] on one array.
fn profile(directives: &str, body: &str, launch: Launch, x: &mut [u32]) -> Profile {
    let host = Host::profile();
    one(directives, body).launch_raw(&host, launch, &mut [x.into()]).unwrap();
    host.profiled()
}

/// What one statement did: executions by warp and by thread, threads off.
fn executed(profile: &Profile, text: &str) -> (u64, u64, u64) {
    let c = profile.line(text);
    (c.executed, c.threads, c.predicated_off)
}

#[test]
fn instructions_are_counted_by_warp_and_thread() {
    // 2 CTAs of 80 threads: 3 warps, the last with 16 lanes; a loop of 5 turns; lanes below 40 take a detour
    let body = "mov.u32 %w, 0;\nagain: add.u32 %w, %w, 1;\nsetp.lt.u32 %p, %w, 5;\n@%p bra again;\n\
                mov.u32 %n, %tid.x;\nsetp.ge.u32 %p, %n, 40;\n@%p bra done;\nxor.b32 %w, %w, 7;\n\
                done: setp.lt.u32 %p, %n, 3;\n@%p st.global.u32 [%x], %w;\nbar.sync 0;\n@%p min.u32 %w, %w, 9;\nret;";
    let mut x = vec![0; 160];
    let profile = profile("", body, Launch::grid(2).block(80), &mut x);
    assert_eq!(x[2], 5 ^ 7);
    assert_eq!(executed(&profile, "add.u32 %w"), (2 * 3 * 5, 2 * 80 * 5, 0));
    assert_eq!(executed(&profile, "bra again"), (2 * 3 * 5, 2 * 80 * 5, 0));
    assert_eq!(executed(&profile, "bra done"), (6, 160, 0));
    // lanes 0 to 39: a whole warp, and 8 lanes of the next
    assert_eq!(executed(&profile, "xor.b32"), (4, 80, 0));
    assert_eq!(profile.line("xor.b32").partial, 2);
    assert_eq!(executed(&profile, "st.global"), (6, 160, 2 * 77));
    assert_eq!(executed(&profile, "min.u32"), (6, 160, 2 * 77));
    assert_eq!(executed(&profile, "bar.sync"), (6, 160, 0));
    assert_eq!(executed(&profile, "ret"), (6, 160, 0));
    assert_eq!((profile.ctas, profile.threads_per_cta), (2, 80));
    assert_eq!(profile.line("st.global").global_requests, 2);
}

#[test]
fn a_loop_of_conflicts_has_as_many_as_on_paper() {
    // 16 warps; stride 8 words in shared memory: 8 wavefronts each; stride 2 words in global memory: 8 sectors of 4
    let body = ".shared .align 4 .b8 s[16384];\nmov.u32 %n, %tid.x;\nmov.u32 %w, s;\nand.b32 %v, %n, 31;\n\
                mad.lo.u32 %w, %v, 32, %w;\nst.shared.u32 [%w], %n;\nbar.sync 0;\nld.shared.u32 %v, [%w];\n\
                mul.wide.u32 %a, %i, 4;\nadd.u64 %x, %x, %a;\nst.global.u32 [%x], %v;\nret;";
    let mut x = vec![0; 1024];
    let profile = profile("", body, Launch::grid(1).block(512), &mut x);
    let load = profile.line("ld.shared");
    assert_eq!((load.shared_requests, load.shared_wavefronts, load.bank_conflicts), (16, 128, 112));
    let store = profile.line("st.global");
    assert_eq!((store.global_requests, store.global_sectors, store.global_ideal_sectors), (16, 128, 64));
    let listing = profile.listing();
    assert!(listing.contains("1> line"), "{listing}");
}

#[test]
fn a_barrier_that_waits_counts_once() {
    // with a seed, warps come to the barrier one by one, and each waits
    for seed in 0..4 {
        let host = Host::profile().seed(seed);
        let mut x = vec![0; 96];
        one("", "bar.sync 0;\nst.global.u32 [%x], %i;\nret;")
            .launch_raw(&host, Launch::grid(1).block(96), &mut [(&mut x[..]).into()])
            .unwrap();
        let profile = host.profiled();
        assert_eq!(executed(&profile, "bar.sync"), (3, 96, 0));
        assert_eq!(profile.line("st.global").global_sectors, 12);
    }
}

#[test]
fn json_has_the_names_of_nsight_compute() {
    let mut x = vec![0; 64];
    let profile = profile("", "st.global.u32 [%x], %i; ret;", Launch::grid(1).block(64), &mut x);
    let json = profile.to_json();
    let has = |text: &str| assert!(json.contains(text), "{json}");
    has("\"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum\": 8");
    has("\"global_bytes\": 256");
}

#[test]
fn a_difference_names_the_counters_that_change() {
    let of = |pitch: u32| {
        let body = format!(
            ".shared .align 4 .b8 s[8192];\nmov.u32 %w, s;\nmad.lo.u32 %w, %i, {pitch}, %w;\nst.shared.u32 [%w], %i;\nret;"
        );
        profile("", &body, Launch::grid(1).block(32), &mut [0; 32])
    };
    let (before, now) = (of(128), of(132));
    let difference = now.compared_with(&before);
    let lines: Vec<&str> = difference.lines().collect();
    assert_eq!(lines.len(), 2, "{difference}");
    assert!(
        lines[0].ends_with("shared_wavefronts 32 to 1, bank_conflicts 31 to 0: st.shared.u32 [%w], %i;"),
        "{difference}"
    );
    assert_eq!(lines[1], "all: shared_wavefronts 32 to 1, bank_conflicts 31 to 0");
    assert_eq!(now.compared_with(&now), "all: nothing changed\n");
}

#[test]
fn rows_of_matrices_in_several_warps() {
    // two warps, each of which loads four matrices with a pitch of 128 bytes: all rows in the same banks
    let body = ".reg .b32 %r<4>;\n.shared .align 128 .b8 s[8192];\nmov.u32 %n, %tid.x;\nand.b32 %n, %n, 31;\nmov.u32 %w, s;\n\
                mad.lo.u32 %w, %n, 128, %w;\nst.shared.u32 [%w], %n;\nbar.sync 0;\n\
                ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%w];\nst.global.u32 [%x], %r0;\nret;";
    let mut x = vec![0; 64];
    let profile = profile("", body, Launch::grid(1).block(64), &mut x);
    let c = profile.line("ldmatrix");
    assert_eq!((c.shared_requests, c.shared_wavefronts, c.bank_conflicts), (2, 2 * 4 * 8, 2 * 4 * 7));
}

/// The kernel of a code's example, launched with 32 threads on these words.
fn of_example(text: &str, words: usize) -> Profile {
    let host = Host::profile();
    let (mut input, mut out) = (vec![0u32; words], vec![0u32; 128]);
    let mut arguments: Vec<Arg<'_>> = match text.matches(".param .u64").count() {
        1 => vec![(&mut out[..]).into()],
        _ => vec![(&mut input[..]).into(), (&mut out[..]).into()],
    };
    let module = Module::parse(text).unwrap();
    module.kernel("k").unwrap().launch_raw(&host, Launch::grid(1), &mut arguments).unwrap();
    host.profiled()
}

/// What `warn(performance)` finds in an example is what a profile of it counts: 32 rows of one bank, and a sector for each lane.
#[test]
fn findings_of_performance_are_what_a_profile_counts() {
    let conflicts = |text| of_example(text, 1).line("ld.shared").bank_conflicts;
    assert_eq!(conflicts(include_str!("../../../crates/ptx-dsl-catalogue/src/examples/PTX0701.wrong.ptx")), 31);
    assert_eq!(conflicts(include_str!("../../../crates/ptx-dsl-catalogue/src/examples/PTX0701.right.ptx")), 0);
    // four warps
    let sectors = |text| of_example(text, 128 * 32).line("ld.global").global_sectors;
    assert_eq!(sectors(include_str!("../../../crates/ptx-dsl-catalogue/src/examples/PTX0702.wrong.ptx")), 4 * 32);
    assert_eq!(sectors(include_str!("../../../crates/ptx-dsl-catalogue/src/examples/PTX0702.right.ptx")), 4 * 4);
}
