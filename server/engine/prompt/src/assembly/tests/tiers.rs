//! Reports about tiers under each policy: breaks and their cost, the effect of a provider's report, the choice of
//! policy, and web pages.

use strata_conversation::history::{ContentBlock, Image, ImageSource};
use strata_conversation::urls::Page;
use strata_tokens::cost::Usage;

use super::fixture::{Bench, all_text};
use crate::assembly::{
    AssembledPrompt, FileText, IndexState, PreparedPrompt, PromptRequest, Request, Source, Workspace,
    assemble,
};
use crate::layout::{ItemKey, Part, Tier};
use crate::session::{RecordResult, RequestOutcome, RequestStatus, Session};
use crate::tiers::{BreakReason, DecidedBy, ItemReport, ItemStats, PolicyName, TiersReport, ledger, ripple};

/// A repository with two files, each large enough to be cached.
fn bench(policy: PolicyName) -> Bench {
    let mut bench = Bench::new("").policy(policy);
    for name in ["a.py", "b.py"] {
        let text: String = (0..400).map(|line| format!("def f{line}(x): return x + {line}\n")).collect();
        bench.files.insert(name.into(), text);
    }
    bench.settings.model = "claude-opus-4-7".into();
    bench.settings.symbols.map_budget = Some(64_000);
    bench
}

fn report(bench: &Bench) -> TiersReport {
    bench
        .with_workspace(|workspace| crate::tiers::report(workspace, &bench.session, 0, bench.services()))
        .unwrap()
}

fn item(report: &TiersReport, key: &str) -> ItemReport {
    report
        .items
        .iter()
        .find(|item| item.key.to_wire_string() == key)
        .unwrap_or_else(|| panic!("no {key}"))
        .clone()
}

fn ledger_stats(report: &TiersReport, key: &str) -> ledger::LedgerItemStats {
    match item(report, key).stats {
        Some(ItemStats::Ledger(stats)) => stats,
        other => panic!("{key}: {other:?}"),
    }
}

/// Runs one turn with the usage that the provider billed for it.
fn turn(bench: &mut Bench, now_ms: u64, usage: Option<Usage>) -> (AssembledPrompt, RecordResult) {
    let prompt_request = PromptRequest { now_ms, ..PromptRequest::prompt("go on") };
    let prepared = bench.assemble(&prompt_request).unwrap();
    let reply = bench.session.add_pending_prompt(prepared);
    let answer = vec![strata_conversation::history::ContentBlock::text("done")];
    let outcome =
        RequestOutcome { error: None, status: RequestStatus::Complete, answer, usage, time_ms: now_ms };
    let recorded = bench.session.record(reply.id.as_deref().unwrap(), outcome).unwrap();
    (reply, recorded)
}

fn page(address: &str, text: &str) -> Page {
    Page { address: address.into(), title: Some("Title".into()), text: text.into() }
}

#[test]
fn ledger_reports_hazard_age_and_what_is_kept() {
    let mut bench = bench(PolicyName::Ledger);
    bench.select("a.py");
    let first = report(&bench);
    assert_eq!((first.turns, first.predicted.read, first.chosen.policy), (0, 0, PolicyName::Ledger));
    let stats = ledger_stats(&first, "file:a.py");
    assert_eq!((stats.age, stats.kept), (Some(0), false));
    assert!((stats.hazard - 0.02).abs() < 1e-6, "the prior of a new file: {stats:?}");
    assert_eq!(ledger_stats(&first, "symbol:b.py").age, None);

    turn(&mut bench, 0, None);
    turn(&mut bench, 0, None);
    let then = report(&bench);
    let stats = ledger_stats(&then, "file:a.py");
    assert_eq!((stats.age, stats.kept, then.turns), (Some(2), true, 2));
    assert_eq!(ledger_stats(&then, "system").hazard, 0.0);
    assert!(then.predicted.read > 2_000 && then.expected_percent > 80.0, "{then:?}");
    let positions: Vec<usize> = then.items.iter().map(|item| item.position.unwrap()).collect();
    assert!(positions.is_sorted(), "{positions:?}");
    let tiers: usize = then.tiers.iter().map(|tier| tier.tokens).sum();
    let items: usize = then.items.iter().map(|item| item.tokens).sum();
    assert!(items <= tiers && tiers <= then.tokens, "{items} {tiers} {}", then.tokens);
}

