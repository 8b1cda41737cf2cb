"""The baseline: BM25 with its usual constants (k1 = 1.2, b = 0.75), over windows of 50 lines or over functions."""

import collections
import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from excerpts import HEADING, ShownLines
from repositories import Files

WINDOW = 50
# Longer functions are divided.
LONGEST_FUNCTION = 120
# How often each word of its path counts as a word of a passage.
PATH_WEIGHT = 2
# Passages that do not fit before a budget counts as full.
MISSES = 40

STOP_WORDS = frozenset(
    "the a an of to in for and or is are with on fix add use when not from by as it be this that def self return if else let pub fn"
    " const import what how why where does do which between into through".split()
)


class Passage(NamedTuple):
    path: str
    first: int
    last: int
    text: str


def words(text: str) -> list[str]:
    """Words in lower case without a plural's `s`. An identifier of several words counts as each of them and as a whole."""
    found = []
    for word in re.findall(r"[A-Za-z][A-Za-z0-9]*", text):
        parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", word)
        for part in [*parts, word] if len(parts) > 1 else parts:
            part = part.lower()
            if len(part) > 2 and part not in STOP_WORDS:
                found.append(part[:-1] if part.endswith("s") and len(part) > 4 else part)
    return found


# Most passages are the same at the next commit.
@functools.lru_cache(100_000)
def word_counts(text: str) -> tuple[collections.Counter, int]:
    """How often each word occurs in a text, and the number of words."""
    counts = collections.Counter(words(text))
    return counts, sum(counts.values())


class Bm25:
    def __init__(self, passages: Iterable[Passage]):
        self.passages = list(passages)
        self.counts, self.lengths = zip(*(word_counts(passage.text) for passage in self.passages)) if self.passages else ((), ())
        self.path_words = {path: frozenset(words(path)) for path in {passage.path for passage in self.passages}}
        self.average = sum(self.lengths) / max(1, len(self.passages))
        self.occurrences = functools.cache(self._occurrences)

    def _occurrences(self, word: str) -> list[tuple[int, int]]:
        """The indices of the passages that contain a word, and how often each does."""
        named = {path for path, path_words in self.path_words.items() if word in path_words}
        found = []
        for index, counts in enumerate(self.counts):
            count = counts.get(word, 0) + (PATH_WEIGHT if named and self.passages[index].path in named else 0)
            if count:
                found.append((index, count))
        return found

    def ranking(self, query: str, accepts: Callable[[str], bool] = lambda path: True, has_rest: bool = False) -> list[Passage]:
        """The passages with a word of the query, best first, of the files whose path `accepts` accepts; then the rest, if `has_rest`."""
        scores: dict[int, float] = collections.defaultdict(float)
        for word in dict.fromkeys(words(query)):
            occurrences = self.occurrences(word)
            rarity = math.log(1 + (len(self.passages) - len(occurrences) + 0.5) / (len(occurrences) + 0.5))
            for index, count in occurrences:
                scores[index] += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * self.lengths[index] / self.average))
        indices = range(len(self.passages)) if has_rest else scores
        best_first = sorted(indices, key=lambda index: (-scores[index], index))
        return [self.passages[index] for index in best_first if accepts(self.passages[index].path)]


def divided(files: Files, path: str, first: int, last: int, size: int) -> Iterable[Passage]:
    lines = files.lines(path)
    for start in range(first, last + 1, size):
        end = min(last, start + size - 1)
        yield Passage(path, start, end, "\n".join(lines[start - 1 : end]))


def windows(files: Files, paths: Iterable[str]) -> Iterable[Passage]:
    for path in paths:
        yield from divided(files, path, 1, len(files.lines(path)), WINDOW)


def functions(files: Files, paths: Iterable[str], has_blank_lines: bool = False) -> Iterable[Passage]:
    """Whole functions of Python files, and windows of the lines between them and of other files. Blank lines before a function belong to
    it if `has_blank_lines`, and otherwise to no passage."""
    for path in paths:
        lines, line = files.lines(path), 1
        parts = []
        for definition in sorted(files.definitions(path), key=lambda definition: definition.first):
            if definition.kind != "class" and definition.first >= line:
                is_blank = not "".join(lines[line - 1 : definition.first - 1]).strip()
                first = line if is_blank and has_blank_lines else definition.first
                parts.append(divided(files, path, line, first - 1, WINDOW))
                parts.append(divided(files, path, first, definition.last, LONGEST_FUNCTION))
                line = definition.last + 1
        parts.append(divided(files, path, line, len(lines), WINDOW))
        yield from (passage for passage in itertools.chain(*parts) if has_blank_lines or passage.text.strip())


def packed(ranking: Iterable[Passage], budget: float, characters_per_token: float) -> ShownLines:
    """The first passages that fit into a budget. As in Strata's prompts, adjacent passages share a heading."""
    shown, used, edges, misses = ShownLines(), 0.0, set(), 0
    for path, first, last, text in ranking:
        headings = 1 - ((path, first - 1) in edges) - ((path, last + 1) in edges)
        tokens = (len(text) + 1) / characters_per_token + HEADING * headings
        if used + tokens > budget:
            misses += 1
            if misses > MISSES:
                break
            continue
        used += tokens
        shown.add(path, first, last)
        edges |= {(path, first), (path, last)}
    return shown
