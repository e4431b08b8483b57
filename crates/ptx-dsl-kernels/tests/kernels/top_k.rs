//! The greatest elements of rows.

use crate::{numbers, on_devices, on_schedules};
use ptx_dsl::Host;
use ptx_dsl::launch::Device;
use ptx_dsl_kernels::{Error, top_k};
use std::cmp::Ordering;

/// Compares with a stable sort of each row, which the standard library does.
fn check(device: &dyn Device, x: &[f32], rows: usize, k: usize) -> Result<(), Error> {
    let columns = x.len() / rows;
    let (mut values, mut indices) = (vec![f32::NAN; rows * k], vec![u32::MAX; rows * k]);
    top_k::top_k(&device, x, &mut values, &mut indices, [rows, columns], k)?;
    for (row, x) in x.chunks(columns).enumerate() {
        let mut order: Vec<usize> = (0..columns).collect();
        // -0 is below 0, as the bits say
        let greater = |a: f32, b: f32| match (a.is_nan(), b.is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => b.total_cmp(&a),
        };
        order.sort_by(|a, b| greater(x[*a], x[*b]));
        let found: Vec<usize> = indices[row * k..][..k].iter().map(|i| *i as usize).collect();
        assert_eq!(found, order[..k], "row {row} of {columns} columns, {k}");
        assert!(values[row * k..][..k].iter().zip(&order).all(|(value, i)| value.to_bits() == x[*i].to_bits()));
    }
    Ok(())
}

#[test]
fn any_length() {
    on_devices(|device| {
        for (rows, columns, k) in [(3, 1000, 64), (2, 513, 1), (1, 7, 7), (2, 1030, 100)] {
            check(device, &numbers(rows * columns, 3), rows, k)?;
        }
        Ok(())
    });
    check(&Host::new(), &numbers(2 * 9000, 4), 2, 1024).expect("a long row");
}

/// Few values, so that columns decide, NaNs of both signs, infinities, and zeros of both signs.
#[test]
fn equal_elements() {
    let special = [1.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, -1.0];
    let x: Vec<f32> = numbers(2 * 700, 5).iter().map(|x| special[(x.abs() * 8.0) as usize % 8]).collect();
    on_devices(|device| [1, 200, 650].iter().try_for_each(|k| check(device, &x, 2, *k)));
    on_devices(|device| check(device, &[2.5; 999], 1, 300));
}

#[test]
fn schedules() {
    let x: Vec<f32> = numbers(601, 6).iter().map(|x| (x * 4.0).round()).collect();
    on_schedules(|device| check(device, &x, 1, 9));
}

#[test]
fn what_does_not_fit() {
    let run = |columns: usize, k: usize| {
        let (x, mut values, mut indices) = (vec![0.0; columns], vec![0.0; k], vec![0; k]);
        top_k::top_k(&Host::new(), &x, &mut values, &mut indices, [1, columns], k).expect_err("no").to_string()
    };
    assert_eq!(run(5, 6), "`k` is 6, but must be from 1 to 1,024, and no more than there are columns");
    assert_eq!(run(2000, 1025), "`k` is 1025, but must be from 1 to 1,024, and no more than there are columns");
    assert_eq!(run(60_000, 1), "`columns` is 60000, but must be up to 55,296");
}