#[test]
fn ripple_reports_counters_and_outlines_hidden_by_full_texts() {
    let mut bench = bench(PolicyName::Ripple);
    turn(&mut bench, 0, None);
    bench.select("a.py");
    turn(&mut bench, 0, None);
    let report = report(&bench);
    let stats = |key: &str| match item(&report, key).stats {
        Some(ItemStats::Ripple(stats)) => stats,
        other => panic!("{key}: {other:?}"),
    };
    assert_eq!(stats("file:a.py"), ripple::RippleItemStats { n: 0, threshold: Some(3) });
    let waiting = item(&report, "symbol:a.py");
    assert_eq!((waiting.position, waiting.tier), (None, Tier::L0), "{waiting:?}");
    assert_eq!(stats("symbol:a.py"), ripple::RippleItemStats { n: 12, threshold: None });
}

#[test]
fn outlines_that_share_a_block_are_counted_separately() {
    let mut bench = bench(PolicyName::Flat);
    let text: String = (0..40).map(|line| format!("def f{line}(x): return x + {line}\n")).collect();
    bench.files = [("a.py", text.as_str()), ("c.py", "def c(): pass\n")]
        .map(|(path, text)| (path.into(), text.to_owned()))
        .into();
    let report = report(&bench);
    let (large, small) = (item(&report, "symbol:a.py"), item(&report, "symbol:c.py"));
    assert_eq!(large.position, small.position);
    assert!(small.tokens > 0 && small.tokens * 10 < large.tokens, "{small:?} {large:?}");
    assert_eq!(small.stats, None);
}

#[test]
fn deselecting_a_file_reports_a_cache_break_with_its_cost() {
    let mut bench = bench(PolicyName::Ledger);
    bench.select("a.py");
    bench.select("b.py");
    turn(&mut bench, 0, None);
    let cached = bench.session.cached_prefix(0).unwrap().tokens;
    bench.deselect("a.py");
    turn(&mut bench, 0, None);
    let cache_break = bench.session.cache.breaks.last.as_ref().unwrap().clone();
    assert_eq!(
        (cache_break.reason, &cache_break.items[..]),
        (BreakReason::Deselected, &[ItemKey::File("a.py".into())][..])
    );
    assert_eq!(cache_break.lost, (cached - cache_break.kept).min(cache_break.rewritten));
    assert!((cache_break.cost - cache_break.lost as f64 * (1.25 - 0.1)).abs() < 1e-6, "{cache_break:?}");
    let sentence = cache_break.explain(&bench.session.pages);
    assert!(sentence.starts_with("Turn 2: `a.py` was deselected"), "{sentence}");
    turn(&mut bench, 0, None);
    let cache_break = bench.session.cache.breaks.last.as_ref().unwrap();
    assert_eq!(
        (cache_break.reason, cache_break.lost, cache_break.cost),
        (BreakReason::None, 0, 0.0),
        "{cache_break:?}"
    );
    bench.select("a.py");
    let last = item(&report(&bench), "file:a.py").last_break.unwrap();
    assert_eq!((last.turn, last.reason), (2, BreakReason::Deselected));
}

#[test]
fn volatile_content_causes_no_cache_break_with_automatic_caching() {
    let mut bench = bench(PolicyName::Ledger);
    bench.settings.model = "gpt-4o".into();
    bench.settings.format = Some(strata_conversation::providers::Format::OpenAi);
    bench.state = "# Session State\n\nBranch: `main`".into();
    bench.select("a.py");
    turn(&mut bench, 0, None);
    turn(&mut bench, 0, None);
    let cache_break = bench.session.cache.breaks.last.as_ref().unwrap();
    assert_eq!(
        (cache_break.reason, cache_break.lost, cache_break.cost),
        (BreakReason::None, 0, 0.0),
        "{cache_break:?}"
    );
}

