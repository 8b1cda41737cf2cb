//! Resolves JavaScript and TypeScript imports: `./a.js`, `../lib`, `@/lib`, `package/part`.

use super::super::manifests::{Manifests, join, of_key};
use super::importer::{Importer, inside, outward};
use super::table::Table;

/// Extensions of compiled files, which imports use instead of the source's extension.
const COMPILED: [&str; 4] = [".js", ".mjs", ".cjs", ".jsx"];
/// Entry files to try for a package whose manifest does not name an existing one.
const ENTRIES: [&str; 4] = ["src/index", "src/main", "lib/index", ""];

pub(super) fn resolve(
    table: &Table,
    manifests: &Manifests,
    importer: Importer<'_>,
    import: &str,
) -> Vec<u32> {
    let import = import.split(['?', '#']).next().unwrap_or(import);
    let directory = importer.key.directory();
    let at = |path: &str| at(table, importer, path);
    if import.starts_with('.') {
        return join(directory, import).map_or(Vec::new(), |path| at(&path));
    }
    if import.is_empty() {
        return Vec::new();
    }
    for config in outward(directory).flat_map(|around| of_key(&manifests.scripts, around, |c| &c.directory)) {
        for (pattern, targets) in &config.paths {
            let Some(star) = matched(pattern, import) else { continue };
            let found = targets.iter().map(|target| at(&target.replacen('*', star, 1)));
            if let Some(found) = found.into_iter().find(|found| !found.is_empty()) {
                return found;
            }
        }
        let found = config.base.as_ref().map_or(Vec::new(), |base| at(&inside(base, import)));
        if !found.is_empty() {
            return found;
        }
    }
    let (name, part) = split_package(import);
    for package in of_key(&manifests.packages, name, |package| &package.name) {
        let directory = &package.directory;
        let said = package.entries.iter().filter(|_| part.is_empty()).cloned();
        let usual = ENTRIES.iter().filter(|_| part.is_empty()).map(|entry| inside(directory, entry));
        let parts = [part, &inside("src", part)].map(|part| inside(directory, part));
        let parts = parts.into_iter().filter(|_| !part.is_empty());
        if let Some(found) =
            said.chain(usual).chain(parts).map(|path| at(&path)).find(|found| !found.is_empty())
        {
            return found;
        }
    }
    // Try the most common bundler aliases, for projects whose configuration is not known.
    let alias = ["@/", "~/", "/"].iter().find_map(|prefix| import.strip_prefix(prefix));
    let roots = outward(directory).flat_map(|directory| [inside(directory, "src"), directory.to_owned()]);
    alias
        .and_then(|rest| roots.map(|root| at(&inside(&root, rest))).find(|found| !found.is_empty()))
        .unwrap_or_default()
}

/// Resolves a path that may lack its extension, have a different one, or name a directory.
fn at(table: &Table, importer: Importer<'_>, path: &str) -> Vec<u32> {
    if let Some(exact) = table.exact(path) {
        return vec![exact];
    }
    let family = importer.language.family;
    let found = table.modules(path, family);
    if !found.is_empty() {
        return found;
    }
    let source = COMPILED.iter().find_map(|extension| path.strip_suffix(extension));
    source.map_or(Vec::new(), |path| table.modules(path, family))
}

/// Returns the text that the `*` of a pattern matches, empty for a pattern without `*`. Returns `None` if the
/// pattern does not match.
fn matched<'a>(pattern: &str, text: &'a str) -> Option<&'a str> {
    match pattern.split_once('*') {
        None => (pattern == text).then_some(""),
        Some((before, after)) => text.strip_prefix(before)?.strip_suffix(after),
    }
}

/// Splits a package import into the package's name, which may have a scope, and the path inside it: `@scope/name` and
/// `part/of`.
fn split_package(import: &str) -> (&str, &str) {
    let slashes = if import.starts_with('@') { 2 } else { 1 };
    match import.match_indices('/').nth(slashes - 1) {
        Some((at, _)) => (import.get(..at).unwrap_or(import), import.get(at + 1..).unwrap_or_default()),
        None => (import, ""),
    }
}
