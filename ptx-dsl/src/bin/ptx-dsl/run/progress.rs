//! A bar on the terminal, for launches that take longer than a second. A thread draws it, because a launch reports only clusters that
//! have ended.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use ptx_dsl::Launch;

/// The bar; dropping it removes it.
pub struct Progress {
    done: Arc<AtomicU64>,
    /// Closed when the launch has ended.
    end: Option<Sender<()>>,
    drawer: Option<JoinHandle<()>>,
}

impl Progress {
    /// A bar for this many `what`. Nothing is drawn if standard error is not a terminal.
    pub fn new(total: u64, what: &'static str) -> Self {
        let (end, ended) = channel();
        let done = Arc::new(AtomicU64::new(0));
        let shown = done.clone();
        let draw = move || draw(&ended, &shown, total, what);
        let drawer = std::io::stderr().is_terminal().then(|| std::thread::spawn(draw));
        Progress { done, end: Some(end), drawer }
    }

    /// Counts the clusters of a launch.
    pub fn listen(&self, launch: Launch) -> Launch {
        let done = self.done.clone();
        launch.on_progress(move |now| done.store(now.clusters_done, Ordering::Relaxed))
    }

    /// One more is done.
    pub fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end = None;
        if let Some(drawer) = self.drawer.take() {
            let _ = drawer.join();
        }
    }
}

fn draw(ended: &Receiver<()>, done: &AtomicU64, total: u64, what: &str) {
    if ended.recv_timeout(Duration::from_secs(1)) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} {msg}, {elapsed}");
    let bar = ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what.to_owned());
    bar.set_elapsed(Duration::from_secs(1));
    while ended.recv_timeout(Duration::from_millis(200)) == Err(RecvTimeoutError::Timeout) {
        bar.set_position(done.load(Ordering::Relaxed));
        bar.tick();
    }
    bar.finish_and_clear();
}
