//! Attention.

use crate::{numbers, on_devices, on_schedules};
use half::bf16;
use ptx_dsl::Host;
use ptx_dsl::launch::Device;
use ptx_dsl_kernels::Error;
use ptx_dsl_kernels::attention::{self, Shape};

/// The numbers of an attention, in bf16.
fn random(n: usize, seed: u64) -> Vec<bf16> {
    numbers(n, seed).iter().map(|x| bf16::from_f32(2.0 * x)).collect()
}

/// Compares the rows of a head with sums in f64: the error is at most 2^-6 of the weighted mean of the magnitudes of the values. Weights and
/// results in bf16 have 2^-8 of it each.
fn compare([q, k, v, o]: [&[bf16]; 4], dimension: usize, causal: bool, name: &str) {
    let scale = f64::from(1.0 / (dimension as f32).sqrt());
    let rows = |x: &[bf16]| x.chunks(dimension).map(wide).collect::<Vec<_>>();
    let (k, v) = (rows(k), rows(v));
    for (row, (q, o)) in q.chunks(dimension).zip(o.chunks(dimension)).enumerate() {
        let seen = if causal { k.len().min(row + 1) } else { k.len() };
        let scores: Vec<f64> =
            k[..seen].iter().map(|k| wide(q).iter().zip(k).map(|(q, k)| q * k).sum::<f64>() * scale).collect();
        let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - max).exp()).collect();
        let total: f64 = weights.iter().sum();
        for (column, o) in o.iter().enumerate() {
            let terms = weights.iter().zip(&v).map(|(weight, v)| weight / total * v[column]);
            let (exact, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
            let close = (o.to_f64() - exact).abs() <= size / 64.0;
            assert!(close, "{name}, row {row}, column {column}: {o} instead of {exact}");
        }
    }
}

fn check(device: &dyn Device, shape: Shape) -> Result<(), Error> {
    let Shape { heads, queries, keys, dimension, causal } = shape;
    let (rows, columns) = (heads * queries * dimension, heads * keys * dimension);
    let (q, k, v) = (random(rows, 1), random(columns, 2), random(columns, 3));
    let mut o = vec![bf16::NAN; rows];
    attention::attention_bf16(&device, &q, &k, &v, &mut o, shape, 1.0 / (dimension as f32).sqrt())?;
    for head in 0..heads {
        let [q, o] = [&q, &o].map(|x| &x[head * queries * dimension..][..queries * dimension]);
        let [k, v] = [&k, &v].map(|x| &x[head * keys * dimension..][..keys * dimension]);
        compare([q, k, v, o], dimension, causal, &format!("{shape:?}, head {head}"));
    }
    Ok(())
}

fn check_lengths(
    device: &dyn Device,
    lengths: &[usize],
    heads: usize,
    dimension: usize,
    causal: bool,
) -> Result<(), Error> {
    let starts: Vec<u32> = (0..=lengths.len()).map(|i| lengths[..i].iter().sum::<usize>() as u32).collect();
    let total = lengths.iter().sum::<usize>();
    let [q, k, v] = [1, 2, 3].map(|seed| random(heads * total * dimension, seed));
    let mut o = vec![bf16::NAN; q.len()];
    let scale = 1.0 / (dimension as f32).sqrt();
    attention::attention_lengths_bf16(&device, &q, &k, &v, &mut o, &starts, [heads, dimension], causal, scale)?;
    for head in 0..heads {
        for (start, length) in starts.iter().zip(lengths) {
            let rows = |x| -> &[bf16] {
                let x: &Vec<bf16> = x;
                &x[(head * total + *start as usize) * dimension..][..length * dimension]
            };
            compare(
                [&q, &k, &v, &o].map(rows),
                dimension,
                causal,
                &format!("{lengths:?}, {causal}, head {head}, from {start}"),
            );
        }
    }
    Ok(())
}

fn wide(x: &[bf16]) -> Vec<f64> {
    x.iter().map(|x| x.to_f64()).collect()
}

#[test]
fn every_instance() {
    on_devices(|device| {
        for dimension in [64, 128] {
            check(device, Shape { heads: 1, queries: 136, keys: 424, dimension, causal: false })?;
            check(device, Shape { heads: 2, queries: 200, keys: 200, dimension, causal: true })?;
        }
        // rows that see more keys than there are, and keys that no row sees
        check(device, Shape { heads: 1, queries: 150, keys: 100, dimension: 64, causal: true })?;
        check(device, Shape { heads: 1, queries: 100, keys: 150, dimension: 64, causal: true })
    });
}

/// Sequences of less than a warpgroup's rows, of none, and of several tiles.
#[test]
fn several_lengths() {
    on_devices(|device| {
        for causal in [false, true] {
            check_lengths(device, &[5, 0, 200, 67], 2, 64, causal)?;
            check_lengths(device, &[130, 1, 64], 1, 128, causal)?;
        }
        Ok(())
    });
    let wrong =
        attention::attention_lengths_bf16(&Host::new(), &[], &[], &[], &mut [], &[0, 5, 3], [1, 64], false, 1.0);
    assert_eq!(wrong.unwrap_err().to_string(), "`starts` is 3, but must be ascending numbers from 0");
}

/// Every instance.
#[test]
fn schedules() {
    for dimension in [64, 128] {
        for causal in [false, true] {
            on_schedules(|device| check(device, Shape { heads: 1, queries: 70, keys: 136, dimension, causal }));
            on_schedules(|device| check_lengths(device, &[9, 40], 1, dimension, causal));
        }
    }
}
