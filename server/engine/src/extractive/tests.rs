//! Whole summaries.
