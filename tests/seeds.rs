//! Pages of the manual, tested sentence by sentence: `mbarrier.arrive_drop` (9.7.13.15.14), `clusterlaunchcontrol.try_cancel`
//! (9.7.13.17) in its present and in an older text, and `tcgen05.commit` (9.7.16.12.1).

mod arrive_drop;
mod commit;
mod examples;
mod spellings;
mod try_cancel;
