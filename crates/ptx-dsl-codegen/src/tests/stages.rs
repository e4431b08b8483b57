//! Results of each stage on small kernels.

use crate::lay_out;
use crate::layout::solver::Layout;
use ptx_dsl_analysis::affine::lattice::{Affine, CTA_UNIFORM, UNIFORM, VARYING};
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_image::frames::Frames;
use ptx_dsl_image::kernel::Kernel;
use ptx_dsl_image::region::build::program;
use ptx_dsl_image::region::chains::{exit_chain, fall_through_loop};
use ptx_dsl_image::region::graph::{End, Item, Program};
use ptx_dsl_isa::hir::{FuncId, Module, RegId};

/// A kernel of one warp a row, with registers `%r0` to `%r9`, `%p`, `%q`, and the address `%d`.
fn module(body: &str) -> Module {
    let text = format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 .ptr .global .align 4 p, .param .u32 n) .reqntid 128\n\
         {{\n.reg .pred %p, %q; .reg .b32 %r<10>; .reg .b64 %d;\n{body}\nret;\n}}\n"
    );
    let compiled = ptx_dsl_frontend::compile(&lex(&text).0.tokens);
    assert!(!compiled.failed(), "{:?}", compiled.diagnostics);
    compiled.hir
}

fn kernel<'m>(module: &'m Module, p: &Program<'m>) -> Kernel<'m> {
    let (recursive, frames) = (p.recursive.clone(), Frames::new(module, &p.recursive, 0));
    Kernel { module, entry: FuncId(0), function: &module.functions[0], recursive, frames }
}

