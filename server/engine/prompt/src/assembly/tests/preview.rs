//! Previews match the prompt that is sent, and their parts add up.

use std::collections::BTreeMap;

use expect_test::expect;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use strata_conversation::history::{ContentBlock, NewMessage, Role};
use strata_conversation::providers::{self, Format, Speaker};
use strata_conversation::urls::Page;
use strata_tokens::models::Ttl;

use super::fixture::{Bench, json};
use crate::assembly::{
    Breakpoint, PreparedPrompt, Preview, PromptRequest, Request, ToolResult, assemble_allowing_empty, preview,
};
use crate::layout::{Layout, LayoutBlock, Part, Tier};
use crate::session::{RequestOutcome, RequestStatus};
use crate::tiers::PolicyName;
use crate::wire::tests::pieces::pieces;

const REPOSITORY: &str = "
    //- a.py
    def alpha(x): return beta(x)
    //- b.py
    from a import alpha
    def beta(x): return x
    //- c.md
    # [1] System

    <!-- cache breakpoint: L0, 5m -->
    ```
    open
";

const POLICIES: [PolicyName; 3] = [PolicyName::Ledger, PolicyName::Ripple, PolicyName::Flat];

fn bench(policy: PolicyName) -> Bench {
    let mut bench = Bench::new(REPOSITORY).policy(policy);
    bench.settings.prompt.system = "Be brief.".into();
    bench.adjust_rules = |rules| rules.target = 1;
    bench
}

/// One change between two prompts.
#[derive(Clone, Debug)]
enum Step {
    Select(&'static str),
    Lines(&'static str),
    Deselect(&'static str),
    Edit(&'static str),
    Page(&'static str),
    State(&'static str),
    Say(&'static str),
    Turn(Format),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let files = || select(vec!["a.py", "b.py", "c.md"]);
    let texts =
        || select(vec!["", "Hi.", "x\n\ny\n", "```\nopen", "# [9] User", "<!-- x -->", "lone\rreturn"]);
    let step = prop_oneof![
        3 => files().prop_map(Step::Select),
        1 => files().prop_map(Step::Lines),
        1 => files().prop_map(Step::Deselect),
        2 => files().prop_map(Step::Edit),
        1 => texts().prop_map(Step::Page),
        1 => texts().prop_map(Step::State),
        1 => texts().prop_map(Step::Say),
        4 => select(vec![Format::Anthropic, Format::OpenAi]).prop_map(Step::Turn),
    ];
    vec(step, 0..12)
}

fn apply_step(bench: &mut Bench, step: &Step) {
    match step {
        Step::Select(file) => bench.select(file),
        Step::Lines(file) => bench.session.selection.select_lines((*file).into(), "L1".parse().unwrap()),
        Step::Deselect(file) => bench.deselect(file),
        Step::Edit(file) => bench.files.get_mut(*file).unwrap().push_str("more = 1\n"),
        Step::Page(text) => {
            let (address, text) = ("https://example.org".into(), (*text).into());
            bench.session.pages.add(Page { address, title: None, text });
        }
        Step::State(text) => bench.state = (*text).to_owned(),
        Step::Say(text) => bench.add_exchange(text, text),
        Step::Turn(format) => {
            let prompt_request = PromptRequest { format: Some(*format), ..PromptRequest::prompt("go on") };
            let prepared = bench.assemble(&prompt_request).unwrap();
            record(bench, prepared, vec![ContentBlock::text("done")]);
        }
    }
    bench.session.mark_changed();
}

fn record(bench: &mut Bench, prepared: PreparedPrompt, answer: Vec<ContentBlock>) {
    let id = bench.session.add_pending_prompt(prepared).id.unwrap();
    let outcome =
        RequestOutcome { error: None, status: RequestStatus::Complete, answer, usage: None, time_ms: 0 };
    bench.session.record(&id, outcome).unwrap();
}

