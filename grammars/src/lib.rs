//! The registry from file name to language, and each language's data. Everything about a language is in
//! its folder (`language.toml`, `outline.scm`, a fixture, its expected outline); no language has Rust
//! code of its own. This crate knows nothing about the engine that uses it, and parses nothing.

use std::sync::OnceLock;

use tree_sitter::Query;

pub mod allocator;
mod detect;
mod position;
mod scanner;

pub use position::Position;

include!(concat!(env!("OUT_DIR"), "/registry.rs"));

/// A language of the registry. Ordered by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageId(u8);

/// How imports lead to files of the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportStyle {
    /// `a.b` is `a/b.ext` or a package of that name, leading dots are relative: Python.
    Dotted,
    /// A path relative to the file when it starts with a dot, else a package: JavaScript, TypeScript.
    Path,
    /// `crate::a::b` follows the module tree: Rust.
    Crate,
    /// A path names a directory whose files form one package: Go.
    Package,
    /// A path to one file, relative to this file's directory or to some directory that is searched: C's `#include`,
    /// Ruby's `require`, a shell's `source`, links. Some leave out the extension, some write dots between directories.
    File,
    /// A qualified name of a name space, a type or something in it, whose parts files and directories are named
    /// after: Java, C#, PHP, Haskell.
    Namespace,
    /// There are no imports.
    None,
}

/// What a walk over a syntax tree examines without the query: names of node kinds, and positions written as `parent_kind` (any
/// child) or `parent_kind.field`.
#[derive(Debug)]
pub struct WalkRules {
    /// Leaf kinds whose text is a name.
    pub identifiers: &'static [&'static str],
    /// Kinds of string literals, whose text is copied or cut, never reformatted.
    pub strings: &'static [&'static str],
    /// Positions in which a name refers to something outside its function, whatever its spelling.
    pub members: &'static [&'static str],
    /// Positions in which a name is bound locally: parameters, local variables, labels of arguments.
    pub locals: &'static [&'static str],
    /// Maximum levels of definitions, if deeper ones say too little.
    pub levels: Option<u8>,
}

/// Which definitions are there for other files, by what their heads and names say.
#[derive(Debug)]
pub struct VisibilityRules {
    /// Words of a head: where there are any, a head without one of them is private.
    pub public: &'static [&'static str],
    /// Words that make a definition private.
    pub private: &'static [&'static str],
    /// How names of private definitions start.
    pub private_names: &'static [&'static str],
    /// Words in the head of a definition whose members need no word of their own.
    pub inherited: &'static [&'static str],
    /// Whether names that start with a capital are public, and no others.
    pub capitals: bool,
}

/// What the registry knows of one language.
pub struct Language {
    /// Its name, which is also its folder's.
    pub name: &'static str,
    /// What it shares with the languages it can call by name: the folder its lineage of `inherits` starts with, its own
    /// for most.
    pub family: &'static str,
    /// From its crate.
    grammar: fn() -> tree_sitter::Language,
    serialize: scanner::Serialize,
    scan: scanner::Scan,
    /// Its scanner does not see the end of a text everywhere.
    scanner_runs_on: bool,
    /// Maximum bytes of scanner state. A scanner that exceeds them loses its state.
    scanner_state: usize,
    /// The text of [`LanguageId::outline_query`], inherited parts first.
    pub outline: &'static str,
    /// The text of [`LanguageId::references_query`], inherited parts first; empty without one.
    pub references: &'static str,
    /// A small source text that shows every construct its outline knows. For tests.
    pub fixture: &'static str,
    /// How its imports name files.
    pub imports: ImportStyle,
    extensions: &'static [&'static str],
    file_names: &'static [&'static str],
    shebangs: &'static [&'static str],
    editor_ids: &'static [&'static str],
    tests: &'static [&'static str],
    generated: &'static [&'static str],
    generated_sources: &'static [&'static str],
    /// Names that say nothing about a repository because the language brings them along; sorted.
    pub builtins: &'static [&'static str],
    /// What a walk over its trees looks at.
    pub walk: WalkRules,
    /// Which of its definitions are there for other files.
    pub visibility: VisibilityRules,
}

