//! The registry of languages: maps file names to languages and provides each language's data. Everything about a
//! language is in its directory (`language.toml`, `outline.scm`, a fixture and its expected outline), and no language
//! has its own Rust code. This crate does not parse and does not depend on the engine.

use std::num::NonZeroU16;
use std::sync::OnceLock;

use tree_sitter::Query;

pub mod allocator;
mod detect;
pub mod limits;
mod scanner;

include!(concat!(env!("OUT_DIR"), "/registry.rs"));

/// A language in the registry. Languages are ordered by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageId(u8);

/// How imports refer to files in the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportStyle {
    /// Python: `a.b` names `a/b.ext` or the package `a/b`. Leading dots make the name relative.
    Dotted,
    /// JavaScript and TypeScript: a path that starts with a dot is relative to the file. Any other path names a
    /// package.
    Path,
    /// Rust: `crate::a::b` follows the module tree.
    Crate,
    /// Go: a path names a directory, whose files form one package.
    Package,
    /// The path of one file, relative to the importing file's directory or to a search directory: C's `#include`,
    /// Ruby's `require`, a shell's `source`, links. Some languages omit the extension or separate directories with
    /// dots.
    File,
    /// Java, C#, PHP and Haskell: the qualified name of a namespace, of a type, or of a member of a type. Files
    /// and directories are named after the parts of the name.
    Namespace,
    /// The language has no imports.
    None,
}

/// What to look for when walking a syntax tree without a query: node kinds, and positions written as `parent_kind` (any
/// child) or `parent_kind.field`.
#[derive(Debug)]
pub struct WalkRules {
    /// Kinds of leaf nodes whose text is a name.
    pub identifiers: &'static [&'static str],
    /// Kinds of string literals. Their text is copied or truncated, never reformatted.
    pub strings: &'static [&'static str],
    /// Kinds of literals that are a name after a colon, such as Ruby's symbols.
    pub symbols: &'static [&'static str],
    /// Positions in which a name always refers to something outside its function.
    pub members: &'static [&'static str],
    /// Positions in which a name is bound locally: parameters, local variables, argument labels.
    pub locals: &'static [&'static str],
    /// Kinds of leaf nodes whose text is the name of a type, which is never a local variable.
    pub types: &'static [&'static str],
    /// Kinds of nodes that join several names in one position. The position of the list applies to each of them.
    pub lists: &'static [&'static str],
    /// Maximum nesting depth of definitions in an outline; `None` for no limit.
    pub levels: Option<u8>,
}

/// Which definitions are visible to other files, judged by their heads and names.
#[derive(Debug)]
pub struct VisibilityRules {
    /// Keywords that make a definition public. If not empty, a head without any of them is private.
    pub public: &'static [&'static str],
    /// Keywords that make a definition private.
    pub private: &'static [&'static str],
    /// Prefixes of private names.
    pub private_names: &'static [&'static str],
    /// Keywords in the head of a definition whose members are public without a keyword of their own.
    pub inherited: &'static [&'static str],
    /// Whether names that start with a capital letter are public and all others private.
    pub capitals: bool,
}

/// The position of a node in a syntax tree, below its parent: any child, or the child in one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Node kind of the parent.
    pub parent: u16,
    /// The parent's field that contains the node; `None` for any child.
    pub field: Option<NonZeroU16>,
}

impl Position {
    /// Resolves a position as written in `language.toml`, `parent_kind` or `parent_kind.field`. Returns `None` if the grammar has no such kind or field.
    pub fn resolve(text: &str, grammar: &tree_sitter::Language) -> Option<Self> {
        let (kind, field) = match text.split_once('.') {
            Some((kind, field)) => (kind, Some(grammar.field_id_for_name(field)?)),
            None => (text, None),
        };
        let parent = grammar.id_for_node_kind(kind, true);
        (parent != 0).then_some(Self { parent, field })
    }
}

