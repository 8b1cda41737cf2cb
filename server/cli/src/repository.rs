//! Opening the repository that a command is about.

use strata_lsp::workbench::{Settings, Workbench};

use crate::arguments::RepositoryArguments;
use crate::bar::Bar;
use crate::failure::Failure;
use crate::output;

/// The repository without its outlines.
pub(crate) fn open(arguments: &RepositoryArguments) -> Result<Workbench, Failure> {
    let mut workbench = Workbench::open(&arguments.folder, Settings::default())?;
    workbench.keep_outlines();
    Ok(workbench)
}

/// The repository with the sessions and notes that are stored for it.
pub(crate) fn open_stored(arguments: &RepositoryArguments, settings: Settings) -> Result<Workbench, Failure> {
    let mut workbench = Workbench::open(&arguments.folder, settings)?;
    workbench.keep_outlines();
    if let Some(news) = workbench.open_store()? {
        output::tell(&format!("warning: {news}"));
    }
    Ok(workbench)
}

/// Lists the repository's files, so that a misspelt path is noticed before the long work.
pub(crate) fn list(workbench: &mut Workbench) -> Result<(), Failure> {
    workbench.list().map_err(|error| Failure::said(error.to_string()))
}

/// Outlines the repository.
pub(crate) fn index(workbench: &mut Workbench) -> Result<(), Failure> {
    let bar = Bar::new("indexing", "files");
    workbench.index(|progress| bar.progress(progress)).map_err(|error| Failure::said(error.to_string()))
}
