//! Checks the rules of `ARCHITECTURE.md` (what each part may use, and the form of every file), and compares the
//! documentation and the generated files with the code. Each rule is a function over text, with tests that show
//! that it can fail. Does not check behavior.

#![expect(clippy::expect_used, clippy::panic, reason = "test support outside of test functions")]

mod dependencies;
mod display;
mod documentation;
mod engine_lints;
mod floors;
mod generated;
mod imports;
mod json;
mod local_paths;
mod modules;
mod pinned;
mod promises;
mod prose;
mod repo;
mod signatures;
mod source;
mod versions;
mod vocabulary;

use repo::Repo;

/// Fails with all findings and with advice on how to fix them.
fn hold(findings: &[String], what_to_do: &str) {
    assert!(findings.is_empty(), "\n{}\n\n{what_to_do}\n", findings.join("\n"));
}

#[test]
fn every_module_says_what_it_owns() {
    let findings = modules::without_docs(&Repo::open().sources());
    hold(&findings, "Start the file with `//!`: what the module does and what it never does.");
}

#[test]
fn no_module_is_a_drawer_for_everything() {
    let findings = modules::drawers(&Repo::open().sources());
    hold(&findings, "Name the module after its purpose, or move its functions to where they belong.");
}

#[test]
fn names_use_the_words_of_the_field() {
    let sources = Repo::open().sources();
    hold(&vocabulary::replaced(&sources), "Rename it, or list it as an exception with the reason.");
    hold(&vocabulary::needless_exceptions(&sources), "Remove it from the exceptions.");
}

#[test]
fn sentences_use_plain_words() {
    let texts = Repo::open().texts();
    hold(&prose::replaced(&texts), "Reword it, or list it as an exception with the reason.");
    hold(&prose::needless_exceptions(&texts), "Remove it from the exceptions.");
}

#[test]
fn no_crate_names_what_lies_behind_a_wall() {
    let findings = imports::across_walls(&Repo::open().sources());
    hold(&findings, "Take the value as an argument, or move the code to the crate that may use the path.");
}

#[test]
fn replies_are_declared_once() {
    let findings = json::mirror_types(&Repo::open().sources());
    hold(&findings, "Call the command by type (`HeadlessWorkspace::call`), and use the fields of its reply.");
}

#[test]
fn json_stays_at_the_edges() {
    let repo = Repo::open();
    let findings = json::outside_edges(&repo.sources(), &repo.text("ARCHITECTURE.md"));
    hold(&findings, "Use a type, or name the edge in the table of ARCHITECTURE.md.");
}

#[test]
fn the_domain_and_the_grammars_never_await() {
    let findings = imports::awaiting(&Repo::open().sources());
    hold(&findings, "Keep the code synchronous: the pool runs it, and `Cancel` stops it.");
}

#[test]
fn events_are_posted_before_the_first_await() {
    let repo = Repo::open();
    let backend = repo.source("server/lsp/src/backend.rs");
    hold(
        &imports::late_events(&backend),
        "Post the event first, so that events are handled in the order of their messages.",
    );
}

#[test]
fn positions_are_converted_in_one_module() {
    let findings = imports::positions(&Repo::open().sources());
    hold(&findings, "Convert in `server/lsp/src/position.rs`; everywhere else offsets are bytes.");
}

#[test]
fn one_module_of_each_client_shows_text() {
    let findings = display::outside(&Repo::open().texts());
    hold(&findings, "Call a function of that module, which makes text from outside harmless.");
}

#[test]
fn public_functions_take_no_booleans() {
    let findings = signatures::booleans(&Repo::open().sources());
    hold(&findings, "Use an enum whose variants describe their meaning at the call.");
}

#[test]
fn dependencies_point_one_way() {
    let findings = dependencies::against_the_order(&Repo::open().members());
    hold(
        &findings,
        "The layers are {grammars, base} <- tokens <- {code, conversation} <- prompt <- host <- app <- {lsp, mcp, replay} \
         <- cli <- tests.",
    );
}

