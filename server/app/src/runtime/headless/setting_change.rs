//! Changes settings in the user's file or in the workspace's, after checking that the result can be used.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use strata_host::config::{
    SettingEditError, SettingLayer, SettingsSource, WORKSPACE_FILES, from_toml, parse_setting_path,
    user_file, with_setting,
};

use super::{HeadlessWorkspace, parse_value};
use crate::model::settings;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettingsFile {
    /// The user's own settings.
    User,
    /// The settings of the workspace.
    Workspace,
}

/// Why a setting was not changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingChangeError {
    /// No setting has this name.
    #[error("no setting is named `{name}`{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown {
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// The environment does not say where the user's settings are.
    #[error("the directory of your settings is unknown, because HOME is not set")]
    NoPlace,
    /// The file is in another form than TOML.
    #[error("{} is not a TOML file; edit it yourself with `strata config edit --workspace`", .0.display())]
    NotToml(PathBuf),
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Edit { path: PathBuf, error: SettingEditError },
    /// The settings would be rejected.
    #[error("{0}")]
    Rejected(String),
}

impl SettingChangeError {
    /// Creates the error for a name that no setting has.
    pub fn unknown_setting(name: &str) -> Self {
        Self::Unknown { name: name.to_owned(), nearest: settings::nearest_setting_name(name) }
    }
}

/// Returns the value of a setting, or of a group of settings, in a tree of settings. Returns `None` if there is none.
pub fn setting_value<'a>(tree: &'a Value, name: &str) -> Option<&'a Value> {
    parse_setting_path(name)?.iter().try_fold(tree, |node, part| node.get(part))
}

impl HeadlessWorkspace {
    /// Returns the path of a settings file, whether or not it exists.
    ///
    /// # Errors
    /// [`SettingChangeError::NoPlace`].
    pub fn settings_file(&self, file: SettingsFile) -> Result<PathBuf, SettingChangeError> {
        if file == SettingsFile::User {
            return user_file(|name| std::env::var_os(name)).ok_or(SettingChangeError::NoPlace);
        }
        let [toml, others @ ..] = WORKSPACE_FILES.map(|name| self.folder().join(name));
        let existing = others.into_iter().find(|other| !toml.exists() && other.exists());
        Ok(existing.unwrap_or(toml))
    }

    /// Sets a setting in a file to a value, written as TOML or as plain text, or removes it from the file. Returns the path
    /// of the file.
    ///
    /// # Errors
    /// [`SettingChangeError`]. The file is then unchanged.
    pub fn change_setting(
        &self,
        file: SettingsFile,
        name: &str,
        value: Option<&str>,
    ) -> Result<PathBuf, SettingChangeError> {
        let setting =
            settings::find_setting(name).ok_or_else(|| SettingChangeError::unknown_setting(name))?;
        let path = self.settings_file(file)?;
        if path.extension().is_none_or(|extension| extension != "toml") {
            return Err(SettingChangeError::NotToml(path));
        }
        let failed = |error| SettingChangeError::File { path: path.clone(), error };
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(failed)?,
        };
        let value = value.map(|text| parse_setting_value(text, &setting.default));
        let changed = with_setting(&text, &setting.path, value.as_ref())
            .map_err(|error| SettingChangeError::Edit { path: path.clone(), error })?;
        self.check_settings(file, &path, &changed, name)?;
        replace_file(&path, &changed).map_err(failed)?;
        Ok(path)
    }

    /// Checks that the text of a settings file can be used, and that its setting `name` has an effect.
    fn check_settings(
        &self,
        file: SettingsFile,
        path: &Path,
        text: &str,
        name: &str,
    ) -> Result<(), SettingChangeError> {
        let file_name = path.display().to_string();
        let rejected = |message: String| Err(SettingChangeError::Rejected(message));
        let values = match from_toml(&file_name, text) {
            Ok(values) => values,
            Err(error) => return rejected(error.to_string()),
        };
        let layer = if file == SettingsFile::User { SettingLayer::User } else { SettingLayer::Workspace };
        let mut configuration = (*self.snapshot.configuration).clone();
        let source = SettingsSource { layer, name: file_name.into(), values };
        if let Some(problem) = configuration.replace(layer, vec![Ok(source)]).pop() {
            return rejected(problem);
        }
        let ignored = &configuration.effective_settings().ignored;
        match ignored.iter().find(|ignored| ignored.origin.layer == layer && ignored.key == name) {
            Some(ignored) => rejected(format!("{} cannot set {name}: {}", path.display(), ignored.reason)),
            None => Ok(()),
        }
    }
}

/// Returns a value from the command line for a setting with this default: as TOML, or as plain text. Numbers can be
/// written like `4k`.
fn parse_setting_value(text: &str, default: &Value) -> Value {
    if default.is_string() {
        return text.into();
    }
    let thousands = text.strip_suffix('k').and_then(|digits| digits.parse::<u64>().ok()?.checked_mul(1_000));
    thousands.map_or_else(|| parse_value(text), Value::from)
}

/// Replaces a file as a whole. A link keeps its target.
fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let new = path.with_extension("toml.new");
    fs::write(&new, text)?;
    if let Ok(metadata) = fs::metadata(&path) {
        fs::set_permissions(&new, metadata.permissions())?;
    }
    fs::rename(&new, &path)
}
