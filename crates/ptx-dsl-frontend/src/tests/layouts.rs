//! Layouts of tiles, without rustc: what they print, and what is wrong with them.

use crate::lex::lex;
use crate::{Compiled, compile_rust_file};

fn compiled(text: &str) -> Compiled {
    let tokens = lex(text).0.tokens;
    let expanded = crate::parse::repeat::expand(&tokens, 100_000);
    let mut compiled = compile_rust_file(&expanded.tokens, None, None, &[], Default::default());
    compiled.diagnostics.extend(expanded.diagnostics);
    compiled
}

fn module(body: &str) -> String {
    format!(
        "<sm_90a, ptx 8.0> const R: u32 = crate::R;
        layout A = f16[128, 64] swizzle 128; layout W = bf16[64, 128] swizzle 128; layout S = f32[16, 16] swizzle 64;
        layout P = u8[8, 32]; layout N = f16[64, 8];
        .extern .shared .align 1024 .b8 smem[];
        .visible .entry k(.param .u32 n) {{
        .reg .b32 %r<8>; .reg .s32 %i<4>; .reg .b64 %rd<4>;
        mov.u32 %r1, 0; mov.u32 %r2, 0; {body} ret; }}"
    )
}

/// The statements as printed.
fn printed(body: &str) -> String {
    let compiled = compiled(&module(body));
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|d| d.code.number < 600).collect();
    assert!(errors.is_empty(), "{body}: {errors:?}");
    let (_, body) = compiled.ptx.split_once("mov.u32 %r2, 0;").expect("the beginning");
    body.rsplit_once("ret;").expect("the end").0.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The codes of the errors, with the text that each is at.
fn errors(body: &str) -> Vec<(u16, String)> {
    let text = module(body);
    let lexed = lex(&text).0;
    let found = compiled(&text).diagnostics;
    let errors = found.iter().filter(|d| d.code.number < 600);
    errors.map(|d| (d.code.number, text[lexed.bytes(d.span)].to_owned())).collect()
}

#[test]
fn members_are_numbers() {
    for (body, wanted) in [
        ("mov.u32 %r1, A.bytes;", "mov.u32 %r1, 16384;"),
        ("mov.u32 %r1, W.boxes * W.box_bytes + W.box_columns;", "mov.u32 %r1, 2 * 8192+64;"),
        ("%r1 = P.pitch + P.rows + P.columns;", "mov.b32 %r1, 72;"),
        ("const X: u32 = A.bytes / 2; mov.u32 %r1, X;", "mov.u32 %r1, 8192;"),
        ("mov.u32 %r1, A.at(1, 8);", "mov.u32 %r1, 128;"),
        ("st.shared.u32 [smem + A.at(9, 0)], %r1;", "st.shared.u32 [smem+1168], %r1;"),
        ("mov.u32 %r1, W.at(3, 72);", "mov.u32 %r1, 8608;"),
        ("mov.u32 %r1, S.at(2, 0);", "mov.u32 %r1, 144;"),
        ("@for I in 0..A.rows / 64 { mov.u32 %r1, A.at(I, 0); }", "mov.u32 %r1, 0; mov.u32 %r1, 144;"),
        ("layout B = f16[2 * 64, 32] swizzle 64; mov.u32 %r1, B.bytes;", "mov.u32 %r1, 8192;"),
        (".shared A tile, tiles[3];", ".shared .align 1024 .b8 tile[16384], tiles[49152];"),
        (
            ".region smem: ALL { A stages[2]; .b64 full; } mov.u32 %r1, ALL; mov.u32 %r2, full;",
            "mov.u32 %r1, 32776; mov.u32 %r2, smem+32768;",
        ),
        ("mov.b64 %rd1, descriptor::wgmma(A);", "mov.b64 %rd1, 4611686293305360384;"),
        ("mov.b64 %rd1, descriptor::wgmma(A, start: 32);", "mov.b64 %rd1, 4611686293305360386;"),
        (
            "mov.b64 %rd1, descriptor::wgmma(W, major: mn) - descriptor::wgmma(leading: 8192, stride: 1024, swizzle: 128);",
            "mov.b64 %rd1, 4611686293338849280-4611686293338849280;",
        ),
        ("mov.b64 %rd1, descriptor::tcgen05(A, major: k);", "mov.b64 %rd1, 4611756662049538048;"),
    ] {
        assert_eq!(printed(body), wanted, "{body}");
    }
}

