//! Every grammar against texts that no one meant to write: outlines come back, are the same twice and keep their shape.
//! `STRATA_LONG=1` tries 10,000 texts in each language instead of a few. `cargo bench -p e2e --bench survival` prints how
//! long they take.

use std::collections::BTreeMap;

use e2e::Rng;
use e2e::mutation::mutated;
use strata_engine::cancel::Cancel;
use strata_engine::code::buffer::Buffer;
use strata_engine::code::document::Document;
use strata_engine::code::symbols::FileSymbols;
use strata_engine::key::FileKey;
use strata_grammars::LanguageId;
use strata_host::deadline::within_outline_time;

/// How many texts to try in each language.
fn mutations() -> u64 {
    if std::env::var_os("STRATA_LONG").is_some() { 10_000 } else { 20 }
}

/// The language's own fixture, more than once, and all others.
fn fixtures(language: LanguageId) -> Vec<&'static str> {
    let others = LanguageId::all().filter(|other| *other != language).map(|language| language.fixture);
    std::iter::repeat_n(language.fixture, 3 * LanguageId::COUNT).chain(others).collect()
}

#[test]
fn every_grammar_survives_mutated_texts() {
    let key = FileKey::from("src/file");
    let mut given_up = BTreeMap::new();
    for language in LanguageId::all() {
        let fixtures = fixtures(language);
        for seed in 0..mutations() {
            let text = mutated(&fixtures, seed);
            let read = || FileSymbols::read(language, &key, &text, &within_outline_time(&Cancel::new()));
            match (read(), read()) {
                (Ok(one), Ok(other)) => assert_eq!(one, other, "{language} {seed}"),
                _ => *given_up.entry(language).or_insert(0) += 1,
            }
        }
    }
    // How many that are is a matter of the machine; the bench prints it. Without any outline nothing was shown.
    let most = given_up.values().max().copied().unwrap_or(0);
    assert!(most < mutations(), "no text of a language was outlined in time: {given_up:?}");
}

/// One text becomes another edit by edit, all of them far from anything a user would do, and what is kept of it in the
/// end is what a fresh look at it gives.
#[test]
fn every_grammar_survives_edits_towards_mutated_texts() {
    let key = FileKey::from("src/file");
    for language in LanguageId::all() {
        let fixtures = fixtures(language);
        for seed in 0..mutations() / 10 {
            let mut rng = Rng::new(seed);
            let mut buffer =
                Buffer::new(&key, Document::open(&mutated(&fixtures, seed), 1, language_id(language)));
            for _ in 0..4 {
                let other = mutated(&fixtures, rng.below(1_000_000) as u64);
                edit(&mut buffer, &other, &mut rng);
                let limit = within_outline_time(&Cancel::new());
                match buffer.parse(&key, &limit) {
                    Ok(Some(parsed)) => buffer.adopt(parsed),
                    // Given up: the next parse starts from where the last one was.
                    _ => continue,
                }
            }
            let text = buffer.document().text();
            let limit = within_outline_time(&Cancel::new());
            if let (Ok(Some(live)), Ok(fresh)) =
                (buffer.symbols(&key, &limit), FileSymbols::read(language, &key, &text, &limit))
            {
                assert_eq!(*live, fresh, "{language} {seed}");
            }
        }
    }
}

#[expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
fn edit(buffer: &mut Buffer, other: &str, rng: &mut Rng) {
    let text = buffer.document().text();
    let floor = |text: &str, at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let start = floor(&text, rng.below(text.len() + 1)).unwrap();
    let end = floor(&text, start + rng.below(300)).unwrap().max(start);
    let from = floor(other, rng.below(other.len() + 1)).unwrap();
    let to = floor(other, from + rng.below(300)).unwrap().max(from);
    buffer.replace(start..end, &other[from..to]).unwrap();
}

/// An editor's name for the language.
fn language_id(language: LanguageId) -> String {
    language.editor_ids.first().unwrap_or(&language.name).to_string()
}
