//! Where addresses come from: PTX0630 to PTX0635.

use super::*;

#[test]
fn shared_address_as_another() {
    both("mov.u64 %rd1, sh;\n ld.global.u32 %r1, [%rd1]; // error: PTX0630");
    both("mov.u64 %rd1, sh;\n add.s64 %rd2, %rd1, 16;\n ld.u32 %r1, [%rd2]; // error: PTX0630");
    both("cvta.shared.u64 %rd1, sh;\n st.shared.u32 [%rd1+4], 0; // error: PTX0630");
    both("mov.u32 %r1, sh;\n cvt.u64.u32 %rd1, %r1;\n st.u32 [%rd1], 0; // error: PTX0630");
    both("mov.u64 %rd1, bar1;\n mbarrier.init.b64 [%rd1], 1; // error: PTX0630");
    // On both ways.
    both(
        "ld.param.u32 %r1, [n];\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra A;\n mov.u64 %rd1, sh;\n bra B;\n A:\n mov.u64 %rd1, bar1;\n
         B:\n ld.global.u32 %r2, [%rd1]; // error: PTX0630",
    );
    // In a loop that moves it on.
    both(
        "mov.u32 %r2, 0;\n mov.u64 %rd1, sh;\n L:\n ld.global.u32 %r1, [%rd1]; // error: PTX0630\n add.u64 %rd1, %rd1, 4;\n
         add.u32 %r2, %r2, 1;\n setp.lt.u32 %p1, %r2, 4;\n @%p1 bra L;",
    );
}

#[test]
fn shared_address_as_what_it_is() {
    both("mov.u64 %rd1, sh;\n ld.shared.u32 %r1, [%rd1];\n mov.u32 %r2, sh;\n ld.shared.u32 %r1, [%r2+4];");
    both("cvta.shared.u64 %rd1, sh;\n st.u32 [%rd1], 0;\n cvta.to.shared.u64 %rd2, %rd1;\n st.shared.u32 [%rd2], 0;");
    both(
        "mov.u32 %r1, bar1;\n mbarrier.init.shared.b64 [%r1], 1;\n mov.u32 %r1, dyn;\n ld.shared.u32 %r2, [%r1+4096];",
    );
    // One way or the other: not sure.
    both(
        "ld.param.u32 %r1, [n];\n setp.eq.u32 %p1, %r1, 0;\n mov.u64 %rd1, sh;\n @%p1 bra B;\n ld.param.u64 %rd1, [any];\n
         B:\n ld.global.u32 %r2, [%rd1];",
    );
    // The distance of two variables is no address.
    both(
        "mov.u64 %rd1, sh;\n mov.u64 %rd2, bar1;\n sub.u64 %rd3, %rd2, %rd1;\n ld.param.u64 %rd4, [w];\n add.u64 %rd5, %rd4, %rd3;\n ld.global.u32 %r1, [%rd5];",
    );
    // A register that is used for one thing after the other.
    both("mov.u64 %rd1, sh;\n ld.shared.u32 %r1, [%rd1];\n mov.u64 %rd1, g;\n ld.global.u32 %r1, [%rd1];");
}

#[test]
fn global_address_as_shared() {
    both("mov.u64 %rd1, g;\n ld.shared.u32 %r1, [%rd1]; // error: PTX0630");
    both("ld.param.u64 %rd1, [w];\n st.shared.u32 [%rd1], 0; // error: PTX0630");
    both("ld.param.u64 %rd1, [w];\n cvta.to.shared.u64 %rd2, %rd1; // error: PTX0631");
    both(
        "ld.param.u64 %rd1, [w];\n cvta.to.global.u64 %rd2, %rd1;\n st.global.u32 [%rd2], 0;\n st.u32 [%rd1], 0;\n mov.u64 %rd3, g;\n ld.u32 %r1, [%rd3];",
    );
    both("ld.param.u64 %rd1, [w];\n mbarrier.arrive.b64 _, [%rd1]; // error: PTX0630");
    both("ld.param.u64 %rd1, [any];\n cvta.to.shared.u64 %rd2, %rd1;\n st.shared.u32 [%rd2], 0;");
}

#[test]
fn conversion_the_wrong_way() {
    both("mov.u64 %rd1, sh;\n cvta.to.shared.u64 %rd2, %rd1; // error: PTX0631");
    both("cvta.shared.u64 %rd1, sh;\n cvta.shared.u64 %rd2, %rd1; // error: PTX0631");
    both("mov.u64 %rd1, c;\n cvta.shared.u64 %rd2, %rd1; // error: PTX0631");
    both("cvta.local.u64 %rd1, loc;\n cvta.to.global.u64 %rd2, %rd1; // error: PTX0631");
    both(
        "mov.u64 %rd1, loc;\n cvta.local.u64 %rd2, %rd1;\n st.u32 [%rd2], 0;\n cvta.to.local.u64 %rd3, %rd2;\n st.local.u32 [%rd3], 0;",
    );
    // For `.global` both are the same number.
    both(
        "mov.u64 %rd1, g;\n cvta.to.global.u64 %rd2, %rd1;\n cvta.global.u64 %rd3, %rd2;\n cvta.global.u64 %rd4, %rd3;\n ld.global.u32 %r1, [%rd4];",
    );
}

