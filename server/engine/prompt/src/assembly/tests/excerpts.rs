//! The lifecycle of excerpts in prompts: shown, kept, updated, pinned, dismissed, selected, excluded and omitted.

use strata_conversation::selection::Extent;

use super::fixture::{Bench, all_text};
use crate::assembly::reply::UsedExcerpt;
use crate::assembly::{PreparedPrompt, PromptRequest, Request, WarningCode};
use crate::excerpts::ExcerptStanding;
use crate::layout::{ExcerptKey, ItemKey, Part};
use crate::session::Session;
use crate::tiers::PolicyName;

// The fixture removes four spaces of indentation from each line.
const FIXTURE: &str = "\
    //- src/retry.py
    # Waits longer after each failed attempt.
    def backoff_delay(attempt):
      return min(2 ** attempt, 60)

    def retry_statistics(log):
      counts = {'first': 0, 'second': 0, 'third': 0, 'fourth': 0, 'fifth': 0, 'sixth': 0}
      return sum(int(line.split()[1]) for line in log if line.split()[0] in counts)
    //- src/parser.py
    def parse_cookie(text):
      return dict(part.split('=') for part in text.split(';'))
    //- src/render.py
    def render_template(name, values):
      return load(name).format(**values)
    ";

/// A budget in tokens that fits any one of the short definitions with its heading, but not two.
const ONE: usize = 90;
/// A budget in tokens of which an eighth of a question's part fits one of the short definitions.
const LATER: usize = 1_600;

const DELAY: &str = "How long is the backoff delay of an attempt?";
const COOKIE: &str = "Why does parse_cookie fail?";

fn bench(policy: PolicyName) -> Bench {
    let mut bench = Bench::new(FIXTURE).policy(policy);
    // A question gets half.
    bench.settings.context.auto_budget = ONE * 2;
    // A prompt this short may otherwise be rewritten because of a single outdated text.
    bench.adjust_rules = |rules| rules.later_price = None;
    bench
}

fn names(excerpts: impl IntoIterator<Item = UsedExcerpt>) -> Vec<(String, ExcerptStanding)> {
    excerpts.into_iter().map(|used| (used.excerpt.to_wire_string(), used.standing)).collect()
}

fn used(prepared: &PreparedPrompt) -> Vec<(String, ExcerptStanding)> {
    names(prepared.reply.files.iter().flat_map(|file| file.excerpts.clone()))
}

fn assemble_prompt(bench: &Bench, text: &str) -> PreparedPrompt {
    bench.assemble(&PromptRequest::prompt(text)).unwrap()
}

fn key(text: &str) -> ExcerptKey {
    text.parse().unwrap()
}

const DELAY_KEY: &str = "src/retry.py#backoff_delay";
const COOKIE_KEY: &str = "src/parser.py#parse_cookie";

#[test]
fn every_policy_shows_excerpts_for_a_question() {
    for policy in [PolicyName::Ledger, PolicyName::Ripple, PolicyName::Flat] {
        let bench = bench(policy);
        let prepared = assemble_prompt(&bench, DELAY);
        let file = prepared.reply.files.iter().find(|file| file.path.as_str() == "src/retry.py").unwrap();
        assert!(!file.excerpts.is_empty() && file.excerpts[0].lines.is_some(), "{policy:?}");
        let text = all_text(&prepared);
        assert!(text.contains("## Excerpt of `src/retry.py`: "), "{policy:?}\n{text}");
        assert_eq!(text.matches("return min(2 ** attempt, 60)").count(), 1, "{policy:?}\n{text}");
        assert!(prepared.reply.tokens.parts[&Part::Files] <= ONE + 10, "{:?}", prepared.reply.tokens.parts);
        let items: Vec<&ItemKey> = prepared.layout.blocks().flat_map(|block| &block.items).collect();
        assert!(items.contains(&&ItemKey::Symbol("src/retry.py".into())), "the outline stays: {items:?}");
    }
}

#[test]
fn there_are_no_excerpts_without_a_budget_or_a_question() {
    let mut bench = bench(PolicyName::Ledger);
    assert_eq!(used(&bench.assemble_without_message().unwrap()), []);
    let none = PromptRequest { auto_budget: Some(0), ..PromptRequest::prompt(DELAY) };
    assert_eq!(used(&bench.assemble(&none).unwrap()), []);
    bench.session.auto_budget = Some(0);
    assert_eq!(used(&assemble_prompt(&bench, DELAY)), []);
    let some = PromptRequest { auto_budget: Some(ONE), ..PromptRequest::prompt(DELAY) };
    assert!(!used(&bench.assemble(&some).unwrap()).is_empty(), "the request counts first");
}

