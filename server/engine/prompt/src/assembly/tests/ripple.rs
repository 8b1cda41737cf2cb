//! Assembly under policy `ripple`.

use expect_test::expect;
use strata_conversation::providers::Format;

use super::fixture::{Bench, all_text, json, prompt_summary, recount};
use crate::assembly::PromptRequest;
use crate::layout::Tier;
use crate::session::{RequestOutcome, RequestStatus};

const REPOSITORY: &str = "
    //- a.py
    def alpha(x): return beta(x)
    //- b.py
    from a import alpha
    def beta(x): return x
    //- c.py
    class Gamma:
        def run(self): pass
    //- readme.txt
    hello
";

fn bench() -> Bench {
    let mut bench = Bench::new(REPOSITORY).policy(crate::tiers::PolicyName::Ripple);
    bench.settings.prompt.system = "Be brief.".into();
    bench.adjust_rules = |rules| rules.target = 1;
    bench
}

#[test]
fn graduated_files_leave_the_working_files_until_none_is_left() {
    let mut bench = bench();
    bench.select("a.py");
    let working = |bench: &Bench| prompt_summary(&bench.prompt("?")).contains("# Working Files");
    assert!(working(&bench));
    for _ in 0..4 {
        bench.turn("go on", "done");
    }
    assert!(!working(&bench), "all files graduated: no section for them");
    bench.select("c.py");
    let prompt_summary = prompt_summary(&bench.prompt("?"));
    let (cached, tail) = prompt_summary.split_once("# Working Files").unwrap();
    assert!(
        cached.contains("`a.py`") && tail.contains("`c.py`") && !tail.contains("`a.py`"),
        "{prompt_summary}"
    );
}

