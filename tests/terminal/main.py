"""Runs the steps of a first week in tmux: `main.py STRATA STAND_IN`."""

import dataclasses
import difflib
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

WIDTHS = (60, 120)
# The screens of each width. `UPDATE_EXPECT=1` writes them anew.
SCREENS = pathlib.Path(__file__).parent / "screens"
ROWS = 200
# Timeout of a step in seconds, reached only if something hangs.
LIMIT = 60

FILES = {
    "shop/cart.py": "from shop.prices import price\n\n\nclass Cart:\n    def __init__(self):\n        self.items = []\n\n    def add(self, name, count=1):\n        self.items.append((name, count))\n\n    def total(self):\n        return sum(price(name) * count for name, count in self.items)\n",
    "shop/prices.py": "PRICES = {'apple': 30, 'pear': 45}\n\n\ndef price(name):\n    return PRICES[name]\n",
    "shop/__init__.py": "",
    "README.md": "# Shop\n\nSells fruit.\n",
    "secrets.env": "TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345\n",
    "build.log": "error: no price for `plum`\n",
}


@dataclasses.dataclass(frozen=True)
class Step:
    """A command line of the shell."""

    line: str
    # Whether rows may be longer than the terminal, because they are content that must not be changed.
    is_content: bool = False


def content(line: str) -> Step:
    return Step(line, is_content=True)


STEPS = [step if isinstance(step, Step) else Step(step) for step in [
    "strata --version",
    "strata",
    "strata help ask",
    "strata statsu",
    "strata doctor",
    "strata status",
    # Settings
    "strata ask Why",
    "strata config path",
    "strata config list",
    "strata config set provider.name anthropic",
    "strata config set provider.name antropic",
    "strata config set provider.nema anthropic",
    "strata config set provider.base_url $BASE_URL",
    "strata config set symbols.map_budget 2k",
    "strata config get symbols.map_budget",
    "strata config list",
    "strata config unset symbols.map_budget",
    "strata config set -w context.auto_budget 2000",
    "strata config set -w provider.base_url https://a",
    "EDITOR=true strata config edit",
    # Code
    content("strata map"),
    content("strata map --budget 1k --focus shop/cart.py"),
    "strata tokens",
    content("strata outline shop/cart.py"),
    content("strata symbols total"),
    content("strata references price"),
    content("strata grep -i FRUIT"),
    content("strata read shop/prices.py#price"),
    "strata read shop/price.py",
    content("strata context 'sum of the cart'"),
    # Prompts before they are sent
    "strata prompt 'What is the total?'",
    "strata prompt -o body.json Why",
    "python3 -c \"import json; print(json.load(open('body.json'))['max_tokens'])\"",
    "strata prompt --model gpt-oss-20b Why",
    "strata prompt --format markdown 'What is it?' 2>/dev/null | tail -1",
    "strata prompt --select shop/carts.py Why",
    "strata prompt --select secrets.env Why",
    # Packs
    content("strata pack shop"),
    content("strata pack --format xml README.md"),
    content("strata pack --budget 300"),
    "strata pack --copy README.md",
    "strata pack -o pack.md && grep -c '^## ' pack.md",
    # Questions
    "strata ask 'What does total do?'",
    "strata ask And add",
    "git diff --no-index README.md build.log | strata ask 'Review this diff'",
    "strata ask --attach build.log 'What failed?'",
    "strata ask -n --select shop/cart.py 'Who calls add?'",
    "strata ask --deselect shop/cart.py 'And now?'",
    "strata ask --session nowhere Why",
    content("strata ask --json Why 2>/dev/null | head -c 20"),
    # Costs
    "strata cost",
    "strata cost --by model",
    "strata cost --by day --since 7d",
    content("strata cost --since tomorrow"),
    "strata status",
    # Conversations
    "strata sessions list",
    content("strata sessions show latest"),
    "strata sessions rename latest fruit",
    "strata sessions fork fruit",
    "strata sessions search total",
    "strata sessions export fruit -o fruit.jsonl && wc -l < fruit.jsonl",
    "strata sessions compact fruit",
    "strata memory add 'Prices are in cents'",
    "strata memory list",
    "printf 'What is a cart?\\n/cost\\n/undo\\n/nonsense\\n' | strata chat -n",
    "strata completions bash | grep -c symbols.map_budget",
    content("strata man | head -3"),
]]


