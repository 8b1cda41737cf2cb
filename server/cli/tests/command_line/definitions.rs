//! Tests which definitions outlines show, and that each can be read by the name shown.

use crate::repo::Repo;

/// A file, and the outline expected of it: the lines after the first.
struct Outlined {
    path: &'static str,
    text: &'static str,
    outline: &'static str,
}

fn outlined(path: &'static str, text: &'static str, outline: &'static str) -> Outlined {
    Outlined { path, text, outline }
}

#[test]
fn outlines_show_what_is_defined() {
    let cases = [
        // Every name of a declaration.
        outlined(
            "a.c",
            "int a = 1, bb = 2;\nint (*open)(int), (*shut)(int);\n",
            "1 int a\n1 int bb\n2 int (*open)(int)\n2 int (*shut)(int)\n",
        ),
        outlined(
            "a.go",
            "package a\n\ntype P struct {\n\tsync.Mutex\n\t*Base\n\tX, Y int\n}\n",
            "3-7 type P struct\n 4 sync.Mutex\n 5 *Base\n 6 X int\n 6 Y int\n",
        ),
        outlined(
            "a.js",
            "const { one, two: other } = load();\n",
            "1 const { one }\n1 const { two: other }\n",
        ),
        outlined("a.rb", "LIMIT ||= 3\n$all, b = 1\n", "1 LIMIT\n"),
        outlined(
            "a.ml",
            "let rec go n = go n\nand back n = n\nlet ( + ) a b = a\n",
            "1 let go n\n2 let back n\n3 let (+) a b\n",
        ),
        // Functions of objects, and no locals of callbacks.
        outlined(
            "b.js",
            "r.get(\"/\", (q) => {\n  const user = 1;\n});\nmodule.exports = { list: () => 1 };\n",
            "4 module.exports\n 4 list: ()\n",
        ),
        outlined("b.go", "package b\n\nvar run = func() { x := 1; _ = x }\n", "3 var run\n"),
        // Local functions of a program without classes.
        outlined(
            "a.cs",
            "int Twice(int by) => by * 2;\nSystem.Console.WriteLine(Twice(2));\n",
            "1 int Twice(int by)\n",
        ),
        // Line ends of old Macs.
        outlined("a.py", "# One.\rdef f():\r    pass\r\rdef g():\r    pass\r", "2-3 def f()\n5-6 def g()\n"),
        // Sections end where the next one begins.
        outlined(
            "a.md",
            "One\n===\n\nText.\n\nInner\n-----\n\nTwo\n===\n",
            "1-8 One\n 6-8 Inner\n9-10 Two\n",
        ),
        // Macros that the grammar would take for syntax errors.
        outlined(
            "a.cpp",
            "LIB_BEGIN\nclass R { void a(); };\nLIB_END\nclass L { void b(); };\nclass S {\n  Q_OBJECT\npublic:\n  void c();\n};\nclass X_API E { void d(); };\n",
            "2 class R\n 2 void a()\n4 class L\n 4 void b()\n5-9 class S\n 8 public void c()\n10 class X_API E\n 10 void d()\n",
        ),
        outlined(
            "a.kt",
            "context(tx: Tx)\nfun save() {}\n\nclass Box(inner: Set) : Set by inner {\n  companion object { fun of() = 1 }\n  fun add() {}\n}\n",
            "2 fun save()\n4-7 class Box(inner: Set) : Set by inner\n 5 companion object\n  5 fun of()\n 6 fun add()\n",
        ),
        outlined(
            "a.rs",
            "cfg_if! {\n    if #[cfg(unix)] {\n        pub fn open() {}\n    } else {\n        pub fn open() {}\n    }\n}\n",
            "3 pub fn open()\n5 pub fn open()\n",
        ),
    ];
    let repo = Repo::new(&cases.each_ref().map(|case| (case.path, case.text)));
    for case in cases {
        let run = repo.strata(&["outline", case.path]);
        let (_, outline) = run.out.split_once('\n').unwrap_or_default();
        assert_eq!(outline, case.outline, "{}: {}", case.path, run.err);
    }
}