/// Calls `look` with the regions and the layout of a kernel; the function finds a register by its name.
fn laid_out(body: &str, look: impl Fn(&Program<'_>, &Layout, &dyn Fn(&str) -> Affine)) {
    let module = module(body);
    let function = &module.functions[0];
    let p = program(&module, FuncId(0), function);
    let (p, layout) = lay_out(&kernel(&module, &p), p);
    look(&p, &layout, &|name| {
        let reg = function.regs.iter().position(|r| r.name == name).unwrap();
        layout.kept(&RegKey::new(FuncId(0), RegId(reg as u32), 0))
    });
}

#[test]
fn short_code_behind_a_divergent_branch_is_predicated() {
    let kernel = |inside: &str| {
        format!(
            "mov.u32 %r1, %tid.x; mov.u32 %r0, 1; setp.lt.u32 %p, %r1, 5;\n@%p bra on; {inside}\n\
             on: ld.param.u64 %d, [p]; st.global.u32 [%d], %r0;"
        )
    };
    let parts = |p: &Program<'_>| p.regions[0].body.iter().filter(|item| matches!(item, Item::If(_))).count();
    laid_out(&kernel("add.u32 %r0, %r0, %r1;"), |p, layout, _| {
        assert_eq!((parts(p), p.regions.len(), layout.is_divergent(0)), (1, 1, false));
    });
    // it costs more than a split of the warp
    laid_out(&kernel(&"add.u32 %r0, %r0, %r1;\n".repeat(40)), |p, layout, _| {
        assert_eq!((parts(p), p.regions.len()), (0, 3));
        assert_eq!([0, 1, 2].map(|r| layout.is_divergent(r)), [true, true, false]);
    });
    // a uniform branch stays a branch
    let uniform = kernel("add.u32 %r0, %r0, %r1;").replace("%p, %r1, 5", "%p, %r0, 5");
    laid_out(&uniform, |p, _, _| assert_eq!(parts(p), 0));
}

#[test]
fn lanes_that_end_early_and_the_others_are_one_chain() {
    // too long to be predicated
    let long = "mul.lo.u32 %r1, %r1, %r1;\n".repeat(40);
    let body = format!(
        "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; setp.ge.u32 %p, %r1, %r2;\n@%p bra out;\n\
         {long} ld.param.u64 %d, [p]; st.global.u32 [%d], %r1; ret;\nout:"
    );
    laid_out(&body, |p, layout, _| {
        let chain = exit_chain(p, 0);
        assert!(chain.len() == 2 && matches!(p.regions[chain[1]].end, End::Exit), "{chain:?}");
        assert!(!layout.diverges_behind(0));
    });
}

#[test]
fn a_loop_that_lanes_leave_one_by_one_is_found() {
    let body = "mov.u32 %r1, %tid.x;\nhead: sub.u32 %r1, %r1, 1; setp.gt.u32 %p, %r1, 9;\n@%p bra head;\n\
                ld.param.u64 %d, [p]; st.global.u32 [%d], %r1;";
    laid_out(body, |p, layout, _| {
        let found: Vec<_> = (0..p.regions.len()).filter_map(|r| fall_through_loop(p, r)).collect();
        assert_eq!(found.len(), 1);
        let head = found[0][0];
        assert!(layout.diverges_behind(head) && layout.is_divergent(head) && !layout.is_divergent(0));
    });
}

/// `%r5` is what crosses the border of a region; the barrier makes one.
#[test]
fn affine_values_stay_affine_across_regions() {
    let kept = |compute: &str| {
        let body =
            format!("mov.u32 %r1, %tid.x; {compute}\nbar.sync 0;\nld.param.u64 %d, [p]; st.global.u32 [%d], %r5;");
        let module = module(&body);
        let function = &module.functions[0];
        let p = program(&module, FuncId(0), function);
        let (_, layout) = lay_out(&kernel(&module, &p), p);
        let reg = function.regs.iter().position(|r| r.name == "%r5").unwrap();
        layout.kept(&RegKey::new(FuncId(0), RegId(reg as u32), 0))
    };
    let counting = Affine { period: 32, stride: 1, known_align: 5, ..VARYING };
    assert_eq!(kept("mov.u32 %r5, %r1;"), counting);
    assert_eq!(kept("shl.b32 %r5, %r1, 2;"), Affine { stride: 4, known_align: 7, ..counting });
    assert_eq!(kept("shr.u32 %r5, %r1, 5;"), UNIFORM);
    assert_eq!(kept("ld.param.u32 %r5, [n];"), CTA_UNIFORM);
    assert_eq!(kept("mul.lo.u32 %r5, %r1, %r1;"), VARYING);
    // a constant for each lane of a row of 8
    assert!(kept("and.b32 %r5, %r1, 7;").period == 8);
}

#[test]
fn what_fragments_change_is_kept_as_lanes() {
    // the arms are too long to be predicated
    let long = "mul.lo.u32 %r3, %r3, %r1;\n".repeat(40);
    let body = format!(
        "mov.u32 %r1, %tid.x; mov.u32 %r3, %r1; mov.u32 %r5, 1; mov.u32 %r6, 2; setp.lt.u32 %p, %r1, 5;\n@%p bra a;\n\
         {long} mov.u32 %r5, 3; bra on;\na: {long} add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6;\n\
         on: ld.param.u64 %d, [p]; st.global.u32 [%d], %r3; st.global.u32 [%d+4], %r5;"
    );
    laid_out(&body, |_, _, kept| {
        // `%r5` is defined in one arm and read in the other
        assert_eq!(kept("%r5"), VARYING);
        assert!(kept("%r6").is_uniform());
    });
}

/// The graph agrees with the analyses: statements after a trap that is always taken are not a part of the kernel.
#[test]
fn nothing_runs_behind_a_trap() {
    let items = |body: &str| {
        let module = module(body);
        let regions = program(&module, FuncId(0), &module.functions[0]).regions;
        let graph = ptx_dsl_analysis::cfg::Cfg::new(&module.functions[0]);
        let blocks = graph.rpo.iter().map(|b| graph.range(*b).len()).sum::<usize>();
        (regions.iter().map(|r| r.body.len()).sum::<usize>(), blocks)
    };
    // `ret` ends a region; the control-flow graph counts it.
    assert_eq!(items("mov.u32 %r1, 1; trap; mov.u32 %r2, 2; mov.u32 %r3, 3;"), (2, 2));
    assert_eq!(items("setp.eq.u32 %p, %r1, 2; @%p trap; mov.u32 %r2, 2;"), (3, 4));
}
