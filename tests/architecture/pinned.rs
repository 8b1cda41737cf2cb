//! Whatever workflows and their scripts install is pinned, so that a stolen account of one of its authors cannot change
//! a build: actions by commit, packages for Python and Node by hash, and programs from Cargo by version. No package
//! runs a script when it is installed. Benchmarks are exempt, since no workflow runs them and they compare with
//! programs that have hundreds of dependencies.

use std::collections::BTreeMap;

use crate::repo::File;

/// Scripts that only pass on what their callers name.
const INSTALLERS: [&str; 2] = ["tests/npm", "tests/venv"];

/// An action at a commit.
struct Pin<'a> {
    name: &'a str,
    commit: &'a str,
}

/// Returns the actions in workflows that are not pinned to one commit with its version.
pub(crate) fn actions(texts: &[File]) -> Vec<String> {
    let workflows = texts.iter().filter(|file| file.path.starts_with(".github/"));
    let uses: Vec<(String, &str)> = workflows.flat_map(uses).collect();
    if uses.len() < 10 {
        return vec![format!("only {} actions were found", uses.len())];
    }
    let mut commits = BTreeMap::new();
    let problem = |(place, action): &(String, &'_ str)| match pinned(action) {
        None => Some(format!("{place}: `{action}`")),
        Some(Pin { name, commit }) => {
            let known = commits.entry(name.to_owned()).or_insert_with(|| commit.to_owned());
            (known != commit).then(|| format!("{place}: another commit of `{name}`"))
        }
    };
    uses.iter().filter_map(problem).collect()
}

/// Returns the packages in lists for Python that have no version or no hash.
pub(crate) fn packages(texts: &[File]) -> Vec<String> {
    let is_list =
        |path: &str| path.ends_with(".txt") && [".ci/", "tests/"].iter().any(|at| path.starts_with(at));
    let lists = texts.iter().filter(|file| is_list(&file.path) && !is_exempt(&file.path));
    let all: Vec<(&str, String)> = lists
        .flat_map(|file| logical_lines(&file.text).into_iter().map(|line| (file.path.as_str(), line)))
        .collect();
    if all.len() < 50 {
        return vec![format!("only {} packages were found", all.len())];
    }
    let problem = |(path, requirement): &(&str, String)| {
        (!is_hashed(requirement)).then(|| format!("{path}: `{requirement}`"))
    };
    all.iter().filter_map(problem).collect()
}

/// Returns the commands in scripts that install something that is not pinned, or run scripts of packages.
pub(crate) fn installations(texts: &[File]) -> Vec<String> {
    let is_script = |path: &str| {
        [".ci/", ".github/", "tests/"].iter().any(|at| path.starts_with(at))
            && ![".rs", ".md", ".json", ".txt"].iter().any(|ending| path.ends_with(ending))
            && !is_exempt(path)
            && !INSTALLERS.contains(&path)
    };
    let mut problems = Vec::new();
    let mut count = 0;
    for file in texts.iter().filter(|file| is_script(&file.path)) {
        for line in logical_lines(&file.text) {
            match installation(&line) {
                None => continue,
                Some(Ok(())) => {}
                Some(Err(missing)) => problems.push(format!("{}: `{line}` needs {missing}", file.path)),
            }
            count += 1;
        }
    }
    if count < 5 {
        problems.push(format!("only {count} installations were found"));
    }
    let npm = texts.iter().find(|file| file.path == "tests/npm");
    if !npm.is_some_and(|file| file.text.contains("npm \"$@\" --ignore-scripts")) {
        problems.push("tests/npm: needs `--ignore-scripts`".to_owned());
    }
    problems
}

/// Whether a file is exempt: benchmarks, and texts with made-up secrets.
fn is_exempt(path: &str) -> bool {
    path.starts_with("tests/benches/") || path.starts_with("tests/safety/secrets/")
}

/// Returns the actions that a workflow uses, with their comments, and where each is.
fn uses(file: &File) -> impl Iterator<Item = (String, &str)> {
    file.text.lines().enumerate().filter_map(|(number, line)| {
        let (_, action) = line.split_once("uses:")?;
        Some((format!("{}:{}", file.path, number + 1), action.trim()))
    })
}

fn pinned(action: &str) -> Option<Pin<'_>> {
    let (action, version) = action.split_once(" # v")?;
    let (name, commit) = action.split_once('@')?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_commit =
        commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'));
    let is_version = version.split('.').count() == 3 && version.split('.').all(is_number);
    (is_commit && is_version).then_some(Pin { name, commit })
}

