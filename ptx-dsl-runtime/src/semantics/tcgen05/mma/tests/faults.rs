//! Errors that must be reported: fields and addresses that have no meaning, and features that the host does not have yet.

use super::*;

/// Operands of a plain f16 multiplication, M = 128, N = 64.
pub(super) fn operands(idesc: u32) -> Vec<u64> {
    let shared = 1 << 16 | 64 << 32 | 1 << 46 | 2 << 61;
    vec![0, shared, shared | 0x1000, idesc.into(), 1]
}

pub(super) const F16: u32 = 1 << 4 | 8 << 17 | 8 << 24;

fn refused(flags: &[Qualifier], sparse: bool, ws: bool, s: &[u64]) -> FaultKind {
    Multiply::new(Q::new(flags, &[]), sparse, ws, Generation::Sm107, s).expect_err("a fault")
}

/// The fault of a job that runs on a CTA with all of its Tensor Memory.
fn run(flags: &[Qualifier], s: &[u64], allocated: usize) -> Result<(), FaultKind> {
    let job = Multiply::new(Q::new(flags, &[]), false, false, Generation::Sm107, s)?;
    let mut tmem = Tmem::default();
    tmem.set_allocated(0..allocated, true);
    job.run(&mut [TensorCta { tmem: &mut tmem, shared: &[0; 0x20000] }])
}

#[test]
fn the_plain_one_passes() {
    assert_eq!(run(&[q::kind_f16], &operands(F16), 64), Ok(()));
}

#[test]
fn fields_of_instruction_descriptors() {
    let field = |flags: &[Qualifier], idesc: u32, name: &str| match refused(flags, false, false, &operands(idesc)) {
        FaultKind::Descriptor { field, .. } => assert!(field.starts_with(name), "{field}, not {name}"),
        other => panic!("{other:?}, not {name}"),
    };
    let (f16, tf32, i8, f8) = (&[q::kind_f16][..], &[q::kind_tf32][..], &[q::kind_i8][..], &[q::kind_f8f6f4][..]);
    field(f16, F16 | 1, "sparsity selector");
    field(f16, F16 | 4, "sparsity (");
    field(f16, F16 | 8, "saturate");
    field(f16, F16 | 2 << 4, "type of D");
    field(f16, F16 & !(1 << 4) | 1 << 7 | 1 << 10, "type of D");
    field(f16, F16 | 1 << 6, "reserved bit 6");
    field(f16, F16 | 2 << 7, "type of A");
    field(f16, F16 | 7 << 10, "type of B");
    field(f16, F16 | 1 << 23, "reserved bit 23");
    field(f16, F16 & !(63 << 17), "N");
    field(f16, F16 | 63 << 17, "N");
    field(f16, F16 & !(31 << 24) | 2 << 24, "M");
    field(f16, F16 | 31 << 24, "M");
    field(f16, F16 | 1 << 30, "maximum shift");
    field(&[q::kind_f16, q::cta_group_2], F16 & !(63 << 17) | 1 << 17, "N");
    field(&[q::kind_f16, q::cta_group_2], F16 & !(31 << 24) | 4 << 24, "M");
    field(tf32, F16, "type of A");
    field(tf32, F16 & !(3 << 4) | 2 << 7 | 2 << 10, "type of D");
    field(i8, F16 | 2 << 4, "type of D");
    field(i8, F16 & !(3 << 4) | 2 << 4 | 1 << 13, "negate");
    field(i8, F16 & !(3 << 4) & !(63 << 17) | 2 << 4 | 5 << 17, "N");
    field(f8, F16 | 2 << 7, "type of A");
    field(f8, F16 | 5 << 7 | 1 << 15, "transpose A");
    // N of a transposed 8-bit B goes in steps of 16
    field(f8, F16 & !(63 << 17) | 1 << 16 | 1 << 17, "N");
}

