//! An index of the paths of a repository by full path, by path suffix, and by directory.

use std::cmp::Ordering;

use strata_base::key::FileKey;
use strata_grammars::LanguageId;

/// Names, without extension, of files that represent their directory.
const DIRECTORY_INDEX_NAMES: [&str; 4] = ["__init__", "index", "init", "mod"];

/// Maximum number of paths with the same suffix among which to select the closest.
const MAX_SUFFIX_CANDIDATES: usize = 8;
/// Maximum number of paths with the same suffix to examine before filtering by language.
const MAX_SUFFIX_MATCHES: usize = 64;

/// The paths of all files, in a separate sort order for each kind of lookup.
#[derive(Debug)]
pub(super) struct PathTable {
    /// Files in key order.
    files: Vec<FileKey>,
    languages: Vec<LanguageId>,
    /// File numbers, sorted by path compared from the end.
    names: Vec<u32>,
    /// Paths without extensions, sorted by path compared from the end. A file that represents its directory
    /// is also listed under the directory's path.
    stems: Vec<Stem>,
    /// File numbers, sorted by directory.
    directories: Vec<u32>,
    /// One file of each directory, sorted by the directory's path compared from the end.
    directory_ends: Vec<u32>,
}

/// The first `len` bytes of a file's path.
#[derive(Clone, Copy, Debug)]
struct Stem {
    file: u32,
    len: u32,
}

impl PathTable {
    pub(super) fn new(files: impl IntoIterator<Item = (FileKey, LanguageId)>) -> Self {
        let mut sorted: Vec<(FileKey, LanguageId)> = files.into_iter().collect();
        sorted.sort();
        sorted.dedup_by(|a, b| a.0 == b.0);
        let (files, languages): (Vec<FileKey>, Vec<LanguageId>) = sorted.into_iter().unzip();
        let mut names: Vec<u32> = (0_u32..).take(files.len()).collect();
        let mut stems = Vec::with_capacity(files.len());
        for (file, key) in (0_u32..).zip(&files) {
            let end = stem_end(key);
            stems.push(Stem { file, len: saturating_u32(end) });
            if is_index_file(key) && !key.directory().is_empty() {
                stems.push(Stem { file, len: saturating_u32(key.directory().len()) });
            }
        }
        let mut directories = names.clone();
        let text = |number: u32| files.get(number as usize).map_or("", FileKey::as_str);
        let directory = |number: u32| files.get(number as usize).map_or("", FileKey::directory);
        names.sort_unstable_by(|&a, &b| compare_reversed(text(a), text(b)));
        stems.sort_unstable_by(|a, b| {
            let stem_text = |stem: &Stem| text(stem.file).get(..stem.len as usize).unwrap_or_default();
            compare_reversed(stem_text(a), stem_text(b)).then_with(|| a.file.cmp(&b.file))
        });
        directories.sort_unstable_by(|&a, &b| directory(a).cmp(directory(b)).then_with(|| a.cmp(&b)));
        let mut directory_ends = directories.clone();
        directory_ends.dedup_by(|a, b| directory(*a) == directory(*b));
        directory_ends.sort_unstable_by(|&a, &b| compare_reversed(directory(a), directory(b)));
        Self { files, languages, names, stems, directories, directory_ends }
    }

    pub(super) fn files(&self) -> &[FileKey] {
        &self.files
    }

    pub(super) fn key(&self, number: u32) -> Option<&FileKey> {
        self.files.get(number as usize)
    }

    pub(super) fn language(&self, number: u32) -> Option<LanguageId> {
        self.languages.get(number as usize).copied()
    }

    pub(super) fn is_entry_file(&self, number: u32) -> bool {
        self.key(number)
            .is_some_and(|key| is_index_file(key) || matches!(key.file_name(), "lib.rs" | "prelude.rs"))
    }

    pub(super) fn find_exact(&self, path: &str) -> Option<u32> {
        self.files
            .binary_search_by(|key| key.as_str().cmp(path))
            .ok()
            .and_then(|index| u32::try_from(index).ok())
    }

