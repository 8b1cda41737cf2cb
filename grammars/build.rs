//! Generates the registry: a table with one entry per language directory next to this file. A directory whose
//! name starts with `_` contains parts that several languages share, and is not a language.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

/// A directory's `language.toml`. Inherited directories come first in lists.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageConfig {
    name: Option<String>,
    grammar: Option<String>,
    #[serde(default)]
    inherits: Vec<String>,
    imports: Option<String>,
    #[serde(default)]
    extensions: Vec<String>,
    #[serde(default)]
    file_names: Vec<String>,
    #[serde(default)]
    shebangs: Vec<String>,
    #[serde(default)]
    editor_ids: Vec<String>,
    #[serde(default)]
    tests: Vec<String>,
    #[serde(default)]
    generated: Vec<String>,
    #[serde(default)]
    generated_sources: Vec<String>,
    /// Size in bytes.
    scanner_state: Option<usize>,
    #[serde(default)]
    mask: Vec<TextMask>,
    #[serde(default)]
    walk: WalkNames,
    #[serde(default)]
    visibility: Visibility,
    #[serde(default)]
    ignore: Ignore,
}

/// Text that is hidden from the parser.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextMask {
    /// Regular expression whose only group matches the text.
    pattern: String,
    /// Text to parse instead, filled up with spaces.
    #[serde(default)]
    with: String,
}

/// Names of nodes and positions that the walk over a syntax tree examines without the query.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WalkNames {
    #[serde(default)]
    identifiers: Vec<String>,
    #[serde(default)]
    strings: Vec<String>,
    #[serde(default)]
    symbols: Vec<String>,
    #[serde(default)]
    members: Vec<String>,
    #[serde(default)]
    locals: Vec<String>,
    #[serde(default)]
    lists: Vec<String>,
    #[serde(default)]
    types: Vec<String>,
    levels: Option<u8>,
}

/// Which definitions are visible to other files.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Visibility {
    #[serde(default)]
    public: Vec<String>,
    #[serde(default)]
    private: Vec<String>,
    #[serde(default)]
    private_names: Vec<String>,
    #[serde(default)]
    inherited: Vec<String>,
    #[serde(default)]
    capitals: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ignore {
    #[serde(default)]
    names: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    rerun_if_changed(&root.join("src/allocator.c"));
    cc::Build::new()
        .file("src/allocator.c")
        .include(env::var("DEP_MIMALLOC_INCLUDE_DIR")?)
        .compile("strata-allocator");
    let mut configs = BTreeMap::new();
    for entry in fs::read_dir(&root)? {
        let toml = entry?.path().join("language.toml");
        if let (true, Some(directory)) = (toml.is_file(), toml.parent().and_then(Path::file_name)) {
            rerun_if_changed(&toml);
            let parsed: LanguageConfig = toml::from_str(&fs::read_to_string(&toml)?)
                .map_err(|error| format!("{}: {error}", toml.display()))?;
            configs.insert(directory.to_string_lossy().into_owned(), parsed);
        }
    }
    rerun_if_changed(&root);

    let mut out = String::from("static LANGUAGES: &[Language] = &[\n");
    let mut ids = Vec::new();
    for (name, config) in configs.iter().filter(|(name, _)| !name.starts_with('_')) {
        if config.name.as_ref() != Some(name) {
            return Err(format!("{name}/language.toml must contain `name = {name:?}`").into());
        }
        write_entry(&mut out, &root, (ids.len(), name), config, &configs)?;
        ids.push(name);
    }
    out.push_str("];\n");
    writeln!(out, "const LANGUAGE_COUNT: usize = {};", ids.len())?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("registry.rs"), out)?;
    Ok(())
}

fn source_file(directory: &Path, stem: &str) -> Result<PathBuf, Box<dyn Error>> {
    let is_source = |path: &PathBuf| {
        path.file_stem().is_some_and(|name| name == stem) && path.extension().is_some_and(|end| end != "txt")
    };
    let file = fs::read_dir(directory)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(is_source)
        .ok_or_else(|| format!("{} has no {stem}", directory.display()))?;
    rerun_if_changed(&file);
    Ok(file)
}

fn rerun_if_changed(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// Returns the directory and everything it inherits, ancestors first.
fn lineage<'a>(
    name: &'a str,
    configs: &'a BTreeMap<String, LanguageConfig>,
) -> Result<Vec<(&'a str, &'a LanguageConfig)>, Box<dyn Error>> {
    let config = configs.get(name).ok_or_else(|| format!("there is no directory `{name}`"))?;
    let mut ancestors = Vec::new();
    for parent in &config.inherits {
        ancestors.extend(lineage(parent, configs)?);
    }
    ancestors.push((name, config));
    Ok(ancestors)
}