#[test]
fn fields_of_block_scaled_descriptors() {
    let field = |kind: Qualifier, vector: Qualifier, idesc: u32, name: &str| {
        let mut s = operands(idesc);
        s.splice(4..4, [0, 8]);
        match refused(&[kind, vector], false, false, &s) {
            FaultKind::Descriptor { field, .. } => assert!(field.starts_with(name), "{field}, not {name}"),
            other => panic!("{other:?}, not {name}"),
        }
    };
    let mx8 = 8 << 17 | 1 << 23 | 1 << 27;
    let mx4 = mx8 | 1 << 7 | 1 << 10;
    field(q::kind_mxf8f6f4, q::block32, mx8 | 1, "reserved bits 0-1");
    field(q::kind_mxf8f6f4, q::block32, mx8 | 8, "reserved bit 3");
    field(q::kind_mxf8f6f4, q::block32, mx8 & !(1 << 23), "type of the scale factors");
    field(q::kind_mxf8f6f4, q::block32, mx8 & !(1 << 27), "M");
    field(q::kind_mxf4, q::block32, mx8, "type of A");
    field(q::kind_mxf4, q::block32, mx4 | 1 << 4, "scale factor B ID");
    field(q::kind_mxf4, q::block32, mx4 | 1 << 29, "scale factor A ID");
    field(q::kind_mxf4nvf4, q::block16, mx4 | 2 << 29, "scale factor A ID");
    field(q::kind_mxf4nvf4, q::block32, mx4 | 3 << 23, "type of the scale factors");
    field(q::kind_mxf4, q::block32, mx4 | 1 << 15, "transpose A");
}

#[test]
fn swizzles_that_do_not_fit_the_type() {
    let mut s = operands(F16 | 1 << 15);
    s[1] = s[1] & !(7 << 61) | 1 << 61;
    let FaultKind::Descriptor { field, .. } = refused(&[q::kind_f16], false, false, &s) else { panic!() };
    assert!(field.starts_with("swizzling mode"));
    let s = operands(F16 | 2 << 7 | 2 << 10 | 1 << 16);
    let FaultKind::Descriptor { field, .. } = refused(&[q::kind_tf32], false, false, &s) else { panic!() };
    assert!(field.starts_with("swizzling mode"));
}

#[test]
fn addresses() {
    let wrong_lane = |s: &[u64], flags: &[Qualifier]| {
        assert!(matches!(refused(flags, false, false, s), FaultKind::TensorMemory { .. }), "{s:x?}");
    };
    let mut s = operands(F16);
    s[0] = 16 << 16;
    wrong_lane(&s, &[q::kind_f16]);
    let mut s = operands(F16);
    s[1] = 32 << 16;
    wrong_lane(&s, &[q::kind_f16, q::a_tmem]);
    // D reaches past the columns that are allocated
    let past = run(&[q::kind_f16], &operands(F16), 32);
    assert!(matches!(past, Err(FaultKind::TensorMemory { .. })), "{past:?}");
    let mut s = operands(F16);
    s[2] = s[2] & !0x3fff | 0x1ff0;
    let outside = run(&[q::kind_f16], &s, 64);
    assert!(matches!(outside, Err(FaultKind::OutOfBounds { space: "shared", .. })), "{outside:?}");
}

#[test]
fn what_is_not_there_yet_says_so() {
    let ti16 = 8 << 17 | 8 << 24 | 2 << 4 | 3 << 7 | 3 << 10;
    for (flags, sparse, idesc, what) in [
        (&[q::kind_ti16][..], false, ti16 | 1 << 15, "transposed matrices of `.kind::ti16`"),
        (&[q::kind_f16], true, F16 | 4 | 2, "sparsity selector 2"),
        (&[q::kind_f16], true, F16 | 4 | 3, "sparsity selector 3"),
        (&[q::kind_f8f6f4], false, F16 | 5 << 7 | 1 << 29, "K = 64 with elements of less than 8 bits"),
        (&[q::kind_f16, q::ashift, q::a_tmem, q::cta_group_2], true, F16 | 4, "`.ashift` of a sparse A"),
    ] {
        let mut s = operands(idesc);
        if flags.contains(&q::a_tmem) {
            s[1] = 0;
        }
        if sparse {
            s.insert(3, 0);
        }
        let FaultKind::NotYet { what: said } = refused(flags, sparse, false, &s) else { panic!("{what}") };
        assert!(said.contains(what), "{said}, not {what}");
    }
}

