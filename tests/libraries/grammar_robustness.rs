//! Every grammar against texts that no one meant to write: outlines come back, are the same twice and keep their shape.
//! `STRATA_LONG=1` tries 10,000 texts in each language instead of a few. `cargo bench -p e2e --bench survival` prints how
//! long they take.

use e2e::mutation::mutated;
use e2e::nesting::NESTS;
use e2e::{Rng, is_long};
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::buffer::Buffer;
use strata_code::document::Document;
use strata_code::outline::Unparsed;
use strata_code::symbols::FileSymbols;
use strata_grammars::LanguageId;

/// How many texts to try in each language.
fn mutations() -> u64 {
    if is_long() { 10_000 } else { 20 }
}

/// The language's own fixture, more than once, and all others.
fn fixtures(language: LanguageId) -> Vec<&'static str> {
    let others = LanguageId::all().filter(|other| *other != language).map(|language| language.fixture);
    std::iter::repeat_n(language.fixture, 3 * LanguageId::COUNT).chain(others).collect()
}

#[test]
fn every_grammar_survives_mutated_texts() {
    let key = FileKey::from("src/file");
    for language in LanguageId::all() {
        let fixtures = fixtures(language);
        let mut given_up = 0;
        for seed in 0..mutations() {
            let text = mutated(&fixtures, seed);
            let read = || FileSymbols::read(language, &key, &text, &Cancel::new()).unwrap();
            let outlined = read();
            assert_eq!(outlined, read(), "{language} {seed}");
            given_up += u64::from(outlined.outline.unparsed.is_some());
        }
        assert!(given_up < mutations(), "no text in {language} was outlined");
    }
}

/// No depth overflows a stack of two megabytes or is parsed without end, and a text is given up for the same reason every
/// time. `STRATA_LONG=1` nests 240,000 and 4,000,000 times.
#[test]
fn every_grammar_survives_what_nothing_closes() {
    let key = FileKey::from("src/file");
    let depths: &[usize] = if is_long() { &[240_000, 4_000_000] } else { &[200] };
    for language in LanguageId::all() {
        for unit in NESTS {
            for depth in depths {
                let text = unit.repeat(*depth);
                let read = || FileSymbols::read(language, &key, &text, &Cancel::new()).unwrap();
                assert_eq!(read(), read(), "{language} {unit:?} {depth}");
            }
        }
    }
    for name in ["ocaml", "ocaml_interface"] {
        let language = LanguageId::by_name(name).unwrap();
        let deep = FileSymbols::read(language, &key, &"(*".repeat(20_000), &Cancel::new()).unwrap();
        assert_eq!(deep.outline.unparsed, Some(Unparsed::NestedComments));
        assert_eq!(&*deep.block.text, "src/file (no outline: its comments are nested too deeply)\n");
    }
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
                let limit = Cancel::new();
                match buffer.parse(&key, &limit) {
                    Ok(Some(parsed)) => buffer.install_parse(parsed),
                    // Given up: the next parse starts from where the last one was.
                    _ => continue,
                }
            }
            let text = buffer.document().text();
            let limit = Cancel::new();
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