fn write_entry(
    out: &mut String,
    root: &Path,
    (index, name): (usize, &str),
    config: &LanguageConfig,
    configs: &BTreeMap<String, LanguageConfig>,
) -> Result<(), Box<dyn Error>> {
    let grammar = config.grammar.as_ref().ok_or_else(|| format!("{name}/language.toml has no `grammar`"))?;
    let lineage = lineage(name, configs)?;
    let imports = lineage.iter().rev().find_map(|(_, f)| f.imports.as_deref()).unwrap_or_default();
    let imports = match imports {
        "dotted" => "Dotted",
        "path" => "Path",
        "crate" => "Crate",
        "package" => "Package",
        "file" => "File",
        "namespace" => "Namespace",
        "none" => "None",
        other => return Err(format!("{name}: unknown import style {other:?}").into()),
    };
    let queries: String = lineage
        .iter()
        .map(|(directory, _)| {
            format!("include_str!({:?}), \"\\n\", ", root.join(directory).join("outline.scm"))
        })
        .collect();
    let references: String = lineage
        .iter()
        .map(|(directory, _)| root.join(directory).join("references.scm"))
        .filter(|file| file.is_file())
        .map(|file| {
            rerun_if_changed(&file);
            format!("include_str!({file:?}), \"\\n\", ")
        })
        .collect();
    let fixture = source_file(&root.join(name), "fixture")?;
    let constructs = source_file(&root.join(name), "constructs")?;

    let inherited_list = |field: fn(&LanguageConfig) -> &Vec<String>| -> Vec<&String> {
        lineage.iter().flat_map(|(_, f)| field(f)).collect()
    };
    let mut ignored = inherited_list(|f| &f.ignore.names);
    ignored.sort_unstable();
    ignored.dedup();

    writeln!(out, "Language {{")?;
    writeln!(out, "    name: {name:?},")?;
    writeln!(out, "    family: {:?},", lineage.first().map_or(name, |(oldest, _)| *oldest))?;
    writeln!(out, "    grammar: || {grammar}.into(),")?;
    writeln!(out, "    functions: scanner::ReplacementFunctions::for_language::<{index}>(),")?;
    match lineage.iter().rev().find_map(|(_, f)| f.scanner_state) {
        Some(bytes) => writeln!(out, "    scanner_state: {bytes},")?,
        None => writeln!(out, "    scanner_state: scanner::STATE_BUFFER_BYTES,")?,
    }
    writeln!(out, "    outline: concat!({queries}),")?;
    match references.as_str() {
        "" => writeln!(out, "    references: \"\",")?,
        references => writeln!(out, "    references: concat!({references}),")?,
    }
    writeln!(out, "    fixture: include_str!({fixture:?}),")?;
    writeln!(out, "    constructs: include_str!({constructs:?}),")?;
    writeln!(out, "    imports: ImportStyle::{imports},")?;
    writeln!(out, "    extensions: &{:?},", config.extensions)?;
    writeln!(out, "    file_names: &{:?},", config.file_names)?;
    writeln!(out, "    shebangs: &{:?},", config.shebangs)?;
    writeln!(out, "    editor_ids: &{:?},", config.editor_ids)?;
    writeln!(out, "    tests: &{:?},", inherited_list(|f| &f.tests))?;
    writeln!(out, "    generated: &{:?},", inherited_list(|f| &f.generated))?;
    writeln!(out, "    generated_sources: &{:?},", inherited_list(|f| &f.generated_sources))?;
    writeln!(out, "    builtins: &{ignored:?},")?;
    let masks: Vec<(&str, &str)> =
        lineage.iter().flat_map(|(_, f)| &f.mask).map(|mask| (&*mask.pattern, &*mask.with)).collect();
    writeln!(out, "    masks: &{masks:?},")?;
    writeln!(out, "    walk: WalkRules {{")?;
    writeln!(out, "        identifiers: &{:?},", inherited_list(|f| &f.walk.identifiers))?;
    writeln!(out, "        strings: &{:?},", inherited_list(|f| &f.walk.strings))?;
    writeln!(out, "        symbols: &{:?},", inherited_list(|f| &f.walk.symbols))?;
    writeln!(out, "        members: &{:?},", inherited_list(|f| &f.walk.members))?;
    writeln!(out, "        locals: &{:?},", inherited_list(|f| &f.walk.locals))?;
    writeln!(out, "        types: &{:?},", inherited_list(|f| &f.walk.types))?;
    writeln!(out, "        lists: &{:?},", inherited_list(|f| &f.walk.lists))?;
    let levels = lineage.iter().rev().find_map(|(_, f)| f.walk.levels);
    writeln!(out, "        levels: {levels:?},")?;
    writeln!(out, "    }},")?;
    writeln!(out, "    visibility: VisibilityRules {{")?;
    writeln!(out, "        public: &{:?},", inherited_list(|f| &f.visibility.public))?;
    writeln!(out, "        private: &{:?},", inherited_list(|f| &f.visibility.private))?;
    writeln!(out, "        private_names: &{:?},", inherited_list(|f| &f.visibility.private_names))?;
    writeln!(out, "        inherited: &{:?},", inherited_list(|f| &f.visibility.inherited))?;
    writeln!(out, "        capitals: {},", lineage.iter().any(|(_, f)| f.visibility.capitals))?;
    writeln!(out, "    }},\n}},")?;
    Ok(())
}
