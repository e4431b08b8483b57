//! A launch that suits a kernel, found by trying: what the parameters and the instructions say is a beginning, and each fault tells what to
//! change.

use std::time::{Duration, Instant};

use ptx_dsl::Fault;
use ptx_dsl::fault::{FaultKind, Object};
use ptx_dsl::load::{Kernel, MapUse, Needs, Parameter, Pointee, Ty};
use ptx_dsl::{Error, Host, Launch};

use super::runs::launch_once;
use super::spec;
use super::values::{element, values};

/// Launches that are tried for a kernel, and the time after which no other one is.
const MOST_TRIES: u32 = 64;
const MOST_TIME: Duration = Duration::from_millis(1500);
/// Turns of a launch that is tried.
const MOST_TURNS: u64 = 50_000;
/// A buffer has at most this many bytes.
const LARGEST_BUFFER: u64 = 16 << 20;
/// The most shared memory that a kernel may have on any target.
const MOST_SHARED: u32 = 227 << 10;
/// A variant may enlarge buffers this often.
const MOST_GROWTH: u32 = 16;

/// A launch.
#[derive(Debug, Clone)]
pub struct Proposal {
    pub cluster: [u32; 3],
    pub block: [u32; 3],
    pub shared: Option<u32>,
    pub values: Vec<Value>,
}

/// The value of a parameter.
#[derive(Debug, Clone)]
pub enum Value {
    Buffer {
        ty: Ty,
        elements: u64,
        /// Such as `iota`; nothing for zeros.
        init: &'static str,
    },
    Number(String),
    /// A struct.
    Bytes(u32),
    Null,
    Map {
        /// The innermost dimension first.
        boxes: Vec<u64>,
    },
}

impl Value {
    /// As `--arg` takes it.
    pub fn text(&self) -> String {
        match self {
            Value::Buffer { ty, elements, init: "" } => format!("{}[{elements}]", ty.name()),
            Value::Buffer { ty, elements, init } => format!("{}[{elements}]:{init}", ty.name()),
            Value::Number(number) => number.clone(),
            Value::Bytes(size) => format!("u8[{size}]"),
            Value::Null => "null".into(),
            Value::Map { boxes } => {
                let dims: Vec<String> = boxes.iter().rev().map(|size| size.max(&64).to_string()).collect();
                let boxes: Vec<String> = boxes.iter().map(u64::to_string).collect();
                format!("tensormap(f16[{}],box={})", dims.join(","), boxes.join("x"))
            }
        }
    }
}

/// What is tried where no fault says more.
#[derive(Debug, Clone, Copy)]
struct Variant<'b> {
    /// If the kernel does not require another one.
    block: u32,
    boxes: &'b [u64],
    /// Each map has the box that its copies tell, if they do.
    told: bool,
    /// The tensor maps, a bit each, that have boxes of half as many rows as their copies have room for: stages may share this room, and objects
    /// expect different numbers of bytes.
    halved: u32,
    /// Integers are 1, not the number of threads: they may count tiles.
    one: bool,
    /// What buffers to read have.
    init: &'static str,
}

/// How a launch ended.
enum Ended {
    Well,
    /// Perhaps it only takes longer.
    OutOfTime,
    Badly(Box<Fault>),
    /// The options do not fit, or the host cannot run it.
    Never,
}

/// A launch that works, if one is found; else the most likely one.
pub fn proposal(kernel: &Kernel) -> Proposal {
    let needs = kernel.needs();
    let boxes = boxes(&needs);
    let variants = variants(kernel, &needs, &boxes);
    let Some(first) = variants.first() else { return Proposal::new(kernel, &needs, &Variant::PLAIN) };
    let mut likely = Proposal::new(kernel, &needs, first);
    let (start, mut tries) = (Instant::now(), 0);
    let mut long = None;
    for (number, variant) in variants.iter().enumerate() {
        let mut proposal = Proposal::new(kernel, &needs, variant);
        for _ in 0..MOST_GROWTH {
            if tries == MOST_TRIES || start.elapsed() > MOST_TIME {
                return long.unwrap_or(likely);
            }
            tries += 1;
            match proposal.run(kernel) {
                Ended::Well => return proposal,
                Ended::Never => return likely,
                Ended::OutOfTime => {
                    long.get_or_insert(proposal);
                    break;
                }
                Ended::Badly(fault) if proposal.follow(kernel, &fault) => {
                    if number == 0 {
                        // what comes next may fail, but not any more at this
                        likely = proposal.clone();
                    }
                }
                Ended::Badly(_) => break,
            }
        }
    }
    long.unwrap_or(likely)
}

