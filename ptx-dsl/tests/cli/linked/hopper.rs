//! Two modules with parts of one name.
pub mod old;
pub mod parts;
