//! Tests of the facts of small conversations.

use proptest::prelude::*;
use serde_json::{Value, json};
use strata_base::key::FileKey;

use super::*;
use crate::history::{ContentBlock, History, MessageKind, NewMessage, ResultPart, Role, ToolOutcome};

/// A conversation under construction.
#[derive(Default)]
struct ConversationBuilder {
    history: History,
}

impl ConversationBuilder {
    fn user(mut self, text: &str) -> Self {
        self.history.add(NewMessage::text(Role::User, text));
        self
    }

    fn assistant(mut self, text: &str) -> Self {
        self.history.add(NewMessage::text(Role::Assistant, text));
        self
    }

    fn summary(mut self, text: &str) -> Self {
        let message = NewMessage { kind: MessageKind::Summary, ..NewMessage::text(Role::User, text) };
        self.history.add(message);
        self
    }

    fn asks(mut self, tool: &str, input: Value) -> Self {
        let id = format!("call {}", self.history.messages().len());
        self.history.add(NewMessage::new(
            Role::Assistant,
            vec![ContentBlock::ToolCall { id, name: tool.into(), input }],
        ));
        self
    }

    fn gets(mut self, outcome: ToolOutcome, text: &str) -> Self {
        let call_id = format!("call {}", self.history.messages().len() - 1);
        let content = vec![ResultPart::Text { text: text.into() }];
        self.history
            .add(NewMessage::new(Role::User, vec![ContentBlock::ToolResult { call_id, content, outcome }]));
        self
    }

    fn runs(self, command: &str, outcome: ToolOutcome, text: &str) -> Self {
        self.asks("Bash", json!({ "command": command })).gets(outcome, text)
    }

    fn edits(self, path: &str, outcome: ToolOutcome) -> Self {
        self.asks("Edit", json!({ "file_path": path })).gets(outcome, "String to replace not found")
    }

    fn reads(self, path: &str, outcome: ToolOutcome) -> Self {
        self.asks("Read", json!({ "file_path": path })).gets(outcome, "no such file")
    }

    fn facts(&self) -> ConversationFacts {
        extract_facts(self.history.messages().iter().map(AsRef::as_ref), &ToolPatterns::default())
    }

    fn errors(&self) -> Vec<String> {
        self.facts().errors.into_iter().map(|error| error.about.unwrap_or_default()).collect()
    }

    fn state(&self, path: &str) -> Option<FileState> {
        self.facts().files.get(path).map(|trace| trace.last_state)
    }
}

#[test]
fn an_error_is_resolved_when_the_same_call_succeeds_later() {
    let failed = ConversationBuilder::default().runs("cargo test --lib", ToolOutcome::Error, "test x FAILED");
    assert_eq!(failed.errors(), ["cargo test --lib"]);
    let failed = failed.runs("cargo build", ToolOutcome::Ok, "");
    assert_eq!(failed.errors(), ["cargo test --lib"], "another command mends nothing");
    let mended = failed.runs("cd x && cargo test", ToolOutcome::Ok, "ok");
    assert_eq!(mended.errors(), Vec::<String>::new());
    let again = mended.runs("cargo test -q", ToolOutcome::Error, "test y FAILED");
    assert_eq!(again.errors(), ["cargo test -q"]);
}

#[test]
fn only_the_last_of_repeated_failures_is_listed() {
    let conversation = ConversationBuilder::default().runs("make", ToolOutcome::Error, "error: a").runs(
        "make",
        ToolOutcome::Error,
        "error: b",
    );
    let errors = conversation.facts().errors;
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].text, "error: b");
}

