//! Splits a reply into pages within a token budget. Callers specify which fields of the reply contain entries, and
//! decide whether a page fits.

use serde_json::{Map, Value};

/// Field with the cursor for the next page.
pub(super) const NEXT_CURSOR: &str = "nextCursor";
/// Field with the number of omitted entries.
pub(super) const OMITTED_COUNT_FIELD: &str = "more";

/// How to split a long reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pagination {
    /// The reply is short, so it is not split.
    Whole,
    /// The command itself limits the reply to a budget, which is passed in this argument.
    Budget { argument: &'static str },
    /// The reply is split between entries of these lists, one list after the other. A cursor continues the reply.
    Lists(&'static [&'static str]),
    /// The reply is split between entries of the inner lists. A cursor continues the reply.
    Nested {
        /// Name of the outer list.
        outer: &'static str,
        /// Name of the list in each entry of the outer list.
        inner: &'static str,
    },
    /// The reply is split between lines of the text in this field. A cursor continues the reply.
    Lines(&'static str),
    /// The lists are cut off, and the number of omitted entries is added. No cursor continues the reply.
    Clipped(&'static [&'static str]),
    /// The field `text` is cut off at the end of a line, and `to` is set to the last remaining line.
    Numbered,
}

/// The cursor does not come from a reply from this tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BadCursor;

impl Pagination {
    /// Returns whether a long reply of the tool can be continued with a cursor.
    pub(super) fn has_cursor(self) -> bool {
        matches!(self, Self::Lists(_) | Self::Nested { .. } | Self::Lines(_))
    }

    /// Returns whether a reply can be shortened to a token budget.
    pub(super) fn has_budget(self) -> bool {
        self != Self::Whole
    }
}

/// Returns the page of a reply that starts at `cursor`. The page is as long as `fits` allows, but has at least one
/// entry or character.
///
/// # Errors
/// Returns [`BadCursor`] if `cursor` is not from this reply.
pub(super) fn cut_page(
    reply: Value,
    shape: Pagination,
    cursor: Option<&str>,
    fits: impl Fn(&Value) -> bool,
) -> Result<Value, BadCursor> {
    let from = match cursor {
        None => 0,
        Some(cursor) => cursor.parse::<usize>().map_err(|_| BadCursor)?,
    };
    match shape {
        Pagination::Whole | Pagination::Budget { .. } => Ok(reply),
        Pagination::Lists(fields) => cut_entry_page(&ReplyRows::from_lists(reply, fields), from, fits),
        Pagination::Nested { outer, inner } => {
            cut_entry_page(&ReplyRows::from_nested_lists(reply, outer, inner), from, fits)
        }
        Pagination::Clipped(fields) => {
            let rows = ReplyRows::from_lists(reply, fields);
            let row_count = rows.count();
            let page = |count: usize| match row_count - count {
                0 => rows.with_rows(0, count),
                more => with_field(rows.with_rows(0, count), OMITTED_COUNT_FIELD, more.into()),
            };
            Ok(page(largest_fitting(row_count, |count| fits(&page(count)))))
        }
        Pagination::Lines(field) => cut_line_page(reply, field, from, fits),
        Pagination::Numbered => Ok(cut_tool_output_page(reply, fits)),
    }
}

/// The entries of a reply, and the reply without them.
struct ReplyRows {
    frame: Value,
    layout: RowLayout,
}

