//! Locates and reads settings files, and converts TOML and YAML to JSON.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Number, Value};
use serde_saphyr::{UserMessageFormatter, budget, options};
use strata_base::external::{ExternalText, RenderedText};
use strata_base::key::FileKey;

use super::layers::{SettingLayer, SettingsSource};
use crate::disk::{ReadError, read_text};
use crate::roots::Roots;

/// Names of the settings file in a workspace folder. Only the first one that exists is used; the other is reported.
pub const WORKSPACE_FILES: [&str; 2] = [".strata.toml", ".strata.yaml"];

/// Why a settings file is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsFileError {
    #[error("{}: {}", notice(.file), notice(.reason))]
    Unreadable {
        file: String,
        /// The operating system's error, or the path rule that was violated.
        reason: String,
    },
    #[error("{}:{line}:{column}: {}", notice(.file), notice(.message))]
    Syntax {
        file: String,
        /// One-based line number.
        line: usize,
        /// One-based column, in characters.
        column: usize,
        message: String,
    },
    /// A number is infinite or NaN, which JSON cannot represent.
    #[error("{}: `{}` is not a finite number", notice(.file), notice(.key))]
    NotFinite { file: String, key: String },
    #[error(
        "{} is ignored, because {} takes precedence; merge the two files, or delete one of them",
        notice(.file),
        notice(.used_file)
    )]
    Shadowed { file: String, used_file: String },
}

fn notice(text: &str) -> RenderedText<'_> {
    ExternalText::new(text).notice()
}

impl SettingsFileError {
    pub fn file(&self) -> &str {
        match self {
            Self::Unreadable { file, .. }
            | Self::Syntax { file, .. }
            | Self::NotFinite { file, .. }
            | Self::Shadowed { file, .. } => file,
        }
    }
}

/// Maximum size of the user's settings file, in bytes.
const MAX_SETTINGS_FILE_BYTES: u64 = 256 * 1024;

/// Returns the path of the user's settings file, whether or not it exists: `strata/strata.toml` in `$XDG_CONFIG_HOME`
/// or else `~/.config`, or in `%APPDATA%` on Windows. `variable` looks up an environment variable.
pub fn user_file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let directory = if cfg!(windows) {
        absolute("APPDATA")?
    } else {
        absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?
    };
    Some(directory.join("strata").join("strata.toml"))
}