impl Variant<'static> {
    const PLAIN: Self = Variant { block: 32, boxes: &[64, 64], told: true, halved: 0, one: false, init: "iota" };
}

/// The variants, the most likely ones first.
fn variants<'b>(kernel: &Kernel, needs: &Needs, boxes: &'b [Vec<u64>]) -> Vec<Variant<'b>> {
    let required = kernel.required_block().or(kernel.largest_block()).is_some();
    let least = if needs.warpgroup { 128 } else { 32 }.max(needs.barrier_threads.next_multiple_of(32) as u32).min(1024);
    let others = [64, 128, 160, 192, 256, 384, 512, 1024].into_iter().filter(|block| *block > least);
    let blocks: Vec<u32> = match required {
        // not used
        true => vec![least],
        false => std::iter::once(least).chain(others).collect(),
    };
    let count = (0..).zip(kernel.parameters()).filter(|(at, p)| is_map(*at, p, needs)).count();
    let maps = count > 0;
    let boxes = if maps { boxes } else { boxes.get(..1).unwrap_or_default() };
    let of = |one, init| {
        let variant =
            move |block: &u32, boxes: &'b Vec<u64>| Variant { block: *block, boxes, told: false, halved: 0, one, init };
        blocks.iter().flat_map(move |block| boxes.iter().map(move |boxes| variant(block, boxes)))
    };
    let first = |one, init| of(one, init).take(boxes.len());
    let told = maps && told_boxes(needs).iter().any(Option::is_some);
    let as_told = |one, init| first(one, init).filter(move |_| told).map(|variant| Variant { told: true, ..variant });
    let halves = (1..1u32 << count.min(4))
        .flat_map(|halved| as_told(false, "iota").take(1).map(move |variant| Variant { halved, ..variant }));
    as_told(false, "iota")
        .chain(as_told(true, "iota"))
        .chain(halves.collect::<Vec<_>>())
        .chain(first(false, "iota"))
        .chain(first(true, "iota"))
        .chain(first(false, "ones"))
        .chain(of(false, "iota"))
        .chain(of(true, "ones"))
        .collect()
}

/// A box of this many bytes in a tensor of `f16`.
fn box_of_bytes(rank: usize, bytes: u64) -> Option<Vec<u64>> {
    let inner = if rank == 1 { vec![bytes / 2] } else { vec![64, 32, 16, 8] };
    let fits = |inner: &u64| bytes.is_multiple_of(2 * inner) && (1..=256).contains(&(bytes / 2 / inner));
    let inner = inner.into_iter().find(|inner| *inner > 0 && *inner <= 256 && fits(inner))?;
    let sizes = [inner, bytes / 2 / inner, 1, 1, 1];
    Some(sizes[..rank].to_vec())
}

/// By parameter: the box of a tensor map, where its copies and the expected bytes tell its size. The copies of a stage together bring what
/// its object expects.
fn told_boxes(needs: &Needs) -> Vec<Option<Vec<u64>>> {
    let loads = || needs.maps.iter().flatten().filter(|of| of.loads);
    let known: u64 = loads().filter_map(|of| of.bytes).sum();
    let several = loads().count() > 1;
    // The last copy of a stage may have room for more than it brings, and one that has no next copy for anything.
    let of_all = match needs.expected_bytes[..] {
        [all] if several => Some(all),
        _ => None,
    };
    let rest = of_all.and_then(|all| all.checked_sub(known)).filter(|rest| *rest > 0);
    let unknown = loads().filter(|of| of.bytes.is_none()).count();
    let told = |of: &MapUse| {
        let bytes = match of.bytes {
            Some(bytes) if !of.loads || of_all.is_some_and(|all| known <= all) => Some(bytes),
            None if of.loads && unknown == 1 => rest,
            _ => None,
        };
        box_of_bytes(of.rank, bytes?)
    };
    needs.maps.iter().map(|of| told(of.as_ref()?)).collect()
}

