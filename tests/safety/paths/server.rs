//! The doors of the real binary: every command and every method that takes a path or a URI.

use std::fs;
use std::path::Path;

use e2e::{Editor, Setup, is_long, uri_of};
use serde_json::{Value, json};

use super::cases::{Case, cases};
use super::workspace::{Field, TEXT, VARIABLE};

/// All cases with `STRATA_LONG=1`, otherwise every seventh.
fn chosen(field: &Field) -> Vec<Case> {
    let step = if is_long() { 1 } else { 7 };
    // A text of 80,000 bytes through every door says no more than one of them.
    cases(field).into_iter().filter(|case| case.text.len() < 10_000).step_by(step).collect()
}

/// The commands that take a path, and what they are given.
fn commands(text: &str) -> Vec<(&'static str, Value)> {
    let lines = format!("{text}#L1-2");
    let (below, all) = (format!("{text}/**"), format!("{text}*"));
    let mut commands = vec![
        ("files.select", json!({ "paths": [text], "confirmSecrets": [text] })),
        ("files.rename", json!({ "files": [{ "from": text, "to": "new-name.rs" }] })),
        ("files.rename", json!({ "files": [{ "from": "a.rs", "to": text }] })),
        ("files.add", json!({ "path": text, "content": "handed over" })),
        ("files.read", json!({ "path": text })),
        ("files.has", json!({ "path": text })),
        ("files.markRead", json!({ "paths": [text] })),
        ("files.find", json!({ "query": text })),
        ("symbols.file", json!({ "path": text })),
        ("symbols.dependents", json!({ "path": text })),
        ("symbols.references", json!({ "name": "inside", "path": text })),
        ("symbols.map", json!({ "focus": [text] })),
        ("symbols.relevant", json!({ "query": text })),
        ("toolOutput.read", json!({ "id": text })),
        ("session.load", json!({ "id": text })),
        ("session.export", json!({ "id": text })),
        ("session.delete", json!({ "id": text })),
    ];
    for command in ["here.select", "here.deselect", "here.toggle", "here.exclude", "here.include"] {
        commands.push((command, json!({ "uri": text })));
    }
    for path in [text, &lines, &below, &all] {
        for command in ["files.select", "files.deselect", "files.exclude", "files.include", "files.set"] {
            commands.push((command, json!({ "paths": [path] })));
        }
    }
    commands
}

/// Asks everything of plain LSP about a document.
fn questions(uri: &str) -> Vec<(&'static str, Value)> {
    let document = json!({ "uri": uri });
    let place = json!({ "line": 0, "character": 8 });
    let at = json!({ "textDocument": document, "position": place });
    let range = json!({ "start": place, "end": place });
    vec![
        ("textDocument/documentSymbol", json!({ "textDocument": document })),
        ("textDocument/hover", at.clone()),
        ("textDocument/definition", at.clone()),
        (
            "textDocument/references",
            json!({ "textDocument": document, "position": place, "context": { "includeDeclaration": true } }),
        ),
        ("textDocument/codeLens", json!({ "textDocument": document })),
        (
            "textDocument/codeAction",
            json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } }),
        ),
    ]
}

fn check_prompts(editor: &mut Editor, place: &str) -> usize {
    let mut prompts = 0;
    for policy in ["ledger", "ripple", "flat"] {
        for format in ["anthropic", "openai", "markdown"] {
            let reply = editor.assemble_with(json!({ "policy": policy, "format": format, "dryRun": true }));
            Field::check(&format!("a prompt ({policy}, {format}) {place}"), &reply.0.to_string());
            prompts += 1;
        }
    }
    let preview = editor.run("prompt.preview", json!({}));
    Field::check(&format!("a preview {place}"), &preview.to_string());
    prompts + 1
}

/// Everything that a server has written, as text.
fn check_files(folder: &Path) -> usize {
    let mut looked_at = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            looked_at += check_files(&path);
        } else {
            Field::check(&path.display().to_string(), &String::from_utf8_lossy(&fs::read(&path).unwrap()));
            looked_at += 1;
        }
    }
    looked_at
}