/// Checks that a preview's parts cover its text and its tokens.
fn assert_adds_up(prepared: &PreparedPrompt, shown: &Preview) {
    let lines: Vec<&str> = shown.text.lines().collect();
    let mut next = 0;
    for part in &shown.parts {
        assert_eq!(part.line, next, "parts follow each other: {shown:#?}");
        next += part.lines;
    }
    assert_eq!((next, shown.text.matches('\n').count()), (lines.len(), lines.len()), "{shown:#?}");

    let reply = &prepared.reply;
    let mut by_part = reply.tokens.parts.clone();
    let tokens_outside_parts: usize =
        [Part::Structure, Part::Tools].into_iter().filter_map(|part| by_part.remove(&part)).sum();
    let mut parts: BTreeMap<Part, usize> = BTreeMap::new();
    let mut tiers: BTreeMap<Tier, usize> = BTreeMap::new();
    let mut marks = Vec::new();
    let mut prefix_tokens = 0;
    for part in &shown.parts {
        *parts.entry(part.part).or_default() += part.tokens;
        *tiers.entry(part.tier).or_default() += part.tokens;
        prefix_tokens += part.tokens;
        let last = lines[..part.line + part.lines].iter().rfind(|line| !line.is_empty());
        let comment = format!("<!-- cache breakpoint: {}, ", part.tier);
        assert_eq!(
            last.is_some_and(|line| line.starts_with(&comment)),
            part.marked,
            "{part:?} ends with {last:?}"
        );
        if part.marked {
            marks.push(Breakpoint { tier: part.tier, prefix_tokens });
        }
    }
    assert_eq!(parts, by_part);
    assert_eq!(prefix_tokens + tokens_outside_parts, shown.tokens);
    assert_eq!(shown.tokens, reply.tokens.total);
    assert_eq!(tiers, reply.tiers.iter().map(|tier| (tier.tier, tier.tokens)).collect());
    assert_eq!(marks, reply.breakpoints);
}

