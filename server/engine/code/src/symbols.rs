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
pub use find::{SymbolMatch, files_defining_member, find_files, find_symbols};

pub use graph::{
    model::ReferenceGraph,
    rank::{Ranking, Seeds},
};
pub use index::{FileSymbols, SymbolIndex};
pub use manifests::{ATTRIBUTES, Manifests};
pub use map::{MapEntry, MapRequest, MapSelection, build_map, member::MapMember};

pub(crate) use relevance::{FileRole, ParsedQuery, each_name_word, sort_and_truncate};
pub use relevance::{
    asked::{QuestionWords, mentioned_files, rank_files_for_question},
    lexical::LexicalIndex,
    query::{RelevanceQuery, mentions_code},
    score::{FileRelevance, RelevantFile, relevant_files},
};
