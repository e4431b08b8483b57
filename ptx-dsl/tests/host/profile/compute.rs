//! Arithmetic, tensor operations and copies, against Nsight Compute on an H200 (`tests/hardware/profile/compute.txt`).

use super::results;
use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;
use ptx_dsl::profile::Profile;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};
use std::collections::BTreeMap;

const KERNELS: &str = include_str!("../../../../tests/hardware/profile/compute.ptx");
const MEASURED: &str = include_str!("../../../../tests/hardware/profile/compute.txt");

/// Counters that differ because ptxas makes other instructions, with the kernels in which it does.
const OTHER_INSTRUCTIONS: [(&str, &str, &str); 9] = [
    ("add_rn_f64_half", "f64", "the addition runs in all lanes, and a selection follows"),
    ("rcp_approx_f32", "f32", "it scales subnormal operands"),
    ("rsqrt_approx_f32", "f32", "it scales subnormal operands"),
    ("abs_f32", "f32", "it is an addition of zero"),
    ("neg_f32", "f32", "it is an addition of zero"),
    ("mma_m16n8k32_f32_e4m3", "tensor", "sm_90 has no such `mma` and multiplies in f16"),
    ("mma_m16n8k32_f32_e4m3", "f32", "it adds the products of f16"),
    ("reduce_same", "f16", "a constant comes from an `fma` of halves"),
    ("reduce_4", "f16", "a constant comes from an `fma` of halves"),
];

/// What the profile and the hardware count, by name.
fn pairs(profile: &Profile, measured: &BTreeMap<&str, u64>) -> Vec<(&'static str, u64, u64)> {
    let get = |name: &str| measured.get(name).copied().unwrap_or(0);
    let c = profile.total();
    // threads of instructions on halves: ptxas makes additions and multiplications of two halves some of them `fma`
    let halves = profile.statements.iter().filter(|s| s.counters.flops_f16 > 0).map(|s| s.counters.threads).sum();
    let tensor: u64 = measured.iter().filter(|(name, _)| name.starts_with("tensor_")).map(|(_, n)| n).sum();
    vec![
        ("f32", c.flops_f32, get("fadd") + get("fmul") + 2 * get("ffma")),
        ("f64", c.flops_f64, get("dadd") + get("dmul") + 2 * get("dfma")),
        ("f16", halves, get("hadd") + get("hmul") + get("hfma")),
        ("tensor", c.tensor_operations, tensor),
        ("gmma_wavefronts", c.matrix_shared_bytes / 128, get("gmma_wavefronts")),
        // at each CTA that gets them, and zeros outside of the tensor as if they came from memory
        (
            "copy_sectors",
            c.async_global_read_sectors + (c.copy_multicast_bytes + c.copy_padded_bytes) / 32,
            get("copy_sectors"),
        ),
        ("copy_written", c.async_global_written_bytes, get("copy_written") + get("copy_reduced")),
    ]
}

#[test]
fn arithmetic_and_copies_are_counted_as_nsight_compute_does() {
    let module = Module::parse(KERNELS).unwrap();
    let (text, kept) = results("compute.txt", MEASURED);
    let (mut wrong, mut count, mut excused) = (Vec::new(), 0, 0);
    let host = Host::profile();
    for line in text.lines().filter(|line| !line.starts_with("//")) {
        let (name, values) = line.split_once(' ').unwrap_or((line, ""));
        let values = values.split(' ').filter_map(|value| value.split_once('='));
        let measured: BTreeMap<&str, u64> = values.map(|(name, n)| (name, n.parse().unwrap())).collect();
        let mut buffer = vec![0u16; 1 << 15];
        let mut out = vec![0u32; 1 << 14];
        // copies write what they have read: the tensor may be another buffer
        let mut tensor = vec![0u16; 64 * 500];
        let map = TensorMap::tiled(&mut tensor[..], ElementType::U16)
            .dims([64, 500])
            .box_dims([64, 16])
            .swizzle(Swizzle::B128)
            .build()
            .unwrap();
        let kernel = module.kernel(name).unwrap();
        let mut arguments = [(&mut buffer[..]).into(), (&mut out[..]).into(), Arg::from(&map)];
        let block = kernel.required_block().unwrap();
        let launch = Launch::grid(2).block(block).cluster(kernel.required_cluster().unwrap_or([1; 3]));
        kernel.launch_raw(&host, launch, &mut arguments).unwrap_or_else(|e| panic!("{name}: {e}"));
        let profile = host.profiled();
        let constants = match name.strip_prefix("const_") {
            // those of the parameters, and of the loop counter
            Some("2" | "8" | "32") => {
                Some(("const_words", profile.total().const_words, measured["const_requests"] - 12))
            }
            _ => None,
        };
        for (counter, host, gpu) in pairs(&profile, &measured).into_iter().chain(constants) {
            let known = OTHER_INSTRUCTIONS.iter().any(|(kernel, of, _)| (*kernel, *of) == (name, counter));
            excused += u32::from(known && host != gpu);
            if host != gpu && !known {
                wrong.push(format!("{name}: {counter} {host} on the host, {gpu} on the GPU"));
            }
            if host == gpu && known {
                wrong.push(format!("{name}: {counter} is excused, but equal"));
            }
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    if kept {
        assert_eq!((count, excused), (76, OTHER_INSTRUCTIONS.len() as u32));
    }
}
