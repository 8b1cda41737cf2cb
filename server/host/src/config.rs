//! Reads settings from files, the environment, the editor and the command line, and merges them, recording the origin
//! of each value. This module treats a setting as a name and a JSON value; the engine interprets and validates it. No
//! error is fatal: unreadable sources are reported and skipped.

mod edit;
mod environment;
mod file;
mod layers;

pub use self::edit::{SettingEditError, parse_setting_path, value_to_toml, with_setting};
pub use self::environment::{from_environment, toml_value};
pub use self::file::{
    SettingsFileError, WORKSPACE_FILES, from_toml, from_yaml, user_file, user_source, workspace_sources,
};
pub use self::layers::{
    EffectiveSettings, IgnoredSetting, SettingLayer, SettingOrigin, SettingsSource, set_at_path, set_dotted,
};
