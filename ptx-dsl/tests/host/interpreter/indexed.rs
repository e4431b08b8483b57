//! Accesses at a base and an index: the same as plain Rust, and the same reports as where the address is read by others too.

use crate::module;
use ptx_dsl::load::Kernel;
use ptx_dsl::prelude::*;

const BLOCK: u32 = 70;
const THREADS: usize = 2 * BLOCK as usize;
const ROUNDS: usize = 8;
/// Bytes before the base, so that there are negative indices.
const BEFORE: i64 = 256;
const BYTES: usize = 1024;

/// A thread loads an index, and accesses `x` there, in as many rounds as `rounds` says; `%p` is the address. `address` makes it of
/// `%i` and `%x`. `apart`: others read it.
fn kernel(address: &str, access: &str, apart: bool) -> Kernel {
    let other = if apart { "xor.b64 %z, %z, %p; xor.b64 %z, %z, %o;" } else { "" };
    let text = format!(
        ".visible .entry k(.param .u64 .ptr .global .align 8 x, .param .u64 .ptr .global .align 4 index,\n\
         .param .u64 .ptr .global .align 4 rounds, .param .u64 .ptr .global .align 8 out)\n{{\n\
         .reg .b16 %h; .reg .b32 %t, %i, %j, %n, %v, %c; .reg .pred %q, %odd; .reg .b64 %x, %d, %index, %out, %o, %p, %w, %z, %sum;\n\
         ld.param.u64 %x, [x]; ld.param.u64 %index, [index]; ld.param.u64 %out, [out]; add.u64 %x, %x, {BEFORE};\n\
         mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %t, %c, {BLOCK}, %t;\n\
         ld.param.u64 %o, [rounds]; mad.wide.u32 %o, %t, 4, %o; ld.global.u32 %n, [%o];\n\
         mad.wide.u32 %out, %t, 8, %out; mad.wide.u32 %index, %t, {}, %index;\n\
         mov.u64 %sum, 0; mov.u64 %z, 0; mov.u64 %p, 0; mov.u32 %j, 0; mov.u32 %v, 0; mov.u64 %w, 0;\n\
         next: ld.global.u32 %i, [%index]; add.u64 %index, %index, 4; add.u32 %j, %j, 1;\n\
         and.b32 %c, %i, 8; setp.ne.u32 %odd, %c, 0;\n\
         {address}\n{access}\n\
         add.u64 %sum, %sum, %w; {other}\nsetp.lt.u32 %q, %j, %n; @%q bra next;\n\
         st.global.u64 [%out], %sum; setp.eq.u64 %q, %z, 1; @%q st.global.u64 [%out], %z; ret;\n}}\n",
        4 * ROUNDS
    );
    module(&text).kernel("k").unwrap().clone()
}

/// How an address is made, whether the index is signed, and what it is multiplied by.
const ADDRESSES: &[(&str, bool, i64)] = &[
    ("mul.wide.u32 %o, %i, 4; add.s64 %p, %x, %o;", false, 4),
    ("mul.wide.s32 %o, %i, 4; add.s64 %p, %o, %x;", true, 4),
    ("mul.wide.u32 %o, %i, 4; add.s64 %p, %x, %o; add.s64 %d, %x, %o;", false, 4),
    ("mul.wide.s32 %p, %i, 4; add.s64 %p, %x, %p; mov.u64 %o, 0;", true, 4),
    ("mov.u64 %p, %x; mul.wide.u32 %o, %i, 8; add.u64 %p, %p, %o;", false, 8),
    ("cvt.u64.u32 %o, %i; shl.b64 %o, %o, 3; add.u64 %p, %x, %o;", false, 8),
    ("cvt.s64.s32 %o, %i; shl.b64 %p, %o, 3; add.s64 %p, %x, %p;", true, 8),
    ("mad.wide.u32 %p, %i, 12, %x; mov.u64 %o, 0;", false, 12),
    ("mad.wide.s32 %p, %i, 16, %x; mov.u64 %o, 0;", true, 16),
    ("cvt.u64.u32 %o, %i; mul.lo.u64 %o, %o, 6; add.u64 %o, %o, %x; mov.u64 %p, %o;", false, 6),
    ("cvt.u64.u32 %o, %i; mul.lo.u64 %o, %o, 2; add.u64 %p, %o, %x; add.u64 %p, %p, 2; sub.u64 %p, %p, 2;", false, 2),
    ("cvt.u64.u32 %o, %i; mul.lo.u64 %o, %o, 2; add.u64 %p, %o, 2; add.u64 %p, %p, %x; add.u64 %p, %p, -2;", false, 2),
    ("cvt.s64.s32 %o, %i; add.s64 %p, %x, %o;", true, 1),
];

