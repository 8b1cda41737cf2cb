//! Archival of tool results in a session that is sent, billed and cached.

use strata_conversation::history::{ContentBlock, MessageKind, ResultPart, TextOrList, ToolOutcome};
use strata_conversation::settings::ToolSummaryStrategy;
use strata_conversation::tool_result_archival::Archival;

use super::fixture::Bench;
use crate::assembly::{PromptRequest, Request, ToolResult};
use crate::session::{PromptFit, RequestStatus};
use crate::tiers::PolicyName;

/// An agent's loop: every answer calls a tool, and every request contains the result. `size` is the length of each
/// output in words.
struct AgentLoop {
    bench: Bench,
    now_ms: u64,
    next: usize,
    size: fn(usize) -> usize,
}

impl AgentLoop {
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
        let prompt_request = PromptRequest { now_ms: self.now_ms, ..PromptRequest::new(request) };
        let prepared = self.bench.assemble(&prompt_request).unwrap();
        let read = prepared.reply.predicted.read;
        let reply = self.bench.session.add_pending_prompt(prepared);
        let call = ContentBlock::ToolCall {
            id: format!("c{}", self.next),
            name: "read".into(),
            input: serde_json::json!({}),
        };
        let outcome = crate::session::RequestOutcome {
            error: None,
            status: RequestStatus::Complete,
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
            outcome: ToolOutcome::Ok,
        };
        self.next += 1;
        self.turn(Request::ToolResults(vec![result]))
    }

    fn planned_archival(&self, fit: PromptFit) -> Option<Archival> {
        let plan = self.bench.session.plan_archival(fit, self.bench.services(), self.now_ms)?;
        Some(plan.apply(None))
    }
}

#[test]
fn an_agent_loop_archives_tool_results_when_it_saves_money() {
    for policy in [PolicyName::Flat, PolicyName::Ripple, PolicyName::Ledger] {
        let mut agent = AgentLoop::new(policy, |_| 400);
        let (mut passes, mut most) = (0, 0);
        for _ in 0..30 {
            agent.answer();
            if let Some(archival) = agent.planned_archival(PromptFit::Fits) {
                let before = agent.bench.session.history.messages().len();
                agent.bench.session.apply_archival(archival);
                assert_eq!(agent.bench.session.history.messages().len(), before + 1);
                passes += 1;
                assert_eq!(agent.planned_archival(PromptFit::TooLarge), None);
            }
            let shown = agent.bench.session.history.visible_messages();
            most = most.max(shown.filter(|message| message.body.kind == MessageKind::ToolResult).count());
        }
        // If recent messages are not cached, every result beyond the cutoff is archived immediately; otherwise in
        // batches.
        let expected = if policy == PolicyName::Ledger { 1..6 } else { 27..28 };
        assert!(expected.contains(&passes), "{policy:?}: {passes} passes");
        assert!(most < 25, "{policy:?}: {most} results at once");
    }
}

#[test]
fn an_archival_that_costs_more_than_it_saves_waits_for_a_cold_cache_or_a_full_window() {
    // A short result precedes long ones, which would have to be written again.
    let mut agent = AgentLoop::new(PolicyName::Ledger, |at| if at == 0 { 400 } else { 4_000 });
    for _ in 0..4 {
        agent.answer();
    }
    assert!(agent.bench.session.cached_prefix(agent.now_ms).is_some_and(|cached| cached.tokens > 10_000));
    assert_eq!(agent.planned_archival(PromptFit::Fits), None);
    assert!(agent.planned_archival(PromptFit::TooLarge).is_some());
    // The `checkpoint` profile does not wait.
    agent.bench.settings.compaction.profile = "checkpoint".into();
    assert!(agent.planned_archival(PromptFit::Fits).is_some());
    agent.bench.settings.compaction.profile = "topic".into();
    agent.now_ms += 3_600_001;
    assert!(agent.planned_archival(PromptFit::Fits).is_some());
}
