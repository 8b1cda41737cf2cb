//! Questions and the excerpts chosen for them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::extent::{TextLines, definition_extents};
use super::*;
use crate::outline::Outline;
use crate::symbols::{
    FileRelevance, FileSymbols, LexicalIndex, ReferenceGraph, RelevanceQuery, Seeds, SymbolIndex,
};

const FILES: [(&str, &str); 4] = [
    (
        "src/net/sessions.py",
        "import time\n\nLIMIT = 30\n\n\nclass Session:\n    \"\"\"A session.\"\"\"\n\n    # Follows them.\n    @retried\n    def resolve_redirects(self, resp):\n        for _ in range(LIMIT):\n            pass\n\n    def send(self):\n        return 1\n\n\ndef main():\n    Session()\n",
    ),
    ("src/net/cookies.py", "class CookieJar:\n    def set_cookie(self, name):\n        self.jar = name\n"),
    ("src/net/retry.py", "def backoff(seconds):\n    return seconds * 2\n"),
    (
        "tests/test_retry.py",
        "from net.retry import backoff\n\ndef test_backoff():\n    assert backoff(1) == 2\n",
    ),
];

#[derive(Default)]
struct TestQuery<'a> {
    text: &'a str,
    open: &'a [&'a str],
    selected: &'a [&'a str],
    recency: &'a [(&'a str, u32)],
    /// Texts before the last commit, of the files that it changed.
    before: &'a [(&'a str, &'a str)],
    past: &'a [PastCommit],
    dismissed: &'a [DismissedExcerpt],
    shown: &'a [(&'a str, Range<u32>)],
}

struct Repository {
    symbols: SymbolIndex,
    references: ReferenceGraph,
    lexical: LexicalIndex,
}

impl Repository {
    fn new() -> Self {
        let python = LanguageId::by_name("python").unwrap();
        let files: Vec<FileKey> = FILES.iter().map(|(path, _)| FileKey::from(*path)).collect();
        let read = |key: &FileKey, text: &str| FileSymbols::read(python, key, text, &Cancel::new()).unwrap();
        let symbols: SymbolIndex = FILES
            .iter()
            .map(|(path, text)| (FileKey::from(*path), Arc::new(read(&FileKey::from(*path), text))))
            .collect();
        let references = ReferenceGraph::build(&symbols, &Arc::default());
        let lexical = LexicalIndex::build(&symbols, &files);
        Self { symbols, references, lexical }
    }

    fn ask(&self, query: &TestQuery<'_>, budget: impl Into<ExcerptBudget>) -> Vec<Excerpt> {
        let keys = |paths: &[&str]| paths.iter().map(|path| FileKey::from(*path)).collect::<Vec<_>>();
        let (open, selected) = (keys(query.open), keys(query.selected));
        let recency: BTreeMap<FileKey, u32> =
            query.recency.iter().map(|(path, age)| (FileKey::from(*path), *age)).collect();
        let ages = |(path, before): &(&str, &str)| {
            let mut ages = LineAges::default();
            ages.add_change(0, before);
            (FileKey::from(*path), ages)
        };
        let line_ages: BTreeMap<FileKey, LineAges> = query.before.iter().map(ages).collect();
        let mut shown: BTreeMap<FileKey, Vec<Range<u32>>> = BTreeMap::new();
        for (path, lines) in query.shown {
            shown.entry(FileKey::from(*path)).or_default().push(lines.clone());
        }
        let query = ExcerptQuery {
            text: query.text,
            earlier: "",
            open: &open,
            selected: &selected,
            excluded: &BTreeSet::new(),
            recency: &recency,
            line_ages: &line_ages,
            past: query.past,
            dismissed: query.dismissed,
            shown: &shown,
        };
        let seeds = Seeds { open: &open, selected: &selected, ..Seeds::default() };
        let file_query = RelevanceQuery { text: query.text, seeds };
        let relevance = FileRelevance::new(&self.lexical, &self.references, &file_query);
        let files = candidate_files(&relevance, &query, 10);
        let candidates: Vec<ExcerptCandidate<'_>> = files
            .iter()
            .map(|file| ExcerptCandidate {
                file,
                outline: self.symbols.get(&file.file).map(|symbols| &symbols.outline),
                text: FILES.iter().find(|(path, _)| *path == file.file.as_str()).unwrap().1,
            })
            .collect();
        let heading = |excerpt: &Excerpt| excerpt.file.as_str().to_owned();
        choose(&PassageCache::default(), &candidates, &query, budget.into(), &heading, &|text: &str| {
            text.len().div_ceil(4)
        })
    }

