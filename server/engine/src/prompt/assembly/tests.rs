//! Prompts over small repositories, without a disk. The cases that the description of the context engine lists
//! ("Testing") are all here or beside the code they test, under the names it gives them.

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
