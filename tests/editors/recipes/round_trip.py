"""Types into a file, adds it to the context, checks the prompt, and removes the file again: `round_trip.py EDITOR PROGRAM`."""

import os
import pathlib
import re
import sys

from terminal import Terminal, check

# Keys that run a command for the current file in each editor.
COMMANDS = {"helix": ":lsp-workspace-command strata.here.{}\r", "kakoune": ":strata {}\r"}


def main(editor: str, program: str):
    file = pathlib.Path(os.environ["REPO"]) / "src/greet.rs"
    file.write_text("on disk\n")
    os.chdir(os.environ["REPO"])
    terminal = Terminal(program, "src/greet.rs")
    terminal.until("the file is open", lambda screen: "on disk" in screen and "greet.rs" in screen)

    def run(verb: str):
        terminal.type(COMMANDS[editor].format(verb))

    def prompt(what: str, condition):
        """Writes a preview of the prompt and checks it. The screen may still show the message about an earlier preview."""
        run("preview")
        path = terminal.until("a prompt is written", lambda screen: re.search(r"is in (/\S+\.md)", screen))
        terminal.until(what, lambda _: condition(pathlib.Path(path.group(1)).read_text()))

    terminal.type("Otyped é 漢字 🦀\x1b")
    run("select")
    terminal.until("the file is selected", lambda screen: "in the model's context" in screen)
    prompt("the typed text is in the prompt", lambda text: "typed é 漢字 🦀\non disk" in text)
    terminal.type("omore\x1b")
    prompt("text typed later is in the prompt", lambda text: re.search("🦀\n *more\non disk", text))
    check("nothing was saved", file.read_text() == "on disk\n")
    run("deselect")
    terminal.until("the file is removed", lambda screen: "removed from" in screen)
    prompt("the removed file is not in the prompt", lambda text: "on disk" not in text)
    terminal.type(":quit!\r")
    terminal.until("the editor has ended", lambda _: terminal.ended())


main(*sys.argv[1:])
