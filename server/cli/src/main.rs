//! The `strata` binary: parses arguments, runs the commands of the application, and prints their results. Only results
//! are written to standard output; messages are written to standard error.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod allocation;
mod answer;
mod arguments;
mod ask;
mod bar;
mod chat;
mod config;
mod cost;
mod doctor;
mod failure;
mod gauge;
mod input;
mod interrupts;
mod iteration;
mod log;
mod manual;
mod map;
mod mcp;
mod memory;
mod output;
mod pack;
mod prompt;
mod query;
mod record;
mod replay;
mod reply;
mod repository;
mod schema;
mod search_results;
mod selecting;
mod serve;
mod sessions;
mod status;
mod tokens;
mod tree;
mod usage;
mod when;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;

#[cfg(all(target_os = "linux", target_env = "musl"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[expect(unsafe_code, reason = "safe only before any other code runs")]
fn main() -> ExitCode {
    // SAFETY: no other code has run yet.
    unsafe { strata_app::tree_allocator::use_mimalloc() };
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    allocation::limit_arenas();
    let result = match Arguments::parse().command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Ask(arguments) => ask::run(&arguments),
        Command::Chat(arguments) => chat::run(&arguments),
        Command::Prompt(arguments) => prompt::run(&arguments),
        Command::Record(arguments) => record::run(&arguments),
        Command::Map(arguments) => map::run(&arguments),
        Command::Context(arguments) => query::context(&arguments),
        Command::Symbols(arguments) => query::symbols(&arguments),
        Command::Outline(arguments) => query::outline(&arguments),
        Command::Rules(arguments) => query::rules(&arguments),
        Command::References(arguments) => query::references(&arguments),
        Command::Grep(arguments) => query::grep(&arguments),
        Command::Read(arguments) => query::read(&arguments),
        Command::Tokens(arguments) => tokens::run(&arguments),
        Command::Sessions(arguments) => sessions::run(&arguments),
        Command::Memory(arguments) => memory::run(&arguments),
        Command::Iteration(arguments) => iteration::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Pack(arguments) => pack::run(&arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Cost(arguments) => cost::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Man(arguments) => manual::print_man_pages(&arguments),
    };
    strata_app::model::snapshot::delete_parse_records();
    match result {
        Ok(exit) => exit,
        // The reader has closed the output, as in `strata map | head`. This is not a failure.
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Message(message)) => {
            output::print_message(&format!("error: {message}"));
            ExitCode::FAILURE
        }
    }
}