    fn names(&self, query: &TestQuery<'_>, budget: usize) -> Vec<String> {
        let name = |excerpt: &Excerpt| match &excerpt.definition {
            Some(definition) => format!("{}#{definition}", excerpt.file.as_str()),
            None => format!("{}:{}-{}", excerpt.file.as_str(), excerpt.lines.start, excerpt.lines.end),
        };
        self.ask(query, budget).iter().map(name).collect()
    }
}

#[test]
fn an_excerpt_includes_the_comments_above_its_definition() {
    let query = TestQuery { text: "Stop resolving redirects forever", ..TestQuery::default() };
    let excerpts = Repository::new().ask(&query, 40);
    let first = &excerpts[0];
    assert_eq!(
        (first.definition.as_deref(), first.lines.clone()),
        (Some("Session.resolve_redirects"), 8..13)
    );
    let text = &FILES[0].1[first.bytes.clone()];
    assert!(text.starts_with("    # Follows them.") && text.ends_with("pass\n"), "{text}");
    assert_eq!((first.reason, first.score), (ExcerptReason::Words, 1.0));
}

#[test]
fn adjacent_passages_become_one_excerpt() {
    let text = "sessions: resolve redirects, send";
    let excerpts = Repository::new().names(&TestQuery { text, ..TestQuery::default() }, 57);
    assert_eq!(excerpts, ["src/net/sessions.py#Session"]);
}

#[test]
fn tests_rank_below_source_unless_the_question_asks_for_them() {
    let repository = Repository::new();
    let excerpts = repository.names(&TestQuery { text: "backoff grows", ..TestQuery::default() }, 20);
    assert_eq!(excerpts, ["src/net/retry.py#backoff"]);
    let excerpts = repository.names(&TestQuery { text: "fix test_backoff", ..TestQuery::default() }, 25);
    assert!(excerpts[0].starts_with("tests/test_retry.py"), "{excerpts:?}");
}

#[test]
fn among_files_without_word_matches_the_last_changed_one_comes_first() {
    let repository = Repository::new();
    for path in ["src/net/retry.py", "src/net/cookies.py"] {
        let query = TestQuery { text: "Limit redirects", recency: &[(path, 0)], ..TestQuery::default() };
        let excerpts = repository.ask(&query, 400);
        let others = excerpts.iter().find(|excerpt| excerpt.file.as_str() != FILES[0].0).unwrap();
        assert_eq!((others.file.as_str(), others.reason), (path, ExcerptReason::Recent));
    }
}

#[test]
fn a_question_unrelated_to_the_code_yields_only_open_files() {
    let repository = Repository::new();
    let recency = FILES.map(|(path, _)| (path, 0));
    let past = [PastCommit { subject: "Feed the zebras".to_owned(), files: vec![FileKey::from(FILES[2].0)] }];
    let query =
        TestQuery { text: "Why is the sky blue?", recency: &recency, past: &past, ..TestQuery::default() };
    assert_eq!(repository.names(&query, 400), [""; 0]);
    let opened = TestQuery { open: &["src/net/retry.py"], ..query };
    assert_eq!(repository.names(&opened, 400), ["src/net/retry.py#backoff"]);
}

#[test]
fn a_change_request_without_word_matches_yields_recently_changed_files() {
    let repository = Repository::new();
    let recency = [("src/net/retry.py", 0), ("src/net/cookies.py", 40)];
    let query = TestQuery { text: "Undo that", recency: &recency, ..TestQuery::default() };
    let excerpts = repository.ask(&query, 4_000);
    assert!(!excerpts.is_empty());
    for excerpt in excerpts {
        assert_eq!((excerpt.file.as_str(), excerpt.reason), ("src/net/retry.py", ExcerptReason::Recent));
    }
}

