//! Settings as they come from files, the environment, the editor and the command line: read, laid over each other, each value
//! with the place it came from. What a setting means, and whether a value is right, is the engine's business; here a
//! setting is a name and a JSON value. Nothing here is ever fatal: what cannot be read is reported and left out.

mod environment;
mod file;
mod layers;
mod yaml;

pub use self::environment::from_environment;
pub use self::file::{FileError, WORKSPACE_FILES, from_toml, user_file, user_source, workspace_sources};
pub use self::layers::{EffectiveSettings, IgnoredSetting, Layer, Origin, Source, set_dotted};
pub use self::yaml::from_yaml;