/// A language reads as what the registry knows of it.
impl std::ops::Deref for LanguageId {
    type Target = Language;

    fn deref(&self) -> &Language {
        // The index comes from the table itself, so it is always inside.
        &LANGUAGES[self.index()]
    }
}

impl LanguageId {
    /// How many languages there are; [`index`](Self::index) is below it.
    pub const COUNT: usize = LANGUAGE_COUNT;

    /// All languages, by name.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).filter_map(|index| u8::try_from(index).ok().map(Self))
    }

    /// The language called `name` (`rust`, `tsx`).
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|id| id.name == name)
    }

    /// The language an editor calls `id` in `textDocument/didOpen` (`typescriptreact`).
    pub fn by_editor_id(id: &str) -> Option<Self> {
        Self::all().find(|language| language.editor_ids.contains(&id))
    }

    /// The language of a file: by its whole name, then its extension (letter case does not matter), then
    /// the interpreter its first line names after `#!`. A file that only tools write and read (`package-lock.json`,
    /// `*.min.js`) has none.
    pub fn by_path(path: &str, first_line: &str) -> Option<Self> {
        detect::by_path(path, first_line)
    }

    /// Its place among all languages; changes when a language is added, so never store it.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Its grammar, whose scanner stays within bounds.
    pub fn grammar(self) -> tree_sitter::Language {
        scanner::bounded(self)
    }

    /// The query that says what its outline holds, compiled once per process. `None` only when the query
    /// does not fit the grammar, which a test rules out. The captures: see `outline.scm` in any folder.
    pub fn outline_query(self) -> Option<&'static Query> {
        static QUERIES: [OnceLock<Option<Query>>; LanguageId::COUNT] =
            [const { OnceLock::new() }; LanguageId::COUNT];
        QUERIES.get(self.index())?.get_or_init(|| Query::new(&self.grammar(), self.outline).ok()).as_ref()
    }

    /// The query for the meaning of names: scopes, bindings, imports, and the structure of expressions; compiled once per
    /// process. `None` for a language without `references.scm`. `README.md` describes the captures.
    pub fn references_query(self) -> Option<&'static Query> {
        static QUERIES: [OnceLock<Option<Query>>; LanguageId::COUNT] =
            [const { OnceLock::new() }; LanguageId::COUNT];
        let source = Some(self.references).filter(|source| !source.is_empty())?;
        QUERIES.get(self.index())?.get_or_init(|| Query::new(&self.grammar(), source).ok()).as_ref()
    }

    /// Whether a path (parts divided by `/`) looks like a file of tests.
    pub fn is_test_file(self, path: &str) -> bool {
        detect::matches_any(self.tests, path)
    }

    /// Whether a path looks like a generated source file, which others refer to and no one reads.
    pub fn is_generated_file(self, path: &str) -> bool {
        detect::matches_any(self.generated_sources, path)
    }

    /// Whether its files are documents, which are read and not called: none of their words is a name that another
    /// file defines.
    pub fn is_document(self) -> bool {
        self.walk.identifiers.is_empty()
    }

    /// Everything that leads to this language and must lead to no other: `*.rs`, `SConstruct`, `#!node`,
    /// `editor:rust`.
    pub fn claims(self) -> Vec<String> {
        let language = &*self;
        let extensions = language.extensions.iter().map(|e| format!("*.{e}"));
        let shebangs = language.shebangs.iter().map(|s| format!("#!{s}"));
        let editor_ids = language.editor_ids.iter().map(|id| format!("editor:{id}"));
        let file_names = language.file_names.iter().map(ToString::to_string);
        extensions.chain(file_names).chain(shebangs).chain(editor_ids).collect()
    }
}

impl std::fmt::Debug for LanguageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl std::fmt::Display for LanguageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}
