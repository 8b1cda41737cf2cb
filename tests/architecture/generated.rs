//! Generates files from the Rust types: schemas, TypeScript types, the settings of the VS Code extension, the
//! pages about settings, providers and the protocol, and the map block in `docs/outlines.md`. A test fails if a file in
//! the repository is outdated. `UPDATE_EXPECT=1 cargo test --test architecture generated` updates all of them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test support outside of test functions")]

mod configuration;
mod examples;
mod protocol_page;
mod providers_page;
mod settings_page;
mod typescript;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::outline::{Outline, language_of, map_block};
use strata_lsp::protocol;

/// The command that updates all generated files.
const RENEW: &str = "UPDATE_EXPECT=1 cargo test --test architecture generated";

fn place(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Fails if the file's content differs from `text`. With `UPDATE_EXPECT`, writes the file instead.
fn is_kept(path: &str, text: &str) {
    let file = place(path);
    let kept = fs::read_to_string(&file).unwrap_or_default();
    if kept == text {
        return;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        return;
    }
    let line = kept.lines().zip(text.lines()).take_while(|(kept, made)| kept == made).count();
    let (is, should) =
        (kept.lines().nth(line).unwrap_or("(its end)"), text.lines().nth(line).unwrap_or("(its end)"));
    panic!(
        "{path} is outdated from line {} on; update it with\n\n    {RENEW}\n\n- {is}\n+ {should}",
        line + 1
    );
}

/// Follows the references of a schema.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str().and_then(|reference| root.pointer(reference.trim_start_matches('#'))) {
        Some(meant) => resolved(root, meant),
        None => schema,
    }
}

fn pretty(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap();
    text.push('\n');
    text
}

#[test]
fn schemas() {
    is_kept("docs/schema/protocol.json", &pretty(&protocol::schema()));
    is_kept("docs/schema/settings.json", &pretty(&strata_app::schema::settings_schema()));
}

#[test]
fn typescript_types() {
    is_kept("editors/vscode/src/protocol.ts", &typescript::types(&protocol::schema()));
}

#[test]
fn page_of_the_settings() {
    is_kept("docs/settings.md", &settings_page::page(&strata_app::schema::settings_schema()));
}

#[test]
fn page_of_the_providers() {
    is_kept("docs/providers.md", &providers_page::page(&strata_app::schema::settings_schema()));
}

/// Runs every example on the real server, which also checks the replies against the schema.
#[test]
fn page_of_the_protocol() {
    is_kept("docs/PROTOCOL.md", &protocol_page::page(&protocol::schema(), &examples::record()));
}

#[test]
fn settings_of_the_vscode_extension() {
    let path = "editors/vscode/package.json";
    let manifest = fs::read_to_string(place(path)).unwrap();
    let mut manifest: Value = serde_json::from_str(&manifest).unwrap();
    configuration::put(&mut manifest, &strata_app::schema::settings_schema());
    is_kept(path, &pretty(&manifest));
}

/// The page shows the block of one file in this repository. Nothing else in the page is generated.
#[test]
fn map_block_in_the_page_about_outlines() {
    let (path, shown) = ("docs/outlines.md", "server/engine/base/src/cancel.rs");
    let key = FileKey::from(shown);
    let language = language_of(&key, "").unwrap();
    let source = fs::read_to_string(place(shown)).unwrap();
    let outline = Outline::read(language, &source, &Cancel::new()).unwrap();
    let block = map_block(language, &key, &outline);
    let page = fs::read_to_string(place(path)).unwrap();
    let opening = format!("```text\n{shown}\n");
    let (before, rest) = page.split_once(&opening).unwrap();
    let (_, after) = rest.split_once("\n```\n").unwrap();
    is_kept(path, &format!("{before}```text\n{}\n```\n{after}", block.text.trim_end()));
}
