//! The table of shapes (9.7.16.2.1): every M, N and K in it runs, all others that a descriptor can say are faults.

use super::*;

/// A row of the table: the values of M, and N from, to, and its step.
type Row = (&'static [usize], usize, usize, usize);

struct Kind {
    kind: Qualifier,
    /// Bits of the instruction descriptor: types.
    types: u32,
    k: usize,
    /// Bits that make K larger on sm_107a, and the K.
    more: &'static [(u32, usize)],
    /// 32 bits of elements that are all 1.
    one: u32,
    scaled: Option<Qualifier>,
}

const fn kind(kind: Qualifier, types: u32, k: usize, more: &'static [(u32, usize)], one: u32) -> Kind {
    Kind { kind, types, k, more, one, scaled: None }
}

fn kinds() -> Vec<Kind> {
    let mx = |k: Kind, flag: Qualifier| Kind { scaled: Some(flag), ..k };
    const FOUR: &[(u32, usize)] = &[(1 << 31, 96), (1 << 3, 128)];
    vec![
        kind(q::kind_f16, 1 << 4, 16, &[], 0x3c00_3c00),
        kind(q::kind_tf32, 1 << 4 | 2 << 7 | 2 << 10, 8, &[], 0x3f80_0000),
        kind(q::kind_f8f6f4, 1 << 4, 32, &[(1 << 29, 64)], 0x3838_3838),
        kind(q::kind_i8, 2 << 4, 32, &[], 0x0101_0101),
        kind(q::kind_ti16, 2 << 4 | 3 << 7 | 3 << 10, 16, &[], 0x0001_0001),
        mx(kind(q::kind_mxf8f6f4, 1 << 23, 32, &[(1 << 31, 64)], 0x3838_3838), q::block32),
        mx(kind(q::kind_mxf4, 1 << 23 | 1 << 7 | 1 << 10, 64, FOUR, 0x2222_2222), q::block32),
        mx(kind(q::kind_mxf4nvf4, 1 << 23 | 1 << 7 | 1 << 10, 64, FOUR, 0x2222_2222), q::block16),
    ]
}

/// The rows of the table, written out.
fn table(kind: &Kind, pair: bool, sparse: bool, ws: bool) -> Vec<Row> {
    let (i8, ti16) = (kind.kind == q::kind_i8, kind.kind == q::kind_ti16);
    match (ws, pair) {
        (true, true) => vec![],
        (true, false) if kind.scaled.is_some() => vec![],
        (true, false) if sparse => vec![(&[32, 64, 128], 64, 128, 64)],
        (true, false) => vec![(&[32, 64, 128], 64, 128, 64), (&[32, 64, 128], 256, 256, 1)],
        (false, false) if kind.scaled.is_some() => vec![(&[128], 8, 256, 8)],
        (false, true) if kind.scaled.is_some() && sparse => vec![(&[256], 16, 256, 16)],
        (false, true) if i8 || ti16 => vec![(&[128, 256], 32, 256, 32)],
        (false, true) => vec![(&[128, 256], 16, 256, 16)],
        (false, false) if i8 => vec![(&[64, 128], 8, 32, 8), (&[64, 128], 48, 256, 16)],
        (false, false) if ti16 => vec![(&[64], 8, 256, 8), (&[128], 16, 256, 16)],
        (false, false) => vec![(&[64, 128], 8, 256, 8)],
    }
}

/// The columns where the tests keep operands other than D.
const META: usize = 480;
const SCALES: [usize; 2] = [400, 430];

/// Runs a product of matrices of ones: every element of D is K, or half of it where half of A is zero, and nothing else changes.
fn run(job: &Multiply, kind: &Kind, (m, n, k): (usize, usize, usize), pair: bool, tmem: &mut [Tmem; 2], shared: &[u8]) {
    let ctas = if pair { 2 } else { 1 };
    const MARK: u32 = 0xdead_beef;
    for t in tmem.iter_mut() {
        for lane in 0..128 {
            t.lane_mut(lane)[..256].fill(MARK);
        }
    }
    let mut both: Vec<TensorCta<'_>> = tmem.iter_mut().take(ctas).map(|tmem| TensorCta { tmem, shared }).collect();
    job.run(&mut both).unwrap_or_else(|e| panic!("{e}: {m}x{n}x{k} of {job:?}"));
    let sum = if job.form.sparse { k / 2 } else { k };
    let integer = kind.kind == q::kind_i8 || kind.kind == q::kind_ti16;
    let want = if integer { sum as u32 } else { (sum as f32).to_bits() };
    for t in tmem.iter().take(ctas) {
        let words = || (0..128).flat_map(|lane| t.lane(lane)[..256].iter());
        assert_eq!(words().filter(|&&w| w == want).count(), m * n / ctas, "{m}x{n}x{k} of {job:?}");
        assert_eq!(words().filter(|&&w| w == MARK).count(), 128 * 256 - m * n / ctas, "{m}x{n}x{k} of {job:?}");
    }
}

#[test]
fn all_of_the_table_and_nothing_else() {
    let mut tmem: [Tmem; 2] = Default::default();
    for t in &mut tmem {
        t.set_allocated(0..512, true);
        for lane in 0..128 {
            t.lane_mut(lane)[SCALES[0]..META].fill(0x7f7f_7f7f);
            t.lane_mut(lane)[META..512].fill(0x4444_4444);
        }
    }
    let mut runs = 0;
    for kind in kinds() {
        let shared: Vec<u8> = kind.one.to_le_bytes().repeat(0x10000);
        for (pair, sparse, ws) in [false, true]
            .into_iter()
            .flat_map(|pair| [(pair, false, false), (pair, true, false), (pair, false, true), (pair, true, true)])
        {
            if ws && (pair || kind.scaled.is_some()) {
                // no such instruction
                continue;
            }
            let rows = table(&kind, pair, sparse, ws);
            let mut flags = vec![kind.kind, if pair { q::cta_group_2 } else { q::cta_group_1 }];
            flags.extend(kind.scaled);
            for &(bits, k) in [(0, kind.k)].iter().chain(kind.more) {
                let k = if sparse { 2 * k } else { k };
                for code in 0..if kind.scaled.is_some() { 4 } else { 32 } {
                    for n_code in 0..64 {
                        let (m_bits, m) = match kind.scaled {
                            Some(_) => (code << 27, code as usize * 128),
                            None => (code << 24, code as usize * 16),
                        };
                        let n = n_code as usize * 8;
                        let idesc = kind.types | bits | m_bits | n_code << 17 | u32::from(sparse) << 2;
                        let desc = 256u64 << 16 | 64 << 32 | 1 << 46 | 2 << 61;
                        let mut s = vec![0, desc, desc];
                        s.extend(sparse.then_some(META as u64));
                        s.push(idesc.into());
                        if kind.scaled.is_some() {
                            s.extend(SCALES.map(|x| x as u64));
                        }
                        s.push(0);
                        let job = Multiply::new(Q::new(&flags, &[]), sparse, ws, Generation::Sm107, &s);
                        let there = rows
                            .iter()
                            .any(|&(ms, from, to, step)| ms.contains(&m) && (from..=to).step_by(step).any(|x| x == n));
                        match (there, job) {
                            // larger K: some of each row are enough
                            (true, Ok(_)) if bits != 0 && !n.is_multiple_of(48) => {}
                            (true, Ok(job)) => {
                                run(&job, &kind, (m, n, k), pair, &mut tmem, &shared);
                                runs += 1;
                            }
                            (false, Err(FaultKind::Descriptor { field, .. })) => {
                                assert!(field.starts_with('M') || field.starts_with('N'), "{field}: {m}x{n}");
                            }
                            (there, job) => panic!("{m}x{n}x{k}, in the table: {there}, but {job:?}"),
                        }
                    }
                }
            }
        }
    }
    assert!(runs > 1000, "{runs}");
}

/// The mask of a zero-column mask descriptor, written out bit by bit from its runs.
pub(super) fn zero_column(x: u64, column: usize, n: usize, m: usize) -> bool {
    if x >> 39 & 1 == 0 {
        return false;
    }
    let part = n / (128 / m);
    let which = column / part;
    let (skip, used) = ((x >> 40 & 255) + 1, (x >> 48 & 255) + 1);
    let mut mask = Vec::new();
    let mut zeros = x >> (32 + which) & 1 != 0;
    while mask.len() < part + 256 {
        mask.extend((0..if zeros { skip } else { used }).map(|_| zeros));
        zeros = !zeros;
    }
    mask[column % part + (x >> (8 * which) & 255) as usize]
}
