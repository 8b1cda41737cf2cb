//! Limits of prompts, and what is omitted to respect them.

use proptest::prelude::*;
use strata_conversation::history::{ContentBlock, History, NewMessage, Role};
use strata_tokens::cost::Usage;
use strata_tokens::models::{CacheTtl, ModelTable, Ttl};

use super::fixture::{Bench, all_text};
use crate::assembly::{AssembleError, PromptRequest, WarningCode, history_size};
use crate::layout::Part;
use crate::session::{RequestOutcome, RequestStatus};
use crate::tiers::PolicyName;

/// Creates a repository of files of the given sizes, and a model with the given window.
fn bench(sizes: &[usize], window: usize, policy: PolicyName) -> Bench {
    let mut bench = Bench::new("").policy(policy);
    for (at, size) in sizes.iter().enumerate() {
        let text = (0..*size).map(|line| format!("def f{at}_{line}(): pass\n")).collect();
        let key = format!("f{at}.py");
        bench.files.insert(key.as_str().into(), text);
    }
    let table = format!("[model.small]\nfamily = \"claude\"\nmax_input = {window}\nmax_output = 1000\n");
    bench.models = bench.models.with_overrides(ModelTable::from_toml(&table).unwrap()).unwrap();
    bench.settings.model = "small".into();
    bench
}

#[test]
fn no_file_is_omitted_within_the_budget() {
    let mut bench = bench(&[10, 20, 30], 50_000, PolicyName::Flat);
    bench.select("f0.py");
    let reply = bench.prompt("?");
    assert!(reply.shed.is_empty() && reply.warnings.is_empty());
}

#[test]
fn over_the_budget_the_largest_files_are_omitted_with_a_warning() {
    let mut bench = bench(&[20, 600, 60, 400], 6_000, PolicyName::Flat);
    for key in ["f0.py", "f1.py", "f2.py", "f3.py"] {
        bench.select(key);
    }
    let prepared = bench.assemble(&PromptRequest::prompt("?")).unwrap();
    let reply = &prepared.reply;
    assert!(reply.tokens.total <= reply.tokens.limit);
    assert_eq!(
        reply.tokens.limit, 4_891,
        "the window less a sixteenth for the answer and the 15 % that estimates may be off by"
    );
    let omitted: Vec<&str> = reply.shed.iter().map(AsRef::as_ref).collect();
    assert_eq!(omitted, ["f1.py", "f3.py"]);
    let codes: Vec<WarningCode> = reply.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, [WarningCode::Shed, WarningCode::Shed]);
    assert!(all_text(&prepared).contains("def f2_59"), "the smaller ones stay in full");
}

#[test]
fn a_prompt_at_the_window_limit_still_reads_from_the_cache() {
    // The map exceeds the window, and the conversation grows.
    let mut bench = bench(&[40; 60], 20_000, PolicyName::Ledger);
    bench.settings.symbols.map_budget = Some(16_000);
    bench.select("f0.py");
    let answer = "All is well so far. ".repeat(20);
    let shares: Vec<f64> = (0..12)
        .map(|turn| {
            let (reply, _) = bench.turn(&format!("What about {turn}?"), &answer);
            assert!(reply.tokens.total <= reply.tokens.limit);
            reply.predicted.read as f64 / reply.predicted.total() as f64
        })
        .collect();
    let well_cached = shares.iter().filter(|share| **share > 0.8).count();
    assert!(well_cached >= 8, "{shares:?}");
}

#[test]
fn every_file_is_listed_by_name_or_counted_with_its_directory() {
    let mut bench = Bench::new("");
    for at in 0..300 {
        bench.files.insert(format!("deep/{}/f{at}.txt", at % 7).as_str().into(), String::new());
    }
    bench.settings.files.list_budget = 1_000;
    let coverage = bench.prompt("?").coverage;
    assert!(coverage.names > 0 && coverage.directories > 7, "{coverage:?}");
    assert_eq!(coverage.names + coverage.directories, 300);
}

