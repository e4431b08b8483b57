//! A bulk copy of 64 KiB, and tiles of 64 x 128 bytes with the 128-byte swizzle: from global to shared memory, many times.
//! The Rust counterpart copies the same bytes with `copy_from_slice`.

use super::Case;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};

/// Bytes of a copy, and their number.
const BYTES: usize = 65536;
const COPIES: usize = 4096;
/// Rows of 4 KiB; a tile is 128 bytes of each of 512 of them.
const ROWS: usize = 512;
const PITCH: usize = 4096;

ptx! {
    <sm_90, ptx 8.0, allow(PTX0646)>
    .extern .shared .align 1024 .b8 copied[];

    // Each copy waits for the one before it. The words of the last one go to `y`.
    .visible .entry bulk_copy(
        .param .u64 .ptr .global .align 16 x: &[u32],
        .param .u64 .ptr .global .align 4 y: &mut [u32],
        .param .u32 n)
        .reqntid 32
    {
        .reg .pred %p, %first, %more;
        .reg .b32 %t, %i, %n, %at, %v, %parity;
        .reg .b64 %x, %y, %o;
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        setp.eq.u32 %first, %t, 0;
        @%first mbarrier.init.shared::cta.b64 [full], 1;
        fence.mbarrier_init.release.cluster;
        bar.sync 0;
        ld.param.u64 %x, [x];
        ld.param.u32 %n, [n];
        mov.u32 %i, 0;
      next:
        @!%first bra wait;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 65536;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [copied], [%x], 65536, [full];
      wait:
        and.b32 %parity, %i, 1;
      again:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], %parity;
        @!%p bra again;
        bar.sync 0;
        add.u32 %i, %i, 1;
        setp.lt.u32 %more, %i, %n;
        @%more bra next;
        ld.param.u64 %y, [y];
        mul.wide.u32 %o, %t, 4;
        add.u64 %y, %y, %o;
        mov.u32 %at, copied;
        mad.lo.u32 %at, %t, 2048, %at;
        ld.shared.u32 %v, [%at];
        st.global.u32 [%y], %v;
        ret;
    }

    .visible .entry tile_copy(
        .param .align 64 .b8 map[128],
        .param .u64 .ptr .global .align 4 y: &mut [u32],
        .param .u32 n)
        .reqntid 32
    {
        .reg .pred %p, %first, %more;
        .reg .b32 %t, %i, %n, %at, %v, %parity, %column;
        .reg .b64 %map, %y, %o;
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        setp.eq.u32 %first, %t, 0;
        @%first mbarrier.init.shared::cta.b64 [full], 1;
        fence.mbarrier_init.release.cluster;
        bar.sync 0;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        ld.param.u32 %n, [n];
        mov.u32 %i, 0;
      next:
        @!%first bra wait;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 65536;
        and.b32 %column, %i, 31;
        shl.b32 %column, %column, 7;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [copied], [%map, {%column, 0}], [full];
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [copied+32768], [%map, {%column, 256}], [full];
      wait:
        and.b32 %parity, %i, 1;
      again:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], %parity;
        @!%p bra again;
        bar.sync 0;
        add.u32 %i, %i, 1;
        setp.lt.u32 %more, %i, %n;
        @%more bra next;
        ld.param.u64 %y, [y];
        mul.wide.u32 %o, %t, 4;
        add.u64 %y, %y, %o;
        mov.u32 %at, copied;
        mad.lo.u32 %at, %t, 2048, %at;
        ld.shared.u32 %v, [%at];
        st.global.u32 [%y], %v;
        ret;
    }
}

/// The first word of each 2 KiB.
fn words(tile: &[u8]) -> Vec<u32> {
    tile.chunks(2048).map(|part| u32::from_le_bytes([part[0], part[1], part[2], part[3]])).collect()
}

struct Bulk {
    x: Vec<u32>,
    y: Vec<u32>,
    tile: Vec<u8>,
}

pub fn bulk_case() -> Box<dyn Case> {
    let x = (0..BYTES as u32 / 4).map(|i| i.wrapping_mul(2654435761)).collect();
    Box::new(Bulk { x, y: vec![0; 32], tile: vec![0; BYTES] })
}

impl Case for Bulk {
    crate::launches!(self, host => bulk_copy.launch(host, Launch::grid(1).block(32).dynamic_shared(BYTES as u32), (&self.x, &mut self.y, COPIES as u32)));

    fn hand(&mut self) {
        let x: Vec<u8> = self.x.iter().flat_map(|word| word.to_le_bytes()).collect();
        for _ in 0..COPIES {
            std::hint::black_box(&mut self.tile).copy_from_slice(std::hint::black_box(&x));
        }
    }

    fn agrees(&self) -> bool {
        self.y == words(&self.tile)
    }
}

struct Tile {
    x: Vec<u8>,
    y: Vec<u32>,
    tile: Vec<u8>,
}

pub fn tile_case() -> Box<dyn Case> {
    let x = (0..(ROWS * PITCH) as u32).map(|i| (i.wrapping_mul(2654435761) >> 11) as u8).collect();
    Box::new(Tile { x, y: vec![0; 32], tile: vec![0; BYTES] })
}

impl Tile {
    fn map(&self) -> TensorMap<'_> {
        let map = TensorMap::tiled(&self.x, ElementType::U8).dims([PITCH as u64, ROWS as u64]);
        map.box_dims([128, 256]).swizzle(Swizzle::B128).build().expect("a valid map")
    }
}

impl Case for Tile {
    fn ours(&mut self, host: &Host) {
        let mut y = std::mem::take(&mut self.y);
        let args = (&self.map(), &mut y[..], COPIES as u32);
        tile_copy.launch(host, Launch::grid(1).block(32).dynamic_shared(BYTES as u32), args).expect("a clean run");
        self.y = y;
    }

    fn checked(&mut self, host: &Host<ptx_dsl::Checked>) {
        let mut y = std::mem::take(&mut self.y);
        let args = (&self.map(), &mut y[..], COPIES as u32);
        tile_copy.launch(host, Launch::grid(1).block(32).dynamic_shared(BYTES as u32), args).expect("a clean run");
        self.y = y;
    }

    /// The rows of the tile, each at once; at the end the pieces of 16 bytes are exchanged.
    fn hand(&mut self) {
        for i in 0..COPIES {
            let column = i % 32 * 128;
            let tile = std::hint::black_box(&mut self.tile);
            for (to, from) in tile.chunks_exact_mut(128).zip(self.x.chunks_exact(PITCH)) {
                to.copy_from_slice(&from[column..column + 128]);
            }
        }
        for (row, line) in self.tile.chunks_exact_mut(128).enumerate() {
            let plain: [u8; 128] = std::array::from_fn(|i| line[i]);
            for (i, byte) in plain.iter().enumerate() {
                line[i ^ ((row % 8) << 4)] = *byte;
            }
        }
    }

    fn agrees(&self) -> bool {
        self.y == words(&self.tile)
    }
}
