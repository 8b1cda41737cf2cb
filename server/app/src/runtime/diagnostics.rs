//! Reports what this build contains and what is broken in it, as the first step of troubleshooting. Reads only built-in
//! data and the index, and changes nothing.

use serde::Serialize;
use strata_base::cancel::Cancel;
use strata_code::outline::Outline;
use strata_grammars::LanguageId;
use strata_host::outline_cache::CacheSize;
use strata_prompt::settings::Settings;
use strata_tokens::models::Models;

use crate::model::snapshot::Snapshot;

/// A report on what this build of Strata contains, and whether it works.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BuildReport {
    pub version: &'static str,
    /// Platform that this build targets.
    pub platform: Platform,
    /// Languages that Strata can outline.
    pub languages: Vec<GrammarReport>,
    /// Vocabularies used to count tokens.
    pub tokenizers: Vec<TokenizerReport>,
    pub models: ModelTableReport,
}

#[derive(Debug, Serialize)]
pub struct Platform {
    /// Operating system: `linux`, `macos`, `windows`, ...
    pub os: &'static str,
    /// Processor architecture: `x86_64`, `aarch64`, ...
    pub arch: &'static str,
}

/// The state of one language's grammar in this build.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GrammarReport {
    pub name: &'static str,
    /// Version of tree-sitter's ABI for which the grammar was generated.
    pub abi: usize,
    /// The reason that the language has no outlines; absent if the grammar works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub struct TokenizerReport {
    /// Name that the vocabulary's publisher gives it, such as `o200k_base`.
    pub name: &'static str,
}

#[derive(Debug, Serialize)]
pub struct ModelTableReport {
    /// Number of models in the model table.
    pub known: usize,
    /// Name of the default model.
    pub default: String,
    /// Warning about the properties assumed for the default model, if it is missing from the model table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceReport {
    pub roots: Vec<String>,
    /// Number of files in the index.
    pub files: usize,
    /// Number of files with an outline.
    pub outlined: usize,
    /// Problems found while scanning the workspace and reading its Git history, as sentences.
    pub notes: Vec<String>,
    /// Size of the outline cache on disk. Absent if outlines are not cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outline_cache: Option<CacheSize>,
}

impl BuildReport {
    /// Checks all built-in data.
    pub fn new(settings: &Settings) -> Self {
        let models = Models::builtin();
        let default = models.resolve(&settings.model);
        let problem = default.warning();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            platform: Platform { os: std::env::consts::OS, arch: std::env::consts::ARCH },
            languages: LanguageId::all().map(GrammarReport::new).collect(),
            tokenizers: ["o200k_base", "cl100k_base"].map(|name| TokenizerReport { name }).into(),
            models: ModelTableReport {
                known: models.iter().count(),
                default: default.model.id.clone(),
                problem,
            },
        }
    }

    pub fn problems(&self) -> Vec<String> {
        let languages = self.languages.iter().filter_map(|language| {
            Some(format!("the language {}: {}", language.name, language.problem.as_ref()?))
        });
        let models = self.models.problem.iter().map(|problem| format!("the default model: {problem}"));
        languages.chain(models).collect()
    }
}

impl GrammarReport {
    /// Checks a grammar by running it on the language's own fixture.
    fn new(language: LanguageId) -> Self {
        Self {
            name: language.name,
            abi: language.grammar().abi_version(),
            problem: grammar_problem(language),
        }
    }
}

fn grammar_problem(language: LanguageId) -> Option<&'static str> {
    if language.outline_query().is_none() {
        return Some("the outline query does not match the grammar");
    }
    match Outline::read(language, language.fixture, &Cancel::new()) {
        Ok(outline) if outline.symbols.iter().next().is_none() => {
            Some("the outline query finds no definitions in the sample file")
        }
        Ok(_) => None,
        // The cancel flag is never raised here, so the grammar's version is the only possible cause.
        Err(_) => Some("the grammar was generated for a different version of the parser"),
    }
}

impl WorkspaceReport {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        Self {
            roots: snapshot.roots.iter().map(|root| root.real.display().to_string()).collect(),
            files: snapshot.index.files.len(),
            outlined: snapshot.index.count_outlined(),
            notes: snapshot.index.all_notes().collect(),
            outline_cache: snapshot.outlines.size(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_of_this_build_find_no_problems() {
        let diagnostics = BuildReport::new(&Settings::default());
        assert_eq!(diagnostics.problems(), Vec::<String>::new());
        assert!(diagnostics.languages.iter().any(|language| language.name == "rust"));
        assert!(diagnostics.models.known > 0);
    }

    #[test]
    fn an_unknown_default_model_is_a_problem() {
        let settings = Settings { model: "no-such-model".to_owned(), ..Settings::default() };
        let problems = BuildReport::new(&settings).problems();
        assert!(problems.iter().any(|problem| problem.contains("no-such-model")), "{problems:?}");
    }
}
