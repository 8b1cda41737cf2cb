//! Prompts after a pause in which all cache entries expired, and prompts without such a pause.

use super::*;

const NAMES: [&str; 4] = ["a.py", "b.py", "c.py", "d.py"];
/// Longer than any lifetime of the session's cache entries, in milliseconds.
const LONG_PAUSE_MS: u64 = 3_600_001;

fn tokens(layout: &Layout) -> usize {
    layout.blocks().map(|block| block.tokens).sum()
}

/// Returns the tokens up to the last breakpoint.
fn marked(layout: &Layout) -> usize {
    let blocks: Vec<&LayoutBlock> = layout.blocks().collect();
    let end = blocks.iter().rposition(|block| block.mark.is_some()).map_or(0, |at| at + 1);
    blocks.iter().take(end).map(|block| block.tokens).sum()
}

fn question(number: usize) -> Vec<CountedBlock> {
    vec![counted(ContentBlock::text(format!("question {number}")))]
}

fn change(session: &mut Session, (action, file, line): (u8, usize, usize), number: usize) {
    match action {
        0 | 1 => session.edit(NAMES[file], line, &format!("change {number}")),
        2 => session.select(NAMES[file]),
        3 => session.deselect(NAMES[file]),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_prompt_after_a_long_pause_is_no_larger_than_a_rebuilt_one(
        changes in prop::collection::vec((0..5_u8, 0..4_usize, 0..5_usize), 1..20),
        is_extended in any::<bool>(),
    ) {
        let mut session = Session::new(REPOSITORY);
        session.list_budget = 100;
        if is_extended {
            session.rules.prices.extended = Some(strata_tokens::models::CacheLifetime { seconds: 3_600, write: 2.0 });
            session.rules.extended_is_needed = 0.9;
        }
        session.select("b.py");
        for (number, each) in changes.into_iter().enumerate() {
            change(&mut session, each, number);
            session.exchange(question(number), vec![counted(ContentBlock::text("done"))]);
        }
        session.rules.now_ms += LONG_PAUSE_MS;
        let output = session.lay_out(question(100));
        prop_assert_eq!(output.expected_cached, Some(0));
        // What the policy has learned about the user affects the order, and thereby the number of groups in the map.
        session.state.reset_tiers();
        let rebuilt = session.lay_out(question(100));
        prop_assert!(
            tokens(&output.layout) <= tokens(&rebuilt.layout),
            "{}\n{}", prompt_summary(&output.layout), prompt_summary(&rebuilt.layout)
        );
        prop_assert!(output.layout.blocks().all(|block| block.part != Part::Updates), "{}", prompt_summary(&output.layout));
    }

    #[test]
    fn before_an_entry_expires_nothing_is_rewritten(
        changes in prop::collection::vec((0..3_u8, 0..4_usize, 0..5_usize), 1..20),
    ) {
        let mut session = Session::new(REPOSITORY);
        session.list_budget = 100;
        session.select("b.py");
        let mut last = session.exchange(question(100), vec![counted(ContentBlock::text("done"))]);
        for (number, each) in changes.into_iter().enumerate() {
            change(&mut session, each, number);
            let output = session.lay_out(question(number));
            prop_assert_eq!(output.expected_cached, Some(marked(&last)), "{}", prompt_summary(&output.layout));
            last = session.exchange(question(number), vec![counted(ContentBlock::text("done"))]);
        }
    }
}