#[test]
fn messages_come_in_tier_order_and_each_cached_tier_has_a_breakpoint() {
    let mut bench = bench();
    bench.select("a.py");
    for turn in 0..4 {
        bench.turn(&format!("question {turn}"), &format!("answer {turn}"));
    }
    bench.select("readme.txt");
    let reply = bench.prompt("last question");
    expect![[r###"
        system:
            "Be brief."
            "# Repository Structure"
            "b.py" |
        user:
            "# Repository Structure (continued)"
            "c.py"
        assistant:
            "Ok." |
        user:
            "# Reference Files (L3)"
            "## `a.py`"
        assistant:
            "Ok." |
        user:
            "# Working Files"
            "## `readme.txt`"
        assistant: "Ok."
        user: "question 0"
        assistant: "answer 0"
        user: "question 1"
        assistant: "answer 1"
        user: "question 2"
        assistant: "answer 2"
        user: "question 3"
        assistant: "answer 3"
        user: "last question"
    "###]]
    .assert_eq(&prompt_summary(&reply));
    recount(&bench, &reply, Format::Anthropic);
    let marked: Vec<Tier> = reply.breakpoints.iter().map(|breakpoint| breakpoint.tier).collect();
    let filled: Vec<Tier> =
        reply.tiers.iter().filter(|tier| tier.tier != Tier::Active).map(|tier| tier.tier).collect();
    assert_eq!(marked, filled);
}

#[test]
fn the_breakpoint_of_l0_is_on_its_last_message() {
    use strata_conversation::history::MessageId;
    use strata_conversation::providers::Speaker;

    use crate::layout::{CountedBlock, ItemKey, LayoutContent, SentMessage, TierSeeds};
    use crate::tiers::ripple::{RippleState, TrackedItem};
    use crate::tiers::{LayoutRules, PolicyName, TierState};

    let message = |id, speaker, text: &str| SentMessage {
        id: MessageId(id),
        speaker,
        blocks: vec![CountedBlock {
            content: strata_conversation::history::ContentBlock::text(text),
            tokens: 1,
        }],
    };
    let (seeds, excluded) = (TierSeeds::default(), Default::default());
    let content = LayoutContent {
        system: "Be brief.".into(),
        history: vec![message(0, Speaker::User, "q"), message(1, Speaker::Assistant, "a")],
        request: vec![CountedBlock {
            content: strata_conversation::history::ContentBlock::text("now"),
            tokens: 1,
        }],
        ..LayoutContent::empty(&seeds, &excluded, &|_| 1)
    };
    let tracked = |tier| TrackedItem { tier, n: 12, hash: None, tokens: 1 };
    let rules =
        LayoutRules::new(0, strata_tokens::models::Ttl::FiveMinutes, strata_tokens::cost::Prices::uncached());
    let marks = |tier| {
        let items = [0, 1].map(|id| (ItemKey::History(MessageId(id)), tracked(tier)));
        let state = TierState::Ripple(RippleState::from_items(items));
        let layout = PolicyName::Ripple.policy().lay_out(&state, &content, &rules).layout;
        layout.blocks().map(|block| block.mark.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(marks(Tier::L0), [false, false, true, false], "system, q, a, now");
    assert_eq!(marks(Tier::Active), [true, false, false, false]);
}

#[test]
fn l1_is_a_user_message_with_its_symbols_and_an_acknowledgement() {
    let bench = bench();
    let prepared = bench.assemble(&PromptRequest::prompt("?")).unwrap();
    let l1: Vec<_> =
        prepared.layout.messages.iter().filter(|message| message.blocks[0].tier == Tier::L1).collect();
    assert_eq!(l1.len(), 2, "user and assistant");
    assert!(!l1[0].blocks[1].items.is_empty());
}

#[test]
fn empty_tiers_produce_no_messages() {
    let mut bench = Bench::new("");
    bench.settings.prompt.system = "Be brief.".into();
    expect![[r#"
        system:
            "Be brief."
        user: "hello"
    "#]]
    .assert_eq(&prompt_summary(&bench.prompt("hello")));
}

#[test]
fn a_prompt_that_is_never_recorded_changes_nothing() {
    let mut bench = bench();
    bench.select("a.py");
    let before = bench.session.cache.tiers.clone();
    for _ in 0..9 {
        let prepared = bench.assemble(&PromptRequest::prompt("?")).unwrap();
        bench.session.add_pending_prompt(prepared);
    }
    assert_eq!(bench.session.cache.tiers, before);
    let error = bench.session.discard_prompt("p1").unwrap_err();
    assert!(error.to_string().contains("more than 8 newer ones"), "{error}");
    assert!(bench.session.discard_prompt("p2").is_ok());
}

#[test]
fn recording_twice_gives_the_same_reply_and_adds_the_turn_once() {
    let mut bench = bench();
    let (reply, recorded) = bench.turn("question", "answer");
    assert_eq!(recorded.messages, 2);
    let outcome = || RequestOutcome {
        error: None,
        status: RequestStatus::Complete,
        answer: vec![],
        usage: None,
        time_ms: 9,
    };
    let again = bench.session.record(reply.id.as_deref().unwrap(), outcome()).unwrap();
    assert_eq!(again, recorded);
    assert_eq!(bench.session.history.messages().len(), 2);
    assert!(bench.session.record("p99", outcome()).is_err());
}

#[test]
fn a_pending_prompt_does_not_store_the_request_body() {
    let mut bench = bench();
    let prompt_request = PromptRequest { format: Some(Format::OpenAi), ..PromptRequest::prompt("question") };
    let reply = bench.session.add_pending_prompt(bench.assemble(&prompt_request).unwrap());
    assert!(json(&reply)["prompt_cache_key"].is_string());
    assert!(!format!("{:?}", bench.session).contains("prompt_cache_key"));
}

#[test]
fn a_change_before_the_answer_discards_the_layout_but_not_the_messages() {
    let mut bench = bench();
    let prepared = bench.assemble(&PromptRequest::prompt("question")).unwrap();
    let id = bench.session.add_pending_prompt(prepared).id.unwrap();
    bench.select("a.py");
    let before = bench.session.cache.tiers.clone();
    let answer = vec![strata_conversation::history::ContentBlock::text("answer")];
    let outcome =
        RequestOutcome { error: None, status: RequestStatus::Complete, answer, usage: None, time_ms: 0 };
    let recorded = bench.session.record(&id, outcome).unwrap();
    assert_eq!((recorded.messages, recorded.warnings.len()), (2, 1));
    assert_eq!(bench.session.cache.tiers, before);
}

#[test]
fn aborted_and_failed_turns() {
    let mut bench = bench();
    let mut record = |status, answer: &str| {
        let prepared = bench.assemble(&PromptRequest::prompt("question")).unwrap();
        let id = bench.session.add_pending_prompt(prepared).id.unwrap();
        let answer = if answer.is_empty() {
            vec![]
        } else {
            vec![strata_conversation::history::ContentBlock::text(answer)]
        };
        bench
            .session
            .record(&id, RequestOutcome { error: None, status, answer, usage: None, time_ms: 0 })
            .unwrap()
            .messages
    };
    assert_eq!(record(RequestStatus::Error, ""), 0, "treated as not sent");
    assert_eq!(record(RequestStatus::Aborted, ""), 0);
    assert_eq!(record(RequestStatus::Aborted, "half an ans"), 2);
    assert_eq!(record(RequestStatus::Complete, "answer"), 4);
}

#[test]
fn resetting_history_tiers_keeps_the_messages() {
    let mut bench = bench();
    let cached = |bench: &Bench| {
        let prepared = bench.assemble(&PromptRequest::prompt("?")).unwrap();
        prepared
            .layout
            .blocks()
            .filter(|block| block.part == crate::layout::Part::History && block.tier != Tier::Active)
            .count()
    };
    for turn in 0..9 {
        bench.turn(&format!("question {turn} {}", "word ".repeat(100)), &"word ".repeat(100));
    }
    assert!(cached(&bench) > 0, "more than a target's worth of it is old enough");
    bench.session.reset_history_tiers();
    assert_eq!((cached(&bench), bench.session.history.messages().is_empty()), (0, false));
    bench.session.set_history([]);
    assert!(bench.session.history.messages().is_empty());
}

#[test]
fn the_same_state_gives_the_same_bytes() {
    let make = || {
        let mut bench = bench();
        bench.select("a.py");
        for turn in 0..5 {
            bench.turn(&format!("question {turn}"), "answer");
        }
        all_text(&bench.assemble(&PromptRequest::prompt("?")).unwrap())
    };
    assert_eq!(make(), make());
}

#[test]
fn a_flat_turn_does_not_change_the_state_of_ripple() {
    let mut bench = bench();
    bench.select("a.py");
    for _ in 0..4 {
        bench.turn("go on", "done");
    }
    let before = bench.session.cache.tiers.clone();
    bench.settings.cache.policy = Some(crate::tiers::PolicyName::Flat);
    bench.turn("go on", "done");
    assert_eq!(bench.session.cache.tiers, before);
}

#[test]
fn a_map_without_budget_loses_its_members_but_not_their_tiers() {
    let mut bench = bench();
    bench.turn("go on", "done");
    let (members, tiers) = (bench.session.map_members.clone(), bench.session.cache.tiers.clone());
    assert_eq!(members.len(), 3);
    bench.settings.symbols.map_budget = Some(0);
    bench.turn("go on", "done");
    // A configured 0 is permanent, so members leave the map. If the map only lacks space, they are hidden instead.
    assert_eq!(bench.session.map_members.len(), 0);
    let place =
        |bench: &Bench| bench.session.cache.tiers.tier_of(&crate::layout::ItemKey::Symbol("b.py".into()));
    let before = match &tiers {
        crate::tiers::TierState::Ripple(_) => tiers.tier_of(&crate::layout::ItemKey::Symbol("b.py".into())),
        _ => panic!("nothing is remembered"),
    };
    assert_eq!(place(&bench), before, "hidden in that prompt, not forgotten");
}
