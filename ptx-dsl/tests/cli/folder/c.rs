//! No PTX.
