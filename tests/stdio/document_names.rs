//! Which documents are kept, and what they are called.

use e2e::{Editor, Repo, Setup, uri_of};
use serde_json::{Value, json};

use crate::small;

fn open(editor: &mut Editor, uri: &str, text: &str) {
    editor.open_text(uri, "rust", text);
}

#[test]
fn with_several_folders_a_name_begins_with_its_folder() {
    let (web, api) = (small(), small());
    web.write("src/greet.rs", "pub fn of_the_web() {}\n");
    let folders = [("web", &web), ("api", &api)];
    let mut editor = Setup::with_folders(&folders).start();
    open(&mut editor, &web.uri("src/lib.rs"), "pub fn typed_in_the_web() {}\n");
    editor.select(&["web/src/lib.rs", "api/src/lib.rs"]);
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("web/src/lib.rs").as_deref(), Some("pub fn typed_in_the_web() {}\n"));
    assert_eq!(prompt.full_text("api/src/lib.rs"), Some(api.read("src/lib.rs")));
    assert!(prompt.map_block("web/src/greet.rs").unwrap().contains("of_the_web"));
    assert!(prompt.map_block("api/src/greet.rs").unwrap().contains("pub fn greet"));
    assert!(editor.refused("files.select", json!({ "paths": ["src/lib.rs"] })).message.contains("web"));
}

#[test]
fn folders_come_and_go() {
    let (first, second) = (small(), Repo::new("//- only_here.rs\npub fn only_here() {}\n"));
    let mut editor = Setup::with_folders(&[("first", &first)]).start();
    assert!(editor.assemble().has_map_block("src/lib.rs"));
    let change = |added: Value, removed: Value| json!({ "event": { "added": added, "removed": removed } });
    let folder = |name: &str, repo: &Repo| json!([{ "name": name, "uri": uri_of(repo.root()) }]);

    let params = change(folder("second", &second), json!([]));
    editor.server.notify("workspace/didChangeWorkspaceFolders", params);
    editor.server.wait_for("strata/status", |status| status["files"] == 5);
    let prompt = editor.assemble();
    assert!(prompt.has_map_block("first/src/lib.rs") && prompt.has_map_block("second/only_here.rs"));

    let params = change(json!([]), folder("first", &first));
    editor.server.notify("workspace/didChangeWorkspaceFolders", params);
    editor.server.wait_for("strata/status", |status| status["files"] == 1);
    assert!(editor.assemble().has_map_block("only_here.rs"));
}

#[test]
fn a_buffer_without_a_file_can_be_selected() {
    let mut editor = Editor::start(&small());
    open(&mut editor, "untitled:Untitled-1", "fn draft() {}\n");
    editor.type_behind("untitled:Untitled-1", "fn draft() {", " \"é🦀\" ");
    editor.select(&["untitled:Untitled-1"]);
    let text = editor.assemble().full_text("untitled:Untitled-1");
    assert_eq!(text.as_deref(), Some("fn draft() { \"é🦀\" }\n"));
    editor.close("untitled:Untitled-1");
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("untitled:Untitled-1"), None);
    assert_eq!(prompt.warnings(), [("unreadable", "untitled:Untitled-1")]);
}

#[test]
fn a_percent_encoded_uri_is_the_file_it_names() {
    let repo = Repo::new("//- a b/é #1.rs\npub fn on_disk() {}\n");
    let mut editor = Editor::start(&repo);
    let uri = repo.uri("a b/é #1.rs");
    assert!(uri.contains("a%20b/%C3%A9%20%231.rs"), "{uri}");
    editor.open("a b/é #1.rs");
    editor.replace("a b/é #1.rs", "on_disk", "typed");
    editor.select(&["a b/é #1.rs"]);
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("a b/é #1.rs").as_deref(), Some("pub fn typed() {}\n"));

    // As editors write it that encode more, with other letters.
    editor.close("a b/é #1.rs");
    let other =
        uri.replace("%C3%A9", "%c3%a9").replace(".rs", "%2Ers").replace("file:///", "file://localhost/");
    open(&mut editor, &other, "pub fn typed_again() {}\n");
    assert_eq!(editor.assemble().count("typed_again"), 1);
}

#[cfg(windows)]
#[test]
fn a_file_is_one_document_in_every_spelling_of_windows() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.select(&["src/lib.rs"]);
    let uri = repo.uri("src/lib.rs");
    let (drive, below) = uri.trim_start_matches("file:///").split_once(':').unwrap();
    for (number, uri) in [
        format!("file:///{}:{below}", drive.to_lowercase()),
        format!("file:///{}%3A{below}", drive.to_lowercase()),
        format!("file://localhost/{drive}:{below}"),
        uri.replace("src/lib.rs", "SRC/Lib.RS"),
        uri.to_uppercase().replace("FILE:", "file:"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("pub fn typed_{number}() {{}}\r\n");
        open(&mut editor, &uri, &text);
        assert_eq!(editor.assemble().full_text("src/lib.rs").as_ref(), Some(&text), "{uri}");
        editor.close(&uri);
        assert_eq!(editor.assemble().full_text("src/lib.rs"), Some(repo.read("src/lib.rs")), "{uri}");
    }
}

