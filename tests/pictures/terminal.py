"""Records a terminal: runs commands in it, and draws their output as an animated SVG without scripts or fonts.

    terminal.py renew    writes docs/pictures/terminal.svg
    terminal.py check    fails if the output of a new run differs from the picture, except in numbers and session ids

The text comes from the run. Colors and times are fixed, so the same output always gives the same picture."""

import dataclasses
import difflib
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios
import textwrap
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape

import demo

PICTURE = pathlib.Path(__file__).parents[2] / "docs/pictures/terminal.svg"

COLUMNS, ROWS = 90, 24
COMMANDS = [
    f'strata prompt --auto {demo.AUTO} "{demo.QUESTION}" >../body.json',
    f'strata ask --session new --auto {demo.AUTO} "{demo.QUESTION}"',
    f'strata ask "{demo.FOLLOW_UP}"',
]

# Sizes in pixels.
CELL, LINE, FONT, MARGIN, BAR = 8.4, 19, 14, 16, 30

# Times in seconds: per typed character, per word of an answer, before the output of a command, after it, and at the end.
TYPED, ARRIVED, STARTS, READ, END = 0.03, 0.075, 0.5, 3.0, 5.0

# Parts of a line that are drawn in a different color.
MARKED = [
    ("cost", re.compile(r"^\$\d+\.\d+|\d+ % cached")),
    ("path", re.compile(r"\bshop/[\w./#-]+")),
    ("bar", re.compile(r"[█░]+")),
]
# Without animation, the picture shows the final state.
STYLE = """
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace; fill: #c9d1d9; white-space: pre }
.prompt { fill: #7ee787 } .typed { fill: #f0f6fc; font-weight: 600 } .cost { fill: #ffa657; font-weight: 600 } .path { fill: #79c0ff }
.bar { fill: #56d4dd } .title { fill: #8b949e; font-size: 13px }
.screen, .line, .cover { animation-duration: DURATION; animation-iteration-count: infinite; animation-timing-function: step-end }
.screen { transform: translateY(REST) } .cover { transform: translateX(2000px) }
@media (prefers-reduced-motion: reduce) { .screen, .line, .cover { animation: none !important } }
""".strip()


@dataclasses.dataclass(frozen=True)
class Step:
    """A command and its output. The lines of an answer appear word by word."""

    command: str
    output: list[str]
    is_answer: bool


def run() -> list[Step]:
    with demo.shop() as (repo, environment):
        environment |= {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
        return [Step(command, printed(command, repo, environment), " ask " in command) for command in COMMANDS]


def printed(command: str, repo: pathlib.Path, environment: dict[str, str]) -> list[str]:
    """Runs a command in a terminal, and returns the lines that it prints."""
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(["sh", "-c", command], stdin=inside, stdout=inside, stderr=inside, cwd=repo, env=environment)
    os.close(inside)
    text = b""
    while part := read(terminal):
        text += part
    os.close(terminal)
    text = text.decode().replace("\r\n", "\n")
    assert process.wait() == 0, f"{command}\n{text}"
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text), f"the output has control characters, which cannot be drawn: {text!r}"
    return text.splitlines()


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        # Linux reports the end of a terminal as an error.
        return b""


def wrapped(line: str) -> list[str]:
    """Splits a line into rows at word boundaries, which is easier to read than a terminal's own wrapping."""
    return textwrap.wrap(line, COLUMNS, drop_whitespace=False) or [""]


