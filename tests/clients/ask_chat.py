"""`strata chat` in a pseudo-terminal: thirty questions, Ctrl-C, a resize, a long paste, and the end of the process without warning."""

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading

from session import FILES, LIMIT, TURNS, Place, Provider, until

PASTED_LINES = 2_000
# Start and end of a bracketed paste (xterm, "Bracketed Paste Mode").
PASTE = ("\x1b[200~", "\x1b[201~")
PROMPT = "> "
CLOSING = re.compile(r"\$(\d+\.\d+): ([\d,]+) tokens in")


class Terminal:
    """A program in a pseudo-terminal, with everything it has written."""

    def __init__(self, argv: list[str], place: Place, environment: dict[str, str]):
        self.seen = ""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(place.repo)
            os.execvpe(argv[0], argv, {**environment, "TERM": "xterm-256color"})
        self.resize(120)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.suppress(OSError):
            while part := os.read(self.master, 65_536):
                self.seen += part.decode(errors="replace")

    def resize(self, columns: int):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

    def write(self, text: str):
        data = text.encode()
        while data:
            data = data[os.write(self.master, data[:1_024]) :]

    def wait_for(self, what: str | re.Pattern, after: int) -> re.Match:
        pattern = what if isinstance(what, re.Pattern) else re.compile(re.escape(what))
        return until(lambda: pattern.search(self.seen, after), f"{pattern.pattern} in {self.seen[after:][-500:]!r}")

    def ask(self, line: str, answer: str | re.Pattern) -> re.Match:
        """Enters a line, and waits for the answer and the next prompt."""
        after = len(self.seen)
        self.write(line + "\r")
        found = self.wait_for(answer, after)
        self.wait_for(PROMPT, found.end())
        return found

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def end(self) -> int:
        self.write("\x04")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def play(model: str, place: Place, provider: Provider):
    environment = {
        **place.environment,
        "STRATA_PROVIDER_NAME": "anthropic",
        "STRATA_PROVIDER_BASE_URL": provider.url,
        "STRATA_PROVIDER_MODEL": model,
        "ANTHROPIC_API_KEY": "a key",
    }
    program = environment["TAP_PROGRAM"]

    def strata(*arguments: str) -> dict:
        run = subprocess.run([program, *arguments], cwd=place.repo, env=environment, capture_output=True, text=True, timeout=LIMIT)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    chat = Terminal([program, "chat", "-n"], place, environment)
    chat.wait_for(PROMPT, 0)
    chat.ask(f"/select {FILES[0]}", "selected: src/flask/app.py (")
    paid = 0.0
    for number in range(TURNS // 2):
        paid += float(chat.ask(f"Question {number}?", CLOSING)[1])
    chat.resize(60)

    def bills() -> int:
        return len(provider.bill()["bills"])

    # Ctrl-C stops an answer, and not the program. The provider bills what it was asked.
    before = bills()
    provider.answering.clear()
    after = len(chat.seen)
    chat.write("Stop this?\r")
    until(lambda: b"Stop this?" in provider.last, "the question was sent")
    chat.write("\x03")
    chat.wait_for(PROMPT, chat.wait_for("stopped", after).end())
    provider.answering.set()
    until(lambda: bills() == before + 1, "the stopped question was billed")
    chat.ask("\x03", "Ctrl-D or /quit")

    # A paste of many lines is one question.
    lines = [f"pasted line {number}" for number in range(PASTED_LINES)]
    after = len(chat.seen)
    chat.write(PASTE[0] + "\n".join(lines) + PASTE[1])
    chat.write("\r")
    paid += float(chat.wait_for(CLOSING, after)[1])
    assert bills() == before + 2, "the paste was sent as several questions"
    assert "\\n".join(lines[-3:]).encode() in provider.last, "the paste was not sent as it is"

    # The conversation survives the process.
    chat.kill()
    chat = Terminal([program, "chat"], place, environment)
    chat.wait_for(PROMPT, chat.wait_for("continuing the conversation", 0).end())
    for number in range(TURNS // 2, TURNS):
        paid += float(chat.ask(f"Question {number}?", CLOSING)[1])
    assert b"Question 0?" in provider.last and lines[0].encode() in provider.last

    # What was undone is not sent again.
    chat.ask("/undo", f'forgot "Question {TURNS - 1}?"')
    paid += float(chat.ask("Last question?", CLOSING)[1])
    assert f"Question {TURNS - 1}?".encode() not in provider.last and f"Question {TURNS - 2}?".encode() in provider.last
    chat.ask("/drop " + FILES[0], "no files are selected")
    chat.ask("/nonsense", "no command `/nonsense`")
    chat.ask("/cost", "the next question costs about $")
    assert chat.end() == 0

    total = strata("cost", "--json")["total"]
    # Closing lines show four decimals.
    assert abs(total["dollars"] - paid) < 0.00006 * total["requests"], f"{total} is not the sum of the closing lines, {paid}"