#[test]
fn places_of_elements_are_computed() {
    for (body, wanted) in [
        (
            "let %a = A.at(%r1, %r2);",
            ".reg .b32 %a; shl.b32 %er0, %r2, 1; mad.lo.u32 %er1, %r1, 128, %er0; shr.u32 %er2, %er1, 3; \
             and.b32 %er3, %er2, 112; xor.b32 %a, %er1, %er3;",
        ),
        ("%r3 = A.at(1, %r2);", "shl.b32 %er0, %r2, 1; xor.b32 %er1, %er0, 16; add.u32 %r3, %er1, 128;"),
        ("%r3 = P.at(%r1, 4);", "mad.lo.u32 %r3, %r1, 32, 4;"),
        (
            "st.shared.u32 [smem + W.at(%r1, 72)], %r2;",
            "mov.b32 %er0, smem; mad.lo.u32 %er1, %r1, 128, 8208; shr.u32 %er2, %er1, 3; and.b32 %er3, %er2, 112; \
             xor.b32 %er4, %er1, %er3; add.u32 %er5, %er0, %er4; st.shared.u32 [%er5], %r2;",
        ),
    ] {
        assert_eq!(printed(body), wanted, "{body}");
    }
    // both boxes
    assert!(printed("%r3 = W.at(%r1, %r2);").contains("mad.lo.u32"), "{}", printed("%r3 = W.at(%r1, %r2);"));
}

#[test]
fn what_is_wrong_with_layouts() {
    for (body, code, at) in [
        ("layout T = f12[8, 8];", 167, "f12"),
        ("layout T = f16[128, 32] swizzle 128;", 167, "128, 32"),
        ("layout T = f16[4, 64] swizzle 128;", 167, "4, 64"),
        ("layout T = f16[0, 64] swizzle 128;", 167, "0, 64"),
        ("layout T = f16[8, 64] swizzle 96;", 167, "96"),
        ("layout T = f16[R, 64] swizzle 128;", 156, "R"),
        ("layout T = f16[-8, 64] swizzle 128;", 167, "-8"),
        ("layout T = f16[8] swizzle 128;", 140, "]"),
        ("layout A = f16[8, 64] swizzle 128;", 121, "A"),
        ("mov.u32 %r1, A;", 167, "A"),
        ("mov.u32 %r1, A.size;", 167, "size"),
        ("mov.u32 %r1, A.at(128, 0);", 167, "128"),
        ("mov.u32 %r1, A.at(0, -1);", 167, "-1"),
        ("%r1 = A.at(%r1, 64);", 167, "64"),
        ("%r1 = A.at(%i1, 0);", 162, "%i1"),
        ("mov.u32 %r1, A.at(%r1, 0);", 167, "%r1"),
        ("mov.b64 %rd1, descriptor::wgmma(A, stride: 64);", 165, "stride"),
        ("mov.b64 %rd1, descriptor::wgmma(A, major: m);", 165, "m"),
        ("mov.b64 %rd1, descriptor::wgmma(P);", 165, "P"),
        ("mov.b64 %rd1, descriptor::wgmma(S, major: mn);", 165, "S"),
        ("mov.b64 %rd1, descriptor::wgmma(N, major: mn);", 165, "N"),
        ("mov.b64 %rd1, descriptor::instruction(A);", 165, "A"),
        (".region smem { A a[R]; }", 156, "R"),
        (".shared A a[R];", 156, "R"),
        ("{ .shared .align 16 .b8 low[64]; .region low { A a; } }", 166, "A"),
    ] {
        let found = errors(body);
        let same = found.len() == 1 && found[0].1 == at && (found[0].0 == code || code < 150);
        assert!(same, "{body}: {found:?}");
    }
    // one error, and none of what follows from it
    assert_eq!(
        errors(
            "layout T = f16[8, 32] swizzle 128; .shared T a; %r1 = T.at(%r2, 0) + T.bytes; mov.b64 %rd1, descriptor::wgmma(T);"
        ),
        [(167, "8, 32".to_owned())]
    );
}

#[test]
fn no_layout_panics() {
    let text = module(
        "layout T = f16[2 * 64, 64] swizzle 128; .shared T a[2], b; %r1 = a + T.at(%r2, n) * T.bytes; mov.b64 %rd1, descriptor::wgmma(T, major: mn);",
    );
    let tokens = lex(&text).0.tokens;
    for at in 0..tokens.len() {
        let mut changed = tokens.clone();
        changed.remove(at);
        for tokens in [&tokens[..at], &changed] {
            compile_rust_file(tokens, None, None, &[], Default::default());
        }
    }
}

