//! Renders replies as text for models, in short lines instead of JSON. The text contains everything that a model would
//! act on. Does not limit the size. Values come from the workspace, so each is written on one line that cannot be read
//! as another line of the result; only the content of a file or a tool output keeps its lines.

use serde_json::Value;
use strata_base::external::ExternalText;

use super::pages::{NEXT_CURSOR, OMITTED_COUNT_FIELD, list_field};
use crate::model::freshness::Freshness;

/// Renders a reply from the tool `map`.
pub fn render_map(reply: &Value) -> String {
    render_map_with_hint(reply, "name files in `focus` to see others, or raise `max_tokens`")
}

/// Like [`render_map`], with a hint on how to see the files that were omitted.
pub fn render_map_with_hint(reply: &Value, hint: &str) -> String {
    let left_out = match number_field(reply, "leftOut") {
        0 => String::new(),
        count => format!("\n({count} more files have an outline: {hint})"),
    };
    format!("{}\n{}{left_out}", render_lines(reply, "legend"), render_lines(reply, "text"))
}

pub fn render_outline(reply: &Value) -> String {
    let (path, language) = (leading_name(reply, "path"), inline_name(reply, "language"));
    format!("{path} ({language})\n{}{}", render_lines(reply, "text"), cursor_hint(reply))
}

pub(super) fn render_relevant_code(reply: &Value) -> String {
    let entry = |item: &Value| {
        let definition = match (inline_name(item, "name"), render_line(item, "head")) {
            (name, _) if name.is_empty() => String::new(),
            (name, head) if head.is_empty() => format!(": {} {name}", inline_name(item, "kind")),
            (name, head) => format!(": {name}: {head}"),
        };
        format!("{} {}{}{definition}", item["score"], leading_name(item, "path"), line_range_suffix(item))
    };
    render_list(reply, "items", entry, "no match; try words that occur in the code")
}

pub(super) fn render_symbols(reply: &Value) -> String {
    let entry = |symbol: &Value| {
        let within = match inline_name(symbol, "container") {
            container if container.is_empty() => container,
            container => format!(" (in {container})"),
        };
        format!(
            "{}{}: {}{within}",
            leading_name(symbol, "path"),
            line_range_suffix(symbol),
            render_line(symbol, "head")
        )
    };
    render_list(reply, "symbols", entry, "no definition matches") + &render_unparsed_files(reply)
}

/// Describes the files whose definitions may be missing, on a line of its own. Empty if there are none.
fn render_unparsed_files(reply: &Value) -> String {
    let files = list_field(reply, "unparsed").iter();
    let files: Vec<String> = files
        .map(|file| format!("{} (lines {})", inline_name(file, "path"), inline_name(file, "lines")))
        .collect();
    let more = number_field(reply, "incomplete").saturating_sub(files.len() as u64);
    match files.is_empty() {
        true => String::new(),
        false => {
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!(
                "\n(definitions may be missing from files with syntax errors: {}{more})",
                files.join(", ")
            )
        }
    }
}

/// Returns the line range of a definition as the suffix of a path, such as `#L3-9`.
fn line_range_suffix(definition: &Value) -> String {
    match (number_field(definition, "line"), number_field(definition, "endLine")) {
        (0, _) => String::new(),
        (first, last) if last <= first => format!("#L{first}"),
        (first, last) => format!("#L{first}-{last}"),
    }
}

/// Maximum number of files that could not be searched to name in a result.
const MAX_LISTED_UNREADABLE: usize = 3;

