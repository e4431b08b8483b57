//! Accesses to shared memory at an index, with addresses of 32 bits, which may take the register of the index: the same as plain
//! Rust, and the same reports as where the address is read by others too.

use crate::module;
use ptx_dsl::load::Kernel;
use ptx_dsl::prelude::*;

const THREADS: usize = 70;
const ROUNDS: usize = 8;
const WORDS: usize = 256;
/// Where the base is in shared memory.
const BASE: usize = 256;

/// How an address is made of `%i` and `%s`, where it is, and what the index is multiplied by.
struct Address {
    text: &'static str,
    register: &'static str,
    scale: usize,
    /// What `%z` is combined with in each round.
    seen: fn(u32) -> u32,
}

const fn address(text: &'static str, register: &'static str, scale: usize) -> Address {
    Address { text, register, scale, seen: |_| 0 }
}

const ADDRESSES: &[Address] = &[
    address("mad.lo.u32 %p, %i, 4, %s;", "%p", 4),
    address("mad.lo.s32 %i, %i, 4, %s;", "%i", 4),
    address("mad.lo.u32 %i, 6, %i, %s;", "%i", 6),
    address("shl.b32 %p, %i, 2; add.s32 %p, %s, %p;", "%p", 4),
    address("shl.b32 %i, %i, 3; add.u32 %i, %i, %s;", "%i", 8),
    address("mul.lo.u32 %i, %i, 12; add.u32 %p, %i, %s; add.u32 %o, %i, %s;", "%p", 12),
    address("mad.lo.u32 %p, %i, 4, %s; add.u32 %p, %p, 8; add.u32 %p, %p, -8;", "%p", 4),
    address("shl.b32 %p, %i, 2; add.u32 %p, %p, 256;", "%p", 4),
    address("mad.lo.u32 %p, %i, 4, %s; mad.lo.u32 %i, %i, 4, %s;", "%i", 4),
    Address { seen: |i| 4 * i, ..address("shl.b32 %i, %i, 2; xor.b32 %z, %z, %i; add.u32 %i, %i, %s;", "%i", 4) },
    Address { seen: |i| 4 * i, ..address("shl.b32 %o, %i, 2; add.u32 %i, %o, %s; xor.b32 %z, %z, %o;", "%i", 4) },
    Address {
        seen: |i| 4 * i,
        ..address("shl.b32 %i, %i, 2; add.u32 %p, %i, %s; xor.b32 %z, %z, %i; add.u32 %i, %i, %s;", "%i", 4)
    },
];

/// A thread takes an index in each round, and accesses memory there; `[P]` is the address. `apart`: others read it.
fn kernel(address: &Address, access: &str, apart: bool) -> Kernel {
    let Address { text, register, .. } = address;
    let access = access.replace("[P", &format!("[{register}"));
    // twice: what was combined is as before
    let other = format!("xor.b32 %z, %z, {register}; ").repeat(if apart { 2 } else { 0 });
    let text = format!(
        ".visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 index,\n\
         .param .u64 .ptr .global .align 4 out)\n.reqntid {THREADS}\n{{\n\
         .reg .b32 %t, %i, %j, %k, %v, %c, %s, %p, %o, %z, %w, %sum; .reg .pred %q, %odd; .reg .b64 %x, %y, %index, %out;\n\
         .shared .align 8 .b8 tile[{}];\n\
         ld.param.u64 %x, [x]; ld.param.u64 %index, [index]; ld.param.u64 %out, [out];\n\
         mov.u32 %t, %tid.x; mov.u32 %k, %t; mov.u32 %s, tile;\n\
         fill: mul.wide.u32 %y, %k, 4; add.u64 %y, %x, %y; ld.global.u32 %v, [%y]; shl.b32 %c, %k, 2; add.u32 %c, %c, %s;\n\
         st.shared.u32 [%c], %v; add.u32 %k, %k, {THREADS}; setp.lt.u32 %q, %k, {WORDS}; @%q bra fill;\n\
         bar.sync 0; add.u32 %s, %s, {BASE};\n\
         mad.wide.u32 %index, %t, {}, %index; and.b32 %w, %t, 1; mov.u32 %sum, 0; mov.u32 %z, 0; mov.u32 %j, 0; mov.u32 %v, 0;\n\
         next: ld.global.u32 %i, [%index]; add.u64 %index, %index, 4; add.u32 %j, %j, 1;\n\
         and.b32 %c, %i, 1; setp.ne.u32 %odd, %c, 0;\n\
         {text}\n{access}\n{other}\n\
         add.u32 %sum, %sum, %v; setp.lt.u32 %q, %j, {ROUNDS}; @%q bra next;\n\
         add.u32 %sum, %sum, %z; mad.wide.u32 %out, %t, 4, %out; st.global.u32 [%out], %sum;\n\
         bar.sync 0; mov.u32 %k, %t; mov.u32 %s, tile;\n\
         back: mul.wide.u32 %y, %k, 4; add.u64 %y, %x, %y; shl.b32 %c, %k, 2; add.u32 %c, %c, %s; ld.shared.u32 %v, [%c];\n\
         st.global.u32 [%y], %v; add.u32 %k, %k, {THREADS}; setp.lt.u32 %q, %k, {WORDS}; @%q bra back;\n\
         ret;\n}}\n",
        4 * WORDS,
        4 * ROUNDS,
    );
    module(&text).kernel("k").unwrap().clone()
}