fn is_hashed(requirement: &str) -> bool {
    let hash = requirement.split_once("--hash=sha256:").map(|(_, rest)| rest.chars().take(64));
    let is_hash = hash.is_some_and(|hash| hash.filter(char::is_ascii_hexdigit).count() == 64);
    is_hash && requirement.contains("==")
}

/// Checks a command that installs something. The error is what is missing; `None` if nothing is installed.
fn installation(line: &str) -> Option<Result<(), &'static str>> {
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || "\"'(),".contains(c)).collect();
    let program =
        |name: &str| words.iter().position(|word| *word == name || word.ends_with(&format!("/{name}")));
    let follows = |at: usize, names: &[&str]| words[at..].iter().find(|word| names.contains(word)).copied();
    let has = |word: &str| words.contains(&word);
    let require = |holds: bool, missing: &'static str| if holds { Ok(()) } else { Err(missing) };
    if let Some(at) = program("pip")
        && follows(at, &["install", "download"]).is_some()
    {
        return Some(require(has("--require-hashes"), "--require-hashes"));
    }
    if let Some(at) = program("npm").or_else(|| program("$npm"))
        && let Some(command) = follows(at, &["ci", "install"])
    {
        let is_ours = words[at] != "npm";
        // A test installs packages that it has just made, from a registry of its own.
        let is_local = words.iter().any(|word| word.starts_with("--registry=http://127.0.0.1:"));
        return Some(match command {
            "install" if !is_local => Err("`npm ci`"),
            _ => require(is_ours || has("--ignore-scripts"), "--ignore-scripts"),
        });
    }
    if let Some(at) = program("cargo")
        && follows(at, &["install"]).is_some()
    {
        let has_version = words.iter().any(|word| word.contains('@'));
        return Some(require(has("--locked"), "--locked").and(require(has_version, "a version")));
    }
    None
}

/// Returns the lines of a script or a list without comments, joined where a backslash ends them.
fn logical_lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    joined.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_pinned_is_recognized() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert!(pinned(&format!("actions/checkout@{commit} # v5.1.0")).is_some());
        for action in [
            "actions/checkout@v5".to_owned(),
            "actions/checkout@v5.1.0 # v5.1.0".to_owned(),
            format!("actions/checkout@{commit}"),
            format!("actions/checkout@{commit} # v5"),
            format!("actions/checkout@{} # v5.1.0", &commit[1..]),
            format!("actions/checkout@{} # v5.1.0", commit.to_uppercase()),
        ] {
            assert!(pinned(&action).is_none(), "{action}");
        }
        let hash = "0".repeat(64);
        assert!(is_hashed(&format!("a==1.0 --hash=sha256:{hash}")));
        for requirement in
            ["a", "a==1.0", "a>=1.0", "a==1.0 --hash=sha256:0", &format!("a --hash=sha256:{hash}")]
        {
            assert!(!is_hashed(requirement), "{requirement}");
        }
        for (line, expected) in [
            ("python3 -m pip install a==1", Some(Err("--require-hashes"))),
            ("\"$venv/bin/pip\" install --requirement \"$2\"", Some(Err("--require-hashes"))),
            ("pip download --require-hashes --requirement a.txt", Some(Ok(()))),
            ("npm ci", Some(Err("--ignore-scripts"))),
            ("run(npm, \"ci\", \"--no-fund\")", Some(Err("--ignore-scripts"))),
            ("npm install --ignore-scripts a@1", Some(Err("`npm ci`"))),
            ("npm install --registry=http://127.0.0.1:8080 --ignore-scripts a", Some(Ok(()))),
            ("npm install --registry=http://127.0.0.1:8080 a", Some(Err("--ignore-scripts"))),
            ("npm install --registry=https://example.org --ignore-scripts a", Some(Err("`npm ci`"))),
            ("\"$root/tests/npm\" ci", Some(Ok(()))),
            ("cargo install cargo-fuzz@1.0.0", Some(Err("--locked"))),
            ("cargo install --locked cargo-fuzz", Some(Err("a version"))),
            ("cargo install --locked cargo-fuzz@1.0.0", Some(Ok(()))),
            ("npm run check", None),
            ("installed=$(cat installed)", None),
        ] {
            assert_eq!(installation(line), expected, "{line}");
        }
    }
}
