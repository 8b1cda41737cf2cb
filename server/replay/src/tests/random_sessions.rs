//! Random sessions through the real engine: whatever a user does, every prompt keeps what `docs/tiers.md` promises.
//! `STRATA_LONG=1` plays 100,000 turns under `ledger`.

use std::fmt::Write as _;

use strata_base::key::FileKey;
use strata_conversation::history::{ContentBlock, NewMessage, ResultPart, Role, TextOrList};
use strata_conversation::providers::Format;
use strata_conversation::trace::{SelectionRule, Trace};
use strata_prompt::assembly::{AssembleError, PromptRequest, PromptServices, Request, ToolResult};
use strata_prompt::diff::unified_diff;
use strata_prompt::settings::Settings;
use strata_prompt::tiers::PolicyName;
use strata_tokens::cost::Prices;
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::{CacheTtl, Models};

use crate::rng::Rng;
use crate::runner::{PromptStats, ReplayError, Runner};
use crate::scenario::{IncludedParts, Scenario};

/// A text with `lines` definitions, some of them awkward.
fn text(rng: &mut Rng, lines: usize) -> String {
    let mut text = String::new();
    for _ in 0..lines {
        let _ = match rng.next_below(12) {
            0 => writeln!(text, "```\n# Not a heading\n````"),
            1 => writeln!(text, "# Pünktchen → 界 {}\r", rng.next_below(9)),
            2 => writeln!(text, "@@ -1,2 +1,2 @@\n--- a\n+++ b"),
            _ => writeln!(text, "def f{}(x):\n    return {}", rng.next_below(50), rng.next_below(999)),
        };
    }
    if rng.once_in(4) {
        text.pop();
    }
    text
}

fn edited(rng: &mut Rng, text: &str) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..=rng.next_below(3) {
        let at = rng.next_below(lines.len() + 1);
        match rng.next_below(3) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 if at < lines.len() => lines[at] = format!("    pass  # {}\n", rng.next_below(1000)),
            _ => lines.insert(at, format!("def g{}(): pass\n", rng.next_below(1000))),
        }
    }
    lines.concat()
}

const FILES: usize = 14;

fn path(number: usize) -> String {
    format!("d{}/f{number}.py", number % 3)
}

/// One session of a user who does anything.
struct Player<'a> {
    rng: Rng,
    scenario: Scenario<'a>,
    runner: Runner,
    settings: Settings,
    models: Models,
    counter: TokenCounter,
    now_ms: u64,
    /// What the answer says that a file becomes.
    proposed: Option<(String, String)>,
}

