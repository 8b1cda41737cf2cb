//! The language server: receives an editor's messages, keeps documents in sync, and answers commands. Contains no
//! domain logic. A handler converts its arguments, calls the application, and converts the result.

mod backend;
mod capabilities;
mod client;
mod client_requests;
mod command_error;
mod event;
mod folders;
mod inbound;
mod invalid_notification;
mod invalid_params;
mod main_loop;
mod navigation;
mod notebooks;
mod outbound;
#[cfg(test)]
mod panics;
mod pending_answer;
pub mod position;
mod progress_token;
pub mod protocol;
mod reply_rendering;
pub use inbound::refusal_of_initialize;
pub mod server;
pub mod sync;
pub mod transport;
mod world;