#[test]
fn a_read_does_not_resolve_a_failed_change_but_a_change_resolves_a_failed_read() {
    let conversation =
        ConversationBuilder::default().edits("a.rs", ToolOutcome::Error).reads("a.rs", ToolOutcome::Ok);
    assert_eq!(conversation.errors(), ["a.rs"]);
    assert_eq!(conversation.edits("./a.rs", ToolOutcome::Ok).errors(), Vec::<String>::new());
    let conversation =
        ConversationBuilder::default().reads("b.rs", ToolOutcome::Error).edits("b.rs", ToolOutcome::Ok);
    assert_eq!(conversation.errors(), Vec::<String>::new());
}

#[test]
fn a_refused_call_is_not_an_error_but_a_nonzero_exit_code_is() {
    let refused = ConversationBuilder::default().runs(
        "rm x",
        ToolOutcome::Error,
        "The user doesn't want to proceed with this tool use.",
    );
    assert_eq!(refused.errors(), Vec::<String>::new());
    let unmarked = ConversationBuilder::default().runs(
        "ls y",
        ToolOutcome::Ok,
        "Exit code: 2\nls: y: No such file or directory",
    );
    assert_eq!(unmarked.errors(), ["ls y"]);
    assert_eq!(unmarked.facts().commands[0].ended, StepOutcome::Badly);
    let fine = ConversationBuilder::default().runs("ls y", ToolOutcome::Ok, "Exit code: 0\ny");
    assert_eq!(fine.errors(), Vec::<String>::new());
}

#[test]
fn a_file_has_the_state_of_its_last_operation() {
    let conversation = ConversationBuilder::default().reads("./src/a.rs", ToolOutcome::Ok);
    assert_eq!(conversation.state("src/a.rs"), Some(FileState::Read));
    let conversation =
        conversation.edits("src/a.rs", ToolOutcome::Ok).assistant("a.rs is better now, see src/a.rs.");
    assert_eq!(conversation.state("src/a.rs"), Some(FileState::Edited));
    let trace = &conversation.facts().files["src/a.rs"];
    assert_eq!((trace.reads, trace.edits, trace.mentions, trace.last), (1, 1, 1, 4));
    let conversation =
        conversation.asks("delete_file", json!({ "target_file": "src/a.rs" })).gets(ToolOutcome::Ok, "");
    assert_eq!(conversation.state("src/a.rs"), Some(FileState::Deleted));
    let conversation = ConversationBuilder::default().edits("b.rs", ToolOutcome::Error);
    assert_eq!(conversation.state("b.rs"), Some(FileState::Failed));
    assert!(!conversation.facts().files["b.rs"].is_read_or_changed());
}

#[test]
fn writing_a_new_file_counts_as_creating_it() {
    let write = |conversation: ConversationBuilder, output| {
        conversation.asks("Write", json!({ "file_path": "a.rs" })).gets(ToolOutcome::Ok, output)
    };
    let created = "File created successfully at: a.rs";
    assert_eq!(write(ConversationBuilder::default(), created).state("a.rs"), Some(FileState::Created));
    let conversation = write(
        ConversationBuilder::default().reads("a.rs", ToolOutcome::Ok),
        "The file a.rs has been updated.",
    );
    assert_eq!(conversation.state("a.rs"), Some(FileState::Edited));
}

#[test]
fn a_call_without_a_result_counts_as_done() {
    let conversation = ConversationBuilder::default().asks("Edit", json!({ "file_path": "a.rs" }));
    assert_eq!(conversation.state("a.rs"), Some(FileState::Edited));
}

#[test]
fn files_listed_in_message_metadata_count() {
    let mut conversation = ConversationBuilder::default();
    let mut message = NewMessage::text(Role::Assistant, "done");
    message.files_modified = vec![FileKey::from("a.rs")];
    message.files_mentioned = vec![FileKey::from("b.rs")];
    conversation.history.add(message);
    assert_eq!(
        (conversation.state("a.rs"), conversation.state("b.rs")),
        (Some(FileState::Edited), Some(FileState::Mentioned))
    );
}

