//! Where faults of kernels that the macros read say that a statement is, if it has a `.loc` or is in a piece.

use ptx_dsl::Engine;
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Report};

/// The line of the macro.
const LINE: u32 = line!() + 2;

ptx! { <sm_90, ptx 8.0, compiled>
    .file 1 "/home/me/k.cu"
    .file 2 "/home/me/helpers.h"
    .visible .entry located(.param .u64 .ptr .global .align 4 x: &mut [u32])
    {
        .reg .b64 %x;
        .loc 1 90 3
        ld.param.u64 %x, [x];
        .loc 2 30 7, function_name INLINED, inlined_at 1 90 3
        st.global.u32 [%x+4], 1;
        ret;
    }
    .section .debug_str
    {
    INLINED:
        .b8 102, 0
    }
}

ptx_dsl::include_ptx!("places.ptx");

/// The lines of the report of a fault that say where.
fn places(result: Result<Report, Error>) -> String {
    let text = result.unwrap_err().to_string();
    let (places, _) = text.split_once("\n  = thread").unwrap();
    places.split_once('\n').unwrap().1.to_owned()
}

/// The line of a text, from 1, that consists of this statement.
fn line_in(text: &str, statement: &str) -> usize {
    text.lines().position(|line| line.trim() == statement).unwrap() + 1
}

#[test]
fn a_kernel_in_rust_keeps_its_line() {
    for engine in [Engine::Interpreted, Engine::Compiled] {
        let host = Host::new().engine(engine);
        let found = places(located.launch_raw(&host, Launch::grid(1).block(1), &mut [(&mut [0u32; 1][..]).into()]));
        let (printed, rust) = (line_in(located::PTX, "st.global.u32 [%x+4], 1;"), LINE + 9);
        let file = file!();
        assert_eq!(
            found,
            format!(
                "  --> kernel `located`, PTX line {printed}: `st.global.u32 [%x+4], 1;`\n  --> {file}:{rust}\n  \
                 --> /home/me/helpers.h:30:7\n      inlined at /home/me/k.cu:90:3"
            )
        );
    }
}

#[test]
fn a_kernel_in_a_file_has_the_line_of_the_file() {
    let line = line_in(include_str!("places.ptx"), "st.global.u32 [%x+4], 1;");
    let (launch, host) = (|| Launch::grid(1).block(1), Host::new());
    let found = places(in_file.launch_raw(&host, launch(), &mut [(&mut [0u32; 1][..]).into()]));
    let statement = "`st.global.u32 [%x+4], 1;`";
    assert_eq!(found, format!("  --> kernel `in_file`, PTX line {line}: {statement}\n  --> places.ptx:{line}"));
    assert_ne!(line, line_in(in_file::PTX, "st.global.u32 [%x+4], 1;"));
    // a place of `.loc` stands for the line of the file
    let found = places(located_in_file.launch_raw(&host, launch(), &mut [(&mut [0u32; 1][..]).into()]));
    assert!(found.ends_with(&format!(": {statement}\n  --> /home/me/k.cu:17:5")), "{found}");
}

/// The line of the macro.
const PIECES: u32 = line!() + 2;

ptx! { <sm_90, ptx 8.0, compiled>
    .inline store(.global .b32 to, .b32 value) {
        st.global.u32 [to], value;
    }
    .inline store_both(.global .b32 to) {
        store!(to, 1);
        store!(to + 4, 2);
    }
    .visible .entry of_pieces(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        store_both!(%x);
        store!(%x + 8, 3);
        store!(%x + 12, 4);
        st.global.u32 [%x+16], 5;
        ret;
    }
    .inline wait(.shared .b64 barrier) {
        .reg .pred %done;
      again:
        mbarrier.try_wait.parity.shared::cta.b64 %done, [barrier], 0;
        @!%done bra again;
    }
    .visible .entry waits() {
        .shared .align 8 .b64 barrier;
        mbarrier.init.shared.b64 [barrier], 1;
        mbarrier.arrive.shared.b64 _, [barrier];
        wait!(barrier);
        wait!(barrier);
        mbarrier.inval.shared.b64 [barrier];
        mbarrier.init.shared.b64 [barrier], 1;
        wait!(barrier);
        ret;
    }
}

#[test]
fn a_statement_of_a_piece_has_the_lines_of_the_uses() {
    let file = file!();
    // the elements of the slice, and the lines of the statement that is out of bounds
    let cases: [(_, &[u32]); 5] = [(0, &[2, 5, 11]), (1, &[2, 6, 11]), (2, &[2, 12]), (3, &[2, 13]), (4, &[14])];
    for engine in [Engine::Interpreted, Engine::Compiled] {
        let host = Host::new().engine(engine);
        for (n, lines) in cases {
            let mut x = [0u32; 4];
            let found = places(of_pieces.launch_raw(&host, Launch::grid(1).block(1), &mut [(&mut x[..n]).into()]));
            let lines: Vec<_> = lines.iter().map(|line| format!("{file}:{}", PIECES + line)).collect();
            let (_, found) = found.split_once('\n').unwrap();
            assert_eq!(found, format!("  --> {}", lines.join("\n      inlined at ")), "{engine:?} {n}");
        }
    }
}

#[test]
fn a_deadlock_in_a_piece_names_the_use() {
    for engine in [Engine::Interpreted, Engine::Compiled] {
        let host = Host::new().engine(engine);
        let text = waits.launch(&host, Launch::grid(1).block(1), ()).unwrap_err().to_string();
        let at = |line| format!("{}:{}", file!(), PIECES + line);
        assert!(text.contains(&format!("\n  --> {}\n      inlined at {}\n", at(20), at(31))), "{text}");
    }
}
