//! Agents, with operations written by hand.
