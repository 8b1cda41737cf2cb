//! The language server of Strata: receives an editor's messages, keeps the world in step, and answers commands. Holds no domain
//! logic: a handler converts, calls one engine function, and converts back.

mod backend;
mod capabilities;
mod client;
mod command_error;
mod event;
mod folders;
mod inbound;
mod invalid_notification;
mod main_loop;
mod navigation;
mod outbound;
#[cfg(test)]
mod panics;
mod pending_answer;
pub mod position;
pub mod protocol;
mod reply_rendering;
pub mod server;
pub mod sync;
pub mod transport;
mod world;
