//! Renders replies as text for models, in short lines instead of JSON. The text contains everything that a model would
//! act on. Does not limit the size.

use serde_json::Value;

use super::pages::{MORE, NEXT};

/// Renders a reply from the tool `map`.
pub fn map(reply: &Value) -> String {
    map_and(reply, "name files in `focus` to see others, or raise `max_tokens`")
}

/// Like `map`, with a hint on how to see the files that were omitted.
pub fn map_and(reply: &Value, how: &str) -> String {
    let left_out = match number(reply, "leftOut") {
        0 => String::new(),
        more => format!("\n({more} more files have an outline: {how})"),
    };
    format!("{}\n{}{left_out}", text(reply, "legend"), text(reply, "text"))
}

pub fn outline(reply: &Value) -> String {
    format!("{} ({})\n{}{}", text(reply, "path"), text(reply, "language"), text(reply, "text"), rest(reply))
}

pub(super) fn context(reply: &Value) -> String {
    let line = |item: &Value| {
        let what = match text(item, "name") {
            "" => String::new(),
            name => match text(item, "head") {
                "" => format!(": {} {name}", text(item, "kind")),
                head => format!(": {name}: {head}"),
            },
        };
        format!("{} {}{}{what}", item["score"], text(item, "path"), extent(item))
    };
    lines(reply, "items", line, "no match; try words that occur in the code")
}

pub(super) fn symbols(reply: &Value) -> String {
    let line = |symbol: &Value| {
        let within = match text(symbol, "container") {
            "" => String::new(),
            container => format!(" (in {container})"),
        };
        format!("{}{}: {}{within}", text(symbol, "path"), extent(symbol), text(symbol, "head"))
    };
    lines(reply, "symbols", line, "no definition matches")
}

/// Returns the line range of a definition as the suffix of a path, such as `#L3-9`.
fn extent(definition: &Value) -> String {
    match (number(definition, "line"), number(definition, "endLine")) {
        (0, _) => String::new(),
        (first, last) if last <= first => format!("#L{first}"),
        (first, last) => format!("#L{first}-{last}"),
    }
}

pub(super) fn matches(reply: &Value) -> String {
    let file = |file: &Value| {
        let mut shown = text(file, "path").to_owned();
        for line in list(file, "lines") {
            let mark = if line["context"] == true { '-' } else { ':' };
            shown.push_str(&format!("\n{}{mark} {}", number(line, "line"), text(line, "text")));
        }
        shown
    };
    let all = list(reply, "files").iter().flat_map(|file| list(file, "lines"));
    let shown = all.filter(|line| line["context"] != true).count() as u64;
    let (total, files) = (number(reply, "total"), number(reply, "totalFiles"));
    let sum = if shown < total { format!("\n({total} lines of {files} files match)") } else { String::new() };
    lines(reply, "files", file, "no line matches") + &sum
}

pub(super) fn references(reply: &Value) -> String {
    let line = |hit: &Value| {
        let mark = match (hit["definition"].as_bool(), text(hit, "confidence")) {
            (Some(true), _) => " (definition)",
            (_, "guess") => " (guess)",
            _ => "",
        };
        format!("{}:{}:{mark} {}", text(hit, "path"), hit["line"], text(hit, "text"))
    };
    let how = match text(reply, "howToNarrow") {
        "" => String::new(),
        how => format!("\n({how})"),
    };
    let none = "nothing has this name; use `symbols` to search by part of a name";
    format!("{}{how}", lines(reply, "hits", line, none))
}

