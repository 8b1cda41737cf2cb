//! Secrets in files, names of files and names of definitions that someone wrote who had not read the rules of the screen:
//! how many are found, and that no ordinary name is taken for one. `cargo bench -p e2e --bench redaction` prints the
//! figures.

#![expect(clippy::print_stdout, reason = "figures")]

use e2e::secret_corpus::{Half, entries, file_names, identifiers, recall};
use e2e::{Dialect, ModelServer, Printed, Reply, Repo, Setup, Shell, sse};
use serde_json::json;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::symbols::FileSymbols;
use strata_grammars::LanguageId;
use strata_host::secrets::secret_rule_by_name;
use strata_tokens::redaction::{Destination, PlaceholderKey, SecretRedactor, find_secrets};

/// Minimum share of the secrets that are found, in tenths of a percent.
const DEVELOPMENT: usize = 890;
/// The same for the half that was held back.
const HELD_BACK: usize = 860;
/// Maximum number of ordinary file names, of 65, that are taken for secret: `.env.example` and `.env.sample` are so on
/// purpose.
const WITHHELD: usize = 5;

#[test]
fn secrets_of_a_stranger_are_found() {
    let entries = entries();
    let kinds: std::collections::BTreeSet<_> = entries.iter().map(|entry| &entry.kind).collect();
    assert!(entries.len() >= 200 && kinds.len() >= 60);
    let screen = SecretRedactor::new(|| PlaceholderKey::new([7; 32]));
    for (half, least) in [(Half::Development, DEVELOPMENT), (Half::HeldBack, HELD_BACK)] {
        let (recall, missed) = recall(&entries, half, |text| screen.redact_text(text).into_owned());
        assert!(recall.per_mille() >= least, "{half:?}: {recall:?}, not found:\n{}", missed.join("\n"));
    }
}

