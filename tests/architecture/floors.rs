//! Dependencies between the files of each crate: they never form a cycle, and those of a crate with floors point from
//! higher floors to lower ones. A re-exported name counts as a dependency on the file that defines it.

use std::collections::{BTreeMap, BTreeSet};

use crate::repo::File;
use crate::source::paths;

/// A crate, by the directory of its sources.
pub(crate) struct Crate {
    sources: &'static str,
    /// The floors, each with those that it may use in addition to itself. Files on no floor are the base, which every
    /// file may use.
    floors: &'static [Floor],
}

type Floor = (&'static str, &'static [&'static str]);

pub(crate) const CRATES: &[Crate] = &[
    Crate {
        sources: "server/app/src/",
        floors: &[
            ("model", &[]),
            ("services", &["model"]),
            ("commands", &["model", "services"]),
            ("jobs", &["model", "services", "commands"]),
            ("runtime", &["model", "services", "commands", "jobs"]),
        ],
    },
    Crate { sources: "server/engine/base/src/", floors: &[] },
    Crate { sources: "server/engine/tokens/src/", floors: &[] },
    Crate { sources: "server/engine/code/src/", floors: &[] },
    Crate { sources: "server/engine/conversation/src/", floors: &[] },
    Crate { sources: "server/engine/prompt/src/", floors: &[] },
    Crate { sources: "server/host/src/", floors: &[] },
    Crate { sources: "server/lsp/src/", floors: &[] },
    Crate { sources: "server/mcp/src/", floors: &[] },
    Crate { sources: "server/replay/src/", floors: &[] },
    Crate { sources: "server/cli/src/", floors: &[] },
];

type Module = Vec<String>;

/// The dependencies between the files of a crate, identified by their modules. Excludes tests.
pub(crate) struct Arrows {
    floors: &'static [Floor],
    files: BTreeMap<Module, String>,
    /// Names that each file uses, by the file that defines them.
    named: BTreeMap<Module, BTreeMap<Module, BTreeSet<String>>>,
}

/// Names in scope in a file, with the paths that they stand for.
type Scope = BTreeMap<String, Module>;

impl Arrows {
    pub(crate) fn of(part: &Crate, sources: &[File]) -> Self {
        let mut files = BTreeMap::new();
        let mut texts: BTreeMap<Module, &str> = BTreeMap::new();
        for file in sources {
            let Some(module) = module_of(part, &file.path) else { continue };
            let product =
                file.text.find("#[cfg(test)]\nmod tests {").map_or(&*file.text, |end| &file.text[..end]);
            files.insert(module.clone(), file.path.clone());
            texts.insert(module, product);
        }
        let scopes: BTreeMap<&Module, Scope> =
            texts.iter().map(|(module, text)| (module, scope(module, text, &files))).collect();
        let mut named: BTreeMap<Module, BTreeMap<Module, BTreeSet<String>>> = BTreeMap::new();
        for (module, text) in &texts {
            let handed_on = handed_on(text);
            for path in paths(text).into_iter().map(|named| named.path) {
                if handed_on.contains(&path) {
                    continue;
                }
                let Some(path) = absolute(module, &path, &scopes[module], &files) else { continue };
                let (definer, name) = definer(path, &scopes, &files);
                if let Some(name) = name
                    && definer != *module
                {
                    named.entry(module.clone()).or_default().entry(definer).or_default().insert(name);
                }
            }
        }
        assert!(!files.is_empty(), "{} has no sources; has the crate moved?", part.sources);
        Self { floors: part.floors, files, named }
    }

    /// Returns the uses of names from a floor that the file must not use.
    pub(crate) fn upward(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (from, targets) in &self.named {
            for (to, names) in targets {
                let (own, other) = (self.floor(from), self.floor(to));
                let allowed = match (own, other) {
                    (_, None) => true,
                    (None, Some(_)) => from.is_empty(),
                    (Some((name, below)), Some((other, _))) => name == other || below.contains(other),
                };
                if !allowed {
                    found.push(format!("{} uses {names:?} of {}", self.files[from], self.files[to]));
                }
            }
        }
        found
    }

    fn floor(&self, module: &Module) -> Option<&'static Floor> {
        self.floors.iter().find(|(name, _)| module.first().is_some_and(|first| first == name))
    }

    /// Returns the uses of names between files that form a cycle.
    pub(crate) fn circles(&self) -> Vec<String> {
        let mut open: BTreeSet<&Module> = self.files.keys().collect();
        // A file that uses no remaining file, or that no remaining file uses, is part of no cycle.
        loop {
            let before = open.len();
            let leads_on = |module: &Module| {
                self.named.get(module).is_some_and(|targets| targets.keys().any(|to| open.contains(to)))
            };
            let is_reached = |module: &Module| {
                open.iter().any(|from| self.named.get(*from).is_some_and(|to| to.contains_key(module)))
            };
            let left: BTreeSet<&Module> =
                open.iter().copied().filter(|module| leads_on(module) && is_reached(module)).collect();
            open = left;
            if open.len() == before {
                break;
            }
        }
        let arrows = open
            .iter()
            .flat_map(|from| self.named.get(*from).into_iter().flatten().map(move |to| (from, to)));
        arrows
            .filter(|(_, (to, _))| open.contains(to))
            .map(|(from, (to, names))| format!("{} uses {names:?} of {}", self.files[*from], self.files[to]))
            .collect()
    }
}

/// Returns the module of a file of the crate, or `None` for tests and files of other crates.
fn module_of(part: &Crate, path: &str) -> Option<Module> {
    let path = path.strip_prefix(part.sources)?.strip_suffix(".rs")?;
    let mut module: Module = path.split('/').map(str::to_owned).collect();
    if module.iter().any(|part| part == "tests") {
        return None;
    }
    if module.len() == 1 && matches!(&*module[0], "lib" | "main") {
        module.pop();
    }
    Some(module)
}

/// Returns the paths that a file re-exports.
fn handed_on(text: &str) -> BTreeSet<Vec<String>> {
    let uses = text.split(';').filter_map(|statement| {
        let at = statement.rfind("\npub use ").or_else(|| statement.rfind("\npub(crate) use "))?;
        let (_, tree) = statement[at..].split_once("use ")?;
        Some(format!("use {tree};"))
    });
    uses.flat_map(|text| paths(&text)).map(|named| named.path).collect()
}

fn scope(module: &Module, text: &str, files: &BTreeMap<Module, String>) -> Scope {
    let uses = text.split(';').filter_map(|statement| {
        let at = statement.rfind("\nuse ").or_else(|| statement.rfind("\npub use "));
        let at = at.or_else(|| statement.rfind("\npub(crate) use "))?;
        let (_, tree) = statement[at..].split_once("use ")?;
        Some(format!("use {tree};"))
    });
    let mut scope = Scope::new();
    for named in uses.flat_map(|text| paths(&text)) {
        let Some(path) = absolute(module, &named.path, &Scope::new(), files) else { continue };
        if let Some(name) = path.last().cloned() {
            scope.insert(name, path);
        }
    }
    scope
}

/// Returns a path relative to the crate root, or `None` for a path to another crate or to a local name.
fn absolute(
    module: &Module,
    path: &[String],
    scope: &Scope,
    files: &BTreeMap<Module, String>,
) -> Option<Module> {
    let mut at = module.clone();
    let first = path.first()?;
    let rest = match first.as_str() {
        "crate" => {
            at.clear();
            &path[1..]
        }
        "self" => &path[1..],
        "super" => {
            let ups = path.iter().take_while(|part| *part == "super").count();
            at.truncate(at.len().saturating_sub(ups));
            &path[ups..]
        }
        _ => {
            let child: Module = at.iter().cloned().chain([first.clone()]).collect();
            if let Some(known) = scope.get(first) {
                return Some(known.iter().chain(&path[1..]).cloned().collect());
            }
            if !files.contains_key(&child) {
                return None;
            }
            path
        }
    };
    at.extend(rest.iter().cloned());
    Some(at)
}

/// Returns the file that defines the target of a path, and the target's name, or `None` for a path to a module.
fn definer(
    path: Module,
    scopes: &BTreeMap<&Module, Scope>,
    files: &BTreeMap<Module, String>,
) -> (Module, Option<String>) {
    let mut path = path;
    // A name may be re-exported several times.
    for _ in 0..8 {
        let depth =
            (0..=path.len()).rev().find(|depth| files.contains_key(&path[..*depth])).unwrap_or_default();
        let module: Module = path[..depth].to_vec();
        let Some(name) = path.get(depth) else { return (module, None) };
        match scopes.get(&module).and_then(|scope| scope.get(name)) {
            Some(origin) => path = origin.iter().chain(&path[depth + 1..]).cloned().collect(),
            None => return (module, Some(name.clone())),
        }
    }
    (path, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(files: &[(&str, &str)]) -> Arrows {
        let app = &CRATES[0];
        let file = |(path, text): &(&str, &str)| File::new(&format!("{}{path}", app.sources), text);
        Arrows::of(app, &files.iter().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn arrows_down_are_allowed_and_others_are_found() {
        let bottom = ("model/count.rs", "//! Counts.\npub fn count() {}\n");
        let use_of = |path: &str| format!("//! Uses.\nuse crate::{path};\n");
        for (from, to, upward) in [
            ("runtime/a.rs", "model::count::count", 0),
            ("commands/a.rs", "model::count::count", 0),
            ("model/a.rs", "runtime::b::B", 1),
            ("commands/a.rs", "jobs::b::B", 1),
            ("base.rs", "model::count::count", 1),
        ] {
            let text = use_of(to);
            let others = ["runtime/b.rs", "jobs/b.rs"].map(|path| (path, "//! B.\npub struct B;\n"));
            let files: Vec<_> = [bottom, (from, &text)].into_iter().chain(others).collect();
            assert_eq!(arrows(&files).upward().len(), upward, "{from} -> {to}");
        }
    }

    #[test]
    fn a_name_counts_for_the_file_that_defines_it() {
        let face = ("runtime.rs", "//! Face.\nmod a;\nmod b;\n\npub use a::A;\npub use b::make;\n");
        let a = ("runtime/a.rs", "//! A.\nuse super::make;\npub struct A;\nfn f() { make() }\n");
        let sound = arrows(&[face, a, ("runtime/b.rs", "//! B.\npub fn make() {}\n")]);
        assert_eq!(sound.circles(), [""; 0]);
        let circle = arrows(&[
            face,
            a,
            ("runtime/b.rs", "//! B.\nuse crate::runtime::A;\npub fn make() -> A { A }\n"),
        ]);
        assert_eq!(circle.circles().len(), 2);
    }

    #[test]
    fn a_file_and_those_below_it_can_make_a_circle() {
        let parent = ("model/a.rs", "//! A.\nmod b;\npub struct A;\nfn f() { b::g(); }\n");
        let found = arrows(&[parent, ("model/a/b.rs", "//! B.\nuse super::A;\npub fn g() { let _ = A; }\n")]);
        assert_eq!(found.circles().len(), 2, "{:?}", found.circles());
    }
}
