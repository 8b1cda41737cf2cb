"""Runs the steps of a first week in tmux: `main.py STRATA STAND_IN`."""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

WIDTHS = (60, 120)
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
    """A command line of the shell, its exit code, and what its screen shows."""

    line: str
    shows: tuple[str, ...] = ()
    code: int = 0
    # Text that must not be on the screen.
    hides: tuple[str, ...] = ()
    # Whether rows may be longer than the terminal, because they are content that must not be changed.
    is_content: bool = False


def step(line: str, *shows: str, **options) -> Step:
    return Step(line, shows, **options)


STEPS = [
    step("strata --version", r"^strata \d"),
    step("strata", "Usage: strata <COMMAND>", code=2),
    step("strata help ask", "Usage: strata ask"),
    step("strata statsu", "similar subcommand exists: 'status'", code=2),
    step("strata doctor", "everything works"),
    step("strata status", "no session is stored for this workspace yet", code=1),
    # Settings
    step("strata ask Why", "no provider is configured", code=1),
    step("strata config path", "strata.toml"),
    step("strata config list", "all settings have their defaults"),
    step("strata config set provider.name anthropic", "set provider.name to anthropic"),
    step("strata config set provider.name antropic", "provider.name", code=1),
    step("strata config set provider.nema anthropic", "did you mean `provider.name`", code=1),
    step("strata config set provider.base_url $BASE_URL", "set provider.base_url"),
    step("strata config set symbols.map_budget 2k", "2k"),
    step("strata config get symbols.map_budget", "^2000$"),
    step("strata config list", "provider.name +anthropic +your settings"),
    step("strata config unset symbols.map_budget", "removed symbols.map_budget"),
    step("strata config set -w context.auto_budget 2000", ".strata.toml"),
    step("strata config set -w provider.base_url https://a", "a workspace file can only set", code=1),
    step("EDITOR=true strata config edit"),
    # Code
    step("strata map", "class Cart", is_content=True),
    step("strata map --budget 1k --focus shop/cart.py", "cart.py", is_content=True),
    step("strata tokens", "cart.py"),
    step("strata outline shop/cart.py", "def total", is_content=True),
    step("strata symbols total", "Cart.total|total", is_content=True),
    step("strata references price", "cart.py", is_content=True),
    step("strata grep -i FRUIT", "README.md", is_content=True),
    step("strata read shop/prices.py#price", "PRICES", is_content=True),
    step("strata read shop/price.py", "did you mean `shop/prices.py`", code=1),
    step("strata context 'sum of the cart'", "cart.py", is_content=True),
    # Prompts before they are sent
    step("strata prompt 'What is the total?'", "is not shown on a terminal", r"\$0\.\d+ +if nothing is cached", r"\$0\.\d+ +input"),
    step("strata prompt -o body.json Why", "1,000 tokens of the answer"),
    step("python3 -c \"import json; print(json.load(open('body.json'))['max_tokens'])\"", r"^\d+$"),
    step("strata prompt --model gpt-oss-20b Why", "unknown +price in money"),
    step("strata prompt --format markdown 'What is it?' 2>/dev/null | tail -1", "^What is it.$", hides=("cache breakpoint",)),
    step("strata prompt --select shop/carts.py Why", "did you mean `shop/cart.py`", code=1),
    step("strata prompt --select secrets.env Why", "its name suggests secrets", code=1),
    # Packs
    step("strata pack shop", "## shop/cart.py", "tokens for claude", is_content=True),
    step("strata pack --format xml README.md", '<file path="README.md">', is_content=True),
    step("strata pack --budget 300", "in outline", is_content=True, hides=("ghp_",)),
    step("strata pack --copy README.md", "copied .* tokens"),
    step("strata pack -o pack.md && grep -c '^## ' pack.md", r"^\d$", hides=("ghp_",)),
    # Questions
    step("strata ask 'What does total do?'", "^Done.$", r"^\$0\.\d+: .* tokens in", "session s-"),
    step("strata ask And add", "continuing the conversation", "-n starts a new one"),
    step("git diff --no-index README.md build.log | strata ask 'Review this diff'", "standard input .* is part of the context"),
    step("strata ask --attach build.log 'What failed?'", r"^\$0\."),
    step("strata ask -n --select shop/cart.py 'Who calls add?'", "^Done.$"),
    step("strata ask --deselect shop/cart.py 'And now?'", "^Done.$"),
    step("strata ask --session nowhere Why", "nowhere", code=1),
    step("strata ask --json Why | head -c 20", "{", is_content=True),
    # Costs
    step("strata cost", "total, 7 requests", "prices: "),
    step("strata cost --by model", "claude-sonnet-5-5"),
    step("strata cost --by day --since 7d", r"\d{4}-\d\d-\d\d"),
    step("strata cost --since tomorrow", "expected a date", code=2, is_content=True),
    step("strata status", r"billed: \$0\."),
    # Conversations
    step("strata sessions list", "messages"),
    step("strata sessions show latest", "Who calls add", is_content=True),
    step("strata sessions rename latest fruit", "fruit"),
    step("strata sessions fork fruit", "starts with"),
    step("strata sessions search total", "total"),
    step("strata sessions export fruit -o fruit.jsonl && wc -l < fruit.jsonl", r"^\d+$"),
    step("strata sessions compact fruit", "nothing to compact", code=1),
    step("strata memory add 'Prices are in cents'", "note"),
    step("strata memory list", "cents"),
    step("printf 'What is a cart?\\n/cost\\n/undo\\n/nonsense\\n' | strata chat -n", r"^\$0\.", "the next question costs", "forgot", "no command"),
    step("strata completions bash | grep -c symbols.map_budget", r"^\d+$"),
    step("strata man | head -3", is_content=True),
]


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


def faults(step: Step, code: int, shown: list[str], written: list[str]) -> list[str]:
    found = [f"exit code {code}, not {step.code}"] if code != step.code else []
    # Sentences are wrapped between words, so an expected text may be on two rows.
    text, flowing = "\n".join(written), " ".join(row.strip() for row in written)
    for pattern in step.shows:
        if not re.search(pattern, text, re.MULTILINE) and not re.search(pattern, flowing):
            found.append(f"does not show `{pattern}`")
    found += [f"shows `{hidden}`" for hidden in step.hides if hidden in text]
    if len(shown) != len(written) and not step.is_content:
        broken = next((row for row in written if row not in shown), "")
        found.append(f"the terminal had to break a row of {len(broken)} characters")
    return found


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
                    "STRATA_STATE_DIR": f"{home}/state",
                    "STRATA_CACHE_DIR": f"{home}/cache",
                    "ANTHROPIC_API_KEY": "a-key",
                    "BASE_URL": provider.stdout.readline().strip(),
                },
            )
            try:
                for number, one in enumerate(STEPS, 1):
                    code, shown, written = terminal.run(one.line)
                    if found := faults(one, code, shown, written):
                        failed += 1
                        print(f"\n{width} columns, step {number}: {one.line}\n  {'; '.join(found)}")
                        print("\n".join(f"  | {row}" for row in shown[:30]), flush=True)
            finally:
                terminal.close()
                provider.kill()
                provider.wait()
    print(f"terminal: {len(STEPS)} steps at {' and '.join(map(str, WIDTHS))} columns, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
