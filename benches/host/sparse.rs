//! Irregular access: a sparse matrix (CSR) times a vector, a gather with random indices, a level of breadth-first search.

use super::Case;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

pub const ROWS: usize = 1 << 18;
const GATHERED: usize = 1 << 23;

ptx! {
    <sm_80, ptx 7.0>
    // One thread per row.
    .visible .entry multiply(
        .param .u64 .ptr .global .align 4 starts: &[u32],
        .param .u64 .ptr .global .align 4 columns: &[u32],
        .param .u64 .ptr .global .align 4 values: &[u32],
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 y: &mut [u32])
        .reqntid 128
    {
        .reg .pred %p;
        .reg .b32 %i, %b, %at, %end, %c, %v, %u, %sum;
        .reg .b64 %starts, %columns, %values, %x, %y, %o, %from;
        ld.param.u64 %starts, [starts];
        ld.param.u64 %columns, [columns];
        ld.param.u64 %values, [values];
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        mov.u32 %b, %ctaid.x;
        mov.u32 %i, %tid.x;
        mad.lo.u32 %i, %b, 128, %i;
        mul.wide.u32 %o, %i, 4;
        add.u64 %from, %starts, %o;
        ld.global.u32 %at, [%from];
        ld.global.u32 %end, [%from+4];
        mov.u32 %sum, 0;
        setp.ge.u32 %p, %at, %end;
        @%p bra done;
      next:
        mul.wide.u32 %from, %at, 4;
        add.u64 %from, %columns, %from;
        ld.global.u32 %c, [%from];
        mul.wide.u32 %from, %at, 4;
        add.u64 %from, %values, %from;
        ld.global.u32 %v, [%from];
        mul.wide.u32 %from, %c, 4;
        add.u64 %from, %x, %from;
        ld.global.u32 %u, [%from];
        mad.lo.u32 %sum, %u, %v, %sum;
        add.u32 %at, %at, 1;
        setp.lt.u32 %p, %at, %end;
        @%p bra next;
      done:
        add.u64 %y, %y, %o;
        st.global.u32 [%y], %sum;
        ret;
    }

    .visible .entry take(
        .param .u64 .ptr .global .align 4 index: &[u32],
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 y: &mut [u32])
        .reqntid 256
    {
        .reg .b32 %i, %b, %v;
        .reg .b64 %index, %x, %y, %o;
        ld.param.u64 %index, [index];
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        mov.u32 %b, %ctaid.x;
        mov.u32 %i, %tid.x;
        mad.lo.u32 %i, %b, 256, %i;
        mul.wide.u32 %o, %i, 4;
        add.u64 %index, %index, %o;
        ld.global.u32 %v, [%index];
        add.u64 %y, %y, %o;
        mul.wide.u32 %o, %v, 4;
        add.u64 %x, %x, %o;
        ld.global.u32 %v, [%x];
        st.global.u32 [%y], %v;
        ret;
    }

    // Nodes of the level mark their unreached neighbours.
    .visible .entry level(
        .param .u64 .ptr .global .align 4 starts: &[u32],
        .param .u64 .ptr .global .align 4 edges: &[u32],
        .param .u64 .ptr .global .align 4 depth: &mut [u32],
        .param .u32 now)
        .reqntid 128
    {
        .reg .pred %p;
        .reg .b32 %i, %b, %at, %end, %c, %d, %now, %next;
        .reg .b64 %starts, %edges, %depth, %o, %from;
        ld.param.u64 %starts, [starts];
        ld.param.u64 %edges, [edges];
        ld.param.u64 %depth, [depth];
        ld.param.u32 %now, [now];
        add.u32 %next, %now, 1;
        mov.u32 %b, %ctaid.x;
        mov.u32 %i, %tid.x;
        mad.lo.u32 %i, %b, 128, %i;
        mul.wide.u32 %o, %i, 4;
        add.u64 %from, %depth, %o;
        ld.relaxed.gpu.global.u32 %d, [%from];
        setp.ne.u32 %p, %d, %now;
        @%p ret;
        add.u64 %from, %starts, %o;
        ld.global.u32 %at, [%from];
        ld.global.u32 %end, [%from+4];
        setp.ge.u32 %p, %at, %end;
        @%p ret;
      next:
        mul.wide.u32 %from, %at, 4;
        add.u64 %from, %edges, %from;
        ld.global.u32 %c, [%from];
        mul.wide.u32 %from, %c, 4;
        add.u64 %from, %depth, %from;
        ld.relaxed.gpu.global.u32 %d, [%from];
        setp.eq.u32 %p, %d, -1;
        @%p st.relaxed.gpu.global.u32 [%from], %next;
        add.u32 %at, %at, 1;
        setp.lt.u32 %p, %at, %end;
        @%p bra next;
        ret;
    }
}

