"""Tests that the plugin does not use anything that it could count, parse or store with."""

import re

from driver import HERE

PLUGIN = HERE.parents[2] / "editors/neovim"

# Functions and libraries that count, parse, or store data outside of the running Neovim.
FORBIDDEN = re.compile(
    r"vim\.(treesitter|lpeg|re|diff|text\.diff|glob|spell|sha256|fn\.sha256|fs\.dir|fs\.find|pack)\b|"
    r"\bstdpath\b|\bio\.|\bshada\b|\brequire\(?[\"']ffi|"
    r"(?i:tiktoken|tokenizer|tokenize|tree-sitter|nvim-treesitter|plenary)"
)

OWN = re.compile(r"^(strata(\.[a-z_.]+)?|codecompanion(\.(adapters(\.shared)?|config|http))?)$")


def offences(text: str) -> list[str]:
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    found = [match.group(0) for match in FORBIDDEN.finditer(code)]
    required = re.findall(r"""require\s*\(?\s*["']([^"']+)["']""", code)
    return found + [name for name in required if not OWN.match(name)]


def test_nothing_is_counted_parsed_or_stored():
    sources = [path for folder in ("lua", "lsp", "plugin") for path in (PLUGIN / folder).rglob("*.lua")]
    assert len(sources) > 10
    assert {str(path): found for path in sources if (found := offences(path.read_text()))} == {}


def test_what_is_forbidden_is_found():
    assert offences('local p = vim.treesitter.get_parser(0)') == ["vim.treesitter"]
    assert offences('local t = require("tiktoken_core")') == ["tiktoken", "tiktoken_core"]
    assert offences("local d = require 'plenary.path'") == ["plenary", "plenary.path"]
    assert offences('io.open(vim.fn.stdpath("data"))') == ["io.", "stdpath"]
    assert offences('-- vim.treesitter\nlocal c = require("strata.calls")') == []
