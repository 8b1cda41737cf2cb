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

fn question(number: usize) -> Vec<WeighedBlock> {
    vec![weighed(ContentBlock::text(format!("question {number}")))]
}

/// Changes a file or the selection.
fn change(session: &mut Session, (deed, file, line): (u8, usize, usize), number: usize) {
    match deed {
        0 | 1 => session.edit(NAMES[file], line, &format!("change {number}")),
        2 => session.select(NAMES[file]),
        3 => session.deselect(NAMES[file]),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn after_all_entries_expired_a_prompt_is_no_larger_than_a_rebuilt_one(
        changes in prop::collection::vec((0..5_u8, 0..4_usize, 0..5_usize), 1..20),
        is_extended in any::<bool>(),
    ) {
        let mut session = Session::new(REPOSITORY);
        session.list = 100;
        if is_extended {
            session.rules.prices.extended = Some(strata_tokens::models::Lifetime { seconds: 3_600, write: 2.0 });
            session.rules.extended_is_needed = 0.9;
        }
        session.select("b.py");
        for (number, each) in changes.into_iter().enumerate() {
            change(&mut session, each, number);
            session.exchange(question(number), vec![weighed(ContentBlock::text("done"))]);
        }
        session.rules.now_ms += LONG_PAUSE_MS;
        let laid = session.lay(question(100));
        prop_assert_eq!(laid.relied_on, Some(0));
        // What the policy has learned about the user affects the order, and thereby the number of groups in the map.
        session.state.rebuild();
        let rebuilt = session.lay(question(100));
        prop_assert!(
            tokens(&laid.layout) <= tokens(&rebuilt.layout),
            "{}\n{}", drawn(&laid.layout), drawn(&rebuilt.layout)
        );
        prop_assert!(laid.layout.blocks().all(|block| block.part != Part::Updates), "{}", drawn(&laid.layout));
    }

    #[test]
    fn before_an_entry_expires_nothing_is_rewritten(
        changes in prop::collection::vec((0..3_u8, 0..4_usize, 0..5_usize), 1..20),
    ) {
        let mut session = Session::new(REPOSITORY);
        session.list = 100;
        session.select("b.py");
        let mut last = session.exchange(question(100), vec![weighed(ContentBlock::text("done"))]);
        for (number, each) in changes.into_iter().enumerate() {
            change(&mut session, each, number);
            let laid = session.lay(question(number));
            prop_assert_eq!(laid.relied_on, Some(marked(&last)), "{}", drawn(&laid.layout));
            last = session.exchange(question(number), vec![weighed(ContentBlock::text("done"))]);
        }
    }
}