pub(super) fn render_grep_matches(reply: &Value) -> String {
    let file = |file: &Value| {
        let mut text = leading_name(file, "path");
        for found_line in list_field(file, "lines") {
            let mark = if found_line["context"] == true { '-' } else { ':' };
            text.push_str(&format!(
                "\n{}{mark} {}",
                number_field(found_line, "line"),
                render_line(found_line, "text")
            ));
        }
        text
    };
    let all = list_field(reply, "files").iter().flat_map(|file| list_field(file, "lines"));
    let match_count = all.filter(|line| line["context"] != true).count() as u64;
    let (total, files) = (number_field(reply, "total"), number_field(reply, "totalFiles"));
    let not_searched = match number_field(reply, "notSearched") {
        0 => String::new(),
        files => format!(
            "\n({files} files were not searched, because a search reads at most 1 GiB; narrow the search with `paths`)"
        ),
    };
    let unreadable = list_field(reply, "unreadable");
    let unreadable = match unreadable.split_at_checked(MAX_LISTED_UNREADABLE).unwrap_or((unreadable, &[])) {
        ([], _) => String::new(),
        (first, more) => {
            let reasons: Vec<String> = first.iter().map(|file| render_line(file, "reason")).collect();
            let more = if more.is_empty() { String::new() } else { format!("; {} more files", more.len()) };
            format!("\n(not searched: {}{more})", reasons.join("; "))
        }
    };
    let sum =
        if match_count < total { format!("\n({total} lines of {files} files match)") } else { String::new() };
    render_list(reply, "files", file, "no line matches") + &sum + &not_searched + &unreadable
}

pub(super) fn render_references(reply: &Value) -> String {
    let entry = |hit: &Value| {
        let mark = match (hit["definition"].as_bool(), string_field(hit, "confidence")) {
            (Some(true), _) => " (definition)",
            (_, "guess") => " (guess)",
            _ => "",
        };
        format!(
            "{}:{}:{mark} {}",
            leading_name(hit, "path"),
            number_field(hit, "line"),
            render_line(hit, "text")
        )
    };
    let hint = match render_line(reply, "howToNarrow") {
        hint if hint.is_empty() => hint,
        hint => format!("\n({hint})"),
    };
    let no_match = "no definition or reference has this name; use `symbols` to search by part of a name";
    format!("{}\n({}){hint}", render_list(reply, "hits", entry, no_match), render_reference_coverage(reply))
}

/// Returns how far a list of references can be trusted.
fn render_reference_coverage(reply: &Value) -> String {
    let count = |field: &str| reply[field].as_u64().unwrap_or(0);
    let lines =
        |count: u64| if count == 1 { "1 more line".to_owned() } else { format!("{count} more lines") };
    let verb = |count: u64| if count == 1 { "contains" } else { "contain" };
    let name = inline_name(reply, "name");
    let name = name.rsplit(['.', ':', '#']).next().unwrap_or(&name);
    let (code, text) = (count("otherCodeLines"), count("otherTextLines"));
    let in_code = match (reply["complete"].as_bool(), code) {
        (Some(true), _) => format!("complete by name: no other line of code contains `{name}`"),
        (_, 0) => "not complete".to_owned(),
        (_, code) => format!(
            "{} of code {} `{name}`: the name means something else there, or could not be resolved",
            lines(code),
            verb(code)
        ),
    };
    match text {
        0 => in_code,
        text => format!("{in_code}; {} of comments, strings or documents {} it", lines(text), verb(text)),
    }
}

pub(super) fn render_dependents(reply: &Value) -> String {
    let part = |field: &str, title: &str| {
        let paths = leading_names(reply, field);
        if paths.is_empty() { String::new() } else { format!("\n{title}:\n  {}", paths.join("\n  ")) }
    };
    let parts = [
        part("dependents", "files that depend on it"),
        part("dependencies", "files that it depends on"),
        part("imports", "files that it imports"),
        part("mutual", "mutual dependencies"),
    ]
    .concat();
    let parts = if parts.is_empty() { "\nhas no dependencies".to_owned() } else { parts };
    format!("{}{parts}{}", leading_name(reply, "path"), cursor_hint(reply))
}

