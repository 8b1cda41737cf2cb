//! `files.read`: reads the current text of a file, of some of its lines, or of a definition in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;
use strata_base::text::LineStarts;
use strata_code::outline::{LocatedSymbol, find_definitions, qualified_name};
use strata_code::symbols::files_defining_member;
use strata_conversation::selection::LineRange;
use strata_prompt::assembly::{FileText, Source};

use super::named_file::read_named_file;
use super::{Access, Command, CommandError, Context};
use crate::model::parsed_file::ParsedFile;
use crate::model::path_reference::{FilePart, PathReference};

/// Maximum number of definitions listed in an error message.
const MAX_LISTED_DEFINITIONS: usize = 8;

/// The file, lines or definition to read.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadParams {
    /// Path of a file, relative to the workspace folder. May be followed by lines (`src/lib.rs#L10-40`) or the name of
    /// a definition (`src/lib.rs#Type.method`).
    pub path: String,
}

/// The current text of a file, or of a part of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReadReply {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Qualified name of the definition. Absent unless a definition was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// Text of lines `from` to `to`. Contains the whole file if no part was requested.
    pub text: String,
    /// First line of `text`, counted from 1.
    pub from: u32,
    /// Last line of `text`, inclusive.
    pub to: u32,
    /// Total number of lines in the file.
    pub lines: u32,
    /// Line ranges of other definitions in the file with the same name, and of parts that do not follow the definition
    /// directly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<LineRange>,
    #[serde(flatten)]
    pub source: Source,
}

impl ReadReply {
    /// Creates the reply for all lines of a file, without its text.
    fn for_whole_file(path: FileKey, file: &FileText) -> Self {
        let all = LineStarts::new(&file.text).count();
        let source = file.source.clone();
        Self {
            path,
            definition: None,
            text: String::new(),
            from: 1,
            to: all,
            lines: all,
            others: Vec::new(),
            source,
        }
    }
}

pub struct ReadFile;

impl Command for ReadFile {
    const NAME: &str = "strata.files.read";
    const SUMMARY: &str = "Reads a file, a range of its lines, or one definition: the editor's buffer if the file is open, \
                           otherwise the file on disk.";
    const ACCESS: Access = Access::Reads;
    type Args = ReadParams;
    type Reply = ReadReply;

