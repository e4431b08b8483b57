//! Kernel arguments: their types, and where each lies in parameter and global memory.

use bytemuck::{NoUninit, Pod};
use std::cell::RefMut;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::api::buffer::{Buffer, offset_in_buffer};
use crate::api::group::{Shared, SharedMemory};
use crate::api::launch::error::LaunchError;
use crate::api::param::Param;
use crate::api::tensor_map::TensorMap;
use crate::api::tensor_map::map::{Borrowed, MapWithMemory};
use crate::kernel::ParamInfo;
use crate::memory::address::global_address;
use crate::memory::segment::Segment;

/// An argument of a kernel.
#[derive(Debug)]
pub struct Arg<'a> {
    pub(super) kind: ArgumentKind<'a>,
    /// Bytes of an element of a buffer.
    element: u32,
}

#[derive(Debug)]
pub(super) enum ArgumentKind<'a> {
    Buffer(&'a mut [u8], u64),
    ReadOnly(&'a [u8], u64),
    Value(Vec<u8>),
    TensorMap(&'a (dyn MapWithMemory + 'a)),
    Multicast(Vec<&'a mut [u8]>),
    Shared(&'a (dyn SharedMemory + 'a)),
    SharedMulticast(Vec<&'a (dyn SharedMemory + 'a)>),
}

impl<'a> Arg<'a> {
    /// A buffer in global memory: the kernel gets its 64-bit address. It holds the results when the launch returns.
    ///
    /// The address is a multiple of 256. The address of a part of a [`Buffer`] has the offset that the part has in the buffer.
    pub fn buffer(bytes: &'a mut [u8]) -> Self {
        Arg::of(ArgumentKind::Buffer(bytes, 0))
    }

    /// A buffer that the kernel may only read.
    pub fn read_only(bytes: &'a [u8]) -> Self {
        Arg::of(ArgumentKind::ReadOnly(bytes, 0))
    }

    /// A buffer; the kernel gets the address of the byte at `offset`.
    pub fn buffer_at(bytes: &'a mut [u8], offset: u64) -> Self {
        Arg::of(ArgumentKind::Buffer(bytes, offset))
    }

    /// The bytes of a parameter passed by value, little endian: a number, a struct, a tensor map.
    pub fn value(bytes: impl AsRef<[u8]>) -> Self {
        Arg::of(ArgumentKind::Value(bytes.as_ref().to_vec()))
    }

    /// A multicast object: memory that `multimem` instructions access at all its replicas, one for each device, which have the same length
    /// (PTX ISA 9.7.9.14). The kernel gets its multimem address. The replicas hold the results when the launch returns.
    ///
    /// A host is one device: what the other devices do with their replicas at the same time is not modelled.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Arg;
    /// let (mut first, mut second) = ([0u32; 16], [0u32; 16]);
    /// let both = Arg::multicast([&mut first[..], &mut second[..]]);
    /// # drop(both);
    /// ```
    pub fn multicast<T: Pod>(replicas: impl IntoIterator<Item = &'a mut [T]>) -> Self {
        let replicas = replicas.into_iter().map(|replica| bytemuck::cast_slice_mut(replica));
        Arg::of(ArgumentKind::Multicast(replicas.collect())).elements_of(size_of::<T>() as u32)
    }

    /// Memory that several devices of a launch access at the same time.
    ///
    /// [Example](crate::group::Devices).
    pub fn shared(shared: &'a Shared<'_>) -> Self {
        Arg::of(ArgumentKind::Shared(shared)).elements_of(shared.element())
    }

    /// A multicast object over memory that several devices share: its replicas, one for each device, in the same order for all of them.
    pub fn multicast_of<'m: 'a>(replicas: impl IntoIterator<Item = &'a Shared<'m>>) -> Self {
        Arg::of(ArgumentKind::SharedMulticast(replicas.into_iter().map(|replica| replica as _).collect()))
    }

