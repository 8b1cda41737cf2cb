//! The store on a disk that fails: at every call that writes or reads, and cut off anywhere. What was acknowledged is there, what was
//! refused is not, and the same store goes on when the disk does.
//!
//! `STRATA_LONG=1` tries every call and many more places; `-- --nocapture` shows how many.

mod appends;
mod cuts;
mod disk;
mod failures;
mod migration;
mod recovery;
mod script;

use std::env;

/// Whether this is the long run.
fn long() -> bool {
    env::var_os("STRATA_LONG").is_some()
}
