//! Recognizes files that change together by their names: a source file with its tests, and changelogs.

use strata_base::key::FileKey;

/// Returns a file's name without extension and test markers, in lower case: `cookies` for
/// `tests/test_cookies.py`, `cookies_test.go` or `Cookies.spec.ts`.
pub(super) fn stem_without_test_markers(key: &FileKey) -> String {
    let name = key.file_name().to_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    let stem = stem.strip_prefix("test_").or_else(|| stem.strip_prefix("test-")).unwrap_or(stem);
    let suffixes = ["_test", "_tests", "-test", "_spec", "test", "tests"];
    let stem = suffixes.iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem);
    stem.trim_matches('_').to_owned()
}

/// Whether a file is a changelog: it has one of the usual names and is close to the top of the repository.
pub(super) fn is_changelog(key: &FileKey) -> bool {
    let name = key.file_name().to_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    matches!(stem, "changelog" | "changes" | "history" | "news") && key.as_str().matches('/').count() <= 2
}
