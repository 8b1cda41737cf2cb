#!/usr/bin/env python3
"""A preprocessor of mdBook that lets pages be written for the repository: links are relative to the file that has them.

Chapters outside of docs/ keep their path in the site. A link to a chapter leads to its page, a link to a file in docs/ to its copy.
A link whose text is the name of a file gets the name of its chapter instead.

Anything else is not part of the site: a link to it leads to the repository if its address is known (`git-repository-url` of the HTML
output, or GITHUB_REPOSITORY), and becomes plain text otherwise; a picture becomes part of the page.
"""

import base64
import json
import mimetypes
import os
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2[^\n]*$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
TARGET = re.compile(r"\]\(([^()\s]+)\)")
ATTRIBUTE = re.compile(r'\b(href|src|srcset)="([^"\s]+)"')


def repository(context):
    """The address of the repository, without a slash at its end; empty if it is not known."""
    url = context["config"].get("output", {}).get("html", {}).get("git-repository-url")
    if not url and "GITHUB_REPOSITORY" in os.environ:
        url = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{os.environ['GITHUB_REPOSITORY']}"
    return (url or "").rstrip("/")


def chapters(items):
    for item in items:
        if isinstance(item, dict) and (chapter := item.get("Chapter")):
            yield chapter
            yield from chapters(chapter["sub_items"])


class Site:
    def __init__(self, context, book):
        self.repository = repository(context)
        self.chapters = [chapter for chapter in chapters(book["items"]) if chapter["path"]]
        self.pages, self.names = {}, {}
        for chapter in self.chapters:
            source = os.path.normpath(os.path.join("docs", chapter["path"]))
            page = source.removeprefix("docs/")
            chapter["path"] = re.sub(r"(^|/)README\.md$", r"\1index.md", page)
            self.pages[source] = chapter["path"].removesuffix(".md") + ".html"
            self.names[self.pages[source]] = chapter["name"]
            chapter["source"] = source

    def convert(self, chapter):
        source = chapter.pop("source")
        text = chapter["content"]
        blank = lambda match: re.sub(r"[^\n]", "\0", match.group())
        mask = SPAN.sub(blank, FENCE.sub(blank, text))
        edits = []
        for match in TARGET.finditer(mask):
            opening = self.opening(mask, match.start())
            if opening is None:
                continue
            is_image = mask[opening - 1 : opening] == "!"
            target = self.target(source, match.group(1), is_image)
            if target is not None:
                edits.append((match.start(1), match.end(1), target))
                label = text[opening + 1 : match.start()]
                page = os.path.normpath(os.path.join(os.path.dirname(self.pages[source]), target.partition("#")[0]))
                if re.fullmatch(r"[\w/.-]+\.md", label) and page in self.names:
                    edits.append((opening + 1, match.start(), self.names[page]))
            elif is_image:
                raise SystemExit(f"{source}: the picture {match.group(1)} is missing")
            else:
                edits += [(opening, opening + 1, ""), (match.start(), match.end(), "")]
        for match in ATTRIBUTE.finditer(mask):
            target = self.target(source, match.group(2), match.group(1) != "href")
            if target is not None:
                edits.append((match.start(2), match.end(2), target))
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        chapter["content"] = text

    @staticmethod
    def opening(mask, closing):
        """Where the bracket opens that closes here."""
        depth = 0
        for at in range(closing, -1, -1):
            depth += {"]": 1, "[": -1}.get(mask[at], 0)
            if depth == 0:
                return at
        return None

    def target(self, source, link, is_image):
        """Where a link of a page leads in the site, or None if nowhere."""
        if re.match(r"[a-z][a-z0-9+.-]*:|#", link):
            return link
        path, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(source), path))
        anchor = f"#{anchor}" if anchor else ""
        here = os.path.dirname(self.pages[source])
        path = f"{path}/README.md" if f"{path}/README.md" in self.pages else path
        if path in self.pages:
            return os.path.relpath(self.pages[path], here or ".") + anchor
        if path.startswith("docs/") and (TOP / path).is_file() and not path.endswith(".md"):
            return os.path.relpath(path.removeprefix("docs/"), here or ".") + anchor
        if is_image:
            return embedded(TOP / path) if (TOP / path).is_file() else None
        if self.repository:
            return f"{self.repository}/{'tree' if (TOP / path).is_dir() else 'blob'}/HEAD/{path}{anchor}"
        return None


def embedded(path):
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["supports"]:
        sys.exit(0)
    context, book = json.load(sys.stdin)
    site = Site(context, book)
    for chapter in site.chapters:
        site.convert(chapter)
    json.dump(book, sys.stdout)