class Terminal:
    """A shell in tmux."""

    def __init__(self, width: int, home: pathlib.Path, environment: dict[str, str]):
        self.home, self.socket = home, f"strata-{os.getpid()}-{width}"
        shell = ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), "bash", "--norc", "--noprofile"]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(ROWS), "-c", str(home / "shop"), *shell)

    def tmux(self, *arguments: str) -> str:
        run = subprocess.run(["tmux", "-L", self.socket, *arguments], capture_output=True, text=True, check=True)
        return run.stdout

    def run(self, line: str) -> tuple[int, list[str], list[str]]:
        """Returns the exit code and the rows on the screen: as the terminal shows them, and as the program wrote them."""
        (self.home / "step").write_text(line + "\n")
        ended = self.home / "ended"
        ended.unlink(missing_ok=True)
        # The command itself is not part of the screen.
        self.tmux("send-keys", "clear; tmux_step; echo $? > ~/ended", "Enter")
        end = time.monotonic() + LIMIT
        while not (ended.exists() and ended.read_text().endswith("\n")):
            assert time.monotonic() < end, f"`{line}` did not end: {self.tmux('capture-pane', '-p')}"
            time.sleep(0.02)
        # The prompt of the shell may appear between two captures.
        while True:
            shown, written = self.rows(), self.rows("-J")
            if shown == self.rows():
                return int(ended.read_text()), shown, written
            assert time.monotonic() < end, f"the screen does not come to rest after `{line}`"

    def rows(self, *options: str) -> list[str]:
        return self.tmux("capture-pane", "-p", *options).rstrip().splitlines()

    def close(self):
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True)


# What differs between runs, and what stands for it. Tables stay aligned.
VARIES = [
    (r"\d{4}-\d\d-\d\d", "2000-01-01"),
    (r"\b\d\d:\d\d(:\d\d)?\b", "00:00"),
    (r"\bs-[0-9a-z-]+", lambda id: "s-".ljust(len(id[0]), "x")),
    (r"\b127\.0\.0\.1:\d+", "127.0.0.1:10000"),
    (r"\b\d+(\.\d+)? (ms|s)\b", r"0 \2"),
    # The size of a database that may be in use.
    (r"(?<=outlines, )\d+ KiB", lambda size: re.sub(r"\d", "0", size[0])),
]


def screen(step: Step, code: int, rows: list[str], home: pathlib.Path) -> str:
    """Returns what a step shows, as it stands in the file of expected screens."""
    text = "\n".join(rows).replace(str(home), "~")
    for pattern, constant in VARIES:
        text = re.sub(pattern, constant, text)
    ending = f"(exit code {code})\n" if code else ""
    return f"$ {step.line}\n{text}\n{ending}\n"


def broken_row(shown: list[str], written: list[str]) -> str | None:
    """Returns a row that the terminal had to break."""
    return next((row for row in written if row not in shown), "") if len(shown) != len(written) else None


def compare(path: pathlib.Path, screens: list[str]) -> int:
    """Compares screens with those in a file, or replaces the file. Returns the number of screens that differ."""
    if os.environ.get("UPDATE_EXPECT"):
        path.write_text("".join(screens))
        return 0
    expected = re.split(r"(?m)^(?=\$ )", path.read_text())[1:] if path.exists() else []
    differing = 0
    for now, before in itertools.zip_longest(screens, expected, fillvalue=""):
        if now != before:
            differing += 1
            print("\n".join(difflib.unified_diff(before.splitlines(), now.splitlines(), str(path), "now", lineterm="")), flush=True)
    return differing


def main(strata: str, stand_in: str) -> int:
    failed = 0
    for width in WIDTHS:
        provider = subprocess.Popen([sys.executable, stand_in], stdout=subprocess.PIPE, text=True)
        with tempfile.TemporaryDirectory(prefix="s", dir="/tmp") as home:
            home = pathlib.Path(home).resolve()
            for path, text in FILES.items():
                (home / "shop" / path).parent.mkdir(parents=True, exist_ok=True)
                (home / "shop" / path).write_text(text)
            (home / "bin").mkdir()
            (home / "bin" / "strata").symlink_to(strata)
            (home / "bin" / "tmux_step").write_text("#!/bin/bash\n. ~/step\n")
            (home / "bin" / "tmux_step").chmod(0o755)
            script = home / "answers.json"
            script.write_text('[{"text": "Done."}]')
            terminal = Terminal(
                width,
                home,
                {
                    "HOME": str(home),
                    "PATH": f"{home}/bin:{os.environ['PATH']}",
                    "TERM": "xterm-256color",
                    "LANG": "C.UTF-8",
                    "HISTFILE": "/dev/null",
                    "STRATA_STATE_DIR": f"{home}/state",
                    "STRATA_CACHE_DIR": f"{home}/cache",
                    "ANTHROPIC_API_KEY": "a-key",
                    "BASE_URL": provider.stdout.readline().strip(),
                },
            )
            try:
                screens = []
                for step in STEPS:
                    code, shown, written = terminal.run(step.line)
                    # The last row is the shell's prompt.
                    screens.append(screen(step, code, shown[:-1], home))
                    if not step.is_content and (row := broken_row(shown, written)) is not None:
                        failed += 1
                        print(f"\n{width} columns: {step.line}\n  the terminal had to break `{row}`", flush=True)
                failed += compare(SCREENS / f"{width}.screens", screens)
            finally:
                terminal.close()
                provider.kill()
                provider.wait()
    print(f"terminal: {len(STEPS)} steps at {' and '.join(map(str, WIDTHS))} columns, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
