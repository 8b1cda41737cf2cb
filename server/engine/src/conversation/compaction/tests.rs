//! What compactions promise: each statement of the seeds by example (`seed_*`), the rest for any conversation (`promises`,
//! `questions`, `effort`).

mod effort;
mod fixture;
mod promises;
mod questions;
mod seed_000;
mod seed_001;
mod seed_003;
mod seed_004;