#[test]
fn recently_added_lines_come_first() {
    let repository = Repository::new();
    let (path, text) = FILES[0];
    for added in ["    def send(self):\n        return 1\n", "LIMIT = 30\n"] {
        let before = text.replace(added, "");
        let query = TestQuery {
            text: "Make it faster",
            recency: &[(path, 0)],
            before: &[(path, &before)],
            ..TestQuery::default()
        };
        let excerpts = repository.ask(&query, 60);
        assert!(text[excerpts[0].bytes.clone()].contains(added), "{added:?}: {excerpts:?}");
    }
}

#[test]
fn an_excerpt_names_its_definitions_best_first() {
    let excerpts =
        Repository::new().ask(&TestQuery { text: "Limit redirects", ..TestQuery::default() }, 4_000);
    let sessions = excerpts.iter().find(|excerpt| excerpt.file.as_str() == FILES[0].0).unwrap();
    assert_eq!(sessions.definition, None, "several definitions are joined");
    let names: Vec<&str> = sessions.definitions.iter().map(|shown| shown.name.as_str()).collect();
    assert_eq!(names[0], "Session.resolve_redirects");
    assert!(names.contains(&"Session.send") && names.contains(&"main"), "{names:?}");
    assert!(sessions.definitions.is_sorted_by(|a, b| a.score >= b.score));
}

/// Returns the excerpts that are chosen from one file.
fn excerpts_from_file(path: &str, source: &str, query: &str, budget: usize) -> Vec<Excerpt> {
    let language = LanguageId::by_path(path, "").unwrap();
    let file =
        CandidateFile { file: FileKey::from(path), relevance: 1.0, unrequested_role: None, is_named: false };
    let outline = Outline::read(language, source, &Cancel::new()).unwrap();
    let candidates = [ExcerptCandidate { file: &file, outline: Some(&outline), text: source }];
    let query = ExcerptQuery {
        text: query,
        earlier: "",
        open: &[],
        selected: &[],
        excluded: &BTreeSet::new(),
        recency: &BTreeMap::new(),
        line_ages: &BTreeMap::new(),
        past: &[],
        dismissed: &[],
        shown: &BTreeMap::new(),
    };
    let count = |text: &str| text.len();
    choose(&PassageCache::default(), &candidates, &query, budget.into(), &|_| String::new(), &count)
}

#[test]
fn inline_tests_rank_below_source_unless_the_question_asks_for_them() {
    let source = "fn grow(seconds: u64) -> u64 {\n    seconds * 2\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn grows() {\n        let seconds = super::grow(1);\n    }\n}\n";
    // The budget fits only one of the two.
    let first =
        |query: &str| excerpts_from_file("src/backoff.rs", source, query, 110).swap_remove(0).lines.start;
    assert_eq!(first("grow seconds"), 0);
    assert!(first("test that it grows by seconds") > 2);
}

#[test]
fn a_request_may_omit_the_punctuation_of_a_name() {
    let source = "export interface $ZodType {\n  kind: string\n}\n\nexport interface $ZodDefault {\n  value: unknown\n}\n";
    for name in ["ZodDefault", "$ZodDefault"] {
        let excerpts = excerpts_from_file("src/core.ts", source, &format!("Where is {name} used?"), 60);
        assert_eq!(
            (excerpts[0].definition.as_deref(), excerpts[0].reason),
            (Some("$ZodDefault"), ExcerptReason::Defines)
        );
    }
}

#[test]
fn a_file_that_a_similar_commit_changed_comes_first() {
    let repository = Repository::new();
    let commit = |subject: &str, path: &str| PastCommit {
        subject: subject.to_owned(),
        files: vec![FileKey::from(path)],
    };
    for (path, other) in
        [("src/net/retry.py", "src/net/cookies.py"), ("src/net/cookies.py", "src/net/retry.py")]
    {
        let past = [commit("Feed the zebras", path), commit("Count horses", other)];
        let query = TestQuery { text: "zebra escapes", past: &past, ..TestQuery::default() };
        assert_eq!(repository.ask(&query, 40)[0].file.as_str(), path);
    }
}

