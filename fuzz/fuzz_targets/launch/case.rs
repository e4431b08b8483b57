//! A launch: dimensions and arguments that fit the kernel, or nearly.

use ptx_dsl_test_support::random::Random;
use ptx_dsl::load::{Kernel, Parameter};
use ptx_dsl::{Arg, Launch};

/// Bytes of a buffer.
const BUFFER: usize = 8192;

/// An argument, with its memory.
#[derive(Clone, PartialEq)]
pub enum Value {
    Buffer(Vec<u8>),
    Bytes(Vec<u8>),
}

impl Value {
    pub fn arg(&mut self) -> Arg<'_> {
        match self {
            Value::Buffer(bytes) => Arg::buffer(bytes),
            Value::Bytes(bytes) => Arg::value(bytes),
        }
    }
}

/// Dimensions of a launch of the kernel.
pub fn launch(kernel: &Kernel, random: &mut Random) -> Launch {
    let volume = |d: [u32; 3]| d[0].saturating_mul(d[1]).saturating_mul(d[2]);
    let blocks = [[1, 1, 1], [31, 1, 1], [32, 1, 1], [64, 1, 1], [128, 1, 1], [8, 5, 2], [33, 2, 1], [256, 1, 1]];
    let largest = kernel.largest_block().map_or(1024, volume);
    let block = kernel.required_block().unwrap_or_else(|| {
        let block = random.choose(&blocks);
        if volume(block) > largest { [largest.min(32), 1, 1] } else { block }
    });
    let cluster = random.choose(&[[1, 1, 1], [1, 1, 1], [2, 1, 1], [4, 1, 1], [2, 2, 1]]);
    let cluster = kernel.required_cluster().unwrap_or(cluster);
    let grid = random.choose(&[[1u32, 1, 1], [1, 1, 1], [2, 1, 1], [3, 1, 1], [2, 2, 2], [40, 1, 1]]);
    let grid = [0, 1, 2].map(|i| grid[i].saturating_mul(cluster[i]));
    let shared = if kernel.uses_dynamic_shared() { [0, 16, 1024, 32768, 65536, 200_000] } else { [0; 6] };
    let launch = Launch::grid(grid).block(block).cluster(cluster).dynamic_shared(random.choose(&shared));
    let launch = launch.step_limit(20_000).malloc_heap(random.choose(&[0, 256, 1 << 16]));
    if kernel.is_cooperative() { launch.cooperative() } else { launch }
}

/// Arguments for all parameters.
pub fn values(kernel: &Kernel, random: &mut Random) -> Vec<Value> {
    kernel.parameters().iter().map(|p| value(p, random)).collect()
}

fn value(parameter: &Parameter, random: &mut Random) -> Value {
    let size = parameter.size as usize;
    if parameter.takes_buffer() && !random.one_in(12) {
        return Value::Buffer(contents(BUFFER, random));
    }
    if parameter.is_array && size == 128 {
        return Value::Bytes(tensor_map(random));
    }
    if size <= 8 && !random.one_in(8) {
        let small = random.choose(&[0u64, 1, 2, 3, 7, 16, 32, 33, 100, 1000, u64::MAX, 1 << 31, 0x3f80_0000]);
        return Value::Bytes(small.to_le_bytes()[..size].to_vec());
    }
    Value::Bytes(contents(size, random))
}

fn contents(size: usize, random: &mut Random) -> Vec<u8> {
    let kind = random.below(5);
    let words = (0..size.div_ceil(4)).map(|i| match kind {
        0 => 0,
        1 => i as u32,
        2 => random.next() as u32,
        3 => (random.below(64) as f32 - 32.0).to_bits(),
        _ => random.below(256) as u32,
    });
    let mut bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    bytes.truncate(size);
    bytes
}

/// The 128 bytes of a tensor map, as `memory/tensor_map.rs` of the runtime lays them out, nearly right: the tensor lies in the buffer of
/// one of the first arguments.
fn tensor_map(random: &mut Random) -> Vec<u8> {
    let mut map = vec![0u8; 128];
    let segment = 2 + random.below(4) as u64;
    map[..8].copy_from_slice(&(segment << 40).to_le_bytes());
    for at in 8..112 {
        if random.one_in(3) {
            map[at] = random.choose(&[0, 1, 2, 3, 7, 15, 31, 63, 127, 255]);
        }
    }
    for at in 28..36 {
        map[at] = random.below(5) as u8;
    }
    map
}
