"""Creates the repository for the pictures, a small shop, in a temporary directory, with its own home directory and model provider."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from provider import Provider

SHOP = pathlib.Path(__file__).with_name("shop")
MODEL = "claude-sonnet-5-5"
COMMIT = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2025-01-01T00:00:00Z"}

QUESTION = "Why are slow payments charged twice?"
# Token limit for automatic context. The limit is low, since the shop is small.
AUTO = 700
FOLLOW_UP = "How do I fix it?"
ANSWERS = [
    "`with_retries` calls `Payments.charge` once more after a timeout, and each call makes a new idempotency key (shop/payments.py:16). "
    "If the bank was only slow to answer, it takes the second call for a new payment.",
    "Make the key once, in `Checkout.pay`, and pass it to every attempt:\n\n    payments.charge(customer, amount, key)",
]


@contextlib.contextmanager
def shop():
    """Yields the directory of the repository, and the environment of a user whose settings name the provider."""
    with tempfile.TemporaryDirectory(prefix="strata-pictures-") as top, Provider(ANSWERS) as provider:
        top = pathlib.Path(top).resolve()
        home, repo, programs = top / "home", top / "shop", top / "bin"
        home.mkdir()
        programs.mkdir()
        (programs / "strata").symlink_to(os.environ["STRATA_BIN"])
        shutil.copytree(SHOP, repo)
        mine = {name: value for name, value in os.environ.items() if not name.startswith(("STRATA_", "GIT_", "XDG_"))}
        commit = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in COMMIT.items()}
        environment = {**mine, **commit, "HOME": str(home), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "ANTHROPIC_API_KEY": "a key"}
        for command in ("git init --quiet --initial-branch=main", "git add --all", "git commit --quiet --message=Shop"):
            subprocess.run(command.split(), cwd=repo, env=environment, check=True)
        settings = home / ".config/strata/strata.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f'[provider]\nname = "anthropic"\nmodel = "{MODEL}"\nbase_url = "{provider.url}"\n')
        yield repo, environment
