//! Parameters of functions that are visible outside their modules.

use tree_sitter::Node;

use crate::repo::File;
use crate::source::parse;

/// Returns the parameters of type `bool` of visible functions.
pub(crate) fn booleans(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.path.contains("src/")) {
        let tree = parse(&file.text);
        let mut open = vec![tree.root_node()];
        while let Some(node) = open.pop() {
            if matches!(node.kind(), "function_item" | "function_signature_item") && is_visible(node) {
                for parameter in boolean_parameters(node, &file.text) {
                    let line = node.start_position().row + 1;
                    found.push(format!("{}:{line} takes the boolean `{parameter}`", file.path));
                }
            }
            let mut cursor = node.walk();
            open.extend(node.children(&mut cursor));
        }
    }
    found.sort();
    found
}

/// Whether a function has a visibility modifier or belongs to a trait with one.
fn is_visible(function: Node<'_>) -> bool {
    let owner = function.parent().and_then(|list| list.parent()).filter(|owner| owner.kind() == "trait_item");
    [Some(function), owner].into_iter().flatten().any(|node| {
        let mut cursor = node.walk();
        node.children(&mut cursor).any(|child| child.kind() == "visibility_modifier")
    })
}

fn boolean_parameters<'a>(function: Node<'_>, text: &'a str) -> Vec<&'a str> {
    let Some(parameters) = function.child_by_field_name("parameters") else { return Vec::new() };
    let mut cursor = parameters.walk();
    let of = |node: Node<'_>, field: &str| Some(&text[node.child_by_field_name(field)?.byte_range()]);
    let is_boolean = |parameter: &Node<'_>| of(*parameter, "type") == Some("bool");
    let name = |parameter: Node<'_>| of(parameter, "pattern");
    parameters.children(&mut cursor).filter(is_boolean).filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        booleans(&[File::new("src/a.rs", text)])
    }

    #[test]
    fn visible_booleans_are_found() {
        assert_eq!(found("\npub fn f(a: u8, deep: bool) {}"), ["src/a.rs:2 takes the boolean `deep`"]);
        assert_eq!(found("impl A { pub(crate) fn f(&self, deep: bool) {} }").len(), 1);
        assert_eq!(found("pub trait A { fn f(&self, deep: bool); fn g(one: bool, two: bool) {} }").len(), 3);
    }

    #[test]
    fn results_and_private_functions_are_left_alone() {
        assert_eq!(found("pub fn f(of: impl Fn(bool) -> bool, s: &str) -> bool {}"), [""; 0]);
        assert_eq!(found("fn f(deep: bool) {} trait A { fn f(&self, deep: bool); }"), [""; 0]);
    }
}
