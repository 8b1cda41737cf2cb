//! The causes add up to the gap, and each change is attributed to the right cause.

use proptest::prelude::*;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::history::MessageId;
use strata_prompt::layout::ItemKey;
use strata_tokens::cost::{BreakpointLifetime, CacheMarker, RequestSpan, SimulatedProvider};
use strata_tokens::models::{CacheTtl, Models};

use super::*;
use crate::bound::NeededTokens;

const EXPLICIT: CacheKind = CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 20 };

fn prices(kind: CacheKind) -> Prices {
    let write = if kind == EXPLICIT { 1.25 } else { 1.0 };
    Prices {
        read: 0.1,
        write,
        seconds: 300,
        extended: None,
        min_tokens: 1,
        kind,
        long_context: None,
        list: None,
    }
}

/// Creates a block of 100 tokens from a word: `f1` is the text of a file, `m1` an outline, `u1` an update, `h1`
/// a message, `s` the system prompt, and `v` a volatile block. A suffix after a dot is the version, and a final
/// exclamation mark is a breakpoint.
fn block(word: &str) -> SentBlock {
    let text = word.trim_end_matches('!');
    let name = text.split('.').next().unwrap_or_default();
    let path = FileKey::from(&name[1..]);
    let (part, items) = match &name[..1] {
        "f" => (Part::Files, vec![ItemKey::File(path)]),
        "m" => (Part::Map, vec![ItemKey::Symbol(path)]),
        "u" => (Part::Updates, vec![ItemKey::File(path)]),
        "h" => (Part::History, vec![ItemKey::History(MessageId(0))]),
        "s" => (Part::System, vec![ItemKey::System]),
        _ => (Part::SessionState, vec![]),
    };
    SentBlock { part, items, tokens: 100, text: ContentHash::from_text(text), marked: word.ends_with('!') }
}

/// Charges the prompts of a session. Returns them with their total cost. Every file that a prompt shows is
/// selected, and every outline belongs to the map.
fn charged(session: &[(u64, Vec<SentBlock>)], prices: Prices) -> (Vec<ChargedPrompt>, f64) {
    let mut provider = SimulatedProvider::new(prices);
    let charge = |(at_ms, blocks): &(u64, Vec<SentBlock>)| {
        let span = |block: &SentBlock| RequestSpan {
            hash: block.text,
            tokens: block.tokens,
            mark: if block.marked {
                CacheMarker::Breakpoint(BreakpointLifetime::Short)
            } else {
                CacheMarker::None
            },
            continues_run: false,
        };
        let spans: Vec<RequestSpan> = blocks.iter().map(span).collect();
        let paths = |part: Part| {
            let items = blocks.iter().filter(move |block| block.part == part).flat_map(|block| &block.items);
            items
                .filter_map(|item| match item {
                    ItemKey::File(path) | ItemKey::Symbol(path) => Some(path.clone()),
                    _ => None,
                })
                .collect()
        };
        ChargedPrompt {
            blocks: blocks.clone(),
            charge: provider.charge(&spans, *at_ms).unwrap(),
            at_ms: *at_ms,
            selected: paths(Part::Files),
            members: paths(Part::Map),
            rebuilt: false,
        }
    };
    let prompts: Vec<ChargedPrompt> = session.iter().map(charge).collect();
    let cost = prompts.iter().map(|prompt| prompt.charge.cost).sum();
    (prompts, cost)
}

/// Returns the costs of a session by cause, compared with a bound of 0. Omits causes without costs, and causes
/// of reads.
fn causes(turns: &[&str]) -> Vec<(GapCause, f64)> {
    causes_of(turns, |_| ())
}

fn causes_of(turns: &[&str], change: impl Fn(&mut [ChargedPrompt])) -> Vec<(GapCause, f64)> {
    let blocks = |turn: &&str| turn.split(' ').map(block).collect();
    let session: Vec<_> = (0..).step_by(60_000).zip(turns.iter().map(blocks)).collect();
    let (mut prompts, _) = charged(&session, prices(EXPLICIT));
    change(&mut prompts);
    let gap = CostGap::between(&prompts, &CostBound::new(prices(EXPLICIT)), prices(EXPLICIT));
    let costs =
        gap.causes.into_iter().filter(|(cause, cost)| *cost > 1e-9 && *cause >= GapCause::FirstWrites);
    costs.map(|(cause, cost)| (cause, (cost * 100.0).round() / 100.0)).collect()
}

/// The price of a token that is written and then read, that of an uncached token, and the fee for a write, each
/// for 100 tokens and relative to the price of reads.
const WRITTEN: f64 = 115.0;
const PLAIN: f64 = 90.0;
const FEE: f64 = 25.0;

#[test]
fn a_first_write_is_one_and_the_last_prompt_pays_a_fee_for_nothing() {
    assert_eq!(causes(&["s! h1"]), [(GapCause::FirstWrites, 2.0 * PLAIN), (GapCause::UnreadLast, FEE)]);
    assert_eq!(causes(&["s f1!", "s f1!"]), [(GapCause::FirstWrites, 2.0 * WRITTEN)]);
}

#[test]
fn what_follows_a_deselected_file_is_written_again_because_of_it() {
    assert_eq!(
        causes(&["s! f1 f2!", "s! f2", "s!"]),
        [
            (GapCause::FirstWrites, WRITTEN + 2.0 * PLAIN),
            (GapCause::Deselected, PLAIN),
            (GapCause::UnreadEnd, 2.0 * FEE)
        ]
    );
}

