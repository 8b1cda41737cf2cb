//! Builds a question about selected lines of a file: the question in a selected comment, or a request to explain the
//! code.

use strata_base::key::FileKey;
use strata_base::text::{LineStarts, lines};
use strata_conversation::selection::{Choice, LineRange};
use strata_prompt::layout::{fence_for, inline_code};

use crate::format;

/// Markers of line comments. A longer marker comes before its prefixes.
const LINE_COMMENT_MARKERS: [&str; 8] = ["///", "//!", "//", "--", ";;", ";", "#", "%"];
/// Start and end markers of block comments.
const BLOCK_COMMENT_MARKERS: [(&str, &str); 5] =
    [("/**", "*/"), ("/*", "*/"), ("<!--", "-->"), ("\"\"\"", "\"\"\""), ("'''", "'''")];

/// A question about a file or a part of it.
pub(super) struct FileQuestion {
    /// Title shown to the user.
    pub title: String,
    /// Prompt sent to the model.
    pub prompt: String,
}

impl FileQuestion {
    /// Builds a question about these lines, or about the whole file. A question about a whole file omits the text if
    /// the file is selected, because the prompt then contains it already.
    pub(super) fn new(key: &FileKey, text: &str, lines: Option<LineRange>, choice: Choice) -> Self {
        let name = inline_code(key.as_str());
        let Some(lines) = lines else {
            let title = format!("Explain {name}");
            let prompt = if choice == Choice::Selected {
                title.clone()
            } else {
                format!("{title}:\n\n{}", code_block(text))
            };
            return Self { title, prompt };
        };
        let starts = LineStarts::new(text);
        let last = lines.last().min(starts.count());
        let is_there = lines.first() <= last;
        let part =
            is_there.then(|| text.get(starts.bytes(lines.first(), last))).flatten().unwrap_or_default();
        let place = format!("{name}, {}", format::lines(lines));
        match comment_text(part) {
            Some(question) => {
                Self { prompt: format!("{question}\n\nThis is a comment in {place}."), title: question }
            }
            None => {
                let title = format!("Explain this, {place}");
                Self { prompt: format!("{title}:\n\n{}", code_block(part)), title }
            }
        }
    }
}

fn code_block(text: &str) -> String {
    let fence = fence_for(text);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Returns the text of a comment without its markers, or `None` if the lines contain code or no text.
fn comment_text(text: &str) -> Option<String> {
    let (mut lines_of_text, mut block_end) = (Vec::new(), None);
    for line in lines(text).map(str::trim).filter(|line| !line.is_empty()) {
        let content = if block_end.is_some() {
            line.strip_prefix("* ").unwrap_or(line)
        } else if let Some((begin, end)) =
            BLOCK_COMMENT_MARKERS.iter().find(|(begin, _)| line.starts_with(begin))
        {
            block_end = Some(*end);
            line.strip_prefix(begin)?
        } else {
            line_comment(line)?
        };
        let content = match block_end.and_then(|end| content.split_once(end)) {
            Some((_, after)) if !after.trim().is_empty() => return None,
            Some((before, _)) => {
                block_end = None;
                before
            }
            None => content,
        };
        lines_of_text.extend(Some(content.trim()).filter(|content| !content.is_empty()));
    }
    (!lines_of_text.is_empty()).then(|| lines_of_text.join("\n"))
}

fn line_comment(line: &str) -> Option<&str> {
    let marker = LINE_COMMENT_MARKERS.iter().find(|marker| line.starts_with(**marker))?;
    let rest = line.strip_prefix(marker)?;
    // `#include`, `--count` and `%d` are code, not comments.
    (marker.starts_with('/') || rest.is_empty() || rest.starts_with(' ')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markers_of_a_comment_are_removed() {
        for (text, expected) in [
            ("    // Why twice?\n", Some("Why twice?")),
            ("# Is this\n#\n# ever called?", Some("Is this\never called?")),
            ("/* Who frees it? */", Some("Who frees it?")),
            ("/**\n * Who frees\n * it?\n */\n", Some("Who frees\nit?")),
            ("<!-- What is it?\nAnd why? -->", Some("What is it?\nAnd why?")),
            ("-- Which index?", Some("Which index?")),
            ("// Why?\nlet x = 1;", None),
            ("/* Why? */ x = 1;", None),
            ("#include <stdio.h>", None),
            ("--count;", None),
            ("*value = 3;", None),
            ("//\n", None),
            ("", None),
        ] {
            assert_eq!(comment_text(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_prompt_quotes_the_code_unless_the_whole_file_is_selected() {
        let (key, text) = (FileKey::new("a.py"), "# Why?\nx = '```'\n");
        let about = |first, last, choice| {
            let lines = (first > 0).then(|| LineRange::new(first, last)).flatten();
            FileQuestion::new(&key, text, lines, choice).prompt
        };
        assert_eq!(about(1, 1, Choice::Deselected), "Why?\n\nThis is a comment in `a.py`, line 1.");
        assert_eq!(
            about(2, 9, Choice::Selected),
            "Explain this, `a.py`, lines 2-9:\n\n````\nx = '```'\n````"
        );
        assert_eq!(about(0, 0, Choice::Selected), "Explain `a.py`");
        assert_eq!(
            about(0, 0, Choice::Deselected),
            format!("Explain `a.py`:\n\n````\n{}\n````", text.trim_end())
        );
        assert_eq!(about(40, 41, Choice::Deselected), "Explain this, `a.py`, lines 40-41:\n\n```\n\n```");
    }
}
