//! Tests of prompts for small repositories in memory.

mod budgets;
mod compaction;
mod excerpts;
mod fixture;
mod flat;
mod forward;
mod frame;
mod preview;
mod recorded;
mod ripple;
mod tiers;
mod tool_result_archival;
