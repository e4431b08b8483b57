//! Prefix sums.

use crate::{numbers, on_devices, on_schedules};
use ptx_dsl::launch::Device;
use ptx_dsl_kernels::{Error, scan};
use ptx_dsl_test_support::random::Random;

fn check_u32(device: &dyn Device, n: usize) -> Result<(), Error> {
    let mut random = Random::new(n as u64);
    let x: Vec<u32> = (0..n).map(|_| random.word()).collect();
    let mut y = vec![0; n];
    scan::scan_u32(&device, &x, &mut y)?;
    let expected = x.iter().scan(0u32, |sum, x| {
        *sum = sum.wrapping_add(*x);
        Some(*sum)
    });
    assert!(expected.eq(y.iter().copied()), "{n}");
    Ok(())
}

fn check_f32(device: &dyn Device, n: usize) -> Result<(), Error> {
    let x = numbers(n, 9);
    let mut y = vec![f32::NAN; n];
    scan::scan_f32(&device, &x, &mut y)?;
    let (mut sum, mut size) = (0.0, 0.0);
    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
        sum += f64::from(*x);
        size += f64::from(x.abs());
        let error = (f64::from(*y) - sum).abs();
        assert!(error <= size * f64::from(f32::EPSILON) * 32.0, "element {i}: {y} instead of {sum}");
    }
    Ok(())
}

#[test]
fn any_length() {
    on_devices(|device| [0, 1, 5, 16_383, 16_384, 16_385, 700_001].iter().try_for_each(|n| check_u32(device, *n)));
    on_devices(|device| check_f32(device, 50_001));
}

#[test]
fn schedules() {
    on_schedules(|device| check_u32(device, 3 * 16_384 + 5));
}
