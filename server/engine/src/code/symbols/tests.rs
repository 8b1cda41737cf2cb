//! The index, the graph and the budgets over small invented repositories.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use strata_grammars::LanguageId;

use super::*;
use crate::cancel::Cancel;
use crate::key::FileKey;

/// A repository of the given files.
fn index(files: &[(&str, &str)]) -> SymbolIndex {
    files
        .iter()
        .map(|(path, source)| {
            let key = FileKey::from(*path);
            let language = LanguageId::by_path(path, "").unwrap();
            let symbols = FileSymbols::read(language, &key, source, &Cancel::new()).unwrap();
            (key, Arc::new(symbols))
        })
        .collect()
}

fn keys(paths: &[&str]) -> Vec<FileKey> {
    paths.iter().map(|path| FileKey::from(*path)).collect()
}

/// The graph of an index without project files.
fn linked(index: &SymbolIndex) -> References {
    References::build(index, &Arc::default())
}

fn ranked(graph: &References, selected: &[FileKey]) -> Vec<FileKey> {
    graph.rank(&Seeds { selected, ..Seeds::default() }).files().to_vec()
}

fn shop() -> SymbolIndex {
    index(&[
        ("shop/base.py", "class Model:\n    def save_all(self): ...\n"),
        (
            "shop/order.py",
            "from .base import Model\nclass Order(Model):\n    def bill(self): return Invoice(self)\n",
        ),
        (
            "shop/invoice.py",
            "from .base import Model\nclass Invoice(Model):\n    def of(self): return Order()\n",
        ),
        ("web/view.py", "from shop.order import Order\ndef show(): return Order().bill()\n"),
        ("web/lonely.py", "def unused(Model): pass\n"),
        ("tests/test_order.py", "from shop.order import Order\ndef test_it(): Order()\n"),
    ])
}

#[test]
fn names_lead_to_the_files_that_define_them() {
    let graph = linked(&shop());
    let base = FileKey::from("shop/base.py");
    assert_eq!(graph.incoming(&base), 2.0);
    assert_eq!(graph.incoming(&FileKey::from("shop/order.py")), 3.0);
    assert_eq!(graph.incoming(&FileKey::from("no/such.py")), 0.0);
    // `unused(Model)` binds the name as a parameter: no reference.
    assert_eq!(
        graph.dependents(&base),
        keys(&["shop/invoice.py", "shop/order.py"]).iter().collect::<Vec<_>>()
    );
    let view = graph.dependencies(&FileKey::from("web/view.py"));
    assert_eq!(view, keys(&["shop/order.py"]).iter().collect::<Vec<_>>());
}

#[test]
fn a_name_the_file_defines_itself_means_its_own() {
    let graph = linked(&index(&[
        ("a.py", "def shared(): ...\n"),
        ("b.py", "def shared(): ...\nshared()\n"),
        ("c.js", "shared();\n"),
    ]));
    assert_eq!(graph.incoming(&FileKey::from("a.py")), 0.0, "nor do languages of two families meet");
}

#[test]
fn a_definition_outside_any_type_wins_over_members() {
    let graph = linked(&index(&[
        ("a.py", "class A:\n    def shared(self): ...\n    def only(self): ...\n"),
        ("b.py", "def shared(): ...\n"),
        ("c.py", "def f(x): x.shared()\n"),
        ("d.py", "def g(x): x.only()\n"),
    ]));
    assert_eq!(graph.incoming(&FileKey::from("a.py")), 0.25);
    assert_eq!(graph.incoming(&FileKey::from("b.py")), 1.0);
}

#[test]
fn a_name_with_several_definers_counts_by_likelihood() {
    let graph = linked(&index(&[
        ("a.py", "def shared(): ...\n"),
        ("b.py", "def shared(): ...\n"),
        ("c.py", "import x\nx.shared()\n"),
    ]));
    assert_eq!(graph.incoming(&FileKey::from("a.py")), 0.5);
    assert_eq!(graph.incoming(&FileKey::from("b.py")), 0.5);
}

#[test]
fn mutual_references_make_clusters() {
    let index = shop();
    let graph = linked(&index);
    let (invoice, order) = (FileKey::from("shop/invoice.py"), FileKey::from("shop/order.py"));
    assert_eq!(graph.mutual_pairs(), [(&invoice, &order, 1.0)]);
    assert_eq!(graph.clusters(0.0), [vec![invoice, order]]);
    assert!(graph.clusters(1.5).is_empty());
}

#[test]
fn rank_puts_references_first_and_lifts_what_is_near_the_focus() {
    let graph = linked(&shop());
    let rank = ranked(&graph, &[]);
    assert_eq!(rank[..2], keys(&["shop/order.py", "shop/base.py"]));
    assert_eq!(rank.last(), Some(&FileKey::from("tests/test_order.py")));
    let rank = ranked(&graph, &keys(&["web/lonely.py"]));
    assert_eq!(rank[0], FileKey::from("web/lonely.py"));
    assert!(
        rank.iter().position(|key| key.as_str() == "web/view.py")
            < rank.iter().position(|key| key.as_str() == "shop/invoice.py")
    );
    assert_eq!(rank.len(), 6);
}

#[test]
fn documents_come_behind_code_that_is_as_lonely() {
    let index = index(&[
        ("README.md", "# used\n## lonely\n"),
        ("a.json", "{\"used\": {\"lonely\": 1}}"),
        ("lonely.py", "def lonely(): used()\n"),
        ("used.py", "def used(): ...\n"),
    ]);
    let graph = linked(&index);
    assert_eq!(ranked(&graph, &[]), keys(&["used.py", "lonely.py", "README.md", "a.json"]));
    assert_eq!(graph.incoming(&FileKey::from("README.md")), 0.0);
    assert!(graph.dependencies(&FileKey::from("README.md")).is_empty());
}