#[test]
fn a_shown_excerpt_is_not_repeated() {
    let mut bench = bench(PolicyName::Ledger);
    bench.turn(DELAY, "Up to a minute.");
    let again = assemble_prompt(&bench, "And what is the backoff delay of attempt 7?");
    let text = all_text(&again);
    assert_eq!(text.matches("return min(2 ** attempt, 60)").count(), 1, "{text}");
    bench.turn("And what is the backoff delay of attempt 7?", "A minute.");
    assert!(
        bench.session.excerpts.shown_keys().any(|key| key.to_wire_string() == DELAY_KEY),
        "{:?}",
        bench.session.excerpts
    );
}

#[test]
fn an_excerpt_of_an_earlier_question_is_retained_and_updated() {
    let mut bench = bench(PolicyName::Ledger);
    bench.turn(DELAY, "Up to a minute.");
    bench.settings.context.auto_budget = LATER;
    bench.turn(COOKIE, "It does not.");
    let text = bench.files.get_mut("src/retry.py").unwrap();
    *text = format!("import os\n\n{}", text.replace("attempt, 60)", "attempt, 90)"));
    let prepared = assemble_prompt(&bench, COOKIE);
    let shown = all_text(&prepared);
    assert!(shown.contains("return min(2 ** attempt, 60)"), "the first text stays: {shown}");
    assert!(shown.contains("return min(2 ** attempt, 90)"), "{shown}");
    assert!(
        used(&prepared).contains(&(COOKIE_KEY.to_owned(), ExcerptStanding::Wanted)),
        "{:?}",
        used(&prepared)
    );
    let file = prepared.reply.files.iter().find(|file| file.path.as_str() == "src/retry.py").unwrap();
    let delay = file.excerpts.iter().find(|used| used.excerpt.to_wire_string() == DELAY_KEY).unwrap();
    assert_eq!(delay.lines.unwrap().to_string(), "L3-5", "it moved by two lines");
}

#[test]
fn an_excerpt_that_left_its_file_is_marked_as_gone() {
    let mut bench = bench(PolicyName::Ledger);
    bench.session.excerpts.pin(key("src/retry.py#L1-3"));
    bench.turn(DELAY, "Up to a minute.");
    for new_text in ["LIMIT = 3\n", ""] {
        bench.files.insert("src/retry.py".into(), new_text.to_owned());
        let text = all_text(&assemble_prompt(&bench, COOKIE));
        assert!(text.contains("Note: this code is no longer in the file."), "{text}");
        assert!(!text.contains("the file is empty"), "{text}");
    }
    bench.files.remove("src/retry.py");
    let text = all_text(&assemble_prompt(&bench, COOKIE));
    assert!(!text.contains("attempt, 60)"), "nothing stays of a file that is gone: {text}");
}

#[test]
fn an_empty_file_is_shown_to_a_request_that_names_it() {
    let mut bench = bench(PolicyName::Ledger);
    bench.files.insert("src/page_layout.py".into(), "\n".to_owned());
    for other in ["src/__init__.py", "src/.gitkeep"] {
        bench.files.insert(other.into(), String::new());
    }
    let shown = |bench: &Bench, request: &str| all_text(&assemble_prompt(bench, request));
    let empty = "## Excerpt of `src/page_layout.py`: L1 (version ";
    for request in ["Fill src/page_layout.py", "class PageLayout: pass"] {
        let text = shown(&bench, request);
        assert!(text.contains(empty) && text.contains("Note: the file is empty."), "{text}");
    }
    let others = shown(&bench, "Add an init function to the parser");
    assert!(!others.contains("the file is empty"), "{others}");
    assert!(!shown(&bench, "Why is the layout of a page wrong?").contains(empty));
    bench.turn("Fill src/page_layout.py", "Done.");
    assert!(shown(&bench, "Is src/page_layout.py still empty?").contains("Note: the file is empty."));
    bench.files.insert("src/page_layout.py".into(), "def width():\n  return 80\n".to_owned());
    bench.settings.context.auto_budget = LATER;
    let text = shown(&bench, "Make src/page_layout.py wider");
    assert!(text.contains("return 80"), "{text}");
}

#[test]
fn a_request_without_a_question_keeps_the_last_excerpts() {
    let mut bench = bench(PolicyName::Flat);
    bench.turn(DELAY, "Up to a minute.");
    let prepared = bench.assemble_without_message().unwrap();
    assert!(
        used(&prepared).contains(&(DELAY_KEY.to_owned(), ExcerptStanding::Wanted)),
        "{:?}",
        used(&prepared)
    );
}

