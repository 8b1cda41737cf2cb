"""Tests that the model receives the text on the screen, typed in Neovim with only its built-in client."""

import pathlib

from driver import GREET, Editor, shown, until

def test_typed_keys_are_in_the_prompt(editor: Editor, repo: pathlib.Path):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("ggO// naïve 🦀 漢字<CR>second line é<Esc>")
    assert editor.text().startswith("// naïve 🦀 漢字\n")
    shown(editor)
    editor.type("/on disk<CR>cwtyped 👩‍👩‍👧<Esc>")
    assert '"typed 👩‍👩‍👧 disk"' in editor.text()
    shown(editor)
    assert "on disk" not in editor.prompt()
    assert (repo / "src/greet.rs").read_text() == GREET, "the file was saved"


def test_each_prompt_holds_the_text_of_its_moment(editor: Editor):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    # Neovim delays changes for a moment, and a request must not overtake them.
    for number in range(10):
        editor.type(f"Go// line {number} é<Esc>")
        shown(editor)


def test_undo_and_redo(editor: Editor):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("ggO// 🦀 one<Esc>")
    editor.type("GO// é two<Esc>")
    editor.type("dd")
    shown(editor)
    editor.type("uuu")
    assert editor.text() == GREET
    shown(editor)
    editor.type("<C-r><C-r>")
    assert "// é two" in editor.text()
    shown(editor)


def test_substitution_in_the_whole_file(editor: Editor):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("yyppp")
    editor.type(":%s/e/🦀é/g<CR>")
    assert editor.text().count("gr🦀é🦀ét") == 4
    shown(editor)
    editor.type(":g/disk/d<CR>")
    shown(editor)
    editor.type(":%d<CR>")
    assert "🦀" not in editor.prompt()
    editor.type("u:sort!<CR>")
    shown(editor)


def test_edits_inside_multibyte_text(editor: Editor):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("ggOa🦀b漢c<CR>é🦀é🦀<CR>x<Esc>")
    for keys in [
        "gg0lx",  # delete a character outside the BMP
        "jlrÄ",  # replace a character
        "ggJ",  # join lines
        "gg0<C-v>Gl~",  # change case in a block
        "gg0<C-v>GI→<Esc>",  # insert text in a column of all lines
        "ggyyGpggddGP",  # move lines to the end
        "gg0qaA🦀<Esc>jq3@a",  # repeat a macro
        "ggguG",
        ">G",
    ]:
        editor.type(keys)
        shown(editor)


def test_a_file_with_dos_line_ends(editor: Editor):
    editor.edit("dos.txt")
    editor.run("files.select", paths=["dos.txt"])
    assert editor.text() == "first é\r\nsecond\r\n"
    shown(editor)
    editor.type("ggA 🦀<CR>between<Esc>jddGoend é<Esc>")
    assert "between\r\n" in editor.text()
    shown(editor)


def test_deselecting_and_excluding(editor: Editor):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("Gopub fn typed_later(é: u8) {}<Esc>")
    shown(editor)
    editor.run("files.deselect", paths=["src/greet.rs"])
    prompt = editor.prompt()
    assert "on disk" not in prompt
    assert "src/greet.rs\n pub fn greet()\n pub fn typed_later(é: u8)" in prompt, "the map block does not show the unsaved text"
    editor.run("files.exclude", paths=["src/greet.rs"])
    assert "greet.rs" not in editor.prompt()


def test_saving_and_closing(editor: Editor, repo: pathlib.Path):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("ggOsaved é<Esc>:write<CR>")
    shown(editor)
    editor.type("Goclosed before it was saved<Esc>")
    shown(editor)
    editor.edit("src/lib.rs")
    editor.nvim.command("bdelete! #")
    assert "closed before it was saved" not in editor.prompt()
    assert (repo / "src/greet.rs").read_text() in editor.prompt()


def test_a_reload_from_disk(editor: Editor, repo: pathlib.Path):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("ggOgone soon<Esc>")
    (repo / "src/greet.rs").write_text("// written by another program 🦀\n")
    editor.type(":edit!<CR>")
    assert editor.text() == "// written by another program 🦀\n"
    shown(editor)


def test_the_server_ends_with_the_editor(editor: Editor):
    editor.edit("src/greet.rs")
    editor.edit("src/lib.rs")
    server = editor.server()
    editor.quit()
    until(lambda: not pathlib.Path(f"/proc/{server}").exists(), "the end of the server")