/// Boxes of tensor copies: those with as many bytes as objects expect, and some more.
fn boxes(needs: &Needs) -> Vec<Vec<u64>> {
    let rank = needs.ranks.first().copied().unwrap_or(2);
    let of_bytes = |bytes: u64| box_of_bytes(rank, bytes);
    let expected = needs.expected_bytes.iter().flat_map(|bytes| [*bytes, bytes / 2]);
    let mut all: Vec<Vec<u64>> = expected.chain([8192, 1024, 128, 16]).filter_map(of_bytes).collect();
    if rank == 1 {
        all.push(vec![64]);
    }
    all.dedup();
    all.truncate(6);
    all
}

/// Is a parameter a tensor map, or a pointer to one?
fn is_map(at: usize, parameter: &Parameter, needs: &Needs) -> bool {
    is_tensor_map(parameter) || needs.maps.get(at).is_some_and(Option::is_some)
}

/// Does it have the size and alignment of a tensor map?
pub fn is_tensor_map(parameter: &Parameter) -> bool {
    parameter.is_array && parameter.size == 128 && parameter.align >= 64
}

impl Proposal {
    fn new(kernel: &Kernel, needs: &Needs, variant: &Variant) -> Self {
        let pair = if needs.pair { [2, 1, 1] } else { [1; 3] };
        let cluster = kernel.required_cluster().unwrap_or(pair);
        let block = kernel.required_block().or(kernel.largest_block()).unwrap_or([variant.block, 1, 1]);
        let shared = kernel.uses_dynamic_shared().then_some(1024);
        let mut proposal = Proposal { cluster, block, shared, values: Vec::new() };
        let threads = proposal.threads();
        let told = if variant.told { told_boxes(needs) } else { Vec::new() };
        let parameters = kernel.parameters().iter().zip(kernel.pointees()).enumerate();
        let mut halved = variant.halved;
        let values = parameters.map(|(at, (parameter, pointee))| {
            let mut boxes = told.get(at).cloned().flatten().unwrap_or_else(|| match needs.maps.get(at) {
                // of another number of dimensions than the first map
                Some(Some(of)) if of.rank != variant.boxes.len() => box_of_bytes(of.rank, 128).unwrap_or_default(),
                _ => variant.boxes.to_vec(),
            });
            if is_map(at, parameter, needs) {
                if let Some(rows) = boxes.get_mut(1).filter(|rows| halved & 1 != 0 && **rows > 1) {
                    *rows /= 2;
                }
                halved >>= 1;
            }
            match needs.maps.get(at) {
                Some(Some(_)) if parameter.pointer.is_some() => Value::Map { boxes },
                _ => value(parameter, pointee.as_ref(), (threads, variant), boxes),
            }
        });
        proposal.values = values.collect();
        proposal
    }

    /// The threads of a cluster.
    pub fn threads(&self) -> u64 {
        self.cluster.iter().chain(&self.block).map(|d| u64::from(*d)).product()
    }

    fn run(&self, kernel: &Kernel) -> Ended {
        let arguments =
            (0..).zip(&self.values).map(|(at, value): (u32, _)| spec::argument(&format!("{at}={}", value.text())));
        let Ok(arguments) = arguments.collect::<Result<Vec<_>, _>>() else { return Ended::Never };
        let arguments: Vec<_> = arguments.iter().map(|argument| &argument.value).collect();
        let Ok(mut values) = values(kernel, &arguments) else { return Ended::Never };
        let mut launch = Launch::grid(self.cluster).block(self.block).cluster(self.cluster).step_limit(MOST_TURNS);
        if let Some(bytes) = self.shared {
            launch = launch.dynamic_shared(bytes);
        }
        if kernel.is_cooperative() {
            launch = launch.cooperative();
        }
        match launch_once(kernel, &Host::new().threads(1).print_bytes(|_| {}), launch, &mut values) {
            Ok(_) => Ended::Well,
            Err(Error::Fault(fault)) => match fault.kind {
                FaultKind::StepLimit { .. } => Ended::OutOfTime,
                FaultKind::NotYet { .. } | FaultKind::Internal(_) => Ended::Never,
                _ => Ended::Badly(fault),
            },
            Err(_) => Ended::Never,
        }
    }