#[test]
fn selecting_a_file_reports_a_break_at_its_outline() {
    let mut bench = bench(PolicyName::Ripple);
    turn(&mut bench, 0, None);
    bench.select("b.py");
    turn(&mut bench, 0, None);
    let cache_break = bench.session.cache.breaks.last.as_ref().unwrap();
    assert_eq!(
        (cache_break.reason, &cache_break.items[..]),
        (BreakReason::Selected, &[ItemKey::Symbol("b.py".into())][..])
    );
}

#[test]
fn a_reported_cache_miss_leaves_only_entries_written_by_that_request() {
    let mut bench = bench(PolicyName::Ledger);
    bench.select("a.py");
    let usage = |read, write| Some(Usage { input: 5, output: 1, cache_read: read, cache_write: write });
    let (_, recorded) = turn(&mut bench, 0, usage(0, 4_000));
    assert_eq!(recorded.warnings, [""; 0], "nothing was expected of the first prompt");
    let (reply, recorded) = turn(&mut bench, 0, usage(0, 4_000));
    assert!(reply.predicted.read > 2_000);
    assert!(
        recorded.warnings[0].contains("read 0 tokens from its cache instead of"),
        "{:?}",
        recorded.warnings
    );
    let missed = bench.session.cache.breaks.last.as_ref().unwrap().missed.unwrap();
    assert_eq!((missed.expected, missed.reported), (reply.predicted.read, 0));
    let wrote = bench.session.cache_account().unwrap().last_charge().written;
    assert!(report(&bench).predicted.read <= wrote);
    let (_, recorded) = turn(&mut bench, 0, usage(4_000, 10));
    assert_eq!(recorded.warnings, [""; 0]);
    assert_eq!(bench.session.cache.breaks.last.as_ref().unwrap().missed, None);
}

#[test]
fn a_rebuild_keeps_the_learned_ages() {
    for policy in [PolicyName::Ledger, PolicyName::Ripple] {
        let mut bench = bench(policy);
        bench.select("a.py");
        turn(&mut bench, 0, None);
        turn(&mut bench, 0, None);
        assert!(report(&bench).predicted.read > 0, "{policy:?}");
        bench.session.rebuild_tiers();
        let then = report(&bench);
        match policy {
            PolicyName::Ledger => {
                let stats = ledger_stats(&then, "file:a.py");
                assert_eq!((stats.age, stats.kept), (Some(2), false));
            }
            _ => assert_ne!(item(&then, "file:a.py").tier, Tier::Active, "placed directly"),
        }
        assert_eq!(bench.session.history.messages().len(), 4);
    }
}

#[test]
fn a_rebuild_discards_the_layout_of_a_pending_prompt() {
    let mut bench = bench(PolicyName::Ledger);
    let prepared = bench.assemble(&PromptRequest::prompt("?")).unwrap();
    let id = bench.session.add_pending_prompt(prepared).id.unwrap();
    bench.session.rebuild_tiers();
    let outcome = RequestOutcome {
        error: None,
        status: RequestStatus::Complete,
        answer: vec![],
        usage: None,
        time_ms: 0,
    };
    assert!(bench.session.record(&id, outcome).unwrap().warnings[0].contains("changed after this prompt"));
}

#[test]
fn the_policy_of_the_session_overrides_the_setting() {
    let mut bench = bench(PolicyName::Ripple);
    let chosen = |bench: &Bench| {
        let PreparedPrompt { chosen, reply, .. } = bench.assemble(&PromptRequest::prompt("?")).unwrap();
        assert_eq!(chosen.policy, reply.policy);
        (chosen.policy, chosen.decided_by)
    };
    assert_eq!(chosen(&bench), (PolicyName::Ripple, DecidedBy::Setting));
    bench.session.policy = Some(PolicyName::Ledger);
    assert_eq!(chosen(&bench), (PolicyName::Ledger, DecidedBy::Session));
    bench.index = IndexState::Building;
    assert_eq!(chosen(&bench), (PolicyName::Flat, DecidedBy::Indexing));
}

