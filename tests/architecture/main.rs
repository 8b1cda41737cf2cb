//! The rules of `ARCHITECTURE.md`, checked: which part may name what, and what every file looks like; and the documents and generated
//! files, held against the code. Each rule is a function over text, and shows on small bad inputs that it can fail. It knows nothing
//! of what the code does.

#![expect(clippy::expect_used, clippy::panic, reason = "test support outside of test functions")]

mod dependencies;
mod documentation;
mod engine_floors;
mod engine_lints;
mod generated;
mod imports;
mod local_paths;
mod modules;
mod prose;
mod repo;
mod signatures;
mod source;
mod versions;
mod vocabulary;

use repo::Repo;

/// Fails with every finding and with what is to be done about them.
fn hold(findings: &[String], what_to_do: &str) {
    assert!(findings.is_empty(), "\n{}\n\n{what_to_do}\n", findings.join("\n"));
}

#[test]
fn every_module_says_what_it_owns() {
    let findings = modules::without_docs(&Repo::open().sources());
    hold(&findings, "Open the file with `//!`: what the module owns and what it never does.");
}

#[test]
fn no_module_is_a_drawer_for_everything() {
    let findings = modules::drawers(&Repo::open().sources());
    hold(
        &findings,
        "Name the module after the one idea it owns, or move its functions to where they belong.",
    );
}

#[test]
fn names_use_the_words_of_the_field() {
    let sources = Repo::open().sources();
    hold(&vocabulary::replaced(&sources), "Rename it, or list it as an exception with the reason.");
    hold(&vocabulary::needless_exceptions(&sources), "Take it out of the exceptions.");
}

#[test]
fn sentences_use_plain_words() {
    let texts = Repo::open().texts();
    hold(&prose::replaced(&texts), "Reword it, or list it as an exception with the reason.");
    hold(&prose::needless_exceptions(&texts), "Take it out of the exceptions.");
}

#[test]
fn no_crate_names_what_lies_behind_a_wall() {
    let findings = imports::across_walls(&Repo::open().sources());
    hold(&findings, "Take the value as an argument, or move the code to the crate that owns such things.");
}

#[test]
fn the_domain_and_the_grammars_never_await() {
    let findings = imports::awaiting(&Repo::open().sources());
    hold(&findings, "Keep it synchronous: the pool runs it, and `Cancel` ends it.");
}

#[test]
fn events_are_posted_before_the_first_await() {
    let repo = Repo::open();
    let backend = repo.source("server/lsp/src/backend.rs");
    hold(&imports::late_events(&backend), "Post the event first; otherwise wire order is not state order.");
}

#[test]
fn positions_are_converted_in_one_module() {
    let findings = imports::positions(&Repo::open().sources());
    hold(&findings, "Convert in `server/lsp/src/position.rs`; everywhere else offsets are bytes.");
}

#[test]
fn public_functions_take_no_booleans() {
    let findings = signatures::booleans(&Repo::open().sources());
    hold(&findings, "Make an enum whose variants say what they mean at the call.");
}

#[test]
fn dependencies_point_one_way() {
    let findings = dependencies::against_the_order(&Repo::open().members());
    hold(&findings, "grammars <- engine <- host <- app <- {lsp, mcp} <- cli, and tests on top of all.");
}

#[test]
fn only_the_product_has_a_binary() {
    let findings = dependencies::binaries(&Repo::open().members());
    hold(&findings, "`cargo run` must be the product; write an example, a bench or a subcommand instead.");
}

#[test]
fn what_the_engine_depends_on_is_pure() {
    let findings = dependencies::denied(&Repo::open().tree("strata-engine"), dependencies::IMPURE);
    hold(
        &findings,
        "Put what needs it into `host` or `lsp`, or choose a crate that does not bring it along.",
    );
}

#[test]
fn what_the_host_depends_on_speaks_no_protocol() {
    let findings = dependencies::denied(&Repo::open().tree("strata-host"), dependencies::PROTOCOL);
    hold(&findings, "Only `lsp` and `mcp` know a protocol; hand plain values to the host.");
}

#[test]
fn what_the_application_depends_on_speaks_no_protocol() {
    let findings = dependencies::denied(&Repo::open().tree("strata-app"), dependencies::PROTOCOL);
    hold(&findings, "The application does not know which front end calls it; convert in `lsp` or `mcp`.");
}

#[test]
fn the_server_for_agents_is_no_language_server() {
    let of_lsp = &["strata-lsp", "ls-types", "lsp-types", "tower-lsp", "tower-lsp-server"];
    let findings = dependencies::denied(&Repo::open().tree("strata-mcp"), of_lsp);
    hold(&findings, "What both need belongs to `app`.");
}

#[test]
fn the_floors_of_the_engine_point_down() {
    let findings = engine_floors::Arrows::of(&Repo::open().sources()).upward();
    hold(
        &findings,
        "Move the type to the floor that it belongs to: prompt -> {conversation, code} -> tokens -> base.",
    );
}

#[test]
fn no_files_of_the_engine_make_a_circle() {
    let findings = engine_floors::Arrows::of(&Repo::open().sources()).circles();
    hold(&findings, "Give what both need a file of its own, below both.");
}

#[test]
fn there_is_one_version() {
    let repo = Repo::open();
    let findings = versions::different(&repo.manifests(), &repo.packages());
    hold(&findings, "Use `version.workspace = true`; a package.json repeats the workspace's version.");
}

#[test]
fn third_party_versions_are_named_once() {
    let findings = versions::local(&Repo::open().manifests());
    hold(&findings, "Name the version in the root Cargo.toml and write `name.workspace = true` here.");
}

#[test]
fn clippy_keeps_the_engine_pure() {
    let repo = Repo::open();
    let findings = engine_lints::gaps(&repo.text("server/engine/clippy.toml"));
    hold(&findings, "List it in server/engine/clippy.toml, with the reason.");
}

#[test]
fn no_file_names_a_path_of_a_developers_machine() {
    let repo = Repo::open();
    let findings = local_paths::paths(&repo.texts(), &local_paths::Machine::here(&repo.root));
    hold(&findings, "Write a path relative to the repository, or one of an invented user such as /home/me.");
}