impl Player<'_> {
    fn play(&mut self, ask: &PromptRequest, answer: Vec<ContentBlock>) -> Result<PromptStats, ReplayError> {
        let Self { runner, scenario, models, counter, settings, .. } = self;
        runner.play(scenario, ask, answer, PromptServices { models, counter, settings })
    }

    /// A user does something between two prompts.
    fn act(&mut self) {
        let key = path(self.rng.next_below(FILES));
        let session = &mut self.runner.session;
        match self.rng.next_below(20) {
            0..=4 => session.selection.select(key.as_str().into()),
            5..=8 => drop(session.selection.deselect(&key.as_str().into())),
            9 => session.selection.exclude(key.as_str().into()),
            10 => session.selection.remove_exclusion(&key.as_str().into()),
            11 => {
                let range = format!("L{}-{}", 1 + self.rng.next_below(3), 5 + self.rng.next_below(9));
                session.selection.select_lines(key.as_str().into(), range.parse().unwrap());
            }
            12 => {
                // As after a compaction that keeps the newest messages.
                let messages: Vec<_> =
                    session.history.visible_messages().map(|message| message.body.clone()).collect();
                let kept = messages.len().min(2 * self.rng.next_below(3));
                let begun = [
                    NewMessage::text(Role::User, "What was said before, in short."),
                    NewMessage::text(Role::Assistant, "Ok."),
                ];
                session.set_history(begun.into_iter().chain(messages.into_iter().rev().take(kept).rev()));
            }
            15 if self.rng.once_in(2) => {
                let ids: Vec<_> = session.history.visible_messages().map(|message| message.id).collect();
                if let Some(id) = ids.get(self.rng.next_below(ids.len().max(1))) {
                    if self.rng.once_in(2) {
                        session.truncate_history(*id).unwrap();
                    } else {
                        let said = vec![ContentBlock::text("something else")];
                        session.change_message(*id, |message| message.content = said).unwrap();
                    }
                }
            }
            13 => self.now_ms += 1_000_000,
            14 if self.rng.once_in(3) => {
                self.settings.symbols.map_budget = Some(self.rng.next_below(3) * 200);
            }
            _ => {}
        }
        self.runner.session.mark_changed();
        for _ in 0..self.rng.next_below(3) {
            let key = path(self.rng.next_below(FILES));
            let before = self.scenario.files.get(&FileKey::from(key.as_str())).cloned();
            let after = match before {
                Some(_) if self.rng.once_in(12) => None,
                Some(text) => Some(edited(&mut self.rng, &text)),
                None => {
                    let lines = 3 + self.rng.next_below(20);
                    Some(text(&mut self.rng, lines))
                }
            };
            self.scenario.change([(key.as_str(), after.as_deref())]);
        }
    }

    fn ask(&mut self) -> PromptRequest {
        let pending = self.runner.session.history.visible_messages().last().and_then(|message| {
            message.body.content.iter().find_map(|block| match block {
                ContentBlock::ToolCall { id, .. } => Some(id.clone()),
                _ => None,
            })
        });
        let request = match pending {
            Some(call_id) if !self.rng.once_in(5) => Request::ToolResults(vec![ToolResult {
                call_id,
                content: TextOrList(vec![ResultPart::Text { text: "x ".repeat(self.rng.next_below(200)) }]),
                outcome: Default::default(),
            }]),
            _ => Request::Prompt { text: format!("do {}", self.rng.next_below(1000)), images: vec![] },
        };
        PromptRequest { policy: Some(self.runner.policy), now_ms: self.now_ms, ..PromptRequest::new(request) }
    }

    /// Writes an answer, which may contain edits. The user applies all of them, some of them, or none.
    fn answer(&mut self) -> Vec<ContentBlock> {
        let mut answer = vec![ContentBlock::text("done ".repeat(1 + self.rng.next_below(60)))];
        let key = path(self.rng.next_below(FILES));
        if let Some(text) = self.scenario.files.get(&FileKey::from(key.as_str())).cloned() {
            let mut text = text.to_string();
            let is_applied = !self.rng.once_in(4);
            for _ in 0..self.rng.next_below(3) {
                let after = edited(&mut self.rng, &text);
                answer.push(written(&mut self.rng, &key, &text, &after));
                if is_applied && !self.rng.once_in(8) {
                    text.clone_from(&after);
                    self.proposed = Some((key.clone(), after));
                }
            }
        }
        if self.rng.once_in(4) {
            let id = format!("call{}", self.rng.next_u64());
            answer.push(ContentBlock::ToolCall { id, name: "run".into(), input: serde_json::json!({}) });
        }
        answer
    }
}

/// Writes an edit in one of the forms that models use. A passage to replace may occur more than once.
fn written(rng: &mut Rng, key: &str, before: &str, after: &str) -> ContentBlock {
    let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (lines(before), lines(after));
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let end =
        old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (old[start..old.len() - end].concat(), new[start..new.len() - end].concat());
    let id = format!("edit-{}", rng.next_u64());
    let call = |input| ContentBlock::ToolCall { id, name: "edit".into(), input };
    match rng.next_below(4) {
        0 => call(serde_json::json!({"file_path": key, "old_string": old, "new_string": new})),
        1 => call(serde_json::json!({"path": key, "content": after})),
        2 if old.ends_with('\n') && (new.is_empty() || new.ends_with('\n')) => ContentBlock::text(format!(
            "{key}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n"
        )),
        _ => {
            let hunks = unified_diff(before, after, 2);
            ContentBlock::text(format!("--- a/{key}\n+++ b/{key}\n{hunks}"))
        }
    }
}

