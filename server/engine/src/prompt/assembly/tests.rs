//! Prompts over small repositories in memory. Every case that the description of the context engine lists ("Testing")
//! is tested here or next to the code, under the name it has there.

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
