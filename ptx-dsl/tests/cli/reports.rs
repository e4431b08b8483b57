//! `ptx-dsl run`: reports for programs, results and timelines of launches that fail, weak memory, small elements.

use super::run_command::{Temporary, launch};

/// The objects that have this `event`.
fn events<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let begin = format!("{{\"event\":\"{name}\",");
    text.lines().filter(|line| line.starts_with(&begin) && line.ends_with('}')).collect()
}

const JSON: [&str; 2] = ["--message-format", "json"];

#[test]
fn faults_for_programs() {
    let race = ["run/faults.ptx", "--entry", "race", "--grid", "2", "--arg", "x=u32[1]", "--explore", "4", "--checked"];
    let (status, stdout, stderr) = launch(&[&race[..], &JSON].concat());
    assert_eq!((status, stderr.as_str()), (3, ""));
    let [fault] = events(&stdout, "fault")[..] else { panic!("{stdout}") };
    for part in [
        "\"kind\":\"DataRace\",\"severity\":\"error\",\"message\":\"data race: ",
        "\"kernel\":\"race\",\"file\":\"run/faults.ptx\",\"line\":20,\"statement\":\"st.global.u32 [%x], %w;\",\"origin\":[]",
        "\"thread\":{\"ctaid\":[",
        "\"sides\":[{\"access\":\"store\",\"file\":\"run/faults.ptx\",\"line\":20,",
        "},{\"access\":\"store\",\"file\":",
        "\"section\":\"8.7.1\",\"help\":\"give each CTA elements of its own",
        "\"replay\":\"--seed 0\",\"report\":\"data race: ",
    ] {
        assert!(fault.contains(part), "{part}\n{fault}");
    }
    // a deadlock says who waits
    let waits = Temporary::with(
        "waits.ptx",
        b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() .reqntid 64\n{ .reg .b32 %t; .reg .pred %p;
        mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 32; @%p bra one; barrier.sync 1, 64; ret; one: barrier.sync 2, 64; ret; }\n",
    );
    let (status, stdout, stderr) =
        launch(&[&[waits.path().as_str(), "--grid", "1", "--warn", "PTX0645"], &JSON[..]].concat());
    assert_eq!(status, 3, "{stderr}");
    assert!(stdout.contains("\"kind\":\"Deadlock\"") && stdout.contains("\"waiting\":[\"CTA (0, 0, 0), "), "{stdout}");
}

