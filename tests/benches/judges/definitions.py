"""Definitions of Python files, by Python's own parser, so that a judge does not depend on what it judges."""

import ast
import functools
from typing import NamedTuple


class Definition(NamedTuple):
    path: str
    # Qualified within the file: `Session.get`.
    name: str
    # class, function or method
    kind: str
    first: int
    last: int


# Repositories are judged at many commits, between which few files differ.
@functools.lru_cache(20_000)
def definitions(path: str, text: str) -> tuple[Definition, ...]:
    """Functions, methods and classes with their decorators. A file that does not parse has none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found = []

    def visit(node: ast.AST, container: str, container_kind: str | None):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([child.lineno] + [decorator.lineno for decorator in child.decorator_list])
                kind = "class" if isinstance(child, ast.ClassDef) else "method" if container_kind == "class" else "function"
                name = f"{container}.{child.name}" if container else child.name
                found.append(Definition(path, name, kind, first, child.end_lineno))
                visit(child, name, "class" if kind == "class" else "function")
            elif isinstance(child, (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.ExceptHandler)):
                visit(child, container, container_kind)

    visit(tree, "", None)
    return tuple(found)
