//! Pages of the manual, tested sentence by sentence: `mbarrier.arrive_drop` (9.7.13.15.14), `clusterlaunchcontrol.try_cancel`
//! (9.7.13.17) in its present and in an older text, `tcgen05.commit` (9.7.16.12.1), and issue granularity (9.7.16.5).

mod arrive_drop;
mod commit;
mod examples;
mod issue;
mod spellings;
mod try_cancel;