/// The registry's data for one language.
pub struct Language {
    /// The language's name, which is also the name of its directory.
    pub name: &'static str,
    /// Name of the group of languages that can refer to each other's definitions. This is the directory at the
    /// root of the `inherits` chain, which for most languages is their own.
    pub family: &'static str,
    /// The unmodified grammar from the language's crate.
    grammar: fn() -> tree_sitter::Language,
    /// The functions that replace those of the grammar.
    functions: scanner::ReplacementFunctions,
    /// Maximum bytes of scanner state. A scanner that exceeds this limit loses its state.
    scanner_state: usize,
    /// Source of [`LanguageId::outline_query`], inherited parts first.
    pub outline: &'static str,
    /// Source of [`LanguageId::references_query`], inherited parts first; empty if the language has none.
    pub references: &'static str,
    /// A small source file with every construct that the outline query recognizes, for tests.
    pub fixture: &'static str,
    /// Definitions as people write them, for tests.
    pub constructs: &'static str,
    pub imports: ImportStyle,
    /// Extensions of the language's files, without the dot. No other language may have them, or the names, interpreters and
    /// identifiers below.
    pub extensions: &'static [&'static str],
    /// Full names of files of the language.
    pub file_names: &'static [&'static str],
    /// Interpreters after `#!` on the first line.
    pub shebangs: &'static [&'static str],
    /// Identifiers of the language in `textDocument/didOpen`.
    pub editor_ids: &'static [&'static str],
    tests: &'static [&'static str],
    generated: &'static [&'static str],
    generated_sources: &'static [&'static str],
    /// Names that are part of the language and say nothing about a repository, sorted.
    pub builtins: &'static [&'static str],
    /// Text to hide from the parser: a regular expression whose only group matches the text, and the text to parse
    /// instead, which is filled up with spaces.
    pub masks: &'static [(&'static str, &'static str)],
    pub walk: WalkRules,
    pub visibility: VisibilityRules,
}

/// Dereferences to the registry's data for the language.
impl std::ops::Deref for LanguageId {
    type Target = Language;

    fn deref(&self) -> &Language {
        // The index comes from the table itself, so it is in bounds.
        &LANGUAGES[self.index()]
    }
}

impl LanguageId {
    /// Number of languages. Every [`index`](Self::index) is smaller.
    pub const COUNT: usize = LANGUAGE_COUNT;

    /// Returns all languages, in order of name.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).filter_map(|index| u8::try_from(index).ok().map(Self))
    }

    /// Returns the language named `name`, such as `rust` or `tsx`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|id| id.name == name)
    }

    /// Returns the language with the identifier `id` in `textDocument/didOpen`, such as `typescriptreact`.
    pub fn by_editor_id(id: &str) -> Option<Self> {
        Self::all().find(|language| language.editor_ids.contains(&id))
    }

    /// Returns the language of a file, determined by its full name, then its extension (ignoring case), then the
    /// interpreter after `#!` on its first line. Returns `None` for unknown files, and for files that only tools write
    /// and read (`package-lock.json`, `*.min.js`).
    pub fn by_path(path: &str, first_line: &str) -> Option<Self> {
        detect::by_path(path, first_line)
    }

    /// Returns the language's position among all languages. The position changes when languages are added, so do not
    /// store it.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the language's grammar, with limits on its scanner and its lexers (see [`limits`]).
    pub fn grammar(self) -> tree_sitter::Language {
        scanner::limited_grammar(self)
    }

    /// Returns the query that finds the entries of an outline, compiled once per process. Returns `None` only if the
    /// query does not fit the grammar, which a test rules out. Each directory's `outline.scm` documents the captures.
    pub fn outline_query(self) -> Option<&'static Query> {
        static QUERIES: [OnceLock<Option<Query>>; LanguageId::COUNT] =
            [const { OnceLock::new() }; LanguageId::COUNT];
        QUERIES.get(self.index())?.get_or_init(|| Query::new(&self.grammar(), self.outline).ok()).as_ref()
    }

    /// Returns the query that finds the meaning of names: scopes, bindings, imports, and the structure of expressions.
    /// Compiled once per process. Returns `None` for a language without `references.scm`. `README.md` documents the
    /// captures.
    pub fn references_query(self) -> Option<&'static Query> {
        static QUERIES: [OnceLock<Option<Query>>; LanguageId::COUNT] =
            [const { OnceLock::new() }; LanguageId::COUNT];
        let source = Some(self.references).filter(|source| !source.is_empty())?;
        QUERIES.get(self.index())?.get_or_init(|| Query::new(&self.grammar(), source).ok()).as_ref()
    }

    /// Whether a name is built into the language.
    pub fn is_builtin(self, name: &str) -> bool {
        self.builtins.binary_search(&name).is_ok()
    }

    /// Whether a path (with `/` as the separator) looks like a test file.
    pub fn is_test_file(self, path: &str) -> bool {
        detect::matches_any(self.tests, path)
    }

    /// Whether a path looks like a generated source file, which other files refer to but no one reads.
    pub fn is_generated_file(self, path: &str) -> bool {
        detect::matches_any(self.generated_sources, path)
    }

    /// Whether the language's files are documents, whose words never refer to definitions in other files.
    pub fn is_document(self) -> bool {
        self.walk.identifiers.is_empty()
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