    /// Returns the files of a language family whose path without extension is `path`, or that represent the
    /// directory `path`.
    pub(super) fn module_files<'a>(
        &'a self,
        path: &'a str,
        family: &'a str,
    ) -> impl Iterator<Item = u32> + 'a {
        let start = self
            .stems
            .partition_point(|stem| compare_reversed(self.stem_text(*stem), path) == Ordering::Less);
        let rest = self.stems.get(start..).unwrap_or_default();
        let equal = rest.iter().take_while(move |stem| self.stem_text(**stem) == path).map(|stem| stem.file);
        equal.filter(move |&file| self.language_family(file) == family)
    }

    /// Like [`module_files`](Self::module_files), but returns a list.
    pub(super) fn module_file_list(&self, path: &str, family: &str) -> Vec<u32> {
        self.module_files(path, family).collect()
    }

    /// Returns the file whose path ends with the components `end`. If there are several, returns the file
    /// closest to `near`, or `None` if no single file is closest.
    pub(super) fn find_by_path_suffix(&self, end: &str, near: &str) -> Option<u32> {
        let range = items_with_path_suffix(&self.names, end, |&number| self.path_text(number));
        self.closest(range.iter().copied(), near)
    }

    /// Like `by_name_end`, but compares paths without their extensions and considers only files whose
    /// language `fits` accepts.
    pub(super) fn find_by_stem_end(
        &self,
        end: &str,
        near: &str,
        fits: impl Fn(LanguageId) -> bool,
    ) -> Option<u32> {
        let range = items_with_path_suffix(&self.stems, end, |stem| self.stem_text(*stem));
        let numbers = range.iter().map(|stem| stem.file);
        self.closest(numbers.filter(|&file| self.language(file).is_some_and(&fits)), near)
    }

    pub(super) fn files_in_directory(&self, directory: &str) -> &[u32] {
        let directory_of = |number: u32| self.key(number).map_or("", FileKey::directory);
        let start = self.directories.partition_point(|&number| directory_of(number) < directory);
        let rest = self.directories.get(start..).unwrap_or_default();
        let len = rest.partition_point(|&number| directory_of(number) == directory);
        rest.get(..len).unwrap_or_default()
    }

    /// Returns the directory whose path ends with the components `end`. If there are several, returns the
    /// directory closest to `near`, or `None` if no single directory is closest.
    pub(super) fn find_directory_by_end(&self, end: &str, near: &str) -> Option<&str> {
        let directory_of = |number: u32| self.key(number).map_or("", FileKey::directory);
        let range = items_with_path_suffix(&self.directory_ends, end, |&number| directory_of(number));
        self.closest(range.iter().copied(), near).map(directory_of)
    }

    fn closest(&self, candidates: impl Iterator<Item = u32>, near: &str) -> Option<u32> {
        let mut candidates: Vec<u32> = candidates.take(MAX_SUFFIX_CANDIDATES + 1).collect();
        candidates.sort_unstable();
        candidates.dedup();
        if candidates.len() > MAX_SUFFIX_CANDIDATES {
            return None;
        }
        let common_components = |number: u32| {
            let parts = self.path_text(number).split('/').zip(near.split('/'));
            parts.take_while(|(a, b)| a == b).count()
        };
        let max_common = candidates.iter().map(|&number| common_components(number)).max()?;
        candidates.retain(|&number| common_components(number) == max_common);
        match candidates[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    fn language_family(&self, number: u32) -> &'static str {
        self.language(number).map_or("", |language| language.family)
    }

    fn path_text(&self, number: u32) -> &str {
        self.key(number).map_or("", FileKey::as_str)
    }

    fn stem_text(&self, stem: Stem) -> &str {
        self.path_text(stem.file).get(..stem.len as usize).unwrap_or_default()
    }
}

/// Returns at most `MAX_SUFFIX_MATCHES` items whose text is `end` or ends with `/` and `end`. `sorted` must be sorted
/// by [`compare_reversed`].
fn items_with_path_suffix<'t, T>(sorted: &'t [T], end: &str, text: impl Fn(&T) -> &'t str) -> &'t [T] {
    if end.is_empty() {
        return &[];
    }
    let start = sorted.partition_point(|item| compare_reversed(text(item), end) == Ordering::Less);
    let rest = sorted.get(start..).unwrap_or_default();
    let is_end = |item: &T| {
        let before = text(item).strip_suffix(end);
        before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    let len = rest.iter().take(MAX_SUFFIX_MATCHES).take_while(|item| is_end(item)).count();
    rest.get(..len).unwrap_or_default()
}

/// Compares strings from their last byte to their first. A slash sorts first, so that paths with the same last
/// components are adjacent.
fn compare_reversed(a: &str, b: &str) -> Ordering {
    let letter = |byte: u8| if byte == b'/' { 0 } else { u16::from(byte) + 1 };
    a.bytes().rev().map(letter).cmp(b.bytes().rev().map(letter))
}

/// Returns the byte offset in the path at which the extension starts, including a `.d` before it.
fn stem_end(key: &FileKey) -> usize {
    let name = key.file_name();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
    let stem = stem.strip_suffix(".d").unwrap_or(stem);
    key.as_str().len() - name.len() + stem.len()
}

fn is_index_file(key: &FileKey) -> bool {
    let name = key.file_name();
    DIRECTORY_INDEX_NAMES.contains(&name.split('.').next().unwrap_or(name))
}

fn saturating_u32(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
