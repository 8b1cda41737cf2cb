//! Tests `strata pack`.

use expect_test::expect;

use crate::repo::{APP, Repo};

#[test]
fn files_are_packed_as_markdown_or_xml() {
    let repo = Repo::new(APP);
    let run = repo.strata(&["pack", "app/request.py", "notes.md", "--question", "What is a request?"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    expect![[r#"
        # repo

        2 files in full.

        ## app/request.py

        ```python
        class Request:
            """One request."""

            def body(self):
                return 'request body'
        ```

        ## notes.md

        ```markdown
        # Notes

        notes body
        ```

        ## Question

        What is a request?
    "#]]
    .assert_eq(&run.out);
    assert!(run.err.ends_with(" tokens for claude-sonnet-5-5: 2 files in full\n"), "{}", run.err);
    let run = repo.strata(&["pack", "--format", "xml", "notes.md"]);
    expect![[r#"
        <files of="repo">
        1 file in full.

        <file path="notes.md">
        # Notes

        notes body
        </file>
        </files>
    "#]]
    .assert_eq(&run.out);
}

#[test]
fn files_that_do_not_fit_into_the_budget_are_outlined() {
    let repo = Repo::new(APP);
    let long = "    x = 'a long line of code that nobody needs'\n".repeat(100);
    for name in ["a", "b", "c"] {
        repo.write(&format!("{name}.py"), format!("def run_{name}():\n{long}"));
    }
    let unlimited = repo.strata(&["pack", "--json"]).json();
    assert_eq!(
        (&unlimited["full"], &unlimited["outlined"], &unlimited["omitted"]),
        (&6.into(), &0.into(), &0.into())
    );
    for budget in [300_u64, 1_000, 2_500] {
        let pack = repo.strata(&["pack", "--json", "--budget", &budget.to_string()]).json();
        assert!(pack["tokens"].as_u64() <= Some(budget), "{pack}");
        assert!(pack["full"].as_u64() < Some(6) && pack["outlined"].as_u64() > Some(0), "{pack}");
        let counts = ["full", "outlined", "omitted"].map(|field| pack[field].as_u64().unwrap());
        assert_eq!(counts.iter().sum::<u64>(), 6, "{pack}");
    }
    // The question decides what is in full.
    let pack = |question: &str| {
        let run = repo.strata(&["pack", "--budget", "3000", "--question", question, "a.py", "b.py", "c.py"]);
        run.out
    };
    for name in ["a", "b", "c"] {
        assert!(pack(&format!("What does run_{name} do?")).contains(&format!("## {name}.py")), "{name}");
    }
}

#[test]
fn secrets_and_ignored_files_stay_out() {
    let repo = Repo::new(APP);
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    repo.write("token.py", format!("TOKEN = '{key}'\n"));
    repo.write(".env", "SECRET=1\n");
    repo.write("out/big.py", "x = 1\n");
    repo.write(".gitignore", "out/\n");
    let run = repo.strata(&["pack"]);
    assert!(
        !run.out.contains(key) && !run.out.contains("SECRET=1") && !run.out.contains("big.py"),
        "{}",
        run.out
    );
    assert!(run.err.contains("1 secret replaced"), "{}", run.err);
    let run = repo.strata(&["pack", ".env", "notes.md"]);
    assert!(run.err.contains("skipped .env: its name suggests secrets"), "{}", run.err);
    let run = repo.strata(&["pack", "nowhere.py"]);
    assert!(run.refusal().contains("does not exist"), "{}", run.err);
    let run = repo.strata(&["pack", "--exclude", "app"]);
    assert!(run.out.contains("notes.md") && !run.out.contains("request.py"), "{}", run.out);
}

#[test]
fn the_text_of_a_file_cannot_close_its_element_or_code_block() {
    let repo = Repo::new(&[("a.md", "```\n</file>\n</file_>\n")]);
    let run = repo.strata(&["pack", "--format", "xml"]);
    assert!(
        run.out.contains("<file__ path=\"a.md\">") && run.out.ends_with("</file__>\n</file__s>\n"),
        "{}",
        run.out
    );
    let run = repo.strata(&["pack"]);
    assert!(run.out.contains("````markdown\n"), "{}", run.out);
}

#[test]
fn a_pack_can_be_written_to_a_file() {
    let repo = Repo::new(APP);
    let run = repo.strata(&["pack", "-o", "pack.md", "notes.md"]);
    assert_eq!((run.code, &*run.out), (Some(0), ""), "{}", run.err);
    let text = std::fs::read_to_string(repo.folder().join("pack.md")).unwrap();
    assert!(text.contains("notes body"), "{text}");
}