/// Reads the user's settings. Returns `None` if the file does not exist. `variable` looks up an environment variable.
///
/// # Errors
/// [`SettingsFileError`] if the file cannot be read or parsed.
pub fn user_source(
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<SettingsSource>, SettingsFileError> {
    user_file(variable).map_or(Ok(None), |path| read_source(&path))
}

/// Reads the user's settings from this file.
fn read_source(path: &Path) -> Result<Option<SettingsSource>, SettingsFileError> {
    let file = path.display().to_string();
    match read_config_file(path) {
        Ok(text) => Ok(Some(SettingsSource {
            layer: SettingLayer::User,
            values: from_toml(&file, &text)?,
            name: file.into(),
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SettingsFileError::Unreadable { file, reason: error.to_string() }),
    }
}

/// Reads the settings files of all workspace folders, weakest first: the first folder's file takes precedence. Skips
/// folders without a settings file. As for any other file, a link that leads outside the folders is rejected.
pub fn workspace_sources(roots: &Roots) -> Vec<Result<SettingsSource, SettingsFileError>> {
    (0..roots.len()).rev().flat_map(|index| folder_sources(roots, index)).collect()
}

/// Reads the settings file of one folder, and reports any settings file that it shadows.
fn folder_sources(roots: &Roots, index: usize) -> Vec<Result<SettingsSource, SettingsFileError>> {
    let mut sources: Vec<Result<SettingsSource, SettingsFileError>> = Vec::new();
    let mut used_key: Option<FileKey> = None;
    for name in WORKSPACE_FILES {
        let Some(key) = roots.key(index, name) else { continue };
        let file = key.as_str();
        let disk_text = match read_text(roots, &key, MAX_SETTINGS_FILE_BYTES) {
            Ok(disk_text) => disk_text,
            Err(ReadError::NotFound(_)) => continue,
            Err(error) => {
                let error =
                    SettingsFileError::Unreadable { file: file.to_owned(), reason: error.to_string() };
                sources.push(Err(error));
                used_key.get_or_insert(key);
                continue;
            }
        };
        if let Some(used_key) = &used_key {
            sources.push(Err(SettingsFileError::Shadowed {
                file: file.to_owned(),
                used_file: used_key.as_str().to_owned(),
            }));
            continue;
        }
        let values = if name.ends_with(".toml") {
            from_toml(file, &disk_text.text)
        } else {
            from_yaml(file, &disk_text.text)
        };
        sources.push(values.map(|values| SettingsSource {
            layer: SettingLayer::Workspace,
            name: file.into(),
            values,
        }));
        used_key = Some(key);
    }
    sources
}

/// Parses TOML as a JSON object, converting dates to strings. `file` names the source in errors.
///
/// # Errors
/// [`SettingsFileError::Syntax`] if the text is not valid TOML; [`SettingsFileError::NotFinite`] for a number that JSON
/// cannot represent.
pub fn from_toml(file: &str, text: &str) -> Result<Value, SettingsFileError> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        SettingsFileError::Syntax {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
            message: error.message().to_owned(),
        }
    })?;
    let not_finite = |key| SettingsFileError::NotFinite { file: file.to_owned(), key };
    table_to_json(table).map(Value::Object).map_err(not_finite)
}

/// Converts a TOML table to a JSON object. The error is the dotted key of a number that JSON cannot represent.
fn table_to_json(table: toml::Table) -> Result<Map<String, Value>, String> {
    let mut map = Map::new();
    for (name, value) in table {
        let value = to_json(value)
            .map_err(|key| if key.is_empty() { name.clone() } else { format!("{name}.{key}") })?;
        map.insert(name, value);
    }
    Ok(map)
}

fn to_json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::Number(Number::from_f64(number).ok_or_else(String::new)?),
        toml::Value::Boolean(boolean) => Value::Bool(boolean),
        toml::Value::Datetime(datetime) => Value::String(datetime.to_string()),
        toml::Value::Array(values) => {
            Value::Array(values.into_iter().map(to_json).collect::<Result<_, _>>()?)
        }
        toml::Value::Table(table) => Value::Object(table_to_json(table)?),
    })
}

