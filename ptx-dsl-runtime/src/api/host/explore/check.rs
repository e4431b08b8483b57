//! Explorations of tests: the message of a failure is enough to repeat it.

use crate::api::host::Explore;
use crate::api::host::Host;
use crate::api::launch::Error;
use crate::machine::schedule::Schedule;

impl<M> Explore<M> {
    /// [Runs](Explore::run) the schedules, for a test: panics with the report of the first fault, and with the command that repeats
    /// it. Assertions may be in the closure.
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Host, Report, Error};
    /// # fn launch<M>(_: &Host<M>) -> Result<Report, Error> { Ok(Report::default()) }
    /// Host::checked().explore(1000).exhaustive().check(|host| launch(host));
    /// ```
    ///
    /// # Panics
    /// If a run fails.
    #[track_caller]
    pub fn check<T>(&self, launch: impl FnMut(&Host<M>) -> Result<T, Error>) {
        if let Err(failed) = self.explore(launch) {
            let again = failed.schedule.map(|s| format!("\n  = help: without a change: {}", command(&s)));
            panic!("{}{}", failed.error, again.unwrap_or_default());
        }
    }
}

/// The command that repeats a schedule of the test that runs.
fn command(schedule: &Schedule) -> String {
    // libtest gives the thread of a test its name
    let thread = std::thread::current();
    match thread.name().filter(|name| *name != "main") {
        Some(test) => format!("`PTX_DSL_SCHEDULE={schedule} cargo test {test} -- --exact`"),
        None => format!("`PTX_DSL_SCHEDULE={schedule}` in the environment"),
    }
}

/// Says which schedule runs if the closure of an exploration panics.
pub(super) struct Panics<F: Fn() -> Schedule>(F);

impl<F: Fn() -> Schedule> Panics<F> {
    pub fn watch(schedule: F) -> Self {
        Panics(schedule)
    }
}

impl<F: Fn() -> Schedule> Drop for Panics<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("note: to see it again: {}", command(&(self.0)()));
        }
    }
}
