//! The name of a file inside Strata. A key is text that was checked elsewhere (the host resolves paths,
//! see its `paths`); this module only gives it one spelling and one order. It never looks at a disk.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file's name: its path below its root with `/` between the parts (`src/lib.rs`), after the root's
/// name when there are several roots (`web/src/app.ts`), or `untitled:{name}` for a buffer that was
/// never saved. Cheap to clone; ordered by bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FileKey(Arc<str>);

impl FileKey {
    /// A key with the given spelling.
    pub fn new(key: impl Into<Arc<str>>) -> Self {
        Self(key.into())
    }

    /// The spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part of the path: `lib.rs` of `src/lib.rs`.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The directory part without its slash: `src` of `src/lib.rs`, empty at the top.
    pub(crate) fn directory(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(directory, _)| directory)
    }

    /// Whether this names a buffer that has no file.
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

impl fmt::Display for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
    fn parts_of_a_key() {
        let key = FileKey::from("web/src/app.ts");
        assert_eq!((key.directory(), key.file_name()), ("web/src", "app.ts"));
        assert_eq!((FileKey::from("a.py").directory(), FileKey::from("a.py").file_name()), ("", "a.py"));
        assert!(FileKey::from("untitled:Untitled-1").is_untitled());
    }
}
