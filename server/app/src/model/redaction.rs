//! Creates the screen for secrets, with the key of the user who runs this process.

use strata_host::placeholder_key;
pub use strata_tokens::redaction::SecretRedactor;

/// Creates a screen with the user's own key, which is read or created when the first secret is found.
pub fn user_secret_redactor() -> SecretRedactor {
    SecretRedactor::new(placeholder_key::user_key)
}
