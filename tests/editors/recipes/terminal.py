"""Runs a program in a terminal, types keys, and reads the screen."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

import pyte

# Timeout in seconds, reached only if something hangs.
LIMIT = 60

COLUMNS, ROWS = 200, 30


class Terminal:
    def __init__(self, *argv: str):
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execvp(argv[0], argv)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def text(self) -> str:
        self._read(0.05)
        return "\n".join(line.rstrip() for line in self.screen.display)

    def type(self, keys: str):
        """Types keys with pauses, since a program may misinterpret an escape character inside a burst."""
        for part in keys.replace("\x1b", "\0\x1b\0").split("\0"):
            os.write(self.terminal, part.encode())
            self._read(0.3)

    def until(self, what: str, condition):
        """Waits until the screen satisfies a condition, and returns the condition's value."""
        end = time.monotonic() + LIMIT
        while not (found := condition(self.text())):
            if time.monotonic() > end:
                sys.exit(f"FAILED: {what}\n{self.text()}")
        print(f"ok: {what}")
        return found

    def ended(self) -> bool:
        self._read(0.05)
        return os.waitpid(self.pid, os.WNOHANG) != (0, 0)

    def _read(self, seconds: float):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.terminal], [], [], left)[0]:
                return
            try:
                data = os.read(self.terminal, 65536)
            except OSError:
                return  # The program has ended.
            self.stream.feed(data)
            # Programs query the type of the terminal and the position of the cursor, and wait for the answers.
            if b"\x1b[c" in data or b"\x1b[0c" in data:
                os.write(self.terminal, b"\x1b[?62;22c")
            if b"\x1b[6n" in data:
                os.write(self.terminal, b"\x1b[1;1R")


def check(what: str, holds: bool):
    if not holds:
        sys.exit(f"FAILED: {what}")
    print(f"ok: {what}")
