//! Questions and the excerpts chosen for them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::extent::{Lines, extents};
use super::*;
use crate::outline::Outline;
use crate::symbols::{FileSymbols, LexicalIndex, References, SymbolIndex};

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
struct Question<'a> {
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
    references: References,
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
        let references = References::build(&symbols, &Arc::default());
        let lexical = LexicalIndex::build(&symbols, &files);
        Self { symbols, references, lexical }
    }

    fn ask(&self, question: &Question<'_>, budget: impl Into<ExcerptBudget>) -> Vec<Excerpt> {
        let keys = |paths: &[&str]| paths.iter().map(|path| FileKey::from(*path)).collect::<Vec<_>>();
        let (open, selected) = (keys(question.open), keys(question.selected));
        let recency: BTreeMap<FileKey, u32> =
            question.recency.iter().map(|(path, age)| (FileKey::from(*path), *age)).collect();
        let ages = |(path, before): &(&str, &str)| {
            let mut ages = LineAges::default();
            ages.add(0, before);
            (FileKey::from(*path), ages)
        };
        let line_ages: BTreeMap<FileKey, LineAges> = question.before.iter().map(ages).collect();
        let mut shown: BTreeMap<FileKey, Vec<Range<u32>>> = BTreeMap::new();
        for (path, lines) in question.shown {
            shown.entry(FileKey::from(*path)).or_default().push(lines.clone());
        }
        let query = ExcerptQuery {
            text: question.text,
            earlier: "",
            open: &open,
            selected: &selected,
            excluded: &BTreeSet::new(),
            recency: &recency,
            line_ages: &line_ages,
            past: question.past,
            dismissed: question.dismissed,
            shown: &shown,
        };
        let files = candidate_files(&self.symbols, &self.lexical, &self.references, &query, 10);
        let candidates: Vec<Candidate<'_>> = files
            .iter()
            .map(|file| Candidate {
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

    fn names(&self, question: &Question<'_>, budget: usize) -> Vec<String> {
        let name = |excerpt: &Excerpt| match &excerpt.definition {
            Some(definition) => format!("{}#{definition}", excerpt.file.as_str()),
            None => format!("{}:{}-{}", excerpt.file.as_str(), excerpt.lines.start, excerpt.lines.end),
        };
        self.ask(question, budget).iter().map(name).collect()
    }
}

#[test]
fn a_question_brings_the_definition_with_what_stands_above_it() {
    let question = Question { text: "Stop resolving redirects forever", ..Question::default() };
    let found = Repository::new().ask(&question, 40);
    let first = &found[0];
    assert_eq!(
        (first.definition.as_deref(), first.lines.clone()),
        (Some("Session.resolve_redirects"), 8..13)
    );
    let text = &FILES[0].1[first.bytes.clone()];
    assert!(text.starts_with("    # Follows them.") && text.ends_with("pass\n"), "{text}");
    assert_eq!((first.reason, first.score), (ExcerptReason::Words, 1.0));
}

#[test]
fn neighbours_become_one_excerpt() {
    let text = "sessions: resolve redirects, send";
    let found = Repository::new().names(&Question { text, ..Question::default() }, 57);
    assert_eq!(found, ["src/net/sessions.py#Session"]);
}

#[test]
fn tests_come_behind_source_unless_they_are_asked_for() {
    let repository = Repository::new();
    let found = repository.names(&Question { text: "backoff grows", ..Question::default() }, 20);
    assert_eq!(found, ["src/net/retry.py#backoff"]);
    let found = repository.names(&Question { text: "fix test_backoff", ..Question::default() }, 25);
    assert!(found[0].starts_with("tests/test_retry.py"), "{found:?}");
}

#[test]
fn what_changed_last_comes_first_where_words_say_nothing() {
    let repository = Repository::new();
    for path in ["src/net/retry.py", "src/net/cookies.py"] {
        let question = Question { text: "Limit redirects", recency: &[(path, 0)], ..Question::default() };
        let found = repository.ask(&question, 400);
        let others = found.iter().find(|excerpt| excerpt.file.as_str() != FILES[0].0).unwrap();
        assert_eq!((others.file.as_str(), others.reason), (path, ExcerptReason::Recent));
    }
}

#[test]
fn a_question_that_has_nothing_to_do_with_the_code_brings_what_is_open_at_most() {
    let repository = Repository::new();
    let recency = FILES.map(|(path, _)| (path, 0));
    let past = [PastCommit { subject: "Feed the zebras".to_owned(), files: vec![FileKey::from(FILES[2].0)] }];
    let question =
        Question { text: "Why is the sky blue?", recency: &recency, past: &past, ..Question::default() };
    assert_eq!(repository.names(&question, 400), [""; 0]);
    let opened = Question { open: &["src/net/retry.py"], ..question };
    assert_eq!(repository.names(&opened, 400), ["src/net/retry.py#backoff"]);
}

#[test]
fn a_request_that_names_nothing_in_the_code_brings_what_changed_in_the_last_commits() {
    let repository = Repository::new();
    let recency = [("src/net/retry.py", 0), ("src/net/cookies.py", 40)];
    let question = Question { text: "Undo that", recency: &recency, ..Question::default() };
    let found = repository.ask(&question, 4_000);
    assert!(!found.is_empty());
    for excerpt in found {
        assert_eq!((excerpt.file.as_str(), excerpt.reason), ("src/net/retry.py", ExcerptReason::Recent));
    }
}

#[test]
fn lines_that_were_just_added_come_first() {
    let repository = Repository::new();
    let (path, text) = FILES[0];
    for added in ["    def send(self):\n        return 1\n", "LIMIT = 30\n"] {
        let before = text.replace(added, "");
        let question = Question {
            text: "Make it faster",
            recency: &[(path, 0)],
            before: &[(path, &before)],
            ..Question::default()
        };
        let found = repository.ask(&question, 60);
        assert!(text[found[0].bytes.clone()].contains(added), "{added:?}: {found:?}");
    }
}

#[test]
fn an_excerpt_names_its_definitions_best_first() {
    let found = Repository::new().ask(&Question { text: "Limit redirects", ..Question::default() }, 4_000);
    let sessions = found.iter().find(|excerpt| excerpt.file.as_str() == FILES[0].0).unwrap();
    assert_eq!(sessions.definition, None, "several definitions are joined");
    let names: Vec<&str> = sessions.definitions.iter().map(|shown| shown.name.as_str()).collect();
    assert_eq!(names[0], "Session.resolve_redirects");
    assert!(names.contains(&"Session.send") && names.contains(&"main"), "{names:?}");
    assert!(sessions.definitions.is_sorted_by(|a, b| a.score >= b.score));
}

/// Returns the excerpts that are chosen from one file.
fn of_file(path: &str, source: &str, question: &str, budget: usize) -> Vec<Excerpt> {
    let language = LanguageId::by_path(path, "").unwrap();
    let file = CandidateFile { file: FileKey::from(path), relevance: 1.0, aside: None, is_named: false };
    let outline = Outline::read(language, source, &Cancel::new()).unwrap();
    let candidates = [Candidate { file: &file, outline: Some(&outline), text: source }];
    let query = ExcerptQuery {
        text: question,
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
fn tests_inside_source_come_behind_it_unless_they_are_asked_for() {
    let source = "fn grow(seconds: u64) -> u64 {\n    seconds * 2\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn grows() {\n        let seconds = super::grow(1);\n    }\n}\n";
    // The budget fits only one of the two.
    let first = |question: &str| of_file("src/backoff.rs", source, question, 110).swap_remove(0).lines.start;
    assert_eq!(first("grow seconds"), 0);
    assert!(first("test that it grows by seconds") > 2);
}

#[test]
fn a_request_names_a_definition_without_the_marks_of_its_name() {
    let source = "export interface $ZodType {\n  kind: string\n}\n\nexport interface $ZodDefault {\n  value: unknown\n}\n";
    for name in ["ZodDefault", "$ZodDefault"] {
        let found = of_file("src/core.ts", source, &format!("Where is {name} used?"), 60);
        assert_eq!(
            (found[0].definition.as_deref(), found[0].reason),
            (Some("$ZodDefault"), ExcerptReason::Defines)
        );
    }
}

#[test]
fn what_changed_for_a_reason_like_it_comes_first_where_words_say_nothing() {
    let repository = Repository::new();
    let commit = |subject: &str, path: &str| PastCommit {
        subject: subject.to_owned(),
        files: vec![FileKey::from(path)],
    };
    for (path, other) in
        [("src/net/retry.py", "src/net/cookies.py"), ("src/net/cookies.py", "src/net/retry.py")]
    {
        let past = [commit("Feed the zebras", path), commit("Count horses", other)];
        let question = Question { text: "zebra escapes", past: &past, ..Question::default() };
        assert_eq!(repository.ask(&question, 40)[0].file.as_str(), path);
    }
}

#[test]
fn what_is_selected_or_dismissed_is_not_chosen() {
    let repository = Repository::new();
    let (text, path) = ("set cookie of the jar in time", "src/net/cookies.py");
    let question = Question { text, ..Question::default() };
    let first = repository.ask(&question, 60).swap_remove(0);
    assert_eq!((first.file.as_str(), first.definition.as_deref()), (path, Some("CookieJar")));
    let Excerpt { file, definition, ordinal, lines, .. } = first;
    let dismissed = [DismissedExcerpt { file, definition, ordinal, lines }];
    let selected = [path];
    for question in [
        Question { text, dismissed: &dismissed, ..Question::default() },
        Question { text, selected: &selected, ..Question::default() },
    ] {
        let found = repository.ask(&question, 200);
        assert!(!found.is_empty() && found.iter().all(|excerpt| excerpt.file.as_str() != path), "{found:?}");
    }
}

#[test]
fn what_is_shown_already_leaves_the_room_to_what_is_not() {
    let repository = Repository::new();
    let text = "sessions: resolve redirects, send";
    let ask = |shown: &[(&str, Range<u32>)]| -> Vec<String> {
        let question = Question { text, shown, ..Question::default() };
        let found = repository.ask(&question, ExcerptBudget { all: 400, new: 32 });
        let own = found.iter().filter(|excerpt| excerpt.file.as_str() == FILES[0].0);
        own.filter_map(|excerpt| excerpt.definition.clone()).collect()
    };
    assert_eq!(ask(&[]), ["Session.send"], "the other does not fit");
    let shown = [(FILES[0].0, 8..13)];
    assert_eq!(ask(&shown), ["Session.resolve_redirects", "Session.send"]);
}

#[test]
fn a_definition_is_found_again_where_it_moved() {
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
        let lines = Lines::of(text);
        let found = extents(&outline, &lines);
        let is_common = ["go", "java", "javascript", "python", "rust"].contains(&language.name);
        assert!(!is_common || found.len() > 2, "{}: {found:?}", language.name);
        for extent in found {
            let own = &text[lines.bytes(&extent.lines)];
            let name = extent.name.rsplit('.').next().unwrap();
            assert!(own.contains(name), "{}: {extent:?}", language.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_question_keeps_to_its_budget(text in "[a-z_ .]{0,40}|\\PC{0,20}", budget in 0..200_usize) {
        let repository = Repository::new();
        let found = repository.ask(&Question { text: &text, ..Question::default() }, budget);
        let mut tokens = 0;
        for excerpt in &found {
            let own = FILES.iter().find(|(path, _)| *path == excerpt.file.as_str()).unwrap().1;
            tokens += own[excerpt.bytes.clone()].len().div_ceil(4) + excerpt.file.as_str().len().div_ceil(4);
            prop_assert!((0.0..=1.0).contains(&excerpt.score) && !excerpt.lines.is_empty());
        }
        prop_assert!(tokens <= budget);
        prop_assert!(found.is_sorted_by(|a, b| a.score >= b.score));
        prop_assert_eq!(found, repository.ask(&Question { text: &text, ..Question::default() }, budget));
    }
}