#[test]
fn pieces_have_layouts_of_their_constants() {
    let text = "<sm_90a, ptx 8.0>
        .inline place(.reg .b32 %to, .b32 row, const N: u32) { layout B = bf16[N, 64] swizzle 128; %to = B.at(row, 0) + B.bytes; }
        .visible .entry k<const BN: u32 in [64, 128]>() { layout T = f16[BN, 64] swizzle 128; .reg .b32 %x; .shared T t;
        place!(%x, 3, BN); st.shared.u32 [t + T.bytes - 4], %x; ret; }";
    let compiled = compiled(text);
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|d| d.code.number < 600).collect();
    assert!(errors.is_empty(), "{errors:?}");
    for part in [".b8 t[8192]", ".b8 t[16384]", "mov.b32 %x, 8624;", "mov.b32 %x, 16816;"] {
        assert!(compiled.ptx.contains(part), "{part}: {}", compiled.ptx);
    }
}

/// Stages and C are regions of one dynamic array, and warps have roles: the bulk store of C needs a proxy fence after `stmatrix`.
#[test]
fn a_missing_proxy_fence_is_found_where_regions_share_an_array() {
    let text = "
        <sm_90a, ptx 8.6>
        .extern .shared .align 1024 .b8 smem[];
        .region smem { .align 1024 .b8 stages[32768]; .align 1024 .b8 c[16384]; .b64 full[2]; }
        .visible .entry k(.param .align 64 .b8 a[128], .param .align 64 .b8 o[128], .param .u32 n) .reqntid 128 {
        .reg .b32 %v<4>;
        .reg .b64 %a, %o;
        .reg .pred %done;
        mov.b64 %a, a;
        cvta.param.u64 %a, %a;
        mov.b64 %o, o;
        cvta.param.u64 %o, %o;
        mov.u32 %v0, 0; mov.u32 %v1, 0; mov.u32 %v2, 0; mov.u32 %v3, 0;
        if %tid.x == 0 {
        mbarrier.init.shared::cta.b64 [full], 1;
        mbarrier.init.shared::cta.b64 [full + 8], 1;
        fence.mbarrier_init.release.cluster;
        }
        bar.sync 0;
        let %stage = 0;
        let %parity = 0;
        let %at = 0;
        if %tid.x / 32 == 3 {
        while %at < n {
        let %to = stages + %stage * 16384;
        if %tid.x == 96 {
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full + 8 * %stage], 16384;
        cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%to], [%a, {%at, 0}], [full + 8 * %stage];
        }
        %at = %at + 64; %stage = %stage ^ 1;
        }
        } else {
        while %at < n {
        let %to = stages + %stage * 16384;
        loop { mbarrier.try_wait.parity.shared::cta.b64 %done, [full + 8 * %stage], %parity; if %done { break; } }
        ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%to + 16 * %tid.x];
        bar.sync 1, 96;
        %at = %at + 64;
        %stage = %stage ^ 1;
        if %stage == 0 { %parity = %parity ^ 1; }
        }
        let %row = c + %tid.x * 16;
        stmatrix.sync.aligned.m8n8.x4.shared.b16 [%row], {%v0, %v1, %v2, %v3};
        bar.sync 1, 96;
        if %tid.x == 0 {
        cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%o, {0, 0}], [c];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        }
        }
        ret;
        }
    ";
    let codes = |text: &str| {
        let found = compiled(text).diagnostics;
        found.iter().map(|d| d.code.number).collect::<Vec<_>>()
    };
    assert_eq!(codes(text), [640]);
    let stored = "{%v0, %v1, %v2, %v3};\n        bar.sync 1, 96;\n        if";
    assert!(text.contains(stored), "the end of the kernel");
    let fenced = "{%v0, %v1, %v2, %v3};\n fence.proxy.async.shared::cta;\n bar.sync 1, 96;\n if";
    assert_eq!(codes(&text.replace(stored, fenced)), []);
}

/// A finding names the region of an mbarrier, not its offset in the array.
#[test]
fn findings_name_regions() {
    let text = "<sm_90, ptx 8.0> .extern .shared .align 16 .b8 smem[];
        .visible .entry k() .reqntid 32 { .region smem { .b32 first[4]; .b64 ready[2]; } .reg .pred %done;
        mbarrier.init.shared::cta.b64 [ready + 8], 4;
        loop { mbarrier.try_wait.parity.shared::cta.b64 %done, [ready + 8], 0; if %done { break; } } ret; }";
    let found = compiled(text).diagnostics;
    assert!(found.iter().any(|d| d.code.number == 642 && d.message.contains("`ready+8`")), "{found:?}");
}
