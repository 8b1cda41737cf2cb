//! What the files of a repository say about each other: the index of their outlines, who mentions whom,
//! which of them matter, and how much of that fits a budget of tokens. It parses nothing, knows no path
//! on a disk, and gives the same answer for the same files whatever order they came in.

mod budget;
mod files;
mod graph;
mod index;

#[cfg(test)]
mod tests;

pub use budget::{MapEntry, MapRequest, MapSelection, map_within};
pub use files::{FileList, file_list};
pub use graph::References;
pub use index::{FileSymbols, SymbolIndex};