#[test]
fn a_pinned_excerpt_is_in_every_prompt() {
    let mut bench = bench(PolicyName::Flat);
    bench.session.excerpts.pin(key("src/render.py#render_template"));
    bench.session.mark_changed();
    let prepared = assemble_prompt(&bench, COOKIE);
    assert!(used(&prepared).contains(&("src/render.py#render_template".to_owned(), ExcerptStanding::Pinned)));
    let none = PromptRequest { auto_budget: Some(0), ..PromptRequest::new(Request::Nothing) };
    let prepared = bench.with_workspace(|workspace| {
        crate::assembly::assemble_allowing_empty(workspace, &bench.session, &none, bench.services()).unwrap()
    });
    assert!(all_text(&prepared).contains("load(name).format"), "without a question, too");
}

#[test]
fn a_dismissed_excerpt_disappears_and_is_not_chosen_again() {
    let mut bench = bench(PolicyName::Ledger);
    bench.turn(DELAY, "Up to a minute.");
    bench.session.excerpts.dismiss(key(DELAY_KEY));
    bench.session.mark_changed();
    bench.settings.context.auto_budget = LATER;
    for question in [DELAY, COOKIE] {
        let text = all_text(&assemble_prompt(&bench, question));
        assert!(!text.contains("attempt, 60)"), "{text}");
    }
    assert!(!std::mem::take(&mut bench.session.excerpts.dismissed).is_empty());
    assert!(all_text(&assemble_prompt(&bench, DELAY)).contains("attempt, 60)"));
}

#[test]
fn a_selected_file_replaces_its_excerpts() {
    for policy in [PolicyName::Ledger, PolicyName::Flat] {
        let mut bench = bench(policy);
        bench.turn(DELAY, "Up to a minute.");
        bench.select("src/retry.py");
        let prepared = assemble_prompt(&bench, DELAY);
        assert!(
            prepared
                .reply
                .files
                .iter()
                .any(|file| file.path.as_str() == "src/retry.py" && file.excerpts.is_empty())
        );
        bench.turn(DELAY, "Up to a minute.");
        bench.deselect("src/retry.py");
        let text = all_text(&assemble_prompt(&bench, COOKIE));
        assert!(!text.contains("'sixth': 0"), "{policy:?}: the file's text left: {text}");
    }
}

#[test]
fn selected_lines_are_not_repeated() {
    let mut bench = bench(PolicyName::Flat);
    bench.session.selection.select_lines("src/retry.py".into(), "L1-3".parse().unwrap());
    bench.session.mark_changed();
    assert_eq!(
        bench.session.selection.selected.values().next(),
        Some(&Extent::Lines(vec!["L1-3".parse().unwrap()]))
    );
    let text = all_text(&assemble_prompt(&bench, DELAY));
    assert_eq!(text.matches("attempt, 60)").count(), 1, "{text}");
}

#[test]
fn an_excluded_file_loses_its_excerpts() {
    let mut bench = bench(PolicyName::Ledger);
    bench.turn(DELAY, "Up to a minute.");
    bench.session.selection.exclude("src/retry.py".into());
    bench.session.mark_changed();
    let text = all_text(&assemble_prompt(&bench, "What about the other files?"));
    assert!(!text.contains("attempt, 60)") && !text.contains("src/retry.py"), "{text}");
}

#[test]
fn excerpts_are_omitted_before_selected_files() {
    let mut bench = bench(PolicyName::Ledger);
    bench.select("src/parser.py");
    let complete = assemble_prompt(&bench, DELAY);
    assert!(!used(&complete).is_empty());
    let mut least = complete.reply.tokens.total * 2;
    let mut cut = None;
    while least > 0 {
        bench.session.max_input_tokens = Some(least);
        least -= least / 40 + 1;
        let Ok(prepared) = bench.assemble(&PromptRequest::prompt(DELAY)) else { break };
        if used(&prepared).is_empty() {
            cut = Some(prepared);
            break;
        }
        assert_eq!(prepared.reply.shed, [], "excerpts go first");
    }
    let cut = cut.unwrap();
    assert!(
        cut.reply.warnings.iter().any(|warning| warning.code == WarningCode::Shed && warning.path.is_none())
    );
}

#[test]
fn excerpts_survive_a_restart() {
    let mut bench = bench(PolicyName::Ledger);
    bench.turn(DELAY, "Up to a minute.");
    bench.session.excerpts.pin(key(COOKIE_KEY));
    let saved = serde_json::to_string(&**bench.session.saved_session()).unwrap();
    let restored =
        Session::restore("again", [], bench.session.history.next_id(), serde_json::from_str(&saved).unwrap());
    assert_eq!(restored.excerpts, bench.session.excerpts);
    let older =
        Session::restore("old", [], bench.session.history.next_id(), serde_json::from_str("{}").unwrap());
    assert!(older.excerpts.is_empty());
}
