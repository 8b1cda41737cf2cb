//! Selects the files of a repository that belong in sessions, which are texts written by people. Decides by name, and
//! by size and encoding where known, but not by content.

use strata_base::key::FileKey;
use strata_code::outline::language_of;

/// Maximum size of a file, in bytes. Larger files are usually data or generated.
pub(super) const MAX_FILE_BYTES: u64 = 100 * 1024;

/// Names of directories that contain third-party or generated files.
const THIRD_PARTY_FOLDERS: &[&str] = &[
    ".git",
    ".tox",
    ".venv",
    "__pycache__",
    "bower_components",
    "dist",
    "node_modules",
    "Pods",
    "site-packages",
    "target",
    "third-party",
    "third_party",
    "vendor",
    "venv",
];

/// Names of files that tools generate, such as lock files.
const GENERATED_FILES: &[&str] = &[
    "bun.lockb",
    "go.sum",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pnpm-lock.yaml",
];

/// File name suffixes of generated files.
const GENERATED_SUFFIXES: &[&str] =
    &[".lock", ".map", ".min.css", ".min.js", ".min.mjs", ".bundle.js", ".pb.go", "_pb2.py"];

/// File extensions of prose documents.
const PROSE_EXTENSIONS: &[&str] = &["adoc", "md", "mdx", "org", "rst", "tex", "txt"];

/// File extensions of settings, schemas and build files.
const SETTINGS_EXTENSIONS: &[&str] = &[
    "bzl", "cfg", "cmake", "conf", "gradle", "graphql", "hcl", "ini", "json", "jsonc", "mk", "nix", "prisma",
    "proto", "tf", "toml", "yaml", "yml",
];

/// File extensions of web templates and style sheets.
const PAGE_EXTENSIONS: &[&str] =
    &["astro", "css", "haml", "htm", "html", "jinja", "jinja2", "less", "sass", "scss", "svelte", "vue"];

/// File extensions of program sources, in addition to the languages with a built-in grammar.
const PROGRAM_EXTENSIONS: &[&str] = &[
    "bash", "bat", "c", "cc", "clj", "cljs", "cpp", "cr", "cs", "cu", "cxx", "dart", "el", "elm", "erl",
    "ex", "exs", "f90", "fish", "fs", "fsx", "groovy", "h", "hh", "hpp", "hrl", "hs", "hxx", "java", "jl",
    "kt", "kts", "lisp", "lua", "m", "ml", "mli", "mm", "nim", "pas", "php", "pl", "pm", "ps1", "purs", "r",
    "rb", "rkt", "s", "scala", "scm", "sh", "sol", "sql", "swift", "tcl", "vb", "vim", "wgsl", "zig", "zsh",
];

/// Names of hand-written files that have no extension or a misleading one.
const SOURCE_NAMES: &[&str] = &[
    "BUILD",
    "CMakeLists.txt",
    "Containerfile",
    "Dockerfile",
    "GNUmakefile",
    "Gemfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "Procfile",
    "README",
    "Rakefile",
    "Vagrantfile",
    "WORKSPACE",
    "justfile",
    "makefile",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceVerdict {
    /// The file is written by people.
    Source,
    /// The name is inconclusive, so the first line decides.
    Unclear,
    /// The file is generated, third-party, or not text.
    Other,
}

pub(super) fn classify_source_name(path: &str) -> SourceVerdict {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_third_party = folders.split('/').any(|folder| THIRD_PARTY_FOLDERS.contains(&folder));
    let lower = name.to_ascii_lowercase();
    let is_generated =
        GENERATED_FILES.contains(&name) || GENERATED_SUFFIXES.iter().any(|suffix| lower.ends_with(suffix));
    if is_third_party || is_generated {
        return SourceVerdict::Other;
    }
    let extension = lower.rsplit_once('.').map(|(_, extension)| extension);
    if language_of(&FileKey::from(path), "").is_some()
        || SOURCE_NAMES.contains(&name)
        || [PROSE_EXTENSIONS, SETTINGS_EXTENSIONS, PAGE_EXTENSIONS, PROGRAM_EXTENSIONS]
            .iter()
            .any(|extensions| extension.is_some_and(|extension| extensions.contains(&extension)))
    {
        return SourceVerdict::Source;
    }
    if name.contains('.') { SourceVerdict::Other } else { SourceVerdict::Unclear }
}

/// Whether the first line of a file with an inconclusive name identifies a known language.
pub(super) fn is_source_by_first_line(path: &str, text: &str) -> bool {
    language_of(&FileKey::from(path), text.lines().next().unwrap_or_default()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_classified_by_name_and_first_line() {
        for path in
            ["a.py", "src/lib.rs", "lua/x/init.lua", "README.md", "Makefile", "docs/A.RST", "web/App.vue"]
        {
            assert_eq!(classify_source_name(path), SourceVerdict::Source, "{path}");
        }
        for path in [
            "Cargo.lock",
            "web/package-lock.json",
            "node_modules/a/index.js",
            "a/vendor/b.go",
            "x.min.js",
            "logo.png",
            "a.svg",
            "api_pb2.py",
            "data.csv",
            ".git/hooks/pre-commit.sh",
        ] {
            assert_eq!(classify_source_name(path), SourceVerdict::Other, "{path}");
        }
        assert_eq!(classify_source_name("bin/run"), SourceVerdict::Unclear);
        assert!(is_source_by_first_line("bin/run", "#!/usr/bin/env python3\nprint()\n"));
        assert!(!is_source_by_first_line("bin/run", "MZ"));
    }
}