struct Data {
    x: Vec<u64>,
    index: Vec<u32>,
    rounds: Vec<u32>,
    out: Vec<u64>,
}

fn random(i: usize) -> u32 {
    (i as u32).wrapping_mul(2_654_435_761) >> 7
}

impl Data {
    /// So many words, and such indices of each thread and round.
    fn new(words: usize, index: impl Fn(usize) -> i64) -> Data {
        Data {
            x: (0..words).map(|i| u64::from(random(i)) << 32 | u64::from(random(i + 999))).collect(),
            index: (0..THREADS * ROUNDS).map(|i| index(i) as u32).collect(),
            rounds: (0..THREADS).map(|t| 3 + (random(t) % 6)).collect(),
            out: vec![0; THREADS],
        }
    }

    fn run<M>(&mut self, kernel: &Kernel, host: &Host<M>) -> Result<(), Error> {
        let Data { x, index, rounds, out } = self;
        let mut buffers = [x.into(), index.into(), rounds.into(), out.into()];
        kernel.launch_raw(host, Launch::grid(2).block(BLOCK), &mut buffers).map(|_| ())
    }

    /// The same indices for each thread in its rounds.
    fn rounds_of(&self, t: usize) -> &[u32] {
        &self.index[t * ROUNDS..][..self.rounds[t] as usize]
    }
}

/// Where an index is in `x`.
fn place(index: u32, (signed, scale, offset): (bool, i64, i64)) -> usize {
    let index = if signed { i64::from(index.cast_signed()) } else { i64::from(index) };
    (BEFORE + index * scale + offset) as usize
}

