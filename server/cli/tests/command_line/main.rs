//! The real binary as a person runs it: what it prints where, and how it ends.

mod doctor;
mod map;
mod prompt;
mod repo;
mod serve;
mod tokens;
mod usage;
