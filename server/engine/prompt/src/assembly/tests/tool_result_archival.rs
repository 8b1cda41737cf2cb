//! Archival of tool results in a session that is sent, billed and cached.

use strata_conversation::history::{ContentBlock, Kind, Outcome, ResultPart, TextOrList};
use strata_conversation::settings::ToolSummaryStrategy;
use strata_conversation::tool_result_archival::Archival;

use super::fixture::Bench;
use crate::assembly::{PromptRequest, Request, ToolResult};
use crate::session::{Room, Status};
use crate::tiers::PolicyName;

/// An agent's loop: every answer calls a tool, and every request contains the result. `size` is the length of each
/// output in words.
struct Loop {
    bench: Bench,
    now_ms: u64,
    next: usize,
    size: fn(usize) -> usize,
}

impl Loop {
    fn new(policy: PolicyName, size: fn(usize) -> usize) -> Self {
        let mut bench = Bench::new("//- a.rs\nfn a() {}\n").policy(policy);
        bench.settings.tool_output.summary = ToolSummaryStrategy::Heuristic;
        bench.settings.tool_output.cutoff = 3;
        let mut this = Self { bench, now_ms: 0, next: 0, size };
        this.turn(Request::Prompt { text: "Look.".into(), images: vec![] });
        this
    }

    fn turn(&mut self, request: Request) -> usize {
        self.now_ms += 10_000;
        let ask = PromptRequest { now_ms: self.now_ms, ..PromptRequest::new(request) };
        let prepared = self.bench.assemble(&ask).unwrap();
        let read = prepared.reply.predicted.read;
        let reply = self.bench.session.keep(prepared);
        let call = ContentBlock::ToolCall {
            id: format!("c{}", self.next),
            name: "read".into(),
            input: serde_json::json!({}),
        };
        let outcome = crate::session::Outcome {
            error: None,
            status: Status::Complete,
            answer: vec![call],
            usage: None,
            time_ms: self.now_ms,
        };
        self.bench.session.record(&reply.id.unwrap(), outcome).unwrap();
        read
    }

    /// Answers the last call. Returns the tokens of the prompt that were read from the cache.
    fn answer(&mut self) -> usize {
        let text = format!("output{} ", self.next).repeat((self.size)(self.next));
        let content = vec![ResultPart::Text { text }];
        let result = ToolResult {
            call_id: format!("c{}", self.next),
            content: TextOrList(content),
            outcome: Outcome::Ok,
        };
        self.next += 1;
        self.turn(Request::ToolResults(vec![result]))
    }

    fn planned(&self, room: Room) -> Option<Archival> {
        let ageing = self.bench.session.plan_archival(room, self.bench.means(), self.now_ms)?;
        Some(ageing.apply(None))
    }
}

#[test]
fn an_agents_loop_ages_when_it_pays_and_every_prompt_stays_sound() {
    for policy in [PolicyName::Flat, PolicyName::Ripple, PolicyName::Ledger] {
        let mut looped = Loop::new(policy, |_| 400);
        let (mut passes, mut most) = (0, 0);
        for _ in 0..30 {
            looped.answer();
            if let Some(aged) = looped.planned(Room::Left) {
                let before = looped.bench.session.history.messages().len();
                looped.bench.session.age(aged);
                assert_eq!(looped.bench.session.history.messages().len(), before + 1);
                passes += 1;
                assert_eq!(looped.planned(Room::None), None);
            }
            let shown = looped.bench.session.history.visible();
            most = most.max(shown.filter(|message| message.body.kind == Kind::ToolResult).count());
        }
        // If recent messages are not cached, every result beyond the cutoff is archived immediately; otherwise in
        // batches.
        let expected = if policy == PolicyName::Ledger { 1..6 } else { 27..28 };
        assert!(expected.contains(&passes), "{policy:?}: {passes} passes");
        assert!(most < 25, "{policy:?}: {most} results at once");
    }
}

#[test]
fn what_costs_more_than_it_saves_waits_until_the_cache_is_cold_or_the_window_full() {
    // A short result precedes long ones, which would have to be written again.
    let mut looped = Loop::new(PolicyName::Ledger, |at| if at == 0 { 400 } else { 4_000 });
    for _ in 0..4 {
        looped.answer();
    }
    assert!(looped.bench.session.cached(looped.now_ms).is_some_and(|cached| cached.tokens > 10_000));
    assert_eq!(looped.planned(Room::Left), None);
    assert!(looped.planned(Room::None).is_some());
    // The `checkpoint` profile does not wait.
    looped.bench.settings.compaction.profile = "checkpoint".into();
    assert!(looped.planned(Room::Left).is_some());
    looped.bench.settings.compaction.profile = "topic".into();
    looped.now_ms += 3_600_001;
    assert!(looped.planned(Room::Left).is_some());
}