#[test]
fn a_file_that_stays_selected_without_being_shown_was_left_out() {
    let select = |prompts: &mut [ChargedPrompt]| {
        prompts[1].selected.insert("1".into());
    };
    let turns = ["s! f1 f2!", "s! f2"];
    let costs = causes_of(&turns, select);
    assert!(
        costs.contains(&(GapCause::Shed, PLAIN))
            && costs.iter().all(|(cause, _)| *cause != GapCause::Deselected)
    );
}

#[test]
fn what_stands_before_the_break_lacked_a_breakpoint() {
    let costs = causes(&["s! f1 f2 f3!", "s! f1 f3", "s!"]);
    assert!(costs.contains(&(GapCause::NoBreakpoint, PLAIN)), "{costs:?}");
    assert!(costs.contains(&(GapCause::Deselected, PLAIN)), "{costs:?}");
}

#[test]
fn a_cut_that_nothing_asks_for_drops_outdated_text_or_rebuilds() {
    let turns = ["s! f1!", "s! f1.2", "s!"];
    assert!(causes(&turns).contains(&(GapCause::OutdatedText, PLAIN)));
    let rebuild = |prompts: &mut [ChargedPrompt]| prompts[1].rebuilt = true;
    assert!(causes_of(&turns, rebuild).contains(&(GapCause::Rebuilt, PLAIN)));
}

#[test]
fn a_new_version_of_what_stays_is_an_update() {
    let costs = causes(&["s f1!", "s f1! u1 v", "s f1 u1! f1.2"]);
    // The update was plain in the first prompt, and written in the second.
    assert!(costs.contains(&(GapCause::Updates, PLAIN + PLAIN)), "{costs:?}");
    assert!(costs.contains(&(GapCause::Uncached, PLAIN)), "{costs:?}");
    assert!(costs.contains(&(GapCause::Volatile, PLAIN)), "{costs:?}");
}

#[test]
fn a_file_that_comes_back_was_not_written_first() {
    assert!(causes(&["s! f1", "s!", "s! f1"]).contains(&(GapCause::Returned, PLAIN)));
}

#[test]
fn after_a_pause_everything_is_written_again_because_of_it() {
    let late = |prompts: &mut [ChargedPrompt]| {
        prompts[1].at_ms = 10_000_000;
        prompts[1].charge = prompts[0].charge;
    };
    assert!(causes_of(&["s f1!", "s f1!"], late).contains(&(GapCause::Expired, 2.0 * PLAIN)));
}

#[test]
fn a_changed_conversation_is_blamed_for_what_follows() {
    assert!(causes(&["s! h1 h2 f1!", "s! h3 f1", "s!"]).contains(&(GapCause::Conversation, PLAIN)));
}

#[test]
fn a_write_that_the_next_prompt_does_not_read_pays_its_fee_for_nothing() {
    let costs = causes(&["s! f1! f2!", "s! h1", "s!"]);
    assert!(costs.contains(&(GapCause::UnreadInside, FEE)), "{costs:?}");
    assert!(costs.contains(&(GapCause::UnreadEnd, FEE)), "{costs:?}");
}

fn session() -> impl Strategy<Value = Vec<(u64, Vec<SentBlock>)>> {
    let word = (0..6_usize, 0..5_u8, 0..3_u8, any::<bool>(), 0..100_000_usize);
    let block = word.prop_map(|(kind, name, version, marked, tokens)| {
        let kind = ["f", "m", "u", "h", "s", "v"][kind];
        SentBlock { tokens, marked, ..block(&format!("{kind}{name}.{version}")) }
    });
    let turn = (prop::bool::weighted(0.1), prop::collection::vec(block, 0..12));
    prop::collection::vec(turn, 0..15).prop_map(|turns| {
        let mut now = 0;
        let turn = |(paused, mut blocks): (bool, Vec<SentBlock>)| {
            now += if paused { 1_000_000 } else { 60_000 };
            for block in blocks.iter_mut().filter(|block| block.marked).skip(4) {
                block.marked = false;
            }
            (now, blocks)
        };
        turns.into_iter().map(turn).collect()
    })
}

proptest! {
    /// The causes add up for any prompts in any order, and for any bound.
    #[test]
    fn the_causes_add_up_to_the_gap(
        session in session(),
        needs in prop::collection::vec(prop::collection::vec((0..4_usize, 0..3_000_usize), 0..9), 0..15),
        kind in prop::sample::select(vec![EXPLICIT, CacheKind::Automatic { granularity: 128 }, CacheKind::None]),
        long in any::<bool>(),
        min_tokens in prop::sample::select(vec![0, 1_024]),
    ) {
        // Twice the price above 272,000 tokens.
        let dear = Prices::for_model(&Models::builtin().resolve("gpt-5.4").model, CacheTtl::FiveMinutes).long_context;
        let read = if kind == CacheKind::None { 1.0 } else { 0.1 };
        let prices = Prices { read, min_tokens, long_context: dear.filter(|_| long), ..prices(kind) };
        let (prompts, cost) = charged(&session, prices);
        let mut bound = CostBound::new(prices);
        for turn in needs {
            bound.add_turn(turn.into_iter().map(|(name, tokens)| {
                let key = ["file:a", "symbol:a", "system", "said:1"][name];
                (key.to_owned(), if name < 2 { NeededTokens::AnyVersion(tokens) } else { NeededTokens::Exact(tokens) })
            }));
        }
        let gap = CostGap::between(&prompts, &bound, prices);
        let expected = cost - bound.total();
        prop_assert!((gap.total() - expected).abs() < 1e-6 * cost.max(1.0), "{} instead of {expected}", gap.total());
    }
}
