//! Transposition.

use crate::{numbers, on_devices, on_schedules};
use ptx_dsl::launch::Device;
use ptx_dsl_kernels::{Error, transpose};

fn check(device: &dyn Device, [rows, columns]: [usize; 2]) -> Result<(), Error> {
    let x = numbers(rows * columns, 1);
    let mut y = vec![f32::NAN; x.len()];
    transpose::transpose(&device, &x, &mut y, [rows, columns])?;
    let expected: Vec<f32> = (0..columns).flat_map(|j| x.iter().skip(j).step_by(columns)).copied().collect();
    assert!(y == expected, "{rows} x {columns}");
    Ok(())
}

#[test]
fn any_shape() {
    let shapes = [[1, 1], [4, 4], [64, 64], [68, 132], [200, 4], [3, 5], [33, 70], [128, 30]];
    on_devices(|device| shapes.iter().try_for_each(|shape| check(device, *shape)));
    on_schedules(|device| check(device, [68, 132]));
    on_schedules(|device| check(device, [33, 35]));
}
