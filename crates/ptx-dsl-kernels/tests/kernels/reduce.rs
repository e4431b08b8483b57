//! Sum, maximum and minimum.

use crate::{numbers, on_devices, on_schedules};
use ptx_dsl::launch::Device;
use ptx_dsl_kernels::{Error, reduce};

fn check(device: &dyn Device, n: usize) -> Result<(), Error> {
    let x = numbers(n, n as u64);
    let mut result = [f32::NAN];
    reduce::sum(&device, &x, &mut result)?;
    let (sum, size) = x.iter().fold((0.0, 0.0), |(sum, size), x| (sum + f64::from(*x), size + f64::from(x.abs())));
    let error = (f64::from(result[0]) - sum).abs();
    assert!(error <= size * f64::from(f32::EPSILON) * 32.0, "{n}: {} instead of {sum}", result[0]);
    reduce::max(&device, &x, &mut result)?;
    assert_eq!(result[0], x.iter().copied().fold(f32::NEG_INFINITY, f32::max), "{n}");
    reduce::min(&device, &x, &mut result)?;
    assert_eq!(result[0], x.iter().copied().fold(f32::INFINITY, f32::min), "{n}");
    Ok(())
}

#[test]
fn any_length() {
    on_devices(|device| [0, 1, 3, 4, 513, 8191, 8192, 8193, 20_001, 40_000].iter().try_for_each(|n| check(device, *n)));
}

#[test]
fn more_tiles_than_ctas() {
    let n = 530 * 8192 + 77;
    let x = vec![1.0; n];
    let mut result = [f32::NAN];
    reduce::sum(&ptx_dsl::Host::new(), &x, &mut result).expect("a launch");
    // every partial result is a small whole number, and so is their sum: below 2^24
    assert_eq!(result[0], n as f32);
}

#[test]
fn a_nan_wins() {
    on_devices(|device| {
        let mut x = numbers(9000, 3);
        x[8500] = f32::NAN;
        let mut result = [0.0];
        reduce::max(&device, &x, &mut result)?;
        assert!(result[0].is_nan());
        reduce::min(&device, &x, &mut result)?;
        assert!(result[0].is_nan());
        Ok(())
    });
}

#[test]
fn schedules() {
    on_schedules(|device| check(device, 20_001));
}
