//! Conversations driven past every limit: each model of the table under each profile, with a random cap on its input. No
//! message may be left out of a prompt: a compaction runs before, and leaves room. A normal run plays one session with every
//! third model, and each profile with one in five of them; `STRATA_LONG=1` plays ten sessions of every pair.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "test support outside of test functions"
)]

use e2e::{Rng, is_long};
use serde_json::{Value, json};
use strata_app::runtime::headless::HeadlessWorkspace;
use strata_conversation::compaction::BuiltinProfile;
use strata_prompt::settings::Settings;
use strata_tokens::models::Models;

/// What the sessions came to.
#[derive(Debug, Default)]
struct Outcomes {
    sessions: usize,
    prompts: usize,
    compactions: usize,
}

struct Conversation {
    workspace: HeadlessWorkspace,
    rng: Rng,
    model: String,
    most: usize,
}

impl Conversation {
    fn new(model: &str, builtin: BuiltinProfile, rng: Rng) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings { model: model.to_owned(), ..Settings::default() };
        settings.compaction.profile = builtin.name().to_owned();
        let workspace = HeadlessWorkspace::open(folder.path(), settings).unwrap();
        let mut conversation = Self { workspace, rng, model: model.to_owned(), most: 0 };
        conversation.most = 3_000 + conversation.rng.below(20_000);
        conversation.workspace.index(|_| ()).unwrap();
        conversation
    }

    fn run(&mut self, command: &str, arguments: Value) -> Value {
        self.workspace
            .run(command, arguments)
            .unwrap_or_else(|error| panic!("{command} for {}: {error}", self.model))
    }

    /// About `tokens` tokens of text that no two messages share.
    fn text(&mut self, tokens: usize) -> String {
        let words = ["parse", "the", "file", "again", "and", "mend", "what", "failed", "in", "line"];
        (0..tokens).map(|_| format!("{} ", self.rng.one_of(&words))).collect()
    }

    fn compactions(&mut self) -> Value {
        self.run("strata.compaction.status", json!({}))["last"].clone()
    }

    fn turn(&mut self, outcomes: &mut Outcomes) {
        let size = self.rng.below(self.most / 12) + 1;
        let question = self.text(size);
        let before = self.compactions();
        let ask = json!({ "prompt": question, "maxInputTokens": self.most });
        let prompt = self.run("strata.prompt.assemble", ask);
        outcomes.prompts += 1;
        let compacted = self.compactions();
        outcomes.compactions += usize::from(compacted != before);
        let left_out = prompt["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|warning| warning["code"] == "history_truncated");
        assert!(!left_out, "{} with {}: {}", self.model, self.most, prompt["warnings"]);
        let size = self.rng.below(self.most / 4) + 1;
        let answer = self.text(size);
        self.run("strata.prompt.record", json!({ "id": prompt["id"], "response": answer }));
        outcomes.compactions += usize::from(self.compactions() != compacted);
    }
}

#[test]
fn no_message_is_left_out() {
    let long = is_long();
    let mut outcomes = Outcomes::default();
    for (number, model) in Models::builtin().iter().step_by(if long { 1 } else { 3 }).enumerate() {
        for (builtin_number, builtin) in BuiltinProfile::ALL.into_iter().enumerate() {
            let sessions =
                if long { 10 } else { usize::from(number % BuiltinProfile::ALL.len() == builtin_number) };
            for session in 0..sessions {
                let seed = (number * BuiltinProfile::ALL.len() + builtin_number) * 10 + session;
                let mut conversation = Conversation::new(&model.id, builtin, Rng::new(seed as u64));
                for _ in 0..12 {
                    conversation.turn(&mut outcomes);
                }
                outcomes.sessions += 1;
            }
        }
    }
    assert!(outcomes.compactions > outcomes.sessions, "{outcomes:?}");
    println!("{outcomes:?}");
}

/// Plays turns of about `tokens` until `turns` are over, and says which prompts a compaction stood before; none may leave a
/// message out.
fn compacted_at(
    builtin: BuiltinProfile,
    model: &str,
    ask: &Value,
    tokens: usize,
    turns: usize,
) -> Vec<usize> {
    let mut conversation = Conversation::new(model, builtin, Rng::new(7));
    let mut compacted = Vec::new();
    let mut last = conversation.compactions();
    for turn in 0..turns {
        let mut ask = ask.clone();
        ask["prompt"] = conversation.text(tokens).into();
        let prompt = conversation.run("strata.prompt.assemble", ask);
        let codes: Vec<&Value> =
            prompt["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
        assert!(!codes.contains(&&json!("history_truncated")), "{model}, turn {turn}: {codes:?}");
        let answer = conversation.text(tokens);
        conversation.run("strata.prompt.record", json!({ "id": prompt["id"], "response": answer }));
        let now = conversation.compactions();
        if now != last {
            compacted.push(turn);
            last = now;
        }
    }
    compacted
}

#[test]
fn checkpoint_compacts_in_a_window_of_200_000_before_a_message_is_left_out() {
    let ask = json!({ "maxInputTokens": 200_000 });
    let compacted = compacted_at(BuiltinProfile::Checkpoint, "claude-sonnet-4-5", &ask, 6_000, 20);
    assert!(compacted.first().is_some_and(|turn| (10..16).contains(turn)), "{compacted:?}");
}

#[test]
fn each_profile_has_a_trigger_within_the_limit_of_its_request() {
    let status = |builtin, model: &str, ask: Value| {
        let status = Conversation::new(model, builtin, Rng::new(1)).run("strata.compaction.status", ask);
        let conditions = status["conditions"].as_array().unwrap().clone();
        let least = conditions.iter().filter(|condition| condition["measured"] == "context_tokens");
        let least = least.map(|condition| condition["limit"].as_u64().unwrap()).min().unwrap();
        (least, status["limit"].as_u64().unwrap())
    };
    let at_a_million = json!({ "maxInputTokens": 1_000_000 });
    let (trigger, limit) = status(BuiltinProfile::Checkpoint, "claude-sonnet-4-6", at_a_million);
    assert!(trigger < limit && limit < 1_000_000, "{trigger} of {limit}");
    let (trigger, limit) = status(BuiltinProfile::Handoff, "gpt-4o", json!({}));
    assert_eq!(trigger, limit * 95 / 100, "200,000 is over a window of 128,000");
    let (trigger, _) =
        status(BuiltinProfile::Continuation, "claude-sonnet-4-5", json!({ "model": "gpt-3.5-turbo" }));
    assert_eq!(trigger, 13_108, "0.8 of the window of the model in the request");
    let (trigger, _) = status(BuiltinProfile::Checkpoint, "some-new-model", json!({}));
    assert_eq!(trigger, 8_000, "the window is not known");
}

#[test]
fn continuation_follows_the_model_of_the_request() {
    let ask = json!({ "model": "gpt-3.5-turbo" });
    let compacted = compacted_at(BuiltinProfile::Continuation, "claude-sonnet-4-5", &ask, 800, 14);
    assert!(compacted.first().is_some_and(|turn| *turn < 9), "{compacted:?}");
}
