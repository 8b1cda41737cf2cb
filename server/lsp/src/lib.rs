//! Strata.

pub mod transport;
