"""The places in a repository that an answer in prose cites.

An answer cites lines next to a path (`a/b.py` (lines 3-9), lines 3-9 in `a/b.py`, a/b.py:3-9, ```3:9:a/b.py). Lines without a path count
if exactly one of the cited files contains, in these lines, the most names that the same sentence quotes. An answer also cites a function
or class by its name, if exactly one definition can be meant: in the repository, or in the cited files.
"""

import collections
import re
from typing import NamedTuple

from repositories import Files

# A longer range cites a file, not a place.
LONGEST_RANGE = 150
# Lines of a definition that its name cites: the head of a class, or a function up to a length.
CLASS_HEAD, LONGEST_FUNCTION = 15, 150
# Characters on each side of a citation that belong to it at most.
REACH = 220
# Lines around a range that may contain the names that are quoted with it.
TOLERANCE = 2

PATH = r"[\w./\-]*[\w\-]+\.(?:py|pyi|rst|toml|cfg|md|html|txt|js|c|pyx|json|ini|sql|yml|yaml)\b"
RANGE = r"(\d{1,5})(?:\s*(?:-|–|—|to|through)\s*(\d{1,5}))?"
MORE_RANGES = r"((?:\s*(?:,|and|,\s*and|&)\s*\d{1,5}(?:\s*[-–]\s*\d{1,5})?(?![\w.]))*)"
LINES = rf"(?:[Ll]ines?|L)\s*{RANGE}{MORE_RANGES}"
BETWEEN = r"(?:[\s,:(;]|at|on|around|specifically|see|from|starting|within|method|function|class|defined|`[\w.()]+`){0,6}"
LINES_AFTER_PATH = re.compile(rf"`?({PATH})`?\)?{BETWEEN}\s*{LINES}")
LINES_BEFORE_PATH = re.compile(rf"{LINES}\)?\s*(?:in|of|inside|within|from|at)\s+(?:the\s+)?`?({PATH})")
PATH_COLON_LINES = re.compile(rf"`?({PATH})`?:(\d{{1,5}})(?:-(\d{{1,5}}))?")
FENCE = re.compile(r"```(\d+):(\d+):(\S+)")
LINES_ALONE = re.compile(LINES)
QUOTED = re.compile(r"`([^`\n]{2,120})`")
NAME = re.compile(r"^(?:self\.|cls\.)?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\)?)?$")
UNQUOTED_NAME = re.compile(r"\b(?:[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[A-Z]{2,}[a-z]\w+|_*[a-z]\w*_\w+)(?:\.[A-Za-z_]\w*)*\b")
KEYWORDS = frozenset("self None True False cls def class return for not the and with import from".split())
AUXILIARY = re.compile(
    r"(^|/)(tests?|testing|testdata|testutils|__tests__|bench(es|marks?)?|examples?|docs?|fixtures)(/|$)|(^|/)(test_|conftest)|_tests?\.py$"
)


class Place(NamedTuple):
    path: str
    lines: frozenset[int]


class Citation(NamedTuple):
    path: str
    first: int
    last: int
    # The cited definition, or None if lines are cited.
    name: str | None


def is_auxiliary(path: str) -> bool:
    """Whether a file is a test, a benchmark, an example or a document."""
    return bool(AUXILIARY.search(path))


def ranges(first: str, last: str | None, more: str | None = None) -> list[tuple[int, int]]:
    found = [(first, last), *re.findall(r"(\d{1,5})(?:\s*[-–]\s*(\d{1,5}))?", more or "")]
    numbers = [(int(first), int(last or first)) for first, last in found]
    return [(first, last) for first, last in numbers if 0 < first <= last]


def sentence(text: str, start: int, end: int) -> str:
    """The sentence or list item around a citation."""
    first = max(text.rfind("\n", 0, start), text.rfind(". ", 0, start), start - REACH) + 1
    ends = [index for index in (text.find("\n", end), text.find(". ", end)) if index >= 0]
    return text[max(0, first) : min([*ends, end + REACH])]


def identifiers(text: str) -> set[str]:
    """The identifiers that a text quotes or that are recognizable by their form."""
    found = {word for quoted in QUOTED.findall(text) for word in re.findall(r"[A-Za-z_]\w{2,}", quoted)}
    found.update(UNQUOTED_NAME.findall(text))
    return {word for word in found if word not in KEYWORDS and not word.endswith(".py")}