#[cfg(windows)]
#[test]
fn a_locked_file_is_named_and_read_when_it_is_free() {
    use std::os::windows::fs::OpenOptionsExt as _;

    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.select(&["src/lib.rs"]);
    repo.write("src/lib.rs", "pub fn of_another_program() {}\n");
    let lock = std::fs::File::options().read(true).share_mode(0).open(repo.path("src/lib.rs")).unwrap();
    let locked = editor.assemble();
    assert_eq!(locked.warnings(), [("unreadable", "src/lib.rs")]);
    assert!(locked.0.to_string().contains("is locked by another program"), "{}", locked.0);
    drop(lock);
    assert_eq!(editor.assemble().full_text("src/lib.rs"), Some(repo.read("src/lib.rs")));
}

#[test]
fn documents_of_other_schemes_are_ignored() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    let file = repo.path("src/lib.rs").to_str().unwrap().to_owned();
    for uri in [format!("git:{file}?ref"), format!("vscode-diff:{file}"), "output:log".to_owned()] {
        open(&mut editor, &uri, "of another time\n");
        let identifier = json!({ "uri": uri, "version": 2 });
        let params =
            json!({ "textDocument": identifier, "contentChanges": [{ "text": "of another time 2\n" }] });
        editor.server.notify("textDocument/didChange", params);
    }
    editor.select(&["src/lib.rs"]);
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("src/lib.rs"), Some(repo.read("src/lib.rs")));
    assert_eq!(prompt.count("of another time"), 0);
    assert_eq!(editor.run("server.status", json!({}))["openDocuments"], 0);
}

#[test]
fn the_cells_of_a_notebook_are_documents() {
    let repo = Repo::new("//- n b.ipynb\n{}\n");
    let mut editor = Editor::start(&repo);
    let cell = |name: &str| repo.uri("n b.ipynb").replacen("file://", "vscode-notebook-cell:", 1) + name;
    editor.open_text(&cell("#W0sZmlsZQ%3D%3D"), "python", "def one(): pass\n");
    editor.open_text(&cell("#W1sZmlsZQ%3D%3D"), "python", "def two(): pass\n");
    editor.replace(&cell("#W0sZmlsZQ%3D%3D"), "one", "typed");
    editor.select(&["n b.ipynb#W0sZmlsZQ%3D%3D"]);
    let prompt = editor.assemble();
    assert_eq!(prompt.full_text("n b.ipynb#W0sZmlsZQ%3D%3D").as_deref(), Some("def typed(): pass\n"));
    assert!(prompt.map_block("n b.ipynb#W1sZmlsZQ%3D%3D").unwrap().contains("def two()"));
}

#[test]
fn a_file_outside_the_folders_is_ignored() {
    let elsewhere = Repo::new("//- a.rs\npub fn elsewhere() {}\n");
    let mut editor = Editor::start(&small());
    open(&mut editor, &elsewhere.uri("a.rs"), "pub fn elsewhere() {}\n");
    assert_eq!(editor.assemble().count("elsewhere"), 0);
}

#[test]
fn a_folder_that_is_called_by_its_path_is_called_by_its_last_part() {
    let (one, other) = (small(), small());
    let mut editor = Setup::with_folders(&[("/home/me/src/strata/", &one)]).start();
    let state = |editor: &mut Editor| editor.assemble().0["body"].to_string();
    assert!(state(&mut editor).contains("Repository: `strata`"), "{}", state(&mut editor));
    let folders = [("/home/me/src/web", &one), (r"C:\src\api", &other)];
    let mut editor = Setup::with_folders(&folders).start();
    editor.select(&["web/src/lib.rs", "api/src/lib.rs"]);
}

#[test]
fn a_name_with_decomposed_letters_stays_as_the_disk_has_it() {
    // As macOS spells names that programs of Apple made.
    let (decomposed, composed) = ("cafe\u{301}/cle\u{301}.rs", "caf\u{e9}/cl\u{e9}.rs");
    let repo = Repo::new(&format!("//- {decomposed}\npub fn on_disk() {{}}\n"));
    let mut editor = Editor::start(&repo);
    editor.open(decomposed);
    editor.replace(decomposed, "on_disk", "typed");
    editor.select(&[decomposed]);
    assert_eq!(editor.assemble().full_text(decomposed).as_deref(), Some("pub fn typed() {}\n"));

    // On systems that compare bytes the composed name is another file.
    repo.write(composed, "pub fn another() {}\n");
    editor.select(&[composed]);
    let prompt = editor.assemble();
    match cfg!(target_os = "macos") {
        true => assert_eq!(prompt.count("typed"), 1),
        false => assert_eq!(prompt.full_text(composed).as_deref(), Some("pub fn another() {}\n")),
    }
}
