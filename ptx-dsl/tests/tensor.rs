//! Tensor copies and bulk reductions give what an H200 gave: `tests/hardware/tensor`.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use ptx_dsl::fault::FaultKind;
use ptx_dsl::load::Module;
use ptx_dsl::tensor_map::{ElementType, Fill, Interleave, Swizzle, TensorMap, TensorMapError};
use ptx_dsl::{Arg, Error, Host, Launch};

const SPECIAL: [u32; 16] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc1_2345,
    0x7f81_2345,
    0x3f80_1000,
    0x3f80_3000,
    0x3f80_0fff,
    0x3f80_1001,
    0x7f7f_ffff,
    0xff7f_f000,
];

fn file(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "tests", "hardware", "tensor", name].iter().collect()
}

fn mix(seed: u32, i: u32) -> u32 {
    let mut h = i.wrapping_mul(0x9E37_79B1).wrapping_add(seed.wrapping_mul(0x85EB_CA6B)).wrapping_add(0x0123_4567);
    h ^= h >> 15;
    h = h.wrapping_mul(0x2C1B_3C6D);
    h ^= h >> 12;
    h = h.wrapping_mul(0x297A_2D39);
    h ^ h >> 15
}

/// Four bytes of data, as `run.py` makes them.
fn word(kind: &str, ty: &str, seed: u32, i: u32) -> u32 {
    let h = mix(seed, i);
    let special = h >> 5 & 7 == 0;
    let half = |v: u32| if ty == "f16" || special { v } else { v & 0x807f | (120 + (v >> 7 & 15)) << 7 };
    match (kind, ty) {
        ("small", _) => h & 7,
        ("raw", _) => h,
        (_, "f16" | "bf16") => half(h & 0xffff) | half(mix(seed + 77, i) & 0xffff) << 16,
        (_, "f64") if i & 1 == 0 => h,
        _ if special => SPECIAL[(h >> 8 & 15) as usize],
        (_, "f64") => h & 0x800f_ffff | (1015 + (h >> 20 & 15)) << 20,
        _ => h & 0x807f_ffff | (120 + (h >> 23 & 15)) << 23,
    }
}

/// Bit patterns of a type at which reductions differ, as `run.py` makes them.
fn special(ty: &str) -> Vec<u64> {
    let float = |exponent: u32, mantissa: u32| {
        let (one, infinity) = (((1u64 << (exponent - 1)) - 1) << mantissa, ((1u64 << exponent) - 1) << mantissa);
        let (ulp, half) = (1u64 << mantissa, u64::from(mantissa + 1) << mantissa);
        let magnitudes = [
            0,
            1,
            ulp - 1,
            ulp,
            ulp + 1,
            2 * ulp - 1,
            2 * ulp,
            one,
            one + 1,
            one - half,
            one - half + 1,
            infinity - 1,
            infinity - ulp - half,
            infinity,
            infinity | (ulp / 2) | 5,
            infinity | 5,
        ];
        let sign = 1 << (exponent + mantissa);
        magnitudes.into_iter().chain(magnitudes.map(|v| v | sign)).collect()
    };
    let integer = |ones: u64| {
        let least = (ones >> 1) + 1;
        let small = [0, 1, 2, 3, 4, 100, 0x80];
        let large = [least - 2, least - 1, least, least + 1, ones / 3, ones / 3 * 2, ones - 15, ones - 1, ones];
        small.into_iter().chain(large).collect()
    };
    match ty {
        "f16" => float(5, 10),
        "bf16" => float(8, 7),
        "f32" | "f32ftz" => float(8, 23),
        "f64" => float(11, 52),
        "u64" | "s64" => integer(u64::MAX),
        _ => integer(u64::from(u32::MAX)),
    }
}

/// All pairs of special values: the first of a pair where the seed is 1, the second elsewhere.
fn edge(ty: &str, seed: u32, size: usize) -> Vec<u8> {
    let (values, width) = (special(ty), Case::of(&format!("- {ty}")).element().1 as usize);
    let digit = |i: usize| if seed == 1 { i } else { i / values.len() } % values.len();
    (0..size.div_ceil(width)).flat_map(|i| values[digit(i)].to_le_bytes()[..width].to_vec()).take(size).collect()
}

fn data(kind: &str, ty: &str, seed: u32, size: usize) -> Vec<u8> {
    if kind == "edge" {
        return edge(ty, seed, size);
    }
    let words = (0..size.div_ceil(4) as u32).flat_map(|i| word(kind, ty, seed, i).to_le_bytes());
    words.take(size).collect()
}