    fn run(params: ReadParams, context: &mut Context<'_>) -> Result<ReadReply, CommandError> {
        let PathReference { path, part } = context.snapshot.path_reference(&params.path);
        let (key, file) = read_named_file(&path, context)?;
        let error = match read_part(key.clone(), &file, part.as_ref(), context) {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        let Some(FilePart::Definition(name)) = &part else { return Err(error) };
        let Some(other) = file_of_member(&key, name, context)? else { return Err(error) };
        let (key, file) = read_named_file(other.as_str(), context)?;
        read_part(key, &file, part.as_ref(), context)
    }
}

fn read_part(
    key: FileKey,
    file: &FileText,
    part: Option<&FilePart>,
    context: &Context<'_>,
) -> Result<ReadReply, CommandError> {
    let lines = LineStarts::new(&file.text);
    let all = lines.count();
    let mut reply = ReadReply::for_whole_file(key, file);
    match part {
        None => {}
        Some(FilePart::Lines(range)) => {
            if range.first() > all {
                let message = format!("`{}` has {all} lines", reply.path.notice());
                return Err(CommandError::invalid("path", &message));
            }
            (reply.from, reply.to) = (range.first(), range.last().min(all));
        }
        Some(FilePart::Definition(name)) => narrow_to_definition(&mut reply, name, file, context)?,
    }
    let part = file.text.get(lines.bytes(reply.from, reply.to)).unwrap_or_default();
    reply.text = part.to_owned();
    Ok(reply)
}

/// Returns the file with the member `name` of a type in `key`, if it is another file.
fn file_of_member(key: &FileKey, name: &str, context: &Context<'_>) -> Result<Option<FileKey>, CommandError> {
    let symbols = context.snapshot.symbols(context.cancel)?;
    match files_defining_member(&symbols, key, name).as_slice() {
        [] => Ok(None),
        [only] => Ok(Some((*only).clone())),
        several => {
            let names =
                several.iter().take(MAX_LISTED_DEFINITIONS).map(|key| format!("`{}#{name}`", key.notice()));
            let names: Vec<String> = names.collect();
            let message = format!("several files define `{name}`: {}", names.join(", "));
            Err(CommandError::invalid("path", &message))
        }
    }
}

/// Returns the lines of the definition called `name` in a readable file.
pub(super) fn lines_of_definition(
    key: &FileKey,
    name: &str,
    file: &FileText,
    context: &Context<'_>,
) -> Result<LineRange, CommandError> {
    let mut reply = ReadReply::for_whole_file(key.clone(), file);
    narrow_to_definition(&mut reply, name, file, context)?;
    LineRange::new(reply.from, reply.to)
        .ok_or_else(|| CommandError::invalid("path", &format!("`{name}` has no lines")))
}

/// Narrows the reply to the lines of the definition called `name`.
fn narrow_to_definition(
    reply: &mut ReadReply,
    name: &str,
    file: &FileText,
    context: &Context<'_>,
) -> Result<(), CommandError> {
    let key = &reply.path;
    let invalid = |message: String| CommandError::invalid("path", &message);
    let parsed =
        ParsedFile::parse(context.snapshot, key, file.text.clone(), context.cancel)?.map_err(|reason| {
            invalid(format!(
                "{0} has no outline: {reason}; select lines instead, as in `{0}#L10-40`",
                key.notice()
            ))
        })?;
    let (matching, only) = find_by_name(&parsed.places, name);
    let dotted: Vec<String> = matching.iter().map(|place| dotted_name(&parsed.places, place.index)).collect();
    let Some(definition_name) = dotted.first() else {
        let unparsed = match parsed.unparsed.is_empty() {
            true => String::new(),
            false => format!(
                ". Lines {} could not be parsed and may define it; search for the name as text",
                parsed.unparsed
            ),
        };
        return Err(invalid(format!(
            "{} does not define `{name}`; see its outline for the definitions, or search for the name in all files{unparsed}",
            key.notice()
        )));
    };
    if dotted.iter().any(|other| other != definition_name) {
        let candidates: Vec<String> = matching
            .iter()
            .zip(&dotted)
            .take(MAX_LISTED_DEFINITIONS)
            .map(|(place, name)| format!("{name} (line {})", parsed.definition_lines(place).0))
            .collect();
        let ellipsis = if matching.len() > MAX_LISTED_DEFINITIONS { ", …" } else { "" };
        return Err(invalid(format!("`{name}` is ambiguous: {}{ellipsis}", candidates.join(", "))));
    }
    let chosen = matching.get(only.unwrap_or(0)).copied();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for place in chosen.into_iter().chain(matching.iter().copied().filter(|_| only.is_none()).skip(1)) {
        ranges.push(parsed.lines_with_lead(place));
        ranges.extend(place.clauses.iter().map(|clause| parsed.lines.line_range(clause)));
    }
    let mut ranges = ranges.into_iter();
    if let Some((from, to)) = ranges.next() {
        (reply.from, reply.to) = (from, to);
    }
    reply.others = ranges.filter_map(|(from, to)| LineRange::new(from, to)).collect();
    reply.definition = Some(definition_name.clone());
    Ok(())
}

/// Returns the definitions that match a name, and the index of the only one that is wanted if the name ends with a
/// number (`name~2`), as excerpts do for definitions with the same name. Names may be escaped as in excerpts.
fn find_by_name<'a>(places: &'a [LocatedSymbol], name: &str) -> (Vec<&'a LocatedSymbol>, Option<usize>) {
    let matching = find_definitions(places, name);
    if !matching.is_empty() {
        return (matching, None);
    }
    let unescaped = |name: &str| find_definitions(places, &name.replace("%23", "#").replace("%25", "%"));
    if let Some((name, number)) = name.rsplit_once('~')
        && let Ok(number) = number.parse::<usize>()
    {
        let matching = unescaped(name);
        return match number.checked_sub(1).filter(|number| *number < matching.len()) {
            Some(number) => (matching, Some(number)),
            None => (Vec::new(), None),
        };
    }
    (unescaped(name), None)
}

/// Returns the name of a definition with its containers, separated by dots.
fn dotted_name(places: &[LocatedSymbol], index: usize) -> String {
    qualified_name(places.iter().map(|place| &place.symbol), index)
}

#[cfg(test)]
mod tests {
    use strata_base::cancel::Cancel;
    use strata_code::outline::{locate_symbols, parse};
    use strata_grammars::LanguageId;

    use super::*;

    #[test]
    fn a_dotted_name_has_all_containers() {
        let python = LanguageId::by_name("python").unwrap();
        let source = "class View:\n    def answer(self):\n        pass\n\nclass Form:\n    def answer(self):\n        pass\n";
        let tree = parse(python, source, None, &Cancel::new()).unwrap();
        let places = locate_symbols(&tree, source, &Cancel::new()).unwrap();
        let form = find_definitions(&places, "Form.answer")[0];
        assert_eq!(dotted_name(&places, form.index), "Form.answer");
    }
}
