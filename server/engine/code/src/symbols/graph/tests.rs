//! The graph, its walks and its ranks in small invented repositories.

use std::sync::Arc;

use proptest::prelude::*;
use strata_base::cancel::Cancel;
use strata_grammars::LanguageId;

use super::walk::WalkDirection;
use super::*;
use crate::symbols::index::FileSymbols;

fn symbols(path: &str, source: &str) -> (FileKey, Arc<FileSymbols>) {
    let key = FileKey::from(path);
    let language = LanguageId::by_path(path, "").unwrap();
    let symbols = FileSymbols::read(language, &key, source, &Cancel::new()).unwrap();
    (key, Arc::new(symbols))
}

fn graph(files: &[(&str, &str)]) -> ReferenceGraph {
    let index: SymbolIndex = files.iter().map(|(path, source)| symbols(path, source)).collect();
    ReferenceGraph::build(&index, &Arc::default())
}

/// Returns the files that a file refers to, strongest first, with weights.
fn dependencies(graph: &ReferenceGraph, path: &str) -> Vec<(String, f32)> {
    let node = graph.node(graph.number(&FileKey::from(path)).unwrap()).unwrap();
    let mut edges: Vec<(String, f32)> = node
        .edges
        .iter()
        .map(|edge| (graph.key(edge.file).unwrap().as_str().to_owned(), edge.weight))
        .collect();
    edges.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    edges
}

fn owned(edges: &[(&str, f32)]) -> Vec<(String, f32)> {
    edges.iter().map(|(path, weight)| ((*path).to_owned(), *weight)).collect()
}

#[test]
fn an_import_decides_between_several_definers() {
    let graph = graph(&[
        ("a.py", "def shared(): ...\n"),
        ("b.py", "def shared(): ...\n"),
        ("c.py", "from b import shared\nshared()\n"),
        ("d.py", "shared()\n"),
    ]);
    assert_eq!(dependencies(&graph, "c.py"), owned(&[("b.py", 1.0)]));
    assert_eq!(dependencies(&graph, "d.py"), owned(&[("a.py", 0.5), ("b.py", 0.5)]));
    let found = graph.references_to("shared");
    let b = &found[1];
    assert_eq!((found.len(), b.definer.as_str()), (2, "b.py"));
    assert_eq!(b.referrers, [(FileKey::from("c.py"), 1.0), (FileKey::from("d.py"), 0.5)]);
    let definers = |from: &str| graph.definers(&FileKey::from(from), "shared");
    assert_eq!(definers("c.py"), [&FileKey::from("b.py")]);
    assert_eq!(definers("a.py"), [&FileKey::from("a.py")]);
}

#[test]
fn an_import_resolves_a_name_with_too_many_definers() {
    let many: Vec<(String, String)> =
        (0..40).map(|n| (format!("m{n}.py"), "class Command: ...\n".to_owned())).collect();
    let mut files: Vec<(&str, &str)> =
        many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.extend([("x.py", "from m7 import Command\nCommand()\n"), ("y.py", "Command()\n")]);
    let graph = graph(&files);
    assert_eq!(dependencies(&graph, "x.py"), owned(&[("m7.py", 1.0)]));
    assert_eq!(dependencies(&graph, "y.py"), []);
}

#[test]
fn names_are_followed_through_reexports_of_packages() {
    let graph = graph(&[
        ("shop/__init__.py", "from .order import Order\nfrom .stock import *\n"),
        ("shop/order.py", "class Order: ...\n"),
        ("shop/stock.py", "def refill(): ...\n"),
        ("other.py", "class Order: ...\ndef refill(): ...\n"),
        ("web.py", "from shop import Order, refill\nOrder(); refill()\n"),
    ]);
    assert_eq!(
        dependencies(&graph, "web.py"),
        owned(&[("shop/order.py", 1.0), ("shop/stock.py", 1.0), ("shop/__init__.py", 0.25)])
    );
}

#[test]
fn an_unused_import_is_a_weak_reference() {
    let graph = graph(&[("a.py", "import b\n"), ("b.py", "def unused(): ...\n")]);
    assert_eq!(dependencies(&graph, "a.py"), owned(&[("b.py", 0.25)]));
    assert_eq!(graph.imports(&FileKey::from("a.py")), [&FileKey::from("b.py")]);
}

#[test]
fn files_of_a_go_package_refer_to_each_other_first() {
    let graph = graph(&[
        ("a/one.go", "package a\nfunc Area() int { return 1 }\n"),
        ("b/one.go", "package b\nfunc Area() int { return 2 }\n"),
        ("b/two.go", "package b\nfunc Use() int { return Area() }\n"),
    ]);
    assert_eq!(dependencies(&graph, "b/two.go"), owned(&[("b/one.go", 1.0)]));
}

#[test]
fn module_declarations_of_rust_are_references() {
    let graph = graph(&[
        ("src/lib.rs", "mod parse;\npub use parse::Tree;\n"),
        ("src/parse.rs", "pub struct Tree;\npub fn leaves() {}\n"),
        ("src/show.rs", "use crate::Tree;\nfn show(tree: Tree) {}\n"),
    ]);
    assert_eq!(dependencies(&graph, "src/lib.rs"), owned(&[("src/parse.rs", 1.0)]));
    assert_eq!(dependencies(&graph, "src/show.rs"), owned(&[("src/parse.rs", 1.0), ("src/lib.rs", 0.25)]));
}

