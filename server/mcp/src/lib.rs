//! The server for agents: the commands of the language server as tools and resources of the Model Context Protocol. Holds no domain
//! logic and no open buffers: a tool converts, runs one command, converts back.

mod resources;
mod server;
mod stdio;
mod view;
mod worker;

pub use stdio::serve;
pub use view::Subject;
