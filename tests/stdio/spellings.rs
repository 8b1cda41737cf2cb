//! Addresses as editors write them: with characters that a URI must encode, with others encoded that need not be, and
//! with the scheme in capitals. All of them name their file, in every message.

use e2e::{Editor, Repo, Setup, hello};
use serde_json::{Value, json};

/// A file whose name must be encoded in a URI, and that every system allows.
const ROUTE: &str = "app/[id] é/{x}^.ts";

fn routes() -> Repo {
    Repo::new(&format!("//- {ROUTE}\nexport const onDisk = 1\n//- other.ts\nexport const other = 1\n"))
}

/// The URI of a file as an editor writes it that encodes nothing.
fn raw(repo: &Repo, path: &str) -> String {
    format!("{}/{path}", raw_root(repo))
}

fn raw_root(repo: &Repo) -> String {
    let uri = repo.uri("");
    let root = uri.trim_end_matches('/').replace("%5B", "[").replace("%5D", "]");
    assert!(!root.contains('%'), "{root}");
    root
}

/// Other ways to write the URI of the file.
fn spellings(repo: &Repo) -> Vec<String> {
    let raw = raw(repo, ROUTE);
    let encoded = repo.uri(ROUTE);
    vec![
        raw.replace("file://", "FILE://"),
        raw.replace("file:///", "file://localhost/"),
        raw.replace("file:///", "file:/"),
        raw.replace('[', "%5b"),
        encoded.replace("%C3%A9", "é"),
        encoded.replace(".ts", "%2Ets"),
        raw,
        encoded,
    ]
}

fn about(uri: &str) -> Value {
    json!({ "textDocument": { "uri": uri } })
}

fn shown(editor: &mut Editor) -> String {
    let prompt = editor.assemble();
    assert_eq!(prompt.warnings(), []);
    prompt.full_text(ROUTE).unwrap()
}

#[test]
fn a_document_is_the_file_in_every_spelling() {
    let repo = routes();
    let mut editor = Editor::start(&repo);
    editor.select(&[ROUTE]);
    let on_disk = repo.read(ROUTE);
    for (number, uri) in spellings(&repo).into_iter().enumerate() {
        let text = format!("export const buffer{number} = 1\n");
        editor.open_text(&uri, "typescript", &text);
        assert_eq!(shown(&mut editor), text, "{uri}");
        editor.replace(&uri, "buffer", "typed");
        assert_eq!(shown(&mut editor), text.replace("buffer", "typed"), "{uri}");
        editor.server.notify("textDocument/didSave", about(&uri));
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 14 } });
        assert!(editor.server.request("textDocument/hover", params).is_ok(), "{uri}");
        let here = editor.run("here.select", json!({ "uri": uri }));
        assert!(here["message"].as_str().unwrap().contains(ROUTE), "{uri}");
        editor.server.wait_for("window/showMessage", |_| true);
        editor.close(&uri);
        assert_eq!(shown(&mut editor), on_disk, "{uri}");
    }
}

#[test]
fn a_document_keeps_its_file_when_its_spelling_changes() {
    let repo = routes();
    let mut editor = Editor::start(&repo);
    editor.select(&[ROUTE]);
    let spellings = spellings(&repo);
    editor.open_text(&spellings[0], "typescript", "");
    let mut text = String::new();
    for (version, uri) in (2..).zip(&spellings) {
        text.push('x');
        let start = json!({ "line": 0, "character": 0 });
        let params = json!({
            "textDocument": { "uri": uri, "version": version },
            "contentChanges": [{ "range": { "start": start, "end": start }, "text": "x" }],
        });
        editor.server.notify("textDocument/didChange", params);
        assert_eq!(shown(&mut editor).trim_end(), text, "{uri}");
    }
    editor.server.notify("textDocument/didClose", about(&spellings[1]));
    assert_eq!(shown(&mut editor), repo.read(ROUTE));
}

#[test]
fn a_root_is_a_folder_in_every_spelling() {
    let repo = Repo::new("//- [app] é/a.ts\nexport const inside = 1\n");
    let app = repo.folder("[app] é");
    for uri in [raw(&repo, "[app] é"), raw(&repo, "[app] é").replace("file:", "FILE:"), app.uri("")] {
        for (name, folders) in [
            ("workspaceFolders", json!([{ "uri": uri, "name": "app" }])),
            ("workspaceFolders", json!([{ "uri": "vscode-vfs://github/a", "name": "a" }, { "uri": uri }])),
            ("rootUri", uri.clone().into()),
            ("rootPath", app.root().to_str().unwrap().into()),
        ] {
            let mut editor = started_with(&app, name, folders.clone());
            editor.select(&["a.ts"]);
            assert_eq!(editor.assemble().full_text("a.ts"), Some(app.read("a.ts")), "{name}: {folders}");
            if folders.as_array().is_some_and(|folders| folders.len() == 2) {
                let (code, message) = editor.warning();
                assert_eq!(code, "folders");
                assert!(message.contains("`workspaceFolders[0].uri`"), "{message}");
            }
        }
    }
}