#[test]
fn selected_files_and_dismissed_excerpts_are_not_chosen() {
    let repository = Repository::new();
    let (text, path) = ("set cookie of the jar in time", "src/net/cookies.py");
    let query = TestQuery { text, ..TestQuery::default() };
    let first = repository.ask(&query, 60).swap_remove(0);
    assert_eq!((first.file.as_str(), first.definition.as_deref()), (path, Some("CookieJar")));
    let Excerpt { file, definition, ordinal, lines, .. } = first;
    let dismissed = [DismissedExcerpt { file, definition, ordinal, lines }];
    let selected = [path];
    for query in [
        TestQuery { text, dismissed: &dismissed, ..TestQuery::default() },
        TestQuery { text, selected: &selected, ..TestQuery::default() },
    ] {
        let excerpts = repository.ask(&query, 200);
        assert!(
            !excerpts.is_empty() && excerpts.iter().all(|excerpt| excerpt.file.as_str() != path),
            "{excerpts:?}"
        );
    }
}

#[test]
fn lines_that_the_prompt_shows_do_not_use_the_budget_for_new_ones() {
    let repository = Repository::new();
    let text = "sessions: resolve redirects, send";
    let ask = |shown: &[(&str, Range<u32>)]| -> Vec<String> {
        let query = TestQuery { text, shown, ..TestQuery::default() };
        let excerpts = repository.ask(&query, ExcerptBudget { all: 400, new: 32 });
        let of_first_file = excerpts.iter().filter(|excerpt| excerpt.file.as_str() == FILES[0].0);
        of_first_file.filter_map(|excerpt| excerpt.definition.clone()).collect()
    };
    assert_eq!(ask(&[]), ["Session.send"], "the other does not fit");
    let shown = [(FILES[0].0, 8..13)];
    assert_eq!(ask(&shown), ["Session.resolve_redirects", "Session.send"]);
}

#[test]
fn a_moved_definition_is_found() {
    let python = LanguageId::by_name("python").unwrap();
    let text = FILES[0].1.replace("LIMIT = 30", "LIMIT = 30\nMORE = 31");
    let outline = Outline::read(python, &text, &Cancel::new()).unwrap();
    let (lines, bytes) = definition_range(&outline, &text, "Session.send", 0).unwrap();
    assert_eq!((lines, &text[bytes]), (15..17, "    def send(self):\n        return 1\n"));
    assert_eq!(definition_range(&outline, &text, "Session.send", 1), None);
}

#[test]
fn definitions_of_every_language_are_found_in_its_fixture() {
    for language in LanguageId::all().filter(|language| !language.is_document()) {
        let text = language.fixture;
        let outline = Outline::read(language, text, &Cancel::new()).unwrap();
        let lines = TextLines::new(text);
        let found_extents = definition_extents(&outline, &lines);
        let is_common = ["go", "java", "javascript", "python", "rust"].contains(&language.name);
        assert!(!is_common || found_extents.len() > 2, "{}: {found_extents:?}", language.name);
        for extent in found_extents {
            let definition_text = &text[lines.bytes(&extent.lines)];
            let name = extent.name.rsplit('.').next().unwrap();
            assert!(definition_text.contains(name), "{}: {extent:?}", language.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn excerpts_stay_within_the_budget_for_any_question(text in "[a-z_ .]{0,40}|\\PC{0,20}", budget in 0..200_usize) {
        let repository = Repository::new();
        let excerpts = repository.ask(&TestQuery { text: &text, ..TestQuery::default() }, budget);
        let mut tokens = 0;
        for excerpt in &excerpts {
            let file_text = FILES.iter().find(|(path, _)| *path == excerpt.file.as_str()).unwrap().1;
            tokens += file_text[excerpt.bytes.clone()].len().div_ceil(4) + excerpt.file.as_str().len().div_ceil(4);
            prop_assert!((0.0..=1.0).contains(&excerpt.score) && !excerpt.lines.is_empty());
        }
        prop_assert!(tokens <= budget);
        prop_assert!(excerpts.is_sorted_by(|a, b| a.score >= b.score));
        prop_assert_eq!(excerpts, repository.ask(&TestQuery { text: &text, ..TestQuery::default() }, budget));
    }
}
