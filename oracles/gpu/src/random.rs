//! Random kernels: a GPU, a host and plain Rust leave the same bytes.

use crate::table::Verdict;
use ptx_dsl::agree::Agreement;
use ptx_dsl::cuda::Gpu;
use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};
use std::path::Path;

/// Runs the kernel of a line of `kernels.txt`.
pub fn run(folder: &Path, line: &str, gpu: &Gpu) -> Vec<(String, Verdict)> {
    let name = line.split(' ').next().unwrap_or_default().to_owned();
    vec![(name, one(folder, line, gpu).unwrap_or_else(Verdict::Differs))]
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// A tensor of `table`, as `random_kernels/main.txt` has them.
fn map(table: &[u32], which: usize) -> Option<TensorMap<'_>> {
    type Shape = (&'static [u64], &'static [u32], &'static [u32], Swizzle);
    let tensors: [Shape; 8] = [
        (&[64], &[16], &[1], Swizzle::None),
        (&[16, 4], &[4, 4], &[1, 1], Swizzle::None),
        (&[16, 4], &[8, 4], &[1, 1], Swizzle::B32),
        (&[16, 4], &[16, 3], &[1, 1], Swizzle::B64),
        (&[32, 2], &[32, 3], &[1, 1], Swizzle::B128),
        (&[8, 8], &[8, 6], &[1, 2], Swizzle::B32),
        (&[8, 2, 4], &[4, 2, 3], &[1, 1, 1], Swizzle::None),
        (&[4, 2, 2, 4], &[4, 2, 1, 3], &[1, 1, 1, 2], Swizzle::None),
    ];
    let (dims, boxed, steps, swizzle) = tensors.get(which)?;
    let map = TensorMap::tiled(table, ElementType::U32).dims(*dims);
    map.box_dims(*boxed).element_strides(*steps).swizzle(*swizzle).build().ok()
}

/// Runs the kernel of a line `NAME CTAS X Y N TENSOR`.
fn one(folder: &Path, line: &str, gpu: &Gpu) -> Result<Verdict, String> {
    let table = &words(&std::fs::read(folder.join("table.bin")).map_err(|e| e.to_string())?)[..];
    let (name, numbers) = line.split_once(' ').ok_or("no numbers")?;
    let numbers: Vec<u32> = numbers.split(' ').filter_map(|n| n.parse().ok()).collect();
    let [grid, x, y, n, tensor] = numbers[..] else { return Err(format!("not five numbers: {line}")) };
    let text = std::fs::read_to_string(folder.join(format!("{name}.ptx"))).map_err(|e| e.to_string())?;
    let expected = std::fs::read(folder.join(format!("{name}.bin"))).map_err(|e| e.to_string())?;
    let module = Module::parse(&text).map_err(|e| e.to_string())?;
    let kernel = module.kernel(name).map_err(|e| e.to_string())?;
    let size = (expected.len() - 16) / 4;
    let host = Host::new();
    let agreed = Agreement::new("host", &host).with("GPU", gpu).run(|device| {
        let mut result: Vec<u32> = (0..size as u32).map(|i| i.wrapping_mul(0x0101_4001)).collect();
        let mut totals = [0u32; 4];
        let map = map(table, tensor as usize).expect("a valid map");
        let mut arguments =
            [(&mut result).into(), table.into(), (&mut totals).into(), Arg::value(n.to_le_bytes()), (&map).into()];
        kernel.launch_raw(device, Launch::grid(grid).block([x, y]), &mut arguments)?;
        drop(arguments);
        Ok(result.into_iter().chain(totals).flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
    });
    Ok(match agreed {
        Ok(agreed) if agreed.result == expected => Verdict::Equal,
        Ok(_) => Verdict::Differs("plain Rust computes something else".to_owned()),
        Err(error) => Verdict::of(&error),
    })
}
