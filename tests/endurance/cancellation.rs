//! Requests that are called off, each at a moment of its own.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use e2e::{Editor, Repo, Rng, Times};
use serde_json::json;

use crate::is_long;

const CANCELLED: i64 = -32_800;

#[test]
fn each_request_that_is_cancelled_is_answered_once() {
    let requests = if is_long() { 10_000 } else { 300 };
    let repo = Repo::new("//- a.rs\nfn a() {}\n");
    for number in 0..60 {
        repo.write(&format!("src/file{number}.rs"), format!("pub fn called_{number}() {{}}\n").repeat(200));
    }
    let mut editor = Editor::start(&repo);
    editor.select(&["src/*.rs"]);
    let mut rng = Rng::new(7);
    let (mut open, mut called_off, mut done) = (Vec::new(), BTreeMap::new(), 0);
    let mut times: Vec<Duration> = Vec::new();
    for number in 0..requests {
        let id = match number % 4 {
            0 => editor.ask("symbols.map", json!({ "budget": 100 + number })),
            1 => editor.ask("prompt.preview", json!({ "prompt": format!("Why {number}?") })),
            2 => editor.ask("files.find", json!({ "query": format!("file{number}") })),
            _ => editor.ask("prompt.assemble", json!({ "prompt": format!("Why {number}?") })),
        };
        open.push(id);
        // Some at once, some while they run, some when they have long been answered, some in another order.
        while open.len() > rng.below(8) {
            let id = open.swap_remove(rng.below(open.len()));
            if rng.below(10) > 0 {
                called_off.insert(id, Instant::now());
                editor.server.cancel(id);
            }
            let answer = editor.server.answer(id);
            match (answer, called_off.get(&id)) {
                (Err(refused), Some(when)) => {
                    assert_eq!(refused.code, CANCELLED, "{refused}");
                    times.push(when.elapsed());
                }
                (Ok(_), Some(when)) => {
                    done += 1;
                    times.push(when.elapsed());
                }
                (answer, None) => drop(answer.unwrap()),
            }
        }
    }
    for id in open {
        editor.server.answer(id).unwrap();
    }
    // A second answer to any of them fails the test in `Server`.
    editor.run("server.status", json!({}));
    let cancelled = called_off.len() - done;
    eprintln!(
        "{requests} requests, {} called off: {cancelled} cancelled, {done} done before; answered {} later",
        called_off.len(),
        times.into_iter().collect::<Times>()
    );
    assert!(cancelled > 0 && done > 0, "both happen");
}