fn random(i: usize) -> u32 {
    (i as u32).wrapping_mul(2_654_435_761) >> 7
}

struct Data {
    x: Vec<u32>,
    index: Vec<u32>,
    out: Vec<u32>,
}

impl Data {
    fn new(index: impl Fn(usize) -> u32) -> Data {
        let index = (0..THREADS * ROUNDS).map(index).collect();
        Data { x: (0..WORDS).map(random).collect(), index, out: vec![0; THREADS] }
    }

    fn run<M>(&mut self, kernel: &Kernel, host: &Host<M>) -> Result<(), Error> {
        let Data { x, index, out } = self;
        let mut buffers = [x.into(), index.into(), out.into()];
        kernel.launch_raw(host, Launch::grid(1).block(THREADS as u32), &mut buffers).map(|_| ())
    }
}

/// What an access does with the bytes at its address, in a round with an index: what the thread adds.
type Effect = fn(&mut [u8], u32, u32) -> u32;

fn word(at: &[u8]) -> u32 {
    u32::from_le_bytes(at[..4].try_into().unwrap())
}

fn set(at: &mut [u8], v: u32) -> u32 {
    at[..4].copy_from_slice(&v.to_le_bytes());
    0
}

fn plus(at: &mut [u8], v: u32) -> u32 {
    set(at, word(at).wrapping_add(v))
}

const ACCESSES: &[(&str, usize, Effect)] = &[
    ("ld.shared.u32 %v, [P];", 4, |at, _, _| word(at)),
    ("ld.volatile.shared.u32 %v, [P+4];", 4, |at, _, _| word(&at[4..])),
    ("ld.shared.s8 %v, [P+1];", 1, |at, _, _| at[1] as i8 as u32),
    ("ld.shared.u16 %v, [P+-2];", 2, |_, _, _| 0),
    ("ld.shared.u32 %i, [P]; mov.u32 %v, %i;", 4, |at, _, _| word(at)),
    ("mov.u32 %v, 0; @%odd ld.shared.u32 %v, [P];", 4, |at, _, i| if i & 1 != 0 { word(at) } else { 0 }),
    ("red.shared.add.u32 [P], 5;", 4, |at, _, _| plus(at, 5)),
    ("red.shared.add.u32 [P+4], %j;", 4, |at, j, _| plus(&mut at[4..], j)),
    ("@!%odd red.shared.add.u32 [P], %j;", 4, |at, j, i| if i & 1 == 0 { plus(at, j) } else { 0 }),
    ("st.shared.u32 [P], %t;", 4, |at, _, i| set(at, i % THREADS as u32)),
    ("ld.shared.u32 %v, [P]; red.shared.add.u32 [P], 0;", 4, |at, _, _| word(at)),
];

