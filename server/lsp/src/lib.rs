//! The language server of Strata: takes what an editor says, keeps one world in step with it, answers commands.
//! Holds no domain logic: a handler converts, calls one engine function, converts back.

pub mod backend;
pub mod capabilities;
pub mod client;
mod command_error;
pub mod event;
pub mod folders;
pub mod inbound;
pub mod invalid_notification;
pub mod main_loop;
pub mod navigation;
pub mod outbound;
#[cfg(test)]
mod panics;
mod pending_answer;
pub mod position;
pub mod protocol;
pub mod reply_rendering;
pub mod server;
pub mod sync;
pub mod transport;
pub mod world;