/// Each other finding of a checked host is an object of its own. The summary, outputs and what the kernel prints are objects too.
#[test]
fn launches_for_programs() {
    let twice = Temporary::with(
        "twice.ptx",
        b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x) .reqntid 1\n{ .shared .b32 a; .shared .b32 b;
        .reg .b32 %r; .reg .b64 %x; ld.param.u64 %x, [x]; cvta.to.global.u64 %x, %x; ld.shared.u32 %r, [a]; st.global.u32 [%x], %r;
        ld.shared.u32 %r, [b]; st.global.u32 [%x+4], %r; ret; }\n",
    );
    let (status, stdout, stderr) = launch(
        &[&[twice.path().as_str(), "--arg", "x=u32[2]", "--checked", "--allow", "warnings"], &JSON[..]].concat(),
    );
    assert_eq!((status, events(&stdout, "fault").len(), stdout.lines().count()), (3, 2, 2), "{stdout}{stderr}");
    let saxpy =
        ["run/saxpy.ptx", "--arg", "x=[4]:2", "--arg", "y=[4]:1", "--arg", "a=3", "--arg", "n=3", "--print", "y[1..]"];
    let (status, stdout, stderr) = launch(&[&saxpy[..], &JSON].concat());
    assert_eq!((status, stderr.as_str()), (0, ""));
    let wanted = r#"{"event":"output","name":"y","type":"f32","first":1,"values":[7.0,7.0,1.0]}"#;
    assert_eq!(events(&stdout, "output"), [wanted]);
    let [ran] = events(&stdout, "ran")[..] else { panic!("{stdout}") };
    assert!(
        ran.contains(r#""kernel":"saxpy","schedules":1,"complete":false,"clusters":1,"cancelled":0,"turns":"#),
        "{ran}"
    );
    // buffers that depend on the schedule
    let race = ["run/faults.ptx", "--entry", "race", "--grid", "2", "--arg", "x=u32[1]", "--explore", "20"];
    let (_, stdout, _) = launch(&[&race[..], &JSON].concat());
    assert!(
        stdout.contains(r#""schedules":20,"#) && stdout.contains(r#""differ":[{"name":"x","schedule":"with `--seed "#),
        "{stdout}"
    );
    let (status, stdout, _) = launch(&[&["run/printf.ptx"], &JSON[..]].concat());
    assert!(status == 0 && !events(&stdout, "printed").is_empty(), "{stdout}");
    // findings in the text are those of `check`
    let (status, stdout, _) = launch(&[&["run/wrong.ptx"], &JSON[..]].concat());
    assert!(status == 1 && stdout.starts_with("{\"file\":\"run/wrong.ptx\",\"line\":"), "{stdout}");
}

/// `--keep` shows what a launch has written before its fault; of an exploration, the one that failed.
#[test]
fn results_of_launches_that_fail() {
    let file = Temporary::new("kept.bin");
    let out = format!("x={}", file.path());
    let outside = ["run/faults.ptx", "--entry", "outside", "--arg", "x=[1]", "--print", "x", "--out", &out];
    assert_eq!(launch(&outside).1, "");
    assert!(!std::path::Path::new(&file.path()).exists());
    let (status, stdout, stderr) = launch(&[&outside[..], &["--keep"]].concat());
    assert_eq!((status, stdout.as_str(), file.bytes()), (3, "x[0..1]: 7\n", vec![7, 0, 0, 0]), "{stderr}");
    // the second CTA has failed before the first one has stored 1
    let order = ["run/faults.ptx", "--entry", "order", "--grid", "2", "--arg", "x=u32[1]", "--print", "x", "--keep"];
    for how in ["64", "64,pct"] {
        let (status, stdout, stderr) = launch(&[&order[..], &["--explore", how]].concat());
        assert_eq!((status, stdout.as_str()), (3, "x[0..1]: 0\n"), "{how}: {stderr}");
    }
}

/// A timeline of the schedule that failed, although another monitor has found it.
#[test]
fn timelines_of_schedules_that_fail() {
    let order = ["run/faults.ptx", "--entry", "order", "--grid", "2", "--arg", "x=u32[1]"];
    for how in [&["--explore", "64"][..], &["--explore", "64,pct"], &["--explore", "64", "--checked"]] {
        let (json, page) = (Temporary::new("failed.json"), Temporary::new("failed.html"));
        let files = ["--trace", &json.path(), "--timeline", &page.path()].map(str::to_owned);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let (status, _, stderr) = launch(&[&order[..], how, &files].concat());
        assert_eq!(status, 3, "{how:?}: {stderr}");
        let timeline = String::from_utf8(json.bytes()).unwrap();
        // the first CTA, in slot 0, has not run, so only a warp of the second one has a track
        assert_eq!(timeline.matches("\"name\":\"warp 0\"").count(), 1, "{how:?}: {timeline}");
        assert!(timeline.contains("\"name\":\"CTA (1, 0, 0)\"") && timeline.contains("the launch fails"), "{timeline}");
        assert!(!page.bytes().is_empty());
    }
    // a finding of the checked host does not end the timeline, which is of the whole launch
    let json = Temporary::new("checked.json");
    let unwritten =
        ["run/faults.ptx", "--entry", "unwritten", "--arg", "x=u32[1]", "--checked", "--trace", &json.path()];
    let (status, _, stderr) = launch(&unwritten);
    assert!(status == 3 && stderr.contains("which nothing has written"), "{stderr}");
    assert!(String::from_utf8(json.bytes()).unwrap().contains("\"name\":\"CTA (0, 0, 0)\""));
    let (status, _, stderr) = launch(&["run/faults.ptx", "--trace", "x", "--weak"]);
    assert!(status == 2 && stderr.contains("cannot be used with"), "{stderr}");
}

/// Store buffering: without fences both threads may read 0 (8.10), which only a host with weak memory shows.
#[test]
fn weak_memory() {
    let both = Temporary::with(
        "both.ptx",
        b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y) .reqntid 1
        { .reg .b32 %c, %v; .reg .pred %p; .reg .b64 %x, %y;
        ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %c, %ctaid.x; setp.ne.u32 %p, %c, 0; @%p bra second;
        st.relaxed.gpu.global.u32 [%x], 1; ld.relaxed.gpu.global.u32 %v, [%x + 4]; st.global.u32 [%y], %v; ret;
        second: st.relaxed.gpu.global.u32 [%x + 4], 1; ld.relaxed.gpu.global.u32 %v, [%x]; st.global.u32 [%y + 4], %v; ret; }\n",
    );
    let differ = |more: &[&str]| {
        let arguments = [
            both.path(),
            "--grid".into(),
            "2".into(),
            "--arg".into(),
            "x=u32[2]".into(),
            "--arg".into(),
            "y=u32[2]".into(),
        ];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let out = Temporary::new("both.bin");
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..30 {
            let (seed, file) = (seed.to_string(), format!("y={}", out.path()));
            let (status, _, stderr) = launch(&[&arguments[..], more, &["--seed", &seed, "--out", &file]].concat());
            assert_eq!(status, 0, "{stderr}");
            seen.insert((out.bytes()[0], out.bytes()[4]));
        }
        seen.contains(&(0, 0))
    };
    assert!(!differ(&["--checked"]));
    assert!(differ(&["--weak"]));
}

