//! Random sessions, cut at every message: whatever was said, hidden, archived or compacted before, each request keeps
//! the rules of its provider. `STRATA_LONG=1` plays 1,000 sessions under each policy.

#![expect(clippy::print_stderr, reason = "the figures of a run")]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use strata_conversation::compaction::{
    BuiltinProfile, CompactionRun, Summariser, SummarizerQuestion, SummaryPurpose, TopicDetection,
};
use strata_conversation::conversation_facts::ToolPatterns;
use strata_conversation::history::{
    ContentBlock, Foreign, ForeignProvider, Image, ImageSource, MessageId, MessageKind, NewMessage, Pin,
    ResultPart, Role, TextOrList, ToolOutcome, Visibility,
};
use strata_conversation::providers::{Format, Tool};
use strata_conversation::trace::{SelectionRule, Trace};
use strata_prompt::assembly::{
    AssembleError, PromptRequest, PromptServices, Request, ToolResult, assemble, with_token_counters,
};
use strata_prompt::session::{self, PromptFit, RequestStatus, Session};
use strata_prompt::settings::Settings;
use strata_prompt::tiers::PolicyName;
use strata_prompt::wire::Body;
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

use crate::rng::Rng;
use crate::scenario::{IncludedParts, Scenario};

const FORMATS: [Format; 2] = [Format::Anthropic, Format::OpenAi];
const POLICIES: [PolicyName; 3] = [PolicyName::Ledger, PolicyName::Ripple, PolicyName::Flat];

/// Few ids, so that they repeat, cross and miss each other; some that a provider refuses.
const IDS: &[&str] =
    &["a", "b", "c", "call_0", "", "fc|weird.1", "call_0123456789012345678901234567890123456789"];

const TEXTS: &[&str] = &[
    "",
    " \n",
    "Hi.",
    "Please look at src/a.rs, and mind the tests.",
    "```\nopen",
    "# Working Files\n\n<!-- x",
    "We decided to use src/b.rs.\n## Last request\n\nnone",
    "\u{1d11e} caf\u{e9} \u{202e}",
];

const TOOLS: &[&str] = &["read_file", "edit", "TodoWrite", "files.read", "", "outil \u{e9}l\u{e9}gant"];

/// The head of a PNG file of 2,001 pixels by 4, which is wider than one of many may be.
const WIDE: &str = "iVBORw0KGgoAAAANSUhEUgAAB9EAAAAECAIAAAAA";

/// Sessions under each policy.
fn sessions() -> u64 {
    if std::env::var_os("STRATA_LONG").is_some() { 1_000 } else { 12 }
}

/// The outcome of all the requests.
#[derive(Default, Debug)]
struct Outcomes {
    /// Requests, by format.
    bodies: BTreeMap<Format, usize>,
    /// Requests that were not made, by reason.
    refused: BTreeMap<&'static str, usize>,
    compactions: usize,
    violations: Vec<String>,
}

/// A session that anything happens to.
struct Player<'a> {
    rng: Rng,
    session: Session,
    scenario: &'a Scenario<'a>,
    settings: Settings,
    models: &'a Models,
    counter: &'a TokenCounter,
    policy: PolicyName,
    outcomes: &'a mut Outcomes,
}