/// The location of the entries in a reply.
enum RowLayout {
    Lists(Vec<(&'static str, Vec<Value>)>),
    Nested { outer: &'static str, inner: &'static str, entries: Vec<Value> },
}

impl ReplyRows {
    fn from_lists(mut reply: Value, fields: &[&'static str]) -> Self {
        let lists = fields.iter().map(|field| (*field, take_list(&mut reply, field))).collect();
        Self { frame: reply, layout: RowLayout::Lists(lists) }
    }

    fn from_nested_lists(mut reply: Value, outer: &'static str, inner: &'static str) -> Self {
        let entries = take_list(&mut reply, outer);
        Self { frame: reply, layout: RowLayout::Nested { outer, inner, entries } }
    }

    fn count(&self) -> usize {
        match &self.layout {
            RowLayout::Lists(lists) => lists.iter().map(|(_, list)| list.len()).sum(),
            RowLayout::Nested { inner, entries, .. } => {
                entries.iter().map(|entry| count_rows(entry, inner)).sum()
            }
        }
    }

    /// Returns the reply with only `count` rows, starting at row `from`.
    fn with_rows(&self, from: usize, count: usize) -> Value {
        let (mut skip, mut take) = (from, count);
        // Range of the next `length` rows to keep.
        let mut next_range = |length: usize| {
            let begin = skip.min(length);
            skip -= begin;
            let end = begin + take.min(length - begin);
            take -= end - begin;
            begin..end
        };
        let mut page = self.frame.clone();
        match &self.layout {
            RowLayout::Lists(lists) => {
                for (field, list) in lists {
                    page[*field] = list.get(next_range(list.len())).unwrap_or_default().into();
                }
            }
            RowLayout::Nested { outer, inner, entries } => {
                let mut page_entries = Vec::new();
                for entry in entries {
                    let range = next_range(count_rows(entry, inner));
                    if !range.is_empty() {
                        let inside = list_field(entry, inner).get(range).unwrap_or_default().into();
                        page_entries.push(with_field(entry.clone(), inner, inside));
                    }
                }
                page[*outer] = page_entries.into();
            }
        }
        page
    }
}

fn cut_entry_page(rows: &ReplyRows, from: usize, fits: impl Fn(&Value) -> bool) -> Result<Value, BadCursor> {
    let row_count = rows.count();
    if from > 0 && from >= row_count {
        return Err(BadCursor);
    }
    let page = |count: usize| {
        let page = rows.with_rows(from, count);
        match from + count {
            end if end < row_count => with_field(page, NEXT_CURSOR, end.to_string().into()),
            _ => page,
        }
    };
    Ok(page(largest_fitting(row_count - from, |count| fits(&page(count)))))
}

fn cut_line_page(
    mut reply: Value,
    field: &str,
    from: usize,
    fits: impl Fn(&Value) -> bool,
) -> Result<Value, BadCursor> {
    let text = take_text(&mut reply, field);
    if from > 0 && (from >= text.len() || !text.is_char_boundary(from)) {
        return Err(BadCursor);
    }
    let page = |end: usize| {
        let page = with_field(reply.clone(), field, text.get(from..end).unwrap_or_default().into());
        if end < text.len() { with_field(page, NEXT_CURSOR, end.to_string().into()) } else { page }
    };
    Ok(page(end_of_lines(&text, from, |end| fits(&page(end)))))
}

/// Shortens a reply to `strata.toolOutput.read` to the lines that fit.
fn cut_tool_output_page(mut reply: Value, fits: impl Fn(&Value) -> bool) -> Value {
    let text = take_text(&mut reply, "text");
    let first = reply["from"].as_u64().unwrap_or(1);
    let page = |end: usize| {
        let page_text = text.get(..end).unwrap_or_default();
        let page = with_field(reply.clone(), "text", page_text.into());
        if end == text.len() {
            return page;
        }
        // A line that was cut counts as read, because its remainder cannot be requested.
        let count = page_text.lines().count() as u64;
        with_field(page, "to", (first + count).saturating_sub(1).into())
    };
    page(end_of_lines(&text, 0, |end| fits(&page(end))))
}

/// Returns the position of the last line ending after `from` that fits, or a position within the first line if no line
/// fits.
fn end_of_lines(text: &str, from: usize, fits: impl Fn(usize) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let mut ends: Vec<usize> = rest.match_indices('\n').map(|(at, _)| from + at + 1).collect();
    if ends.last() != Some(&text.len()) {
        ends.push(text.len());
    }
    let end_of = |count: usize| ends.get(count - 1).copied().unwrap_or(text.len());
    let count = largest_fitting(ends.len(), |count| fits(end_of(count)));
    let end = end_of(count.max(1));
    if count > 1 || fits(end) {
        return end;
    }
    let line = text.get(from..end).unwrap_or_default();
    let ends: Vec<usize> = line.char_indices().map(|(at, c)| from + at + c.len_utf8()).collect();
    let end_of = |count: usize| ends.get(count - 1).copied().unwrap_or(end);
    end_of(largest_fitting(ends.len(), |count| fits(end_of(count))).max(1))
}

/// Returns the largest number up to `max` that fits, assuming that all smaller ones fit as well. Returns at least 1,
/// unless `max` is 0. Never tries a number more than twice as large as one that fits.
fn largest_fitting(max: usize, fits: impl Fn(usize) -> bool) -> usize {
    let mut fitting = max.min(1);
    let mut too_many = max + 1;
    while fitting < max {
        let next = (fitting * 2).min(max);
        if !fits(next) {
            too_many = next;
            break;
        }
        fitting = next;
    }
    while too_many - fitting > 1 && fitting < max {
        let middle = fitting + (too_many - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            too_many = middle;
        }
    }
    fitting
}

/// Returns the number of rows of an entry in an outer list: one per inner entry, or one if it has none.
fn count_rows(entry: &Value, inner: &str) -> usize {
    list_field(entry, inner).len().max(1)
}

fn take_list(value: &mut Value, field: &str) -> Vec<Value> {
    match value.get_mut(field).map(Value::take) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

fn take_text(value: &mut Value, field: &str) -> String {
    match value.get_mut(field).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

pub(super) fn list_field<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn with_field(mut value: Value, field: &str, inner: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.insert(field.to_owned(), inner);
        }
        other => *other = Value::Object(Map::from_iter([(field.to_owned(), inner)])),
    }
    value
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns all pages of a reply, each at most `size` bytes long if possible.
    fn pages(reply: &Value, shape: Pagination, size: usize) -> Vec<Value> {
        let mut pages = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let next =
                cut_page(reply.clone(), shape, cursor.as_deref(), |page| page.to_string().len() <= size)
                    .unwrap();
            cursor = next[NEXT_CURSOR].as_str().map(str::to_owned);
            pages.push(next);
            if cursor.is_none() {
                return pages;
            }
            assert!(pages.len() < 10_000, "it never ends");
        }
    }

    fn joined(pages: &[Value], field: &str) -> Vec<Value> {
        pages.iter().flat_map(|page| list_field(page, field).to_vec()).collect()
    }

    #[test]
    fn the_pages_of_lists_add_up_to_the_lists() {
        let names: Vec<String> = (0..100).map(|n| format!("file {n}")).collect();
        let reply = json!({ "path": "a", "one": names, "two": [], "three": ["x", "y"] });
        let shape = Pagination::Lists(&["one", "two", "three"]);
        for size in [10, 100, 333, 1_000] {
            let pages = pages(&reply, shape, size);
            assert_eq!(joined(&pages, "one"), list_field(&reply, "one"));
            assert_eq!(joined(&pages, "three"), list_field(&reply, "three"));
            assert!(pages.iter().all(|page| page["path"] == "a"));
            let fit = |page: &Value| {
                page.to_string().len() <= size
                    || list_field(page, "one").len() + list_field(page, "three").len() == 1
            };
            assert!(pages.iter().all(fit), "{size}");
        }
        assert_eq!(pages(&reply, shape, 100_000), [reply]);
    }

    #[test]
    fn the_pages_of_nested_lists_add_up_to_the_lists() {
        let referrers: Vec<usize> = (0..50).collect();
        let reply = json!({ "definitions": [
            { "path": "a", "referrers": referrers }, { "path": "b", "referrers": [] }, { "path": "c", "referrers": [1, 2] },
        ]});
        let shape = Pagination::Nested { outer: "definitions", inner: "referrers" };
        for size in [10, 90, 200] {
            let pages = pages(&reply, shape, size);
            assert!(pages.len() > 1);
            let definitions = joined(&pages, "definitions");
            let referrers_of = |path: &str| -> Vec<Value> {
                let matching = definitions.iter().filter(|definition| definition["path"] == path);
                matching.flat_map(|definition| list_field(definition, "referrers").to_vec()).collect()
            };
            assert_eq!((referrers_of("a").len(), referrers_of("c").len()), (50, 2));
            assert_eq!(definitions.iter().filter(|definition| definition["path"] == "b").count(), 1);
        }
        assert_eq!(pages(&reply, shape, 10_000), [reply]);
    }

    #[test]
    fn the_pages_of_a_text_add_up_to_it_and_end_with_lines() {
        let line = "é🦀".repeat(200);
        let text = format!("one\ntwo\n{line}\r\n\nthree");
        let reply = json!({ "text": text });
        for size in [30, 60, 500, 2_000, 5_000] {
            let pages = pages(&reply, Pagination::Lines("text"), size);
            let all: String = pages.iter().map(|page| page["text"].as_str().unwrap()).collect();
            assert_eq!(all, text);
        }
        let first =
            cut_page(reply, Pagination::Lines("text"), None, |page| page.to_string().len() < 50).unwrap();
        assert_eq!(first["text"], "one\ntwo\n");
        assert_eq!(
            cut_page(json!({ "text": "" }), Pagination::Lines("text"), None, |_| false).unwrap()["text"],
            ""
        );
    }

    #[test]
    fn a_clipped_reply_counts_the_omitted_entries() {
        let reply = json!({ "changed": ["a", "b", "c"], "withheld": ["d"] });
        let shape = Pagination::Clipped(&["changed", "withheld"]);
        let few = cut_page(reply.clone(), shape, None, |page| list_field(page, "changed").len() < 3).unwrap();
        assert_eq!(few, json!({ "changed": ["a", "b"], "withheld": [], "more": 2 }));
        assert_eq!(cut_page(reply.clone(), shape, None, |_| true).unwrap(), reply);
    }

    #[test]
    fn a_shortened_tool_output_states_its_last_line() {
        let reply = json!({ "text": "a\nb\nc\n", "from": 5, "to": 7, "total": 100 });
        let fits = |max_bytes: usize| move |page: &Value| page["text"].as_str().unwrap().len() <= max_bytes;
        let page = |max_bytes| cut_page(reply.clone(), Pagination::Numbered, None, fits(max_bytes)).unwrap();
        assert_eq!((&page(4)["text"], &page(4)["to"]), (&json!("a\nb\n"), &json!(6)));
        assert_eq!((&page(1)["text"], &page(1)["to"]), (&json!("a"), &json!(5)));
        assert_eq!(page(100), reply);
    }

    #[test]
    fn cursors_of_other_replies_are_rejected() {
        let reply = json!({ "items": [1, 2], "text": "éé" });
        for cursor in ["2", "99", "-1", "x", "", "18446744073709551616"] {
            assert_eq!(
                cut_page(reply.clone(), Pagination::Lists(&["items"]), Some(cursor), |_| true),
                Err(BadCursor),
                "{cursor}"
            );
        }
        assert_eq!(cut_page(reply, Pagination::Lines("text"), Some("1"), |_| true), Err(BadCursor));
    }

    #[test]
    fn the_most_that_fits_is_found() {
        for all in 0..40 {
            for limit in 0..50 {
                let expected = limit.min(all).max(all.min(1));
                assert_eq!(largest_fitting(all, |count| count <= limit), expected, "{all} {limit}");
            }
        }
    }
}
