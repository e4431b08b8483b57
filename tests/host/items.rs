//! The Rust items of a module: their names, their texts, and what the names leave free.

use ptx_dsl::prelude::*;

mod kernels {
    // no prelude: the macro imports what the kernels' methods need
    use ptx_dsl::ptx;

    ptx! {
        <sm_90, ptx 8.0>
        .global .align 4 .b32 total = 1;
        .const .f64 factor = 1.5;
        .func (.reg .f64 %r) scaled(.reg .f64 %x) {
            .reg .f64 %f;
            ld.const.f64 %f, [factor];
            mul.f64 %r, %x, %f;
            ret;
        }
        .visible .entry scale(.param .u64 .ptr .global .align 8 x: &mut [f64]) {
            .reg .f64 %v;
            .reg .b64 %x;
            ld.param.u64 %x, [x];
            ld.global.f64 %v, [%x];
            call (%v), scaled, (%v);
            add.f64 %v, %v, 0.25e+1;
            sub.f64 %v, %v, 0d3FF0000000000000;
            st.global.f64 [%x], %v;
            ret;
        }
        .visible .entry count(.param .u64 .ptr .global .align 4 x) {
            .reg .b32 %v;
            .reg .b64 %x;
            ld.param.u64 %x, [x];
            ld.global.b32 %v, [total];
            add.u32 %v, %v, 0xaB;
            st.global.b32 [%x], %v;
            ret;
        }
    }

    /// The names of kernels are free for variables, also in patterns.
    pub fn run() -> (f64, u32) {
        let (mut x, mut n) = ([3.0], [0]);
        scale.launch(&ptx_dsl::Host::new(), ptx_dsl::Launch::grid(1), (&mut x,)).unwrap();
        scale.on(&ptx_dsl::Host::new(), ptx_dsl::Launch::grid(1))(&mut x).unwrap();
        count.launch(&ptx_dsl::Host::new(), ptx_dsl::Launch::grid(1), (&mut n,)).unwrap();
        let scale = x[0];
        let [count] = n;
        (scale, count)
    }
}

#[test]
fn names_of_kernels_are_free_for_variables() {
    assert_eq!(kernels::run(), ((3.0 * 1.5 + 1.5) * 1.5 + 1.5, 0xac));
    for scale in [2.0, 3.0] {
        assert!(scale > 1.0);
    }
    let closure = |(scale, count): (f32, u32)| scale as u32 + count;
    assert_eq!(closure((2.0, 3)), 5);
}

#[test]
fn kernels_of_other_modules_are_called_by_path_or_by_import() {
    use kernels::count;
    let (host, launch) = (Host::new(), Launch::grid(1));
    let (mut a, mut b, mut c) = (vec![0u32], [0u32; 2], [1.0; 3]);
    kernels::count.launch(&host, launch.clone(), (&mut a,)).unwrap();
    count.launch(&host, launch.clone(), (&mut b[1..],)).unwrap();
    kernels::scale.launch(&host, launch.clone(), (&mut c[1..],)).unwrap();
    assert_eq!((a[0], b, c), (0xac, [0, 0xac], [1.0, 3.0, 1.0]));
    // what the function returns has the same methods without a trait
    kernels::scale().on(&host, launch.clone())(&mut c).unwrap();
    assert_eq!(c, [3.0, 3.0, 1.0]);
    let kernel = kernels::scale;
    kernel.launch_raw(&host, launch, &mut [(&mut c).into()]).unwrap();
    assert_eq!((c[0], kernel.name(), kernel.ptx()), (6.0, "scale", kernels::scale::PTX));
}

#[test]
fn a_text_has_the_numbers_as_written_and_a_kernel_can_stand_alone() {
    use kernels::{count, scale};
    assert_eq!(scale::PTX, count::PTX);
    for number in ["factor = 1.5;", "0.25e+1", "0d3FF0000000000000", "0xaB"] {
        assert!(scale::PTX.contains(number), "{number}: {}", scale::PTX);
    }
    let parts = |text: &str| ["total", "factor", "scaled", "scale(", "count("].map(|part| text.contains(part));
    assert_eq!(parts(scale::PTX), [true; 5]);
    assert_eq!(parts(scale::ENTRY_PTX), [false, true, true, true, false], "{}", scale::ENTRY_PTX);
    assert_eq!(parts(count.entry_ptx()), [true, false, false, false, true], "{}", count::ENTRY_PTX);
    let texts = [scale::ENTRY_PTX, count::ENTRY_PTX, scale::PTX].map(|text| ("items".to_owned(), text.to_owned()));
    let Some(verdicts) = crate::ptxas::assemble_all(&texts) else { return };
    assert_eq!(verdicts, [Ok(()), Ok(()), Ok(())]);
}
