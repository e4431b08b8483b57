//! The debugger: a session forwards and backwards, the prompt, and a client of the protocol.

#[path = "debug/protocol.rs"]
mod protocol;
#[path = "debug/session.rs"]
mod session;

use ptx_dsl::load::{Kernel, Level, Options, Selector};
use ptx_dsl::{Arg, Launch};
use ptx_dsl_debug::{Outcome, Session, Source, Stop};

const SUM: &str = include_str!("kernels/sum.ptx");
const PARITY: &str = include_str!("kernels/parity.ptx");

fn kernel(text: &str) -> Kernel {
    // one of the kernels waits for more arrivals than there are
    let module = Options::new().level(Level::Warn, Selector::Code(642)).parse(text).expect("a module without errors");
    module.kernels()[0].clone()
}

/// A session of a kernel with buffers of these bytes.
fn session(name: &str, text: &str, buffers: Vec<Vec<u8>>) -> Session {
    let kernel = kernel(text);
    let source = Source { name: name.into(), text: text.into(), types: kernel.register_types() };
    Session::new(source, move |host| {
        let mut buffers = buffers.clone();
        let mut arguments: Vec<Arg<'_>> = buffers.iter_mut().map(|bytes| Arg::buffer(bytes)).collect();
        kernel.launch_raw(&host, Launch::grid(1), &mut arguments)
    })
}

/// The sum of 64 floats: 0, 1, 2, ...
fn sum() -> Session {
    let x = (0..64).flat_map(|i| (i as f32).to_le_bytes()).collect();
    session("sum.ptx", SUM, vec![x, vec![0; 4]])
}

/// The number of the line that contains this, from 1.
fn line(text: &str, part: &str) -> u32 {
    1 + text.lines().position(|line| line.contains(part)).expect("a line") as u32
}

/// The stop of the last command.
fn stopped(session: &mut Session) -> Stop {
    match session.wait() {
        Some(Outcome::Stopped(stop)) => stop,
        other => panic!("{other:?}"),
    }
}
