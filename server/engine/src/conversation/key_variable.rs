//! Validates names of environment variables that may contain a provider's key. Does not read the environment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Unreadable;

/// Suffixes that the name of a variable may have. Other names are rejected.
const ENDINGS: [&str; 3] = ["_API_KEY", "_TOKEN", "_KEY"];

/// Name of an environment variable that contains a provider's key: upper-case letters, digits and
/// underscores, ending in `_API_KEY`, `_TOKEN` or `_KEY`. Rejects other variables, such as `PATH`, so that
/// they are never sent to a provider by mistake.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[A-Z0-9_]*(_API_KEY|_TOKEN|_KEY)$"))]
pub struct KeyVariable(String);

impl KeyVariable {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for KeyVariable {
    type Error = Unreadable;

    fn try_from(name: String) -> Result<Self, Unreadable> {
        let plain = name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        if plain && ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            Ok(Self(name))
        } else {
            Err(Unreadable(format!(
                "`{name}` is not allowed; use an environment variable whose name ends in _API_KEY, _TOKEN or _KEY"
            )))
        }
    }
}

impl From<KeyVariable> for String {
    fn from(variable: KeyVariable) -> Self {
        variable.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_keys_are_taken() {
        for name in ["ANTHROPIC_API_KEY", "HF_TOKEN", "MY_KEY", "AZURE_2_KEY"] {
            assert_eq!(KeyVariable::try_from(name.to_owned()).map(String::from), Ok(name.to_owned()));
        }
        for name in [
            "",
            "HOME",
            "PATH",
            "KEY",
            "DATABASE_URL",
            "MY_KEY_FILE",
            "my_key",
            "A B_KEY",
            "A=B_KEY",
            "\0_KEY",
        ] {
            let refused = KeyVariable::try_from(name.to_owned()).unwrap_err();
            assert!(refused.to_string().contains("_API_KEY, _TOKEN or _KEY"), "{refused}");
        }
    }
}
