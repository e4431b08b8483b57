//! The origins of undefined values, for the checked host.

use crate::numerics::lanes::Lanes;
use ptx_dsl_isa::image::{NO_SITE, Register};
use std::rc::Rc;

/// The origin of an undefined value.
#[derive(Debug, Clone)]
pub(crate) enum Root {
    /// A register that the thread has not written.
    Register {
        register: Register,
        /// The statement that has read it first and given its value on; [`NO_SITE`] if none has.
        read: u32,
    },
    /// A load from memory that nothing has written.
    Memory {
        /// The statement of the load.
        site: u32,
        space: &'static str,
        /// The address that each lane loads; 0 if the lane's value comes from another load.
        addresses: Rc<Lanes>,
    },
    /// A load from Tensor Memory that nothing has written: of the first of the lanes.
    Tensor {
        /// The statement of the load.
        site: u32,
        rank: u32,
        lane: usize,
        column: usize,
        only_added: bool,
    },
    /// A shuffle from a lane that its member mask does not name.
    Shuffle {
        /// The statement of the shuffle.
        site: u32,
        /// The stray read of each lane, unless its value comes from elsewhere.
        reads: Rc<[Option<Stray>; 32]>,
    },
    /// `get_first_ctaid` of a response that holds no cancelled cluster.
    Ctaid {
        /// The statement.
        site: u32,
    },
    /// A load from memory where a statement has stored an undefined value.
    Stored {
        /// The number in [`Origins`].
        origin: u32,
    },
}

/// A lane of a shuffle reads from one that the member mask does not name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stray {
    pub lane: u32,
    pub from: u32,
    pub mask: u32,
}

impl Root {
    /// The value of each lane is now that of another lane, which `from` names.
    pub fn moved(self, from: &[u32; 32]) -> Root {
        match self {
            Root::Memory { site, space, addresses } => {
                Root::Memory { site, space, addresses: Rc::new(from.map(|lane| addresses[lane as usize & 31])) }
            }
            Root::Shuffle { site, reads } => {
                Root::Shuffle { site, reads: Rc::new(from.map(|lane| reads[lane as usize & 31])) }
            }
            other @ (Root::Register { .. } | Root::Tensor { .. } | Root::Ctaid { .. } | Root::Stored { .. }) => other,
        }
    }

    /// A statement reads the value and gives it on.
    pub fn read_at(self, site: u32) -> Root {
        match self {
            Root::Register { register, read: NO_SITE } => Root::Register { register, read: site },
            other => other,
        }
    }
}

/// Undefined values that statements have stored to memory.
#[derive(Debug, Default)]
pub(crate) struct Origins(Vec<(u32, Root)>);

impl Origins {
    /// The number of a value that a statement stores. Values that come from the same statement have one.
    pub fn number(&mut self, site: u32, root: Root) -> u32 {
        if let Root::Stored { origin } = root {
            return origin;
        }
        let known = self.0.iter().position(|(of, other)| *of == site && other.is_like(&root));
        let number = known.unwrap_or_else(|| {
            self.0.push((site, root));
            self.0.len() - 1
        });
        number as u32
    }

    /// The statement that has stored a value, and where that comes from.
    pub fn of(&self, number: u32) -> Option<(u32, Root)> {
        self.0.get(number as usize).cloned()
    }
}

impl Root {
    /// Do both come from the same statement or register?
    fn is_like(&self, other: &Root) -> bool {
        match (self, other) {
            (Root::Register { register: a, .. }, Root::Register { register: b, .. }) => a == b,
            (Root::Memory { site: a, .. }, Root::Memory { site: b, .. }) => a == b,
            (Root::Tensor { site: a, .. }, Root::Tensor { site: b, .. }) => a == b,
            (Root::Shuffle { site: a, .. }, Root::Shuffle { site: b, .. }) => a == b,
            (Root::Ctaid { site: a }, Root::Ctaid { site: b }) => a == b,
            _ => false,
        }
    }
}
