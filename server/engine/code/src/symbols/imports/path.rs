//! Resolves JavaScript and TypeScript imports: `./a.js`, `../lib`, `@/lib`, `package/part`.

use super::super::manifests::{Manifests, join, of_key};
use super::importer::{Importer, inside, outward};
use super::table::Table;

/// Extensions of compiled files, which imports use instead of the source's extension.
const COMPILED: [&str; 7] = [".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs", ".jsx"];
/// Directories of compiled files. The sources are in `src` or in the directory of the package.
const BUILT: [&str; 9] = ["dist", "lib", "build", "out", "esm", "cjs", "es", "output", "types"];
/// Entry files to try for a package whose manifest does not name an existing one.
const ENTRIES: [&str; 4] = ["src/index", "src/main", "lib/index", ""];

pub(super) fn resolve(
    table: &Table,
    manifests: &Manifests,
    importer: Importer<'_>,
    import: &str,
) -> Vec<u32> {
    let directory = importer.key.directory();
    let at = |path: &str| at(table, importer, path);
    if import.starts_with('#') {
        return private_import(table, manifests, importer, import);
    }
    let import = import.split(['?', '#']).next().unwrap_or(import);
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
        let subpath = if part.is_empty() { ".".to_owned() } else { format!("./{part}") };
        let exported = mapped(&package.exports, &subpath).flat_map(|target| sources(directory, &target));
        let said = package.entries.iter().filter(|_| part.is_empty());
        let said = exported.chain(said.flat_map(|entry| sources(directory, entry)));
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

/// Resolves a name that starts with `#`, by the `imports` of the nearest package.
fn private_import(table: &Table, manifests: &Manifests, importer: Importer<'_>, import: &str) -> Vec<u32> {
    let packages = manifests.packages.iter().filter(|package| !package.imports.is_empty());
    let packages: Vec<_> = packages.collect();
    let package = outward(importer.key.directory())
        .find_map(|directory| packages.iter().find(|package| package.directory == directory));
    let targets = package.into_iter().flat_map(|package| {
        mapped(&package.imports, import).flat_map(|target| sources(&package.directory, &target))
    });
    targets.map(|path| at(table, importer, &path)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Returns the targets of a subpath, in order of preference.
fn mapped<'a>(patterns: &'a [(String, Vec<String>)], subpath: &'a str) -> impl Iterator<Item = String> + 'a {
    patterns.iter().flat_map(move |(pattern, targets)| {
        let star = matched(pattern, subpath);
        targets.iter().filter_map(move |target| Some(target.replacen('*', star?, 1)))
    })
}

/// Returns the paths of the files that a target may be compiled from, with the target itself first.
fn sources(directory: &str, target: &str) -> Vec<String> {
    let Some(path) = join("", target) else { return Vec::new() };
    let mut found = vec![path.clone()];
    if let Some((first, rest)) = path.split_once('/')
        && BUILT.contains(&first)
    {
        found.extend([inside("src", rest), rest.to_owned()]);
        if let Some((_, rest)) = rest.split_once('/').filter(|(next, _)| BUILT.contains(next)) {
            found.push(inside("src", rest));
        }
    }
    found.push(inside("src", &path));
    found.into_iter().map(|path| inside(directory, &path)).collect()
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