#[test]
fn a_clone_of_the_index_does_not_see_later_changes() {
    let mut index = shop();
    let before = index.clone();
    assert!(index.remove(&FileKey::from("web/view.py")));
    assert!(!index.remove(&FileKey::from("web/view.py")));
    assert_eq!((before.len(), index.len()), (6, 5));
    let again = before.get(&FileKey::from("web/view.py")).unwrap();
    index.insert(FileKey::from("web/view.py"), Arc::clone(again));
    assert_eq!(index.len(), 6);
}

#[test]
fn kept_files_come_first_and_excluded_ones_never() {
    let index = shop();
    let ranked = ranked(&linked(&index), &[]);
    let kept = keys(&["web/view.py"]);
    let without = keys(&["shop/order.py"]).into_iter().collect();
    let request = MapRequest { budget: 10_000, kept: &kept, ranked: &ranked, without: &without };
    let map = map_within(&index, &request, &str::len);
    assert_eq!(map.blocks[0].key, kept[0]);
    assert_eq!(map.blocks.len(), 5);
    assert_eq!(map.total, map.blocks.iter().map(|block| block.text.len()).sum::<usize>());
}

#[test]
fn the_file_list_collapses_the_deepest_and_least_relevant_first() {
    let files = keys(&["a.rs", "near/deep/x.rs", "near/y.rs", "far/1.rs", "far/2.rs", "far/deep/3.rs"]);
    let focus = keys(&["near/deep/x.rs"]);
    let count = |text: &str| text.lines().count();
    let text = |budget| file_list(&files, &focus, budget, &count).text;
    assert_eq!(text(7), "6 files\na.rs\nfar/1.rs\nfar/2.rs\nfar/deep/3.rs\nnear/deep/x.rs\nnear/y.rs\n");
    assert_eq!(text(5), "6 files\na.rs\nfar/ (3 files)\nnear/deep/x.rs\nnear/y.rs\n");
    assert_eq!(text(4), "6 files\na.rs\nfar/ (3 files)\nnear/ (2 files)\n");
    assert_eq!(text(3), "6 files\n");
    assert_eq!(text(0), "");
}

#[test]
fn a_name_cannot_break_the_file_list() {
    let list = file_list(&keys(&["a\nb/c\u{2028}.rs"]), &[], 100, &str::len);
    assert_eq!(list.text, "1 file\na\\u{a}b/c\\u{2028}.rs\n");
}

fn paths() -> impl Strategy<Value = Vec<FileKey>> {
    let path = prop::collection::vec("[a-c]{1,2}", 1..5).prop_map(|parts| FileKey::new(parts.join("/")));
    prop::collection::vec(path, 0..60)
}

proptest! {
    #[test]
    fn the_file_list_stays_in_its_budget_and_accounts_for_every_file(
        files in paths(),
        focus in paths(),
        budget in 0_usize..800,
    ) {
        let list = file_list(&files, &focus, budget, &str::len);
        prop_assert!(list.tokens <= budget);
        prop_assert_eq!(list.tokens, list.text.len());
        let distinct: BTreeSet<_> = files.iter().collect();
        if list.text.lines().count() > 1 {
            prop_assert_eq!(list.names + list.collapsed, distinct.len());
            prop_assert_eq!(list.text.lines().count(), 1 + list.names + list.directories);
        }
        let whole = file_list(&files, &focus, usize::MAX, &str::len);
        prop_assert_eq!(whole.names, distinct.len());
        let mut reversed = files.clone();
        reversed.reverse();
        prop_assert_eq!(file_list(&reversed, &focus, budget, &str::len), list);
    }

    /// What a file mentions changes ranks; a map that was given stays what it was.
    #[test]
    fn a_change_of_references_leaves_a_given_map_alone(
        budget in 100_usize..900,
        mentions in prop::collection::vec(prop::sample::select(vec!["Model", "Order", "Invoice", "bill", "unused", "show"]), 0..6),
    ) {
        let mut index = shop();
        let nothing = BTreeSet::new();
        let given = |index: &SymbolIndex, kept: &[FileKey]| -> Vec<FileKey> {
            let ranked = ranked(&linked(index), &[]);
            let request = MapRequest { budget, kept, ranked: &ranked, without: &nothing };
            map_within(index, &request, &str::len).blocks.into_iter().map(|block| block.key).collect()
        };
        let before = given(&index, &[]);
        let text = format!("def unused(Model): {}\n", mentions.join("(); "));
        let key = FileKey::from("web/lonely.py");
        let language = LanguageId::by_path(key.as_str(), "").unwrap();
        let symbols = FileSymbols::read(language, &key, &text, &Cancel::new()).unwrap();
        index.insert(key, Arc::new(symbols));
        prop_assert_eq!(given(&index, &before), before);
    }

    #[test]
    fn the_map_stays_in_its_budget(budget in 0_usize..600, kept in prop::sample::subsequence(vec![0, 1, 2, 3, 4, 5], 0..6)) {
        let index = shop();
        let ranked = ranked(&linked(&index), &[]);
        let kept: Vec<_> = kept.iter().map(|&i| ranked[i].clone()).collect();
        let request = MapRequest { budget, kept: &kept, ranked: &ranked, without: &BTreeSet::new() };
        let map = map_within(&index, &request, &str::len);
        prop_assert!(map.total <= budget);
        let written: usize = map.blocks.iter().map(|block| block.text.len()).sum();
        prop_assert_eq!(map.total, written);
        let distinct: BTreeSet<_> = map.blocks.iter().map(|block| &block.key).collect();
        prop_assert_eq!(distinct.len(), map.blocks.len());
    }
}
