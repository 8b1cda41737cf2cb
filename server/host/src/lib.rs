//! Strata.
