//! Detects a file's language, and whether it is a test file, from its path and first line.

use crate::LanguageId;

pub(crate) fn by_path(path: &str, first_line: &str) -> Option<LanguageId> {
    let name = file_name(path);
    if let Some(id) = by_file_name(name) {
        return Some(id);
    }
    match by_extension(name) {
        Some(id) => (!matches_any(id.generated, name)).then_some(id),
        None => by_shebang(first_line),
    }
}

/// Whether any pattern matches the path. A pattern that ends with `/` matches the name of any parent directory, and any
/// other pattern matches the file name. A pattern may contain up to two `*`, each of which matches any text.
pub(crate) fn matches_any(patterns: &[&str], path: &str) -> bool {
    let name = file_name(path);
    let directories = &path[..path.len() - name.len()];
    patterns.iter().any(|pattern| match pattern.strip_suffix('/') {
        Some(directory) => directories.split('/').any(|part| matches(directory, part)),
        None => matches(pattern, name),
    })
}

fn by_file_name(name: &str) -> Option<LanguageId> {
    LanguageId::all().find(|id| id.file_names.contains(&name))
}

fn by_extension(name: &str) -> Option<LanguageId> {
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    LanguageId::all().find(|id| id.extensions.iter().any(|e| e.eq_ignore_ascii_case(extension)))
}

/// Detects the language from an interpreter line, such as `#!/usr/bin/python3` or `#!/usr/bin/env -S node --flag`.
/// Ignores a version after the interpreter's name.
fn by_shebang(first_line: &str) -> Option<LanguageId> {
    let mut words = first_line.strip_prefix("#!")?.split_whitespace();
    let mut program = file_name(words.next()?);
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    LanguageId::all().find(|id| {
        let shebangs = id.shebangs;
        shebangs.contains(&program) || shebangs.contains(&bare)
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(head) else { return false };
    match rest.split_once('*') {
        None => name.ends_with(rest),
        Some((middle, tail)) => {
            name.strip_suffix(tail).is_some_and(|name| middle.is_empty() || name.contains(middle))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_finds_its_language() {
        let cases = [
            ("src/lib.rs", "", Some("rust")),
            ("a/b.PY", "", Some("python")),
            ("SConstruct", "", Some("python")),
            ("x.test.tsx", "", Some("tsx")),
            ("x.mts", "", Some("typescript")),
            ("web/App.jsx", "", Some("javascript")),
            ("bin/tool", "#!/usr/bin/env python3.12", Some("python")),
            ("bin/tool", "#!/usr/bin/env -S node --harmony\r", Some("javascript")),
            ("bin/tool", "#! /usr/bin/python -u", Some("python")),
            ("bin/tool", "#!/bin/sh", Some("bash")),
            ("bin/tool", "#!/usr/bin/awk -f", None),
            ("Rakefile", "", Some("ruby")),
            ("lib/order.mli", "", Some("ocaml_interface")),
            ("package.json", "", Some("json")),
            ("web/package-lock.json", "", None),
            ("web/jquery.min.js", "", None),
            ("bin/cli.min.js", "#!/usr/bin/env node", None),
            ("Cargo.lock", "", None),
            ("bin/tool", "#!", None),
            (".py", "", None),
            ("py", "", None),
            ("", "", None),
            ("dir.py/", "", None),
        ];
        for (path, line, language) in cases {
            assert_eq!(by_path(path, line).map(|language| language.name), language, "{path} {line}");
        }
    }

    #[test]
    fn editors_and_names_find_the_same_languages() {
        assert_eq!(LanguageId::by_editor_id("typescriptreact"), LanguageId::by_name("tsx"));
        assert_eq!(LanguageId::by_editor_id("javascriptreact"), LanguageId::by_name("javascript"));
        assert_eq!(LanguageId::by_editor_id("klingon"), None);
    }

    #[test]
    fn test_files_are_known_by_name_or_directory() {
        let python = LanguageId::by_name("python").unwrap();
        let tsx = LanguageId::by_name("tsx").unwrap();
        for path in ["test_a.py", "a/b_test.py", "tests/admin/models.py", "x/tests.py", "conftest.py"] {
            assert!(python.is_test_file(path), "{path}");
        }
        for path in ["contest.py", "a/latests/b.py", "tests", "attest_.py"] {
            assert!(!python.is_test_file(path), "{path}");
        }
        let csharp = LanguageId::by_name("csharp").unwrap();
        assert!(csharp.is_test_file("src/App.Core.Tests/Shapes/Area.cs"));
        assert!(!csharp.is_test_file("src/App.Testing/Area.cs"));
        assert!(tsx.is_test_file("src/a.test.tsx"));
        assert!(!tsx.is_test_file("src/test.tsx"));
    }
}