impl Player<'_> {
    fn means(&self) -> PromptServices<'_> {
        PromptServices { models: self.models, counter: self.counter, settings: &self.settings }
    }

    fn text(&mut self) -> String {
        let times = self.rng.one_of(&[1, 1, 1, 2, 40]);
        self.rng.one_of(TEXTS).repeat(times)
    }

    fn id(&mut self) -> String {
        self.rng.one_of(IDS).to_owned()
    }

    fn image(&mut self) -> Image {
        let inline = |media_type: &str, data: &str| ImageSource::Base64 {
            media_type: media_type.to_owned(),
            data: data.to_owned(),
        };
        let source = match self.rng.next_below(5) {
            0 => inline("image/png", WIDE),
            1 => inline("image/svg+xml", "eA=="),
            2 => inline("image/jpeg", ""),
            3 => ImageSource::Url { url: "file:///a.png".to_owned() },
            _ => ImageSource::Url { url: "https://example.org/a.png".to_owned() },
        };
        Image { source, width: None, height: None }
    }

    fn foreign(&mut self) -> Foreign {
        let provider = self.rng.one_of(&[
            ForeignProvider::Anthropic,
            ForeignProvider::OpenAi,
            ForeignProvider::OpenAiResponses,
        ]);
        let id = format!("srvtoolu_{}", self.rng.next_below(3));
        let value = match self.rng.next_below(8) {
            0 => {
                json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}})
            }
            1 | 2 => json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}}),
            3 => json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []}),
            4 => json!({"type": "refusal", "refusal": "No."}),
            5 => json!({"type": "image", "source": {"type": "elsewhere"}}),
            6 => json!({"type": "news", "text": "Hear, hear."}),
            _ => json!("not even a block"),
        };
        Foreign { provider, value }
    }

    /// A picture that is taken: who asks with another one gets to hear of it.
    fn sound_image(&mut self) -> Image {
        let url = "https://example.org/a.png".to_owned();
        Image { source: ImageSource::Url { url }, width: None, height: None }
    }

    fn parts(&mut self, image: fn(&mut Self) -> Image) -> Vec<ResultPart> {
        (0..self.rng.next_below(3))
            .map(|_| match self.rng.next_below(8) {
                0 => ResultPart::Image(image(self)),
                1 => ResultPart::Foreign(self.foreign()),
                _ => ResultPart::Text { text: self.text() },
            })
            .collect()
    }

    fn call(&mut self) -> ContentBlock {
        let input = match self.rng.next_below(6) {
            0 => json!("raw"),
            1 => Value::Null,
            2 => json!({"todos": [{"content": "todo", "status": "pending"}]}),
            _ => json!({"path": format!("src/{}.rs", self.rng.next_below(5))}),
        };
        ContentBlock::ToolCall { id: self.id(), name: self.rng.one_of(TOOLS).to_owned(), input }
    }

    fn result(&mut self) -> ContentBlock {
        let outcome = self.rng.one_of(&[ToolOutcome::Ok, ToolOutcome::Ok, ToolOutcome::Error]);
        ContentBlock::ToolResult { call_id: self.id(), content: self.parts(Self::image), outcome }
    }

    fn block(&mut self) -> ContentBlock {
        match self.rng.next_below(12) {
            0 => ContentBlock::Image(self.image()),
            1 => ContentBlock::Thinking { text: self.text(), signature: None },
            2 => ContentBlock::Thinking { text: self.text(), signature: Some("c2VhbA==".to_owned()) },
            3 => ContentBlock::RedactedThinking { data: self.text() },
            4 => ContentBlock::Foreign(self.foreign()),
            5..=6 => self.call(),
            7..=8 => self.result(),
            _ => ContentBlock::Text { text: self.text() },
        }
    }

    /// Messages as no one should send them, and turns as agents have them.
    fn messages(&mut self) -> Vec<NewMessage> {
        if self.rng.next_below(2) == 0 {
            let role = self.rng.one_of(&[Role::User, Role::Assistant]);
            let content = (0..self.rng.next_below(5)).map(|_| self.block()).collect();
            let kind = self.rng.one_of(&[
                MessageKind::Normal,
                MessageKind::Normal,
                MessageKind::SystemEvent,
                MessageKind::ToolResultArchived,
            ]);
            return vec![NewMessage { kind, ..NewMessage::new(role, content) }];
        }
        let calls: Vec<ContentBlock> = (0..=self.rng.next_below(3)).map(|_| self.call()).collect();
        let ids = calls.iter().rev().filter_map(|call| match call {
            ContentBlock::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        let ids: Vec<String> = ids.collect();
        let answers = ids.into_iter().map(|call_id| {
            let content = self.parts(Self::image);
            ContentBlock::ToolResult { call_id, content, outcome: ToolOutcome::Ok }
        });
        let answers = answers.collect();
        let (asked, said) = (self.text(), self.text());
        vec![
            NewMessage::text(Role::User, asked),
            NewMessage::new(Role::Assistant, calls),
            NewMessage { kind: MessageKind::ToolResult, ..NewMessage::new(Role::User, answers) },
            NewMessage::text(Role::Assistant, said),
        ]
    }

    /// Something is said, or what was said is looked at in another way.
    fn live(&mut self) {
        for message in self.messages() {
            self.session.history.add(message);
        }
        let ids: Vec<MessageId> = self.session.history.messages().iter().map(|message| message.id).collect();
        let id = ids[self.rng.next_below(ids.len())];
        let change = self.rng.next_below(12);
        let text = self.text();
        let changed = self.session.change_message(id, |message| match change {
            0 => message.agent = Visibility::Hidden,
            1 => message.pin = Pin::Kept,
            2 => message.content = vec![ContentBlock::Text { text }],
            _ => {}
        });
        changed.unwrap();
        match self.rng.next_below(8) {
            0..=2 => self.turn(),
            3 => {
                let room = self.rng.one_of(&[PromptFit::Fits, PromptFit::TooLarge]);
                if let Some(ageing) = self.session.plan_archival(room, self.means(), 0) {
                    self.session.apply_archival(ageing.apply(None));
                }
            }
            _ => self.session.mark_changed(),
        }
    }

    /// A prompt is sent and answered.
    fn turn(&mut self) {
        let ask = self.ask(Format::Anthropic);
        let prepared = self.scenario.with_workspace(&self.session, &ask, self.means(), |workspace| {
            assemble(workspace, &self.session, &ask, self.means())
        });
        let Ok(prepared) = prepared else { return };
        let reply = self.session.add_pending_prompt(prepared);
        let answer = vec![ContentBlock::text("Done."), self.call()];
        let outcome = session::RequestOutcome {
            error: None,
            status: RequestStatus::Complete,
            answer,
            usage: None,
            time_ms: 0,
        };
        self.session.record(&reply.id.unwrap(), outcome).unwrap();
    }

    fn ask(&mut self, format: Format) -> PromptRequest {
        let last = self.session.history.visible_messages().last();
        let calls = last.into_iter().flat_map(|message| &message.body.content);
        let calls = calls.filter_map(|block| match block {
            ContentBlock::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        let calls: Vec<String> = calls.collect();
        let request = if calls.is_empty() || self.rng.next_below(3) == 0 {
            let images = (0..self.rng.one_of(&[0, 0, 0, 1, 22])).map(|_| self.sound_image()).collect();
            Request::Prompt { text: self.text(), images }
        } else {
            let answered = calls.len() - self.rng.next_below(2).min(calls.len() - 1);
            let results = calls.into_iter().take(answered).map(|call_id| {
                let outcome = self.rng.one_of(&[ToolOutcome::Ok, ToolOutcome::Error]);
                ToolResult { call_id, content: TextOrList(self.parts(Self::sound_image)), outcome }
            });
            Request::ToolResults(results.collect())
        };
        let tool = |name: &str| Tool {
            name: name.to_owned(),
            description: String::new(),
            input_schema: json!({"type": "object"}),
        };
        let tools = ["read_file", "edit"].into_iter().take(self.rng.next_below(3)).map(tool).collect();
        let takes_breakpoints = format == Format::OpenAi && self.rng.once_in(2);
        let model = takes_breakpoints.then(|| "gpt-5.6-sol".to_owned());
        PromptRequest {
            format: Some(format),
            policy: Some(self.policy),
            tools,
            model,
            ..PromptRequest::new(request)
        }
    }

    /// Makes requests of the session as it is, and as it was after each of its messages.
    fn cut_anywhere(&mut self) {
        let whole = self.session.clone();
        let ids: Vec<MessageId> = whole.history.messages().iter().map(|message| message.id).collect();
        for id in ids {
            self.session = whole.clone();
            self.session.truncate_after(id).unwrap();
            for format in FORMATS {
                self.request(format);
            }
        }
        self.session = whole;
        for format in FORMATS {
            self.request(format);
        }
    }

    fn request(&mut self, format: Format) {
        let ask = self.ask(format);
        let made = self.scenario.with_workspace(&self.session, &ask, self.means(), |workspace| {
            assemble(workspace, &self.session, &ask, self.means())
        });
        let reason = match made {
            Ok(prepared) => {
                // A body that breaks a rule is `Invalid`.
                assert!(matches!(prepared.reply.body, Body::Json(_)), "{format:?} is JSON");
                *self.outcomes.bodies.entry(format).or_default() += 1;
                return;
            }
            Err(AssembleError::Invalid { violations }) => {
                self.outcomes.violations.push(format!("{format:?}, {:?}: {violations:?}", self.policy));
                return;
            }
            Err(AssembleError::Empty) => "nothing to send",
            Err(AssembleError::NoSuchCall(_)) => "results of no call",
            Err(AssembleError::TooLarge { .. }) => "too large",
        };
        *self.outcomes.refused.entry(reason).or_default() += 1;
    }

    /// Makes the conversation shorter, with a model or without one, whatever that answers.
    fn compact(&mut self) {
        let mut profile = self.rng.one_of(&BuiltinProfile::ALL).profile();
        profile.keep.tokens = self.rng.next_below(400);
        profile.keep.messages = self.rng.next_below(5);
        profile.keep.exchanges = self.rng.next_below(3);
        let summariser = self.rng.one_of(&[
            Summariser::Extractive,
            Summariser::Model { window: 4_000, topics: TopicDetection::Asked },
        ]);
        let (topic, says) = (self.rng.next_below(9), self.text());
        let answer = |question: &SummarizerQuestion| match question.purpose {
            SummaryPurpose::FindTopic => Ok(format!("{{\"boundary\": {topic}, \"confidence\": 0.9}}")),
            _ if topic == 0 => Err("no route to host".to_owned()),
            _ => Ok(says.clone()),
        };
        let pressure = self.session.pressure(None, self.means(), 0);
        let tools = ToolPatterns::default();
        let run = with_token_counters(self.means(), |scales| {
            CompactionRun::new(
                &self.session.history,
                profile.clone(),
                pressure,
                summariser,
                tools.clone(),
                scales,
            )
        });
        let Ok(mut run) = run else { return };
        while let Some(question) = run.question() {
            let answer = answer(question);
            with_token_counters(self.means(), |scales| run.handle_answer(answer, scales));
        }
        let Ok(draft) = with_token_counters(self.means(), |scales| run.finish(scales)) else { return };
        self.session.compact(draft, &profile, &tools, 0).unwrap();
        self.outcomes.compactions += 1;
    }
}

fn play(
    seed: u64,
    policy: PolicyName,
    scenario: &Scenario<'_>,
    counter: &TokenCounter,
    outcomes: &mut Outcomes,
) {
    let models = Models::builtin();
    let mut settings = Settings::default();
    settings.tool_output.cutoff = 2;
    if seed % 4 == 3 {
        // Not everything fits.
        settings.budget.output_reserve = Some(200_000 - 3_000);
    }
    let mut session = Session::new("random");
    for key in &scenario.selected {
        session.selection.select(key.clone());
    }
    let rng = Rng::new(seed);
    let mut player = Player { rng, session, scenario, settings, models: &models, counter, policy, outcomes };
    for _ in 0..1 + player.rng.next_below(5) {
        player.live();
    }
    player.cut_anywhere();
    for _ in 0..2 {
        player.compact();
        player.cut_anywhere();
        player.live();
    }
    player.cut_anywhere();
}

#[test]
fn a_session_cut_anywhere_makes_requests_that_providers_take() {
    let rust = "pub fn one() -> usize {\n    1\n}\n".to_owned();
    let trace = Trace {
        name: "random".to_owned(),
        files0: (0..5).map(|number| (format!("src/{number}.rs"), rust.repeat(number + 1))).collect(),
        recency: Default::default(),
        sel: SelectionRule::Grow,
        turns: vec![],
    };
    let scenario = Scenario::new(&trace, IncludedParts::Everything);
    let counter = TokenCounter::default();
    let mut outcomes = Outcomes::default();
    for policy in POLICIES {
        for seed in 0..sessions() {
            play(seed, policy, &scenario, &counter, &mut outcomes);
        }
    }
    let Outcomes { bodies, refused, compactions, violations } = &outcomes;
    eprintln!(
        "{} sessions under each of {} policies, {compactions} compactions, requests: {bodies:?}, not made: {refused:?}, \
         violations: {}",
        sessions(),
        POLICIES.len(),
        violations.len()
    );
    assert!(violations.is_empty(), "{}", violations[0]);
    let made: usize = bodies.values().sum();
    assert!(bodies.len() == 2 && made > 2 * refused.values().sum::<usize>(), "most requests are made");
    assert!(*compactions > 0, "some conversations are made shorter");
}
