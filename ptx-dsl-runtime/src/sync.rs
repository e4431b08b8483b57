//! The synchronisation objects as pure state machines.

pub mod barrier;
pub mod cluster;
pub(crate) mod cluster_launch;
pub(crate) mod collector;
pub mod mbarrier;
pub(crate) mod meetings;
pub mod register_pool;
pub mod tensor_memory;
pub mod tensor_pipeline;
pub mod wgmma;