#[test]
fn all_addresses_and_accesses() {
    for address in ADDRESSES {
        for &(access, bytes, effect) in ACCESSES {
            if address.scale % bytes != 0 {
                continue;
            }
            // an index belongs to one thread
            let count = ((4 * WORDS - BASE - 16) / address.scale).min(THREADS) as u32;
            let index =
                |i: usize| if access.starts_with("st") { (i / ROUNDS) as u32 % count } else { random(i) % count };
            let mut data = Data::new(index);
            let mut memory: Vec<u8> = data.x.iter().flat_map(|v| v.to_le_bytes()).collect();
            let before = memory.clone();
            let mut out = vec![0u32; THREADS];
            for round in 0..ROUNDS {
                for (t, out) in out.iter_mut().enumerate() {
                    let i = data.index[t * ROUNDS + round];
                    let at = BASE + address.scale * i as usize;
                    let mut v = effect(&mut memory[at..], round as u32 + 1, i);
                    if access.contains("+-2") {
                        v = u32::from(memory[at - 2]) | u32::from(memory[at - 1]) << 8;
                    }
                    *out = out.wrapping_add(v);
                }
            }
            for (t, out) in out.iter_mut().enumerate() {
                let seen = data.index[t * ROUNDS..][..ROUNDS].iter().fold(0, |z, i| z ^ (address.seen)(*i));
                *out = out.wrapping_add(seen);
            }
            // several threads store to one index where there are fewer of them
            let unique = !access.starts_with("st") || count as usize == THREADS;
            for apart in [false, true] {
                let kernel = kernel(address, access, apart);
                data = Data::new(index);
                data.run(&kernel, &Host::new()).unwrap();
                let found: Vec<u8> = data.x.iter().flat_map(|v| v.to_le_bytes()).collect();
                let at = format!("{} {access} {apart}", address.text);
                assert_eq!(data.out, out, "{at}");
                assert!(!unique || found == memory, "{at}");
                assert!(!access.starts_with("ld") || found == before, "{at}");
                let mut data = Data::new(index);
                // one thread's addition of 0 is a race with another one's load
                if unique && !access.ends_with("0;") {
                    data.run(&kernel, &Host::checked()).unwrap();
                    assert_eq!(data.out, out, "{at}, checked");
                }
            }
        }
    }
}

#[test]
fn an_index_that_grows_in_a_loop() {
    // `%w` is an index, and then what the address is made of
    for text in ["shl.b32 %w, %w, 1; add.u32 %p, %w, %s;", "add.u32 %w, %w, 1; shl.b32 %p, %w, 1; add.u32 %p, %p, %s;"]
    {
        let grows = text.starts_with("shl");
        let kernel = kernel(&address(text, "%p", 2), "ld.shared.u16 %v, [P];", false);
        let mut data = Data::new(|_| 0);
        let bytes: Vec<u8> = data.x.iter().flat_map(|v| v.to_le_bytes()).collect();
        data.run(&kernel, &Host::new()).unwrap();
        let wanted = (0..THREADS).map(|t| {
            let at = |round: usize| BASE + if grows { (t & 1) << (round + 1) } else { 2 * ((t & 1) + round + 1) };
            (0..ROUNDS).map(|round| u32::from(u16::from_le_bytes([bytes[at(round)], bytes[at(round) + 1]]))).sum()
        });
        assert_eq!(data.out, wanted.collect::<Vec<u32>>(), "{text}");
    }
}

#[test]
fn sums_that_wrap_around_and_faults() {
    for address in ADDRESSES {
        for access in ["ld.shared.u32 %v, [P];", "red.shared.add.u32 [P], %j;", "@%odd st.shared.u32 [P], %t;"] {
            for wrong in [-4i32, -64, 64, 0x4000_0001, 100_000, i32::MIN + 1, 1000] {
                for at in [3, ROUNDS * 40 + 5, THREADS * ROUNDS - 1] {
                    let index = |i: usize| if i == at { wrong.cast_unsigned() | 1 } else { random(i) % 40 };
                    let [alone, apart] = [false, true].map(|apart| {
                        let kernel = kernel(address, access, apart);
                        [Host::new().run_on(&kernel, index), Host::checked().run_on(&kernel, index)]
                    });
                    assert_eq!(alone, apart, "{} {access} {wrong} {at}", address.text);
                    assert!(!matches!(wrong, 1000 | 100_000) || alone[0].is_err(), "{} {access} {wrong}", address.text);
                }
            }
        }
    }
}

/// Runs a kernel: what it leaves, or the report, which names no variable: only that of one form of the kernel knows it.
trait RunOn {
    fn run_on(&self, kernel: &Kernel, index: impl Fn(usize) -> u32) -> Result<[Vec<u32>; 2], String>;
}

impl<M> RunOn for Host<M> {
    fn run_on(&self, kernel: &Kernel, index: impl Fn(usize) -> u32) -> Result<[Vec<u32>; 2], String> {
        let mut data = Data::new(index);
        let without_names = |line: &str| match line.trim_start_matches("error: ").starts_with("access of ") {
            true => "an access\n".to_owned(),
            false => format!("{line}\n"),
        };
        data.run(kernel, self).map_err(|error| error.to_string().lines().map(without_names).collect::<String>())?;
        Ok([data.x, data.out])
    }
}
