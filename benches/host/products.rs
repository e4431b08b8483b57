//! Products of `tcgen05.mma` alone, M = N = 128: the same matrices again and again, for elements of several types. The Rust counterpart
//! has as many multiplications of f32.

use super::Case;
use half::f16;
use ptx_dsl::Numerics;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

/// M and N.
const N: usize = 128;
/// Bytes of a row in shared memory: four instructions.
const ROW: usize = 128;
/// How often the matrices are multiplied.
const ROUNDS: usize = 32;

/// A kernel for elements of a kind. A and B, the transpose of B, lie in global memory as in shared memory.
macro_rules! product {
    ($name:ident $kind:ident) => {
        ptx! {
            <sm_100a, ptx 8.6>
            .visible .entry $name(
                .param .u64 .ptr .global .align 16 matrices: &[u8],
                .param .u64 .ptr .global .align 16 d: &mut [u32],
                .param .u32 idesc, .param .u32 rounds)
                .reqntid 128
            {
                .reg .pred %p, %more, %leader, %add;
                .reg .b32 %thread, %warp, %i, %k, %at, %tmem, %idesc, %rounds, %v<32>;
                .reg .b64 %from, %d, %offset, %adesc, %bdesc, %adesc0, %bdesc0;
                .shared .align 1024 .b8 tile[32768];
                .shared .align 8 .b64 full;
                .shared .align 8 .b64 done;
                .shared .align 4 .b32 tensor;

                mov.u32 %thread, %tid.x;
                shr.u32 %warp, %thread, 5;
                setp.eq.u32 %leader, %thread, 0;
                ld.param.u64 %from, [matrices];
                ld.param.u64 %d, [d];
                ld.param.u32 %idesc, [idesc];
                ld.param.u32 %rounds, [rounds];
                setp.ne.u32 %p, %warp, 0;
                @%p bra allocated;
                tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 128;
                tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
              allocated:
                @%leader mbarrier.init.shared::cta.b64 [full], 1;
                @%leader mbarrier.init.shared::cta.b64 [done], 1;
                fence.mbarrier_init.release.cluster;
                tcgen05.fence::before_thread_sync;
                bar.sync 0;
                tcgen05.fence::after_thread_sync;
                ld.shared.b32 %tmem, [tensor];
                @!%leader bra copied;
                mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 32768;
                cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%from], 32768, [full];
              copied:
                mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p, [full], 0;
                @!%p bra copied;
                @!%leader bra wait;
                mov.u32 %at, tile;
                shr.u32 %at, %at, 4;
                cvt.u64.u32 %adesc0, %at;
                or.b64 %adesc0, %adesc0, 0x4000404000010000;    // 1024 bytes to the next 8 rows, 128-byte swizzle
                add.u64 %bdesc0, %adesc0, 1024;
                mov.u32 %i, 0;
              again:
                mov.b64 %adesc, %adesc0;
                mov.b64 %bdesc, %bdesc0;
                mov.u32 %k, 0;
              multiply:
                or.b32 %at, %i, %k;
                setp.ne.u32 %add, %at, 0;                       // the first product does not add
                tcgen05.mma.cta_group::1.kind::$kind [%tmem], %adesc, %bdesc, %idesc, %add;
                add.u64 %adesc, %adesc, 2;                      // 32 bytes
                add.u64 %bdesc, %bdesc, 2;
                add.u32 %k, %k, 1;
                setp.lt.u32 %more, %k, 4;
                @%more bra multiply;
                add.u32 %i, %i, 1;
                setp.lt.u32 %more, %i, %rounds;
                @%more bra again;
                tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
              wait:
                mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p, [done], 0;
                @!%p bra wait;

                // a thread has one row
                tcgen05.fence::after_thread_sync;
                mul.wide.u32 %offset, %thread, 512;
                add.u64 %d, %d, %offset;
                shl.b32 %at, %warp, 21;
                add.u32 %at, %tmem, %at;
                mov.u32 %i, 0;
              store:
                tcgen05.ld.sync.aligned.32x32b.x32.b32
                    {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9, %v10, %v11, %v12, %v13, %v14, %v15,
                     %v16, %v17, %v18, %v19, %v20, %v21, %v22, %v23, %v24, %v25, %v26, %v27, %v28, %v29, %v30, %v31}, [%at];
                tcgen05.wait::ld.sync.aligned;
                st.global.v4.b32 [%d], {%v0, %v1, %v2, %v3};
                st.global.v4.b32 [%d+16], {%v4, %v5, %v6, %v7};
                st.global.v4.b32 [%d+32], {%v8, %v9, %v10, %v11};
                st.global.v4.b32 [%d+48], {%v12, %v13, %v14, %v15};
                st.global.v4.b32 [%d+64], {%v16, %v17, %v18, %v19};
                st.global.v4.b32 [%d+80], {%v20, %v21, %v22, %v23};
                st.global.v4.b32 [%d+96], {%v24, %v25, %v26, %v27};
                st.global.v4.b32 [%d+112], {%v28, %v29, %v30, %v31};
                add.u64 %d, %d, 128;
                add.u32 %at, %at, 32;
                add.u32 %i, %i, 1;
                setp.lt.u32 %more, %i, 4;
                @%more bra store;
                tcgen05.fence::before_thread_sync;
                bar.sync 0;
                setp.ne.u32 %p, %warp, 0;
                @%p bra end;
                tcgen05.fence::after_thread_sync;
                tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 128;
              end:
                ret;
            }
        }
    };
}