/// Checks that every text of the request is in the preview, in the same order.
fn assert_says_the_same(prepared: &PreparedPrompt, shown: &Preview) {
    let mut rest = shown.text.as_str();
    for piece in pieces(prepared.reply.format, json(&prepared.reply)) {
        let providers::TextOrImage::Text(text) = piece else { panic!("no pictures here") };
        let at =
            rest.find(&*text).unwrap_or_else(|| panic!("{text:?} is missing or too early in {}", shown.text));
        rest = &rest[at + text.len()..];
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_preview_has_the_texts_of_the_request_and_its_parts_add_up(
        policy in select(POLICIES.to_vec()),
        steps in steps(),
        format in select(vec![Format::Anthropic, Format::OpenAi]),
        request in select(vec!["", "Why?", "```\nopen"]),
    ) {
        let mut bench = bench(policy);
        steps.iter().for_each(|step| apply_step(&mut bench, step));
        let base_request = if request.is_empty() {
            PromptRequest::new(Request::Nothing)
        } else {
            PromptRequest::prompt(request)
        };
        let prompt_request = PromptRequest { format: Some(format), ..base_request };
        let prepared = bench.with_workspace(|workspace| assemble_allowing_empty(workspace, &bench.session, &prompt_request, bench.services())).unwrap();
        let before = bench.session.clone();
        let shown = preview(&prepared, &bench.session);
        prop_assert!(bench.session.shares_all_state_with(&before));
        assert_adds_up(&prepared, &shown);
        assert_says_the_same(&prepared, &shown);
    }
}

#[test]
fn a_preview_shows_tool_results_in_the_order_of_the_request() {
    for policy in POLICIES {
        let mut bench = bench(policy);
        bench.state = "# Session State\n\nBranch: `main`".into();
        bench.select("a.py");
        let prepared = bench.assemble(&PromptRequest::prompt("look")).unwrap();
        let call = ContentBlock::ToolCall { id: "c1".into(), name: "read".into(), input: json!({ "at": 1 }) };
        record(&mut bench, prepared, vec![call]);
        let results: Vec<ToolResult> = serde_json::from_value(
            json!([{ "callId": "c1", "content": [{ "type": "text", "text": "found" }] }]),
        )
        .unwrap();
        let prepared = bench.assemble(&PromptRequest::new(Request::ToolResults(results))).unwrap();
        let shown = preview(&prepared, &bench.session);
        assert_adds_up(&prepared, &shown);
        assert_says_the_same(&prepared, &shown);
    }
}

#[test]
fn each_part_has_a_name() {
    let mut bench = bench(PolicyName::Ledger);
    // Long enough for the model to cache it.
    bench.settings.prompt.system = "Be brief. ".repeat(100);
    bench.state = "# Session State\n\nBranch: `main`".into();
    bench.select("a.py");
    bench.session.selection.select_lines("c.md".into(), "L1-2".parse().unwrap());
    let page =
        Page { address: "https://example.org".into(), title: Some("A page".into()), text: "Hi.".into() };
    bench.session.pages.add(page);
    bench.turn("Why does\nit fail?", "Because.");
    bench.files.get_mut("a.py").unwrap().push_str("more = 1\n");
    bench.session.history.add(NewMessage::text(Role::User, "One more thing."));
    bench.session.mark_changed();
    let prepared = bench.assemble(&PromptRequest::prompt("And now?")).unwrap();
    let parts = preview(&prepared, &bench.session).parts;
    let prompt_summary: String = parts
        .iter()
        .map(|part| {
            let mark = if part.marked { " |" } else { "" };
            format!("{:<3}+{:<2} {:<6} {}{mark}\n", part.line, part.lines, part.tier.to_string(), part.title)
        })
        .collect();
    expect![[r#"
        0  +9  L0     System prompt
        9  +10 L0     Symbol map |
        19 +8  L1     A page |
        27 +7  L2     c.md L1-2
        34 +6  L2     a.py
        40 +3  L2     User: Why does it fail?
        43 +4  L2     Assistant: Because.
        47 +6  L2     User: One more thing. |
        53 +7  L3     a.py
        60 +4  L3     Prompt |
        64 +3  active Session state
    "#]]
    .assert_eq(&prompt_summary);
}

#[test]
fn answers_that_only_alternate_roles_are_titled_acknowledgement() {
    let mut bench = bench(PolicyName::Flat);
    // The list only names files without a map block.
    bench.files.insert("plain.bin".into(), String::new());
    bench.select("a.py");
    bench.select("b.py");
    let prepared = bench.assemble(&PromptRequest::prompt("And now?")).unwrap();
    let titles = preview(&prepared, &bench.session).parts.into_iter().map(|part| part.title);
    let expected = [
        "System prompt",
        "Symbol map",
        "File list",
        "Acknowledgement",
        "a.py",
        "b.py",
        "Acknowledgement",
        "Prompt",
    ];
    assert_eq!(titles.collect::<Vec<_>>(), expected);
}

#[test]
fn preview_parts_end_at_breakpoints_and_follow_the_written_order() {
    let bench = bench(PolicyName::Flat);
    let block = |content: ContentBlock, part, mark| LayoutBlock {
        content,
        part,
        items: Vec::new(),
        tier: Tier::L0,
        tokens: 1,
        mark,
    };
    let result = ContentBlock::ToolResult {
        call_id: "c".into(),
        content: Vec::new(),
        outcome: strata_conversation::history::ToolOutcome::Ok,
    };
    let mut layout = Layout::default();
    for (text, mark) in [("one", Some(Ttl::OneHour)), ("two", None), ("three", None)] {
        layout.push(Speaker::System, block(ContentBlock::text(text), Part::System, mark));
    }
    layout.push(Speaker::User, block(ContentBlock::text("state"), Part::SessionState, None));
    layout.push(Speaker::User, block(result, Part::Prompt, None));
    let prepared = bench.assemble(&PromptRequest::prompt("?")).unwrap();
    let shown = preview(&PreparedPrompt { layout: layout.into(), ..prepared }, &bench.session);
    let parts: Vec<(&str, usize, usize, usize, bool)> = shown
        .parts
        .iter()
        .map(|part| (part.title.as_str(), part.line, part.lines, part.tokens, part.marked))
        .collect();
    let expected = [
        ("System prompt", 0, 6, 1, true),
        ("System prompt", 6, 4, 2, false),
        ("Prompt", 10, 4, 1, false),
        ("Session state", 14, 1, 1, false),
    ];
    assert_eq!(parts, expected, "{}", shown.text);
}