/// An editor that names its folder in one of the ways of `initialize`.
fn started_with(repo: &Repo, name: &str, folders: Value) -> Editor {
    Setup::new(repo).parameter("workspaceFolders", Value::Null).parameter(name, folders).start()
}

#[test]
fn folders_come_and_go_in_every_spelling() {
    let repo = Repo::new("//- one/a.ts\nexport const one = 1\n//- [two]/b.ts\nexport const two = 1\n");
    let mut editor = Editor::start(&repo.folder("one"));
    let change = |added: Value, removed: Value| json!({ "event": { "added": added, "removed": removed } });
    let two = json!([{ "uri": 7 }, { "uri": raw(&repo, "[two]") }]);
    editor.server.notify("workspace/didChangeWorkspaceFolders", change(two, Value::Null));
    assert_eq!(editor.warning().0, "misread");
    editor.server.wait_for("strata/status", |status| status["files"] == 2);
    editor.select(&["[two]/b.ts"]);
    let two = json!([{ "uri": repo.folder("[two]").uri("").trim_end_matches('/').to_owned() }]);
    editor.server.notify("workspace/didChangeWorkspaceFolders", change(json!([]), two));
    editor.server.wait_for("strata/status", |status| status["files"] == 1);
}

#[test]
fn one_invalid_address_loses_only_itself() {
    let repo = routes();
    let mut editor = Editor::start(&repo);
    repo.write(ROUTE, "export const changedOnDisk = 1\n");
    repo.write("other.ts", "export const alsoChanged = 1\n");
    let changes = json!([
        { "uri": "", "type": 2 },
        { "uri": 7, "type": 2 },
        { "uri": raw(&repo, ROUTE), "type": 2 },
        { "uri": repo.uri("other.ts"), "type": "changed" },
    ]);
    editor.server.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    let map =
        |editor: &mut Editor| editor.run("symbols.map", json!({ "budget": 100_000 }))["text"].to_string();
    editor.wait_until("the changes", |editor| {
        let map = map(editor);
        map.contains("changedOnDisk") && map.contains("alsoChanged")
    });

    // What the lost one said is found out by looking at all files.
    repo.write("other.ts", "export const unnamed = 1\n");
    editor.server.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": "nonsense" }] }));
    editor.wait_until("the unnamed change", |editor| map(editor).contains("unnamed"));
}

#[test]
fn a_selection_follows_a_file_that_is_renamed_in_every_spelling() {
    let repo = routes();
    let mut editor = Editor::start(&repo);
    editor.select(&[ROUTE]);
    repo.rename(ROUTE, "app/[slug].ts");
    let files =
        json!([{ "oldUri": raw(&repo, ROUTE), "newUri": raw(&repo, "app/[slug].ts") }, { "oldUri": 7 }]);
    editor.server.notify("workspace/didRenameFiles", json!({ "files": files }));
    let (code, message) = editor.warning();
    assert!(code == "misread" && message.contains("`params.files[1]` has no `oldUri`"), "{code}: {message}");
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("app/[slug].ts"), Some(repo.read("app/[slug].ts")));
    assert_eq!(prompt.warnings(), []);
}

#[test]
fn answers_spell_a_document_as_the_editor_does() {
    let repo = Repo::new("//- [id].py\ndef total(): pass\n\ntotal()\n");
    let mut editor = Setup::new(&repo).settings(json!({ "lsp": { "features": ["definition"] } })).start();
    for uri in [raw(&repo, "[id].py"), repo.uri("[id].py").replace("%5B", "%5b"), repo.uri("[id].py")] {
        editor.open_text(&uri, "python", &repo.read("[id].py"));
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 2, "character": 1 } });
        let found = editor.server.request("textDocument/definition", params).unwrap();
        assert_eq!(found[0]["uri"], uri);
        editor.close(&uri);
    }
}

#[test]
fn errors_of_requests_name_the_field() {
    let mut editor = Editor::start(&routes());
    let position = json!({ "line": 0, "character": 0 });
    for (method, params, expected) in [
        ("textDocument/hover", json!({ "position": position }), "`params` has no `textDocument`"),
        (
            "textDocument/hover",
            json!({ "textDocument": { "uri": "nonsense" }, "position": position }),
            "`params.textDocument.uri` is not a URI",
        ),
        (
            "workspace/executeCommand",
            json!({ "command": ["strata.server.status"] }),
            "`params.command` is not a string",
        ),
    ] {
        let refused = editor.server.request(method, params).unwrap_err();
        assert_eq!((refused.code, refused.message.as_str()), (-32602, expected));
    }
    let mut server = e2e::Server::start();
    let refused = server.request("initialize", json!([hello()])).unwrap_err();
    assert_eq!((refused.code, refused.message.as_str()), (-32602, "`params` is not an object"));
    assert!(server.request("initialize", hello()).is_ok(), "it can be tried again");
}
