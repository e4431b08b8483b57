//! The passes over findings, in the order in which a [`Session`](crate::session::Session) runs them after the checks.

pub mod captures;
pub mod hints;
pub(crate) mod origins;
pub mod pieces;
pub mod reach;
