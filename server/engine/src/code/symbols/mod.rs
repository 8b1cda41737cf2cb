//! What the files of a repository say about each other: the index of their outlines, where imports lead, who
//! mentions whom, which files matter for what, and how much of that fits a budget of tokens. It parses nothing, knows no
//! path on a disk, and gives the same answer for the same files whatever order they came in.

mod attributes;
mod files;
mod find;
mod graph;
mod imports;
mod index;
mod manifests;
mod map;
mod relevance;
mod words;

#[cfg(test)]
mod tests;

pub use files::{FileList, file_list};
pub use find::{SymbolMatch, find, find_files, nearest_files};

pub use graph::{model::References, rank::Seeds};
pub use index::{FileSymbols, SymbolIndex};
pub use manifests::{ATTRIBUTES, Manifests};
pub use map::{MapEntry, MapRequest, MapSelection, map_within, member::MapMember};

pub(in crate::code) use relevance::{ParsedQuery, name_words, scores};
pub use relevance::{
    asked::{AskedWords, named_in, rank_for},
    lexical::LexicalIndex,
    query::Query,
    score::{Relevant, relevant},
};
