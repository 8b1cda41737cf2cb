//! Replies as a model reads them: short lines in place of JSON. Reads of a reply what it shows and leaves out nothing that one
//! would act on. Decides nothing about how much of it there is.

use serde_json::Value;

use crate::pages::{MORE, NEXT};

/// What a reply of [`map`](crate::tools) says.
pub(crate) fn map(reply: &Value) -> String {
    map_and(reply, "name files in `focus` to see others, or give a larger `max_tokens`")
}

/// The same, with how to see files that were left out.
pub(crate) fn map_and(reply: &Value, how: &str) -> String {
    let left_out = match number(reply, "leftOut") {
        0 => String::new(),
        more => format!("\n({more} more files have an outline: {how})"),
    };
    format!("{}\n{}{left_out}", text(reply, "legend"), text(reply, "text"))
}

pub(crate) fn outline(reply: &Value) -> String {
    format!("{} ({})\n{}{}", text(reply, "path"), text(reply, "language"), text(reply, "text"), rest(reply))
}

pub(crate) fn context(reply: &Value) -> String {
    let line = |item: &Value| {
        let what = match text(item, "name") {
            "" => String::new(),
            name => format!(": {} {name}", text(item, "kind")),
        };
        format!("{} {}{what}", item["score"], text(item, "path"))
    };
    lines(reply, "items", line, "nothing here is about that; use words that stand in the code")
}

pub(crate) fn symbols(reply: &Value) -> String {
    let line = |symbol: &Value| {
        let within = match text(symbol, "container") {
            "" => String::new(),
            container => format!(" (in {container})"),
        };
        format!("{}: {}{within}", text(symbol, "path"), text(symbol, "head"))
    };
    lines(reply, "symbols", line, "no definition has a name with these letters")
}

pub(crate) fn references(reply: &Value) -> String {
    let line = |definition: &Value| {
        let heads: Vec<&str> = list(definition, "heads").iter().filter_map(Value::as_str).collect();
        let mut line = format!("{}: {}", text(definition, "path"), heads.join(" | "));
        for referrer in list(definition, "referrers") {
            line.push_str(&format!(
                "\n  {} ({:.2})",
                text(referrer, "path"),
                referrer["likelihood"].as_f64().unwrap_or(0.0)
            ));
        }
        line
    };
    lines(reply, "definitions", line, "nothing has this name; `symbols` finds names by some of their letters")
}

pub(crate) fn dependents(reply: &Value) -> String {
    let part = |field: &str, title: &str| {
        let paths: Vec<&str> = list(reply, field).iter().filter_map(Value::as_str).collect();
        if paths.is_empty() { String::new() } else { format!("\n{title}:\n  {}", paths.join("\n  ")) }
    };
    let parts = [
        part("dependents", "depend on it"),
        part("dependencies", "it depends on"),
        part("imports", "it imports"),
        part("mutual", "both"),
    ]
    .concat();
    let parts = if parts.is_empty() { "\nhas nothing to do with other files".to_owned() } else { parts };
    format!("{}{parts}{}", text(reply, "path"), rest(reply))
}

pub(crate) fn files_found(reply: &Value) -> String {
    let line = |file: &Value| match text(file, "state") {
        "selected" => format!("{} (selected)", text(file, "path")),
        "excluded" => format!("{} (excluded)", text(file, "path")),
        _ => text(file, "path").to_owned(),
    };
    lines(reply, "files", line, "no file has a path with these letters")
}

pub(crate) fn file(reply: &Value) -> String {
    format!("{}{}", text(reply, "text"), rest(reply))
}

pub(crate) fn files_listed(reply: &Value) -> String {
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

pub(crate) fn files_changed(reply: &Value) -> String {
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

pub(crate) fn hits(reply: &Value) -> String {
    let line = |hit: &Value| match text(hit, "source") {
        "message" => {
            let (session, message) = (text(hit, "session"), &hit["message"]);
            format!("session {session}, message {message} ({}): {}", text(hit, "role"), text(hit, "snippet"))
        }
        _ => {
            let tags: Vec<&str> = list(hit, "tags").iter().filter_map(Value::as_str).collect();
            let tags = if tags.is_empty() { String::new() } else { format!(" [{}]", tags.join(", ")) };
            format!("note {}{tags}: {}", hit["id"], text(hit, "snippet"))
        }
    };
    lines(reply, "hits", line, "nothing was noted or said with these words")
}

pub(crate) fn note_kept(reply: &Value) -> String {
    format!("note {} is kept", reply["id"])
}

pub(crate) fn output(reply: &Value) -> String {
    let (from, to, total) = (number(reply, "from"), number(reply, "to"), number(reply, "total"));
    let end = match to < total {
        true => format!("(lines {from} to {to} of {total}; go on with `from` {})", to + 1),
        false => format!("(lines {from} to {to} of {total})"),
    };
    let shown = text(reply, "text");
    let gap = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
    format!("{shown}{gap}{end}")
}

pub(crate) fn tokens(reply: &Value) -> String {
    format!("{} tokens for {}", number(reply, "tokens"), text(reply, "model"))
}

/// Each entry of a list on lines of its own, or what there is to say when there are none.
fn lines(reply: &Value, field: &str, line: impl Fn(&Value) -> String, none: &str) -> String {
    let lines: Vec<String> = list(reply, field).iter().map(line).collect();
    if lines.is_empty() { none.to_owned() } else { format!("{}{}", lines.join("\n"), rest(reply)) }
}

/// How to get the rest, when there is one.
fn rest(reply: &Value) -> String {
    match text(reply, NEXT) {
        "" => String::new(),
        cursor => format!("\n(there is more: the same with `cursor` \"{cursor}\")"),
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