/// The Rust types only stand in the macro's text; the lexer takes them all the same.
fn typed(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 x: &[f32], .param .u64 .ptr .global .align 4 y: &mut [f32])\n\
         {{\n{REGISTERS}{body}\nret;\n}}\n"
    )
}

#[test]
fn store_to_a_read_only_parameter() {
    case(&typed("ld.param.u64 %rd1, [x];\n mov.f32 %f1, 0f00000000;\n st.global.f32 [%rd1], %f1; // error: PTX0632"));
    case(&typed(
        "ld.param.u64 %rd1, [x];\n cvta.to.global.u64 %rd2, %rd1;\n mov.u32 %r1, %tid.x;\n mul.wide.u32 %rd3, %r1, 4;\n add.s64 %rd4, %rd2, %rd3;\n red.global.add.f32 [%rd4], 0f3F800000; // error: PTX0632",
    ));
    case(&typed(
        "ld.param.u64 %rd1, [x];\n ld.param.u64 %rd2, [y];\n ld.global.f32 %f1, [%rd1];\n st.global.f32 [%rd2], %f1;",
    ));
    case(&typed(
        "ld.param.u64 %rd1, [y];\n ld.param.u64 %rd2, [x];\n mov.u32 %r1, %tid.x;\n setp.eq.u32 %p1, %r1, 0;\n selp.b64 %rd3, %rd1, %rd2, %p1;\n st.global.u32 [%rd3], 0;",
    ));
}

#[test]
fn past_the_end_of_a_variable() {
    both("st.shared.u32 [sh+64], 0; // error: PTX0633\n st.shared.u32 [sh+60], 0;");
    both(
        "mov.u64 %rd1, g;\n add.u64 %rd2, %rd1, 16;\n ld.global.u32 %r1, [%rd2]; // error: PTX0633\n ld.global.u32 %r1, [%rd2+-4];",
    );
    both("mov.u32 %r1, sh;\n ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1+64]; // error: PTX0633");
    both("mov.u32 %r1, sh;\n ld.shared.u32 %r2, [%r1+-4]; // error: PTX0633");
    // The end itself may be an address, and what is indexed is not known.
    both(
        "mov.u32 %r1, sh;\n add.u32 %r2, %r1, 64;\n mov.u32 %r3, %tid.x;\n shl.b32 %r4, %r3, 2;\n sub.u32 %r5, %r2, %r4;\n ld.shared.u32 %r6, [%r5+-4];",
    );
    both("mov.u32 %r1, dyn;\n ld.shared.u32 %r2, [%r1+64];");
}

#[test]
fn misaligned_by_a_register() {
    both("mov.u32 %r1, sh;\n add.u32 %r2, %r1, 2;\n ld.shared.u32 %r3, [%r2]; // error: PTX0634");
    both("ld.param.u64 %rd1, [w];\n ld.global.u32 %r3, [%rd1+6]; // error: PTX0634");
    both("mov.u32 %r1, sh;\n mbarrier.init.shared.b64 [%r1+4], 1; // error: PTX0634");
    both("mov.u32 %r1, sh;\n add.u32 %r2, %r1, 2;\n ld.shared.u16 %r3, [%r2];\n ld.shared.u32 %r3, [%r2+2];");
    // How the parameter is aligned beyond 4 bytes is not said.
    both("ld.param.u64 %rd1, [w];\n ld.global.u64 %rd3, [%rd1+8];\n ld.global.u64 %rd3, [%rd1+4];");
}

#[test]
fn mapped_address_in_the_own_cta() {
    let cluster = |body: &str| kernel("128 .reqnctapercluster 2", body);
    case(&cluster(
        "mov.u32 %r1, sh;\n mapa.shared::cluster.u32 %r2, %r1, 1;\n ld.shared::cta.u32 %r3, [%r2]; // error: PTX0635",
    ));
    case(&cluster(
        "mov.u32 %r1, bar1;\n mapa.shared::cluster.u32 %r2, %r1, 0;\n mbarrier.init.shared.b64 [%r2], 1; // error: PTX0635",
    ));
    case(&kernel(
        "",
        "mov.u32 %r1, sh;\n mapa.shared::cluster.u32 %r2, %r1, 1;\n ld.shared.u32 %r3, [%r2]; // warning: PTX0635",
    ));
    case(&cluster(
        "mov.u32 %r1, sh;\n mapa.shared::cluster.u32 %r2, %r1, 1;\n barrier.cluster.arrive;\n barrier.cluster.wait;\n ld.shared::cluster.u32 %r3, [%r2];\n barrier.cluster.arrive;\n barrier.cluster.wait;",
    ));
    case(&cluster(
        "mov.u32 %r1, sh;\n mov.u32 %r4, %cluster_ctarank;\n mapa.shared::cluster.u32 %r2, %r1, %r4;\n ld.shared::cta.u32 %r3, [%r2];",
    ));
    both("mov.u64 %rd1, sh;\n mapa.u64 %rd2, %rd1, 0; // error: PTX0630");
    both(
        "cvta.shared.u64 %rd1, sh;\n mapa.u64 %rd2, %rd1, 0;\n barrier.cluster.arrive;\n barrier.cluster.wait;\n ld.u32 %r1, [%rd2];\n barrier.cluster.arrive;\n barrier.cluster.wait;",
    );
    both("cvta.shared.u64 %rd1, sh;\n mapa.shared::cluster.u64 %rd2, %rd1, 0; // error: PTX0630");
}
