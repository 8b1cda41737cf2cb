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
    // The map without the file that is edited: its name, which comes first, and the empty line after it are missing while its text is
    // parsed.
    let others = |editor: &mut Editor| {
        let map = editor.run("symbols.map", json!({}))["text"].as_str().unwrap().to_owned();
        map.lines()
            .filter(|line| *line != "bad.c")
            .skip_while(|line| line.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let first = others(&mut editor);
    assert!(first.iter().any(|line| line.contains("int good(void)")), "{first:?}");
    editor.open("bad.c");
    for _ in 0..10 {
        editor.change("bad.c", |document| vec![document.edit(0..0, "let")]);
        assert_eq!(others(&mut editor), first, "the others are as they were");
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
