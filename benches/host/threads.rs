//! Launches on several threads next to those on one.

use crate::median;

/// Processor time of all threads of this process, the ended ones too, in ticks of 10 ms.
fn ticks() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // user and system time are the 12th and 13th word after the name
    let words = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
    words.map(|word| word.parse::<u64>().ok()).sum()
}

/// What `run` returns, and the ticks that it took.
pub fn processor<T>(run: impl FnOnce() -> T) -> (T, u64) {
    let before = ticks();
    let result = run();
    (result, before.zip(ticks()).map_or(0, |(from, to)| to - from))
}

/// Times of launches on one thread.
#[derive(Default)]
pub struct Alone {
    pub compiled: Vec<u64>,
    pub interpreted: Vec<u64>,
    /// of the interpreter: on one thread, on several
    pub ticks: [u64; 2],
}

impl Alone {
    pub fn line(mut self, count: usize) -> Option<Threads> {
        let [one, several] = self.ticks;
        let processor = (one > 0).then(|| several as f64 / one as f64);
        let (compiled, interpreted) = median(&mut self.compiled).zip(median(&mut self.interpreted))?;
        Some(Threads { count, compiled, interpreted, processor })
    }
}

/// A line's numbers: medians of one thread.
pub struct Threads {
    count: usize,
    compiled: u64,
    interpreted: u64,
    /// Processor time of several threads by that of one, on the interpreter.
    processor: Option<f64>,
}

pub fn print_head(count: usize) {
    print!(" {:>14} {:>8}", "one thread, ms", format!("x{count}"));
    print!(" {:>16} {:>8} {:>9}", "interpreted, one", format!("x{count}"), "processor");
}

impl Threads {
    /// Next to the times of several threads.
    pub fn print(&self, compiled: u64, interpreted: u64) {
        let columns = |one: u64, several: u64| (format!("{:.2}", one as f64 / 1e6), one as f64 / several as f64);
        let (ms, ratio) = columns(self.compiled, compiled);
        print!(" {ms:>14} {ratio:>8.2}");
        let (ms, ratio) = columns(self.interpreted, interpreted);
        print!(" {ms:>16} {ratio:>8.2} {:>9}", self.processor.map_or("-".into(), |ratio| format!("{ratio:.2}")));
    }

    pub fn json(&self) -> String {
        let processor = self.processor.map_or("null".into(), |ratio| format!("{ratio:.2}"));
        format!(
            ",\"threads\":{},\"one_thread_ns\":{},\"interpreted_one_thread_ns\":{},\"processor\":{processor}",
            self.count, self.compiled, self.interpreted
        )
    }
}
