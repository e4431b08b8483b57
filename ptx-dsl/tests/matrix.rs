//! Matrix instructions on the host: every form against results of an H200 (`tests/hardware/matrix.txt`), and forms of other targets
//! against plain Rust.

mod matrix {
    pub mod forms;
    pub mod hardware;
    pub mod inputs;
    pub mod kernels;
    mod others;
    mod reference;
}
