//! The inputs of an index run: which folders, which files of them, and how many threads. Reads nothing.

use std::num::NonZeroUsize;

use strata_base::cancel::Cancel;
use strata_host::index::index_threads;
use strata_host::outline_cache::OutlineCache;
use strata_host::roots::Roots;
use strata_host::walk::WalkOptions;
use strata_prompt::settings::Settings;
use strata_prompt::trust::Trust;

#[derive(Clone, Debug)]
pub struct IndexInputs<'a> {
    pub roots: &'a Roots,
    pub options: WalkOptions,
    /// Cached outlines of earlier runs.
    pub cache: &'a OutlineCache,
    pub trust: Trust,
    /// Number of threads that read and parse files.
    pub threads: NonZeroUsize,
    pub cancel: &'a Cancel,
}

impl<'a> IndexInputs<'a> {
    /// Creates inputs for an untrusted workspace with default settings, and with as many threads as an editor can spare.
    pub fn new(roots: &'a Roots, cache: &'a OutlineCache, cancel: &'a Cancel) -> Self {
        Self {
            roots,
            options: WalkOptions::default(),
            cache,
            trust: Trust::default(),
            threads: index_threads(),
            cancel,
        }
    }
}

/// Returns the options of the scan that the settings specify.
pub(crate) fn walk_options(settings: &Settings, trust: Trust) -> WalkOptions {
    WalkOptions { trust, exclude: settings.server.ignore.clone(), ..WalkOptions::default() }
}
