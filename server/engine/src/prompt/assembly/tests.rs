//! Prompts over small repositories in memory. Every case that the description of the context engine lists under
//! "Testing" is tested here or next to the code, with a test of the same name.

mod budgets;
mod excerpts;
mod fixture;
mod flat;
mod forward;
mod frame;
mod preview;
mod recorded;
mod tiered;
mod tiers;
mod tool_result_archival;
