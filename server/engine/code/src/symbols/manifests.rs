//! Parses project files: the names with which imports start (`Cargo.toml`, `go.mod`, `package.json`,
//! `pyproject.toml`, `tsconfig.json`), and generated files (`.gitattributes`). Ignores invalid files. Does not read from
//! disk.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use strata_base::key::FileKey;

use super::attributes::{self, GeneratedRule};

/// Name of the file in which a repository declares generated files. Directory walks skip it, like all hidden
/// files.
pub const ATTRIBUTES: &str = ".gitattributes";

/// The contents of a repository's project files. Does not depend on the order in which the files were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifests {
    pub(super) crates: Vec<CrateRoot>,
    pub(super) renamed_crates: Vec<RenamedCrate>,
    pub(super) go_modules: Vec<GoModule>,
    pub(super) packages: Vec<ScriptPackage>,
    /// Directories in which the packages of Python projects may be.
    pub(super) python_sources: Vec<String>,
    pub(super) scripts: Vec<TsconfigPaths>,
    generated: Vec<GeneratedRule>,
}

/// A Rust crate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CrateRoot {
    /// The name as written in code, with underscores.
    pub(super) name: String,
    /// Path of the crate's root file.
    pub(super) root: String,
}

/// A dependency on a crate under another name (`alias = { package = "name" }`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RenamedCrate {
    /// Both names as written in code, with underscores.
    pub(super) alias: String,
    pub(super) name: String,
    /// Directory of the manifest, in which and below which the alias is valid.
    pub(super) directory: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GoModule {
    pub(super) path: String,
    pub(super) directory: String,
}

/// A JavaScript or TypeScript package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScriptPackage {
    pub(super) name: String,
    pub(super) directory: String,
    /// Paths of the files that the manifest names as entries, relative to the directory.
    pub(super) entries: Vec<String>,
    /// The `exports`: subpaths such as `./lib/*` and their targets, relative to the directory.
    pub(super) exports: Vec<(String, Vec<String>)>,
    /// The `imports`: names such as `#lib/*` and their targets, relative to the directory.
    pub(super) imports: Vec<(String, Vec<String>)>,
}

/// The `compilerOptions` of a `tsconfig.json`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TsconfigPaths {
    pub(super) directory: String,
    /// The `baseUrl`, relative to the top of the repository.
    pub(super) base: Option<String>,
    /// Patterns with at most one `*` and their targets, relative to the top of the repository.
    pub(super) paths: Vec<(String, Vec<String>)>,
}

/// Returns the items of a sorted list whose key equals `wanted`.
pub(super) fn items_with_key<'a, T>(sorted: &'a [T], searched: &str, key: impl Fn(&T) -> &str) -> &'a [T] {
    let start = sorted.partition_point(|item| key(item) < searched);
    let rest = sorted.get(start..).unwrap_or_default();
    let len = rest.iter().take_while(|item| key(item) == searched).count();
    rest.get(..len).unwrap_or_default()
}

#[derive(Deserialize)]
struct CargoManifest {
    package: Option<CargoPackage>,
    lib: Option<CargoLib>,
    workspace: Option<CargoDependencies>,
    #[serde(flatten)]
    dependencies: CargoDependencies,
}

