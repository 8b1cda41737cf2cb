//! Secrets in files, names of files and names of definitions that someone wrote who had not read the rules of the screen:
//! how many are found, and that no ordinary name is taken for one. `cargo bench -p e2e --bench redaction` prints the
//! figures.

use e2e::secret_corpus::{Half, entries, file_names, identifiers, recall};
use strata_engine::cancel::Cancel;
use strata_engine::code::symbols::FileSymbols;
use strata_engine::key::FileKey;
use strata_engine::tokens::redaction::{Destination, PlaceholderKey, Screen, scan};
use strata_grammars::LanguageId;
use strata_host::secrets::secret_by_name;

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
    let screen = Screen::new(|| PlaceholderKey::new([7; 32]));
    for (half, least) in [(Half::Development, DEVELOPMENT), (Half::HeldBack, HELD_BACK)] {
        let (recall, missed) = recall(&entries, half, |text| screen.text(text).into_owned());
        assert!(recall.per_mille() >= least, "{half:?}: {recall:?}, not found:\n{}", missed.join("\n"));
    }
}

#[test]
fn a_text_of_a_stranger_is_screened_once_and_comes_back() {
    let screen = Screen::new(|| PlaceholderKey::new([7; 32]));
    for entry in entries() {
        let out = screen.text(&entry.text).into_owned();
        assert_eq!(screen.text(&out), out, "{}", entry.path);
        let restored = screen.restore(&out, Destination::Edit).text;
        assert_eq!(serde_json::json!(restored), entry.text, "{}", entry.path);
        assert_eq!(out.lines().count(), entry.text.lines().count(), "{}", entry.path);
    }
}

#[test]
fn a_file_name_of_a_stranger_is_judged_as_meant() {
    let is_secret = |name: &str| secret_by_name(&FileKey::from(name)).is_some();
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
            assert!(scan(&text).is_empty(), "{path}: {text}");
            checked += 1;
        }
    }
    assert!(checked > 400, "{checked}");
}