    /// The shared memory that it is.
    pub(super) fn as_shared(&self) -> Option<&'a (dyn SharedMemory + 'a)> {
        match self.kind {
            ArgumentKind::Shared(shared) => Some(shared),
            _ => None,
        }
    }

    /// The replicas of a multicast object over shared memory.
    pub(super) fn shared_replicas(&self) -> Vec<&'a (dyn SharedMemory + 'a)> {
        match &self.kind {
            ArgumentKind::SharedMulticast(replicas) => replicas.clone(),
            _ => Vec::new(),
        }
    }

    /// Sets the size of an element of the buffer, in bytes. Faults then name elements.
    ///
    /// ```
    /// # use ptx_dsl_runtime::Arg;
    /// let mut bytes = vec![0u8; 64];
    /// let of_f32 = Arg::buffer(&mut bytes).elements_of(4);
    /// # drop(of_f32);
    /// ```
    pub fn elements_of(mut self, bytes: u32) -> Self {
        self.element = bytes.max(1);
        self
    }

    fn of(kind: ArgumentKind<'a>) -> Self {
        Arg { kind, element: 1 }
    }

    /// The bytes, and the offset in them, if it is a buffer.
    pub(super) fn bytes(&self) -> Option<(&[u8], u64)> {
        match &self.kind {
            ArgumentKind::Buffer(bytes, offset) => Some((bytes, *offset)),
            ArgumentKind::ReadOnly(bytes, offset) => Some((bytes, *offset)),
            ArgumentKind::Value(_)
            | ArgumentKind::TensorMap(..)
            | ArgumentKind::Multicast(_)
            | ArgumentKind::Shared(_)
            | ArgumentKind::SharedMulticast(_) => None,
        }
    }

    /// The address that the kernel gets, if it is a buffer and lies in this segment.
    pub(super) fn address(&self, segment: u64, places: &SharedPlaces) -> Option<u64> {
        if let ArgumentKind::Shared(shared) = self.kind {
            let segment = places.get(&key(shared)).copied().unwrap_or(segment);
            return Some(global_address(segment, shared.in_buffer() % DEVICE_ALIGN));
        }
        self.bytes().map(|(bytes, offset)| global_address(segment, start(bytes).saturating_add(offset)))
    }

    /// The memory of its tensor, if it is a tensor map.
    pub(super) fn borrow(&self) -> Option<Borrowed<'a>> {
        match self.kind {
            ArgumentKind::TensorMap(map) => Some(map.borrow()),
            ArgumentKind::Shared(shared) => Some(shared.borrow().map_or(Borrowed::Taken, Borrowed::Writable)),
            _ => None,
        }
    }

    /// Bytes of an element, if it is a buffer.
    pub(crate) fn element(&self) -> Option<u32> {
        match self.kind {
            ArgumentKind::Buffer(..)
            | ArgumentKind::ReadOnly(..)
            | ArgumentKind::TensorMap(..)
            | ArgumentKind::Shared(_) => Some(self.element),
            ArgumentKind::Value(_) | ArgumentKind::Multicast(_) | ArgumentKind::SharedMulticast(_) => None,
        }
    }

    /// The bytes that a launch may have written, and their offset from a multiple of 256 on the device.
    pub(crate) fn results(&self) -> Option<(Vec<u8>, u64)> {
        let copied = |bytes: &[u8]| Some((bytes.to_vec(), start(bytes)));
        match &self.kind {
            ArgumentKind::Buffer(bytes, _) => copied(bytes),
            ArgumentKind::TensorMap(map) => match map.borrow() {
                Borrowed::Writable(bytes) => copied(&bytes),
                Borrowed::ReadOnly(_) | Borrowed::Argument(_) | Borrowed::Taken => None,
            },
            ArgumentKind::Shared(shared) => copied(&shared.borrow()?),
            ArgumentKind::ReadOnly(..)
            | ArgumentKind::Value(_)
            | ArgumentKind::Multicast(_)
            | ArgumentKind::SharedMulticast(_) => None,
        }
    }

    /// The address of its memory in the process, and the offset of its first byte in its segment, if it is a buffer or a tensor map.
    pub(crate) fn place(&self) -> Option<(usize, u64)> {
        self.map_memory(|bytes| (bytes.as_ptr().addr(), start(bytes)))
    }

    /// The address of its memory in the process and its size in bytes, if it is a buffer or a tensor map.
    pub(crate) fn memory(&self) -> Option<(usize, usize)> {
        self.map_memory(|bytes| (bytes.as_ptr().addr(), bytes.len()))
    }

    /// What a function says of the memory of a buffer or of a tensor map.
    fn map_memory<T>(&self, say: impl Fn(&[u8]) -> T) -> Option<T> {
        let of = |bytes: &[u8]| Some(say(bytes));
        match &self.kind {
            ArgumentKind::Buffer(bytes, _) => of(bytes),
            ArgumentKind::ReadOnly(bytes, _) => of(bytes),
            ArgumentKind::TensorMap(map) => match map.borrow() {
                Borrowed::Writable(bytes) => of(&bytes),
                Borrowed::ReadOnly(bytes) => of(bytes),
                Borrowed::Argument(_) | Borrowed::Taken => None,
            },
            ArgumentKind::Shared(shared) => of(&shared.borrow()?),
            ArgumentKind::Value(_) | ArgumentKind::Multicast(_) | ArgumentKind::SharedMulticast(_) => None,
        }
    }

    /// Gives memory that a launch may have written other contents of the same size.
    pub(crate) fn restore(&mut self, contents: &[u8]) {
        match &mut self.kind {
            ArgumentKind::Buffer(bytes, _) => bytes.copy_from_slice(contents),
            ArgumentKind::TensorMap(map) => {
                if let Borrowed::Writable(mut bytes) = map.borrow() {
                    bytes.copy_from_slice(contents);
                }
            }
            ArgumentKind::Shared(shared) => {
                if let Some(mut bytes) = shared.borrow() {
                    bytes.copy_from_slice(contents);
                }
            }
            ArgumentKind::ReadOnly(..)
            | ArgumentKind::Value(_)
            | ArgumentKind::Multicast(_)
            | ArgumentKind::SharedMulticast(_) => {}
        }
    }

    /// Whether it is a multicast object.
    pub(super) fn is_multicast(&self) -> bool {
        matches!(self.kind, ArgumentKind::Multicast(_))
    }
}

