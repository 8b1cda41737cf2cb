//! A document and what an editor does to it, both made up: nothing that is told of it, in whatever order, keeps the next full
//! text from being taken, and its outline is that of a document that was never touched. (That edits which do fit give the text
//! that they should is shown in `tests/libraries/document_edits.rs`, by a model of its own.)
use arbitrary::{Arbitrary, Unstructured};
use serde_json::json;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::buffer::Buffer;
use strata_code::document::Document;
use strata_grammars::LanguageId;
use strata_lsp::position::PositionEncoding;
use strata_lsp::sync;

#[derive(Arbitrary, Debug)]
struct Input {
    language: u8,
    unit: u8,
    text: String,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    Change { version: i8, changes: Vec<Change> },
    Parse,
}

#[derive(Arbitrary, Debug)]
struct Change {
    range: Option<[u8; 4]>,
    text: String,
}

/// Takes any input.
pub(crate) fn check(input: &[u8]) {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(input)) else { return };
    let language = LanguageId::all().nth(usize::from(input.language) % LanguageId::COUNT).unwrap();
    let extension = language.extensions.first().copied().unwrap_or_default();
    let key = FileKey::from(format!("a.{extension}").as_str());
    let unit = [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32]
        [usize::from(input.unit) % 3];
    let mut buffer = Buffer::new(&key, Document::open(&input.text, 0, language.name));
    let mut version = 0;
    for step in input.steps.iter().take(16) {
        match step {
            Step::Change { version: rise, changes } => {
                version += i32::from(*rise);
                let changes: Vec<_> = changes
                    .iter()
                    .map(|Change { range, text }| match range {
                        Some([a, b, c, d]) => json!({
                            "range": { "start": { "line": a, "character": b }, "end": { "line": c, "character": d } },
                            "text": text,
                        }),
                        None => json!({ "text": text }),
                    })
                    .map(|change| serde_json::from_value(change).unwrap())
                    .collect();
                buffer = sync::apply_changes(&buffer, version, &changes, unit);
            }
            Step::Parse => {
                if let Ok(Some(parsed)) = buffer.parse(&key, &Cancel::new()) {
                    buffer.install_parse(parsed);
                }
            }
        }
    }
    // The next full text is what counts, whatever was before it.
    let text = format!("{}\n{}", input.text, buffer.document().text());
    let whole = serde_json::from_value(json!({ "text": text })).unwrap();
    buffer = sync::apply_changes(&buffer, version.saturating_add(1), &[whole], unit);
    assert!(buffer.document().is_in_step());
    let mut fresh = Buffer::new(&key, Document::open(&text, 0, language.name));
    assert_eq!(buffer.document().text(), fresh.document().text());
    let [followed, fresh] =
        [&mut buffer, &mut fresh].map(|buffer| buffer.symbols(&key, &Cancel::new()).unwrap());
    assert_eq!(followed, fresh);
}