fn bytes_of(x: &[u64]) -> Vec<u8> {
    x.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Runs a kernel on hosts of all kinds.
fn everywhere(kernel: &Kernel, data: impl Fn() -> Data, check: impl Fn(&Data)) {
    for host in 0..3 {
        let mut data = data();
        let ran = match host {
            0 => data.run(kernel, &Host::new()),
            1 => data.run(kernel, &Host::checked()),
            _ => data.run(kernel, &Host::new().threads(2)),
        };
        ran.unwrap();
        check(&data);
    }
}

#[test]
fn loads_of_all_widths() {
    // what a thread adds, of the eight bytes at its address
    type Value = fn(u64) -> u64;
    let loads: &[(&str, i64, usize, Value)] = &[
        ("ld.global.u8 %v, [%p]; cvt.u64.u32 %w, %v;", 0, 1, |v| v & 0xff),
        ("ld.global.s8 %w, [%p+3];", 3, 1, |v| (v as i8) as u64),
        ("ld.global.s16 %v, [%p+-2]; cvt.u64.u32 %w, %v;", -2, 2, |v| u64::from((v as i16) as u32)),
        ("ld.global.u16 %h, [%p]; cvt.u64.u16 %w, %h;", 0, 2, |v| v & 0xffff),
        ("ld.global.u32 %v, [%p]; cvt.u64.u32 %w, %v;", 0, 4, |v| v & 0xffff_ffff),
        ("ld.global.u32 %i, [%p+4]; cvt.u64.u32 %w, %i;", 4, 4, |v| v & 0xffff_ffff),
        ("ld.global.s32 %w, [%p+-4];", -4, 4, |v| (v as i32) as u64),
        ("ld.relaxed.gpu.global.u64 %w, [%p+8];", 8, 8, |v| v),
        ("ld.u32 %v, [%p]; ld.global.u16 %c, [%p+2]; add.u32 %v, %v, %c; cvt.u64.u32 %w, %v;", 0, 4, |v| {
            u64::from((v as u32).wrapping_add(v as u32 >> 16))
        }),
        ("ld.global.u64 %w, [%p]; @%odd ld.global.u32 %w, [%p+4];", 0, 8, |v| v),
        ("ld.global.v2.u32 {%v, %c}, [%p]; mov.b64 %w, {%v, %c};", 0, 8, |v| v),
    ];
    for &(address, signed, scale) in ADDRESSES {
        for &(load, offset, bytes, value) in loads {
            if scale % bytes as i64 != 0 {
                continue;
            }
            let low = if signed { -240 / scale } else { 0 };
            let count = 700 / scale - low;
            let new = || Data::new(BYTES / 8, |i| low + i64::from(random(i)) % count);
            let data = new();
            let x = bytes_of(&data.x);
            let eight = |at: usize| u64::from_le_bytes(x[at..at + 8].try_into().unwrap());
            let wanted: Vec<u64> = (0..THREADS)
                .map(|t| {
                    let sum = |sum: u64, index: &u32| {
                        let v = eight(place(*index, (signed, scale, offset)));
                        let half = load.contains("@%odd") && index & 8 != 0;
                        sum.wrapping_add(if half { v >> 32 } else { value(v) })
                    };
                    data.rounds_of(t).iter().fold(0, sum)
                })
                .collect();
            for apart in [false, true] {
                let kernel = kernel(address, load, apart);
                everywhere(&kernel, new, |data| assert_eq!(data.out, wanted, "{address} {load} {apart}"));
            }
        }
    }
}

#[test]
fn stores_and_additions() {
    // what becomes of an element, of the round (from 1 on) and the index
    type Change = fn(u64, u64, u32) -> u64;
    let changes: &[(&str, i64, usize, Change)] = &[
        ("st.global.u32 [%p], %j;", 0, 4, |_, j, _| j),
        ("st.global.u32 [%p+4], %i;", 4, 4, |_, _, i| i.into()),
        ("st.global.u8 [%p], %i;", 0, 1, |_, _, i| u64::from(i as u8)),
        ("st.global.u16 [%p+-2], 77;", -2, 2, |_, _, _| 77),
        ("@%odd st.relaxed.gpu.global.u32 [%p], %j;", 0, 4, |v, j, i| if i & 8 != 0 { j } else { v }),
        ("@!%odd st.u32 [%p], %i;", 0, 4, |v, _, i| if i & 8 == 0 { i.into() } else { v }),
        ("cvt.u64.u32 %w, %i; st.global.u64 [%p+8], %w; mov.u64 %w, 0;", 8, 8, |_, _, i| i.into()),
        ("red.global.add.u32 [%p], 5;", 0, 4, |v, _, _| (v + 5) & 0xffff_ffff),
        (
            "@%odd red.global.add.u32 [%p], %i;",
            0,
            4,
            |v, _, i| {
                if i & 8 != 0 { (v + u64::from(i)) & 0xffff_ffff } else { v }
            },
        ),
        ("cvt.u64.u32 %w, %i; red.global.add.u64 [%p], %w; mov.u64 %w, 0;", 0, 8, |v, _, i| v.wrapping_add(i.into())),
        ("atom.global.add.u32 %v, [%p], 1;", 0, 4, |v, _, _| (v + 1) & 0xffff_ffff),
        ("ld.global.u32 %v, [%p]; add.u32 %v, %v, 3; st.global.u32 [%p], %v;", 0, 4, |v, _, _| (v + 3) & 0xffff_ffff),
    ];
    for &(address, signed, scale) in ADDRESSES {
        for &(change, offset, bytes, new) in changes {
            if scale % bytes as i64 != 0 {
                continue;
            }
            // each index once
            let low = if signed { -240 / scale } else { 0 };
            let count = (THREADS * ROUNDS) as i64;
            let index = |i: usize| low + (i as i64 * 37 + 11) % count;
            let words = (BEFORE + (count + low) * scale + 64) as usize / 8;
            let mut wanted = Data::new(words, index);
            let mut x = bytes_of(&wanted.x);
            for t in 0..THREADS {
                for (j, index) in (1..).zip(wanted.rounds_of(t)) {
                    let at = place(*index, (signed, scale, offset));
                    let mut eight = [0; 8];
                    eight[..bytes].copy_from_slice(&x[at..at + bytes]);
                    let new = new(u64::from_le_bytes(eight), j, *index).to_le_bytes();
                    x[at..at + bytes].copy_from_slice(&new[..bytes]);
                }
            }
            wanted.x = x.chunks(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
            for apart in [false, true] {
                let kernel = kernel(address, change, apart);
                let new = || Data::new(words, index);
                everywhere(&kernel, new, |data| assert_eq!(data.x, wanted.x, "{address} {change} {apart}"));
            }
        }
    }
}

#[test]
fn reports_name_the_same_registers() {
    let accesses = [
        "ld.global.u32 %v, [%p];",
        "ld.global.u32 %i, [%p+4];",
        "ld.global.u32 %v, [%p]; st.global.u32 [%p+4], %v;",
        "st.global.u32 [%p+-4], %j;",
        "@%odd st.global.u32 [%p], %i;",
        "red.global.add.u32 [%p], %j;",
        "st.global.u32 [%p], %j; ld.global.u32 %v, [%x+-4096];",
        "ld.u32 %v, [%p];",
    ];
    for &(address, _, scale) in ADDRESSES.iter().filter(|(.., scale)| scale % 4 == 0) {
        for access in accesses {
            for (thread, round) in [(0, 0), (37, 1), (69, 2), (70, 2), (33, 2), (139, 2)] {
                for wrong in [100_008, -99_992, 0x7fff_fff8, -8] {
                    let index = |i: usize| match i {
                        i if i == thread * ROUNDS + round => wrong,
                        _ => 8 + i64::from(random(i)) % (600 / scale),
                    };
                    let [alone, apart] = [false, true].map(|apart| {
                        let kernel = kernel(address, access, apart);
                        let new = || Data::new(BYTES / 8, index);
                        let said = [new().run(&kernel, &Host::new()), new().run(&kernel, &Host::checked())];
                        said.map(|said| said.map_err(|error| error.to_string()))
                    });
                    assert_eq!(alone, apart, "{address} {access} {thread} {round} {wrong}");
                    assert!(wrong == -8 || alone[0].is_err(), "{address} {access} {thread} {round} {wrong}");
                }
            }
        }
    }
}

#[test]
fn other_reports_are_the_same() {
    let same = |address: &str, access: &str, run: &dyn Fn(&Kernel) -> Result<(), Error>| {
        let [alone, apart] = [false, true].map(|apart| run(&kernel(address, access, apart)).map_err(|e| e.to_string()));
        assert_eq!(alone, apart, "{address} {access}");
        assert!(alone.is_err(), "{address} {access}");
    };
    let (address, ..) = ADDRESSES[0];
    let good = |i: usize| i64::from(random(i)) % 100;
    // memory that kernels cannot write
    same(address, "st.global.u32 [%p], %j;", &|kernel| {
        let Data { x, index, rounds, mut out } = Data::new(BYTES / 8, good);
        let mut buffers = [(&x).into(), (&index).into(), (&rounds).into(), (&mut out).into()];
        kernel.launch_raw(&Host::new(), Launch::grid(2).block(BLOCK), &mut buffers).map(|_| ())
    });
    // misaligned
    same("mad.wide.u32 %p, %i, 2, %x; mov.u64 %o, 0;", "ld.global.u32 %v, [%p];", &|kernel| {
        Data::new(BYTES / 8, good).run(kernel, &Host::new())
    });
    same(address, "ld.global.u32 %v, [%p+2];", &|kernel| Data::new(BYTES / 8, good).run(kernel, &Host::new()));
    // races
    for access in
        ["st.global.u32 [%p], %j;", "@%odd st.global.u32 [%p], %t;", "ld.global.u32 %v, [%p]; st.global.u32 [%p], %v;"]
    {
        same(address, access, &|kernel| Data::new(BYTES / 8, good).run(kernel, &Host::checked()));
    }
}