#[test]
fn the_next_request_is_predicted_from_the_last_one() {
    let mut bench = bench(PolicyName::Ledger);
    bench.select("a.py");
    let tool =
        serde_json::json!({"name": "look", "description": "Looks.", "input_schema": {"type": "object"}});
    let prompt_request =
        PromptRequest { tools: vec![serde_json::from_value(tool).unwrap()], ..PromptRequest::prompt("?") };
    let prepared = bench.assemble(&prompt_request).unwrap();
    let id = bench.session.add_pending_prompt(prepared).id.unwrap();
    let outcome = RequestOutcome {
        error: None,
        status: RequestStatus::Complete,
        answer: vec![],
        usage: None,
        time_ms: 0,
    };
    bench.session.record(&id, outcome).unwrap();
    assert_eq!(
        bench.session.next_request(7),
        PromptRequest {
            tools: prompt_request.tools,
            now_ms: 7,
            ..PromptRequest::new(crate::assembly::Request::Nothing)
        }
    );
    assert!(report(&bench).predicted.read > 2_000, "other tools would be another cache");
}

#[test]
fn an_image_does_not_break_the_cache_before_it() {
    for policy in [PolicyName::Ledger, PolicyName::Ripple] {
        let mut bench = bench(policy);
        bench.select("a.py");
        turn(&mut bench, 1_000, None);
        turn(&mut bench, 2_000, None);
        let source = ImageSource::Url { url: "https://example.com/a.png".into() };
        let image = Image { source, width: Some(64), height: Some(64) };
        let request = Request::Prompt { text: "look".into(), images: vec![image] };
        let prepared =
            bench.assemble(&PromptRequest { now_ms: 3_000, ..PromptRequest::new(request) }).unwrap();
        let cached = bench.session.cached_prefix(3_000).unwrap().tokens;
        assert_eq!(prepared.reply.predicted.read, cached, "{policy:?}");
    }
}

#[test]
fn cached_tokens_are_reported_until_they_expire() {
    let mut bench = bench(PolicyName::Ledger);
    bench.select("a.py");
    assert_eq!(bench.session.cached_prefix(0), None);
    turn(&mut bench, 1_000, None);
    let cached = bench.session.cached_prefix(301_000).unwrap();
    assert_eq!(cached.expires_ms, 301_000);
    assert!(cached.tokens > 2_000);
    assert_eq!(bench.session.cached_prefix(301_001), None);
}

#[test]
fn usage_is_priced_in_tokens_of_uncached_input() {
    let mut bench = bench(PolicyName::Ledger);
    assert_eq!(bench.budget().totals.cost, None);
    turn(&mut bench, 0, Some(Usage { input: 10, output: 99, cache_read: 1_000, cache_write: 100 }));
    turn(&mut bench, 0, None);
    let cost = bench.budget().totals.cost.unwrap();
    assert!((cost - (10.0 + 100.0 + 125.0)).abs() < 1e-6, "{cost}");
}

#[test]
fn a_web_page_is_in_the_prompt_until_it_is_removed() {
    for policy in [PolicyName::Ledger, PolicyName::Ripple, PolicyName::Flat] {
        let mut bench = bench(policy);
        bench.session.pages.add(page("https://example.org", "```\nfetched\n"));
        let prepared = bench.assemble(&PromptRequest::prompt("?")).unwrap();
        let text = all_text(&prepared);
        assert_eq!(text.matches("fetched").count(), 1, "{policy:?}");
        assert!(text.contains("## `Title` (web page `https://example.org`, version "), "{policy:?}: {text}");
        let weight = prepared.reply.tokens.parts[&Part::Urls];
        assert!(weight > 10 && prepared.reply.tokens.total > weight);
        turn(&mut bench, 0, None);
        let key = ItemKey::Url(page("https://example.org", "").id());
        assert_eq!(bench.session.cache.tiers.tier_of(&key) == Tier::L1, policy == PolicyName::Ripple);
        bench.session.pages.remove("https://example.org");
        assert_eq!(
            all_text(&bench.assemble(&PromptRequest::prompt("?")).unwrap()).matches("fetched").count(),
            0
        );
    }
}