/// A replica of a multicast object over shared memory, and its bytes unless they are in use.
pub(super) struct SharedReplica<'x> {
    pub shared: &'x (dyn SharedMemory + 'x),
    pub bytes: Option<RefMut<'x, [u8]>>,
}

/// The segments of shared memory, by its key.
pub(super) type SharedPlaces = BTreeMap<usize, u64>;

/// The key of shared memory.
pub(super) fn key(shared: &dyn SharedMemory) -> usize {
    std::ptr::from_ref(shared).cast::<()>().addr()
}

/// Device memory begins at multiples of it, as that of `cudaMalloc` does.
const DEVICE_ALIGN: u64 = 256;

/// The offset of these bytes from an aligned address of device memory.
pub(super) fn start(bytes: &[u8]) -> u64 {
    offset_in_buffer(bytes) % DEVICE_ALIGN
}

/// A typed read-only buffer.
pub fn slice<T: Pod>(s: &[T]) -> Arg<'_> {
    Arg::read_only(bytemuck::cast_slice(s)).elements_of(size_of::<T>() as u32)
}

/// A typed buffer.
pub fn slice_mut<T: Pod>(s: &mut [T]) -> Arg<'_> {
    Arg::buffer(bytemuck::cast_slice_mut(s)).elements_of(size_of::<T>() as u32)
}

/// A typed value.
pub fn scalar<'a, T: NoUninit>(v: T) -> Arg<'a> {
    Arg::value(bytemuck::bytes_of(&v))
}

/// A value with a layout. Bytes between its fields are zero.
pub fn by_value<'a, T: Param>(v: T) -> Arg<'a> {
    let mut bytes = vec![0; size_of::<T>()];
    v.write(&mut bytes);
    Arg::value(bytes)
}

/// An argument for a `.ptr` parameter without a Rust type: a slice, vector or array of plain data.
pub trait IntoBuffer<'a> {
    /// Makes the value an argument.
    fn into_buffer(self) -> Arg<'a>;
}

