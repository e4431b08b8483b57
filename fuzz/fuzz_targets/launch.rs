//! Launches the kernels of any bytes as PTX text, on a plain host, with a seed, on three threads, and on the checked host. No kernel may
//! make the host panic, hang, or use memory that is not its own; where the checked host finds nothing, all hosts must agree.
//!
//! A first line `// <number>` chooses the launch and its arguments.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

#[path = "launch/case.rs"]
mod case;
#[path = "launch/hosts.rs"]
mod hosts;
#[path = "launch/mutate.rs"]
mod mutate;

fuzz_target!(|bytes: &[u8]| hosts::compare(&String::from_utf8_lossy(bytes)));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});
