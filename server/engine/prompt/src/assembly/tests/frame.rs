//! The context frame of a prompt, and the settings that limit it.

use super::fixture::{Bench, all_text};
use crate::assembly::PromptRequest;
use crate::layout::Part;

fn bench() -> Bench {
    let mut bench = Bench::new(
        "
        //- kettle.py
        class Kettle:
            def heat(self): pass
            def kettle_level(self): pass
        //- kettle_test.py
        from kettle import Kettle
        def test_kettle(): Kettle().heat()
        //- mash.py
        from kettle import Kettle
        def mash(): Kettle().heat()
        //- other.py
        def other(): pass
        ",
    );
    bench.has_frame = true;
    bench
}

/// Returns the scores of the items in a prompt's context frame, in order.
fn scores(bench: &Bench) -> Vec<f64> {
    let prepared = bench.assemble(&PromptRequest::prompt("why does the kettle not heat?")).unwrap();
    let text = all_text(&prepared);
    let Some((_, frame)) = text.split_once("<context-frame>\n") else { return Vec::new() };
    let (frame, _) = frame.split_once("\n</context-frame>").unwrap();
    let items: Vec<&str> = frame.lines().skip(2).collect();
    assert!(
        frame.starts_with(&format!(
            "Relevant context for query: `why does the kettle not heat?`\nFound {} relevant items (ranked by relevance score):\n",
            items.len()
        )),
        "{frame}"
    );
    let score = |item: &&str| {
        let (_, score) = item.rsplit_once("(score: ").unwrap();
        score.trim_end_matches(')').parse().unwrap()
    };
    items.iter().map(score).collect()
}

#[test]
fn a_context_frame_is_optional_and_ranked_best_first() {
    let mut bench = bench();
    let all = scores(&bench);
    assert!(all.len() > 1 && all.is_sorted_by(|one, next| one >= next), "{all:?}");
    assert!(all.iter().all(|score| (0.5..=1.0).contains(score)), "{all:?}");
    let prepared = bench.assemble(&PromptRequest::prompt("why does the kettle not heat?")).unwrap();
    let blocks: Vec<_> = prepared.layout.blocks().collect();
    let frame = blocks.iter().position(|block| block.part == Part::ContextFrame).unwrap();
    assert!(blocks.iter().rposition(|block| block.mark.is_some()).is_none_or(|mark| mark < frame));
    bench.settings.context_frame.inject = false;
    assert!(scores(&bench).is_empty());
}

#[test]
fn settings_limit_the_context_frame() {
    let mut bench = bench();
    bench.settings.context_frame.min_score = 0.0;
    let all = scores(&bench);
    assert!(all.len() > 3, "{all:?}");
    bench.settings.context_frame.min_score = 1.0;
    assert!(scores(&bench).iter().all(|score| *score >= 1.0));
    bench.settings.context_frame.min_score = 0.0;
    bench.settings.context_frame.top_k = 2;
    assert_eq!(scores(&bench).len(), 2);
    bench.settings.context_frame.rerank = false;
    assert!(scores(&bench).len() > 2, "only what is reranked is cut to top_k");
    bench.settings.context_frame.max_items = 1;
    assert_eq!(scores(&bench).len(), 1);
    bench.settings.context_frame.rerank = true;
    assert_eq!(scores(&bench).len(), 1);
}

#[test]
fn a_context_frame_omits_code_that_the_prompt_shows() {
    let mut bench = bench();
    bench.settings.context_frame.min_score = 0.0;
    let without = scores(&bench).len();
    bench.select("kettle.py");
    let prepared = bench.assemble(&PromptRequest::prompt("why does the kettle not heat?")).unwrap();
    let text = all_text(&prepared);
    assert!(!text.contains(" in `kettle.py`") && !text.contains("[File] `kettle.py`"), "{text}");
    assert!((1..without).contains(&scores(&bench).len()));
    bench.settings.context.auto_budget = 4_000;
    assert!(scores(&bench).is_empty(), "the excerpts show every file");
}
