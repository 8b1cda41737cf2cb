//! Plain LSP: the positions are the editor's, the texts those of its buffers.

use e2e::{Document, Editor, Repo, Setup, Unit};
use serde_json::{Value, json};

use crate::small;

fn all_on() -> Value {
    let features = ["document_symbol", "workspace_symbol", "hover", "definition", "references"];
    json!({ "lsp": { "features": features } })
}

fn repo() -> Repo {
    Repo::new(
        r#"
        //- shop/prices.py
        class Basket:
            def total_price(self, tax):
                return 1

        def other(): pass
        //- shop/till.py
        from shop.prices import Basket

        def pay(basket: Basket):
            return basket.total_price(2)
        //- shop/unrelated.py
        # total_price is only a word here
        text = "total_price"
        //- notes.md
        # Title

        ## Part
        "#,
    )
}

fn at(editor: &mut Editor, path: &str, needle: &str) -> Value {
    let document = editor.document(path);
    let byte = document.find(needle).start;
    json!({ "textDocument": { "uri": document.uri }, "position": document.position(byte) })
}

fn asked(editor: &mut Editor, method: &str, params: Value) -> Value {
    editor.server.request(method, params).unwrap()
}

/// The texts that locations point to, each with the end of its file's address.
fn pointed_at(repo: &Repo, unit: Unit, locations: &Value) -> Vec<(String, String)> {
    let text_at = |location: &Value| {
        let uri = location["uri"].as_str().unwrap();
        let path = uri.strip_prefix(&repo.uri("")).unwrap_or(uri).trim_start_matches('/').to_owned();
        let text = repo.read(&path);
        let document = Document::new(uri.to_owned(), text.clone(), unit);
        let starts = (0..=text.len()).filter(|&byte| text.is_char_boundary(byte));
        let byte = |place: &Value| starts.clone().find(|&byte| document.position(byte) == *place).unwrap();
        let range = &location["range"];
        (path.clone(), text[byte(&range["start"])..byte(&range["end"])].to_owned())
    };
    locations.as_array().unwrap().iter().map(text_at).collect()
}

#[test]
fn names_lead_to_definitions_and_mentions_in_every_unit() {
    for unit in Unit::ALL {
        let repo = repo();
        let mut editor = Setup::new(&repo).settings(all_on()).counting_in(unit).start();
        editor.open("shop/till.py");
        let caret = at(&mut editor, "shop/till.py", "total_price");
        let found = asked(&mut editor, "textDocument/definition", caret.clone());
        assert_eq!(
            pointed_at(&repo, unit, &found),
            [("shop/prices.py".to_owned(), "total_price".to_owned())]
        );
        let hover = asked(&mut editor, "textDocument/hover", caret.clone());
        let said = hover["contents"]["value"].as_str().unwrap();
        assert_eq!(said, "```python\ndef total_price(self, tax)\n```\nshop/prices.py");
        let mut params = caret;
        params["context"] = json!({ "includeDeclaration": true });
        let all = asked(&mut editor, "textDocument/references", params.clone());
        let name = "total_price".to_owned();
        assert_eq!(
            pointed_at(&repo, unit, &all),
            [("shop/prices.py".to_owned(), name.clone()), ("shop/till.py".to_owned(), name.clone())],
            "neither a comment nor a string is a mention"
        );
        params["context"] = json!({ "includeDeclaration": false });
        let uses = asked(&mut editor, "textDocument/references", params);
        assert_eq!(pointed_at(&repo, unit, &uses), [("shop/till.py".to_owned(), name)]);
    }
}