#[test]
fn a_relative_and_an_absolute_path_are_one_file_unless_ambiguous() {
    let conversation = ConversationBuilder::default()
        .reads("/w/src/a.rs", ToolOutcome::Ok)
        .edits("src/a.rs", ToolOutcome::Ok);
    let files = conversation.facts().files;
    assert_eq!(files.keys().collect::<Vec<_>>(), ["/w/src/a.rs"]);
    let trace = &files["/w/src/a.rs"];
    assert_eq!((trace.reads, trace.edits, trace.last_state), (1, 1, FileState::Edited));
    let unclear = conversation.reads("/other/src/a.rs", ToolOutcome::Ok);
    assert_eq!(unclear.facts().files.len(), 3);
}

#[test]
fn requests_are_the_users_own_words() {
    let conversation = ConversationBuilder::default()
        .user("<system-reminder>be nice</system-reminder>\nFix the parser")
        .user("<system-reminder>only this</system-reminder>")
        .runs("ls", ToolOutcome::Ok, "not a request")
        .user("and the lexer");
    let requests: Vec<String> =
        conversation.facts().requests.into_iter().map(|request| request.text).collect();
    assert_eq!(requests, ["Fix the parser", "and the lexer"]);
}

#[test]
fn decisions_and_constraints_are_listed_once() {
    let facts = ConversationBuilder::default()
        .user("You must not touch `main`. What is this?")
        .assistant("We'll use **SQLite** for this. I am looking.\n```\nwe must not see code\n```")
        .assistant("We'll use SQLite for this. Would you prefer something else?")
        .facts();
    let texts = |statements: &[Statement]| {
        statements.iter().map(|statement| statement.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&facts.constraints), ["You must not touch `main`."]);
    assert_eq!(texts(&facts.decisions), ["We'll use SQLite for this."]);
}

#[test]
fn steps_list_the_calls_and_files_are_ordered_by_their_last_read() {
    let conversation = ConversationBuilder::default()
        .reads("a.rs", ToolOutcome::Ok)
        .reads("b.rs", ToolOutcome::Ok)
        .edits("b.rs", ToolOutcome::Ok)
        .asks("Grep", json!({ "pattern": "fn x" }))
        .gets(ToolOutcome::Error, "")
        .asks("TodoWrite", json!({ "todos": [] }))
        .gets(ToolOutcome::Ok, "")
        .reads("a.rs", ToolOutcome::Ok)
        .asks("LS", json!({ "path": "src" }));
    let messages = || conversation.history.messages().iter().map(AsRef::as_ref);
    let steps = non_edit_steps(messages(), &ToolPatterns::default());
    let listed: Vec<_> = steps.iter().map(|step| (&*step.tool, &*step.subject, step.ended)).collect();
    assert_eq!(
        listed,
        [
            ("Read", "a.rs", StepOutcome::Well),
            ("Read", "b.rs", StepOutcome::Well),
            ("Grep", "fn x", StepOutcome::Badly),
            ("Read", "a.rs", StepOutcome::Well),
            ("LS", "src", StepOutcome::Unanswered),
        ]
    );
    let read: Vec<String> =
        files_read(messages(), &ToolPatterns::default()).into_iter().map(|(_, path)| path).collect();
    assert_eq!(read, ["b.rs", "a.rs"]);
    let last: Vec<_> =
        last_calls(messages(), &ToolPatterns::default(), 4).into_iter().map(|step| step.tool).collect();
    assert_eq!(last, ["Edit", "Grep", "Read", "LS"]);
}

