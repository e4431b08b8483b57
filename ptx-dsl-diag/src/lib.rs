//! What is found in a PTX module ([`diag`]) and where ([`span`]): all that the parser and the instruction table have in common.

pub mod diag;
pub mod span;
