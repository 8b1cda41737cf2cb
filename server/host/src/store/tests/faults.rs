//! Tests the store on a failing disk: every call that writes or reads fails, and writes are cut off anywhere.
//! Acknowledged data is preserved, rejected data is absent, and the same store continues once the disk works again.
//!
//! `STRATA_LONG=1` tests every call and many more places; `-- --nocapture` prints how many.

mod appends;
mod cuts;
mod disk;
mod failures;
mod migration;
mod recovery;
mod script;

use std::env;

/// Whether this is the long run (`STRATA_LONG`).
fn long() -> bool {
    env::var_os("STRATA_LONG").is_some()
}
