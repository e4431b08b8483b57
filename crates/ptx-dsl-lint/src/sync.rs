//! Barriers, mbarriers, clusters, launch control, fences and scopes: how threads wait for each other.

pub(crate) mod arrive_drop;
pub(crate) mod barriers;
pub(crate) mod cluster;
pub(crate) mod cluster_barrier;
pub(crate) mod expect_tx;
pub(crate) mod launch_control;
pub(crate) mod lifetime;
pub(crate) mod mbarriers;
pub(crate) mod named_barriers;
pub(crate) mod phases;
pub(crate) mod rings;
pub(crate) mod scopes;
pub(crate) mod states;
