//! What the checked host finds, and what it must not find.

mod async_races;
mod counted;
mod early_phases;
mod endless;
mod explore;
mod issuers;
mod layouts;
mod locks;
mod misuse;
mod operands;
mod places;
mod polling;
mod printed;
mod races;
mod repeated;
mod reports;
mod roles;
mod shuffles;
mod sums;
mod tensor_memory;
mod unwritten;
mod weak;
