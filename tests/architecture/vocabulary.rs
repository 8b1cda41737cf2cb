//! Checks that words that the project has replaced do not return to the names of modules and types. Does not
//! check functions, fields, or prose.

use tree_sitter::Node;

use crate::repo::File;
use crate::source::parse;

/// Words that no name may contain, with replacements.
const NEVER: &[(&str, &str)] = &[
    ("ageing", "tool_result_archival"),
    ("asker", "summarizer_client"),
    ("checkup", "diagnostics"),
    ("desk", "worker"),
    ("dice", "rng"),
    ("enclosed", "sanitize"),
    ("ingress", "inbound"),
    ("keeper", "session_store"),
    ("keeping", "persistence"),
    ("mail", "event"),
    ("misread", "invalid_notification"),
    ("patient", "blocking"),
    ("rehearsal", "replay runner"),
    ("tally", "stats"),
    ("taught", "calibration report"),
    ("told", "notice"),
    ("unseen", "sanitize"),
    ("walls", "architecture"),
    ("wishes", "layout preferences"),
    ("workbench", "headless workspace"),
];

/// Names that are too vague on their own, although longer names may contain them. Lower-case names are modules,
/// others are types.
const NEVER_ALONE: &[(&str, &str)] = &[
    ("Ask", "PromptRequest, or what is asked"),
    ("attention", "recent_documents"),
    ("Attention", "RecentDocuments"),
    ("Can", "a field with a name"),
    ("debt", "recovery"),
    ("facts", "conversation_facts, or whose facts they are"),
    ("Facts", "ConversationFacts, or whose facts they are"),
    ("figures", "format, or what the figures are of"),
    ("Figures", "what the figures are of"),
    ("found", "search_result, or what was found"),
    ("Found", "SearchResult, or what was found"),
    ("Hit", "Match"),
    ("lane", "scenario"),
    ("Lane", "Scenario"),
    ("Means", "PromptServices"),
    ("named", "rule_files"),
    ("outgoing", "outbound"),
    ("pay", "recovery"),
    ("Place", "LogPosition, Origin, or which place it is"),
    ("probe", "token_count_client"),
    ("said", "reply, or who says it"),
    ("Said", "Reply, or who says it"),
    ("select", "path_patterns"),
    ("shown", "reply_rendering"),
    ("Shown", "what is shown"),
    ("Sight", "what is seen"),
    ("stage", "scenario"),
    ("Stage", "Scenario"),
    ("standing", "system_context"),
    ("Standing", "SystemContext, or a state by its name"),
    ("Started", "a field with a name"),
    ("Stayed", "what stayed"),
    ("surroundings", "workspace_context"),
    ("Surroundings", "WorkspaceContext"),
    ("weights", "token_usage"),
    ("Weights", "TokenUsage"),
    ("Wrote", "a field with a name"),
];

/// Exceptions: the file, the name, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

/// Returns the modules and types whose names contain a replaced word, or that are numbered (`seed_004`).
pub(crate) fn replaced(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        for (name, line) in names(file) {
            let excepted = EXCEPTIONS.iter().any(|(path, kept, _)| *path == file.path && *kept == name);
            if let Some(instead) = instead(&name).filter(|_| !excepted) {
                found.push(format!("{}:{line} declares `{name}`; use: {instead}", file.path));
            }
        }
    }
    found
}

/// Returns the exceptions that are no longer needed.
pub(crate) fn needless_exceptions(files: &[File]) -> Vec<String> {
    let is_used = |path: &str, kept: &str| {
        files.iter().any(|file| file.path == path && names(file).iter().any(|(name, _)| name == kept))
    };
    let unused = EXCEPTIONS.iter().filter(|(path, kept, _)| !is_used(path, kept));
    unused.map(|(path, kept, _)| format!("{path} does not declare `{kept}`")).collect()
}

/// Returns the replacement for a name.
fn instead(name: &str) -> Option<&'static str> {
    let listed = |list: &[(&str, &'static str)], word: &str| {
        list.iter().find(|(never, _)| *never == word).map(|(_, instead)| *instead)
    };
    if let Some(instead) = listed(NEVER_ALONE, name) {
        return Some(instead);
    }
    let words = words(name);
    let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    if words.first().is_some_and(|word| word == "seed") && words.get(1).is_some_and(is_number) {
        return Some("what it describes");
    }
    words.iter().find_map(|word| listed(NEVER, word))
}

/// Returns the words of `a_name` or `AName`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for character in name.chars() {
        if character == '_' || character == '-' || character.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the module of a file, and the modules and types that it declares, with line numbers.
fn names(file: &File) -> Vec<(String, usize)> {
    let path = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let mut found: Vec<(String, usize)> = path.rsplit('/').take(2).map(|part| (part.to_owned(), 1)).collect();
    let tree = parse(&file.text);
    let mut open: Vec<Node<'_>> = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        let declares = matches!(
            node.kind(),
            "mod_item" | "struct_item" | "enum_item" | "union_item" | "trait_item" | "type_item"
        );
        if declares && let Some(name) = node.child_by_field_name("name") {
            found.push((file.text[name.byte_range()].to_owned(), node.start_position().row + 1));
        }
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        replaced(&[File::new(path, text)]).len()
    }

    #[test]
    fn a_replaced_word_is_found_in_modules_and_types() {
        assert_eq!(found("src/keeper.rs", ""), 1);
        assert_eq!(found("src/walls/main.rs", ""), 1);
        assert_eq!(found("src/a.rs", "mod seed_004;"), 1);
        assert_eq!(
            found("src/a.rs", "pub struct SessionKeeper; enum Told { A } type Means = u8; trait Place {}"),
            4
        );
        assert_eq!(found("src/a.rs", "fn f() { struct Hit; }"), 1);
    }

    #[test]
    fn parts_of_names_and_other_items_are_not() {
        assert_eq!(found("src/conversation_facts.rs", "struct PlaceholderKey; struct LogPlace;"), 0);
        assert_eq!(found("src/seed.rs", "fn told() {} const DICE: u8 = 0; struct Email;"), 0);
    }
}