macro_rules! buffers {
    ($($t:ty $(, $n:ident)?;)*) => { $(
        impl<'a, T: Pod $(, const $n: usize)?> IntoBuffer<'a> for &'a mut $t {
            fn into_buffer(self) -> Arg<'a> { slice_mut(&mut self[..]) }
        }
        impl<'a, T: Pod $(, const $n: usize)?> IntoBuffer<'a> for &'a $t {
            fn into_buffer(self) -> Arg<'a> { slice(&self[..]) }
        }
        impl<'a, T: Pod $(, const $n: usize)?> From<&'a mut $t> for Arg<'a> {
            fn from(buffer: &'a mut $t) -> Self { slice_mut(&mut buffer[..]) }
        }
        impl<'a, T: Pod $(, const $n: usize)?> From<&'a $t> for Arg<'a> {
            fn from(buffer: &'a $t) -> Self { slice(&buffer[..]) }
        }
    )* };
}
buffers! { [T]; Vec<T>; [T; N], N; Buffer<T>; }

impl<'a> IntoBuffer<'a> for &'a TensorMap<'_> {
    fn into_buffer(self) -> Arg<'a> {
        self.into()
    }
}

impl<'a> IntoBuffer<'a> for Arg<'a> {
    fn into_buffer(self) -> Arg<'a> {
        self
    }
}

/// An argument for a plain `.u64`/`.b64` parameter: a number, or a buffer whose address the kernel gets.
pub trait IntoU64<'a> {
    /// Makes the value an argument.
    fn into_u64(self) -> Arg<'a>;
}

impl<'a> IntoU64<'a> for u64 {
    fn into_u64(self) -> Arg<'a> {
        scalar(self)
    }
}

impl<'a> IntoU64<'a> for Arg<'a> {
    fn into_u64(self) -> Arg<'a> {
        self
    }
}

macro_rules! pointers {
    ($($t:ty $(, $n:ident)?;)*) => { $(
        impl<'a, T: Pod $(, const $n: usize)?> IntoU64<'a> for &'a mut $t {
            fn into_u64(self) -> Arg<'a> { slice_mut(&mut self[..]) }
        }
        impl<'a, T: Pod $(, const $n: usize)?> IntoU64<'a> for &'a $t {
            fn into_u64(self) -> Arg<'a> { slice(&self[..]) }
        }
    )* };
}
pointers! { [T]; Vec<T>; [T; N], N; Buffer<T>; }

impl<'a> From<&'a TensorMap<'_>> for Arg<'a> {
    fn from(map: &'a TensorMap<'_>) -> Self {
        Arg::of(ArgumentKind::TensorMap(map)).elements_of(map.element_bytes())
    }
}

/// An argument for a parameter of 128 bytes: the bytes, or a tensor map.
pub trait IntoMap<'a> {
    /// Makes the value an argument.
    fn into_map(self) -> Arg<'a>;
}

impl<'a> IntoMap<'a> for &'a TensorMap<'_> {
    fn into_map(self) -> Arg<'a> {
        self.into()
    }
}

impl<'a> IntoMap<'a> for [u8; 128] {
    fn into_map(self) -> Arg<'a> {
        scalar(self)
    }
}

impl<'a> IntoMap<'a> for Arg<'a> {
    fn into_map(self) -> Arg<'a> {
        self
    }
}

impl From<u64> for Arg<'_> {
    fn from(value: u64) -> Self {
        scalar(value)
    }
}

/// The address of the buffer of each parameter, by name.
pub(super) type Addresses<'n> = Vec<(&'n str, Option<u64>)>;

