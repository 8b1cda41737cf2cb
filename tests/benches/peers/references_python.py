"""Says which files of a Python tree refer to each definition, by jedi.

Called by the bench `references`: `PYTHON references_python.py DIR`. Prints one JSON object: `definitions`, each with
`name`, `container`, `kind`, `path`, `line`, and `files`, those that mention it by jedi's account (its own file
included); and `unknown`, for each name the files in which jedi cannot say what some mention of it means.

A definition is what a class or a module holds: functions, classes, variables, and what methods set on `self`. A name is followed through imports to
where it is defined; one that leads out of the tree, to a parameter, or to a local variable counts for no definition.
"""

import ast
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import jedi


def definitions_of(path, root):
    """What a module and the classes in it define, by line and name."""
    found = {}
    fields = {}

    def add(node, name, kind, container):
        found.setdefault((node.lineno, name), {
            "name": name, "container": container, "kind": kind,
            "path": str(path.relative_to(root)), "line": node.lineno,
        })

    def add_fields(method, container):
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
                if node.value.id == "self":
                    field = fields.setdefault((container, node.attr), {
                        "name": node.attr, "container": container, "kind": "field",
                        "path": str(path.relative_to(root)), "line": node.lineno,
                    })
                    found.setdefault((node.lineno, node.attr), field)

    def visit(body, container):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                add(node, node.name, "method" if container else "function", container)
                if container:
                    add_fields(node, container)
            elif isinstance(node, ast.ClassDef):
                add(node, node.name, "class", container)
                visit(node.body, node.name)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        add(target, target.id, "variable", container)
            else:
                for part in ("body", "orelse", "finalbody"):
                    visit(getattr(node, part, []), container)
                for handler in getattr(node, "handlers", []):
                    visit(handler.body, container)

    try:
        visit(ast.parse(path.read_text()).body, None)
    except (SyntaxError, UnicodeDecodeError):
        pass
    return found


def mentions_of(path, root, names):
    """Pairs of a name and the place that it means, for every mention of one of `names`; no place where jedi knows none."""
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return []
    sources = [str(root / name) for name in ("src", "lib") if (root / name).is_dir()]
    script = jedi.Script(text, path=path, project=jedi.Project(root, added_sys_path=sources))
    found = []
    for name in script.get_names(all_scopes=True, definitions=True, references=True):
        if name.name not in names:
            continue
        try:
            meant = script.goto(name.line, name.column, follow_imports=True)
        except Exception:  # jedi fails in many ways on code that it does not expect
            meant = []
        if not meant:
            found.append((name.name, None))
        for one in meant:
            if one.module_path is not None and one.line is not None:
                found.append((name.name, (str(one.module_path), one.line, one.name)))
    return found


def main():
    root = Path(sys.argv[1]).resolve()
    hidden = lambda path: any(part.startswith(".") for part in path.relative_to(root).parts)
    files = sorted(path for path in root.rglob("*.py") if not hidden(path))
    definitions = {}
    for path in files:
        for (line, name), definition in definitions_of(path, root).items():
            definition.setdefault("files", {definition["path"]})
            definitions[(str(path), line, name)] = definition
    names = {name for _, _, name in definitions}
    unknown = {}
    with ProcessPoolExecutor() as pool:
        runs = [(path, pool.submit(mentions_of, path, root, names)) for path in files]
        for path, run in runs:
            own = str(path.relative_to(root))
            for name, place in run.result():
                if place is None:
                    unknown.setdefault(name, set()).add(own)
                elif place in definitions and place[2] == name:
                    definitions[place]["files"].add(own)
    each_once = list({id(definition): definition for definition in definitions.values()}.values())
    print(json.dumps({"definitions": each_once, "unknown": unknown}, default=sorted))


if __name__ == "__main__":
    main()
