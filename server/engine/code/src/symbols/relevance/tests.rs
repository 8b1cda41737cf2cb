//! Texts and the files that are relevant to them.

use std::sync::Arc;

use proptest::prelude::*;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::lexical::LexicalIndex;
use super::query::{RelevanceQuery, TextMentions};
use super::score::{FileRelevance, RelevantFile, relevant_files};
use crate::symbols::graph::{ReferenceGraph, Seeds};
use crate::symbols::index::{FileSymbols, SymbolIndex};

/// A small library: source files, their tests, and documents.
const FILES: [(&str, &str); 9] = [
    (
        "src/net/sessions.py",
        "from .cookies import CookieJar\nclass Session:\n    def resolve_redirects(self, resp): CookieJar()\n    def send(self): ...\n",
    ),
    ("src/net/cookies.py", "class CookieJar:\n    def set_cookie(self): ...\n"),
    ("src/net/adapters.py", "class HTTPAdapter:\n    def close_pool(self): ...\n"),
    ("src/net/retry.py", "def backoff(seconds): ...\n"),
    ("tests/test_retry.py", "from net.retry import backoff\ndef test_it(): backoff(1)\n"),
    ("tests/test_sessions.py", "from net.sessions import Session\ndef test_a(): Session()\n"),
    ("docs/guide.rst", ""),
    ("CHANGES.md", ""),
    ("setup.cfg", ""),
];

struct Repository {
    symbols: SymbolIndex,
    references: ReferenceGraph,
    lexical: LexicalIndex,
}

impl Repository {
    fn new() -> Self {
        let files: Vec<FileKey> = FILES.iter().map(|(path, _)| FileKey::from(*path)).collect();
        let symbols: SymbolIndex = FILES.iter().filter_map(|(path, text)| outlined(path, text)).collect();
        let references = ReferenceGraph::build(&symbols, &Arc::default());
        let lexical = LexicalIndex::build(&symbols, &files);
        Self { symbols, references, lexical }
    }

    fn relevant(&self, text: &str) -> Vec<RelevantFile> {
        self.relevant_to(&RelevanceQuery { text, ..RelevanceQuery::default() })
    }

    fn relevant_to(&self, query: &RelevanceQuery<'_>) -> Vec<RelevantFile> {
        relevant_files(&self.symbols, &FileRelevance::new(&self.lexical, &self.references, query), 20)
    }

    #[track_caller]
    fn check(&self, text: &str, first: &[&str]) {
        let relevant_files = self.relevant(text);
        let relevant_files: Vec<&str> =
            relevant_files.iter().map(|file| file.file.as_str()).take(first.len()).collect();
        assert_eq!(relevant_files, first, "{text}");
    }
}

fn outlined(path: &str, text: &str) -> Option<(FileKey, Arc<FileSymbols>)> {
    let (key, language) =
        (FileKey::from(path), LanguageId::by_name("python").filter(|_| path.ends_with(".py"))?);
    let symbols = FileSymbols::read(language, &key, text, &Cancel::new()).unwrap();
    Some((key, Arc::new(symbols)))
}

#[test]
fn names_match_in_any_spelling_and_form() {
    let repository = Repository::new();
    repository.check("Cookies are set twice", &["src/net/cookies.py"]);
    repository.check("Stop resolving a redirect forever", &["src/net/sessions.py"]);
    repository.check("closePool leaks", &["src/net/adapters.py"]);
}

#[test]
fn a_file_whose_path_the_text_contains_comes_first() {
    let repository = Repository::new();
    repository.check("Say in docs/guide.rst that sessions send cookies", &["docs/guide.rst"]);
    repository.check("cookies: move to `adapters.py`.", &["src/net/adapters.py"]);
}

#[test]
fn a_source_file_raises_its_tests() {
    Repository::new().check("backoff too long", &["src/net/retry.py", "tests/test_retry.py"]);
}

#[test]
fn the_changelog_is_raised_but_not_first() {
    let relevant_files = Repository::new().relevant("Fix cookies of sessions");
    let position = relevant_files.iter().position(|file| file.file.as_str() == "CHANGES.md").unwrap();
    assert!((4..=6).contains(&position), "{position}");
}

#[test]
fn trailers_of_commit_messages_are_ignored() {
    let repository = Repository::new();
    let signed = "Fix backoff\n\nSigned-off-by: Cookie Adapters <cookies@adapters.example>\n";
    assert_eq!(repository.relevant(signed), repository.relevant("Fix backoff"));
}

#[test]
fn matched_symbols_have_qualified_names() {
    let relevant_files = Repository::new().relevant("resolve redirects");
    let names: Vec<&str> = relevant_files[0].symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    assert_eq!((relevant_files[0].score, &names[..]), (1.0, &["Session.resolve_redirects"][..]));
}

#[test]
fn a_text_without_matches_scores_low() {
    let repository = Repository::new();
    let relevant_files = repository.relevant("zebra quagga");
    assert!(
        relevant_files.iter().all(|file| file.score < 0.5 && file.symbols.is_empty()),
        "{relevant_files:?}"
    );
    assert_eq!(repository.relevant(" "), []);
    let open = [FileKey::from("src/net/retry.py")];
    let seeds = Seeds { open: &open, ..Seeds::default() };
    let relevant_files = repository.relevant_to(&RelevanceQuery { text: "zebra quagga", seeds });
    assert_eq!(relevant_files[0].file, open[0]);
}

#[test]
fn a_text_mentions_files_and_identifiers() {
    let mentions = TextMentions::read(
        "Let `send` in net/sessions.py call set_cookie(), not setup.cfg",
        &Repository::new().lexical,
    );
    let files: Vec<&str> = mentions.files.iter().map(FileKey::as_str).collect();
    assert_eq!(files, ["setup.cfg", "src/net/sessions.py"]);
    assert_eq!(mentions.identifiers[..1], ["send"]);
    assert!(mentions.identifiers.contains(&"set_cookie".to_owned()));
}

fn any_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "cookies",
        "Session.send",
        "`retry`",
        "src/net/",
        "adapters.py",
        "\n",
        ":",
        "fix",
        "the",
        "HTTPAdapter",
        "é…",
        "()",
    ]);
    prop_oneof![any::<String>(), prop::collection::vec(word, 0..30).prop_map(|words| words.join(" "))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_file_is_returned_once_in_order_for_any_text(text in any_text()) {
        let found = Repository::new().relevant(&text);
        prop_assert!(found.iter().all(|file| file.score > 0.0 && file.score <= 1.0));
        prop_assert!(found.is_sorted_by(|a, b| a.score >= b.score));
        let symbols = found.iter().flat_map(|file| &file.symbols);
        prop_assert!(symbols.into_iter().all(|symbol| symbol.score > 0.0 && symbol.score <= 1.0));
        let mut files: Vec<&FileKey> = found.iter().map(|file| &file.file).collect();
        files.sort_unstable();
        files.dedup();
        prop_assert_eq!(files.len(), found.len());
    }
}