/// An editor over the field that can do everything.
fn setup(field: &Field, state: &Path) -> Setup {
    let settings = json!({
        "lsp": { "features": ["document_symbol", "workspace_symbol", "hover", "definition", "references"] },
        "context_frame": { "inject": true },
    });
    Setup::new(&field.repo())
        .state(state)
        .variable("STRATA_LOG", "trace")
        .variable("CANARY", VARIABLE)
        .settings(settings)
}

/// Ends the server and looks through all that it leaves behind.
fn check_remains(mut editor: Editor, state: &Path) {
    for method in ["strata/warning", "strata/status", "window/logMessage", "window/showMessage"] {
        for said in editor.server.heard(method) {
            Field::check(method, &said.to_string());
        }
    }
    editor.quit();
    Field::check("the log", &editor.server.errors());
    assert!(check_files(state) > 1, "sessions and outlines");
}

#[test]
fn no_reply_prompt_log_or_file_shows_anything_from_outside() {
    let field = Field::new();
    let state = tempfile::tempdir().unwrap();
    let mut editor = setup(&field, state.path()).start();
    let (mut asked, mut prompts, cases) = (0, 0, chosen(&field));
    for (number, Case { text, verdict }) in cases.iter().enumerate() {
        for (command, argument) in commands(text) {
            let reply = match editor.try_run(command, argument) {
                Ok(reply) => reply.to_string(),
                Err(refused) => refused.to_string(),
            };
            Field::check(&format!("{command} of {text:?}"), &reply);
            asked += 1;
        }
        for (method, params) in questions(text) {
            let reply = editor.server.request(method, params);
            Field::check(&format!("{method} of {text:?}"), &format!("{reply:?}"));
            asked += 1;
        }
        // What an editor shows of a file outside is the user's business, and not the model's.
        if ["Outside", "LinkOutside", "SystemFile", "ParentStep"].contains(verdict)
            && text.starts_with("file:")
        {
            open_and_type(&mut editor, text);
        }
        if number % 20 == 0 {
            prompts += check_prompts(&mut editor, &format!("after {text:?}"));
            editor.run("files.clear", json!({}));
        }
    }
    for (command, argument) in [
        ("files.list", json!({})),
        ("symbols.map", json!({})),
        ("symbols.find", json!({ "query": TEXT })),
        ("symbols.relevant", json!({ "query": "canary secret" })),
        ("session.export", json!({})),
        ("server.status", json!({})),
    ] {
        let reply = editor.try_run(command, argument).unwrap_or_else(|error| json!(error.to_string()));
        // What was asked for is repeated.
        Field::check(command, &reply.to_string().replace(&format!("\"query\":\"{TEXT}\""), ""));
    }
    prompts += check_prompts(&mut editor, "at the end");
    check_remains(editor, state.path());
    eprintln!("{} paths, {asked} requests, {prompts} prompts: nothing from outside", cases.len());
}

/// Tells of a document as editors do, which ends in the text outside.
fn open_and_type(editor: &mut Editor, uri: &str) {
    let text = format!("pub fn {TEXT}() {{}}\n");
    let document = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
    let named = json!({ "uri": uri, "version": 2 });
    editor.server.notify("textDocument/didOpen", json!({ "textDocument": document }));
    editor.server.notify(
        "textDocument/didChange",
        json!({ "textDocument": named, "contentChanges": [{ "text": format!("{text}{text}") }] }),
    );
    editor.server.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri }, "text": text }));
    for change in 1..=3 {
        let changes = json!({ "changes": [{ "uri": uri, "type": change }] });
        editor.server.notify("workspace/didChangeWatchedFiles", changes);
    }
    let status = editor.run("server.status", json!({}));
    Field::check(&format!("the status with {uri} open"), &status.to_string());
    for command in ["here.select", "here.toggle", "here.status", "symbols.map"] {
        let reply = editor.try_run(command, json!({}));
        Field::check(&format!("{command} with {uri} open"), &format!("{reply:?}"));
    }
    let body = editor.assemble_with(json!({ "dryRun": true, "policy": "flat" })).0.to_string();
    Field::check(&format!("a prompt with {uri} open"), &body);
    let found = editor.server.request("workspace/symbol", json!({ "query": "CANARY" }));
    Field::check(&format!("symbols with {uri} open"), &format!("{found:?}"));
}