product!(product_f16 f16);
product!(product_tf32 tf32);
product!(product_f8 f8f6f4);
product!(product_i8 i8);

/// Elements of A and B.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    F16,
    Tf32,
    E4m3,
    S8,
}

impl Type {
    fn bytes(self) -> usize {
        match self {
            Type::F16 => 2,
            Type::Tf32 => 4,
            Type::E4m3 | Type::S8 => 1,
        }
    }

    /// The instruction descriptor: D f32 or s32, the types of A and B, M = N = 128.
    fn descriptor(self) -> u32 {
        let (d, element) = match self {
            Type::F16 | Type::E4m3 => (1, 0),
            Type::Tf32 => (1, 2),
            Type::S8 => (2, 1),
        };
        d << 4 | element << 7 | element << 10 | 16 << 17 | 8 << 24
    }

    /// The bytes of an integer from -7 to 7.
    fn encoded(self, value: i32) -> Vec<u8> {
        match self {
            Type::F16 => f16::from_f32(value as f32).to_le_bytes().to_vec(),
            Type::Tf32 => (value as f32).to_le_bytes().to_vec(),
            Type::S8 => vec![value as i8 as u8],
            // three fraction bits, bias 7
            Type::E4m3 => {
                let bits = (value as f32).to_bits();
                let magnitude = if value == 0 { 0 } else { ((bits >> 20 & 0x7ff) - (120 << 3)) as u8 };
                vec![magnitude | (bits >> 24 & 0x80) as u8]
            }
        }
    }
}

struct Product {
    of: Type,
    numerics: Numerics,
    /// A, then B, swizzled.
    matrices: Vec<u8>,
    d: Vec<u32>,
    /// A row by row, B by k.
    wide: [Vec<f32>; 2],
    hand: Vec<f32>,
}

pub fn f16() -> Box<dyn Case> {
    case(Type::F16, Numerics::Exact)
}

pub fn f16_fast() -> Box<dyn Case> {
    case(Type::F16, Numerics::Fast)
}

pub fn tf32() -> Box<dyn Case> {
    case(Type::Tf32, Numerics::Exact)
}

pub fn e4m3() -> Box<dyn Case> {
    case(Type::E4m3, Numerics::Exact)
}

pub fn s8() -> Box<dyn Case> {
    case(Type::S8, Numerics::Exact)
}

fn case(of: Type, numerics: Numerics) -> Box<dyn Case> {
    let (mut random, k) = (Random::new(9), ROW / of.bytes());
    let mut matrix = || (0..N * k).map(|_| (random.word() % 15) as i32 - 7).collect::<Vec<_>>();
    let (a, b) = (matrix(), matrix());
    let mut matrices = vec![0; 2 * N * ROW];
    for (i, value) in a.iter().chain(&b).enumerate() {
        let at = i * of.bytes();
        let at = at ^ (at >> 3 & 0x70);
        matrices[at..at + of.bytes()].copy_from_slice(&of.encoded(*value));
    }
    let by_k = (0..N * k).map(|i| b[i % N * k + i / N] as f32).collect();
    let wide = [a.iter().map(|v| *v as f32).collect(), by_k];
    Box::new(Product { of, numerics, matrices, d: vec![0; N * N], wide, hand: vec![0.0; N * N] })
}

impl Case for Product {
    crate::launches!(self, host => {
        let host = host.clone().numerics(self.numerics);
        let (launch, idesc) = (Launch::grid(1).block(128), self.of.descriptor());
        let args: (&[u8], &mut [u32], u32, u32) = (&self.matrices, &mut self.d, idesc, ROUNDS as u32);
        match self.of {
            Type::F16 => product_f16.launch(&host, launch, args),
            Type::Tf32 => product_tf32.launch(&host, launch, args),
            Type::E4m3 => product_f8.launch(&host, launch, args),
            Type::S8 => product_i8.launch(&host, launch, args),
        }
    });

    fn hand(&mut self) {
        let [a, b] = &self.wide;
        self.hand.fill(0.0);
        for _ in 0..ROUNDS {
            let (a, b) = (std::hint::black_box(a), std::hint::black_box(b));
            for (d, a) in self.hand.chunks_mut(N).zip(a.chunks(ROW / self.of.bytes())) {
                for (a, b) in a.iter().zip(b.chunks(N)) {
                    for (d, b) in d.iter_mut().zip(b) {
                        *d += a * b;
                    }
                }
            }
        }
    }

    fn agrees(&self) -> bool {
        let number = |bits: &u32| if self.of == Type::S8 { *bits as i32 as f32 } else { f32::from_bits(*bits) };
        self.d.iter().map(number).eq(self.hand.iter().copied())
    }
}
