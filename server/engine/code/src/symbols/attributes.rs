//! Finds generated files according to `.gitattributes` (`linguist-generated`). Follows git's rules: the last
//! matching line applies, and deeper directories take precedence.

use strata_base::key::FileKey;

/// A line of a `.gitattributes` file that marks files as generated or not generated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GeneratedRule {
    /// Directory of the `.gitattributes` file.
    directory: String,
    /// Zero-based line number.
    line: usize,
    pattern: String,
    generated: bool,
}

/// Parses the rules of a `.gitattributes` file.
pub(super) fn parse_rules(directory: &str, text: &str) -> Vec<GeneratedRule> {
    let rule = |(line, text): (usize, &str)| {
        let mut words = text.split_whitespace();
        let pattern = words.next().filter(|pattern| !pattern.starts_with(['#', '!', '[', '"']))?;
        let mut declared = None;
        for word in words {
            declared = match word {
                "linguist-generated" | "linguist-generated=true" => Some(true),
                "-linguist-generated" | "linguist-generated=false" => Some(false),
                _ => declared,
            };
        }
        let pattern = pattern.trim_start_matches("./").to_owned();
        Some(GeneratedRule { directory: directory.to_owned(), line, pattern, generated: declared? })
    };
    text.lines().enumerate().filter_map(rule).collect()
}

/// Returns whether the sorted rules declare a file generated, or `None` if no rule matches, as for most
/// files.
pub(super) fn is_generated(rules: &[GeneratedRule], key: &FileKey) -> Option<bool> {
    let applies = |rule: &&GeneratedRule| {
        let relative_path = match &*rule.directory {
            "" => Some(key.as_str()),
            directory => key.as_str().strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')),
        };
        relative_path.is_some_and(|relative_path| matches(&rule.pattern, relative_path))
    };
    rules.iter().rfind(applies).map(|rule| rule.generated)
}

/// Whether a pattern matches a path. A pattern without a slash matches file names; any other pattern matches paths.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_prefix('/') {
        Some(pattern) => glob_matches(pattern.as_bytes(), path.as_bytes()),
        None if pattern.contains('/') => glob_matches(pattern.as_bytes(), path.as_bytes()),
        None => glob_matches(pattern.as_bytes(), path.rsplit('/').next().unwrap_or(path).as_bytes()),
    }
}

/// Whether a glob matches a text. `*` and `?` do not match a slash, but `**` does. Takes time at most
/// proportional to the product of the lengths, because only the last star of each kind needs backtracking.
fn glob_matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut pattern_index, mut text_index) = (0, 0);
    // Where to resume after a mismatch: the pattern after a star, and the first byte that the star does not
    // cover.
    let mut last_star: Option<(usize, usize)> = None;
    let mut last_double_star: Option<(usize, usize)> = None;
    // Whether the last `**` matches whole directories.
    let mut whole_directories = false;
    loop {
        let rest = pattern.get(pattern_index..).unwrap_or_default();
        if rest.starts_with(b"**") {
            whole_directories = rest.starts_with(b"**/");
            pattern_index += if whole_directories { 3 } else { 2 };
            (last_double_star, last_star) = (Some((pattern_index, text_index)), None);
            continue;
        }
        if rest.first() == Some(&b'*') {
            pattern_index += 1;
            last_star = Some((pattern_index, text_index));
            continue;
        }
        let is_match = match (rest.first(), text.get(text_index)) {
            (None, None) => return true,
            (Some(b'?'), Some(c)) => *c != b'/',
            (Some(a), Some(b)) => a == b,
            _ => false,
        };
        if is_match {
            (pattern_index, text_index) = (pattern_index + 1, text_index + 1);
            continue;
        }
        if let Some((resume_pattern, resume_text)) =
            last_star.filter(|(_, resume_text)| text.get(*resume_text).is_some_and(|c| *c != b'/'))
        {
            (pattern_index, text_index, last_star) =
                (resume_pattern, resume_text + 1, Some((resume_pattern, resume_text + 1)));
            continue;
        }
        let Some((resume_pattern, resume_text)) = last_double_star else { return false };
        let rest_of_text = text.get(resume_text..).unwrap_or_default();
        let step = if whole_directories {
            rest_of_text.iter().position(|c| *c == b'/')
        } else {
            (!rest_of_text.is_empty()).then_some(0)
        };
        let Some(step) = step else { return false };
        let resume_text = resume_text + step + 1;
        (pattern_index, text_index, last_star, last_double_star) =
            (resume_pattern, resume_text, None, Some((resume_pattern, resume_text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_git() {
        for (pattern, path, expected) in [
            ("*.pb.go", "a/b.pb.go", true),
            ("*.pb.go", "b.pb.gox", false),
            ("/gen.js", "gen.js", true),
            ("/gen.js", "a/gen.js", false),
            ("dist/*", "dist/a.js", true),
            ("dist/*", "dist/a/b.js", false),
            ("dist/**", "dist/a/b.js", true),
            ("**/gen/*.rs", "a/b/gen/x.rs", true),
            ("**/gen/*.rs", "gen/x.rs", true),
            ("**/gen/*.rs", "xgen/x.rs", false),
            ("a/**/z?.c", "a/b/c/z1.c", true),
            ("a/**/z?.c", "a/z1.c", true),
            ("a/**/z?.c", "a/b/zz1.c", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn the_last_line_of_the_deepest_file_applies() {
        let mut all = parse_rules(
            "",
            "# *.go linguist-generated\n*.js linguist-generated\nmine.js -linguist-generated\n*.c text\n",
        );
        all.extend(parse_rules("lib", "mine.js linguist-generated=true eol=lf\n"));
        all.sort();
        let is_declared_generated = |path: &str| is_generated(&all, &FileKey::from(path));
        assert_eq!(
            (
                is_declared_generated("a/b.js"),
                is_declared_generated("mine.js"),
                is_declared_generated("lib/mine.js")
            ),
            (Some(true), Some(false), Some(true))
        );
        assert_eq!((is_declared_generated("x.go"), is_declared_generated("x.c")), (None, None));
    }
}
