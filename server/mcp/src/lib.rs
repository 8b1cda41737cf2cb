//! The server for agents: the commands of the language server as tools and resources of the Model Context Protocol. Holds no domain
//! logic and no open buffers: a tool converts, runs one command, converts back.

mod call;
mod pages;
mod resources;
mod schemas;
mod server;
mod stdio;
mod text;
mod tools;
mod view;
mod worker;

pub use call::{Reply, answer};
pub use stdio::serve;

pub use tools::{TOOLS, Tool};
pub use view::Subject;
