//! Runs the output of nvcc 13.5 for `tests/nvcc/algorithms.cu`, optimised and not, and compares it with plain Rust.

use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

mod optimised {
    ptx_dsl::include_ptx!("nvcc/optimised.ptx");
}
// `for (;;)` is a branch out of it that is never taken.
mod plain {
    ptx_dsl::include_ptx!("nvcc/plain.ptx", allow(PTX0622));
}

/// Pseudo-random numbers below `end`, always the same.
fn numbers(count: usize, end: u64) -> impl Iterator<Item = u64> {
    let mut random = Random::new(5);
    (0..count).map(move |_| random.below(end))
}

fn encrypted(mut v: [u32; 2], t: u32) -> [u32; 2] {
    let mut sum = 0u32;
    for round in 0..16 {
        sum = sum.wrapping_add([0x9E37_79B9, 0x3C6E_F372, 0xDAA6_6D2B, 0x78DD_E6E4][round % 4]);
        let other = v[(round + 1) % 2];
        let mixed = (other << 4).wrapping_add(t) ^ other.wrapping_add(sum) ^ (other >> 5).wrapping_add(77);
        v[round % 2] = v[round % 2].wrapping_add(mixed);
    }
    v
}

fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

fn interpreted(code: &[u8], t: i32) -> [i32; 4] {
    let (mut r, mut at, mut steps) = ([t, t * 3 + 1, 7, 0], 0, 0);
    while at < code.len() && steps < 500 {
        steps += 1;
        let c = code[at];
        at += 1;
        let (a, b) = (usize::from(c >> 4 & 3), usize::from(c >> 6 & 3));
        match c & 15 {
            0 => r[a] = r[a].wrapping_add(r[b]),
            1 => r[a] = r[a].wrapping_sub(r[b]),
            2 => r[a] = r[a].wrapping_mul(r[b]),
            3 => r[a] ^= r[b],
            4 if r[a] & 1 != 0 => at = (at + b) % code.len(),
            4 => {}
            5 => r[a] /= (r[b] & 0xFFFF) | 1,
            6 => r[a] = r[b].count_ones() as i32,
            7 => r[a] = r[b] << (r[a] & 31),
            8 => r[a] = r[a].max(r[b]),
            9 if r[a] > r[b] => at = (at * 7 + 3) % code.len(),
            9 => {}
            10 => r[a] = r[b].reverse_bits(),
            11 => break,
            _ => r[b] = r[b].wrapping_add(i32::from(c)),
        }
    }
    r[3] = r[3].wrapping_add(steps);
    r
}

/// Runs both modules; they must agree.
macro_rules! both {
    ($($name:ident($module:ident) $body:block)*) => {$(
        #[test]
        fn $name() {
            { use optimised as $module; $body }
            { use plain as $module; $body }
        }
    )*};
}