#[test]
fn the_symbols_of_a_document_are_those_of_its_buffer() {
    let repo = repo();
    let mut editor = Setup::new(&repo).settings(all_on()).start();
    editor.open("shop/prices.py");
    editor.type_behind(
        "shop/prices.py",
        "def other(): pass",
        "\n\ndef straße🦀(): pass  # typed\n\nclass Late:\n    def deep(self): pass",
    );
    let uri = editor.document("shop/prices.py").uri.clone();
    let symbols =
        asked(&mut editor, "textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    let names = |symbols: &Value| -> Vec<String> {
        symbols.as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&symbols).last().unwrap(), "Late", "{symbols}");
    assert_eq!(names(&symbols[0]["children"]), ["total_price"]);
    assert_eq!(symbols[0]["children"][0]["detail"], "def total_price(self, tax)");
    let late = symbols.as_array().unwrap().last().unwrap().clone();
    let document = editor.document("shop/prices.py");
    let name = document.find("Late");
    assert_eq!(late["selectionRange"]["start"], document.position(name.start));
    assert_eq!(late["selectionRange"]["end"], document.position(name.end));
}

#[test]
fn the_symbols_of_the_workspace_are_found_by_a_part_of_their_names() {
    let repo = repo();
    let mut editor = Setup::new(&repo).settings(all_on()).start();
    editor.open("shop/till.py");
    editor.type_behind("shop/till.py", "total_price(2)", "\n\ndef total_typed(): pass");
    let found = asked(&mut editor, "workspace/symbol", json!({ "query": "total" }));
    let names: Vec<&str> = found.as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["total_price", "total_typed"], "{found}");
    assert_eq!(found[0]["containerName"], "Basket");
    assert!(found[0]["location"]["uri"].as_str().unwrap().ends_with("shop/prices.py"));
    let nothing = asked(&mut editor, "workspace/symbol", json!({ "query": "nosuchname" }));
    assert_eq!(nothing, json!([]));
}

#[test]
fn all_of_it_is_off_until_the_settings_want_it() {
    let mut editor = Editor::start(&small());
    editor.open("tool.py");
    let caret = at(&mut editor, "tool.py", "run");
    assert_eq!(asked(&mut editor, "textDocument/definition", caret.clone()), Value::Null);
    let offered = |editor: &Editor| {
        let asked = editor.server.asked("client/registerCapability").into_iter().cloned();
        let methods: Vec<Value> = asked.map(|params| params["registrations"][0]["method"].clone()).collect();
        methods.into_iter().filter(|method| method != "workspace/didChangeWatchedFiles").collect::<Vec<_>>()
    };
    assert!(offered(&editor).is_empty());
    editor.configure(json!({ "lsp": { "features": ["definition"] } }));
    assert_ne!(asked(&mut editor, "textDocument/definition", caret.clone()), Value::Null);
    assert_eq!(asked(&mut editor, "textDocument/hover", caret.clone()), Value::Null);
    while offered(&editor).is_empty() {
        editor.run("server.status", json!({}));
    }
    assert_eq!(offered(&editor), ["textDocument/definition"]);
    editor.configure(json!({}));
    assert_eq!(asked(&mut editor, "textDocument/definition", caret), Value::Null);
    while editor.server.asked("client/unregisterCapability").is_empty() {
        editor.run("server.status", json!({}));
    }
    let taken = editor.server.asked("client/unregisterCapability")[0].clone();
    assert_eq!(taken["unregisterations"][0]["method"], "textDocument/definition");
}

#[test]
fn places_outside_of_everything_have_no_meaning() {
    let mut editor = Setup::new(&repo()).settings(all_on()).start();
    editor.open("shop/prices.py");
    let uri = editor.document("shop/prices.py").uri.clone();
    for (uri, line) in
        [(uri.as_str(), 99_999), ("file:///nowhere/a.py", 0), ("untitled:none", 0), (uri.as_str(), 3)]
    {
        for method in ["textDocument/hover", "textDocument/definition", "textDocument/references"] {
            let params = json!({
                "textDocument": { "uri": uri }, "position": { "line": line, "character": 0 },
                "context": { "includeDeclaration": true },
            });
            assert_eq!(asked(&mut editor, method, params), Value::Null, "{method} {uri}");
        }
    }
    let outside = json!({ "textDocument": { "uri": "file:///nowhere/a.py" } });
    assert_eq!(asked(&mut editor, "textDocument/documentSymbol", outside), Value::Null);
}

