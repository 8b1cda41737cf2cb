//! The index, the graph and the budgets in small invented repositories.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::*;
use crate::outline::{BlockDetail, MapLevel};

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

/// Builds the graph of an index without project files.
fn build_graph(index: &SymbolIndex) -> ReferenceGraph {
    ReferenceGraph::build(index, &Arc::default())
}

fn ranked(graph: &ReferenceGraph, selected: &[FileKey]) -> Vec<FileKey> {
    graph.rank(&Seeds { selected, ..Seeds::default() }).files.to_vec()
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
fn mentioned_names_refer_to_the_files_that_define_them() {
    let graph = build_graph(&shop());
    let base = FileKey::from("shop/base.py");
    assert_eq!(graph.referrer_weight(&base), 2.0);
    assert_eq!(graph.referrer_weight(&FileKey::from("shop/order.py")), 3.0);
    assert_eq!(graph.referrer_weight(&FileKey::from("no/such.py")), 0.0);
    // In `unused(Model)`, the name is a parameter and therefore not a reference.
    assert_eq!(
        graph.dependents(&base),
        keys(&["shop/invoice.py", "shop/order.py"]).iter().collect::<Vec<_>>()
    );
    let view = graph.dependencies(&FileKey::from("web/view.py"));
    assert_eq!(view, keys(&["shop/order.py"]).iter().collect::<Vec<_>>());
}

#[test]
fn a_name_refers_to_the_definition_in_its_own_file() {
    let graph = build_graph(&index(&[
        ("a.py", "def shared(): ...\n"),
        ("b.py", "def shared(): ...\nshared()\n"),
        ("c.js", "shared();\n"),
    ]));
    assert_eq!(graph.referrer_weight(&FileKey::from("a.py")), 0.0, "language families are separate");
}

#[test]
fn a_definition_outside_types_takes_precedence_over_members() {
    let graph = build_graph(&index(&[
        ("a.py", "class A:\n    def shared(self): ...\n    def only(self): ...\n"),
        ("b.py", "def shared(): ...\n"),
        ("c.py", "def f(x): x.shared()\n"),
        ("d.py", "def g(x): x.only()\n"),
    ]));
    assert_eq!(graph.referrer_weight(&FileKey::from("a.py")), 0.25);
    assert_eq!(graph.referrer_weight(&FileKey::from("b.py")), 1.0);
}

#[test]
fn a_name_with_several_definers_counts_by_likelihood() {
    let graph = build_graph(&index(&[
        ("a.py", "def shared(): ...\n"),
        ("b.py", "def shared(): ...\n"),
        ("c.py", "import x\nx.shared()\n"),
    ]));
    assert_eq!(graph.referrer_weight(&FileKey::from("a.py")), 0.5);
    assert_eq!(graph.referrer_weight(&FileKey::from("b.py")), 0.5);
}

#[test]
fn mutual_references_make_clusters() {
    let index = shop();
    let graph = build_graph(&index);
    let (invoice, order) = (FileKey::from("shop/invoice.py"), FileKey::from("shop/order.py"));
    assert_eq!(graph.mutual_pairs(), [(&invoice, &order, 1.0)]);
    assert_eq!(graph.clusters(0.0), [vec![invoice, order]]);
    assert!(graph.clusters(1.5).is_empty());
}

#[test]
fn ranks_favor_referenced_files_and_files_near_the_seeds() {
    let graph = build_graph(&shop());
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
fn documents_rank_below_equally_unreferenced_code() {
    let index = index(&[
        ("README.md", "# used\n## lonely\n"),
        ("a.json", "{\"used\": {\"lonely\": 1}}"),
        ("lonely.py", "def lonely(): used()\n"),
        ("used.py", "def used(): ...\n"),
    ]);
    let graph = build_graph(&index);
    assert_eq!(ranked(&graph, &[]), keys(&["used.py", "lonely.py", "README.md", "a.json"]));
    assert_eq!(graph.referrer_weight(&FileKey::from("README.md")), 0.0);
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

/// Builds the map of an index, counting bytes instead of tokens.
fn map(index: &SymbolIndex, budget: usize, kept: &[MapMember], required: &[FileKey]) -> MapSelection {
    let graph = build_graph(index);
    let request = MapRequest {
        budget,
        kept,
        required,
        ranking: &graph.rank(&Seeds::default()),
        about: None,
        without: &BTreeSet::new(),
    };
    build_map(index, &graph, &request, &str::len)
}

fn map_text(map: &MapSelection) -> String {
    map.blocks.iter().map(|block| &*block.text).collect()
}

fn members(map: &MapSelection) -> Vec<MapMember> {
    map.blocks.iter().map(MapEntry::to_member).collect()
}

fn stored(path: &str) -> MapMember {
    MapMember { path: path.into(), detail: BlockDetail::default(), hash: None }
}

#[test]
fn kept_blocks_come_first_and_excluded_files_are_absent() {
    let index = shop();
    let graph = build_graph(&index);
    let kept = [stored("web/view.py")];
    let without = keys(&["shop/order.py"]).into_iter().collect();
    let ranking = graph.rank(&Seeds::default());
    let request = MapRequest {
        budget: 10_000,
        kept: &kept,
        required: &[],
        ranking: &ranking,
        about: None,
        without: &without,
    };
    let map = build_map(&index, &graph, &request, &str::len);
    assert_eq!(map.blocks[0].key, kept[0].path);
    assert_eq!(map.blocks.len(), 5);
    assert_eq!(map.total, map_text(&map).len());
}

#[test]
fn a_larger_budget_shows_more_of_each_file() {
    let index = index(&[
        (
            "lib.rs",
            "pub struct Pool { size: u8 }\npub fn acquire() -> Pool { grow() }\nfn grow() -> Pool {}\npub fn spare() {}\n",
        ),
        ("main.rs", "use crate::lib::acquire;\nfn main() { acquire(); }\n"),
    ]);
    let levels = |budget| -> Vec<(String, MapLevel)> {
        let map = map(&index, budget, &[], &[]);
        map.blocks.iter().map(|block| (block.key.as_str().to_owned(), block.detail.level)).collect()
    };
    let of_lib =
        |budget| levels(budget).into_iter().find(|(path, _)| path == "lib.rs").map(|(_, level)| level);
    assert_eq!(of_lib(2), None);
    let all: Vec<MapLevel> = (20..300).filter_map(of_lib).collect();
    assert!(all.is_sorted(), "{all:?}");
    assert!(all.contains(&MapLevel::Signatures), "{all:?}");
    assert_eq!(all.last(), Some(&MapLevel::Full));
    let text = map_text(&map(&index, 80, &[], &[]));
    assert!(text.contains("pub fn acquire() -> Pool") && !text.contains("spare"), "{text}");
}

#[test]
fn required_files_are_shown_by_name_or_reported_missing() {
    let index = shop();
    let required = keys(&["web/lonely.py", "tests/test_order.py", "LICENSE"]);
    let map = map(&index, 64, &[], &required);
    assert_eq!(map.missing, []);
    let text = map_text(&map);
    assert!(text.starts_with("web/lonely.py: unused\ntests/test_order.py: test_it\nLICENSE\n"), "{text}");
    let map = self::map(&index, 30, &[], &required);
    assert_eq!(map.missing, keys(&["tests/test_order.py"]));
    assert_eq!(map.required_tokens, text.find("LICENSE\n").unwrap() + "LICENSE\n".len());
    // A kept file whose names do not fit is missing, although its path alone would fit.
    let path = "tests/test_order.py";
    let map = self::map(&index, path.len() + 1, &[stored(path)], &keys(&[path]));
    assert_eq!(map.missing, keys(&[path]));
    assert!(map.blocks.iter().all(|block| block.key.as_str() != path), "{:?}", map.blocks);
}

#[test]
fn test_files_and_generated_files_are_shown_by_path_only() {
    let index = index(&[
        ("api_pb2.py", "def used(): ...\n"),
        ("a.py", "# @generated by a tool\ndef used_too(): ...\n"),
        ("b.py", "def mine(): ...\n"),
        ("tests/test_b.py", "def test_it(): ...\n"),
    ]);
    let mut lines: Vec<String> =
        map_text(&map(&index, 10_000, &[], &[])).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, [" def mine()", "a.py", "api_pb2.py", "b.py", "tests/test_b.py"]);
}

#[test]
fn a_block_keeps_its_level_until_its_text_changes() {
    let before = shop();
    let small = map(&before, 160, &[], &[]);
    let kept_members = members(&small);
    // Everything fits, and new files use the remaining budget.
    let new_map = map(&before, 10_000, &kept_members, &[]);
    assert_eq!(new_map.blocks[..kept_members.len()], small.blocks);
    assert!(new_map.blocks.len() > kept_members.len());
    let mut changed = before.clone();
    let key = kept_members[0].path.clone();
    let old = before.get(&key).unwrap();
    let text = "class Renamed:\n    def other(self): ...\n";
    changed
        .insert(key.clone(), Arc::new(FileSymbols::read(old.language, &key, text, &Cancel::new()).unwrap()));
    let new_map = map(&changed, 10_000, &kept_members, &[]);
    assert_eq!((&new_map.blocks[0].key, new_map.blocks[0].detail.level), (&key, MapLevel::Full));
    assert_eq!(new_map.blocks[1..kept_members.len()], small.blocks[1..]);
}

#[test]
fn stored_map_members_can_be_loaded() {
    let now = members(&map(&shop(), 200, &[], &[]));
    let json = serde_json::to_string(&now).unwrap();
    assert_eq!(serde_json::from_str::<Vec<MapMember>>(&json).unwrap(), now);
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
        let unlimited = file_list(&files, &focus, usize::MAX, &str::len);
        prop_assert_eq!(unlimited.names, distinct.len());
        let mut reversed = files.clone();
        reversed.reverse();
        prop_assert_eq!(file_list(&reversed, &focus, budget, &str::len), list);
    }

    /// Changed mentions and a new selection change ranks, but do not affect an existing map.
    #[test]
    fn changed_references_leave_an_existing_map_unchanged(
        budget in 100_usize..900,
        required in prop::sample::subsequence(vec![0, 1, 2, 3, 4, 5], 0..6),
        mentions in prop::collection::vec(prop::sample::select(vec!["Model", "Order", "Invoice", "bill", "unused", "show"]), 0..6),
    ) {
        let mut index = shop();
        let before = map(&index, budget, &[], &[]);
        let text = format!("def unused(Model): {}\n", mentions.join("(); "));
        let key = FileKey::from("web/lonely.py");
        let language = LanguageId::by_path(key.as_str(), "").unwrap();
        let symbols = FileSymbols::read(language, &key, &text, &Cancel::new()).unwrap();
        index.insert(key, Arc::new(symbols));
        let ranked = ranked(&build_graph(&index), &[]);
        let required: Vec<FileKey> = required.iter().map(|&i| ranked[i].clone()).collect();
        let new_map = map(&index, budget, &members(&before), &required);
        prop_assert_eq!(new_map.blocks.get(..before.blocks.len()), Some(&before.blocks[..]));
    }

    #[test]
    fn the_map_stays_in_its_budget(
        budget in 0_usize..600,
        kept in prop::sample::subsequence(vec![0, 1, 2, 3, 4, 5], 0..6),
        required in prop::sample::subsequence(vec![0, 1, 2, 3, 4, 5], 0..6),
    ) {
        let index = shop();
        let ranked = ranked(&build_graph(&index), &[]);
        let kept: Vec<MapMember> = kept.iter().map(|&i| stored(ranked[i].as_str())).collect();
        let required: Vec<FileKey> = required.iter().map(|&i| ranked[i].clone()).collect();
        let map = map(&index, budget, &kept, &required);
        prop_assert!(map.total <= budget);
        prop_assert_eq!(map.total, map_text(&map).len());
        let distinct: BTreeSet<_> = map.blocks.iter().map(|block| &block.key).collect();
        prop_assert_eq!(distinct.len(), map.blocks.len());
        for key in &required {
            prop_assert!(distinct.contains(key) != map.missing.contains(key));
        }
    }
}