both! {
    a_cipher(m) {
        let x: Vec<u32> = numbers(600, 1 << 32).map(|v| v as u32).collect();
        let mut out = vec![0u32; 600];
        m::cipher.launch(&Host::new(), Launch::grid(3).block(128), (&x, &mut out, 300)).unwrap();
        for (t, (x, out)) in x.chunks(2).zip(out.chunks(2)).enumerate() {
            assert_eq!(out, encrypted([x[0], x[1]], t as u32), "thread {t}");
        }
    }

    sorted_by_a_block(m) {
        let mut x: Vec<u32> = numbers(1024, 1 << 32).map(|v| v as u32).collect();
        let mut expected = x.clone();
        expected.chunks_mut(512).for_each(<[u32]>::sort_unstable);
        m::bitonic_sort.launch(&Host::new(), Launch::grid(2).block(256), (&mut x,)).unwrap();
        assert_eq!(x, expected);
    }

    sorted_by_each_thread(m) {
        let mut x: Vec<i32> = numbers(4000, 1000).map(|v| v as i32 - 500).collect();
        let mut expected = x.clone();
        expected.chunks_mut(40).for_each(<[i32]>::sort_unstable);
        m::quick_sort.launch(&Host::new(), Launch::grid(2).block(50), (&mut x, 40)).unwrap();
        assert_eq!(x, expected);
    }

    recursion(m) {
        let mut out = [0u32; 64];
        m::recursion.launch(&Host::new(), Launch::grid(1).block(64), (&mut out,)).unwrap();
        for (t, out) in (0u32..).zip(out) {
            assert_eq!(out, ackermann(t % 3, t / 3 % 7), "thread {t}");
        }
    }

    prefix_sums(m) {
        let x: Vec<u32> = numbers(1024, 100).map(|v| v as u32).collect();
        let (mut out, mut sum) = (vec![0u32; 1024], [0u32]);
        m::prefix_sums.launch(&Host::new(), Launch::grid(2).block(512), (&x, &mut out, &mut sum)).unwrap();
        for (x, out) in x.chunks(512).zip(out.chunks(512)) {
            let sums = x.iter().scan(0, |sum, x| { *sum += x; Some(*sum) });
            assert!(sums.eq(out.iter().copied()));
        }
        assert_eq!(sum[0], x.iter().sum::<u32>());
    }

    a_machine_with_a_switch(m) {
        for length in [60, 90, 120, 150] {
            let code: Vec<u8> = numbers(length, 256).map(|v| v as u8).collect();
            let mut out = [0i32; 4 * 96];
            let arguments = (&code, length as u32, &mut out);
            m::machine.launch(&Host::new(), Launch::grid(1).block(96), arguments).unwrap();
            for (t, out) in out.chunks(4).enumerate() {
                assert_eq!(out, interpreted(&code, t as i32), "thread {t}, {length} bytes");
            }
        }
    }

    a_histogram(m) {
        let x: Vec<u8> = numbers(5000, 256).map(|v| ((v * v) >> 8) as u8).collect();
        let mut counts = [0u32; 256];
        m::histogram.launch(&Host::new(), Launch::grid(3).block(100), (&x, 5000, &mut counts)).unwrap();
        let mut expected = [0u32; 256];
        x.iter().for_each(|x| expected[usize::from(*x)] += 1);
        assert_eq!(counts, expected);
    }

    cube_roots(m) {
        let x: Vec<f64> = (0..200).map(|i| f64::from(i * i) * 1.7 + 0.3).collect();
        let (mut roots, mut turns) = (vec![0f64; 200], [0i32; 200]);
        let arguments = (&x, &mut roots, &mut turns, 200);
        m::cube_roots.launch(&Host::new(), Launch::grid(2).block(128), arguments).unwrap();
        for (x, (root, turns)) in x.iter().zip(roots.iter().zip(turns)) {
            assert!((root - x.cbrt()).abs() < 1e-8 * x.cbrt() && (1..60).contains(&turns), "{x}: {root}, {turns}");
        }
    }

    votes(m) {
        let x: Vec<i32> = numbers(128, 20).map(|v| v as i32 - 4).collect();
        let mut out = [0u32; 128];
        m::votes.launch(&Host::new(), Launch::grid(2).block(64), (&x, &mut out)).unwrap();
        for (x, out) in x.chunks(32).zip(out.chunks(32)) {
            let turns = |x: i32| if x > 0 { (x as u32).div_ceil(3) } else { 0 };
            let any = u32::from(x.iter().any(|x| x - 3 * turns(*x) as i32 == -2));
            for (own, out) in x.iter().zip(out) {
                let same: u32 = (0..32).filter(|lane| x[*lane] & 3 == own & 3).map(|lane| 1 << lane).sum();
                assert_eq!(*out, (turns(*own) * 2 + any).wrapping_add(same << 8), "{own}");
            }
        }
    }

    shortest_ways(m) {
        let n = 20;
        let mut expected: Vec<u32> = numbers(n * n, 1000).map(|v| v as u32).collect();
        let mut length = expected.clone();
        let launch = Launch::grid(1).block([20, 20]).dynamic_shared(1600);
        m::shortest_ways.launch(&Host::new(), launch, (&mut length, 20)).unwrap();
        for (k, i, j) in (0..n).flat_map(|k| (0..n * n).map(move |at| (k, at / n, at % n))) {
            expected[i * n + j] = expected[i * n + j].min(expected[i * n + k] + expected[k * n + j]);
        }
        assert_eq!(length, expected);
    }
}

mod wide {
    ptx_dsl::include_ptx!("nvcc/wide_integers.ptx");
}

/// nvcc divides with `sub.cc` before `addc`, and vice versa: the carry has one meaning.
#[test]
fn divisions_of_128_bits() {
    const N: usize = 256;
    let mut words = numbers(4 * N, u64::MAX >> 31).map(|low| low << 31 ^ low.rotate_right(7));
    let mut some = |i: usize| {
        let (low, high) = (words.next().unwrap(), words.next().unwrap());
        let wide = u128::from(high) << 64 | u128::from(low);
        // Of all lengths, also next to powers of two, and with the sign bit set.
        [wide, wide >> (i % 120), 1 << (i % 128), (1 << (i % 128)) - 1, !(wide >> (i * 7 % 127))][i % 5].max(1)
    };
    let x: Vec<u128> = (0..N).map(&mut some).collect();
    let y: Vec<u128> = (0..N).map(|i| some(i / 2 + i % 3)).collect();
    let split = |all: &[u128]| all.iter().flat_map(|v| [*v as u64, (v >> 64) as u64]).collect::<Vec<u64>>();
    let mut out = vec![0u64; 4 * N];
    let launch = Launch::grid(N as u32 / 64).block(64);
    wide::divide.launch(&Host::new(), launch, (&split(&x), &split(&y), &mut out, N as u32)).unwrap();
    for (i, found) in out.chunks(4).enumerate() {
        let (a, b) = (x[i], y[i]);
        let remainder = (a as i128).wrapping_rem(b as i128) as u128;
        assert_eq!(found, split(&[a / b, remainder]), "{a:#x} and {b:#x}");
    }
}
