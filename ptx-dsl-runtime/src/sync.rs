//! Pure state machines of the synchronisation objects.

pub mod barrier;
pub mod cluster;
pub mod mbarrier;
pub mod tensor_memory;
