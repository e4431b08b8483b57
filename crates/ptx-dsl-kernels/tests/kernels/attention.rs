//! Attention.

use crate::{numbers, on_hosts, on_schedules};
use half::bf16;
use ptx_dsl::launch::Device;
use ptx_dsl_kernels::Error;
use ptx_dsl_kernels::attention::{self, Shape};

/// Compares with sums in f64: the error is at most 2^-6 of the weighted mean of the magnitudes of the values. Weights and results in bf16
/// have 2^-8 of it each.
fn check(device: &dyn Device, shape: Shape) -> Result<(), Error> {
    let Shape { heads, queries, keys, dimension, causal } = shape;
    let random = |rows, seed| {
        numbers(heads * rows * dimension, seed).iter().map(|x| bf16::from_f32(2.0 * x)).collect::<Vec<_>>()
    };
    let (q, k, v) = (random(queries, 1), random(keys, 2), random(keys, 3));
    let scale = 1.0 / (dimension as f32).sqrt();
    let mut o = vec![bf16::NAN; q.len()];
    attention::attention_bf16(&device, &q, &k, &v, &mut o, shape, scale)?;
    for (at, (q, o)) in q.chunks(dimension).zip(o.chunks(dimension)).enumerate() {
        let (head, row) = (at / queries, at % queries);
        let seen = if causal { keys.min(row + 1) } else { keys };
        let rows = |x: &[bf16]| x[head * keys * dimension..].chunks(dimension).take(seen).map(wide).collect::<Vec<_>>();
        let (k, v) = (rows(&k), rows(&v));
        let scores: Vec<f64> =
            k.iter().map(|k| wide(q).iter().zip(k).map(|(q, k)| q * k).sum::<f64>() * f64::from(scale)).collect();
        let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - max).exp()).collect();
        let total: f64 = weights.iter().sum();
        for (column, o) in o.iter().enumerate() {
            let terms = weights.iter().zip(&v).map(|(weight, v)| weight / total * v[column]);
            let (exact, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
            assert!(
                (o.to_f64() - exact).abs() <= size / 64.0,
                "{shape:?}, head {head}, row {row}, column {column}: {o} instead of {exact}"
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
    on_hosts(|device| {
        for dimension in [64, 128] {
            check(device, Shape { heads: 1, queries: 136, keys: 424, dimension, causal: false })?;
            check(device, Shape { heads: 2, queries: 200, keys: 200, dimension, causal: true })?;
        }
        // rows that see more keys than there are, and keys that no row sees
        check(device, Shape { heads: 1, queries: 150, keys: 100, dimension: 64, causal: true })?;
        check(device, Shape { heads: 1, queries: 100, keys: 150, dimension: 64, causal: true })
    });
}

#[test]
fn schedules() {
    on_schedules(|device| check(device, Shape { heads: 1, queries: 40, keys: 296, dimension: 64, causal: false }));
}
