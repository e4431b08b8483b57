//! The memory after address operands: state space, owner of shared memory, kind of access, and number of bytes. Every address of
//! the table has these ([`addr`](super::addr) requires it); the checks of addresses read nothing else.

use super::when::When;

/// The memory after an address operand.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Its state space.
    pub space: AddressSpace,
    /// The access.
    pub access: Access,
    /// How many bytes.
    pub size: Size,
    /// The CTAs of the cluster that can own it, if it is in shared memory.
    pub reach: Reach,
    /// Under one of these conditions part of the bytes may be left out: their number is then unknown.
    pub partial: &'static [When],
    /// Under one of these conditions it need not be aligned.
    pub unaligned: &'static [When],
}

/// The state space of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressSpace {
    /// That of the state-space qualifier with this number. Without one it is a generic address.
    Qualifier(usize),
    /// The same, and a generic address is in shared memory.
    Shared(usize),
    /// Shared memory. The manual does not say which form the address has.
    AnyShared,
    /// A generic address of memory that can hold a tensor map: global memory, constants, parameters.
    TensorMap,
    /// Tensor Memory, which has addresses of its own (9.7.16.1).
    TensorMemory,
}

/// The kind of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads.
    Read,
    /// Writes, also after it has read.
    Write,
    /// Works on the mbarrier object there.
    Mbarrier,
    /// Nothing that could fail: a cache hint.
    Hint,
}

/// The bytes after an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// The last written type, times `.v2`, `.v4` or `.v8`.
    Type,
    /// That many.
    Bytes(u32),
    /// The value of the operand with this name.
    Operand(&'static str),
    /// A box, a matrix, or more.
    Unknown,
}

/// The owner of the shared memory after an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// By the state space: `.shared::cta` is that of the executing CTA, anything else that of any CTA of the cluster.
    BySpace,
    /// That of the executing CTA, whatever the state space is.
    OwnCta,
    /// By the state space of another address of the instruction: the state-space qualifier with this number.
    LikeQualifier(usize),
    /// The same, and with `.cta_group::2` that of either CTA of the pair.
    PairOrLikeQualifier(usize),
    /// That of any CTA of the cluster if the instruction returns nothing; else that of the executing CTA.
    OwnCtaForResult,
}

const fn memory(access: Access, size: Size) -> Memory {
    Memory { space: AddressSpace::Qualifier(0), access, size, reach: Reach::BySpace, partial: &[], unaligned: &[] }
}

/// It is read.
pub const fn reads(size: Size) -> Memory {
    memory(Access::Read, size)
}

/// It is written.
pub const fn writes(size: Size) -> Memory {
    memory(Access::Write, size)
}

/// An mbarrier object (9.7.13.15.1).
pub const fn mbarrier() -> Memory {
    memory(Access::Mbarrier, Size::Bytes(8)).shared()
}

/// A cache hint.
pub const HINT: Memory = memory(Access::Hint, Size::Unknown);

impl Memory {
    /// The state-space qualifier with this number names the space.
    pub const fn qualifier(mut self, number: usize) -> Memory {
        self.space = AddressSpace::Qualifier(number);
        self
    }

    /// Shared memory, also by a generic address.
    pub const fn shared(self) -> Memory {
        self.in_space(AddressSpace::Shared(0))
    }

    /// In this space.
    pub const fn in_space(mut self, space: AddressSpace) -> Memory {
        self.space = space;
        self
    }

    /// Only of the executing CTA.
    pub const fn own_cta(self) -> Memory {
        self.reach(Reach::OwnCta)
    }

    /// Of these CTAs.
    pub const fn reach(mut self, reach: Reach) -> Memory {
        self.reach = reach;
        self
    }

    /// Possibly not all bytes, under one of these conditions.
    pub const fn partial(mut self, when: &'static [When]) -> Memory {
        self.partial = when;
        self
    }

    /// Possibly not aligned, under one of these conditions.
    pub const fn unaligned(mut self, when: &'static [When]) -> Memory {
        self.unaligned = when;
        self
    }
}