class Citations:
    """Resolves the citations of answers about one commit of a repository."""

    def __init__(self, files: Files):
        self.files = files
        # Definitions by each end of their qualified name: `Session.get` also by `get`.
        self.by_name = collections.defaultdict(list)
        for path in files.paths:
            for definition in files.definitions(path):
                parts = definition.name.split(".")
                for start in range(len(parts)):
                    self.by_name[".".join(parts[start:])].append(definition)

    def places(self, answer: str) -> list[Place]:
        mentions = self._mentions(answer)
        cited = self._cited_lines(answer, mentions)
        files = {found[0] for found in mentions.values() if len(found) == 1} | {citation.path for citation in cited}
        return self._merged(cited + self._cited_names(answer, files))

    def _mentions(self, answer: str) -> dict[str, list[str]]:
        """The paths in an answer, each with the files that it can mean. `core.py` means the `a/core.py` that is spelled out elsewhere."""
        mentions = {path: self.files.meant_by(path) for path in dict.fromkeys(re.findall(PATH, answer))}
        unambiguous = {found[0] for found in mentions.values() if len(found) == 1}
        for mention, found in mentions.items():
            spelled_out = [path for path in found if path in unambiguous]
            if len(found) > 1 and len(spelled_out) == 1:
                mentions[mention] = spelled_out
        return mentions

    def _quoted_there(self, path: str, first: int, last: int, names: set[str]) -> int:
        """How many of the names occur in some lines."""
        text = "\n".join(self.files.lines(path)[max(0, first - 1 - TOLERANCE) : last + TOLERANCE])
        return sum(bool(re.search(rf"(?<!\w){re.escape(name.split('.')[-1])}(?!\w)", text)) for name in names)

    def _contains(self, path: str, last: int) -> bool:
        return last <= len(self.files.lines(path)) + 1

    def _cited_lines(self, answer: str, mentions: dict[str, list[str]]) -> list[Citation]:
        found, taken = [], []

        def is_taken(match: re.Match) -> bool:
            return any(start < match.end() and match.start() < end for start, end in taken)

        def take(match: re.Match, paths: list[str], numbers: list[tuple[int, int]]):
            taken.append(match.span())
            names = identifiers(sentence(answer, *match.span()))
            for first, last in numbers:
                possible = [path for path in paths if self._contains(path, last)]
                if len(possible) > 1:
                    possible = [path for path in possible if self._quoted_there(path, first, last, names)]
                if len(possible) == 1:
                    found.append(Citation(possible[0], first, last, None))

        for match in FENCE.finditer(answer):
            take(match, self.files.meant_by(match[3]), [(int(match[1]), int(match[2]))])
        for match in PATH_COLON_LINES.finditer(answer):
            if not is_taken(match):
                take(match, mentions.get(match[1]) or self.files.meant_by(match[1]), ranges(match[2], match[3]))
        for match in LINES_BEFORE_PATH.finditer(answer):
            if not is_taken(match):
                take(match, mentions.get(match[4], []), ranges(match[1], match[2], match[3]))
        for match in LINES_AFTER_PATH.finditer(answer):
            if not is_taken(match):
                take(match, mentions.get(match[1], []), ranges(match[2], match[3], match[4]))
        for match in LINES_ALONE.finditer(answer):
            if not is_taken(match):
                found += self._lines_without_path(answer, match, mentions)
        return found

    def _lines_without_path(self, answer: str, match: re.Match, mentions: dict[str, list[str]]) -> list[Citation]:
        found = []
        names = identifiers(sentence(answer, *match.span()))
        previous = re.findall(PATH, answer[: match.start()])
        nearest = mentions.get(previous[-1], []) if previous else []
        candidates = {path for paths in mentions.values() for path in paths}
        for first, last in ranges(match[1], match[2], match[3]):
            quoted = {path: self._quoted_there(path, first, last, names) for path in candidates if self._contains(path, last)}
            most = max(quoted.values(), default=0)
            best = [path for path, count in quoted.items() if count == most]
            if len(best) > 1 and len(nearest) == 1 and nearest[0] in best:
                best = nearest
            if most and len(best) == 1:
                found.append(Citation(best[0], first, last, None))
        return found

    def _cited_names(self, answer: str, files: set[str]) -> list[Citation]:
        matches = [NAME.match(text.strip()) for text in QUOTED.findall(answer) or UNQUOTED_NAME.findall(answer)]
        names = dict.fromkeys(match[1] for match in matches if match)
        found, near = [], set(files)
        # Functions, classes and qualified names come first, because they show in which files methods can be meant by their bare names.
        for bare_methods in (False, True):
            cited = [citation for name in names if (citation := self._cited_name(name, near, bare_methods))]
            found += cited
            near |= {citation.path for citation in cited}
        return found

    def _cited_name(self, name: str, near: set[str], bare_methods: bool) -> Citation | None:
        candidates = self.by_name.get(name, [])
        is_plain = "." not in name
        if not candidates or is_plain and (len(name) < 4 or name.startswith("__")):
            return None
        is_bare_method = is_plain and all("." in definition.name for definition in candidates)
        if is_bare_method != bare_methods:
            return None
        if len(candidates) > 1 or is_bare_method:
            candidates = [definition for definition in candidates if definition.path in near]
        # Overloads are one place.
        if len({(definition.path, definition.name) for definition in candidates}) != 1:
            return None
        definition = candidates[-1]
        if is_plain and definition.path not in near and (is_auxiliary(definition.path) or "." in definition.name):
            return None
        longest = CLASS_HEAD if definition.kind == "class" else LONGEST_FUNCTION
        return Citation(definition.path, definition.first, min(definition.last, definition.first + longest - 1), definition.name)

    def _merged(self, citations: list[Citation]) -> list[Place]:
        """Each place once. Lines of one function are one place, and replace the name of a definition that they overlap."""
        places: dict[tuple[str, str], Place] = {}
        for path, first, last, name in citations:
            if name is None and last - first < LONGEST_RANGE:
                around = self.files.enclosing(path, first, last)
                key = (path, around.name if around and around.kind != "class" else f"{first}-{last}")
                before = places[key].lines if key in places else frozenset()
                places[key] = Place(path, before | set(range(first, last + 1)))
        cited_lines = list(places.values())
        for path, first, last, name in citations:
            if name is not None and (path, name) not in places:
                lines = frozenset(range(first, last + 1))
                if not any(place.path == path and place.lines & lines for place in cited_lines):
                    places[path, name] = Place(path, lines)
        return list(places.values())