#[test]
fn who_refers_to_whom_is_data() {
    let repo = repo();
    let mut editor = Setup::new(&repo).start();
    let found = editor.run("symbols.references", json!({ "name": "total_price" }));
    let definition = &found["definitions"][0];
    assert_eq!(definition["path"], "shop/prices.py", "{found}");
    assert_eq!(definition["heads"], json!(["def total_price(self, tax)"]));
    assert_eq!(definition["referrers"][0]["path"], "shop/till.py");
    let (own, other) = (&found["hits"][0], &found["hits"][1]);
    assert_eq!((&own["path"], &own["definition"]), (&json!("shop/prices.py"), &json!(true)), "{found}");
    assert_eq!(
        (&other["path"], &other["confidence"]),
        (&json!("shop/till.py"), &json!("certain")),
        "{found}"
    );
    assert!(other["text"].as_str().unwrap().contains("total_price"), "{found}");
    assert_eq!(found["total"], 2);
    let one = editor.run("symbols.references", json!({ "name": "total_price", "limit": 1 }));
    assert_eq!((one["hits"].as_array().unwrap().len(), &one["total"]), (1, &json!(2)));
    assert!(one["howToNarrow"].as_str().unwrap().starts_with("1 more"), "{one}");
    let elsewhere = json!({ "name": "total_price", "path": "shop/till.py" });
    assert_eq!(editor.run("symbols.references", elsewhere)["definitions"], json!([]));
    assert!(
        editor
            .refused("symbols.references", json!({ "name": "x", "path": "no.py" }))
            .message
            .contains("no.py")
    );

    let prices = editor.run("symbols.dependents", json!({ "path": "shop/prices.py" }));
    assert_eq!(
        (&prices["dependents"], &prices["dependencies"]),
        (&json!(["shop/till.py"]), &json!([])),
        "{prices}"
    );
    let till = editor.run("symbols.dependents", json!({ "path": "shop/till.py" }));
    assert_eq!((&till["imports"], &till["mutual"]), (&json!(["shop/prices.py"]), &json!([])), "{till}");

    let found = editor.run("symbols.find", json!({ "query": "totpri", "limit": 3 }));
    let symbol = json!({
        "name": "total_price", "kind": "method", "path": "shop/prices.py", "uri": repo.uri("shop/prices.py"),
        "head": "def total_price(self, tax)", "container": "Basket", "line": 2, "endLine": 3,
    });
    assert_eq!(found["symbols"], json!([symbol]));
}

#[test]
fn what_a_request_is_about_is_data_and_stands_behind_it_when_wanted() {
    let repo = repo();
    let request = "The total price of a basket leaves out the tax";
    // Excerpts would show what the frame names.
    let mut editor = Setup::new(&repo).settings(json!({ "context": { "auto_budget": 0 } })).start();
    let items = editor.run("symbols.relevant", json!({ "query": request, "limit": 5 }));
    assert_eq!(items["items"][0]["path"], "shop/prices.py", "{items}");
    assert_eq!(items["items"][0]["score"], 1.0);
    // The excerpt joins definitions, and each of them is an item.
    assert_eq!(items["items"][0]["name"], "Basket.total_price", "{items}");
    let frame = |editor: &mut Editor| {
        let prompt = editor.assemble_with(json!({ "prompt": request }));
        prompt.count("<context-frame>")
    };
    assert_eq!(frame(&mut editor), 1);
    let prompt = editor.assemble_with(json!({ "prompt": request }));
    assert_eq!(prompt.count("[File] `shop/prices.py` (score: 1.00)"), 1, "{:?}", prompt.0["body"]);
    assert_eq!(
        prompt.count("[Method] `Basket.total_price` in `shop/prices.py` L"),
        1,
        "{:?}",
        prompt.0["body"]
    );
    editor.configure(json!({ "context": { "auto_budget": 4_000 } }));
    assert_eq!(frame(&mut editor), 0);
    editor.configure(json!({ "context": { "auto_budget": 0 }, "context_frame": { "inject": false } }));
    assert_eq!(frame(&mut editor), 0);
}