/// A line of `cases.txt`.
struct Case<'l> {
    kernel: &'l str,
    ty: &'l str,
    fields: HashMap<&'l str, &'l str>,
}

impl<'l> Case<'l> {
    fn of(line: &'l str) -> Self {
        let mut words = line.split(' ');
        let (kernel, ty) = (words.next().unwrap(), words.next().unwrap());
        Case { kernel, ty, fields: words.map(|w| w.split_once('=').unwrap()).collect() }
    }

    fn list(&self, name: &str) -> Vec<i64> {
        self.fields.get(name).map_or(Vec::new(), |v| v.split(',').map(|n| n.parse().unwrap()).collect())
    }

    fn number(&self, name: &str) -> i64 {
        self.list(name).first().copied().unwrap_or(0)
    }

    fn element(&self) -> (ElementType, u64) {
        use ElementType::*;
        match self.ty {
            "u8" => (U8, 1),
            "u16" => (U16, 2),
            "u32" => (U32, 4),
            "s32" => (S32, 4),
            "u64" => (U64, 8),
            "s64" => (S64, 8),
            "f16" => (F16, 2),
            "f32" => (F32, 4),
            "f64" => (F64, 8),
            "bf16" => (Bf16, 2),
            "f32ftz" => (F32Ftz, 4),
            "tf32" => (Tf32, 4),
            "tf32ftz" => (Tf32Ftz, 4),
            ty => panic!("{ty}"),
        }
    }

    fn dims(&self) -> Vec<u64> {
        self.list("dims").iter().map(|d| *d as u64).collect()
    }

    fn strides(&self) -> Vec<u64> {
        let (dims, given) = (self.dims(), self.list("strides"));
        if !given.is_empty() {
            return given.iter().map(|s| *s as u64).collect();
        }
        let mut stride = self.element().1;
        dims.iter()
            .take(dims.len().saturating_sub(1))
            .map(|d| {
                stride *= d;
                stride
            })
            .collect()
    }

    /// Bytes of the tensor, with spare ones after it.
    fn size(&self) -> usize {
        let (dims, strides) = (self.dims(), self.strides());
        (32 + dims.last().unwrap_or(&0) * strides.last().unwrap_or(&self.element().1)) as usize
    }

    /// Bytes that an mbarrier object counts.
    fn bytes(&self) -> u32 {
        let (size, slice) = (self.element().1 as i64, 16 * self.number("interleave"));
        if self.number("px") > 0 {
            let pixel = if slice > 0 { slice } else { self.number("ch") * size };
            return (pixel * self.number("px")) as u32;
        }
        let (steps, dims) = (self.list("estr"), self.list("box"));
        let count = |(i, b): (usize, &i64)| match steps.get(i) {
            _ if slice > 0 && i + 2 == dims.len() => 1,
            Some(step) if i > 0 || slice > 0 => (b + step - 1) / step,
            _ => *b,
        };
        let element = if slice > 0 { slice } else { size };
        (dims.iter().enumerate().map(count).product::<i64>() * element) as u32
    }

    fn map<'a>(&self, tensor: &'a mut [u8]) -> Result<TensorMap<'a>, TensorMapError> {
        let ints = |name: &str| self.list(name).iter().map(|v| *v as i32).collect::<Vec<_>>();
        let sizes = |name: &str| self.list(name).iter().map(|v| *v as u32).collect::<Vec<_>>();
        let rank = if self.fields.get("map") == Some(&"rank2") { 2 } else { self.dims().len() };
        let im2col = *self.fields.get("map").unwrap_or(&if self.kernel.contains("im2col") { "im2col" } else { "" });
        let element = self.element().0;
        let mut map =
            if im2col == "im2col" { TensorMap::im2col(tensor, element) } else { TensorMap::tiled(tensor, element) }
                .dims(&self.dims()[..rank])
                .strides(&self.strides()[..rank - 1])
                .swizzle([Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128][self.number("swizzle") as usize])
                .interleave([Interleave::None, Interleave::B16, Interleave::B32][self.number("interleave") as usize])
                .fill(if self.number("fill") == 0 { Fill::Zero } else { Fill::Nan });
        if !self.list("estr").is_empty() {
            map = map.element_strides(sizes("estr"));
        }
        if im2col == "im2col" {
            map.pixel_box_lower(ints("low"))
                .pixel_box_upper(ints("up"))
                .channels_per_pixel(self.number("ch") as u32)
                .pixels_per_column(self.number("px") as u32)
                .build()
        } else {
            map.box_dims(sizes("box")).build()
        }
    }
}

