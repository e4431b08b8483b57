//! Softmax and normalisation of rows.

use crate::{numbers, on_devices, on_schedules};
use ptx_dsl::launch::Device;
use ptx_dsl_kernels::{Error, rms_norm, softmax};

/// Shapes for each instance: short rows of both widths, rows of a CTA, of a large CTA, and rows that are read twice.
const SHAPES: [[usize; 2]; 9] =
    [[1, 1], [9, 100], [9, 101], [2, 1028], [3, 8192], [2, 257], [1, 20_000], [1, 2051], [1, 8193]];

fn softmax(device: &dyn Device, [rows, columns]: [usize; 2]) -> Result<(), Error> {
    let x: Vec<f32> = numbers(rows * columns, columns as u64).iter().map(|x| 8.0 * x).collect();
    let mut y = vec![f32::NAN; x.len()];
    softmax::softmax(&device, &x, &mut y, [rows, columns])?;
    for (x, y) in x.chunks(columns).zip(y.chunks(columns)) {
        let max = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weights: Vec<f64> = x.iter().map(|x| f64::from(x - max).exp()).collect();
        let sum: f64 = weights.iter().sum();
        for (column, (weight, y)) in weights.iter().zip(y).enumerate() {
            let exact = weight / sum;
            let error = (f64::from(*y) - exact).abs();
            assert!(
                error <= exact * (2f64.powi(-18) + 16.0 * 2f64.powi(-22)),
                "column {column}: {y} instead of {exact}"
            );
        }
    }
    Ok(())
}

fn rms_norm(device: &dyn Device, [rows, columns]: [usize; 2]) -> Result<(), Error> {
    let (x, weights) = (numbers(rows * columns, 5), numbers(columns, 6));
    let mut y = vec![f32::NAN; x.len()];
    rms_norm::rms_norm(&device, &x, &weights, &mut y, [rows, columns], 1e-6)?;
    for (x, y) in x.chunks(columns).zip(y.chunks(columns)) {
        let mean = x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / columns as f64;
        let scale = 1.0 / (mean + 1e-6).sqrt();
        for (column, (y, (x, weight))) in y.iter().zip(x.iter().zip(&weights)).enumerate() {
            let exact = f64::from(*x) * scale * f64::from(*weight);
            assert!(
                (f64::from(*y) - exact).abs() <= exact.abs() * 2f64.powi(-20),
                "column {column}: {y} instead of {exact}"
            );
        }
    }
    Ok(())
}

#[test]
fn softmax_of_every_instance() {
    on_devices(|device| SHAPES.iter().try_for_each(|shape| softmax(device, *shape)));
    on_schedules(|device| softmax(device, [3, 1028]));
}

#[test]
fn rms_norm_of_every_instance() {
    on_devices(|device| SHAPES.iter().try_for_each(|shape| rms_norm(device, *shape)));
    on_schedules(|device| rms_norm(device, [3, 1028]));
}

#[test]
fn very_long_rows() {
    on_devices(|device| {
        softmax(device, [2, 33_000])?;
        rms_norm(device, [2, 33_000])
    });
}

#[test]
fn infinities() {
    on_devices(|device| {
        let mut x = [f32::NEG_INFINITY; 8];
        x[2] = 1.0;
        let mut y = [f32::NAN; 8];
        softmax::softmax(&device, &x, &mut y, [1, 8])?;
        assert_eq!(y, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let mut x = vec![f32::NEG_INFINITY; 8193];
        x[5000] = 1.0;
        let mut y = vec![f32::NAN; 8193];
        softmax::softmax(&device, &x, &mut y, [1, 8193])?;
        assert!(y.iter().enumerate().all(|(i, y)| *y == f32::from(u8::from(i == 5000))));
        Ok(())
    });
}

#[test]
fn wrong_lengths() {
    let error = softmax::softmax(&ptx_dsl::Host::new(), &[0.0; 7], &mut [0.0; 8], [2, 4]).unwrap_err();
    assert_eq!(error.to_string(), "`x` has 7 elements instead of 8");
}
