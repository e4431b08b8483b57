//! Sums of a tensor core, computed by hand: all products and D are aligned to the greatest, cut 25 bits below, and added at once.

use super::*;

#[test]
fn the_accumulator_is_one_of_the_terms() {
    let [one, half, large] = [0x3c00, 0x3800, 0x6c00];
    // 2^24 and fifteen times 1/2
    let mut a = vec![vec![half; 16]; 128];
    let mut b = vec![vec![one; 16]; 8];
    a.iter_mut().chain(&mut b).for_each(|line| line[0] = large);
    let mut memory = vec![0; MEMORY];
    let a = store(&mut memory, Place { start: A_START, ..place(0, false) }, &a, Format::F16, false);
    let b = store(&mut memory, Place { start: B_START, ..place(0, false) }, &b, Format::F16, false);
    let set = crate::numerics::simd::best(true);
    for (exact, d, expected) in [
        (Some(set), None, 16_777_222.0),
        (None, None, 16_777_216.0),
        (Some(set), Some(-16_777_216.0), 7.5),
        (None, Some(-16_777_216.0), 0.0),
        // the products are cut to multiples of 2, one by one
        (Some(set), Some(67_108_864.0), 83_886_080.0),
        (Some(set), Some(-67_108_864.0), -50_331_648.0),
    ] {
        let mut tmem = Tmem::default();
        tmem.set_allocated(0..512, true);
        (0..128).for_each(|lane| tmem.lane_mut(lane)[D_COLUMN..D_COLUMN + 8].fill(d.unwrap_or(f32::NAN).to_bits()));
        let descriptor = Case::f16(128, 8).descriptor();
        let s = [D_COLUMN as u64, a, b, descriptor.into(), d.is_some().into()];
        let flags = Q::new(&[q::kind_f16, q::cta_group_1], &[]);
        let job = Multiply::new(flags, false, false, Generation::Sm100, &s).unwrap();
        Multiply { exact, ..job }.run(&mut [TensorCta { tmem: &mut tmem, shared: &memory }]).unwrap();
        for lane in 0..128 {
            for word in &tmem.lane(lane)[D_COLUMN..D_COLUMN + 8] {
                assert_eq!(f32::from_bits(*word), expected, "lane {lane}, D was {d:?}, {exact:?}");
            }
        }
    }
}