/// The fault of a descriptor names the field.
fn field(flags: &[Qualifier], target: Generation, s: &[u64], name: &str) {
    match Multiply::new(Q::new(flags, &[]), false, false, target, s) {
        Err(FaultKind::Descriptor { field, .. }) => assert!(field.starts_with(name), "{field}, not {name}"),
        other => panic!("{other:?}, not {name}"),
    }
}

#[test]
fn what_other_targets_have() {
    use Generation::*;
    let mx4 = 8 << 17 | 1 << 23 | 1 << 27 | 1 << 7 | 1 << 10;
    let scaled = |idesc: u32| {
        let mut s = operands(idesc);
        s.splice(4..4, [0, 8]);
        s
    };
    for (flags, target, idesc, name) in [
        (&[q::kind_mxf4][..], Sm100, mx4 | 1 << 31, "K (bits 3 and 31)"),
        (&[q::kind_mxf4], Sm103, mx4 | 1 << 3, "K (bits 3 and 31)"),
        (&[q::kind_mxf4], Sm107, mx4 | 1 << 3 | 1 << 31, "K (bits 3 and 31)"),
        (&[q::kind_mxf4], Sm103, mx4 | 1 << 12, "sparsity version"),
        (&[q::kind_mxf4], Sm103, mx4 | 1 << 26, "layout of the scale factors"),
        (&[q::kind_mxf4nvf4, q::block16], Sm103, mx4 & !(1 << 23) | 2 << 23, "type of the scale factors"),
        (&[q::kind_mxf4nvf4, q::block32], Sm103, mx4 & !(1 << 23), "type of the scale factors"),
        (&[q::kind_mxf4], Sm107, mx4 | 1 << 25, "reserved bit 25"),
        (&[q::kind_mxf4], Sm107, mx4 | 1 << 3 | 1 << 4, "scale factor B ID"),
        (&[q::kind_mxf4nvf4, q::block16], Sm103, mx4 | 1 << 31 | 1 << 29, "scale factor A ID"),
        (&[q::kind_mxf8f6f4], Sm100, mx4 & !(1 << 7 | 1 << 10) | 1 << 31, "K (bit 31)"),
    ] {
        field(flags, target, &scaled(idesc), name);
    }
    field(&[q::kind_f8f6f4], Sm103, &operands(F16 | 1 << 29), "K (bit 29)");
    field(&[q::kind_f16], Sm107, &operands(F16 | 1 << 29), "K (bit 29)");
}

#[test]
fn absolute_addresses_that_do_not_fit() {
    use Generation::*;
    let mx4 = 8 << 17 | 1 << 23 | 1 << 27 | 1 << 7 | 1 << 10 | 1 << 31;
    let with = |idesc: u32, change: &dyn Fn(&mut u64)| {
        let mut s = operands(idesc);
        s.splice(4..4, [0, 8]);
        s[1] = s[1] & !(0x7fff << 16) | 1 << 52 | 0x40 << 16;
        change(&mut s[1]);
        s
    };
    let fine = with(mx4, &|_| ());
    assert!(Multiply::new(Q::new(&[q::kind_mxf4], &[]), false, false, Sm103, &fine).is_ok());
    let name = "leading dimension stride mode";
    field(&[q::kind_mxf4], Sm103, &with(mx4 & !(1 << 31), &|_| ()), name);
    field(&[q::kind_mxf4], Sm103, &with(mx4, &|a| *a |= 1 << 16), name);
    field(&[q::kind_mxf4], Sm103, &with(mx4, &|a| *a = *a & !(7 << 61) | 4 << 61), name);
    let mut s = operands(F16);
    s[1] |= 1 << 52;
    field(&[q::kind_f16], Sm100, &s, name);
    field(&[q::kind_f16], Sm103, &s, name);
}