/// Plays `turns` random turns under a policy; every prompt is verified on the way.
fn play(seed: u64, turns: usize, policy: PolicyName, settings: Settings, model: &str) {
    let mut rng = Rng::new(seed);
    let files0 = (0..FILES).map(|number| {
        let lines = 2 + rng.next_below(40);
        (path(number), text(&mut rng, lines))
    });
    let trace = Trace {
        name: "random".to_owned(),
        files0: files0.collect(),
        recency: Default::default(),
        sel: SelectionRule::Grow,
        turns: vec![],
    };
    let models = Models::builtin();
    let settings = Settings { model: model.to_owned(), ..settings };
    let resolved = models.resolve(model).model;
    let settings = Settings { format: Some(Format::for_model(&resolved)), ..settings };
    let prices = Prices::for_model(&resolved, settings.cache.ttl);
    let mut player = Player {
        rng,
        scenario: Scenario::new(&trace, IncludedParts::Everything),
        runner: Runner::new(policy, prices),
        settings,
        models,
        counter: TokenCounter::default(),
        now_ms: 0,
        proposed: None,
    };
    let is_small = player.settings.budget.output_reserve.is_some();
    for _ in 0..turns {
        player.act();
        let (ask, answer) = (player.ask(), player.answer());
        let mut played = player.play(&ask, answer.clone());
        if is_small
            && matches!(played, Err(ReplayError::Assemble { error: AssembleError::TooLarge { .. }, .. }))
        {
            // The exchange in progress may be larger than the window. In a new conversation, the question fits.
            player.runner.session.set_history([]);
            let request = Request::Prompt { text: "Go on.".to_owned(), images: vec![] };
            played = player.play(&PromptRequest { request, ..ask }, answer);
        }
        if let Err(error) = played {
            panic!("seed {seed}: {error}");
        }
        if let Some((key, text)) = player.proposed.take() {
            player.scenario.change([(key.as_str(), Some(text.as_str()))]);
        }
        player.now_ms += 60_000;
    }
}

/// Turns that the random sessions have together: 100,000 with `STRATA_LONG=1`.
fn turns() -> usize {
    if std::env::var_os("STRATA_LONG").is_some() { 100_000 } else { 1_200 }
}

fn settings(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    settings.symbols.map_budget = Some(4_000);
    settings.context.auto_budget = 0;
    change(&mut settings);
    settings
}

const LENGTH: usize = 40;

#[test]
fn a_random_session_keeps_every_promise_under_ledger() {
    // A model that caches prefixes of 1,024 tokens and more, by markers.
    for seed in 0..(turns() / LENGTH) as u64 {
        let settings = settings(|settings| match seed % 4 {
            1 => settings.cache.history_deltas = false,
            2 => settings.cache.deltas = false,
            3 => settings.cache.ttl = CacheTtl::OneHour,
            _ => {}
        });
        let model = ["claude-sonnet-4-5", "gpt-5.1", "gpt-5.6", "claude-sonnet-4-5"][(seed / 4 % 4) as usize];
        play(seed, LENGTH, PolicyName::Ledger, settings, model);
    }
}

#[test]
fn a_random_session_keeps_what_it_must_under_the_other_policies() {
    for seed in 0..(turns() / LENGTH / 4) as u64 {
        let model = ["claude-sonnet-4-5", "gpt-5.6-sol"][(seed % 2) as usize];
        play(seed, LENGTH, PolicyName::Ripple, settings(|_| ()), model);
        play(seed, LENGTH, PolicyName::Flat, settings(|_| ()), "gpt-5.1");
    }
}

#[test]
fn a_random_session_keeps_every_promise_in_a_small_window() {
    // The map does not always fit, then files do not.
    for seed in 0..(turns() / LENGTH / 2) as u64 {
        let limit = 3_000 + 1_000 * (seed % 6) as usize;
        let settings = settings(|settings| settings.budget.output_reserve = Some(200_000 - limit));
        let policy = [PolicyName::Ledger, PolicyName::Flat, PolicyName::Ripple][(seed % 3) as usize];
        play(seed, LENGTH, policy, settings, "claude-sonnet-4-5");
    }
}
