#!/usr/bin/env python3
"""check.py SITE: fails if a page of docs/ is missing in the built site, or a link in it leads nowhere."""

import html.parser
import pathlib
import sys
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parent.parent
# The book's table of contents, and a copy of the first page.
NOT_PAGES = {"SUMMARY.md"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def main(site):
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    wrong = [
        f"docs/{source.name} is not in docs/SUMMARY.md"
        for source in sorted((TOP / "docs").glob("*.md"))
        if source.name not in NOT_PAGES and not (site / source.with_suffix(".html").name).is_file()
    ]
    checked = 0
    for path, page in pages.items():
        if path.name in ("404.html", "toc.html"):
            continue
        for link in page.links:
            target = urllib.parse.urlsplit(link)
            if target.scheme or target.netloc:
                continue
            leads = (path.parent / urllib.parse.unquote(target.path)).resolve() if target.path else path
            there = pages.get(leads)
            anchor = urllib.parse.unquote(target.fragment)
            checked += 1
            if not leads.exists() or (anchor and there and anchor not in there.ids):
                wrong.append(f"{path.relative_to(site)}: {link}")
    print("\n".join([*wrong, f"{len(pages)} pages, {checked} links, {len(wrong)} faults"]))
    return bool(wrong or not checked)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
