//! Owns the workspace's `tests/` and `examples/`; holds no code of its own.
