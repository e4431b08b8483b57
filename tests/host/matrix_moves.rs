//! `ldmatrix` and `stmatrix`: which lane holds which bytes.

use ptx_dsl::prelude::*;

/// 512 bytes, all rows and columns different.
fn memory() -> Vec<u8> {
    (0..512).map(|at: usize| (at * 167 + at / 16 * 29 + 11) as u8).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

ptx! {
    <sm_100a, ptx 8.6>
    // Copies 512 bytes to shared memory, loads matrices in one of several ways, and stores the four registers of each lane.
    .visible .entry narrow(.param .u64 .ptr .global .align 16 d: &mut [u32], .param .u32 way) .reqntid 32 {
        .reg .pred %p;
        .reg .b32 %i, %way, %r<4>, %at, %row;
        .reg .b64 %pd, %o;
        .shared .align 16 .b32 tile[128];
        ld.param.u64 %pd, [d];
        ld.param.u32 %way, [way];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %o, %i, 16, %pd;
        ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%o];
        mov.u32 %at, tile;
        mad.lo.u32 %row, %i, 16, %at;
        st.shared.v4.u32 [%row], {%r0, %r1, %r2, %r3};
        bar.sync 0;
        setp.ne.u32 %p, %way, 0;
        @%p bra one;
        ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r0, %r1, %r2, %r3}, [%row];
      one:
        setp.ne.u32 %p, %way, 1;
        @%p bra two;
        ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32 {%r0, %r1, %r2, %r3}, [%row];
      two:
        setp.ne.u32 %p, %way, 2;
        @%p bra three;
        ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%r0, %r1, %r2, %r3}, [%row];
      three:
        setp.ne.u32 %p, %way, 3;
        @%p bra four;
        ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32 {%r0, %r1, %r2, %r3}, [%row];
      four:
        st.global.v4.u32 [%o], {%r0, %r1, %r2, %r3};
    }

    // Stores the registers of all lanes as matrices in one of several ways; then memory is the result.
    .visible .entry stores(.param .u64 .ptr .global .align 16 d: &mut [u32], .param .u32 way) .reqntid 32 {
        .reg .pred %p;
        .reg .b32 %i, %way, %r<4>, %at, %row;
        .reg .b64 %pd, %o;
        .shared .align 16 .b32 tile[128];
        ld.param.u64 %pd, [d];
        ld.param.u32 %way, [way];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %o, %i, 16, %pd;
        ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%o];
        mov.u32 %at, tile;
        mad.lo.u32 %row, %i, 16, %at;
        setp.ne.u32 %p, %way, 0;
        @%p bra one;
        stmatrix.sync.aligned.m8n8.x4.shared.b16 [%row], {%r0, %r1, %r2, %r3};
      one:
        setp.ne.u32 %p, %way, 1;
        @%p bra two;
        stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%row], {%r0, %r1, %r2, %r3};
      two:
        setp.ne.u32 %p, %way, 2;
        @%p bra three;
        stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%row], {%r0, %r1, %r2, %r3};
      three:
        bar.sync 0;
        ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%row];
        st.global.v4.u32 [%o], {%r0, %r1, %r2, %r3};
    }
}

#[test]
fn ldmatrix_of_narrow_elements() {
    let bytes = memory();
    let row = |r: usize| u128::from_le_bytes(bytes[16 * r..16 * r + 16].try_into().unwrap());
    let plain = |r: usize, c: usize| bytes[16 * r + c];
    let six = |r: usize, c: usize| (row(r) >> (6 * c)) as u8 & 63;
    let four = |r: usize, c: usize| (row(r) >> (4 * c)) as u8 & 15;
    // Register n of lane l of a matrix of 8 rows: four bytes of a row. Of a transposed one of 16 rows: four bytes of a column, two
    // registers for a matrix.
    let along = |of: &dyn Fn(usize, usize) -> u8, l: usize, n: usize, i: usize| of(8 * n + l / 4, l % 4 * 4 + i);
    let across = |of: &dyn Fn(usize, usize) -> u8, l: usize, n: usize, i: usize| {
        of(n / 2 * 16 + l % 4 * 4 + i, n % 2 * 8 + l / 4)
    };
    for way in 0..4 {
        let mut d = words(&bytes);
        narrow.launch(&Host::new(), Launch::grid(1), (&mut d[..], way)).unwrap();
        let want: Vec<u32> = (0..128)
            .map(|at| {
                let byte = |i: usize| match way {
                    0 => across(&plain, at / 4, at % 4, i),
                    1 => along(&six, at / 4, at % 4, i),
                    2 => along(&four, at / 4, at % 4, i),
                    _ => across(&six, at / 4, at % 4, i),
                };
                u32::from_le_bytes([0, 1, 2, 3].map(byte))
            })
            .collect();
        assert_eq!(d, want, "way {way}");
    }
}

#[test]
fn stmatrix_stores_rows_and_columns() {
    let given = words(&memory());
    for way in 0..3 {
        let mut d = given.clone();
        stores.launch(&Host::new(), Launch::grid(1), (&mut d[..], way)).unwrap();
        // Element (row, column) of matrix m, by the lane that has it.
        let half =
            |m: usize, row: usize, column: usize| given[4 * (4 * row + column / 2) + m] >> (16 * (column % 2)) & 0xffff;
        let byte = |m: usize, row: usize, column: usize| {
            given[4 * (4 * (row % 8) + column / 2) + m] >> (8 * (column % 2 + row / 8 * 2)) & 0xff
        };
        for (at, found) in d.into_iter().enumerate() {
            let (m, row, word) = (at / 32, at / 4 % 8, at % 4);
            let want = match way {
                0 => half(m, row, 2 * word) | half(m, row, 2 * word + 1) << 16,
                1 => half(m, 2 * word, row) | half(m, 2 * word + 1, row) << 16,
                _ => (0..4).map(|i| byte(m, 4 * word + i, row) << (8 * i)).sum(),
            };
            assert_eq!(found, want, "way {way}, word {at}");
        }
    }
}

#[test]
fn stmatrix_needs_the_executing_ctas_shared_memory_and_alignment() {
    let k = ptx!(<sm_90, ptx 7.8> |offset: u32| .reqntid 32 {
        .reg .b32 %at, %i;
        .shared .align 16 .b32 tile[32];
        ld.param.u32 %i, [offset];
        mov.u32 %at, tile;
        add.u32 %at, %at, %i;
        stmatrix.sync.aligned.m8n8.x1.shared.b16 [%at], {%i};
    });
    k.launch(&Host::new(), Launch::grid(1), (0,)).unwrap();
    let fault = k.launch(&Host::new(), Launch::grid(1), (8,)).unwrap_err().to_string();
    assert!(fault.contains("is not a multiple of 16"), "{fault}");
    let fault = k.launch(&Host::new(), Launch::grid(1), (4096,)).unwrap_err().to_string();
    assert!(fault.contains("outside") || fault.contains("out of bounds"), "{fault}");
}
