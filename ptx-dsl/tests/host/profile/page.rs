//! The page of a profile in a headless Chromium: it draws the source with its counters, shows what a line did, and has the timeline beside it.

use crate::module;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::browser::{chromium, opened};
use std::collections::BTreeMap;
use std::path::Path;

const KERNEL: &str = ".visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 64\n{\n.reg .b32 %i, %a, %v; .reg .b64 %x, %o;\n\
                      .shared .align 4 .b8 tile[8192];\nld.param.u64 %x, [x];\nmov.u32 %i, %tid.x;\nmul.wide.u32 %o, %i, 4;\n\
                      add.u64 %x, %x, %o;\nld.global.u32 %v, [%x];\nmov.u32 %a, tile;\nmad.lo.u32 %a, %i, 128, %a;\n\
                      st.shared.u32 [%a], %v; // tile store </script>\nbar.sync 0;\nld.shared.u32 %v, [%a];\nst.global.u32 [%x], %v;\nret;\n}\n";

#[test]
fn a_browser_shows_the_source_with_its_counters() {
    let Some(browser) = chromium() else { return };
    let kernel = module(KERNEL);
    let kernel = kernel.kernel("k").unwrap();
    let (profiler, tracer) = (Host::profile(), Host::trace());
    let mut x = [7u32; 64];
    kernel.launch_raw(&profiler, Launch::grid(1).block(64), &mut [(&mut x[..]).into()]).unwrap();
    kernel.launch_raw(&tracer, Launch::grid(1).block(64), &mut [(&mut x[..]).into()]).unwrap();
    let html = profiler.profiled().to_html_with(&tracer.timeline());
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profile-of-k.html");
    let said = opened(browser, &page, &html, include_str!("page.js"));
    let said: BTreeMap<&str, &str> = said.lines().filter_map(|line| line.split_once('=')).collect();
    assert_eq!(said.get("error"), None, "{said:?}");
    assert!(said["title"].starts_with("k in ") && said["title"].ends_with("1 CTAs of 64 threads"), "{said:?}");
    // 16 statements; the two lines with conflicts are marked
    assert_eq!(
        (said["ranks"], said["columns"]),
        ("2", "executed lanes sectors ideal wavefronts conflicts"),
        "{said:?}"
    );
    assert!(said["row"].contains("st.shared.u32") && said["row"].contains("</script>"), "{said:?}");
    // 2 warps, a pitch of 32 words: 32 wavefronts for each
    assert!(said["detail"].contains("bank_conflicts") && said["detail"].contains("62"), "{said:?}");
    assert!(said["detail"].contains("only needed because lanes access different words of one bank"), "{said:?}");
    // the bar of the line that has the most conflicts is the longest
    assert_eq!((said["longest"], said["bars"]), ("68px", "2"), "{said:?}");
    assert!(said["down"] != said["chosen"], "{said:?}");
    assert_eq!((said["frames"], said["inside"]), ("1", "true"), "{said:?}");
}