#[test]
fn compressed_columns_that_do_not_fit() {
    use Generation::*;
    let lut = &[q::kind_f8f6f4, q::decompress_lut_b][..];
    let with = |idesc: u32| {
        let mut s = operands(idesc);
        s.insert(3, 0);
        s
    };
    field(lut, Sm107, &with(F16), "K (bit 29)");
    field(lut, Sm107, &with(F16 | 1 << 29 | 1 << 10), "type of B");
    field(lut, Sm107, &with(F16 | 1 << 29 | 1 << 16), "transpose B");
    let mut s = with(F16 | 1 << 29);
    s[3] = 1;
    assert!(matches!(refused(lut, false, false, &s), FaultKind::TensorMemory { .. }));
    // no other operand has the bit that chooses the half
    let mut s = operands(F16);
    s[2] |= 1 << 53;
    field(&[q::kind_f16], Sm107, &s, "fixed constant (bits 53-60)");
}

#[test]
fn shifts_and_metadata_that_do_not_fit() {
    let mut s = operands(F16 & !(31 << 24) | 4 << 24);
    s[1] = 0;
    field(&[q::kind_f16, q::ashift, q::a_tmem], Generation::Sm100, &s, "M");
    // D at lane 16, the metadata at lane 0
    let mut s = operands(F16 & !(31 << 24) | 4 << 24 | 4);
    s[0] = 16 << 16;
    s.insert(3, 0);
    assert!(matches!(refused(&[q::kind_f16], true, false, &s), FaultKind::TensorMemory { .. }));
}

#[test]
fn bits_of_ti16_that_must_be_zero() {
    let idesc = 8 << 17 | 8 << 24 | 2 << 4 | 3 << 7 | 3 << 10;
    let job = Multiply::new(Q::new(&[q::kind_ti16], &[]), false, false, Generation::Sm107, &operands(idesc));
    let job = job.expect("a job");
    let mut tmem = Tmem::default();
    tmem.set_allocated(0..512, true);
    let mut shared = vec![0; 0x20000];
    assert_eq!(job.run(&mut [TensorCta { tmem: &mut tmem, shared: &shared }]), Ok(()));
    shared[1] = 0x08;
    let wrong = job.run(&mut [TensorCta { tmem: &mut tmem, shared: &shared }]);
    assert!(matches!(wrong, Err(FaultKind::Undefined { section: "9.7.16.2.2", .. })), "{wrong:?}");
}

#[test]
fn metadata_and_copies_of_scale_factors() {
    let mut s = operands(F16 | 4);
    s.insert(3, 0);
    let job = Multiply::new(Q::new(&[q::kind_f16], &[]), true, false, Generation::Sm100, &s).expect("a job");
    let mut tmem = Tmem::default();
    tmem.set_allocated(0..512, true);
    let shared = vec![0; 0x20000];
    let zeros = job.run(&mut [TensorCta { tmem: &mut tmem, shared: &shared }]);
    assert!(matches!(zeros, Err(FaultKind::Undefined { section: "9.7.16.10.8", .. })), "{zeros:?}");

    let mut s = operands(8 << 17 | 1 << 23 | 1 << 27);
    s.splice(4..4, [128, 136]);
    let job = Multiply::new(Q::new(&[q::kind_mxf8f6f4], &[]), false, false, Generation::Sm100, &s).expect("a job");
    tmem.lane_mut(40)[137] = 1;
    let differ = job.run(&mut [TensorCta { tmem: &mut tmem, shared: &shared }]);
    assert!(matches!(differ, Err(FaultKind::Undefined { section: "9.7.16.10.7", .. })), "{differ:?}");
}