#[test]
fn a_definition_is_read_by_its_type_and_name() {
    let cases = [
        // Members that are defined outside their type.
        (
            "a.go",
            "package a\n\nfunc (a *A) Close() {}\n\nfunc (b *B[T]) Close() { b.n++ }\n",
            "B.Close",
            "func (b *B[T]) Close() { b.n++ }\n",
        ),
        (
            "a.lua",
            "function A.open() end\nfunction B.open() return 1 end\nfunction B:shut() end\n",
            "B.open",
            "function B.open() return 1 end\n",
        ),
        ("b.lua", "function A.open() end\nfunction B:shut() end\n", "B.shut", "function B:shut() end\n"),
        (
            "a.cpp",
            "class Till { void pay(int); };\nvoid Till::pay(int a) {\n  a++;\n}\n",
            "Till.pay~2",
            "void Till::pay(int a) {\n  a++;\n}\n",
        ),
        (
            "b.cpp",
            "template <class T>\nvoid Till<T>::pay(int a) {}\n",
            "Till::pay",
            "template <class T>\nvoid Till<T>::pay(int a) {}\n",
        ),
        ("a.kt", "fun A.open() = 1\nfun B<Int>.open() = 2\n", "B.open", "fun B<Int>.open() = 2\n"),
        (
            "b.kt",
            "class A {\n  fun `takes 1.5 coins`() {}\n}\n",
            "A.`takes 1.5 coins`",
            "  fun `takes 1.5 coins`() {}\n",
        ),
        (
            "a.swift",
            "extension A { func open() {} }\nextension B {\n  func open() {}\n}\n",
            "B.open",
            "  func open() {}\n",
        ),
        (
            "a.rs",
            "impl fmt::Display for Till<'_> {\n    fn fmt(&self) {}\n}\n",
            "Till::fmt",
            "    fn fmt(&self) {}\n",
        ),
        (
            "a.cs",
            "partial class A { void F() {} }\npartial class A { void G() {} }\n",
            "A.G",
            "partial class A { void G() {} }\n",
        ),
        ("a.rb", "class A\n  def f = 1\nend\nclass A\n  def g = 2\nend\n", "A#g", "  def g = 2\n"),
        ("b.rb", "class A::B\n  def g = 2\nend\n", "A::B.g", "  def g = 2\n"),
        (
            "a.js",
            "A.prototype.f = function () {};\nB.prototype.f = function () { return 1; };\n",
            "B.f",
            "B.prototype.f = function () { return 1; };\n",
        ),
        // Names with separators, and overloads by number.
        ("a.sh", "log::info() {\n  echo\n}\n", "log::info", "log::info() {\n  echo\n}\n"),
        ("a.md", "# C# and F#\n\none\n\n# Other\n", "C# and F#", "# C# and F#\n\none\n\n"),
        ("a.ts", "function f(): void;\nfunction f(g = 1) {}\n", "f~2", "function f(g = 1) {}\n"),
        // All clauses.
        (
            "a.hs",
            "bake :: Int -> Int\nbake 0 = 1\nbake n = n\n\nrest = 3\n",
            "bake",
            "bake :: Int -> Int\nbake 0 = 1\nbake n = n\n",
        ),
        (
            "a.ex",
            "defmodule A do\n  @doc \"Adds.\"\n  def f(0), do: 1\n\n  def f(n), do: n\n  def g, do: 1\nend\n",
            "A.f",
            "  @doc \"Adds.\"\n  def f(0), do: 1\n\n  def f(n), do: n\n",
        ),
        // Decorators of several lines, and nothing else of their lines.
        (
            "b.ts",
            "class A {\n  @Input() b = 1;\n  @Listen('c', [\n    'd',\n  ])\n  e() {}\n}\n",
            "A.e",
            "  @Listen('c', [\n    'd',\n  ])\n  e() {}\n",
        ),
        (
            "a.py",
            "a = 1\n@cached(\n    size=3,\n)\ndef f():\n    pass\n",
            "f",
            "@cached(\n    size=3,\n)\ndef f():\n    pass\n",
        ),
    ];
    let repo = Repo::new(&cases.map(|(path, text, ..)| (path, text)));
    for (path, _, name, expected) in cases {
        let run = repo.strata(&["read", &format!("{path}#{name}")]);
        assert_eq!(run.out, expected, "{path}#{name}: {}", run.err);
    }
}

#[test]
fn a_long_head_keeps_its_name() {
    let parameters: Vec<String> = (0..30).map(|number| format!("typename Parameter{number}")).collect();
    let repo = Repo::new(&[]);
    repo.write("a.hpp", format!("template <{}>\nclass Till : Box {{}};\n", parameters.join(", ")));
    let outline = repo.strata(&["outline", "a.hpp"]).out;
    assert!(outline.contains("… class Till : Box\n"), "{outline}");
}

#[test]
fn a_member_in_another_file_than_its_type_is_found() {
    let repo = Repo::new(&[
        ("types.go", "package a\n\ntype A struct{}\n\ntype B struct{}\n"),
        ("close.go", "package a\n\nfunc (a *A) Close() {}\n\nfunc (b *B) Close() {}\n"),
        ("till.rs", "pub struct Till;\n"),
        ("pay.rs", "impl crate::Till { fn pay(&self) {} }\n"),
        ("log.sh", "log::info() {\n  echo\n}\nlog::info\n"),
    ]);
    for (name, definition) in [
        ("B.Close", "close.go#L5: func (b *B) Close()"),
        ("Till::pay", "pay.rs#L1: fn pay(&self)"),
        ("log::info", "log.sh#L1-3: log::info()"),
    ] {
        let symbols = repo.strata(&["symbols", name]).out;
        assert!(symbols.starts_with(definition) && symbols.lines().count() == 1, "{name}: {symbols}");
        let references = repo.strata(&["references", name]).out;
        let file = definition.split('#').next().unwrap_or_default();
        assert!(references.contains(file), "{name}: {references}");
    }
    assert_eq!(repo.strata(&["read", "types.go#B.Close"]).out, "func (b *B) Close() {}\n");
    assert!(repo.strata(&["read", "types.go#B.Open"]).refusal().contains("search for the name in all files"));
    assert!(repo.strata(&["read", "till.rs#B.Close"]).refusal().contains("search for the name in all files"));
    repo.write("windows.go", "package a\n\nfunc (b *B) Close() {}\n");
    let several = repo.strata(&["read", "types.go#B.Close"]);
    assert!(several.refusal().contains("`close.go#B.Close`, `windows.go#B.Close`"));
}
