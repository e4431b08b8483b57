//! State spaces, proxies, asynchronous copies and races: who sees what is written.

pub(crate) mod completion;
pub(crate) mod conflicts;
pub(crate) mod copied_by_all;
pub(crate) mod copies;
pub(crate) mod proxies;
pub(crate) mod races;
pub(crate) mod refills;
pub(crate) mod spaces;
pub(crate) mod tensormaps;