/// Rows of 0 to 31 entries at random places.
pub fn graph(random: &mut Random) -> (Vec<u32>, Vec<u32>) {
    let (mut starts, mut columns) = (vec![0], Vec::new());
    for _ in 0..ROWS {
        let n = random.word() % 32;
        columns.extend((0..n).map(|_| random.word() % ROWS as u32));
        starts.push(columns.len() as u32);
    }
    (starts, columns)
}

struct Spmv {
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<u32>,
    x: Vec<u32>,
    y: Vec<u32>,
    hand: Vec<u32>,
}

pub fn spmv() -> Box<dyn Case> {
    let mut random = Random::new(13);
    let (starts, columns) = graph(&mut random);
    let values = columns.iter().map(|_| random.word()).collect();
    let x = (0..ROWS).map(|_| random.word()).collect();
    Box::new(Spmv { starts, columns, values, x, y: vec![0; ROWS], hand: vec![0; ROWS] })
}

impl Case for Spmv {
    crate::launches!(self, host => multiply.launch(
        host,
        Launch::grid((ROWS / 128) as u32).block(128),
        (&self.starts, &self.columns, &self.values, &self.x, &mut self.y)
    ));

    fn hand(&mut self) {
        for (y, row) in self.hand.iter_mut().zip(self.starts.windows(2)) {
            let row = row[0] as usize..row[1] as usize;
            let terms = self.columns[row.clone()].iter().zip(&self.values[row]);
            *y = terms.fold(0, |s, (c, v)| s.wrapping_add(v.wrapping_mul(self.x[*c as usize])));
        }
    }

    fn agrees(&self) -> bool {
        self.y == self.hand
    }
}

struct Gather {
    index: Vec<u32>,
    x: Vec<u32>,
    y: Vec<u32>,
    hand: Vec<u32>,
}

pub fn gather() -> Box<dyn Case> {
    let mut random = Random::new(17);
    let index = (0..GATHERED).map(|_| random.word() % GATHERED as u32).collect();
    let x = (0..GATHERED).map(|_| random.word()).collect();
    Box::new(Gather { index, x, y: vec![0; GATHERED], hand: vec![0; GATHERED] })
}

impl Case for Gather {
    crate::launches!(self, host => take.launch(
        host,
        Launch::grid((GATHERED / 256) as u32).block(256),
        (&self.index, &self.x, &mut self.y)
    ));

    fn hand(&mut self) {
        for (y, i) in self.hand.iter_mut().zip(&self.index) {
            *y = self.x[*i as usize];
        }
    }

    fn agrees(&self) -> bool {
        self.y == self.hand
    }
}

struct Bfs {
    starts: Vec<u32>,
    edges: Vec<u32>,
    before: Vec<u32>,
    depth: Vec<u32>,
    hand: Vec<u32>,
}

/// The third level: some thousands of nodes.
const NOW: u32 = 2;

fn expand(starts: &[u32], edges: &[u32], depth: &mut [u32], now: u32) {
    for i in 0..ROWS {
        if depth[i] == now {
            for &c in &edges[starts[i] as usize..starts[i + 1] as usize] {
                if depth[c as usize] == u32::MAX {
                    depth[c as usize] = now + 1;
                }
            }
        }
    }
}

pub fn bfs() -> Box<dyn Case> {
    let mut random = Random::new(19);
    let (starts, edges) = graph(&mut random);
    let mut before = vec![u32::MAX; ROWS];
    for _ in 0..64 {
        before[random.word() as usize % ROWS] = 0;
    }
    for now in 0..NOW {
        expand(&starts, &edges, &mut before, now);
    }
    Box::new(Bfs { starts, edges, before, depth: vec![0; ROWS], hand: vec![0; ROWS] })
}

impl Case for Bfs {
    crate::launches!(self, host => {
        self.depth.copy_from_slice(&self.before);
        level.launch(host, Launch::grid((ROWS / 128) as u32).block(128), (&self.starts, &self.edges, &mut self.depth, NOW))
    });

    fn hand(&mut self) {
        self.hand.copy_from_slice(&self.before);
        expand(&self.starts, &self.edges, &mut self.hand, NOW);
    }

    fn agrees(&self) -> bool {
        self.depth == self.hand
    }
}