#[derive(Default, Deserialize)]
struct CargoDependencies {
    #[serde(default)]
    dependencies: BTreeMap<String, CargoDependency>,
    #[serde(default, rename = "dev-dependencies")]
    dev_dependencies: BTreeMap<String, CargoDependency>,
    #[serde(default, rename = "build-dependencies")]
    build_dependencies: BTreeMap<String, CargoDependency>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CargoDependency {
    Renamed { package: String },
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct CargoPackage {
    name: Option<String>,
}

#[derive(Default, Deserialize)]
struct CargoLib {
    name: Option<String>,
    path: Option<String>,
}

impl Manifests {
    /// Whether [`read`](Self::read) uses this file.
    pub fn is_manifest(key: &FileKey) -> bool {
        let name = key.file_name();
        matches!(
            name,
            "Cargo.toml"
                | "go.mod"
                | "package.json"
                | "pyproject.toml"
                | "setup.cfg"
                | "setup.py"
                | "tsconfig.json"
                | "tsconfig.base.json"
                | "jsconfig.json"
                | ATTRIBUTES
        )
    }

    pub fn read<'a>(files: impl IntoIterator<Item = (&'a FileKey, &'a str)>) -> Self {
        let mut manifests = Self::default();
        for (key, text) in files {
            match key.file_name() {
                "Cargo.toml" => manifests.read_cargo(key.directory(), text),
                "go.mod" => manifests.go_modules.extend(go_module(key.directory(), text)),
                "package.json" => manifests.packages.extend(script_package(key.directory(), text)),
                "pyproject.toml" => manifests.python_sources.extend(python_sources(key.directory(), text)),
                "setup.cfg" | "setup.py" => {
                    manifests.python_sources.extend(python_sources(key.directory(), ""));
                }
                ATTRIBUTES => manifests.generated.extend(attributes::parse_rules(key.directory(), text)),
                _ if Self::is_manifest(key) => {
                    manifests.scripts.extend(read_tsconfig_paths(key.directory(), text));
                }
                _ => {}
            }
        }
        manifests.crates.sort();
        manifests.crates.dedup();
        manifests.renamed_crates.sort();
        manifests.renamed_crates.dedup();
        manifests.python_sources.sort();
        manifests.python_sources.dedup();
        manifests.packages.sort();
        manifests.packages.dedup();
        manifests.go_modules.sort();
        manifests.go_modules.dedup();
        manifests.scripts.sort();
        manifests.scripts.dedup();
        manifests.generated.sort();
        manifests
    }

    fn read_cargo(&mut self, directory: &str, text: &str) {
        let Ok(manifest) = toml::from_str::<CargoManifest>(text) else { return };
        let CargoManifest { package, lib, workspace, dependencies } = manifest;
        for tables in [dependencies, workspace.unwrap_or_default()] {
            let CargoDependencies { dependencies, dev_dependencies, build_dependencies } = tables;
            for (alias, dependency) in
                dependencies.into_iter().chain(dev_dependencies).chain(build_dependencies)
            {
                if let CargoDependency::Renamed { package } = dependency {
                    self.renamed_crates.push(RenamedCrate {
                        alias: alias.replace('-', "_"),
                        name: package.replace('-', "_"),
                        directory: directory.to_owned(),
                    });
                }
            }
        }
        let lib = lib.unwrap_or_default();
        let Some(name) = lib.name.or_else(|| package?.name) else { return };
        let root = resolve_relative_path(directory, lib.path.as_deref().unwrap_or("src/lib.rs"));
        self.crates.extend(root.map(|root| CrateRoot { name: name.replace('-', "_"), root }));
    }

    /// Whether the repository declares a file generated; `None` if no rule matches, as for most files.
    pub(super) fn is_generated(&self, key: &FileKey) -> Option<bool> {
        attributes::is_generated(&self.generated, key)
    }
}

fn go_module(directory: &str, text: &str) -> Option<GoModule> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let path = line.split("//").next().unwrap_or_default().trim().trim_matches('"').to_owned();
    (!path.is_empty()).then(|| GoModule { path, directory: directory.to_owned() })
}

/// Usual source directories of a Python project, relative to its manifest.
pub(super) const PYTHON_SOURCE_DIRECTORIES: [&str; 4] = ["", "src", "lib", "python"];

/// Returns the source directories of the Python project in a directory: the usual ones, and those that setuptools
/// (`package-dir`, `packages.find.where`), Poetry (`packages.from`) and PDM (`package-dir`) are told.
fn python_sources(directory: &str, text: &str) -> Vec<String> {
    let manifest: toml::Table = toml::from_str(text).unwrap_or_default();
    let tool = |path: &[&str]| path.iter().try_fold(manifest.get("tool")?, |value, name| value.get(name));
    let strings = |value: &toml::Value| -> Vec<String> {
        match value {
            toml::Value::String(path) => vec![path.clone()],
            toml::Value::Array(paths) => {
                paths.iter().filter_map(|path| path.as_str().map(str::to_owned)).collect()
            }
            _ => Vec::new(),
        }
    };
    let mut sources: Vec<String> = PYTHON_SOURCE_DIRECTORIES.map(str::to_owned).into();
    for path in [
        &["setuptools", "package-dir", ""][..],
        &["setuptools", "packages", "find", "where"],
        &["pdm", "build", "package-dir"],
    ] {
        sources.extend(tool(path).map(strings).unwrap_or_default());
    }
    let poetry = tool(&["poetry", "packages"]).and_then(toml::Value::as_array);
    sources.extend(
        poetry.into_iter().flatten().filter_map(|package| package.get("from")?.as_str()).map(str::to_owned),
    );
    sources.iter().filter_map(|source| resolve_relative_path(directory, source)).collect()
}

