//! Reads the settings of an autonomous loop from the section `context` of a TOML or YAML file. Other sections are
//! ignored.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::{Map, Value};
use strata_conversation::iteration::RollingConfig;
use strata_host::config::{from_toml, from_yaml};

const LOOP_SETTINGS_SECTION: &str = "context";

/// Why the settings file of an autonomous loop cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct LoopFileError {
    pub path: PathBuf,
    pub problem: String,
}

/// Reads the memory limits of an autonomous loop from its settings file. Missing settings have their default values.
///
/// # Errors
/// [`LoopFileError`] if the file cannot be read or parsed, or has an unknown or invalid setting.
pub fn read_loop_file(path: &Path) -> Result<RollingConfig, LoopFileError> {
    let fail = |problem: String| LoopFileError { path: path.to_owned(), problem };
    let text = fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let parsed = match extension {
        "toml" => from_toml("TOML", &text),
        "yaml" | "yml" => from_yaml("YAML", &text),
        _ => return Err(fail("the file must be `.toml` or `.yaml`".to_owned())),
    };
    let mut values = parsed.map_err(|error| fail(error.to_string()))?;
    if !matches!(values, Value::Null | Value::Object(_)) {
        return Err(fail("settings must be a table".to_owned()));
    }
    let section = values.get_mut(LOOP_SETTINGS_SECTION).map(Value::take).filter(|section| !section.is_null());
    let section = section.unwrap_or_else(|| Value::Object(Map::new()));
    RollingConfig::deserialize(section).map_err(|error| fail(format!("`{LOOP_SETTINGS_SECTION}`: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<RollingConfig, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        read_loop_file(&path).map_err(|error| error.problem)
    }

    #[test]
    fn toml_and_yaml_give_the_same_settings() {
        let expected = RollingConfig { raw_window_size: 3, summarize_every: 7, max_summary_tokens: 900 };
        let yaml = "agent:\n  model: 'x: y'\n  list:\n    - a\ncontext:\n  raw_window_size: 3   # as seen\n\n  summarize_every: 7\n  max_summary_tokens: 900\nother:\n  raw_window_size: 99\n";
        assert_eq!(read("loop.yaml", yaml), Ok(expected));
        let toml = "[agent]\nmodel = 'x'\n[context]\nraw_window_size = 3\nsummarize_every = 7\nmax_summary_tokens = 900\n";
        assert_eq!(read("loop.toml", toml), Ok(expected));
    }

    #[test]
    fn missing_settings_have_their_defaults() {
        let expected = RollingConfig { summarize_every: 0, ..RollingConfig::default() };
        assert_eq!(read("loop.yml", "---\ncontext:\n  summarize_every: 0\n"), Ok(expected));
        assert_eq!(read("loop.yml", "{context: {summarize_every: 0}, other: [{}]}"), Ok(expected));
        assert_eq!(read("loop.yml", "context:\n"), Ok(RollingConfig::default()));
        for name in ["loop.yml", "loop.toml"] {
            assert_eq!(read(name, ""), Ok(RollingConfig::default()));
        }
    }

    #[test]
    fn errors_name_the_invalid_setting() {
        let problem = |name: &str, text: &str| read(name, text).unwrap_err();
        assert!(
            problem("a.yaml", "context:\n  summarize_every: ten\n").contains("string \"ten\", expected u64")
        );
        assert!(problem("a.yaml", "context:\n  - summarize_every\n").starts_with("`context`: "));
        assert_eq!(problem("a.yaml", "context"), "settings must be a table");
        assert_eq!(problem("a.yaml", "context: [1\n"), "YAML:1:10: unclosed bracket '['");
        assert!(problem("a.yaml", "context:\n  window: 1\n").contains("unknown field `window`"));
        assert!(problem("a.toml", "[context]\nwindow = 1\n").contains("unknown field `window`"));
        assert!(problem("a.toml", "[context").contains("TOML:1:"));
        assert_eq!(problem("a.json", "{}"), "the file must be `.toml` or `.yaml`");
    }
}
