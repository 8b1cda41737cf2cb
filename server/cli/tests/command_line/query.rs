//! Tests the queries about the code.

use expect_test::expect;
use serde_json::Value;

use crate::repo::{APP, Repo};

fn repo() -> Repo {
    let repo = Repo::new(APP);
    repo.write(".gitignore", "/ignored.py\n");
    repo.write("ignored.py", "request = 1\n");
    repo.write(".env", "request=1\n");
    repo
}

#[test]
fn definitions_are_found_by_their_names_with_their_lines() {
    let repo = repo();
    let run = repo.strata(&["symbols", "answer"]);
    expect![[r#"
        app/view.py#L5-6: def answer(self, request: Request) (in View)
    "#]]
    .assert_eq(&run.out);
    let dotted = repo.strata(&["symbols", "Request.body", "--json"]).json();
    let [symbol] = dotted["symbols"].as_array().unwrap().as_slice() else { panic!("{dotted}") };
    assert_eq!(
        (&symbol["path"], &symbol["line"], &symbol["endLine"]),
        (&"app/request.py".into(), &4.into(), &5.into())
    );
    let nothing = repo.strata(&["symbols", "nowhere"]);
    assert_eq!((nothing.code, &*nothing.err), (Some(1), ""));
}

#[test]
fn an_outline_lists_definitions_with_their_lines() {
    let repo = repo();
    let run = repo.strata(&["outline", "app/view.py"]);
    expect![[r#"
        app/view.py (python)
        4-6 class View
         5-6 def answer(self, request: Request)
    "#]]
    .assert_eq(&run.out);
    let misspelt = repo.strata_in("app", &["outline", "veiw.py"]);
    expect![[r#"
        error: `veiw.py` does not exist; did you mean `view.py`?
    "#]]
    .assert_eq(misspelt.refusal());
}

#[test]
fn parts_of_files_are_printed_unchanged() {
    let repo = repo();
    let body = repo.strata(&["read", "app/view.py#View.answer"]);
    assert_eq!(
        body.out,
        "    def answer(self, request: Request):\n        return 'view body', request.body()\n"
    );
    assert_eq!(body.err, "app/view.py#L5-6 of 6 lines\n");
    assert_eq!(repo.strata_in("app", &["read", "view.py#L1"]).out, "from app.request import Request\n");
    let complete_file = repo.strata(&["read", "notes.md"]);
    assert_eq!((&*complete_file.out, &*complete_file.err), ("# Notes\n\nnotes body\n", ""));
    repo.write("tabs.go", "package a\n\nfunc b() {\n\tc()\r\n}\n");
    assert_eq!(repo.strata(&["read", "tabs.go#L4"]).out, "\tc()\r\n", "byte for byte");
    assert!(repo.strata(&["grep", "c\\(", "tabs.go"]).out.ends_with("\n4: \tc()\n"));
    let reply = repo.strata(&["read", "app/request.py#Request", "--json"]).json();
    assert_eq!(
        (&reply["from"], &reply["to"], &reply["definition"]),
        (&1.into(), &5.into(), &"Request".into())
    );
    let refused = |path: &str| repo.strata(&["read", path]).refusal().to_owned();
    let refusals = [
        refused("app/view.py#View.body"),
        refused("app/view.py#L9"),
        refused("notes.md#Nothing"),
        refused("app/reqest.py#L1-2"),
    ];
    expect![[r#"
        error: app/view.py does not define `View.body`; see its outline for the definitions, or search for the name in all files
        error: `app/view.py` has 6 lines
        error: notes.md does not define `Nothing`; see its outline for the definitions, or search for the name in all files
        error: `app/reqest.py` does not exist; did you mean `app/request.py`?
    "#]]
    .assert_eq(&refusals.concat());
    assert!(refused(".env").contains("suggests secrets"));
}

#[test]
fn a_method_outside_its_type_is_found_by_type_and_name() {
    let repo = repo();
    let gates = "package gates\n\ntype A struct{}\n\ntype B struct{}\n\nfunc (a *A) Close() {}\n\n// Shuts it.\nfunc (b *B) Close() {\n\ta := 1\n}\n";
    repo.write("gates.go", gates);
    let read = repo.strata(&["read", "gates.go#B.Close"]);
    assert_eq!(read.out, "// Shuts it.\nfunc (b *B) Close() {\n\ta := 1\n}\n");
    let run = repo.strata(&["symbols", "B.Close"]);
    assert_eq!(run.out, "gates.go#L10-12: func (b *B) Close() (in B)\n");
    assert!(
        repo.strata(&["read", "gates.go#Close"]).refusal().contains("A.Close (line 7), B.Close (line 10)")
    );
    let references = repo.strata(&["references", "B.Close"]);
    assert!(references.out.contains("func (b *B) Close()"), "{}", references.out);
}

#[test]
fn lines_that_could_not_be_parsed_are_reported() {
    let repo = repo();
    repo.write("broken.py", "def a():\n    pass\n\nclass B(:\n    def c(self):\n        pass\n\ndef (:\n");
    let outline = repo.strata(&["outline", "broken.py"]);
    assert!(outline.out.contains("… unparsed lines "), "{}", outline.out);
    let map = repo.strata(&["map", "--focus", "broken.py"]);
    assert!(map.out.contains("\n … unparsed lines "), "{}", map.out);
    let symbols = repo.strata(&["symbols", "nowhere"]);
    assert!(symbols.out.contains("broken.py (lines "), "{}", symbols.out);
    assert!(repo.strata(&["read", "broken.py#nowhere"]).refusal().contains("could not be parsed"));
}

#[test]
fn grep_skips_ignored_files() {
    let repo = repo();
    let run = repo.strata(&["grep", "-i", "request", "app"]);
    expect![[r#"
        app/request.py
        1: class Request:
        2:     """One request."""
        5:         return 'request body'
        app/view.py
        1: from app.request import Request
        5:     def answer(self, request: Request):
        6:         return 'view body', request.body()
    "#]]
    .assert_eq(&run.out);
    let all = repo.strata(&["grep", "request", "--json"]).json();
    let paths: Vec<&Value> = all["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(paths, ["app/request.py", "app/view.py"]);
    let near = repo.strata_in("app", &["grep", "-F", "body()", "view.py", "-C", "1"]);
    expect![[r#"
        view.py
        5-     def answer(self, request: Request):
        6:         return 'view body', request.body()
    "#]]
    .assert_eq(&near.out);
    let limited = repo.strata(&["grep", "e", "--limit", "1"]);
    assert!(limited.out.contains(" match)"), "{}", limited.out);
    assert_eq!(repo.strata(&["grep", "no such text"]).code, Some(1));
    assert!(repo.strata(&["grep", "a("]).refusal().contains("unclosed group"));
}

#[test]
fn results_stay_within_the_budget_and_a_note_says_that_there_are_more() {
    let repo = repo();
    let lines: String =
        (0..500).map(|nth| format!("def function_{nth}():\n    return {nth}\n\n\n")).collect();
    repo.write("many.py", &lines);
    for arguments in [
        &["symbols", "function", "--limit", "400"] as &[&str],
        &["outline", "many.py"],
        &["grep", "function"],
        &["read", "many.py"],
    ] {
        let budget = 400;
        let run = repo.strata(&[arguments, &["--budget", "400"]].concat());
        assert!(run.err.contains("raise --budget"), "{arguments:?}: {}", run.err);
        repo.write("shown.txt", &run.out);
        let tokens = repo.strata(&["tokens", "shown.txt", "--json"]).json()["tokens"].as_u64().unwrap();
        assert!(tokens <= budget + 8 && tokens > budget / 8, "{arguments:?}: {tokens}");
    }
    let complete_file = repo.strata(&["read", "many.py"]);
    assert_eq!((&*complete_file.out, &*complete_file.err), (&*lines, ""));
}

#[test]
fn context_lists_relevant_code_with_its_lines() {
    let repo = repo();
    let run = repo.strata(&["context", "what does View.answer say about the request?"]);
    let best = "1.0 app/view.py#L5-6: View.answer: def answer(self, request: Request)\n";
    assert!(run.out.starts_with(best), "{}", run.out);
    let items = repo.strata(&["context", "-", "--limit", "2", "--json"]);
    assert_eq!(items.code, Some(1), "an empty question matches nothing: {}", items.out);
}

#[test]
fn references_name_the_files_that_refer() {
    let repo = repo();
    let run = repo.strata(&["references", "Request"]);
    assert!(run.out.contains("app/request.py") && run.out.contains("app/view.py"), "{}", run.out);
    assert_eq!(repo.strata(&["references", "Nothing"]).code, Some(1));
}