fn script_package(directory: &str, text: &str) -> Option<ScriptPackage> {
    let value: Value = serde_json::from_str(text).ok()?;
    let name = value.get("name")?.as_str()?.to_owned();
    let fields = ["source", "module", "main", "types"];
    let entries = fields.iter().filter_map(|field| value.get(field)?.as_str()).map(str::to_owned).collect();
    let exports = match value.get("exports") {
        Some(Value::Object(fields)) if fields.keys().any(|key| key.starts_with('.')) => {
            targets_by_subpath(fields)
        }
        Some(only) => vec![(".".to_owned(), export_targets(only))],
        None => Vec::new(),
    };
    let imports = value.get("imports").and_then(Value::as_object).map(targets_by_subpath).unwrap_or_default();
    let directory = directory.to_owned();
    (!name.is_empty()).then_some(ScriptPackage { name, directory, entries, exports, imports })
}

/// Maximum number of targets of one subpath.
const MAX_SUBPATH_TARGETS: usize = 16;

/// Returns the targets of subpaths, the longest and therefore most specific pattern first.
/// Source: Node.js, "Modules: Packages", "Subpath patterns".
fn targets_by_subpath(fields: &serde_json::Map<String, Value>) -> Vec<(String, Vec<String>)> {
    let mut subpaths: Vec<(String, Vec<String>)> =
        fields.iter().map(|(subpath, value)| (subpath.clone(), export_targets(value))).collect();
    subpaths.sort_by(|(a, _), (b, _)| {
        let order = |pattern: &str| (pattern.contains('*'), std::cmp::Reverse(pattern.len()));
        order(a).cmp(&order(b)).then_with(|| a.cmp(b))
    });
    subpaths
}

/// Returns the targets under all conditions, in the order in which they are written.
fn export_targets(value: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    let mut stack = vec![value];
    while let Some(value) = stack.pop()
        && paths.len() < MAX_SUBPATH_TARGETS
    {
        match value {
            Value::String(target) => paths.push(target.clone()),
            Value::Array(targets) => stack.extend(targets.iter().rev()),
            Value::Object(conditions) => stack.extend(conditions.values().rev()),
            _ => {}
        }
    }
    paths
}

fn read_tsconfig_paths(directory: &str, text: &str) -> Option<TsconfigPaths> {
    let value: Value = serde_json::from_str(&jsonc_to_json(text)).ok()?;
    let options = value.get("compilerOptions")?;
    let base = options
        .get("baseUrl")
        .and_then(Value::as_str)
        .and_then(|base| resolve_relative_path(directory, base));
    let base_directory = base.as_deref().unwrap_or(directory);
    let mut paths: Vec<(String, Vec<String>)> = options
        .get("paths")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(pattern, targets)| {
            let targets = targets.as_array().into_iter().flatten().filter_map(Value::as_str);
            (
                pattern.clone(),
                targets.filter_map(|target| resolve_relative_path(base_directory, target)).collect(),
            )
        })
        .collect();
    // Put the longest, and therefore most specific, pattern first.
    paths.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    (base.is_some() || !paths.is_empty()).then(|| TsconfigPaths {
        directory: directory.to_owned(),
        base,
        paths,
    })
}

/// Resolves a path relative to a directory and removes `.` and `..`. Returns `None` if the path leads out of
/// the repository.
pub(super) fn resolve_relative_path(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Converts JSON with comments and trailing commas to plain JSON.
fn jsonc_to_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut in_string = false;
    while let Some(c) = rest.next() {
        match (in_string, c) {
            (true, '\\') => {
                plain.push(c);
                plain.extend(rest.next());
                continue;
            }
            (_, '"') => in_string = !in_string,
            (false, '/') if rest.peek() == Some(&'/') => {
                while rest.next_if(|&c| c != '\n').is_some() {}
                continue;
            }
            (false, '/') if rest.peek() == Some(&'*') => {
                let mut last = ' ';
                rest.next();
                for c in rest.by_ref() {
                    if (last, c) == ('*', '/') {
                        break;
                    }
                    last = c;
                }
                continue;
            }
            (false, ']' | '}') => {
                let end = plain.trim_end();
                if let Some(shorter) = end.strip_suffix(',') {
                    plain.truncate(shorter.len());
                }
            }
            _ => {}
        }
        plain.push(c);
    }
    plain
}