#[test]
fn facts_from_a_summary_are_updated_by_later_messages() {
    let summary = "## Goal\n- Asked first: build it\n- edited: src/{a.rs,b.rs}\n- Unresolved: cargo test -> it failed\n- ⏳ write docs";
    let conversation = ConversationBuilder::default().summary(summary);
    let facts = conversation.facts();
    assert_eq!(facts.requests[0].text, "build it");
    assert!(facts.files["src/a.rs"].is_changed());
    assert_eq!(facts.todos[0].text, "write docs");
    assert_eq!(conversation.errors(), ["cargo test"]);
    let conversation = conversation
        .runs("cargo test", ToolOutcome::Ok, "ok")
        .asks("TodoWrite", json!({ "todos": [{ "content": "new", "status": "pending" }] }))
        .user("now ship it");
    let facts = conversation.facts();
    assert_eq!(conversation.errors(), Vec::<String>::new());
    assert_eq!(facts.todos.len(), 1);
    let requests: Vec<&str> = facts.requests.iter().map(|request| &*request.text).collect();
    assert_eq!(requests, ["build it", "now ship it"]);
}

/// Generates names and values that have a meaning for the rules, and arbitrary ones.
fn input() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        "[a-c/.{},: `\\n-]{0,20}",
        Just("*** Update File: x\n--- a/y\n+++ b/z".to_owned()),
        Just("- [ ] a\n- [x] b".to_owned()),
    ];
    let leaf =
        prop_oneof![text.prop_map(Value::String), any::<i64>().prop_map(Value::from), Just(Value::Null)];
    let key = prop_oneof![
        Just("file_path"),
        Just("command"),
        Just("patch"),
        Just("todos"),
        Just("status"),
        Just("content"),
        Just("files"),
        Just("taskId"),
        Just("subject"),
    ];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// Generates messages whose call ids and tools collide.
pub(crate) fn message() -> impl Strategy<Value = NewMessage> {
    let text = prop_oneof![
        any::<String>(),
        "([a-zA-Z]{1,8} ){0,20}[.!?:]",
        "(## |- |[0-9]. |Asked: |edited: |```|<system-reminder>|</system-reminder>|[a-d{},/.` ]|\n){0,30}",
    ];
    let id = prop_oneof![Just("1"), Just("2"), Just("3")];
    let tool = prop_oneof![
        Just("Edit"),
        Just("Read"),
        Just("Bash"),
        Just("Grep"),
        Just("TodoWrite"),
        Just("TaskCreate"),
        Just("TaskUpdate"),
        Just("apply_patch"),
        Just("x"),
    ];
    let block = prop_oneof![
        text.clone().prop_map(ContentBlock::text),
        (id.clone(), tool, input()).prop_map(|(id, name, input)| ContentBlock::ToolCall {
            id: id.into(),
            name: name.into(),
            input
        }),
        (id, text, any::<bool>()).prop_map(|(id, text, failed)| ContentBlock::ToolResult {
            call_id: id.into(),
            content: vec![ResultPart::Text { text }],
            outcome: if failed { ToolOutcome::Error } else { ToolOutcome::Ok },
        }),
    ];
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    let kind = prop_oneof![4 => Just(MessageKind::Normal), 1 => Just(MessageKind::Summary), 1 => Just(MessageKind::ToolSummary)];
    (role, kind, proptest::collection::vec(block, 0..4))
        .prop_map(|(role, kind, content)| NewMessage { kind, ..NewMessage::new(role, content) })
}

proptest! {
    #[test]
    fn extraction_never_fails_and_is_deterministic(list in proptest::collection::vec(message(), 0..12)) {
        let mut history = History::default();
        history.replace_messages(list);
        let read = || extract_facts(history.messages().iter().map(AsRef::as_ref), &ToolPatterns::default());
        let extracted = read();
        prop_assert_eq!(&extracted, &read());
        for (path, trace) in &extracted.files {
            prop_assert!(!path.is_empty() && !path.starts_with("./"));
            prop_assert!(trace.last < history.messages().len().max(1));
        }
        let lines = extracted.decisions.iter().chain(&extracted.constraints).map(|statement| &statement.text);
        prop_assert!(lines.chain(extracted.errors.iter().map(|error| &error.text)).all(|line| !line.contains('\n')));
        non_edit_steps(history.messages().iter().map(AsRef::as_ref), &ToolPatterns::default());
    }
}
