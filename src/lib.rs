//! Owns the workspace's `tests/` and `benches/`; has no code of its own.
