//! Checks that the documentation matches the project: links and citations have existing targets, and every
//! command, tool and dependency is described. Does not check whether a sentence is true.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "test support outside of test functions")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use strata_app::commands::{Access, COMMANDS, CommandDefinition};
use strata_app::jobs::tools::TOOLS;

/// Directories with pages for users and contributors.
const FOLDERS: [&str; 10] = [
    "",
    "docs",
    "editors",
    "editors/examples",
    "editors/neovim",
    "editors/vscode",
    "editors/vscode/media/walkthrough",
    "grammars",
    "tests/clients",
    "tests/editors/recipes",
];

/// A Markdown file, with its path relative to the top of the repository.
struct Page {
    path: PathBuf,
    text: String,
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is inside the workspace")
}

fn page(path: &str) -> String {
    fs::read_to_string(top().join(path)).unwrap()
}

/// Returns the pages in [`FOLDERS`].
fn pages() -> Vec<Page> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(top().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path).unwrap();
                found.push(Page { path: path.strip_prefix(top()).unwrap().to_owned(), text });
            }
        }
    }
    assert!(found.len() > 5, "only {} pages", found.len());
    found
}

/// Returns the targets of the links in a text.
fn links(text: &str) -> Vec<String> {
    let link = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    };
    Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(link).collect()
}

/// Returns the anchors of the headings in a text.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match (event, &mut heading) {
            (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
            (Event::Text(text) | Event::Code(text), Some(heading)) => heading.push_str(&text),
            (Event::End(TagEnd::Heading(_)), Some(text)) => {
                let kept = text.to_lowercase().replace(' ', "-");
                found.insert(kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect());
                heading = None;
            }
            _ => {}
        }
    }
    found
}

/// Returns the links of a page without an existing target.
fn dead(page: &Page) -> Vec<String> {
    let mut found = Vec::new();
    for link in links(&page.text).into_iter().filter(|link| !link.contains("://")) {
        let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let target = top().join(page.path.parent().unwrap_or(Path::new(""))).join(path);
        let lives = match (path, anchor) {
            (_, "") => target.exists(),
            ("", anchor) => anchors(&page.text).contains(anchor),
            (_, anchor) => fs::read_to_string(target).is_ok_and(|text| anchors(&text).contains(anchor)),
        };
        if !lives {
            found.push(format!("{}: {link}", page.path.display()));
        }
    }
    found
}

/// Returns the pages that the comments of a source file cite, written as `path.md`, each with the section in
/// quotes after it, if any.
fn citations(text: &str) -> Vec<(String, Option<String>)> {
    let comments: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("//"))
        .map(|line| line.trim_start_matches(['/', '!']).trim())
        .collect();
    let text = comments.join(" ");
    let mut found = Vec::new();
    for (at, _) in text.match_indices(".md`") {
        let Some(start) = text[..at].rfind('`') else { continue };
        let section = text[at + 4..].strip_prefix(", \"").and_then(|rest| rest.split_once('"'));
        found.push((text[start + 1..at + 3].to_owned(), section.map(|(section, _)| section.to_owned())));
    }
    found
}

/// Collects all Rust source files below a directory.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn comments_cite_pages_that_exist() {
    let mut files = Vec::new();
    ["grammars/src", "server"].iter().for_each(|folder| sources(&top().join(folder), &mut files));
    let mut wrong = Vec::new();
    let mut right = 0;
    for file in files {
        for (page, section) in citations(&fs::read_to_string(&file).unwrap()) {
            let text = fs::read_to_string(top().join(&page)).unwrap_or_default();
            let has =
                |section: String| text.lines().any(|line| line.trim_start_matches('#').trim() == section);
            let is_bold = |section: &str| text.contains(&format!("**{section}.**"));
            if text.is_empty() || section.is_some_and(|section| !is_bold(&section) && !has(section)) {
                wrong.push(format!("{}: {page}", file.display()));
            } else {
                right += 1;
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "these comments cite pages or sections that do not exist:\n{}",
        wrong.join("\n")
    );
    assert!(right > 0, "no comment cites a page; has the form of citations changed?");
}

#[test]
fn citations_are_found() {
    let text = "//! As in `docs/a.md`, \"B\nlet a = \"`c.md`\";\n//! c\". And\n    /// (`d.md`).";
    let expected = [("docs/a.md", Some("B c")), ("d.md", None)];
    let expected: Vec<_> =
        expected.map(|(page, section)| (page.to_owned(), section.map(str::to_owned))).to_vec();
    assert_eq!(citations(text), expected);
}

#[test]
fn links_lead_somewhere() {
    let dead: Vec<String> = pages().iter().flat_map(dead).collect();
    assert!(dead.is_empty(), "these links have no target:\n{}", dead.join("\n"));
}

#[test]
fn a_dead_link_is_found() {
    let check = |text: &str| {
        let page = Page { path: PathBuf::from("docs/x.md"), text: text.to_owned() };
        dead(&page).len()
    };
    assert_eq!(check("# A `b` c\n[a](../README.md) [b](#a-b-c) [c](https://example.org/x)"), 0);
    assert_eq!(check("[a](README.md)"), 1);
    assert_eq!(check("# A\n[a](#b)"), 1);
    assert_eq!(check("| x |\n|---|\n| [a](../no/such.rs) |"), 1);
    assert_eq!(check("[a](../CONTRIBUTING.md#no-such-heading)"), 1);
}

#[test]
fn every_command_is_described_and_no_other() {
    let text = page("docs/commands.md");
    let described: BTreeSet<&str> = text
        .split('`')
        .filter(|code| code.starts_with("strata.") && code.matches('.').count() == 2)
        .collect();
    let missing: Vec<_> =
        COMMANDS.iter().map(|command| command.name).filter(|name| !described.contains(name)).collect();
    assert!(missing.is_empty(), "docs/commands.md does not describe {missing:?}");
    // Accepted, but not announced.
    let known =
        |name: &&&str| CommandDefinition::by_name(name).is_some() || **name == "strata.compaction.run";
    let stray: Vec<_> = described.iter().filter(|name| !known(name)).collect();
    assert!(stray.is_empty(), "docs/commands.md describes {stray:?}, which do not exist");
}

#[test]
fn every_tool_stands_in_its_page() {
    let text = page("docs/mcp.md");
    let section = text.split("\n## ").find(|section| section.starts_with("Tools")).unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = TOOLS
        .iter()
        .map(|tool| {
            let changes = match tool.access() {
                Access::Reads => "",
                Access::Changes => "the selection ",
                Access::Stores => "the notes ",
            };
            format!("| `{}` | `{}` | {changes}|", tool.name, tool.command)
        })
        .collect();
    assert_eq!(rows, expected, "the table in docs/mcp.md is outdated");
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = page("Cargo.toml");
    let (_, dependencies) = manifest.split_once("[workspace.dependencies]\n").unwrap();
    let dependencies = dependencies.split("\n[").next().unwrap();
    let silent: Vec<&str> = dependencies.split("\n\n").filter(|group| !group.starts_with('#')).collect();
    assert!(silent.is_empty(), "these dependencies have no reason in Cargo.toml:\n{}", silent.join("\n"));
    assert!(dependencies.split("\n\n").count() > 40);
}
