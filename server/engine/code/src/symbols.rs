//! Relations between the files of a repository: the index of their outlines, the targets of imports, the graph of
//! references, the relevance of files to a question, and the selection that fits a token budget. Does not parse or
//! access the disk. Results do not depend on the order of files.

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
pub use find::{SymbolMatch, files_of_member, find, find_files};

pub use graph::{
    model::References,
    rank::{Ranking, Seeds},
};
pub use index::{FileSymbols, SymbolIndex};
pub use manifests::{ATTRIBUTES, Manifests};
pub use map::{MapEntry, MapRequest, MapSelection, map_within, member::MapMember};

pub(crate) use relevance::{FileRole, ParsedQuery, name_words};
pub use relevance::{
    asked::{QuestionWords, mentioned_files, rank_for},
    lexical::LexicalIndex,
    query::{Query, names_code},
    score::{FileRelevance, RelevantFile, relevant_files},
};
