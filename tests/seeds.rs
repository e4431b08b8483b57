//! Two pages of the manual taken at their word, sentence by sentence: `mbarrier.arrive_drop` (9.7.13.15.14) and
//! `clusterlaunchcontrol.try_cancel` (9.7.13.17), the latter in its present and in an older text.

mod arrive_drop;
mod examples;
mod spellings;
mod try_cancel;
