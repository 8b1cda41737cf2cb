//! Renders files and folders with their token counts as an indented tree, largest first.

use std::collections::BTreeMap;

use crate::output::{count, pluralize};
use strata_app::table::{Align, Table};

/// A folder, or a file if it has no children.
#[derive(Debug, Default)]
pub(crate) struct TokenTree {
    tokens: usize,
    files: usize,
    /// Why the file has no token count, if it has none.
    problem: Option<&'static str>,
    children: BTreeMap<String, TokenTree>,
}

impl TokenTree {
    /// Adds a file by its path. If `tokens` is `None`, `problem` says why.
    pub(crate) fn add(&mut self, path: &str, tokens: Option<usize>, problem: &'static str) {
        let mut node = self;
        node.add_tokens(tokens);
        for part in path.split('/') {
            node = node.children.entry(part.to_owned()).or_default();
            node.add_tokens(tokens);
        }
        node.problem = tokens.is_none().then_some(problem);
    }

    fn add_tokens(&mut self, tokens: Option<usize>) {
        self.tokens += tokens.unwrap_or_default();
        self.files += 1;
    }

    /// Returns the maximum number of levels that fit in `lines` lines, but at least one.
    pub(crate) fn max_depth_for_lines(&self, lines: usize) -> usize {
        let mut shown = 1;
        let mut level: Vec<&Self> = self.children.values().collect();
        let mut depth = 0;
        while !level.is_empty() && (depth == 0 || shown + level.len() <= lines) {
            shown += level.len();
            depth += 1;
            level = level.into_iter().flat_map(|node| node.children.values()).collect();
        }
        depth
    }

    /// Renders the tree down to `depth` levels below the top.
    pub(crate) fn render(&self, depth: usize) -> String {
        let mut table = Table::new([Align::Right, Align::Left]);
        table.add_row([count(self.tokens), format!("./  {}", pluralize(self.files, "file"))]);
        // Not recursive, since folders may be deeply nested.
        let mut waiting: Vec<(usize, &String, &Self)> = self.sorted_children(1);
        while let Some((level, name, node)) = waiting.pop() {
            let indent = "  ".repeat(level);
            table.add_row(match (node.problem, node.children.is_empty()) {
                (Some(problem), true) => ["-".to_owned(), format!("{indent}{name}  {problem}")],
                (None, true) => [count(node.tokens), format!("{indent}{name}")],
                (_, false) => {
                    [count(node.tokens), format!("{indent}{name}/  {}", pluralize(node.files, "file"))]
                }
            });
            if level < depth {
                waiting.extend(node.sorted_children(level + 1));
            }
        }
        table.render()
    }

    /// Returns the direct children, smallest first, so that the largest is popped first.
    fn sorted_children(&self, level: usize) -> Vec<(usize, &String, &Self)> {
        let mut inside: Vec<_> = self.children.iter().map(|(name, node)| (level, name, node)).collect();
        inside.sort_by_key(|(_, name, node)| (node.problem.is_some(), std::cmp::Reverse(node.tokens), *name));
        inside.reverse();
        inside
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn tree() -> TokenTree {
        let mut tree = TokenTree::default();
        tree.add("src/a.rs", Some(1_200), "");
        tree.add("src/deep/b.rs", Some(34), "");
        tree.add("src/logo.png", None, "binary");
        tree.add("z.md", Some(5_000), "");
        tree.add("empty", Some(0), "");
        tree
    }

    #[test]
    fn folders_show_sums_and_the_largest_entry_comes_first() {
        expect![[r"
            6,234  ./  5 files
            5,000    z.md
            1,234    src/  3 files
            1,200      a.rs
               34      deep/  1 file
               34        b.rs
                -      logo.png  binary
                0    empty
        "]]
        .assert_eq(&tree().render(9));
    }

    #[test]
    fn the_depth_is_the_largest_that_fits() {
        // 1 line, then 3, 3 and 1 more.
        let depths = [1, 4, 6, 7, 8, 100].map(|lines| tree().max_depth_for_lines(lines));
        assert_eq!(depths, [1, 1, 1, 2, 3, 3]);
        assert_eq!(tree().render(1).lines().count(), 4);
        assert_eq!(TokenTree::default().render(1), "0  ./  0 files\n");
    }
}
