//! The doors of the library: names, selections, listings, readers, documents.

use std::collections::BTreeSet;

use strata_app::model::documents::key_of;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_host::disk::{TextCache, quick_stamp, read_text, stamp_of};
use strata_host::path_patterns::expand_path_pattern;
use strata_host::roots::{RootFolder, Roots};
use strata_host::rule_files::rule_files;
use strata_host::walk::{Walk, WalkOptions, walk, walk_subtree};

use super::cases::{Case, cases};
use super::workspace::Field;

const MAX_BYTES: u64 = 1 << 20;

/// The workspace with what a walk of it found.
struct House {
    roots: Roots,
    walk: Walk,
    cache: TextCache,
}

impl House {
    fn new(roots: Roots) -> Self {
        let walk = walk(&roots, &WalkOptions::default(), &Cancel::new()).unwrap();
        Self { roots, walk, cache: TextCache::new(1 << 20) }
    }

    /// Everything that comes in by this text, by whatever door, with all that is said of it.
    fn all_of(&self, text: &str) -> Vec<(&'static str, String)> {
        let mut came = Vec::new();
        let resolved = self.roots.resolve(text);
        came.push(("its name", format!("{resolved:?}")));
        let mut keys: BTreeSet<FileKey> = resolved.into_iter().collect();
        // As a session file or a client names it, without having asked.
        keys.insert(FileKey::new(text));
        for pattern in [text.to_owned(), format!("{text}/*"), format!("{text}/**"), format!("{text}*")] {
            let found = expand_path_pattern(&self.roots, &self.walk.entries, &pattern);
            came.push(("a selection", format!("{found:?}")));
            keys.extend(found.into_iter().flat_map(|found| found.files));
            let named = rule_files(&self.roots, &[pattern]);
            came.push(("a short list", format!("{named:?}")));
            keys.extend(named);
        }
        if let Some(key) = key_of(text, &self.roots) {
            came.push(("a document", key.as_str().to_owned()));
            keys.insert(key);
        }
        for key in &keys {
            came.push(("a text", format!("{:?}", read_text(&self.roots, key, MAX_BYTES))));
            came.push(("a stamp", format!("{:?}", stamp_of(&self.roots, key))));
            came.push(("a kept text", format!("{:?}", self.cache.text(&self.roots, key, MAX_BYTES))));
            came.push(("a glance", format!("{:?}", quick_stamp(&self.roots, key))));
            came.push((
                "a look",
                format!("{:?}", walk_subtree(&self.roots, key, &WalkOptions::default(), &Cancel::new())),
            ));
        }
        came
    }
}

/// The verdict on a text as the table writes it.
fn verdict(roots: &Roots, text: &str) -> String {
    match roots.resolve(text) {
        Ok(key) => format!("={}", key.as_str()),
        Err(error) => {
            let reason = format!("{:?}", error.reason);
            reason.split(['(', ' ']).next().unwrap_or_default().to_owned()
        }
    }
}

#[test]
fn nothing_comes_in_from_outside_by_any_path_through_any_door() {
    let field = Field::new();
    let cases = cases(&field);
    let texts: BTreeSet<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    assert_eq!(texts.len(), cases.len(), "each case is another one");
    assert!(cases.len() >= 200, "{}", cases.len());
    let house = House::new(Roots::single(field.root()).unwrap());
    let (mut doors, mut refused, mut others) = (0, 0, Vec::new());
    for Case { text, verdict: expected } in &cases {
        let verdict = verdict(&house.roots, text);
        if verdict != *expected {
            others.push(format!("{text:?} is {verdict}, not {expected}"));
        }
        refused += usize::from(!expected.starts_with('='));
        for (door, came) in house.all_of(text) {
            Field::check(&format!("{door} by {text:?}"), &came);
            doors += 1;
        }
    }
    assert!(others.is_empty(), "{others:#?}");
    eprintln!("{} paths, {refused} of them refused, {doors} ways in: nothing from outside", cases.len());
}

#[test]
fn the_same_holds_in_a_folder_that_is_a_link_and_with_several_folders() {
    let field = Field::new();
    let folder = |path: &str| RootFolder { name: None, path: field.top().join(path) };
    let nested = format!("{}/nested", super::workspace::ROOT);
    let houses = [
        House::new(Roots::new([folder("other-name")]).unwrap()),
        House::new(Roots::new([folder(super::workspace::ROOT), folder(&nested)]).unwrap()),
        House::new(Roots::new([folder(&nested), folder("not-there"), folder("other-name")]).unwrap()),
    ];
    let mut doors = 0;
    for house in &houses {
        for case in cases(&field) {
            for (door, came) in house.all_of(&case.text) {
                Field::check(&format!("{door} by {:?}", case.text), &came);
                doors += 1;
            }
        }
    }
    eprintln!("{doors} ways in: nothing from outside");
}

#[test]
fn a_walk_and_what_is_read_of_it_see_the_inside_only() {
    let field = Field::new();
    let house = House::new(Roots::single(field.root()).unwrap());
    Field::check("the walk", &format!("{:?}", house.walk));
    let listed: Vec<&str> = house.walk.entries.iter().map(|entry| entry.key.as_str()).collect();
    assert!(listed.contains(&"src/deep/mod.rs") && listed.contains(&"hard.txt"), "{listed:?}");
    assert!(!listed.contains(&"fifo") && !listed.contains(&"link.rs"), "{listed:?}");
    let all: Vec<FileKey> = cases(&field).into_iter().map(|case| FileKey::new(case.text)).collect();
    let read: Vec<String> =
        all.iter().map(|key| format!("{:?}", read_text(&house.roots, key, MAX_BYTES))).collect();
    Field::check("what is read", &read.join("\n"));
    assert!(read.join("").contains("pub fn inside"), "what is inside was read");
}

/// A file has as many names as it has hard links, and none of them is its real one: the system cannot tell. Whoever can link a file into
/// the workspace can read it.
#[test]
fn a_hard_link_is_a_file_of_its_own() {
    let field = Field::new();
    let roots = Roots::single(field.root()).unwrap();
    let text = read_text(&roots, &"hard.txt".into(), MAX_BYTES).unwrap().text;
    assert_eq!(&*text, "a text with two names\n");
}

#[test]
fn a_folder_that_disappears_or_becomes_a_link_is_gone() {
    let field = Field::new();
    let aside = field.top().join("aside");
    let house = House::new(Roots::single(field.root()).unwrap());
    assert!(house.cache.text(&house.roots, &"a.rs".into(), MAX_BYTES).is_ok());
    std::fs::rename(field.root(), &aside).unwrap();
    let look = |what: &str| {
        for text in ["a.rs", "src/lib.rs", "secret.txt", "new.rs"] {
            for (door, came) in house.all_of(text) {
                Field::check(&format!("{door} by {text} when {what}"), &came);
                assert!(!came.contains("pub fn inside"), "{door} by {text} when {what}: {came}");
            }
        }
    };
    look("the folder is gone");
    std::os::unix::fs::symlink("outside", field.root()).unwrap();
    look("the folder is a link");
    std::fs::remove_file(field.root()).unwrap();
    std::fs::rename(aside, field.root()).unwrap();
    assert!(house.cache.text(&house.roots, &"a.rs".into(), MAX_BYTES).is_ok(), "and is back");
}
