//! Streams of a host, and programmatic dependent launch: what a grid may not do before it waits for the one before it.

use super::module;
use ptx_dsl::load::{Kernel, Module};
use ptx_dsl::prelude::*;

/// The kernel of a public bug: `b[0] = a[0]`, with or without `griddepcontrol.wait`.
fn bug_64(which: &str) -> Kernel {
    let path = std::fs::read_dir(format!("{}/../tests/bugs", env!("CARGO_MANIFEST_DIR")))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("64_") && name.ends_with(&format!(".{which}.ptx"))
        })
        .unwrap();
    Module::parse(&std::fs::read_to_string(path).unwrap()).unwrap().kernel("k").unwrap().clone()
}

/// Launches `first` from `a` to `b`, then `second` as a dependent from `b` to `c`.
fn chain(first: &Kernel, second: &Kernel) -> Result<[u32; 4], Error> {
    let (mut a, mut b, mut c) = ([7u32; 4], [0u32; 4], [0u32; 4]);
    let host = Host::checked();
    let stream = host.stream();
    first.launch_raw(&stream, Launch::grid(1), &mut [(&mut a).into(), (&mut b).into()])?;
    second.launch_raw(&stream, Launch::grid(1).programmatic(), &mut [(&mut b).into(), (&mut c).into()])?;
    Ok(c)
}

#[test]
fn a_dependent_launch_that_does_not_wait_is_found() {
    let (wrong, right) = (bug_64("wrong"), bug_64("right"));
    assert_eq!(chain(&right, &right).unwrap()[0], 7);
    assert_eq!(chain(&wrong, &right).unwrap()[0], 7);
    let error = chain(&right, &wrong).unwrap_err();
    let fault = error.fault().expect("a fault");
    let at = fault.at.as_ref().expect("a statement");
    assert!(at.text.starts_with("ld.global.u32"), "{error}");
    let text = error.to_string();
    assert!(text.contains("reads memory before `griddepcontrol.wait` that the grid before it writes"), "{text}");
}

#[test]
fn launches_that_do_not_overlap_need_no_wait() {
    let wrong = bug_64("wrong");
    let (mut a, mut b, mut c) = ([7u32; 4], [0u32; 4], [0u32; 4]);
    let host = Host::checked();
    let stream = host.stream();
    wrong.launch_raw(&stream, Launch::grid(1), &mut [(&mut a).into(), (&mut b).into()]).unwrap();
    // not a dependent launch
    wrong.launch_raw(&stream, Launch::grid(1), &mut [(&mut b).into(), (&mut c).into()]).unwrap();
    assert_eq!(c[0], 7);
    // other memory
    let (mut d, mut e) = ([1u32; 4], [0u32; 4]);
    wrong.launch_raw(&stream, Launch::grid(1).programmatic(), &mut [(&mut d).into(), (&mut e).into()]).unwrap();
    // the grid before has not let the next one start early
    let quiet = module(
        ".visible .entry k(.param .u64 .ptr .global .align 4 x) { .reg .b64 %x; ld.param.u64 %x, [x]; st.global.u32 [%x], 3; ret; }",
    );
    quiet.kernel("k").unwrap().launch_raw(&stream, Launch::grid(1), &mut [(&mut a).into()]).unwrap();
    wrong.launch_raw(&stream, Launch::grid(1).programmatic(), &mut [(&mut a).into(), (&mut b).into()]).unwrap();
    assert_eq!(b[0], 3);
    // a stream of a plain host runs in order
    let plain = Host::new();
    let stream = plain.stream();
    wrong.launch_raw(&stream, Launch::grid(1), &mut [(&mut a).into(), (&mut b).into()]).unwrap();
    wrong.launch_raw(&stream, Launch::grid(1).programmatic(), &mut [(&mut b).into(), (&mut c).into()]).unwrap();
    assert_eq!(c[0], 3);
}

/// One thread waits, and a barrier tells the others.
#[test]
fn a_wait_counts_for_threads_that_synchronise_with_it() {
    let producer = bug_64("right");
    let text = |barrier: &str| {
        format!(
            ".visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 y) .reqntid 64 {{
             .reg .b64 %x, %y; .reg .b32 %v, %t; .reg .pred %p; mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 63; @%p bra go;
             griddepcontrol.wait;
             go: {barrier}
             ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.global.u32 %v, [%x]; mad.wide.u32 %y, %t, 4, %y;
             st.global.u32 [%y], %v; ret; }}"
        )
    };
    let run = |barrier: &str| {
        let (mut a, mut b, mut c) = ([7u32; 4], [0u32; 4], [0u32; 64]);
        let host = Host::checked();
        let stream = host.stream();
        producer.launch_raw(&stream, Launch::grid(1), &mut [(&mut a).into(), (&mut b).into()])?;
        let second = module(&text(barrier));
        let arguments = &mut [(&mut b).into(), (&mut c).into()];
        second.kernel("k").unwrap().launch_raw(&stream, Launch::grid(1).programmatic(), arguments)?;
        Ok::<_, Error>(c)
    };
    assert_eq!(run("bar.sync 0;").unwrap(), [7; 64]);
    assert!(run("").unwrap_err().to_string().contains("before `griddepcontrol.wait`"));
}