pub(super) fn dependents(reply: &Value) -> String {
    let part = |field: &str, title: &str| {
        let paths: Vec<&str> = list(reply, field).iter().filter_map(Value::as_str).collect();
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
    format!("{}{parts}{}", text(reply, "path"), rest(reply))
}

pub(super) fn files_found(reply: &Value) -> String {
    let line = |file: &Value| match text(file, "state") {
        "selected" => format!("{} (selected)", text(file, "path")),
        "excluded" => format!("{} (excluded)", text(file, "path")),
        _ => text(file, "path").to_owned(),
    };
    lines(reply, "files", line, "no path matches")
}

pub(super) fn file(reply: &Value) -> String {
    let (from, to, all) = (number(reply, "from"), number(reply, "to"), number(reply, "lines"));
    let also: Vec<&str> = list(reply, "others").iter().filter_map(Value::as_str).collect();
    let also =
        if also.is_empty() { String::new() } else { format!(", defined again at {}", also.join(", ")) };
    let head = match (to + 1).saturating_sub(from) < all {
        true => format!("{}#L{from}-{to} of {all} lines{also}\n", text(reply, "path")),
        false => String::new(),
    };
    format!("{head}{}{}", text(reply, "text"), rest(reply))
}

pub(super) fn files_listed(reply: &Value) -> String {
    let line = |file: &Value| {
        let ranges: Vec<&str> = list(file, "lines").iter().filter_map(Value::as_str).collect();
        let extent = if ranges.is_empty() { String::new() } else { format!("#{}", ranges.join(",")) };
        let weight = file["tokens"].as_u64().map(|tokens| format!(", {tokens} tokens")).unwrap_or_default();
        let problem = match text(file, "problem") {
            "" => String::new(),
            problem => format!(" ({problem})"),
        };
        format!("{}{extent}: {}{weight}{problem}", text(file, "path"), text(file, "state"))
    };
    lines(reply, "files", line, "no file is selected or excluded")
}

pub(super) fn files_changed(reply: &Value) -> String {
    let changed: Vec<&str> = list(reply, "changed").iter().filter_map(Value::as_str).collect();
    let mut said = if changed.is_empty() {
        "nothing changed".to_owned()
    } else {
        format!("changed: {}", changed.join(", "))
    };
    for withheld in list(reply, "withheld") {
        said.push_str(&format!("\nleft out: {} ({})", text(withheld, "path"), text(withheld, "reason")));
    }
    match number(reply, MORE) {
        0 => said,
        more => format!("{said}\n(and {more} more)"),
    }
}

pub(super) fn hits(reply: &Value) -> String {
    let line = |hit: &Value| match text(hit, "source") {
        "message" => {
            let (session, message) = (text(hit, "session"), &hit["message"]);
            format!("session {session}, message {message} ({}): {}", text(hit, "role"), text(hit, "snippet"))
        }
        "file" => format!("{}, line {}: {}", text(hit, "path"), hit["line"], text(hit, "snippet")),
        _ => {
            let tags: Vec<&str> = list(hit, "tags").iter().filter_map(Value::as_str).collect();
            let tags = if tags.is_empty() { String::new() } else { format!(" [{}]", tags.join(", ")) };
            format!("note {}{tags}: {}", hit["id"], text(hit, "snippet"))
        }
    };
    lines(reply, "hits", line, "no note or message contains these words")
}

pub(super) fn note_kept(reply: &Value) -> String {
    format!("saved note {}", reply["id"])
}

pub(super) fn output(reply: &Value) -> String {
    let (from, to, total) = (number(reply, "from"), number(reply, "to"), number(reply, "total"));
    let end = match to < total {
        true => format!("(lines {from} to {to} of {total}; continue with `from` {})", to + 1),
        false => format!("(lines {from} to {to} of {total})"),
    };
    let shown = text(reply, "text");
    let gap = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
    format!("{shown}{gap}{end}")
}

pub(super) fn tokens(reply: &Value) -> String {
    let warning = match text(reply, "warning") {
        "" => String::new(),
        warning => format!("\n(warning: {warning})"),
    };
    format!("{} tokens for {}{warning}", number(reply, "tokens"), text(reply, "model"))
}

/// Renders a list with one line per entry. Returns `none` if the list is empty.
fn lines(reply: &Value, field: &str, line: impl Fn(&Value) -> String, none: &str) -> String {
    let lines: Vec<String> = list(reply, field).iter().map(line).collect();
    if lines.is_empty() { none.to_owned() } else { format!("{}{}", lines.join("\n"), rest(reply)) }
}

/// Returns a hint on how to get the remaining part of a reply, if any.
fn rest(reply: &Value) -> String {
    match text(reply, NEXT) {
        "" => String::new(),
        cursor => format!("\n(more: call again with `cursor` \"{cursor}\")"),
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_default()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}