/// Checks one argument against its parameter.
pub(super) fn check(index: usize, p: &ParamInfo<'_>, arg: &Arg<'_>) -> Result<(), LaunchError> {
    let name = || p.name.to_owned();
    if let ArgumentKind::Multicast(replicas) = &arg.kind {
        let lengths: Vec<usize> = replicas.iter().map(|replica| replica.len()).collect();
        return match lengths.windows(2).all(|two| two[0] == two[1]) && !lengths.is_empty() {
            _ if p.size != 8 => Err(LaunchError::ArgumentNotAddress { index, name: name(), wanted: p.size }),
            true => Ok(()),
            false => Err(LaunchError::MulticastReplicas { index, name: name(), lengths }),
        };
    }
    match &arg.kind {
        ArgumentKind::Shared(_) | ArgumentKind::SharedMulticast(_) if p.size != 8 => {
            return Err(LaunchError::ArgumentNotAddress { index, name: name(), wanted: p.size });
        }
        ArgumentKind::Shared(shared) => {
            let (offset, align) = (shared.in_buffer(), p.pointer.unwrap_or(1).max(1));
            return match offset.is_multiple_of(u64::from(align)) {
                true => Ok(()),
                false => Err(LaunchError::ArgumentAlignment { index, name: name(), offset, align }),
            };
        }
        ArgumentKind::SharedMulticast(_) => return Ok(()),
        _ => {}
    }
    let Some((bytes, offset)) = arg.bytes() else {
        let (given, is_map) = match &arg.kind {
            ArgumentKind::Value(bytes) => (bytes.len(), false),
            _ => (MAP_BYTES, true),
        };
        // a launch puts a map for a pointer into memory of its own
        let fits = given == p.size as usize || (is_map && p.size == 8 && p.pointer.is_some());
        return match &arg.kind {
            _ if !fits => Err(LaunchError::ArgumentSize { index, name: name(), given, wanted: p.size }),
            // eight zero bytes are the null pointer
            ArgumentKind::Value(bytes) if p.pointer.is_some() && bytes.iter().any(|&b| b != 0) => {
                Err(LaunchError::ArgumentNotBuffer { index, name: name() })
            }
            _ => Ok(()),
        };
    };
    let len = bytes.len() as u64;
    if p.size != 8 {
        return Err(LaunchError::ArgumentNotAddress { index, name: name(), wanted: p.size });
    }
    if offset > len {
        return Err(LaunchError::ArgumentOffset { index, name: name(), offset, len });
    }
    let align = p.pointer.unwrap_or(1).max(1);
    let in_buffer = offset_in_buffer(bytes) + offset;
    if !in_buffer.is_multiple_of(u64::from(align)) {
        return Err(LaunchError::ArgumentAlignment { index, name: name(), offset: in_buffer, align });
    }
    Ok(())
}

/// Bytes of a tensor map.
const MAP_BYTES: usize = 128;

/// Checks one argument against its parameter. Returns its bytes in parameter memory, and its segment.
pub(super) fn place<'s>(
    index: usize,
    p: &ParamInfo<'_>,
    arg: &'s mut Arg<'_>,
    tensor: &'s mut Option<Borrowed<'_>>,
    (segment, addresses, places): (u64, &Addresses<'_>, &SharedPlaces),
) -> Result<(Vec<u8>, Segment<'s>), LaunchError> {
    check(index, p, arg)?;
    if let ArgumentKind::Shared(shared) = arg.kind {
        return place_shared((index, p.name), shared, tensor, (segment, places));
    }
    let start = arg.bytes().map_or(0, |(bytes, _)| start(bytes));
    let (memory, offset) = match &mut arg.kind {
        ArgumentKind::TensorMap(map) => {
            return match tensor {
                Some(tensor) => place_map((index, p.name), map.encode(), tensor, (segment, addresses)),
                None => Err(LaunchError::TensorMapTaken { index, name: p.name.to_owned() }),
            };
        }
        ArgumentKind::Value(bytes) => return Ok((bytes.clone(), Segment::EMPTY)),
        ArgumentKind::Multicast(_) | ArgumentKind::Shared(_) | ArgumentKind::SharedMulticast(_) => {
            return Err(LaunchError::MulticastOnOneDevice { index, name: p.name.to_owned() });
        }
        ArgumentKind::Buffer(bytes, offset) => match p.read_only {
            true => (Segment::read_only(bytes), *offset),
            false => (Segment::writable(bytes), *offset),
        },
        ArgumentKind::ReadOnly(bytes, offset) => (Segment::read_only(bytes), *offset),
    };
    Ok((global_address(segment, start + offset).to_le_bytes().to_vec(), memory.from(start)))
}

