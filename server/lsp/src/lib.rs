//! The language server of Strata: takes what an editor says, keeps one world in step with it, answers commands.
//! Holds no domain logic: a handler converts, calls one engine function, converts back.

pub mod asker;
pub mod attention;
pub mod backend;
pub mod capabilities;
pub mod checkup;
pub mod client;
mod clock;
pub mod commands;
pub mod compacting;
pub mod documents;
mod faults;
pub mod figures;
pub mod folders;
pub mod index;
pub mod ingress;
pub mod keeper;
pub mod mail;
pub mod main_loop;
pub mod meter;
pub mod misread;
pub mod navigation;
pub mod outgoing;
pub mod position;
pub mod probe;
pub mod protocol;
pub mod redaction;
pub mod rehearsal;
pub mod server;
pub mod services;
pub mod settings;
pub mod shown;
pub mod snapshot;
mod surroundings;
pub mod sync;
pub mod transport;
mod waiting;
pub mod weights;
pub mod workbench;
pub mod world;

/// What the binary may do about the memory of syntax trees before anything else.
pub use strata_grammars::memory as tree_memory;