/// fp8, fp6, fp4 and scales, in buffers and as numbers.
#[test]
fn small_elements() {
    let copies = Temporary::with(
        "copies.ptx",
        b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y, .param .b8 n) .reqntid 4
        { .reg .b16 %v; .reg .b32 %t; .reg .b64 %x, %y, %o; ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %t, %tid.x;
        cvt.u64.u32 %o, %t; add.u64 %x, %x, %o; add.u64 %y, %y, %o; ld.global.u8 %v, [%x]; st.global.u8 [%y], %v;
        ld.param.b8 %v, [n]; st.global.u8 [%y + 4], %v; ret; }\n",
    );
    for (ty, elements, number, shown) in [
        ("e4m3", 8, "e4m3:-1.5", "0.0 1.0 2.0 3.0 -1.5 -1.5 -1.5 -1.5"),
        ("e5m2", 8, "e5m2:0x7c", "0.0 1.0 2.0 3.0 inf inf inf inf"),
        ("e2m3", 8, "e2m3:7.5", "0.0 1.0 2.0 3.0 7.5 7.5 7.5 7.5"),
        ("e3m2", 8, "e3m2:28", "0.0 1.0 2.0 3.0 28.0 28.0 28.0 28.0"),
        // two in a byte
        ("e2m1", 16, "b8:0x72", "0.0 1.0 2.0 3.0 4.0 4.0 6.0 6.0"),
        ("ue8m0", 8, "ue8m0:0.5", "0.0 1.0 2.0 2.0 0.5 0.5 0.5 0.5"),
    ] {
        let x = format!("x={ty}[{}]:iota", elements / 2);
        let (y, n) = (format!("y={ty}[{elements}]"), format!("n={number}"));
        let (status, stdout, stderr) = launch(&[&copies.path(), "--arg", &x, "--arg", &y, "--arg", &n, "--print", "y"]);
        let first = stdout.lines().next().unwrap_or_default();
        let wanted = match ty {
            // there is no 0, but a smallest power of two; 3 is half way between two others
            "ue8m0" => shown.replacen("0.0", "5.877471754111438e-39", 1),
            _ => shown.to_owned(),
        };
        assert_eq!((status, first), (0, format!("y[0..8]: {wanted}").as_str()), "{ty}: {stderr}");
    }
    for wrong in ["x=e2m1[3]", "x=e4m3[4]:inf", "x=ue8m0[4]:-1", "x=e9m9[4]"] {
        let (status, ..) = launch(&[&copies.path(), "--arg", wrong, "--arg", "y=u8[8]", "--arg", "n=0"]);
        assert_eq!(status, 2, "{wrong}");
    }
}