/// Places shared memory: in the segment that it has already, or in this one.
fn place_shared<'s>(
    (index, name): (usize, &str),
    shared: &dyn SharedMemory,
    tensor: &'s mut Option<Borrowed<'_>>,
    (segment, places): (u64, &SharedPlaces),
) -> Result<(Vec<u8>, Segment<'s>), LaunchError> {
    let start = start_of(shared);
    let address = |segment| global_address(segment, start).to_le_bytes().to_vec();
    if let Some(known) = places.get(&key(shared)).filter(|known| **known != segment) {
        return Ok((address(*known), Segment::EMPTY));
    }
    match tensor {
        Some(Borrowed::Writable(bytes)) => Ok((address(segment), Segment::writable(bytes).from(start))),
        _ => Err(LaunchError::SharedInUse { index, name: name.to_owned() }),
    }
}

/// The offset of shared memory in its segment.
pub(super) fn start_of(shared: &dyn SharedMemory) -> u64 {
    shared.in_buffer() % DEVICE_ALIGN
}

/// The segment of the first replica and the offset there, if the argument is a multicast object over shared memory. All objects of a launch
/// have `all` replicas, in the same order.
pub(super) fn multicast_of_shared(
    index: usize,
    p: &ParamInfo<'_>,
    arg: &Arg<'_>,
    (places, all): (&SharedPlaces, Range<u64>),
) -> Result<Option<(u64, u64)>, LaunchError> {
    let ArgumentKind::SharedMulticast(replicas) = &arg.kind else { return Ok(None) };
    check(index, p, arg)?;
    let name = || p.name.to_owned();
    let first = all.start;
    let segments = replicas.iter().filter_map(|replica| places.get(&key(*replica)).copied());
    if replicas.is_empty() || !segments.eq(all) {
        return Err(LaunchError::MulticastOfShared { index, name: name() });
    }
    let start = start_of(replicas[0]);
    if replicas.iter().any(|replica| start_of(*replica) != start || replica.len() != replicas[0].len()) {
        let lengths = replicas.iter().map(|replica| replica.len()).collect();
        return Err(LaunchError::MulticastReplicas { index, name: name(), lengths });
    }
    Ok(Some((first, start)))
}

/// Checks a multicast object against its parameter. Returns its replicas: none if it is another argument.
pub(super) fn replicas<'s, 'a>(
    index: usize,
    p: &ParamInfo<'_>,
    arg: &'s mut Arg<'a>,
) -> Result<&'s mut [&'a mut [u8]], LaunchError> {
    check(index, p, arg)?;
    match &mut arg.kind {
        ArgumentKind::Multicast(replicas) => Ok(replicas),
        _ => Ok(&mut []),
    }
}

/// Places a tensor map: its tensor is a segment, or lies in that of another argument. The bytes are those of the map, also if
/// the parameter is a pointer.
fn place_map<'s>(
    (index, name): (usize, &str),
    mut map: [u8; MAP_BYTES],
    tensor: &'s mut Borrowed<'_>,
    (segment, addresses): (u64, &Addresses<'_>),
) -> Result<(Vec<u8>, Segment<'s>), LaunchError> {
    let name = || name.to_owned();
    let (address, segment) = match tensor {
        Borrowed::ReadOnly(b) => {
            let start = start(b);
            (global_address(segment, start), Segment::read_only(b).from(start))
        }
        Borrowed::Writable(b) => {
            let start = start(b);
            (global_address(segment, start), Segment::writable(b).from(start))
        }
        Borrowed::Argument(of) => match addresses.iter().find(|(name, _)| name == of) {
            Some((_, Some(address))) => (*address, Segment::EMPTY),
            _ => return Err(LaunchError::TensorMapArgument { index, name: name(), of: of.to_string() }),
        },
        Borrowed::Taken => return Err(LaunchError::TensorMapTaken { index, name: name() }),
    };
    map[..8].copy_from_slice(&address.to_le_bytes());
    Ok((map.to_vec(), segment))
}