#[test]
fn a_prompt_respects_the_clients_input_limit() {
    let mut bench = bench(&[20, 600, 60, 400], 50_000, PolicyName::Flat);
    for key in ["f0.py", "f1.py", "f2.py", "f3.py"] {
        bench.select(key);
    }
    let within = |max_input_tokens| PromptRequest { max_input_tokens, ..PromptRequest::prompt("?") };
    let reply = bench.assemble(&within(Some(6_000))).unwrap().reply;
    assert_eq!((reply.tokens.window, reply.tokens.limit), (6_000, 4_891));
    assert!(reply.tokens.total <= reply.tokens.limit);
    let omitted: Vec<&str> = reply.shed.iter().map(AsRef::as_ref).collect();
    assert_eq!(omitted, ["f1.py", "f3.py"], "as in a window of that size");
    let complete = bench.assemble(&within(Some(1_000_000))).unwrap().reply;
    assert_eq!((complete.tokens.window, complete.shed.len()), (50_000, 0), "the model's own window stays");

    assert_eq!(bench.session.pressure(None, bench.services(), 0).window, Some(50_000));
    let reply = bench.session.add_pending_prompt(bench.assemble(&within(Some(6_000))).unwrap());
    let answer = vec![ContentBlock::text("Done.")];
    let outcome =
        RequestOutcome { error: None, status: RequestStatus::Complete, answer, usage: None, time_ms: 0 };
    bench.session.record(&reply.id.unwrap(), outcome).unwrap();
    assert_eq!(bench.session.pressure(None, bench.services(), 0).window, Some(6_000), "compactions go by it");
}

#[test]
fn breakpoints_have_the_lifetime_of_the_request_or_the_setting() {
    let mut bench = bench(&[600], 50_000, PolicyName::Ledger);
    bench.settings.cache.ttl = CacheTtl::OneHour;
    bench.select("f0.py");
    let marks = |prompt_request: &PromptRequest| -> Vec<Ttl> {
        let prepared = bench.assemble(prompt_request).unwrap();
        prepared.layout.blocks().filter_map(|block| block.mark).collect()
    };
    let as_set = marks(&PromptRequest::prompt("?"));
    assert!(!as_set.is_empty() && as_set.iter().all(|ttl| *ttl == Ttl::OneHour), "{as_set:?}");
    let five = marks(&PromptRequest { ttl: Some(CacheTtl::FiveMinutes), ..PromptRequest::prompt("?") });
    assert!(!five.is_empty() && five.iter().all(|ttl| *ttl == Ttl::FiveMinutes), "{five:?}");
}

#[test]
fn a_prompt_that_cannot_fit_is_an_error_that_names_the_largest_part() {
    let bench = bench(&[], 3_000, PolicyName::Ripple);
    let error = bench.assemble(&PromptRequest::prompt("word ".repeat(9_000))).unwrap_err();
    let AssembleError::TooLarge { tokens, limit, largest, .. } = &error else { panic!("{error}") };
    assert!(tokens > limit);
    assert_eq!(largest[0].name, Part::Prompt.to_string());
    assert!(error.to_string().contains("shorten the largest parts: prompt ("), "{error}");
}

#[test]
fn old_exchanges_are_omitted_last() {
    let mut bench = bench(&[50], 6_000, PolicyName::Flat);
    bench.compact_over(1_000);
    for turn in 0..100 {
        bench
            .session
            .history
            .add(NewMessage::text(Role::User, format!("question {turn} {}", "word ".repeat(30))));
        bench
            .session
            .history
            .add(NewMessage::text(Role::Assistant, format!("answer {turn} {}", "word ".repeat(30))));
    }
    let prepared = bench.assemble(&PromptRequest::prompt("?")).unwrap();
    assert!(prepared.reply.warnings.iter().any(|warning| warning.code == WarningCode::HistoryTruncated));
    let text = all_text(&prepared);
    assert!(!text.contains("question 0 ") && text.contains("question 99 ") && text.contains("answer 99 "));
    assert_eq!(bench.session.history.messages().len(), 200, "the conversation itself is whole");
}

#[test]
fn a_long_history_leaves_room_for_files_and_fits_a_small_window() {
    for window in [8_000, 40_000] {
        let mut bench = bench(&[20], window, PolicyName::Ripple);
        bench.select("f0.py");
        for turn in 0..400 {
            bench.add_exchange(&format!("question {turn} {}", "word ".repeat(40)), &"word ".repeat(40));
        }
        let prepared = bench.assemble(&PromptRequest::prompt("?")).unwrap();
        assert!(prepared.reply.shed.is_empty(), "{window}");
        assert!(all_text(&prepared).contains("def f0_19") && all_text(&prepared).contains("question 399 "));
    }
}

#[test]
fn the_budget_report_adds_up() {
    let mut bench = bench(&[10, 20], 50_000, PolicyName::Flat);
    bench.select("f0.py");
    bench.add_exchange("question", "answer");
    let report = bench.budget();
    assert!(report.history_tokens > 0);
    assert_eq!(report.max_input_tokens, 50_000);
    assert_eq!(report.max_history_tokens, 50_000 / 16);
    assert!(report.remaining > 0 && report.used + report.remaining <= report.max_input_tokens);
    assert_eq!(report.parts.values().sum::<usize>(), report.used);
    assert_eq!(report.files.len(), 1);
    assert!(!report.needs_summary);
    bench.compact_over(1);
    assert!(bench.budget().needs_summary, "asks the same rule as the compaction status");
}

