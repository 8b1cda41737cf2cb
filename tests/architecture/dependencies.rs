//! The crates that each crate may depend on. Checks names only; Cargo reports the dependencies.

use crate::repo::Member;

/// Crates in layers, lowest first. A crate may use those in lower layers only.
const ORDER: &[&[&str]] = &[
    &["strata-base", "strata-grammars"],
    &["strata-tokens"],
    &["strata-code", "strata-conversation"],
    &["strata-prompt"],
    &["strata-host"],
    &["strata-app"],
    &["strata-lsp", "strata-mcp", "strata-replay"],
    &["strata"],
    &["e2e"],
];

/// Crates for what the engine never does: I/O, time, its own threads, protocols.
pub(crate) const IMPURE: &[&str] = &[
    "async-std",
    "chrono",
    "crossbeam-channel",
    "futures",
    "getrandom",
    "gix",
    "git2",
    "hyper",
    "ignore",
    "ls-types",
    "lsp-types",
    "mio",
    "native-tls",
    "notify",
    "rand",
    "rayon",
    "reqwest",
    "rmcp",
    "rusqlite",
    "rustix",
    "rustls",
    "smol",
    "socket2",
    "tempfile",
    "time",
    "tokio",
    "tower-lsp",
    "tower-lsp-server",
    "tower-service",
    "ureq",
    "walkdir",
];

/// Crates for communicating with an editor or an agent. Does not contain `tower-service`, because HTTP clients
/// also depend on it; `imports` checks that our own code does not use it.
pub(crate) const PROTOCOL: &[&str] = &["ls-types", "lsp-types", "rmcp", "tower-lsp", "tower-lsp-server"];

/// Returns the crates of the project that use a crate in the same or a higher layer, or that are in no layer.
pub(crate) fn against_the_order(members: &[Member]) -> Vec<String> {
    let place = |name: &str| ORDER.iter().position(|floor| floor.contains(&name));
    let mut found = Vec::new();
    for member in members {
        let Some(own) = place(&member.name) else {
            found.push(format!("the crate {} is in no layer", member.name));
            continue;
        };
        let is_not_below = |name: &&String| place(name).is_some_and(|used| used >= own);
        for used in member.dependencies.iter().filter(is_not_below) {
            found.push(format!("{} depends on {used}, which is not in a lower layer", member.name));
        }
    }
    found
}

/// Returns the binaries other than the product's, and a finding if the product has none.
pub(crate) fn binaries(members: &[Member]) -> Vec<String> {
    let all = members.iter().flat_map(|member| member.binaries.iter().map(move |name| (&member.name, name)));
    let others: Vec<_> = all.clone().filter(|(_, name)| *name != "strata").collect();
    let mut found: Vec<String> =
        others.iter().map(|(member, name)| format!("{member} has the binary {name}")).collect();
    if all.count() == others.len() {
        found.push("no crate has the binary strata".to_owned());
    }
    found
}

/// Returns the denied crates that a dependency tree contains.
pub(crate) fn denied(tree: &[String], deny: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = tree
        .iter()
        .filter(|name| deny.contains(&name.as_str()))
        .map(|name| format!("{name} is a dependency"))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, dependencies: &[&str], binaries: &[&str]) -> Member {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Member { name: name.to_owned(), dependencies: owned(dependencies), binaries: owned(binaries) }
    }

    #[test]
    fn a_dependency_upwards_is_found() {
        let upwards = against_the_order(&[member("strata-prompt", &["serde", "strata-host"], &[])]);
        assert_eq!(upwards, ["strata-prompt depends on strata-host, which is not in a lower layer"]);
        assert_eq!(against_the_order(&[member("strata-host", &["strata-prompt", "serde"], &[])]), [""; 0]);
        let beside =
            against_the_order(&[member("strata-code", &["strata-tokens", "strata-conversation"], &[])]);
        assert_eq!(beside, ["strata-code depends on strata-conversation, which is not in a lower layer"]);
        assert_eq!(against_the_order(&[member("strata-new", &[], &[])]).len(), 1);
    }

    #[test]
    fn a_second_binary_is_found() {
        assert_eq!(binaries(&[member("strata", &[], &["strata"])]), [""; 0]);
        assert_eq!(
            binaries(&[member("strata", &[], &["strata"]), member("e2e", &[], &["probe"])]),
            ["e2e has the binary probe"]
        );
        assert_eq!(binaries(&[member("e2e", &[], &[])]).len(), 1);
    }

    #[test]
    fn what_is_denied_is_found() {
        let tree = ["serde", "tokio", "ls-types", "tokio"].map(str::to_owned);
        assert_eq!(denied(&tree, IMPURE), ["ls-types is a dependency", "tokio is a dependency"]);
        assert_eq!(denied(&tree, PROTOCOL), ["ls-types is a dependency"]);
    }
}
