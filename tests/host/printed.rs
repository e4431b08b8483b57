//! What the printed text has beside the module: doc comments, and lines of this file for debuggers.

use crate::ptxas;
use ptx_dsl::prelude::*;
use std::process::Command;

macro_rules! line_of {
    () => {
        line!()
    };
}

/// The line of the macro.
const LINE: u32 = line_of!() + 2;

ptx! { <sm_90, ptx 8.0, lines>
    /// Doubles an element.
    ///  Twice.
    .visible .entry double(.param .u64 .ptr .global .align 4 x: &mut [u32])
    {
        .reg .b32 %v;
        .reg .b64 %x;
        ld.param.u64 %x, [x]; ld.global.u32 %v, [%x];
        // rustc gives no such comment
        @for I in 0..2 {
            add.u32 %v, %v, %v;
        }
        st.global.u32 [%x], %v;
        /// the end
        ret;
    }
}

#[test]
fn doc_comments_and_lines_are_printed() {
    let mut x = [3];
    double.launch(&Host::new(), Launch::grid(1), (&mut x,)).unwrap();
    assert_eq!(x, [12]);
    let (file, at) = (file!(), |line: u32, column: u32| format!(".loc 1 {} {column}", LINE + line));
    let (load, add, store, end) = (at(7, 9), at(10, 13), at(12, 9), at(14, 9));
    let wanted = format!(
        ".version 8.0
.target sm_90
.address_size 64

.file 1 \"{file}\"

// Doubles an element.
//  Twice.
.visible .entry double(
    .param .u64 .ptr .global .align 4 x
)
{{
    .reg .b32 %v;
    .reg .b64 %x;
    {load}
    ld.param.u64 %x, [x];
    ld.global.u32 %v, [%x];
    {add}
    add.u32 %v, %v, %v;
    add.u32 %v, %v, %v;
    {store}
    st.global.u32 [%x], %v;
    // the end
    {end}
    ret;
}}
"
    );
    assert_eq!(double::PTX, wanted);
    // a fault names the statement without its comment
    let error = double.launch_raw(&Host::new(), Launch::grid(1), &mut [Arg::buffer(&mut [0; 2])]).unwrap_err();
    let at = error.fault().unwrap().at.clone().unwrap();
    assert_eq!((at.rust_line, &at.text[..], at.line), (LINE + 7, "ld.global.u32 %v, [%x];", 17));
}

/// The line table of the cubin names the lines of the instructions in this file.
#[test]
fn ptxas_takes_the_lines() {
    let Some(program) = ptxas::find() else { return };
    let folder = std::env::temp_dir().join(format!("ptx-dsl-lines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (text, cubin) = (folder.join("double.ptx"), folder.join("double.cubin"));
    std::fs::write(&text, double::PTX).unwrap();
    let out = Command::new(program).args(["-arch=sm_90", "-lineinfo", "-o"]).arg(&cubin).arg(&text).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let lines = Command::new("readelf").arg("--debug-dump=decodedline").arg(&cubin).output();
    std::fs::remove_dir_all(&folder).unwrap();
    let Ok(lines) = lines else {
        eprintln!("skipped: there is no readelf");
        return;
    };
    let shown = String::from_utf8_lossy(&lines.stdout).into_owned();
    for line in [7, 10, 12, 14] {
        let wanted = format!(" {} ", LINE + line);
        assert!(shown.lines().any(|l| l.starts_with("printed.rs") && l.contains(&wanted)), "{wanted} in {shown}");
    }
}

ptx! {
    <sm_90, ptx 8.0>
    /// Adds N.
    .visible .entry add<const N: u32 in [1, 2]>(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b32 %v;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        /// one after another
        @for I in 0..N {
            /// again
            ld.global.u32 %v, [%x + 4 * I];
            add.u32 %v, %v, N;
            st.global.u32 [%x + 4 * I], %v;
            /// after
        }
        /// the end
        ret;
    }
    /// Does nothing.
    .visible .entry nothing() {
        ret;
    }
}

#[test]
fn comments_are_in_each_instance_and_iteration() {
    let mut x = [3, 4];
    add::<2>.launch(&Host::new(), Launch::grid(1), (&mut x,)).unwrap();
    assert_eq!(x, [5, 6]);
    let round = |n: u32, at: &str, first: &str| {
        let first = first.to_owned() + "    // again\n";
        format!("{first}    ld.global.u32 %v, [%x{at}];\n    add.u32 %v, %v, {n};\n    st.global.u32 [%x{at}], %v;\n")
    };
    let kernel = |n: u32, rounds: String| {
        format!(
            "// Adds N.
.visible .entry add_{n}(
    .param .u64 .ptr .global .align 4 x
)
{{
    .reg .b32 %v;
    .reg .b64 %x;
    ld.param.u64 %x, [x];
{rounds}    // after
    // the end
    ret;
}}
"
        )
    };
    let one = kernel(1, round(1, "+0", "    // one after another\n"));
    let two = kernel(2, round(2, "+0", "    // one after another\n") + &round(2, "+4", ""));
    let all = format!("{one}\n{two}\n// Does nothing.\n.visible .entry nothing()\n{{\n    ret;\n}}\n");
    let header = ".version 8.0\n.target sm_90\n.address_size 64\n\n";
    assert_eq!(add::<1>::PTX, format!("{header}{all}"));
    assert_eq!(add::<2>::ENTRY_PTX, format!("{header}{two}"));
    assert!(nothing::ENTRY_PTX.ends_with("// Does nothing.\n.visible .entry nothing()\n{\n    ret;\n}\n"));
}
