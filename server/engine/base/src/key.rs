//! Names of files in Strata. Defines how a name is spelled and ordered; the host resolves paths to names.
//! Does not access the disk.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::external::{ExternalText, RenderedText};

/// Name of a file: its path relative to its root with `/` as separator (`src/lib.rs`), preceded by the root's
/// name if there are several roots (`web/src/app.ts`), or `untitled:{name}` for a buffer that was never
/// saved. Ordered by bytes.
// Cheap to clone. Whoever made the file chose the name, so it has no `Display`, as [`ExternalText`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FileKey(Arc<str>);

impl FileKey {
    /// Creates a key from its spelling, without validating it.
    pub fn new(key: impl Into<Arc<str>>) -> Self {
        Self(key.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn external(&self) -> ExternalText<'_> {
        ExternalText::new(&self.0)
    }

    /// The name in a message, which any front end may show: one line without links.
    pub fn notice(&self) -> RenderedText<'_> {
        self.external().notice()
    }

    /// Returns the last component of the path: `lib.rs` for `src/lib.rs`.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the directory without a trailing slash: `src` for `src/lib.rs`, empty at the top level.
    pub fn directory(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(directory, _)| directory)
    }

    /// Whether the key names a buffer that was never saved.
    pub fn is_untitled(&self) -> bool {
        self.0.starts_with("untitled:")
    }
}

impl Borrow<str> for FileKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for FileKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for FileKey {
    fn from(key: &str) -> Self {
        Self(key.into())
    }
}

impl fmt::Debug for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_a_directory_and_a_file_name() {
        let key = FileKey::from("web/src/app.ts");
        assert_eq!((key.directory(), key.file_name()), ("web/src", "app.ts"));
        assert_eq!((FileKey::from("a.py").directory(), FileKey::from("a.py").file_name()), ("", "a.py"));
        assert!(FileKey::from("untitled:Untitled-1").is_untitled());
    }
}