pub(super) fn render_found_files(reply: &Value) -> String {
    let entry = |file: &Value| match string_field(file, "state") {
        "selected" => format!("{} (selected)", leading_name(file, "path")),
        "excluded" => format!("{} (excluded)", leading_name(file, "path")),
        _ => leading_name(file, "path"),
    };
    render_list(reply, "files", entry, "no path matches")
}

pub(super) fn render_file_text(reply: &Value) -> String {
    let (from, to, all) =
        (number_field(reply, "from"), number_field(reply, "to"), number_field(reply, "lines"));
    let also = leading_names(reply, "others");
    let also =
        if also.is_empty() { String::new() } else { format!(", defined again at {}", also.join(", ")) };
    let head = match (to + 1).saturating_sub(from) < all {
        true => format!("{}#L{from}-{to} of {all} lines{also}\n", leading_name(reply, "path")),
        false => String::new(),
    };
    format!("{head}{}{}", string_field(reply, "text"), cursor_hint(reply))
}

pub(super) fn render_file_list(reply: &Value) -> String {
    let entry = |file: &Value| {
        let ranges = leading_names(file, "lines");
        let extent = if ranges.is_empty() { String::new() } else { format!("#{}", ranges.join(",")) };
        let weight = file["tokens"].as_u64().map(|tokens| format!(", {tokens} tokens")).unwrap_or_default();
        let problem = match render_line(file, "problem") {
            problem if problem.is_empty() => problem,
            problem => format!(" ({problem})"),
        };
        format!("{}{extent}: {}{weight}{problem}", leading_name(file, "path"), inline_name(file, "state"))
    };
    render_list(reply, "files", entry, "no file is selected or excluded")
}

pub(super) fn render_selection_change(reply: &Value) -> String {
    let changed = leading_names(reply, "changed");
    let mut text = if changed.is_empty() {
        "nothing changed".to_owned()
    } else {
        format!("changed: {}", changed.join(", "))
    };
    for withheld in list_field(reply, "withheld") {
        text.push_str(&format!(
            "\nleft out: {} ({})",
            leading_name(withheld, "path"),
            render_line(withheld, "reason")
        ));
    }
    match number_field(reply, OMITTED_COUNT_FIELD) {
        0 => text,
        more => format!("{text}\n(and {more} more)"),
    }
}

pub(super) fn render_rules(reply: &Value) -> String {
    let entry = |rule: &Value| {
        let reason = &rule["reason"];
        let reason = match string_field(reason, "kind") {
            "pattern" => {
                format!("`{}` matches {}", inline_name(reason, "pattern"), inline_name(reason, "file"))
            }
            "directory" => format!("is above {}", inline_name(reason, "file")),
            "no_match" => format!("only for {}", leading_names(reason, "patterns").join(", ")),
            "on_request" => "only on request".to_owned(),
            _ => "always".to_owned(),
        };
        format!("{}: {reason}", leading_name(rule, "path"))
    };
    let others: Vec<String> = list_field(reply, "others").iter().map(entry).collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!("\n\nnot for these files:\n{}", others.join("\n")),
    };
    let trust = match reply["trusted"] == true {
        true => "",
        false => "\n(the workspace is not trusted, so prompts contain none of its rules)",
    };
    format!("{}{others}{trust}", render_list(reply, "rules", entry, "no rule applies"))
}

pub(super) fn render_changed_files(reply: &Value) -> String {
    let entry = |file: &Value| {
        let unsaved = if file["unsaved"] == true { ", unsaved" } else { "" };
        format!("{}: {}{unsaved}", leading_name(file, "path"), inline_name(file, "change"))
    };
    let state = inline_name(reply, "state");
    format!("{}\n(state for `since`: {state})", render_list(reply, "files", entry, "no file has changed"))
}