/// Transcripts and settings name files, too.
#[test]
fn files_named_in_transcripts_and_settings_do_not_come_in() {
    let field = Field::new();
    let state = tempfile::tempdir().unwrap();
    let texts: Vec<String> =
        cases(&field).into_iter().map(|case| case.text).filter(|text| text.len() < 400).collect();
    let outside = field.top().join("outside");
    let named = json!({
        "prompt": { "rules": texts, "skills": texts, "memory": texts },
        "tokenizers": { "claude": outside.join("secret.txt") },
    });
    let options = json!({ "trusted": true });
    let mut editor = setup(&field, state.path()).options(options).settings(named).start();
    let mut prompts = check_prompts(&mut editor, "with rules that name everything");

    let calls: Vec<Value> = texts
        .iter()
        .enumerate()
        .flat_map(|(at, text)| {
            let id = format!("call_{at}");
            let call =
                json!([{ "type": "tool_use", "id": id, "name": "read_file", "input": { "path": text } }]);
            let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": text }]);
            [json!({ "role": "assistant", "content": call }), json!({ "role": "user", "content": result })]
        })
        .collect();
    let transcript = [vec![json!({ "role": "user", "content": "read" })], calls].concat();
    let text = Value::from(transcript).to_string();
    for command in ["session.import", "history.import"] {
        let reply = editor.run(command, json!({ "text": text }));
        Field::check(command, &reply.to_string());
    }
    prompts += check_prompts(&mut editor, "of a conversation that names everything");
    Field::check("session.steps", &editor.run("session.steps", json!({})).to_string());
    check_remains(editor, state.path());
    eprintln!("{} paths in transcripts and settings, {prompts} prompts: nothing from outside", texts.len());
}

/// Files and folders are swapped for links to the outside, and back, while prompts are made.
#[test]
fn renames_under_a_running_server_lead_nowhere_outside() {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    let renames = if is_long() { 100_000 } else { 4_000 };
    let field = Field::new();
    let state = tempfile::tempdir().unwrap();
    let root = field.root();
    for (folder, target) in [("swap", "../outside"), ("trap", "../outside/sub")] {
        let real = root.join(format!("{folder}-real"));
        fs::create_dir_all(real.join("src")).unwrap();
        for file in ["secret.txt", "a.rs", "src/lib.rs"] {
            fs::write(real.join(file), "pub fn inside() {}\n").unwrap();
        }
        symlink(target, root.join(format!("{folder}-link"))).unwrap();
        fs::rename(&real, root.join(folder)).unwrap();
    }
    let mut editor = setup(&field, state.path()).options(json!({ "trusted": true })).start();
    let (done, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (mut shown, mut prompts) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let step = |from: &str, to: &str| fs::rename(root.join(from), root.join(to)).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                for folder in ["swap", "trap"] {
                    let (real, link) = (format!("{folder}-real"), format!("{folder}-link"));
                    step(folder, &real);
                    step(&link, folder);
                    step(folder, &link);
                    step(&real, folder);
                }
                done.fetch_add(8, Ordering::Relaxed);
            }
        });
        while done.load(Ordering::Relaxed) < renames || prompts < 10 {
            for command in ["server.reindex", "files.select", "files.read", "symbols.map", "symbols.file"] {
                let argument = match command {
                    "server.reindex" | "symbols.map" => json!({}),
                    "files.select" => json!({ "paths": ["swap/**", "trap/secret.txt", "swap/src/lib.rs"] }),
                    _ => json!({ "path": "swap/a.rs" }),
                };
                let reply = editor.try_run(command, argument);
                Field::check(command, &format!("{reply:?}"));
            }
            let changes: Vec<Value> = ["swap/secret.txt", "swap/src/lib.rs", "swap", "trap"]
                .map(|name| json!({ "uri": uri_of(&root.join(name)), "type": 2 }))
                .into();
            editor.server.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
            let prompt = editor.assemble_with(json!({ "dryRun": true }));
            Field::check("a prompt", &prompt.0.to_string());
            shown += prompt.count("swap/src/lib.rs");
            prompts += 1;
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(shown > 0, "the files were seen at times");
    check_remains(editor, state.path());
    eprintln!("{} renames, {prompts} prompts: nothing from outside", done.into_inner());
}
