//! Texts with more ways to read them than there is memory for: on the disk, and typed.

use e2e::process::Process;
use e2e::{Editor, Repo};
use serde_json::json;

/// KiB that the server may ever hold. Without a limit a parser takes more than ten gigabytes.
const BOUND: u64 = 256 << 10;

#[test]
fn a_text_that_can_be_read_in_many_ways_costs_little_memory() {
    let repo = Repo::new("//- good.c\nint good(void) { return 1; }\n");
    for file in ["bad.c", "worse.c"] {
        repo.write(file, "let =>".repeat(8_000));
    }
    let mut editor = Editor::start(&repo);
    let process = Process::new(editor.server.process_id());
    let map = editor.run("symbols.map", json!({})).to_string();
    assert!(map.contains("int good(void)"), "{map}");
    editor.open("bad.c");
    let document = json!({ "textDocument": { "uri": editor.document("bad.c").uri } });
    for _ in 0..10 {
        editor.change("bad.c", |document| vec![document.edit(0..0, "let")]);
        let symbols = editor.server.request("textDocument/documentSymbol", document.clone()).unwrap();
        assert_eq!(symbols.as_array().map(Vec::len), Some(0), "{symbols}");
    }
    editor.change("bad.c", |document| {
        vec![document.edit(0..document.text.len(), "int bad(void) { return 2; }\n")]
    });
    let symbols = editor.server.request("textDocument/documentSymbol", document).unwrap();
    assert!(symbols.to_string().contains("bad"), "{symbols}");
    if let Some(peak) = process.peak() {
        eprintln!("{} MiB at most", peak >> 10);
        assert!(peak <= BOUND, "{peak} KiB");
    }
}
