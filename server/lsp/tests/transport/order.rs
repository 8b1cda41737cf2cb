//! Tests the guarantees about order.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::library::Library;
use crate::mock::{call, change, named, noop, notify, sized};
use crate::ours::Ours;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Handlers start in wire order, regardless of pending calls and of how the bytes are divided.
    #[test]
    fn handlers_are_entered_in_wire_order(kinds in prop::collection::vec(0..4usize, 1..300), cut in 1..5000usize) {
        let mut ours = Ours::start();
        let (messages, expected): (Vec<_>, Vec<_>) = kinds
            .iter()
            .enumerate()
            .map(|(number, kind)| match kind {
                0 => (call(number, "test/slow", named(number)), format!("slow {number}")),
                1 => (call(number, "test/ask", named(number)), format!("ask {number}")),
                2 => (notify("test/late", named(number)), format!("late {number}")),
                _ => (change(number), format!("change {number}")),
            })
            .unzip();
        let bytes: Vec<u8> = messages.iter().flat_map(crate::mock::frame).collect();
        bytes.chunks(cut).for_each(|piece| ours.send_raw(piece));
        ours.send(&change(100_000));
        ours.world.wait_for("change 100000");
        let log = ours.world.log();
        prop_assert_eq!(&log[1..log.len() - 1], &expected[..]);
    }
}

/// Shows why handlers post their event first: after its first await, a handler continues at any time, with any
/// transport.
#[test]
fn after_its_first_await_a_handler_runs_in_any_order() {
    let mut ours = Ours::start();
    ours.send_all([notify("test/late", named(1)), notify("test/late", named(2))]);
    ours.world.open("2");
    ours.world.wait_for("acted 2");
    ours.world.open("1");
    ours.world.wait_for("acted 1");
    assert_eq!(ours.world.log(), ["initialize", "late 1", "late 2", "acted 2", "acted 1"]);
}

#[tokio::test(start_paused = true)]
async fn library_after_its_first_await_a_handler_runs_in_any_order() {
    let mut library = Library::start().await;
    library.send_all([notify("test/late", named(1)), notify("test/late", named(2))]).await;
    library.world.open("2");
    library.rest().await;
    library.world.open("1");
    library.rest().await;
    assert_eq!(library.world.log(), ["initialize", "late 1", "late 2", "acted 2", "acted 1"]);
}

/// LSP requires partial results and the end of progress to arrive before the answer.
#[test]
fn messages_that_a_handler_sends_arrive_before_its_answer() {
    let mut ours = Ours::start();
    for round in 1..=200 {
        ours.send(&call(round, "test/tell", sized(1)));
        assert_eq!(ours.next()["method"], "strata/status");
        assert_eq!(ours.next()["method"], "test/event");
        assert_eq!(ours.next()["id"], round);
    }
    ours.send(&noop("last"));
    assert_eq!(ours.next(), json!({ "jsonrpc": "2.0", "id": "last", "result": null }));
    assert_eq!(ours.rest(), Vec::<Value>::new());
}