class Drawing:
    def __init__(self):
        self.time, self.rows, self.rules = 0.0, [], []
        # Number of rows scrolled, by time.
        self.scrolled = {0.0: 0}
        self.covers = []

    def row(self, content: str, width: int, takes: float = 0.0):
        """Adds a row that appears now, from left to right over `takes` seconds."""
        number = len(self.rows)
        if number >= ROWS:
            self.scrolled[self.time] = number - ROWS + 1
        self.rows.append((content, width, self.time))
        if takes:
            self.covers.append((number, width, self.time, self.time + takes))
            self.time += takes

    def type(self, command: str):
        rows = wrapped("$ " + command)
        if self.rows:
            self.row("", 0)
        for number, text in enumerate(rows):
            typed = span("prompt", "$ ") + span("typed", text[2:]) if number == 0 else span("typed", text)
            self.row(typed, len(text), len(text) * TYPED)
        self.time += STARTS

    def show(self, step: Step):
        self.type(step.command)
        # The last line of an answer is its bill.
        answer = step.output[:-1] if step.is_answer else []
        for line in answer:
            for text in wrapped(line):
                self.row(coloured(text), len(text), len(text.split()) * ARRIVED)
        for line in step.output[len(answer) :]:
            for text in wrapped(line):
                self.row(coloured(text), len(text))
        self.time += READ

    def svg(self) -> str:
        duration = self.time + END
        width, height = COLUMNS * CELL + 2 * MARGIN, ROWS * LINE + BAR + MARGIN
        rest = max(self.scrolled.values()) * LINE

        def share(time: float) -> str:
            return f"{100 * time / duration:.2f}%"

        rules, rows = [], []
        for number, (content, columns, time) in enumerate(self.rows):
            if not columns:
                continue
            rules.append(f"@keyframes l{number} {{ 0% {{ opacity: 0 }} {share(time)} {{ opacity: 1 }} }}" if time else "")
            style = f' style="animation-name: l{number}"' if time else ""
            y = number * LINE + FONT
            rows.append(f'<text class="line" y="{y}" textLength="{columns * CELL:.1f}" lengthAdjust="spacingAndGlyphs"{style}>{content}</text>')
        for number, columns, start, end in self.covers:
            steps = f"animation-timing-function: steps({columns})"
            far = f"transform: translateX({columns * CELL:.1f}px)"
            typed = f"{share(start)} {{ transform: none; {steps} }} {share(end)} {{ {far} }}"
            rules.append(f"@keyframes c{number} {{ 0% {{ transform: none }} {typed} {share(end + 0.01)} {{ transform: translateX(2000px) }} }}")
            box = f'x="0" y="{number * LINE - 1}" width="{width}" height="{LINE}"'
            rows.append(f'<rect class="cover" {box} fill="#0d1117" style="animation-name: c{number}"/>')
        steps = " ".join(f"{share(time)} {{ transform: translateY(-{by * LINE}px) }}" for time, by in self.scrolled.items())
        rules.append(f"@keyframes scroll {{ {steps} 100% {{ transform: translateY(-{rest}px) }} }}")
        style = STYLE.replace("DURATION", f"{duration:.2f}s").replace("REST", f"-{rest}px")
        dots = "".join(f'<circle cx="{20 + 18 * number}" cy="15" r="5.5" fill="{fill}"/>' for number, fill in enumerate(("#ff5f57", "#febc2e", "#28c840")))
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}">',
            f"<title>{escape(TITLE)}</title>",
            "<style>", style, *filter(None, rules), "</style>",
            f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#0d1117" stroke="#30363d"/>', dots,
            f'<text class="title" x="{width / 2:.0f}" y="19" text-anchor="middle">shop</text>',
            f'<svg x="{MARGIN}" y="{BAR}" width="{width - 2 * MARGIN:.0f}" height="{ROWS * LINE + 2}" overflow="hidden">',
            '<g class="screen" style="animation-name: scroll">', *rows, "</g>", "</svg>", "</svg>", "",
        ])


HALVES = ("little", "most", "all")
TITLE = "A question, the code added to it, two answers and their cost"


def span(kind: str, text: str) -> str:
    return f'<tspan class="{kind}">{escape(text)}</tspan>'


def coloured(text: str) -> str:
    made, at = "", 0
    found = sorted((match.span(), kind) for kind, pattern in MARKED for match in pattern.finditer(text))
    for (start, end), kind in found:
        made += escape(text[at:start]) + span(kind, text[start:end])
        at = end
    return made + escape(text[at:])


def drawn(steps: list[Step]) -> str:
    drawing = Drawing()
    for step in steps:
        drawing.show(step)
    return drawing.svg()


def shown(picture: str) -> list[str]:
    """Returns the lines of a picture, without the parts that differ between runs."""
    texts = ElementTree.fromstring(picture).iterfind(".//*[@class='line']")
    return masked("".join(text.itertext()) for text in texts)


def masked(lines) -> list[str]:
    """Removes the parts of lines that differ between runs: counts, bars and session ids. Replaces percentages with rough ranges."""
    text = "\n".join(lines)
    text = re.sub(r"\bs-\w+", "s-0", text)
    text = re.sub(r"[█░]+", "█", text)
    text = re.sub(r"(\d+)[\d.]* %", lambda share: HALVES[min(int(share[1]) // 50, 2)], text)
    text = re.sub(r"\d[\d,.]*", "0", text)
    # Wider numbers move the text next to them.
    return [re.sub(r" +", " ", line).rstrip() for line in text.splitlines()]


def check(steps: list[Step]) -> str:
    """Returns the difference between the picture and a run as a diff."""
    difference = difflib.unified_diff(shown(PICTURE.read_text()), shown(drawn(steps)), str(PICTURE.name), "a run", lineterm="")
    return "\n".join(difference)


if __name__ == "__main__":
    if sys.argv[1:] == ["renew"]:
        PICTURE.write_text(drawn(run()))
    elif stale := check(run()):
        sys.exit(f"{stale}\nThe recording is stale; update it with tests/pictures/run terminal")