/// Reads a file in the user's own configuration directory. Follows links, but rejects anything other than a regular
/// file of at most `MAX_SETTINGS_FILE_BYTES`.
fn read_config_file(path: &Path) -> io::Result<String> {
    let rejected = |reason| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return rejected("it is not a regular file");
    }
    if metadata.len() > MAX_SETTINGS_FILE_BYTES {
        return rejected("it is too large for a settings file");
    }
    let mut text = String::new();
    fs::File::open(path)?.take(MAX_SETTINGS_FILE_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Maximum number of nodes in a document, including those repeated through aliases.
const MAX_YAML_VALUES: usize = 10_000;
const MAX_YAML_DEPTH: usize = 32;

/// Parses a YAML 1.2 file with at most one document as JSON. `yes` and `no` are strings. An empty file becomes `null`.
/// `file` names the source in errors.
///
/// # Errors
/// [`SettingsFileError::Syntax`] if the text is not valid YAML or has values that JSON cannot represent.
pub fn from_yaml(file: &str, text: &str) -> Result<Value, SettingsFileError> {
    let options = options! {
        budget: budget! {
            max_nodes: MAX_YAML_VALUES,
            max_events: 4 * MAX_YAML_VALUES,
            max_depth: MAX_YAML_DEPTH,
        },
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let location = error.location();
        let message = error.render_with_formatter(&UserMessageFormatter);
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        SettingsFileError::Syntax {
            file: file.to_owned(),
            line: location.map_or(1, |location| number(location.line())),
            column: location.map_or(1, |location| number(location.column())),
            // Drop the position, because `SettingsFileError::Syntax` already prints it.
            message: message.split(" at line ").next().unwrap_or_default().to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn toml_becomes_json() {
        let text = "model = 'm'\n[symbols]\nmap_budget = 8_000\nratio = 0.5\nlist = [1, 'b', {c = true}]\nday = 2024-02-03\n";
        let expected = json!({
            "model": "m",
            "symbols": {"map_budget": 8000, "ratio": 0.5, "list": [1, "b", {"c": true}], "day": "2024-02-03"},
        });
        assert_eq!(from_toml("f", text), Ok(expected));
    }

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        let error = from_toml("web/.strata.toml", text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn errors_name_file_line_and_column() {
        check_error("a = 1\nb = \n", "web/.strata.toml:2:5: ");
        check_error("a = 1\n\n  é x = 2\n", "web/.strata.toml:3:");
        check_error("[a]\nb = 1\n[a]\n", "web/.strata.toml:3:");
        check_error("[a]\nb = [0.0, inf]", "web/.strata.toml: `a.b` is not a finite number");
    }

    #[test]
    fn the_user_file_is_below_the_configuration_directory() {
        let find = |variables: &[(&str, &str)]| {
            let variable =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            user_file(variable).map(|path| path.display().to_string())
        };
        if cfg!(unix) {
            let home = ("HOME", "/home/u");
            assert_eq!(find(&[home]).as_deref(), Some("/home/u/.config/strata/strata.toml"));
            assert_eq!(find(&[home, ("XDG_CONFIG_HOME", "/c")]).as_deref(), Some("/c/strata/strata.toml"));
            assert_eq!(
                find(&[home, ("XDG_CONFIG_HOME", "c")]).as_deref(),
                Some("/home/u/.config/strata/strata.toml")
            );
            assert_eq!(find(&[]), None);
        }
    }

    #[test]
    fn a_user_file_may_be_missing_or_broken_but_is_never_fatal() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("strata.toml");
        assert_eq!(read_source(&path), Ok(None));
        fs::write(&path, "a = 1").unwrap();
        assert_eq!(read_source(&path).unwrap().unwrap().values, json!({"a": 1}));
        fs::write(&path, "a =").unwrap();
        assert!(matches!(read_source(&path), Err(SettingsFileError::Syntax { line: 1, .. })));
        fs::write(&path, vec![b'#'; 300_000]).unwrap();
        assert!(matches!(read_source(&path), Err(SettingsFileError::Unreadable { .. })));
        assert!(matches!(read_source(directory.path()), Err(SettingsFileError::Unreadable { .. })));
    }

    #[test]
    fn the_first_folder_has_the_strongest_file() {
        let directory = tempfile::tempdir().unwrap();
        let folder = |name: &str| crate::roots::RootFolder { name: None, path: directory.path().join(name) };
        for (name, text) in [("a", "x = 'a'"), ("b", "x = 'b'"), ("broken", "x"), ("none", "")] {
            fs::create_dir(directory.path().join(name)).unwrap();
            if !text.is_empty() {
                fs::write(directory.path().join(name).join(".strata.toml"), text).unwrap();
            }
        }
        let roots = Roots::new(["a", "none", "broken", "b"].map(folder)).unwrap();
        let sources = workspace_sources(&roots);
        let names = sources.iter().map(|source| match source {
            Ok(source) => source.name.to_string(),
            Err(error) => error.to_string(),
        });
        let names: Vec<String> = names.collect();
        assert_eq!((names[0].as_str(), names[2].as_str()), ("b/.strata.toml", "a/.strata.toml"));
        assert!(names[1].starts_with("broken/.strata.toml:1:"), "{}", names[1]);
    }

    #[test]
    fn one_settings_file_of_a_folder_is_used_and_the_other_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        let folder = crate::roots::RootFolder { name: None, path: directory.path().to_owned() };
        let roots = Roots::new([folder]).unwrap();
        let sources = || -> Vec<String> {
            let render = |source: Result<SettingsSource, SettingsFileError>| match source {
                Ok(SettingsSource { name, values, .. }) => format!("{name} {values}"),
                Err(error) => format!("{error}; {}", !matches!(error, SettingsFileError::Shadowed { .. })),
            };
            workspace_sources(&roots).into_iter().map(render).collect()
        };
        assert_eq!(sources(), [""; 0]);
        write(".strata.yaml", "context:\n  raw_window_size: 3\n");
        assert_eq!(sources(), [r#".strata.yaml {"context":{"raw_window_size":3}}"#]);
        write(".strata.toml", "[context]\nraw_window_size = 2\n");
        let shadowed = ".strata.yaml is ignored, because .strata.toml takes precedence; merge the two files, or delete one of \
                        them; false";
        assert_eq!(sources(), [r#".strata.toml {"context":{"raw_window_size":2}}"#, shadowed]);
        write(".strata.toml", "[context");
        let sources = sources();
        assert!(sources[0].starts_with(".strata.toml:1:") && sources[0].ends_with("; true"), "{sources:?}");
        assert_eq!(sources[1..], [shadowed]);
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "[a-z=\\[\\]{}'\".0-9\n #é-]{0,60}") {
            let _ = from_toml("f", &text);
        }
    }
}

#[cfg(test)]
mod yaml_tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_becomes_json() {
        let text = "model: m  # mine\nsymbols: {map_budget: 8000}\nfiles:\n  list: &all [a, 'b', 0.5, true, ~]\n  same: *all\n\
                    day: 2024-02-03\nanswer: no\ntext: |\n  one\n  two\n";
        let list = json!(["a", "b", 0.5, true, null]);
        let expected = json!({
            "model": "m", "symbols": {"map_budget": 8000}, "files": {"list": list, "same": list},
            "day": "2024-02-03", "answer": "no", "text": "one\ntwo\n",
        });
        assert_eq!(from_yaml("f", text), Ok(expected));
        for empty in ["", "# nothing\n", "---\n"] {
            assert_eq!(from_yaml("f", empty), Ok(Value::Null));
        }
    }

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        assert_eq!(from_yaml("web/.strata.yaml", text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn errors_name_file_line_and_column() {
        check_error("a: [1\n", "web/.strata.yaml:1:4: unclosed bracket '['");
        check_error("a: 1\na: 2\n", "web/.strata.yaml:2:1: duplicate mapping key `a` is not allowed here");
        check_error("a: .inf\n", "web/.strata.yaml:1:4: value `.inf` is not a finite number");
        check_error("é: 1\nb: *c\n", "web/.strata.yaml:2:4: reference to unknown value");
    }

    /// Six lines that would expand to a million values, and a very deeply nested text.
    #[test]
    fn a_short_text_cannot_become_a_large_value() {
        let level =
            |name: char, reference: &str| format!("{name}: &{name} [{}]\n", [reference; 10].join(","));
        let bomb: String = [('a', "1"), ('b', "*a"), ('c', "*b"), ('d', "*c"), ('e', "*d"), ('f', "*e")]
            .map(|(name, reference)| level(name, reference))
            .concat();
        let deep = "[".repeat(100_000);
        for text in [&bomb, &deep] {
            assert!(matches!(from_yaml("f", text), Err(SettingsFileError::Syntax { .. })));
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "[a-z:&*!|>?%\\[\\]{}'\".,0-9\n #é-]{0,60}") {
            let _ = from_yaml("f", &text);
        }
    }
}
