//! The observers of a launch: monitors, the checked host, timelines, and the exploration of schedules.

pub(crate) mod checked;
pub mod debug;
pub(crate) mod explore;
pub mod monitor;
pub(crate) mod probe;
pub mod profile;
pub mod trace;