#[test]
fn a_changed_web_page_replaces_its_old_text() {
    for policy in [PolicyName::Ledger, PolicyName::Ripple, PolicyName::Flat] {
        let mut bench = bench(policy);
        bench.session.pages.add(page("https://example.org", "old words"));
        turn(&mut bench, 0, None);
        bench.session.pages.add(page("https://example.org", "new words"));
        let text = all_text(&bench.assemble(&PromptRequest::prompt("?")).unwrap());
        assert_eq!(
            (text.matches("old words").count(), text.matches("new words").count()),
            (0, 1),
            "{policy:?}"
        );
    }
}

#[test]
fn session_state_follows_all_cached_content() {
    for policy in [PolicyName::Ledger, PolicyName::Ripple] {
        let mut bench = bench(policy);
        bench.state = "# Session State\n\nBranch: `main`".into();
        bench.select("a.py");
        for _ in 0..5 {
            turn(&mut bench, 0, None);
        }
        let prepared = bench.assemble(&PromptRequest::prompt("?")).unwrap();
        let blocks: Vec<_> = prepared.layout.blocks().collect();
        let state = blocks.iter().position(|block| block.part == Part::SessionState).unwrap();
        let last_mark = blocks.iter().rposition(|block| block.mark.is_some()).unwrap();
        assert!(last_mark < state, "{policy:?}");
        assert!(blocks[state..].iter().all(|block| block.tier == Tier::Active), "{policy:?}");
        let read = prepared.reply.predicted.read;
        bench.state = "# Session State\n\nBranch: `other`".into();
        let other = bench.assemble(&PromptRequest::prompt("?")).unwrap().reply.predicted.read;
        assert_eq!(read, other, "{policy:?}: another branch costs nothing");
    }
}

#[test]
fn an_outline_that_lost_its_last_definition_is_replaced_by_its_path() {
    let mut bench = Bench::new(
        "
        //- a.py
        def gone(): pass
        //- b.py
        def here(): pass
        ",
    );
    bench.settings.cache.policy = Some(PolicyName::Ledger);
    bench.adjust_rules = |rules| rules.later_price = None;
    // Long enough for the model to cache it.
    bench.settings.prompt.system = "Be brief. ".repeat(100);
    bench.turn("one", "done");
    bench.files.insert("a.py".into(), "# nothing left\n".into());
    let prepared = bench.assemble(&PromptRequest::prompt("two")).unwrap();
    let text = all_text(&prepared);
    assert!(text.contains("def here"), "{text}");
    // The cached outline stays in place. A later update says that the file defines nothing.
    let (_, after) = text.split_once("def gone").unwrap();
    assert!(after.contains("## Outline of `a.py`, replacing the one above\n\na.py\n\n"), "{text}");
    assert!(!after.contains("def gone"), "{text}");
}

#[test]
fn a_changed_notice_of_a_file_is_shown() {
    let file = |notice: Option<&str>, text: &str| {
        FileText::new(
            text.into(),
            Source::Disk { mtime_ms: 0, notice: notice.map(str::to_owned), out_of_step: None },
        )
    };
    let long: String = (0..80).map(|line| format!("line {line}\n")).collect();
    let mut session = Session::new("test");
    session.selection.select("a.txt".into());
    let bench = Bench::new("");
    let mut texts = std::collections::BTreeMap::new();
    for (notice, text) in [(None, long.clone()), (Some("odd bytes"), long.replace("line 7\n", "seven\n"))] {
        texts.insert("a.txt".into(), file(notice, &text));
        let prepared = bench.with_workspace(|workspace| {
            let workspace = Workspace { texts: &texts, ..*workspace };
            assemble(
                &workspace,
                &session,
                &PromptRequest { policy: Some(PolicyName::Ledger), ..PromptRequest::prompt("?") },
                bench.services(),
            )
        });
        let prepared = prepared.unwrap();
        assert_eq!(all_text(&prepared).contains("Note: odd bytes."), notice.is_some());
        let id = session.add_pending_prompt(prepared).id.unwrap();
        let outcome = RequestOutcome {
            error: None,
            status: RequestStatus::Complete,
            answer: vec![ContentBlock::text("ok")],
            usage: None,
            time_ms: 0,
        };
        session.record(&id, outcome).unwrap();
    }
}