#[test]
fn a_history_can_be_measured_copied_replaced_and_cleared() {
    let mut bench = bench(&[], 50_000, PolicyName::Flat);
    assert_eq!(crate::assembly::history_size(&bench.session.history, bench.services()).tokens, 0);
    bench.add_exchange("question", "answer");
    assert!(crate::assembly::history_size(&bench.session.history, bench.services()).tokens > 0);
    let copy: History = bench.session.history.clone();
    bench.session.set_history([NewMessage::text(Role::User, "anew")]);
    assert_eq!(
        (copy.messages().len(), bench.session.history.messages().len()),
        (2, 1),
        "a copy does not change with the original"
    );
    bench.session.set_history([]);
    assert!(bench.session.history.messages().is_empty());
}

/// Number of random cases: 1,000 if the tests are built with `STRATA_LONG=1`.
const BUDGETS: u32 = if option_env!("STRATA_LONG").is_some() { 1_000 } else { 48 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(BUDGETS))]

    /// For any selection and window, either the prompt fits or no prompt could, and no file that would fit is omitted.
    #[test]
    fn every_prompt_fits_and_omits_no_file_needlessly(
        sizes in prop::collection::vec(0..200usize, 0..8),
        window in 2_000..9_000usize,
        exchanges in 0..20usize,
        policy in prop::sample::select(vec![PolicyName::Flat, PolicyName::Ripple, PolicyName::Ledger]),
    ) {
        let mut bench = bench(&sizes, window, policy);
        for at in 0..sizes.len() {
            bench.select(&format!("f{at}.py"));
        }
        for turn in 0..exchanges {
            bench.add_exchange(&format!("question {turn}"), "answer");
        }
        match bench.assemble(&PromptRequest::prompt("the question")) {
            Ok(prepared) => {
                let reply = prepared.reply;
                prop_assert!(reply.tokens.total <= reply.tokens.limit);
                // The map and the list shrink in favor of files, so their tokens are available to a file.
                let movable: usize = [Part::Map, Part::FileList].iter().filter_map(|part| reply.tokens.parts.get(part)).sum();
                // The first file adds the legend that explains how to read files.
                let system = reply.tokens.parts.get(&Part::System).copied().unwrap_or_default();
                let tokens_left = reply.tokens.limit - reply.tokens.total + movable + system;
                for key in &reply.shed {
                    let alone = |selected: bool| {
                        let mut alone = Bench::new("").policy(policy);
                        alone.models = bench.models.clone();
                        alone.settings = bench.settings.clone();
                        alone.files.insert(key.clone(), bench.files[key].clone());
                        if selected {
                            alone.select(key.as_str());
                        }
                        alone.prompt("?").tokens
                    };
                    let (bare, parts) = (alone(false).total, alone(true).parts);
                    let part_tokens = |part| parts.get(part).copied();
                    let file_tokens = part_tokens(&Part::Files).zip(part_tokens(&Part::System)).map_or(usize::MAX, |(files, system)| files + system);
                    // `bare` includes the list and the map of that one file, so only the file's own text counts.
                    prop_assert!(file_tokens > tokens_left || bare > reply.tokens.limit, "{:?} of {} tokens would have fitted into {}", key, file_tokens, tokens_left);
                }
            }
            Err(AssembleError::TooLarge { tokens, limit, .. }) => prop_assert!(tokens > limit),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

#[test]
fn a_recovery_is_allowed_again_once_a_prompt_is_answered() {
    let mut bench = bench(&[], 50_000, PolicyName::Flat);
    bench.session.record_recovery();
    assert!(bench.session.check_recovery_allowed().is_err());
    bench.turn("Go on.", "Done.");
    assert!(bench.session.check_recovery_allowed().is_ok());
}

#[test]
fn the_context_size_is_the_billed_size_plus_later_messages() {
    let mut bench = bench(&[], 50_000, PolicyName::Flat);
    let reply = bench.session.add_pending_prompt(bench.assemble(&PromptRequest::prompt("Hello?")).unwrap());
    let usage = Usage { input: 7_000, output: 300, cache_read: 20, cache_write: 1 };
    let outcome = RequestOutcome {
        error: None,
        status: RequestStatus::Complete,
        answer: vec![ContentBlock::text("Hello.")],
        usage: Some(usage),
        time_ms: 0,
    };
    bench.session.record(&reply.id.unwrap(), outcome).unwrap();
    assert_eq!(bench.session.pressure(None, bench.services(), 0).context, 7_321);

    let before = history_size(&bench.session.history, bench.services()).tokens;
    bench.session.history.add(NewMessage::text(Role::User, "And one thing more."));
    let since = history_size(&bench.session.history, bench.services()).tokens - before;
    assert!(since > 0);
    assert_eq!(bench.session.pressure(None, bench.services(), 0).context, 7_321 + since);
}
