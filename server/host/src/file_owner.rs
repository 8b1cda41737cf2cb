//! Determines whether a file belongs to the user who runs this process, and whether other users can write to it. Reads
//! metadata only.
//!
//! Follows Git's `safe.directory`: a file belongs to the user if the effective user id owns it. For the administrator,
//! a file also belongs to the user if it is owned by the user who called `sudo`. The administrator's files do not
//! belong to other users.

use std::fs::Metadata;

/// The owner of a file, and who else can write to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOwner {
    pub user: u32,
    pub group: u32,
    /// The permission bits, as in `chmod`.
    pub mode: u32,
}

/// The user who runs this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessUser {
    effective: UserAndGroup,
    /// The user who called `sudo`.
    sudo_caller: Option<UserAndGroup>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UserAndGroup {
    user: u32,
    group: u32,
}

/// How a file is under the control of another user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignControl {
    /// The file belongs to another user.
    Owned,
    /// Other users can write to the file, or add and replace files in the directory.
    Writable,
}

const ROOT_UID: u32 = 0;

impl ProcessUser {
    /// Returns the user who runs this process.
    #[cfg(unix)]
    pub fn current() -> Self {
        let variable = |name| std::env::var(name).ok()?.parse().ok();
        let user = rustix::process::geteuid().as_raw();
        let sudo = variable("SUDO_UID").zip(variable("SUDO_GID"));
        Self::new(user, rustix::process::getegid().as_raw(), sudo)
    }

    /// Returns a user who owns all files, since owners are not read on this system.
    #[cfg(not(unix))]
    pub fn current() -> Self {
        Self::new(ROOT_UID, ROOT_UID, None)
    }

    /// `sudo` contains the user and the group of `SUDO_UID` and `SUDO_GID`.
    fn new(user: u32, group: u32, sudo: Option<(u32, u32)>) -> Self {
        let sudo_caller = sudo.filter(|_| user == ROOT_UID).map(|(user, group)| UserAndGroup { user, group });
        Self { effective: UserAndGroup { user, group }, sudo_caller }
    }

    /// Returns how another user controls a file, or `None` if only the caller and the administrator do.
    ///
    /// A group may write if it is the owner's private group, which many systems create for each user, with the user's
    /// number and name.
    pub fn foreign_control(&self, file: FileOwner) -> Option<ForeignControl> {
        let owner = [Some(self.effective), self.sudo_caller]
            .into_iter()
            .flatten()
            .find(|account| account.user == file.user);
        let Some(owner) = owner else { return Some(ForeignControl::Owned) };
        let is_private = file.group == owner.group && owner.group == owner.user;
        let is_writable = file.mode & 0o002 != 0 || (file.mode & 0o020 != 0 && !is_private);
        is_writable.then_some(ForeignControl::Writable)
    }
}

impl FileOwner {
    #[cfg(unix)]
    pub fn new(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { user: metadata.uid(), group: metadata.gid(), mode: metadata.mode() }
    }

    #[cfg(not(unix))]
    pub fn new(_: &Metadata) -> Self {
        Self { user: ROOT_UID, group: ROOT_UID, mode: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::ForeignControl::{Owned, Writable};
    use super::*;

    const ME: u32 = 1000;
    const BOB: u32 = 1001;
    const STAFF: u32 = 20;

    #[test]
    fn ownership_follows_gits_rules() {
        let me = ProcessUser::new(ME, ME, None);
        let staff = ProcessUser::new(ME, STAFF, None);
        let root = ProcessUser::new(0, 0, None);
        let sudo = ProcessUser::new(0, 0, Some((ME, ME)));
        // Only the administrator can have been called by `sudo`.
        let pretender = ProcessUser::new(BOB, BOB, Some((ME, ME)));
        for (caller, user, group, mode, expected) in [
            (&me, ME, ME, 0o755, None),
            (&me, ME, ME, 0o644, None),
            (&me, BOB, BOB, 0o700, Some(Owned)),
            (&me, BOB, ME, 0o777, Some(Owned)),
            (&me, 0, 0, 0o755, Some(Owned)),
            // A shared directory such as `/tmp`, and one in which everyone can add files.
            (&me, 0, 0, 0o1777, Some(Owned)),
            (&me, ME, ME, 0o1777, Some(Writable)),
            (&me, ME, ME, 0o666, Some(Writable)),
            // A private group, and a group with other users.
            (&me, ME, ME, 0o775, None),
            (&me, ME, STAFF, 0o775, Some(Writable)),
            (&me, ME, BOB, 0o775, Some(Writable)),
            (&staff, ME, STAFF, 0o755, None),
            (&staff, ME, STAFF, 0o775, Some(Writable)),
            // The number of a group that is not the caller's says nothing.
            (&staff, ME, ME, 0o775, Some(Writable)),
            (&root, 0, 0, 0o755, None),
            (&root, 0, 0, 0o1777, Some(Writable)),
            (&root, ME, ME, 0o755, Some(Owned)),
            (&sudo, 0, 0, 0o755, None),
            (&sudo, ME, ME, 0o755, None),
            (&sudo, ME, ME, 0o775, None),
            (&sudo, ME, STAFF, 0o775, Some(Writable)),
            (&sudo, BOB, BOB, 0o755, Some(Owned)),
            (&pretender, ME, ME, 0o755, Some(Owned)),
        ] {
            let file = FileOwner { user, group, mode };
            assert_eq!(caller.foreign_control(file), expected, "{caller:?} {file:?}");
        }
    }

    #[test]
    fn a_new_file_is_under_the_callers_control() {
        let directory = tempfile::tempdir().unwrap();
        let metadata = directory.path().symlink_metadata().unwrap();
        assert_eq!(ProcessUser::current().foreign_control(FileOwner::new(&metadata)), None);
    }
}