#[test]
fn only_the_product_has_a_binary() {
    let findings = dependencies::binaries(&Repo::open().members());
    hold(&findings, "`cargo run` must run the product; write an example, a bench or a subcommand instead.");
}

#[test]
fn what_the_engine_depends_on_is_pure() {
    let findings = dependencies::denied(&Repo::open().tree("strata-prompt"), dependencies::IMPURE);
    hold(
        &findings,
        "Move the code that needs it to `host` or `lsp`, or choose a crate that does not depend on it.",
    );
}

#[test]
fn what_the_host_depends_on_speaks_no_protocol() {
    let findings = dependencies::denied(&Repo::open().tree("strata-host"), dependencies::PROTOCOL);
    hold(&findings, "Only `lsp` and `mcp` use a protocol; pass plain values to the host.");
}

#[test]
fn what_the_application_depends_on_speaks_no_protocol() {
    let findings = dependencies::denied(&Repo::open().tree("strata-app"), dependencies::PROTOCOL);
    hold(&findings, "The application does not depend on its front ends; convert in `lsp` or `mcp`.");
}

#[test]
fn the_server_for_agents_is_no_language_server() {
    let of_lsp = &["strata-lsp", "ls-types", "lsp-types", "tower-lsp", "tower-lsp-server"];
    let findings = dependencies::denied(&Repo::open().tree("strata-mcp"), of_lsp);
    hold(&findings, "Move code that both servers need to `app`.");
}

#[test]
fn floors_point_down() {
    let sources = Repo::open().sources();
    let findings = floors::CRATES.iter().flat_map(|part| floors::Arrows::of(part, &sources).upward());
    hold(
        &findings.collect::<Vec<_>>(),
        "Move the type to the floor where it belongs: runtime -> jobs -> commands -> services -> model -> base.",
    );
}

#[test]
fn no_files_make_a_circle() {
    let sources = Repo::open().sources();
    let findings = floors::CRATES.iter().flat_map(|part| floors::Arrows::of(part, &sources).circles());
    hold(&findings.collect::<Vec<_>>(), "Move what both files need to a separate file that both use.");
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
    hold(&findings, "Set the version in the root Cargo.toml and write `name.workspace = true` here.");
}

#[test]
fn clippy_keeps_the_engine_pure() {
    let repo = Repo::open();
    let findings = engine_lints::gaps(&repo.text("server/engine/clippy.toml"));
    hold(&findings, "Add it to server/engine/clippy.toml, with a reason.");
}

#[test]
fn actions_are_pinned_by_commit() {
    let findings = pinned::actions(&Repo::open().texts());
    hold(&findings, "Write `owner/name@COMMIT # v1.2.3`, with the commit of the release.");
}

#[test]
fn python_packages_are_pinned_by_hash() {
    let findings = pinned::packages(&Repo::open().texts());
    hold(
        &findings,
        "Run `uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header FILE -o FILE`.",
    );
}

#[test]
fn installations_are_pinned_and_run_no_scripts_of_packages() {
    let findings = pinned::installations(&Repo::open().texts());
    hold(
        &findings,
        "Install from a list with hashes or a lock file, with the option that the finding names.",
    );
}

#[test]
fn no_file_names_a_path_of_a_developers_machine() {
    let repo = Repo::open();
    let findings = local_paths::paths(&repo.texts(), &local_paths::Machine::here(&repo.root));
    hold(
        &findings,
        "Use a path relative to the repository, or the path of an invented user such as /home/me.",
    );
}

#[test]
fn every_promise_names_tests_that_exist() {
    let repo = Repo::open();
    let findings = promises::unkept(&repo.text("SECURITY.md"), &repo.root);
    hold(&findings, "Name the test that fails if the row is not true, with a link to its file.");
}
