//! Texts with more ways to read them than there is memory for: on disk, and typed.

use e2e::process::Process;
use e2e::{Editor, Repo};
use serde_json::json;

/// KiB that the server may ever hold. Without a limit a parser takes more than ten gigabytes.
const BOUND: u64 = 512 << 10;

#[test]
fn a_text_that_can_be_read_in_many_ways_costs_little_memory() {
    let repo = Repo::new("//- good.c\nint good(void) { return 1; }\n");
    for file in ["bad.c", "worse.c"] {
        repo.write(file, "let =>".repeat(8_000));
    }
    let mut editor = Editor::start(&repo);
    let process = Process::new(editor.server.process_id());
    let map = |editor: &mut Editor| editor.run("symbols.map", json!({}))["text"].to_string();
    editor.open("bad.c");
    for _ in 0..10 {
        editor.change("bad.c", |document| vec![document.edit(0..0, "let")]);
        let map = map(&mut editor);
        assert!(map.contains("int good(void)"), "the others are as they were: {map}");
    }
    let good = "int bad(void) { return 2; }\n";
    editor.change("bad.c", |document| vec![document.edit(0..document.text.len(), good)]);
    let outline = editor.run("symbols.file", json!({ "path": "bad.c" }));
    assert!(outline["text"].as_str().unwrap().contains("int bad(void)"), "{outline}");
    if let Some(peak) = process.peak() {
        eprintln!("{} MiB at most", peak >> 10);
        assert!(peak <= BOUND, "{peak} KiB");
    }
}
