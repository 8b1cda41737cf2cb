"""Excerpts, and the lines of a repository that they show."""

import collections
from collections.abc import Iterable
from typing import NamedTuple

# Tokens of an excerpt's heading and fence in Strata's prompts.
HEADING = 48


class Excerpt(NamedTuple):
    path: str
    first: int
    last: int
    # With the heading.
    tokens: int


class ShownLines:
    def __init__(self, excerpts: Iterable[Excerpt] = ()):
        self.lines: dict[str, set[int]] = collections.defaultdict(set)
        for excerpt in excerpts:
            self.add(excerpt.path, excerpt.first, excerpt.last)

    def add(self, path: str, first: int, last: int):
        self.lines[path].update(range(first, last + 1))

    def of(self, path: str) -> set[int]:
        return self.lines.get(path, set())

    def __len__(self):
        return sum(map(len, self.lines.values()))
