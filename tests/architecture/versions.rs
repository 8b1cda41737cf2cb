//! All parts of the project have the same version, and every library has only one. Reads manifests only.

use serde_json::Value;
use toml::Table;

use crate::repo::File;

/// Returns the manifests whose version differs from the workspace's.
pub(crate) fn different(manifests: &[File], packages: &[File]) -> Vec<String> {
    let Some(root) = manifests.iter().find(|file| file.path == "Cargo.toml").map(table) else {
        return vec!["there is no Cargo.toml in the top directory".to_owned()];
    };
    let Some(version) = root["workspace"]["package"].get("version").and_then(toml::Value::as_str) else {
        return vec!["the workspace has no version".to_owned()];
    };
    let mut found = Vec::new();
    let inner = root["workspace"].get("dependencies").and_then(toml::Value::as_table).into_iter().flatten();
    for (name, dependency) in inner.filter(|(_, dependency)| dependency.get("path").is_some()) {
        if dependency.get("version").and_then(toml::Value::as_str) != Some(version) {
            found.push(format!("the version of {name} in Cargo.toml is not {version}"));
        }
    }
    for (file, package) in members(manifests) {
        let own = package.get("package").and_then(|package| package.get("version"));
        let inherited = own.and_then(|own| own.get("workspace")).and_then(toml::Value::as_bool) == Some(true);
        if !inherited && own.and_then(toml::Value::as_str) != Some(version) {
            found.push(format!("the version in {} is not {version}", file.path));
        }
    }
    for file in packages {
        let package: Value = serde_json::from_str(&file.text).unwrap_or_default();
        if package["version"] != version {
            found.push(format!("the version in {} is not {version}", file.path));
        }
    }
    found
}

/// Returns the dependencies whose version is set by a crate instead of the workspace.
pub(crate) fn local(manifests: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for (file, manifest) in members(manifests) {
        let targets = manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten();
        let places = [&manifest].into_iter().chain(targets.filter_map(|(_, target)| target.as_table()));
        for place in places {
            for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let dependencies = place.get(kind).and_then(toml::Value::as_table).into_iter().flatten();
                for (name, dependency) in dependencies {
                    if dependency.get("workspace").and_then(toml::Value::as_bool) != Some(true) {
                        found.push(format!("{} sets its own version of {name}", file.path));
                    }
                }
            }
        }
    }
    found
}

/// Returns the crates of the workspace. Excludes crates that are their own workspace, as cargo-fuzz requires,
/// since they cannot inherit versions.
fn members(manifests: &[File]) -> impl Iterator<Item = (&File, Table)> {
    let inner = manifests.iter().filter(|file| file.path != "Cargo.toml");
    inner.map(|file| (file, table(file))).filter(|(_, manifest)| !manifest.contains_key("workspace"))
}

fn table(file: &File) -> Table {
    file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace.package]\nversion = \"1.2.3\"\n[workspace.dependencies]\nserde = \"1\"\n";

    fn check(root: &str, manifest: &str, package: &str) -> Vec<String> {
        let manifests = [File::new("Cargo.toml", root), File::new("a/Cargo.toml", manifest)];
        different(&manifests, &[File::new("editors/a/package.json", package)])
    }

    #[test]
    fn another_version_is_found() {
        let inherits = "[package]\nversion.workspace = true";
        let same = r#"{"version": "1.2.3"}"#;
        assert_eq!(check(ROOT, inherits, same), [""; 0]);
        assert_eq!(check(ROOT, "[package]\nversion = \"1.2.3\"", same), [""; 0]);
        assert_eq!(check(ROOT, "[package]\nversion = \"1.2.4\"", same).len(), 1);
        assert_eq!(check(ROOT, "[package]\nname = \"a\"", same).len(), 1);
        assert_eq!(check(ROOT, inherits, r#"{"version": "1.2"}"#).len(), 1);
        assert_eq!(check(ROOT, inherits, "{}").len(), 1);
        let inner = format!("{ROOT}a = {{ path = \"a\", version = \"1.2.2\" }}\n");
        assert_eq!(check(&inner, inherits, same).len(), 1);
    }

    #[test]
    fn a_version_of_its_own_is_found() {
        let check = |text: &str| local(&[File::new("a/Cargo.toml", text)]).len();
        assert_eq!(check("[dependencies]\nserde.workspace = true"), 0);
        assert_eq!(check("[dev-dependencies]\nserde = { workspace = true, features = [\"rc\"] }"), 0);
        assert_eq!(check("[dependencies]\nserde = \"1\""), 1);
        assert_eq!(check("[workspace]\n[dependencies]\nserde = \"1\""), 0, "a workspace of its own");
        assert_eq!(check("[build-dependencies]\nserde = { path = \"../serde\" }"), 1);
        assert_eq!(check("[target.'cfg(unix)'.dependencies]\nrustix = \"1\""), 1);
    }
}
