//! What the files of a repository say about each other: the index of their outlines, where imports lead, who
//! mentions whom, which files matter for what, and how much of that fits a budget of tokens. It parses nothing, knows no
//! path on a disk, and gives the same answer for the same files whatever order they came in.

mod budget;
mod files;
mod find;
mod graph;
mod imports;
mod index;
mod manifests;
mod relevance;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use budget::{MapEntry, MapSelection};
pub use budget::{MapRequest, map_within};
pub use files::{FileList, file_list};
pub use find::{SymbolMatch, find, find_files};

pub use graph::{Ranking, References, Seeds};
pub use index::{FileSymbols, SymbolIndex};
pub use manifests::Manifests;

pub use relevance::{LexicalIndex, Mentions, Query, Relevant, relevant};
