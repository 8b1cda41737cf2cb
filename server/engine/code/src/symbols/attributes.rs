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
pub(super) fn rules(directory: &str, text: &str) -> Vec<GeneratedRule> {
    let rule = |(line, text): (usize, &str)| {
        let mut words = text.split_whitespace();
        let pattern = words.next().filter(|pattern| !pattern.starts_with(['#', '!', '[', '"']))?;
        let mut says = None;
        for word in words {
            says = match word {
                "linguist-generated" | "linguist-generated=true" => Some(true),
                "-linguist-generated" | "linguist-generated=false" => Some(false),
                _ => says,
            };
        }
        let pattern = pattern.trim_start_matches("./").to_owned();
        Some(GeneratedRule { directory: directory.to_owned(), line, pattern, generated: says? })
    };
    text.lines().enumerate().filter_map(rule).collect()
}

/// Returns whether the sorted rules declare a file generated, or `None` if no rule matches, as for most
/// files.
pub(super) fn is_generated(rules: &[GeneratedRule], key: &FileKey) -> Option<bool> {
    let applies = |rule: &&GeneratedRule| {
        let below = match &*rule.directory {
            "" => Some(key.as_str()),
            directory => key.as_str().strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')),
        };
        below.is_some_and(|below| matches(&rule.pattern, below))
    };
    rules.iter().rfind(applies).map(|rule| rule.generated)
}

/// Whether a pattern matches a path. A pattern without a slash matches file names; any other pattern matches paths.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_prefix('/') {
        Some(pattern) => fits(pattern.as_bytes(), path.as_bytes()),
        None if pattern.contains('/') => fits(pattern.as_bytes(), path.as_bytes()),
        None => fits(pattern.as_bytes(), path.rsplit('/').next().unwrap_or(path).as_bytes()),
    }
}

/// Whether a glob matches a text. `*` and `?` do not match a slash, but `**` does. Takes time at most
/// proportional to the product of the lengths, because only the last star of each kind needs backtracking.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to resume after a mismatch: the pattern after a star, and the first byte that the star does not
    // cover.
    let mut star: Option<(usize, usize)> = None;
    let mut stars: Option<(usize, usize)> = None;
    // Whether the last `**` matches whole directories.
    let mut directories = false;
    loop {
        let rest = pattern.get(p..).unwrap_or_default();
        if rest.starts_with(b"**") {
            directories = rest.starts_with(b"**/");
            p += if directories { 3 } else { 2 };
            (stars, star) = (Some((p, t)), None);
            continue;
        }
        if rest.first() == Some(&b'*') {
            p += 1;
            star = Some((p, t));
            continue;
        }
        let fits = match (rest.first(), text.get(t)) {
            (None, None) => return true,
            (Some(b'?'), Some(c)) => *c != b'/',
            (Some(one), Some(other)) => one == other,
            _ => false,
        };
        if fits {
            (p, t) = (p + 1, t + 1);
            continue;
        }
        if let Some((behind, from)) = star.filter(|(_, from)| text.get(*from).is_some_and(|c| *c != b'/')) {
            (p, t, star) = (behind, from + 1, Some((behind, from + 1)));
            continue;
        }
        let Some((behind, from)) = stars else { return false };
        let left = text.get(from..).unwrap_or_default();
        let step =
            if directories { left.iter().position(|c| *c == b'/') } else { (!left.is_empty()).then_some(0) };
        let Some(step) = step else { return false };
        let from = from + step + 1;
        (p, t, star, stars) = (behind, from, None, Some((behind, from)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_they_do_for_git() {
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
    fn the_last_and_the_deepest_line_counts() {
        let mut all = rules(
            "",
            "# *.go linguist-generated\n*.js linguist-generated\nmine.js -linguist-generated\n*.c text\n",
        );
        all.extend(rules("lib", "mine.js linguist-generated=true eol=lf\n"));
        all.sort();
        let says = |path: &str| is_generated(&all, &FileKey::from(path));
        assert_eq!(
            (says("a/b.js"), says("mine.js"), says("lib/mine.js")),
            (Some(true), Some(false), Some(true))
        );
        assert_eq!((says("x.go"), says("x.c")), (None, None));
    }
}
