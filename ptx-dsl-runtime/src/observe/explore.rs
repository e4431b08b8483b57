//! The exploration of schedules: each module is an [`Explorer`](crate::machine::steps::Explorer), which chooses the steps of launches.

pub(crate) mod dpor;
pub(crate) mod pct;
pub(crate) mod repeat;
