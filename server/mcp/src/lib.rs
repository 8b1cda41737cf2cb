//! The server for agents, which offers Strata's commands as tools, resources and prompts of the Model Context Protocol. It has
//! no domain logic and no open buffers. A tool converts its arguments, runs one command and converts the reply.

mod lines;
mod prompts;
mod resources;
mod server;
mod stdio;
mod view;
mod worker;

pub use stdio::serve;
pub use view::SessionChoice;