/// What the screen finds leaves no front end either, whichever way a file is asked for.
#[test]
fn secrets_of_a_stranger_leave_no_front_end() {
    let (repo, entries) = (Repo::new(""), entries());
    // Each in a directory of its own, with an ordinary name, since files with the names of secrets are not shown at all.
    let paths: Vec<String> = (0..entries.len()).map(|number| format!("f{number}/text.txt")).collect();
    for (path, entry) in paths.iter().zip(&entries) {
        repo.write(path, &entry.text);
    }
    let screen = SecretRedactor::new(|| PlaceholderKey::new([7; 32]));
    let found: Vec<Vec<&String>> = entries
        .iter()
        .map(|entry| {
            let screened = screen.redact_text(&entry.text).into_owned();
            entry.secrets.iter().filter(|secret| !screened.contains(*secret)).collect()
        })
        .collect();
    let all = entries.iter().map(|entry| entry.secrets.len()).sum::<usize>();
    // A secret may be a part of what another one leaves, or an ordinary word elsewhere.
    let is_unique = |secret: &&&String| secret.len() >= 12;
    let check = |front_end: &str, text: &str, shown: usize| {
        let count = |secrets: &[&String]| {
            secrets.iter().filter(is_unique).filter(|one| text.contains(one.as_str())).count()
        };
        let leaked: Vec<String> = found
            .iter()
            .zip(&entries)
            .filter(|(secrets, _)| count(secrets) > 0)
            .map(|(_, entry)| format!("{} ({})", entry.kind, entry.path))
            .collect();
        let placeholders = text.matches("[secret:").count();
        println!("{front_end}: {placeholders} placeholders for {all} secrets, {} files leak", leaked.len());
        assert!(leaked.is_empty(), "{front_end}: {leaked:?}");
        assert!(placeholders >= shown, "{front_end} shows {placeholders} placeholders");
    };
    // Tokens cost time, and the prompts of all front ends are the same.
    let selected: Vec<&str> = paths.iter().flat_map(|path| ["--select", path]).collect();

    let mut editor = Setup::new(&repo).start();
    editor.select(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    let prompt = editor.assemble_with(json!({ "prompt": "What is this?" }));
    let mut text = prompt.0.to_string();
    check("serve, prompt", &text, all / 2);
    text.clear();
    for path in &paths {
        text.push_str(&editor.run("files.read", json!({ "path": path })).to_string());
    }
    check("serve, files", &text, all / 2);
    let lines = editor.run("files.grep", json!({ "pattern": ".", "limit": 100_000 }));
    check("serve, search", &lines.to_string(), all / 2);
    // Some warnings arrive after the reply.
    editor.quit();
    check("serve, warnings", &format!("{:?}", editor.server.heard("strata/warning")), 0);

    let shell = Shell::new(&repo);
    let reads = paths.iter().map(|path| ("files_read", json!({ "path": path })));
    let search = ("grep", json!({ "pattern": ".", "limit": 100_000 }));
    let (results, log) = shell.tools(&reads.chain([search]).collect::<Vec<_>>());
    check("mcp", &format!("{results:?}{log}"), all / 2);

    let arguments = |command: &'static str| [&[command][..], &selected, &["What is this?"]].concat();
    let Printed { out, err, .. } = shell.run(&arguments("prompt"), "");
    check("prompt", &format!("{out}{err}"), all / 2);
    let Printed { out, err, .. } = shell.run(&["grep", "."], "");
    check("grep", &format!("{out}{err}"), 1);

    let done = Reply::Body("text/event-stream", sse::answer("Done.", &[]));
    let server = ModelServer::start(Dialect::Anthropic, vec![done]);
    let settings =
        format!("[provider]\nname = 'anthropic'\nbase_url = '{}'\nretries = 0\n", server.base_url());
    let shell = Shell::new(&repo).variable("ANTHROPIC_API_KEY", "a key for tests").settings(&settings);
    let Printed { is_success, out, err } = shell.run(&arguments("ask"), "");
    assert!(is_success, "{err}");
    check("ask", &format!("{}{out}{err}", server.asked()[0].body), all / 2);
}

#[test]
fn a_text_of_a_stranger_is_screened_once_and_comes_back() {
    let screen = SecretRedactor::new(|| PlaceholderKey::new([7; 32]));
    for entry in entries() {
        let out = screen.redact_text(&entry.text).into_owned();
        assert_eq!(screen.redact_text(&out), out, "{}", entry.path);
        let restored = screen.restore(&out, Destination::Edit).text;
        assert_eq!(serde_json::json!(restored), entry.text, "{}", entry.path);
        assert_eq!(out.lines().count(), entry.text.lines().count(), "{}", entry.path);
    }
}

#[test]
fn a_file_name_of_a_stranger_is_judged_as_meant() {
    let is_secret = |name: &str| secret_rule_by_name(&FileKey::from(name)).is_some();
    let (secret, ordinary): (Vec<_>, Vec<_>) = file_names().partition(|(_, secret)| *secret);
    let shown: Vec<&str> = secret.iter().map(|(name, _)| *name).filter(|name| !is_secret(name)).collect();
    let withheld: Vec<&str> = ordinary.iter().map(|(name, _)| *name).filter(|name| is_secret(name)).collect();
    assert!(shown.len() * 10 <= secret.len(), "not recognized: {shown:?}");
    assert!(withheld.len() <= WITHHELD, "taken for secret: {withheld:?}");
}

#[test]
fn no_name_of_a_definition_vanishes() {
    type Written = fn(&str) -> String;
    let languages: [(&str, Written); 4] = [
        ("a.rs", |name| format!("pub fn {name}(key: u8) -> {name} {{}}\nfn caller() {{ {name}(1); }}\n")),
        ("a.py", |name| format!("class {name}:\n    pass\n\ndef caller():\n    return {name}()\n")),
        ("a.ts", |name| format!("export function {name}() {{}}\nexport const caller = () => {name}();\n")),
        ("a.go", |name| {
            format!("package a\n\nfunc {name}(token string) {{}}\n\nfunc caller() {{ {name}(\"\") }}\n")
        }),
    ];
    // Outlines leave out names of more than 120 bytes, random or not.
    let is_identifier =
        |name: &&str| name.len() <= 120 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut checked = 0;
    for name in identifiers().filter(is_identifier) {
        for (path, written) in languages {
            let (key, text) = (FileKey::from(path), written(name));
            let language = LanguageId::by_path(path, "").unwrap();
            let symbols = FileSymbols::read(language, &key, &text, &Cancel::new()).unwrap();
            let names: Vec<&str> = symbols.outline.symbols.iter().map(|symbol| &*symbol.name).collect();
            assert!(names.contains(&name), "{path}: {name} is not among {names:?}");
            assert!(symbols.block.text.contains(name), "{path}: {name} is not in\n{}", symbols.block.text);
            assert!(symbols.outline.references.iter().any(|reference| reference == name), "{path}: {name}");
            assert!(find_secrets(&text).is_empty(), "{path}: {text}");
            checked += 1;
        }
    }
    assert!(checked > 400, "{checked}");
}