pub(super) fn render_memory_hits(reply: &Value) -> String {
    let entry = |hit: &Value| match string_field(hit, "source") {
        "message" => {
            let (session, message) = (inline_name(hit, "session"), number_field(hit, "message"));
            format!(
                "session {session}, message {message} ({}): {}",
                inline_name(hit, "role"),
                render_passage(hit, "snippet")
            )
        }
        "file" => format!(
            "{}, line {}: {}",
            leading_name(hit, "path"),
            number_field(hit, "line"),
            render_passage(hit, "snippet")
        ),
        _ => {
            let tags = leading_names(hit, "tags");
            let tags = if tags.is_empty() { String::new() } else { format!(" [{}]", tags.join(", ")) };
            format!("note {}{tags}: {}", hit["id"], render_passage(hit, "snippet"))
        }
    };
    render_list(reply, "hits", entry, "no note or message contains these words")
}

pub(super) fn render_saved_note(reply: &Value) -> String {
    format!("saved note {}", reply["id"])
}

pub(super) fn render_tool_output(reply: &Value) -> String {
    let (from, to, total) =
        (number_field(reply, "from"), number_field(reply, "to"), number_field(reply, "total"));
    let end = match to < total {
        true => format!("(lines {from} to {to} of {total}; continue with `from` {})", to + 1),
        false => format!("(lines {from} to {to} of {total})"),
    };
    let shown = string_field(reply, "text");
    let gap = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
    format!("{shown}{gap}{end}")
}

pub(super) fn render_token_count(reply: &Value) -> String {
    let warning = match render_line(reply, "warning") {
        warning if warning.is_empty() => warning,
        warning => format!("\n(warning: {warning})"),
    };
    format!("{} tokens for {}{warning}", number_field(reply, "tokens"), inline_name(reply, "model"))
}

/// Renders what a reader must know about the texts in a result, each on a line of its own.
pub(super) fn render_freshness(freshness: &Freshness) -> String {
    freshness.sentences().iter().map(|sentence| format!("\n({sentence})")).collect()
}

/// Renders a list with one line per entry. Returns `none` if the list is empty.
fn render_list(reply: &Value, field: &str, entry: impl Fn(&Value) -> String, none: &str) -> String {
    let lines: Vec<String> = list_field(reply, field).iter().map(entry).collect();
    if lines.is_empty() { none.to_owned() } else { format!("{}{}", lines.join("\n"), cursor_hint(reply)) }
}

/// Returns a hint on how to get the remaining part of a reply, if any.
fn cursor_hint(reply: &Value) -> String {
    match inline_name(reply, NEXT_CURSOR) {
        cursor if cursor.is_empty() => cursor,
        cursor => format!("\n(more: call again with `cursor` \"{cursor}\")"),
    }
}

/// Renders a name that may begin a line: a path or a tag.
fn leading_name(value: &Value, field: &str) -> String {
    ExternalText::new(string_field(value, field)).line_start().to_string()
}

fn leading_names(value: &Value, field: &str) -> Vec<String> {
    let names = list_field(value, field).iter().filter_map(Value::as_str);
    names.map(|name| ExternalText::new(name).line_start().to_string()).collect()
}

/// Renders a name that follows others on its line.
fn inline_name(value: &Value, field: &str) -> String {
    ExternalText::new(string_field(value, field)).line().to_string()
}

/// Renders a line of content that follows its position.
fn render_line(value: &Value, field: &str) -> String {
    ExternalText::new(string_field(value, field)).tool_line().to_string()
}

/// Renders a passage of a text that follows its position, with its line breaks as spaces.
fn render_passage(value: &Value, field: &str) -> String {
    let words: Vec<&str> = string_field(value, field).split_whitespace().collect();
    ExternalText::new(&words.join(" ")).line().to_string()
}

/// Renders lines that the engine wrote, with names that are safe already.
fn render_lines(value: &Value, field: &str) -> String {
    ExternalText::new(string_field(value, field)).lines().to_string()
}

/// Returns the text of a field as it is: to compare it, or as the content that was asked for.
fn string_field<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn number_field(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_default()
}