    /// Changes what a fault names. Returns false if it names nothing that could be changed.
    fn follow(&mut self, kernel: &Kernel, fault: &Fault) -> bool {
        let threads = self.threads();
        let position = |name: &str| kernel.parameters().iter().position(|p| p.name == name);
        match (&fault.kind, &fault.object) {
            (FaultKind::OutOfBounds { bytes, .. }, Some(Object::Buffer { name, offset, len, .. })) => {
                let Some(Value::Buffer { ty, elements, .. }) = position(name).map(|at| &mut self.values[at]) else {
                    return false;
                };
                let end = u64::try_from(*offset).map(|offset| offset.saturating_add(u64::from(*bytes)));
                let Some(wanted) = end.ok().filter(|end| *end <= LARGEST_BUFFER) else { return false };
                *elements = wanted.max(2 * len).next_power_of_two() / u64::from(ty.bytes());
                true
            }
            (FaultKind::OutOfBounds { bytes, .. }, Some(Object::DynamicShared { offset, given })) => {
                let end = offset.saturating_add(u64::from(*bytes));
                let wanted = u32::try_from(end).ok().filter(|end| *end <= MOST_SHARED && *given < MOST_SHARED);
                self.shared = wanted.map(|end| end.max(given.saturating_mul(2)).min(MOST_SHARED)).or(self.shared);
                wanted.is_some()
            }
            (_, Some(Object::Null { parameters, integers })) if !(parameters.is_empty() && integers.is_empty()) => {
                let takes = |at: &usize| kernel.parameters()[*at].takes_buffer();
                let named = parameters.iter().chain(integers).filter_map(|name| position(name)).filter(takes);
                let named: Vec<usize> = named.collect();
                named.iter().for_each(|at| self.values[*at] = buffer(threads));
                !named.is_empty()
            }
            (FaultKind::NoSuchRank { .. }, _) if kernel.required_cluster().is_none() && self.cluster[0] < 8 => {
                self.cluster[0] *= 2;
                true
            }
            (FaultKind::OutOfBounds { space: "shared", .. }, _) => false,
            // an integer may be an address, as of the tensor of a map that the kernel makes
            _ => {
                let wide =
                    |(at, p): &(usize, &Parameter)| p.takes_buffer() && matches!(self.values[*at], Value::Number(_));
                let first = kernel.parameters().iter().enumerate().find(wide).map(|(at, _)| at);
                first.is_some_and(|at| {
                    self.values[at] = buffer(threads);
                    true
                })
            }
        }
    }
}

/// A buffer of which nothing is known.
fn buffer(threads: u64) -> Value {
    Value::Buffer { ty: Ty::B32, elements: 4 * threads, init: "" }
}

/// A value that fits the type.
fn value(
    parameter: &Parameter,
    pointee: Option<&Pointee>,
    (threads, variant): (u64, &Variant),
    boxes: Vec<u64>,
) -> Value {
    if !parameter.takes_buffer() || (parameter.pointer.is_none() && pointee.is_none()) {
        return match parameter.ty {
            _ if is_tensor_map(parameter) => Value::Map { boxes },
            _ if parameter.is_array => Value::Bytes(parameter.size),
            ty if ty.is_float() => Value::Number("1.0".into()),
            Ty::U16 | Ty::U32 | Ty::U64 | Ty::S32 | Ty::S64 if variant.one => Value::Number("1".into()),
            Ty::U16 | Ty::U32 | Ty::U64 | Ty::S32 | Ty::S64 => Value::Number(threads.to_string()),
            _ => Value::Number("0".into()),
        };
    }
    let init = if pointee.is_some_and(|p| p.written) { "" } else { variant.init };
    match (element(parameter, pointee), pointee) {
        (Some(ty), Some(p)) => Value::Buffer { ty, elements: elements(ty, p, threads), init },
        (Some(ty), None) => Value::Buffer { ty, elements: threads, init },
        (None, Some(p)) => {
            let ty = word(p.bytes);
            Value::Buffer { ty, elements: elements(ty, p, threads), init: "" }
        }
        (None, None) => Value::Null,
    }
}

/// The bits that an access of this many bytes moves at a time.
fn word(bytes: u32) -> Ty {
    match bytes {
        1 => Ty::B8,
        2 => Ty::B16,
        8 => Ty::B64,
        _ => Ty::B32,
    }
}

/// As many as there are if each thread makes the largest access.
fn elements(ty: Ty, pointee: &Pointee, threads: u64) -> u64 {
    threads * u64::from(pointee.bytes.div_ceil(ty.bytes()).max(1))
}
