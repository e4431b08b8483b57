//! Owns the workspace's `tests/` and `examples/`; has no code of its own.
