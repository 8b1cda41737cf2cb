"""Runs the program `strata`, which is next to this package's command `strata-context`."""

import os
import subprocess
import sys


def main():
    folder = os.path.dirname(os.path.abspath(sys.argv[0]))
    program = os.path.join(folder, "strata.exe" if os.name == "nt" else "strata")
    if os.name == "nt":
        # `exec` on Windows starts another process and exits, so that the caller would not wait.
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    os.execv(program, [program, *sys.argv[1:]])
