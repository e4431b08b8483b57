//! `vprintf` with fewer arguments than its format has conversions.

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;
use std::sync::{Arc, Mutex};

/// A kernel of one thread that passes the format and a buffer of so many bytes, in front of another variable, to `vprintf`.
fn module(format: &str, bytes: usize, stores: &str) -> Module {
    let codes: Vec<String> = format.bytes().chain([0]).map(|c| c.to_string()).collect();
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n\
         .global .align 1 .b8 format[] = {{ {} }};\n\
         .visible .entry k()\n{{\n.local .align 8 .b8 list[{bytes}]; .local .align 8 .b8 next[64];\n\
         .reg .b32 %r; .reg .b64 %f, %l, %n;\n\
         mov.u64 %f, format; cvta.global.u64 %f, %f; mov.u64 %l, list; cvta.local.u64 %l, %l; mov.u64 %n, next;\n\
         st.local.u64 [%n], 7; st.local.u64 [%n+8], 7; st.local.u64 [%n+16], 7;\n\
         {stores}\ncall (%r), vprintf, (%f, %l);\nret;\n}}\n",
        codes.join(", ")
    );
    Module::parse(&text).unwrap()
}

/// The text that a checked host prints, or its finding.
#[track_caller]
fn checked(format: &str, bytes: usize, stores: &str) -> Result<String, String> {
    let output = Arc::new(Mutex::new(String::new()));
    let to = output.clone();
    let host = Host::checked().print(move |text| to.lock().unwrap().push_str(text));
    let module = module(format, bytes, stores);
    match module.kernel("k").unwrap().launch_raw(&host, Launch::grid(1).block(1), &mut []) {
        Ok(_) => Ok(output.lock().unwrap().clone()),
        Err(Error::Fault(fault)) => match &fault.kind {
            FaultKind::Undefined { what, .. } => Err(what.clone()),
            _ => panic!("{fault}"),
        },
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn an_argument_for_each_conversion() {
    let two = "st.local.u32 [list], 5; st.local.u32 [list+4], 6;";
    assert_eq!(checked("%d %d%%\n", 8, two).unwrap(), "5 6%\n");
    // a width, and a number of 64 bits that is aligned
    assert_eq!(checked("%*d", 8, two).unwrap(), "    6");
    let wide = "st.local.u32 [list], 5; st.local.u64 [list+8], 6;";
    assert_eq!(checked("%d %llu", 16, wide).unwrap(), "5 6");
    // a buffer may be longer, and a format without conversions reads none
    assert_eq!(checked("%d", 16, wide).unwrap(), "5");
    assert_eq!(checked("none", 8, "").unwrap(), "none");
}

#[test]
fn too_few_arguments() {
    let two = "st.local.u32 [list], 5; st.local.u32 [list+4], 6;";
    let found = |conversion: &str, number: u32, bytes: u32, at: u32| {
        Err(format!(
            "`{conversion}`, conversion {number} of the format, reads {bytes} bytes at byte {at} of `list`, \
             an argument buffer of 8 bytes"
        ))
    };
    assert_eq!(checked("%d %d %% %03x\n", 8, two), found("%03x", 3, 4, 8));
    assert_eq!(checked("%*d %d", 8, two), found("%d", 2, 4, 8));
    assert_eq!(checked("%d %*d", 8, two), found("%*d", 2, 4, 8));
    // a number of 64 bits begins at a multiple of 8
    assert_eq!(checked("%d %f", 8, two), found("%f", 2, 8, 8));
    assert_eq!(checked("%d%d%s", 8, two), found("%s", 3, 8, 8));
}

/// Without checks it reads the thread's own memory, or faults at the end of it.
#[test]
fn a_plain_host_reads_nothing_else() {
    let format = "%lld ".repeat(20);
    let module = module(&format, 8, "st.local.u64 [list], 5;");
    let host = Host::new().print(|_| {});
    let error = module.kernel("k").unwrap().launch_raw(&host, Launch::grid(1).block(1), &mut []).unwrap_err();
    assert!(matches!(error.fault().unwrap().kind, FaultKind::OutOfBounds { bytes: 8, .. }), "{error}");
}
