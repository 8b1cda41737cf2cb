//! Searches files for mentions of definitions. Files do not depend on each other, so several searches share them.

use std::collections::BTreeSet;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::by_name::LikelyFiles;
use super::meaning::{Meanings, ReferenceSources};
use super::report::{Confidence, ReferenceHit, ReferenceReport, SearchedPart};
use super::scopes::FileNames;
use super::wanted::{Wanted, mention};
use super::word_lines::{LinesIn, WordLines};
use crate::outline;
use crate::symbols::FileSymbols;

/// The search for the mentions of some definitions.
pub(super) struct FileSearch<'s> {
    sources: ReferenceSources<'s>,
    wanted: Wanted,
    name: &'s str,
    cancel: &'s Cancel,
    families: BTreeSet<&'static str>,
    /// Whether imports connect the file with this number with one of the definitions.
    connected: Vec<bool>,
    /// Whether all definitions are in tests.
    only_tests: bool,
    likely: LikelyFiles,
}

impl<'s> FileSearch<'s> {
    pub(super) fn new(
        sources: ReferenceSources<'s>,
        wanted: Wanted,
        name: &'s str,
        cancel: &'s Cancel,
    ) -> Self {
        let ReferenceSources { index, graph, .. } = sources;
        let definers: Vec<&FileKey> = wanted.definitions.iter().map(|found| &found.file).collect();
        let is_test =
            |key: &&FileKey| index.get(*key).is_some_and(|file| file.language.is_test_file(key.as_str()));
        Self {
            sources,
            name,
            cancel,
            families: wanted.languages.iter().map(|language| language.family).collect(),
            connected: graph.connected(&definers),
            only_tests: definers.iter().all(is_test),
            likely: LikelyFiles::new(graph, index, name, &definers),
            wanted,
        }
    }

    /// Searches all files. `meanings` has the files in which the definitions are.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before the search finishes.
    pub(super) fn run(self, meanings: Meanings<'_>) -> Result<ReferenceReport, Cancelled> {
        meanings.check()?;
        let mut skipped = meanings.into_skipped();
        let mut report = ReferenceReport::default();
        for mut part in (self.sources.each_part)(&|part, parts| self.part(part, parts)) {
            if part.is_cancelled {
                return Err(Cancelled);
            }
            report.hits.append(&mut part.hits);
            report.unlikely += part.unlikely;
            report.other_lines.code += part.other_lines.code;
            report.other_lines.text += part.other_lines.text;
            skipped.append(&mut part.skipped);
        }
        self.cancel.check()?;
        report.hits.sort_by(|a, b| (&a.file, a.range.start).cmp(&(&b.file, b.range.start)));
        report.unsearched = skipped.len();
        report.definitions = self.wanted.definitions;
        report.mark_definitions();
        Ok(report)
    }

    /// Searches every file whose number is `part` modulo `parts`.
    fn part(&self, part: usize, parts: usize) -> SearchedPart {
        let meanings = Meanings::new(self.sources, self.cancel, parts);
        let mut found = SearchedPart::default();
        let files = self.sources.index.iter().skip(part).step_by(parts);
        for (key, file) in files {
            if self.file(&meanings, key, file, &mut found).and_then(|()| meanings.check()).is_err() {
                found.is_cancelled = true;
                break;
            }
        }
        found.skipped.append(&mut meanings.into_skipped());
        found
    }

    fn file(
        &self,
        meanings: &Meanings<'_>,
        key: &FileKey,
        file: &FileSymbols,
        found: &mut SearchedPart,
    ) -> Result<(), Cancelled> {
        let Some(text) = (self.sources.texts)(key) else {
            found.skipped.insert(key.clone());
            return Ok(());
        };
        let mut lines = WordLines::of(&text, self.name);
        if lines.is_empty() {
            return Ok(());
        }
        let is_document = file.language.is_document();
        let is_undefined = self.wanted.definitions.is_empty();
        if is_document || !(is_undefined || self.families.contains(file.language.family)) {
            // Code in another language may have the name of this one, such as a template.
            lines.are_in = if is_document { LinesIn::Document } else { LinesIn::Unparsed };
        } else if is_undefined {
            self.mentions(meanings, key, Some(Confidence::Guess), &mut lines, found)?;
        } else if let Some(number) = meanings.number(key)
            && let Some(names) = meanings.file(number)
        {
            self.references(meanings, key, (number, &names), &mut lines, found)?;
        } else {
            self.mentions(meanings, key, self.likely.confidence(key), &mut lines, found)?;
        }
        found.other_lines.add(&lines);
        Ok(())
    }

    /// Adds the mentions that refer to the definitions, according to scopes, imports and types.
    fn references(
        &self,
        meanings: &Meanings<'_>,
        key: &FileKey,
        (number, names): (usize, &FileNames),
        lines: &mut WordLines,
        found: &mut SearchedPart,
    ) -> Result<(), Cancelled> {
        let language = names.tree.language;
        // A guess is likely only in a file that imports connect with the definition, or in a test. A definition in
        // tests is used only in its own file.
        let is_likely = match self.only_tests {
            true => self.wanted.definitions.iter().any(|found| found.file == *key),
            false => {
                self.connected.get(number).is_some_and(|connected| *connected)
                    || language.is_test_file(key.as_str())
            }
        };
        for range in names.mentions(self.name, self.cancel)? {
            lines.mention(range.start);
            let values = mention(meanings, number, names, self.name, &range);
            match self.wanted.judged(&values) {
                Some((Confidence::Guess, _)) if !is_likely => {}
                Some((Confidence::Guess, _)) if is_builtin(language, self.name) => found.unlikely += 1,
                Some((confidence, means)) => {
                    lines.hit(range.start);
                    found.hits.push(ReferenceHit::new(
                        key,
                        &names.text,
                        &lines.starts,
                        range,
                        confidence,
                        means,
                    ));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Adds all mentions of the name in a file without reference rules, with this confidence.
    fn mentions(
        &self,
        meanings: &Meanings<'_>,
        key: &FileKey,
        confidence: Option<Confidence>,
        lines: &mut WordLines,
        found: &mut SearchedPart,
    ) -> Result<(), Cancelled> {
        let Some((text, tree)) = meanings.parsed(key)? else {
            // All lines count as code, since nothing separates the code from its comments.
            lines.are_in = LinesIn::Unparsed;
            return Ok(());
        };
        // A member may be used in a file that does not import the one that defines it, but is not defined there.
        let is_elsewhere = confidence.is_none() && self.wanted.has_member;
        let places = if is_elsewhere { outline::located(&tree, &text, self.cancel)? } else { Vec::new() };
        let others: BTreeSet<usize> = places.iter().map(|place| place.name_range.start).collect();
        let confidence = confidence.or(is_elsewhere.then_some(Confidence::Guess));
        for range in outline::mentions_of(&tree, &text, self.name, self.cancel)? {
            lines.mention(range.start);
            if let Some(confidence) = confidence
                && !others.contains(&range.start)
            {
                lines.hit(range.start);
                found.hits.push(ReferenceHit::new(key, &text, &lines.starts, range, confidence, Vec::new()));
            }
        }
        Ok(())
    }
}

fn is_builtin(language: LanguageId, name: &str) -> bool {
    language.builtins.binary_search(&name).is_ok()
}
