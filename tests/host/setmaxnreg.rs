//! `setmaxnreg` on both engines: what one warpgroup gives back, another gets.

use ptx_dsl::Engine;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

const ENGINES: [Engine; 2] = [Engine::Interpreted, Engine::Compiled];

ptx! {
    <sm_90a, ptx 8.0, compiled, allow(PTX0645, PTX0623)>
    // A warp of the second warpgroup counts how many of the first have given registers back before it got its own.
    .visible .entry handed_over(.param .u64 .ptr .global .align 4 out: &mut [u32]) .reqntid 256 .maxnreg 128
    {
        .reg .b32 %t, %w, %n, %i;
        .reg .b64 %out;
        .reg .pred %second, %more;
        .shared .align 4 .b32 given;
        ld.param.u64 %out, [out];
        mov.u32 %t, %tid.x;
        shr.u32 %w, %t, 5;
        setp.ge.u32 %second, %t, 128;
        mov.u32 %n, 0;
        setp.eq.u32 %more, %t, 0;
        @%more st.shared.u32 [given], %n;
        bar.sync 0;
        @%second bra consumer;
        mad.lo.u32 %i, %w, 50, 10;
    work:
        sub.u32 %i, %i, 1;
        setp.ne.u32 %more, %i, 0;
        @%more bra work;
        atom.shared.add.u32 %n, [given], 1;
        setmaxnreg.dec.sync.aligned.u32 40;
        bra.uni end;
    consumer:
        setmaxnreg.inc.sync.aligned.u32 216;
        ld.relaxed.cta.shared.u32 %n, [given];
        mad.wide.u32 %out, %w, 4, %out;
        st.global.u32 [%out+-16], %n;
    end:
        bar.sync 0;
        ret;
    }
    // Three warpgroups of 168 registers, of which the first keeps some.
    .visible .entry shared_out(.param .u32 few: u32) .reqntid 384 .minnctapersm 1
    {
        .reg .b32 %t, %few;
        .reg .pred %first, %p;
        ld.param.u32 %few, [few];
        mov.u32 %t, %tid.x;
        setp.lt.u32 %first, %t, 128;
        @%first bra producer;
        setmaxnreg.inc.sync.aligned.u32 232;
        bar.sync 2, 256;
        ret;
    producer:
        setp.ne.u32 %p, %few, 0;
        @%p bra gives;
        setmaxnreg.dec.sync.aligned.u32 48;
        bra.uni wait;
    gives:
        setmaxnreg.dec.sync.aligned.u32 40;
    wait:
        setp.ne.u32 %p, %few, 0;
        @!%p bar.sync 1, 256;
        ret;
    }
    .visible .entry without_a_number(.param .u32 more: u32) .reqntid 384
    {
        .reg .b32 %more;
        .reg .pred %p;
        ld.param.u32 %more, [more];
        setp.ne.u32 %p, %more, 0;
        @%p bra other;
        setmaxnreg.inc.sync.aligned.u32 64;
        ret;
    other:
        setmaxnreg.dec.sync.aligned.u32 48;
        bar.sync 0;
        setmaxnreg.inc.sync.aligned.u32 232;
        ret;
    }
    .visible .entry disagree(.param .u32 warp: u32) .reqntid 128 .maxnreg 64
    {
        .reg .b32 %w, %t;
        .reg .pred %p;
        ld.param.u32 %w, [warp];
        mov.u32 %t, %tid.x;
        shr.u32 %t, %t, 5;
        setp.eq.u32 %p, %t, %w;
        @%p bra other;
        setmaxnreg.dec.sync.aligned.u32 48;
        ret;
    other:
        setmaxnreg.dec.sync.aligned.u32 40;
        ret;
    }
}

#[test]
fn a_warp_waits_for_free_registers() {
    let engines = ENGINES.map(|engine| Host::new().engine(engine));
    for host in engines.into_iter().chain([3, 4].map(|seed| Host::new().seed(seed))) {
        let mut out = [0; 4];
        handed_over.launch(&host, Launch::grid(1).block(256), (&mut out,)).unwrap();
        out.sort_unstable();
        // of a warp that gives registers back, 32 threads have counted
        assert!(out.iter().zip(1..).all(|(given, n)| *given >= 32 * n), "{host:?} {out:?}");
    }
}

#[test]
fn registers_that_nobody_gives_back_are_a_deadlock() {
    for engine in ENGINES {
        let host = Host::new().engine(engine);
        shared_out.launch(&host, Launch::grid(2).block(384), (1,)).unwrap();
        let error = shared_out.launch(&host, Launch::grid(2).block(384), (0,)).unwrap_err();
        let FaultKind::Deadlock { waiting } = &error.fault().unwrap().kind else { panic!("{error}") };
        // four warps leave 120 each, and eight need 64 more each: 32 too few
        let line = "waits for 232 registers in each thread, 32 are free for a warp";
        assert!(waiting.iter().any(|w| w.contains(line)), "{waiting:#?}");
    }
}

#[test]
fn without_directives_it_has_no_effect() {
    for engine in ENGINES {
        without_a_number.launch(&Host::new().engine(engine), Launch::grid(1).block(384), (1,)).unwrap();
    }
}

#[test]
fn the_warps_of_a_warpgroup_execute_the_same() {
    for engine in ENGINES {
        let host = Host::new().engine(engine);
        disagree.launch(&host, Launch::grid(1).block(128), (9,)).unwrap();
        let error = disagree.launch(&host, Launch::grid(1).block(128), (2,)).unwrap_err();
        assert!(error.to_string().contains("of the warpgroup executes"), "{error}");
    }
}
