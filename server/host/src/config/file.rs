//! Settings files: where they are, and their TOML as JSON.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Number, Value};

use super::layers::{Layer, Source};
use crate::disk::{ReadError, ReadLimits, read_text};
use crate::roots::Roots;

/// The settings file in a workspace folder.
pub const WORKSPACE_FILE: &str = ".strata.toml";

/// Why a settings file does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// It is there and cannot be read.
    #[error("{file}: {reason}")]
    Unreadable {
        file: String,
        /// What the system or the path rules say.
        reason: String,
    },
    #[error("{file}:{line}:{column}: {message}")]
    Syntax {
        file: String,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        message: String,
    },
    /// A value that settings cannot hold.
    #[error("{file}: `{key}` is no finite number")]
    NotFinite { file: String, key: String },
}

impl FileError {
    pub fn file(&self) -> &str {
        match self {
            Self::Unreadable { file, .. } | Self::Syntax { file, .. } | Self::NotFinite { file, .. } => file,
        }
    }
}

/// Largest settings file that is read, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Where the user's settings file is, whether or not it exists: `strata/strata.toml` in `$XDG_CONFIG_HOME` or else `~/.config`,
/// on Windows in `%APPDATA%`. `variable` looks up the environment.
pub fn user_file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let directory = if cfg!(windows) {
        absolute("APPDATA")?
    } else {
        absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?
    };
    Some(directory.join("strata").join("strata.toml"))
}

/// The user's settings; `None` when there is no file.
///
/// # Errors
/// [`FileError`] when there is one and it does not count.
pub fn user_source(path: &Path) -> Result<Option<Source>, FileError> {
    let file = path.display().to_string();
    match read_own_file(path) {
        Ok(text) => {
            Ok(Some(Source { layer: Layer::User, values: from_toml(&file, &text)?, name: file.into() }))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::Unreadable { file, reason: error.to_string() }),
    }
}

/// The settings files of the workspace folders, weakest first: the first folder's file is the strongest. A folder
/// without one is passed over; a file outside the folders (behind a link) is refused like any other.
pub fn workspace_sources(roots: &Roots) -> Vec<Result<Source, FileError>> {
    let mut sources = Vec::new();
    for index in (0..roots.len()).rev() {
        let Some(key) = roots.key(index, WORKSPACE_FILE) else { continue };
        match read_text(roots, &key, ReadLimits { max_bytes: MAX_BYTES }) {
            Ok(read) => sources.push(from_toml(key.as_str(), &read.text).map(|values| Source {
                layer: Layer::Workspace,
                name: key.as_str().into(),
                values,
            })),
            Err(ReadError::NotFound(_)) => {}
            Err(error) => {
                sources.push(Err(FileError::Unreadable { file: key.to_string(), reason: error.to_string() }));
            }
        }
    }
    sources
}

/// A TOML text as a JSON object; dates become text. `file` is for the errors.
///
/// # Errors
/// [`FileError::Syntax`] and [`FileError::NotFinite`].
pub fn from_toml(file: &str, text: &str) -> Result<Value, FileError> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        FileError::Syntax {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
            message: error.message().to_owned(),
        }
    })?;
    let not_finite = |key| FileError::NotFinite { file: file.to_owned(), key };
    table_to_json(table).map(Value::Object).map_err(not_finite)
}

/// The error is the dotted key of a number that JSON cannot hold.
fn table_to_json(table: toml::Table) -> Result<Map<String, Value>, String> {
    let mut map = Map::new();
    for (name, value) in table {
        let value = to_json(value)
            .map_err(|below| if below.is_empty() { name.clone() } else { format!("{name}.{below}") })?;
        map.insert(name, value);
    }
    Ok(map)
}

fn to_json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::Number(Number::from_f64(number).ok_or_else(String::new)?),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(values) => {
            Value::Array(values.into_iter().map(to_json).collect::<Result<_, _>>()?)
        }
        toml::Value::Table(table) => Value::Object(table_to_json(table)?),
    })
}

/// A file that the user put where it is: links are followed, everything but a regular file of sensible size is not.
fn read_own_file(path: &Path) -> io::Result<String> {
    let refused = |reason| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return refused("it is no regular file");
    }
    if metadata.len() > MAX_BYTES {
        return refused("it is too large for a settings file");
    }
    let mut text = String::new();
    fs::File::open(path)?.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
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
        check_error("[a]\nb = [0.0, inf]", "web/.strata.toml: `a.b` is no finite number");
    }

    #[test]
    fn where_the_user_file_is() {
        let find = |variables: &[(&str, &str)]| {
            let found = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
            };
            user_file(found).map(|path| path.display().to_string())
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
        assert_eq!(user_source(&path), Ok(None));
        fs::write(&path, "a = 1").unwrap();
        assert_eq!(user_source(&path).unwrap().unwrap().values, json!({"a": 1}));
        fs::write(&path, "a =").unwrap();
        assert!(matches!(user_source(&path), Err(FileError::Syntax { line: 1, .. })));
        fs::write(&path, vec![b'#'; 300_000]).unwrap();
        assert!(matches!(user_source(&path), Err(FileError::Unreadable { .. })));
        assert!(matches!(user_source(directory.path()), Err(FileError::Unreadable { .. })));
    }

    #[test]
    fn the_first_folder_has_the_strongest_file() {
        let directory = tempfile::tempdir().unwrap();
        let folder = |name: &str| crate::roots::Folder { name: None, path: directory.path().join(name) };
        for (name, text) in [("a", "x = 'a'"), ("b", "x = 'b'"), ("broken", "x"), ("none", "")] {
            fs::create_dir(directory.path().join(name)).unwrap();
            if !text.is_empty() {
                fs::write(directory.path().join(name).join(WORKSPACE_FILE), text).unwrap();
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

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z=\\[\\]{}'\".0-9\n #é-]{0,60}") {
            let _ = from_toml("f", &text);
        }
    }
}