/// The results by number: bytes, or that the launch failed.
fn results() -> Vec<Option<Vec<u8>>> {
    let bytes = std::fs::read(file("results.bin")).unwrap();
    let (mut rest, mut all) = (&bytes[..], Vec::new());
    while let Some((head, tail)) = rest.split_at_checked(8) {
        let number = u32::from_le_bytes(head[..4].try_into().unwrap());
        let len = u32::from_le_bytes(head[4..].try_into().unwrap()) as usize;
        assert_eq!(number as usize, all.len());
        if len >= 0xffff_fff0 {
            (rest, _) = (tail, all.push(None));
        } else {
            all.push(Some(tail[..len].to_vec()));
            rest = &tail[len..];
        }
    }
    all
}

/// The module: the kernels of tensors, and for each `bulk.add.u32` or the like an instance of its template.
fn text(lines: &[&str]) -> String {
    let read = |name: &str| std::fs::read_to_string(file(&format!("{name}.ptx"))).unwrap();
    let templates = HashMap::from([("bulk", read("bulk")), ("cluster", read("cluster"))]);
    let names: BTreeSet<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
    let instances = names.into_iter().filter_map(|name| {
        let (template, operation) = name.split_once('.')?;
        Some(templates[template].replace("$NAME", &name.replace('.', "_")).replace("$OPERATION", operation))
    });
    read("kernels") + &instances.collect::<String>()
}

#[test]
fn tensor_copies_are_those_of_an_h200() {
    let cases = std::fs::read_to_string(file("cases.txt")).unwrap();
    let lines: Vec<&str> = cases.lines().collect();
    let module = Module::parse(&text(&lines)).unwrap();
    let results = results();
    assert_eq!(lines.len(), results.len());
    let mut wrong = Vec::new();
    for (line, expected) in lines.into_iter().zip(results) {
        for host in [Host::new(), Host::new().seed(1), Host::new().seed(2)] {
            if let Err(problem) = check(&module, &host, line, expected.as_deref()) {
                wrong.push(format!("{line}: {problem}"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn check(module: &Module, host: &Host, line: &str, expected: Option<&[u8]>) -> Result<(), String> {
    let case = Case::of(line);
    let kind = *case.fields.get("gen").unwrap_or(&"raw");
    let kernel = module.kernel(&case.kernel.replace('.', "_")).unwrap();
    let (loads, bulk) = (case.kernel.starts_with("load"), case.kernel.contains('.'));
    let mut tensor = data(kind, case.ty, 1, case.size());
    let mut buffer = if loads { vec![0; 4112] } else { data(kind, case.ty, 2, 4096) };
    if bulk {
        buffer.extend(data(kind, case.ty, 1, 4096));
    }
    let words = |name: &str, n: usize| {
        let mut list = case.list(name);
        list.resize(n, 0);
        list.iter().flat_map(|v| (*v as i32).to_le_bytes()).collect::<Vec<u8>>()
    };
    let result = {
        let map = if bulk { None } else { Some(case.map(&mut tensor).map_err(|e| e.to_string())?) };
        let mut args = [
            map.as_ref().map_or_else(|| Arg::value([0; 128]), Arg::from),
            Arg::buffer(&mut buffer),
            Arg::value(words("at", 5)),
            Arg::value(words("off", 3)),
            Arg::value(case.bytes().to_le_bytes()),
            Arg::value((case.number("place") as u32).to_le_bytes()),
        ];
        kernel.launch_raw(host, Launch::grid(1).block(32), &mut args)
    };
    let expected = match (result, expected) {
        (Err(Error::Fault(fault)), None) => {
            let known = matches!(fault.kind, FaultKind::Undefined { .. } | FaultKind::Misaligned { .. });
            return if known { Ok(()) } else { Err(fault.to_string()) };
        }
        (Ok(_), None) => return Err("a fault on the GPU".into()),
        (Err(error), _) => return Err(error.to_string()),
        (Ok(_), Some(expected)) => expected,
    };
    let got = match () {
        () if loads => &buffer[..4097],
        () if bulk => &buffer[4096..],
        () => &tensor,
    };
    let different: Vec<usize> = (0..got.len()).filter(|i| got[*i] != expected[*i]).collect();
    match different.first() {
        None => Ok(()),
        Some(&at) => {
            let at = at & !7;
            let end = (at + 16).min(got.len());
            let (count, got, expected) = (different.len(), &got[at..end], &expected[at..end]);
            Err(format!("{count} bytes differ, from {at} on: {got:02x?}, not {expected:02x?}"))
        }
    }
}