#[test]
fn identifiers_lead_to_their_definers_in_any_spelling() {
    let graph = graph(&[
        ("a.py", "def max_redirects(): ...\n"),
        ("b.py", "def other_thing(): ...\n"),
        ("c.py", "def third_thing(): ...\n"),
    ]);
    for name in ["max_redirects", "maxRedirects", "MaxRedirects"] {
        let identifiers = [name.to_owned()];
        let ranking = graph.rank(&Seeds { identifiers: &identifiers, ..Seeds::default() });
        assert_eq!(ranking.files[0].as_str(), "a.py", "{name}");
    }
}

/// Random repositories: files that define one name each, mention some, and import some.
fn repository() -> impl Strategy<Value = Vec<(String, String)>> {
    let file =
        (prop::collection::vec(0_usize..12, 0..5), prop::collection::vec(0_usize..12, 0..3), 0_usize..4);
    prop::collection::vec(file, 1..12).prop_map(|files| {
        let text = |(number, (mentions, imports, directory)): (usize, (Vec<usize>, Vec<usize>, usize))| {
            let imports: String = imports.iter().map(|import| format!("import file{import}\n")).collect();
            let mentions: String = mentions.iter().map(|name| format!("name{name}()\n")).collect();
            let path = if directory == 0 {
                format!("file{number}.py")
            } else {
                format!("d{directory}/file{number}.py")
            };
            (path, format!("{imports}def name{}(): ...\n{mentions}", number % 7))
        };
        files.into_iter().enumerate().map(text).collect()
    })
}

fn indexed(files: &[(String, String)]) -> SymbolIndex {
    files.iter().map(|(path, source)| symbols(path, source)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_graph_does_not_depend_on_the_order_of_files(files in repository()) {
        let mut reversed = files.clone();
        reversed.reverse();
        let (forward_graph, reversed_graph) = (ReferenceGraph::build(&indexed(&files), &Arc::default()), ReferenceGraph::build(&indexed(&reversed), &Arc::default()));
        for (path, _) in &files {
            prop_assert_eq!(dependencies(&forward_graph, path), dependencies(&reversed_graph, path));
        }
        prop_assert_eq!(forward_graph.rank(&Seeds::default()), reversed_graph.rank(&Seeds::default()));
    }

    #[test]
    fn an_updated_graph_equals_a_rebuilt_one(
        files in repository(),
        at in 0_usize..12,
        mentions in prop::collection::vec(0_usize..12, 0..4),
        more in prop::sample::select(vec!["", "def new_one(): ...\n", "import file3\n"]),
    ) {
        let at = at % files.len();
        let before = ReferenceGraph::build(&indexed(&files), &Arc::default());
        let mut edited = files.clone();
        let mentions: String = mentions.iter().map(|name| format!("name{name}()\n")).collect();
        edited[at].1 = format!("{}{more}{mentions}", edited[at].1);
        let index = indexed(&edited);
        let (updated, built) = (before.updated(&index, &[FileKey::from(edited[at].0.as_str())]), ReferenceGraph::build(&index, &Arc::default()));
        for (path, _) in &files {
            prop_assert_eq!(dependencies(&updated, path), dependencies(&built, path));
            prop_assert_eq!(updated.referrer_weight(&FileKey::from(path.as_str())), built.referrer_weight(&FileKey::from(path.as_str())));
        }
    }

    #[test]
    fn dependencies_and_dependents_agree(files in repository()) {
        let graph = ReferenceGraph::build(&indexed(&files), &Arc::default());
        for from in graph.files() {
            for to in graph.dependencies(from) {
                prop_assert!(graph.dependents(to).contains(&from));
            }
        }
        let forward: usize = graph.files().iter().map(|key| graph.dependencies(key).len()).sum();
        let back: usize = graph.files().iter().map(|key| graph.dependents(key).len()).sum();
        prop_assert_eq!(forward, back);
    }

    #[test]
    fn the_ranks_of_a_walk_add_up_to_one(files in repository(), start in prop::collection::vec(0.0_f64..5.0, 0..12)) {
        let graph = ReferenceGraph::build(&indexed(&files), &Arc::default());
        for direction in [WalkDirection::Forward, WalkDirection::Either] {
            let ranks = graph.random_walk(&start, direction);
            prop_assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(ranks.iter().all(|rank| *rank >= 0.0));
        }
    }

    #[test]
    fn a_larger_restart_weight_never_lowers_a_rank(files in repository(), at in 0_usize..12, more in 0.1_f64..3.0) {
        let graph = ReferenceGraph::build(&indexed(&files), &Arc::default());
        let at = at % files.len();
        let mut start = vec![1.0; files.len()];
        for direction in [WalkDirection::Forward, WalkDirection::Either] {
            start[at] = 1.0;
            let before = graph.random_walk(&start, direction)[at];
            start[at] += more;
            // The tolerance covers the change at which the walk stops.
            prop_assert!(graph.random_walk(&start, direction)[at] >= before - 1e-3);
        }
    }
}
