//! The screen for secrets of the user who runs this process. Finds nothing itself.

pub use strata_engine::tokens::redaction::Screen;
use strata_host::placeholder_key;

/// Screens with the user's own key, which is read or made when the first secret is found.
pub fn screen_of_user() -> Screen {
    Screen::new(placeholder_key::of_user)
}
