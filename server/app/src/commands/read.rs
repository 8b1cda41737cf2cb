//! `files.read`: reads the current text of a file, of some of its lines, or of a definition in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::code::outline::{Located, definitions};
use strata_engine::conversation::selection::LineRange;
use strata_engine::key::FileKey;
use strata_engine::prompt::assembly::{FileText, Source};
use strata_engine::text::{LineStarts, lines};

use super::named_file::shown_file;
use super::{Access, Command, CommandError, Context};
use crate::parsed_file::ParsedFile;

/// Maximum number of definitions listed in an error message.
const NAMED: usize = 8;

/// Maximum number of lines of decorators and comments above a definition that belong to it.
const MAX_LEAD: usize = 60;

/// The file, lines or definition to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadParams {
    /// Path of a file, relative to the workspace folder. May be followed by lines (`src/lib.rs#L10-40`) or the name of
    /// a definition (`src/lib.rs#Type.method`).
    path: String,
}

/// The current text of a file, or of a part of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReadReply {
    /// Path of the file, relative to the workspace folder.
    path: FileKey,
    /// Qualified name of the definition. Absent unless a definition was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<String>,
    /// Text of lines `from` to `to`. Contains the whole file if no part was requested.
    text: String,
    /// First line of `text`, counted from 1.
    from: u32,
    /// Last line of `text`, inclusive.
    to: u32,
    /// Total number of lines in the file.
    lines: u32,
    /// Line ranges of other definitions in the file with the same name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<LineRange>,
    #[serde(flatten)]
    source: Source,
}

pub(super) struct Read;

impl Command for Read {
    const NAME: &str = "strata.files.read";
    const SUMMARY: &str = "Reads a file, a range of its lines, or one definition: the editor's buffer if the file is open, \
                           otherwise the file on disk.";
    const ACCESS: Access = Access::Reads;
    type Args = ReadParams;
    type Reply = ReadReply;

    fn run(params: ReadParams, context: &mut Context<'_>) -> Result<ReadReply, CommandError> {
        let (key, file, part) = named(&params.path, context)?;
        let lines = LineStarts::of(&file.text);
        let all = lines.count();
        let mut reply = ReadReply {
            path: key,
            definition: None,
            text: String::new(),
            from: 1,
            to: all,
            lines: all,
            others: Vec::new(),
            source: file.source.clone(),
        };
        match part.map(|part| (part, part.parse::<LineRange>())) {
            None => {}
            Some((_, Ok(range))) => {
                if range.first() > all {
                    let message = format!("`{}` has {all} lines", reply.path.notice());
                    return Err(CommandError::invalid("path", &message));
                }
                (reply.from, reply.to) = (range.first(), range.last().min(all));
            }
            Some((name, Err(_))) => find_definition(&mut reply, name, &file, context)?,
        }
        let part = file.text.get(lines.bytes(reply.from, reply.to)).unwrap_or_default();
        reply.text = part.to_owned();
        Ok(reply)
    }
}

/// Splits a path at `#` and reads the file. Returns the file, its text, and the part after `#`. A file whose name
/// contains the `#` takes precedence over a part of another file.
fn named<'a>(
    path: &'a str,
    context: &Context<'_>,
) -> Result<(FileKey, FileText, Option<&'a str>), CommandError> {
    match (shown_file("path", path, context), path.rsplit_once('#')) {
        (Err(_), Some((file, part))) => {
            let (key, text) = shown_file("path", file, context)?;
            Ok((key, text, Some(part)))
        }
        (read, _) => read.map(|(key, text)| (key, text, None)),
    }
}

/// Narrows the reply to the lines of the definition called `name`.
fn find_definition(
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
    let found = definitions(&parsed.places, name);
    let dotted: Vec<String> = found.iter().map(|place| dotted_name(&parsed.places, place.index)).collect();
    let Some((first, own)) = found.first().zip(dotted.first()) else {
        return Err(invalid(format!(
            "{} does not define `{name}`; see its outline for the definitions",
            key.notice()
        )));
    };
    if dotted.iter().any(|other| other != own) {
        let named: Vec<String> = found
            .iter()
            .zip(&dotted)
            .take(NAMED)
            .map(|(place, name)| format!("{name} (line {})", parsed.lines_of(place).0))
            .collect();
        let more = if found.len() > NAMED { ", …" } else { "" };
        return Err(invalid(format!("`{name}` is ambiguous: {}{more}", named.join(", "))));
    }
    let range = |place: &Located| {
        let (first, last) = parsed.lines_of(place);
        (first_line_with_lead(&parsed.text, first), last)
    };
    (reply.from, reply.to) = range(first);
    let others = found.iter().skip(1).map(|place| range(place));
    reply.others = others.filter_map(|(from, to)| LineRange::new(from, to)).collect();
    reply.definition = Some(own.clone());
    Ok(())
}

/// Returns the name of a definition with its containers, separated by dots.
fn dotted_name(places: &[Located], index: usize) -> String {
    let mut path: Vec<&str> = Vec::new();
    for place in places.iter().take(index + 1) {
        path.truncate(place.symbol.depth as usize);
        path.push(&place.symbol.name);
    }
    path.join(".")
}

/// Returns the first line of the decorators, attributes and comments directly above a definition that starts
/// on line `first`. Lines are one-based.
fn first_line_with_lead(text: &str, first: u32) -> u32 {
    const LEADS: &[&str] = &["@", "#[", "# ", "//", "/*", "*", "--"];
    let before: Vec<&str> = lines(text).take((first as usize).saturating_sub(1)).collect();
    let is_lead = |line: &&&str| LEADS.iter().any(|lead| line.trim_start().starts_with(lead));
    let leads = before.iter().rev().take(MAX_LEAD).take_while(is_lead).count();
    first.saturating_sub(u32::try_from(leads).unwrap_or(0)).max(1)
}

#[cfg(test)]
mod tests {
    use strata_engine::cancel::Cancel;
    use strata_engine::code::outline::{located, parse};
    use strata_grammars::LanguageId;

    use super::*;

    #[test]
    fn a_dotted_name_has_all_containers() {
        let python = LanguageId::by_name("python").unwrap();
        let source = "class View:\n    def answer(self):\n        pass\n\nclass Form:\n    def answer(self):\n        pass\n";
        let tree = parse(python, source, None, &Cancel::new()).unwrap();
        let places = located(&tree, source, &Cancel::new()).unwrap();
        let form = definitions(&places, "Form.answer")[0];
        assert_eq!(dotted_name(&places, form.index), "Form.answer");
    }

    #[test]
    fn decorators_and_comments_belong_to_what_they_stand_above() {
        let text = "import a\n\n# Says it.\n@cached\n@other\ndef say():\n    pass\ndef next():\n    pass\n";
        assert_eq!([6, 8, 1].map(|first| first_line_with_lead(text, first)), [3, 8, 1]);
        assert_eq!(first_line_with_lead("/**\n * A.\n */\nint a;\n", 4), 1);
        assert_eq!(first_line_with_lead("", 9), 9);
    }
}
