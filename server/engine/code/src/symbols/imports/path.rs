//! Resolves JavaScript and TypeScript imports: `./a.js`, `../lib`, `@/lib`, `package/part`.

use super::super::manifests::{Manifests, items_with_key, resolve_relative_path};
use super::importer::{Importer, join_names, self_and_parents};
use super::table::PathTable;

/// Extensions of compiled files, which imports use instead of the source's extension.
const COMPILED_EXTENSIONS: [&str; 7] = [".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs", ".jsx"];
/// Directories of compiled files. The sources are in `src` or in the directory of the package.
const BUILD_DIRECTORIES: [&str; 9] = ["dist", "lib", "build", "out", "esm", "cjs", "es", "output", "types"];
/// Entry files to try for a package whose manifest does not name an existing one.
const FALLBACK_ENTRY_FILES: [&str; 4] = ["src/index", "src/main", "lib/index", ""];

pub(super) fn resolve(
    table: &PathTable,
    manifests: &Manifests,
    importer: Importer<'_>,
    import: &str,
) -> Vec<u32> {
    let directory = importer.key.directory();
    let resolve_path = |path: &str| resolve_path(table, importer, path);
    if import.starts_with('#') {
        return resolve_private_import(table, manifests, importer, import);
    }
    let import = import.split(['?', '#']).next().unwrap_or(import);
    if import.starts_with('.') {
        return resolve_relative_path(directory, import).map_or(Vec::new(), |path| resolve_path(&path));
    }
    if import.is_empty() {
        return Vec::new();
    }
    for config in self_and_parents(directory)
        .flat_map(|ancestor| items_with_key(&manifests.scripts, ancestor, |c| &c.directory))
    {
        for (pattern, targets) in &config.paths {
            let Some(star) = match_star(pattern, import) else { continue };
            let files = targets.iter().map(|target| resolve_path(&target.replacen('*', star, 1)));
            if let Some(files) = files.into_iter().find(|files| !files.is_empty()) {
                return files;
            }
        }
        let files = config.base.as_ref().map_or(Vec::new(), |base| resolve_path(&join_names(base, import)));
        if !files.is_empty() {
            return files;
        }
    }
    let (name, part) = split_package(import);
    for package in items_with_key(&manifests.packages, name, |package| &package.name) {
        let directory = &package.directory;
        let subpath = if part.is_empty() { ".".to_owned() } else { format!("./{part}") };
        let exported = subpath_targets(&package.exports, &subpath)
            .flat_map(|target| source_candidates(directory, &target));
        let declared = package.entries.iter().filter(|_| part.is_empty());
        let declared = exported.chain(declared.flat_map(|entry| source_candidates(directory, entry)));
        let default_entries =
            FALLBACK_ENTRY_FILES.iter().filter(|_| part.is_empty()).map(|entry| join_names(directory, entry));
        let parts = [part, &join_names("src", part)].map(|part| join_names(directory, part));
        let parts = parts.into_iter().filter(|_| !part.is_empty());
        if let Some(files) = declared
            .chain(default_entries)
            .chain(parts)
            .map(|path| resolve_path(&path))
            .find(|files| !files.is_empty())
        {
            return files;
        }
    }
    // Try the most common bundler aliases, for projects whose configuration is not known.
    let alias = ["@/", "~/", "/"].iter().find_map(|prefix| import.strip_prefix(prefix));
    let roots = self_and_parents(directory)
        .flat_map(|directory| [join_names(directory, "src"), directory.to_owned()]);
    alias
        .and_then(|rest| {
            roots.map(|root| resolve_path(&join_names(&root, rest))).find(|files| !files.is_empty())
        })
        .unwrap_or_default()
}

/// Resolves a name that starts with `#`, by the `imports` of the nearest package.
fn resolve_private_import(
    table: &PathTable,
    manifests: &Manifests,
    importer: Importer<'_>,
    import: &str,
) -> Vec<u32> {
    let packages = manifests.packages.iter().filter(|package| !package.imports.is_empty());
    let packages: Vec<_> = packages.collect();
    let package = self_and_parents(importer.key.directory())
        .find_map(|directory| packages.iter().find(|package| package.directory == directory));
    let targets = package.into_iter().flat_map(|package| {
        subpath_targets(&package.imports, import)
            .flat_map(|target| source_candidates(&package.directory, &target))
    });
    targets
        .map(|path| resolve_path(table, importer, &path))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// Returns the targets of a subpath, in order of preference.
fn subpath_targets<'a>(
    patterns: &'a [(String, Vec<String>)],
    subpath: &'a str,
) -> impl Iterator<Item = String> + 'a {
    patterns.iter().flat_map(move |(pattern, targets)| {
        let star = match_star(pattern, subpath);
        targets.iter().filter_map(move |target| Some(target.replacen('*', star?, 1)))
    })
}

/// Returns the paths of the files that a target may be compiled from, with the target itself first.
fn source_candidates(directory: &str, target: &str) -> Vec<String> {
    let Some(path) = resolve_relative_path("", target) else { return Vec::new() };
    let mut candidates = vec![path.clone()];
    if let Some((first, rest)) = path.split_once('/')
        && BUILD_DIRECTORIES.contains(&first)
    {
        candidates.extend([join_names("src", rest), rest.to_owned()]);
        if let Some((_, rest)) = rest.split_once('/').filter(|(next, _)| BUILD_DIRECTORIES.contains(next)) {
            candidates.push(join_names("src", rest));
        }
    }
    candidates.push(join_names("src", &path));
    candidates.into_iter().map(|path| join_names(directory, &path)).collect()
}

/// Resolves a path that may lack its extension, have a different one, or name a directory.
fn resolve_path(table: &PathTable, importer: Importer<'_>, path: &str) -> Vec<u32> {
    if let Some(exact) = table.find_exact(path) {
        return vec![exact];
    }
    let family = importer.language.family;
    let modules = table.module_file_list(path, family);
    if !modules.is_empty() {
        return modules;
    }
    let source = COMPILED_EXTENSIONS.iter().find_map(|extension| path.strip_suffix(extension));
    source.map_or(Vec::new(), |path| table.module_file_list(path, family))
}

/// Returns the text that the `*` of a pattern matches, empty for a pattern without `*`. Returns `None` if the
/// pattern does not match.
fn match_star<'a>(pattern: &str, text: &'a str) -> Option<&'a str> {
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
        Some((slash, _)) => {
            (import.get(..slash).unwrap_or(import), import.get(slash + 1..).unwrap_or_default())
        }
        None => (import, ""),
    }
}
