//! Launches with clusters of one CTA, and without clusters, as an H200 runs them (`tests/hardware/cluster`).

use ptx_dsl::fault::FaultKind;
use ptx_dsl::launch::LaunchError;
use ptx_dsl::load::{Level, Module, Options, Selector};
use ptx_dsl::prelude::*;

const CASES: &str = include_str!("../../../tests/hardware/cluster/cases.txt");
const KERNEL: &str = include_str!("../../../tests/hardware/cluster/kernel.ptx");

/// The kernel with the statements of a case, and a directive.
fn kernel(body: &str, directive: &str) -> Module {
    let text = match body.strip_prefix("ALL ") {
        Some(body) => KERNEL.replace("@!%first bra END;", "").replace("BODY", body),
        None => KERNEL.replace("BODY", body),
    };
    let text = text.replace(".reqntid 32", &format!(".reqntid 32 {directive}"));
    // in a cluster of one CTA no other exits before it
    let options = [640, 655, 656]
        .into_iter()
        .fold(Options::new(), |options, code| options.level(Level::Allow, Selector::Code(code)));
    options.parse(&text).unwrap()
}

/// What a host leaves, or the fault.
fn outcome<M>(host: &Host<M>, module: &Module, launch: Launch) -> Result<Vec<u32>, Error> {
    let mut out: Vec<u32> = (1000..2024).collect();
    let mut arguments = [(&mut out).into(), Arg::value(0u32.to_le_bytes())];
    module.kernel("k").unwrap().launch_raw(host, launch, &mut arguments)?;
    Ok(out)
}

/// Compares an outcome with a line of a case: numbers, or the error of a GPU.
fn compare(name: &str, expected: &str, found: Result<Vec<u32>, Error>) {
    match found {
        Ok(out) => {
            let words: Vec<u32> =
                expected.split(' ').map(|w| w.parse().unwrap_or_else(|_| panic!("{name}: no {expected}"))).collect();
            assert_eq!(out[..words.len()], words[..], "{name}");
        }
        Err(error) => {
            let kind = &error.fault().unwrap_or_else(|| panic!("{name}: {error}")).kind;
            let is_cluster = matches!(kind, FaultKind::NoSuchRank { .. } | FaultKind::Undefined { .. });
            assert!(
                expected.ends_with("ILLEGAL_INSTRUCTION") || expected.ends_with("LAUNCH_FAILED"),
                "{name}: {error}"
            );
            assert!(is_cluster, "{name}: {error}");
        }
    }
}

#[test]
fn clusters_of_one_cta_are_not_a_launch_without_clusters() {
    let (mut cases, mut faults) = (0, 0);
    for case in CASES.split("\n\n").skip(1) {
        let lines: Vec<&str> = case.lines().map(str::trim).collect();
        let [name, body, without, with] = lines[..] else { panic!("not four lines: {case}") };
        let (without, with) = (without.strip_prefix("without ").unwrap(), with.strip_prefix("with ").unwrap());
        let (plain, required) = (kernel(body, ""), kernel(body, ".reqnctapercluster 1"));
        for (module, launch, expected) in [
            (&plain, (|grid| Launch::grid(grid)) as fn(u32) -> Launch, without),
            (&plain, |grid| Launch::grid(grid).cluster(1), with),
            (&required, |grid| Launch::grid(grid), with),
        ] {
            compare(name, expected, outcome(&Host::new(), module, launch(2)));
            // one CTA, because all of them store to the same place; the checked host also finds missing proxy fences
            if let Err(error) = outcome(&Host::checked(), module, launch(1)) {
                let is_race = matches!(error.fault().unwrap().kind, FaultKind::DataRace(_));
                assert!(is_race || expected.contains('_'), "{name}: {error}");
            } else {
                assert!(!expected.contains('_'), "{name}");
            }
            faults += usize::from(expected.contains("ILLEGAL"));
        }
        cases += 1;
    }
    assert_eq!((cases, faults), (44, 8));
}

#[test]
fn the_help_of_a_fault_without_clusters_says_what_suffices() {
    let body = "mbarrier.init.shared.b64 [bar], 1; mov.u32 %r0, s; mov.u32 %r3, bar;\n\
                st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], 77, [%r3];";
    for host in [Host::new(), Host::new().engine(ptx_dsl::Engine::Interpreted)] {
        let error = outcome(&host, &kernel(body, ""), Launch::grid(1)).unwrap_err().to_string();
        assert!(error.contains("an asynchronous store to shared memory in a launch without clusters"), "{error}");
        assert!(error.contains("`Launch::cluster(1)` or `.reqnctapercluster 1` suffices"), "{error}");
    }
    let checked = outcome(&Host::checked(), &kernel(body, ""), Launch::grid(1)).unwrap_err().to_string();
    assert!(checked.contains("in a launch without clusters"), "{checked}");
}

#[test]
fn an_explicit_cluster_is_one_of_the_launch_or_of_the_kernel() {
    let body = "st.global.u32 [%o], 7;";
    let error = outcome(&Host::new(), &kernel(body, ".explicitcluster"), Launch::grid(1)).unwrap_err();
    assert!(matches!(error, Error::Launch { problem: LaunchError::ExplicitCluster, .. }), "{error}");
    outcome(&Host::new(), &kernel(body, ".explicitcluster"), Launch::grid(1).cluster(1)).unwrap();
    outcome(&Host::new(), &kernel(body, ".explicitcluster .reqnctapercluster 1"), Launch::grid(1)).unwrap();
}
