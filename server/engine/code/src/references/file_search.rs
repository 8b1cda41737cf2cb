//! Searches files for mentions of definitions. Files do not depend on each other, so several searches share them.

use std::collections::BTreeSet;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;

use super::by_name::LikelyReferrers;
use super::name_resolver::{NameResolver, ReferenceSources};
use super::report::{Confidence, ReferenceHit, ReferenceReport, SearchedPart};
use super::scopes::FileScopes;
use super::targets::{SearchTargets, resolve_mention};
use super::word_lines::{NameLines, TextKind};
use crate::outline;
use crate::symbols::FileSymbols;

/// The search for the mentions of some definitions.
pub(super) struct MentionSearch<'s> {
    sources: ReferenceSources<'s>,
    targets: SearchTargets,
    name: &'s str,
    cancel: &'s Cancel,
    families: BTreeSet<&'static str>,
    /// Whether imports connect the file with this number with one of the definitions.
    connected: Vec<bool>,
    /// Whether all definitions are in tests.
    only_tests: bool,
    likely_files: LikelyReferrers,
}

impl<'s> MentionSearch<'s> {
    pub(super) fn new(
        sources: ReferenceSources<'s>,
        targets: SearchTargets,
        name: &'s str,
        cancel: &'s Cancel,
    ) -> Self {
        let ReferenceSources { index, graph, .. } = sources;
        let definers: Vec<&FileKey> = targets.definitions.iter().map(|definition| &definition.file).collect();
        let is_test =
            |key: &&FileKey| index.get(*key).is_some_and(|file| file.language.is_test_file(key.as_str()));
        Self {
            sources,
            name,
            cancel,
            families: targets.languages.iter().map(|language| language.family).collect(),
            connected: graph.connected_files(&definers),
            only_tests: definers.iter().all(is_test),
            likely_files: LikelyReferrers::new(graph, index, name, &definers),
            targets,
        }
    }

    /// Searches all files. `resolver` has the files in which the definitions are.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before the search finishes.
    pub(super) fn run(self, resolver: NameResolver<'_>) -> Result<ReferenceReport, Cancelled> {
        resolver.check_cancelled()?;
        let mut skipped = resolver.into_skipped();
        let mut report = ReferenceReport::default();
        for mut part in (self.sources.each_part)(&|part, parts| self.search_part(part, parts)) {
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
        report.definitions = self.targets.definitions;
        report.mark_definitions();
        Ok(report)
    }

    /// Searches every file whose number is `part` modulo `parts`.
    fn search_part(&self, part: usize, parts: usize) -> SearchedPart {
        let resolver = NameResolver::new(self.sources, self.cancel, parts);
        let mut searched = SearchedPart::default();
        let files = self.sources.index.iter().skip(part).step_by(parts);
        for (key, file) in files {
            if self
                .search_file(&resolver, key, file, &mut searched)
                .and_then(|()| resolver.check_cancelled())
                .is_err()
            {
                searched.is_cancelled = true;
                break;
            }
        }
        searched.skipped.append(&mut resolver.into_skipped());
        searched
    }

    fn search_file(
        &self,
        resolver: &NameResolver<'_>,
        key: &FileKey,
        file: &FileSymbols,
        searched: &mut SearchedPart,
    ) -> Result<(), Cancelled> {
        let Some(text) = (self.sources.texts)(key) else {
            searched.skipped.insert(key.clone());
            return Ok(());
        };
        let mut lines = NameLines::new(&text, self.name);
        if lines.is_empty() {
            return Ok(());
        }
        let is_document = file.language.is_document();
        let is_undefined = self.targets.definitions.is_empty();
        if is_document || !(is_undefined || self.families.contains(file.language.family)) {
            // Code in another language may have the name of this one, such as a template.
            lines.text_kind = if is_document { TextKind::Document } else { TextKind::Unparsed };
        } else if is_undefined {
            self.add_mentions(resolver, key, Some(Confidence::Guess), &mut lines, searched)?;
        } else if let Some(number) = resolver.file_number(key)
            && let Some(names) = resolver.file_scopes(number)
        {
            self.add_resolved_mentions(resolver, key, (number, &names), &mut lines, searched)?;
        } else {
            self.add_mentions(resolver, key, self.likely_files.confidence(key), &mut lines, searched)?;
        }
        searched.other_lines.add(&lines);
        Ok(())
    }

    fn add_resolved_mentions(
        &self,
        resolver: &NameResolver<'_>,
        key: &FileKey,
        (number, names): (usize, &FileScopes),
        lines: &mut NameLines,
        searched: &mut SearchedPart,
    ) -> Result<(), Cancelled> {
        let language = names.tree.language;
        // A guess is likely only in a file that imports connect with the definition, or in a test. A definition in
        // tests is used only in its own file.
        let is_likely = match self.only_tests {
            true => self.targets.definitions.iter().any(|definition| definition.file == *key),
            false => {
                self.connected.get(number).is_some_and(|connected| *connected)
                    || language.is_test_file(key.as_str())
            }
        };
        for range in names.mentions(self.name, self.cancel)? {
            lines.add_mention_line(range.start);
            let values = resolve_mention(resolver, number, names, self.name, &range);
            match self.targets.match_values(&values) {
                Some((Confidence::Guess, _)) if !is_likely => {}
                Some((Confidence::Guess, _)) if language.is_builtin(self.name) => searched.unlikely += 1,
                Some((confidence, possible)) => {
                    lines.add_hit_line(range.start);
                    searched.hits.push(ReferenceHit::new(
                        key,
                        &names.text,
                        &lines.starts,
                        range,
                        confidence,
                        possible,
                    ));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Adds all mentions of the name in a file without reference rules, with this confidence.
    fn add_mentions(
        &self,
        resolver: &NameResolver<'_>,
        key: &FileKey,
        confidence: Option<Confidence>,
        lines: &mut NameLines,
        searched: &mut SearchedPart,
    ) -> Result<(), Cancelled> {
        let Some((text, tree)) = resolver.parse_file(key)? else {
            // All lines count as code, since nothing separates the code from its comments.
            lines.text_kind = TextKind::Unparsed;
            return Ok(());
        };
        // A member may be used in a file that does not import the one that defines it, but is not defined there.
        let may_be_member = confidence.is_none() && self.targets.has_member;
        let located =
            if may_be_member { outline::locate_symbols(&tree, &text, self.cancel)? } else { Vec::new() };
        let definition_starts: BTreeSet<usize> = located.iter().map(|place| place.name_range.start).collect();
        let confidence = confidence.or(may_be_member.then_some(Confidence::Guess));
        for range in outline::find_mentions(&tree, &text, self.name, self.cancel)? {
            lines.add_mention_line(range.start);
            if let Some(confidence) = confidence
                && !definition_starts.contains(&range.start)
            {
                lines.add_hit_line(range.start);
                searched.hits.push(ReferenceHit::new(
                    key,
                    &text,
                    &lines.starts,
                    range,
                    confidence,
                    Vec::new(),
                ));
            }
        }
        Ok(())
    }
}
