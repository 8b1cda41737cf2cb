"""Counts texts with tiktoken and with Strata and prints where they differ. Called by `tiktoken_diff`."""

import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading

FUZZED = 100_000
ENCODINGS = ["o200k_base", "cl100k_base"]
URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
SHOWN = 10

# What provokes the split patterns: contractions in all spellings, white space of every kind, marks, digits of other
# scripts, letters whose case is odd, symbols around newlines.
FRAGMENTS = (
    "'s 'S 'ſ 'LL 'vE 're 'd 'x \u00a0 \u2028 / //\n ) {} - = \u0301 é ǅ ª ʰ 語 日本 Ü À 😀 \u200d ½ ٣ \u3000 \u0085 K "
    "<|endoftext|> A b HTTP foo Bar 123 4567 ß İ \U0001e900 \U000e0100 \ufeff"
).split(" ") + [" ", "  ", "\n", "\r\n", "\t", "\x0b", "\x0c", "\x1f", "\x00", ")\n\n/"]


def folder_of_vocabularies():
    """A cache folder for tiktoken, filled with the files that tiktoken-rs carries."""
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version=1"], check=True, capture_output=True, text=True
    )
    packages = json.loads(metadata.stdout)["packages"]
    manifest = next(package["manifest_path"] for package in packages if package["name"] == "tiktoken-rs")
    folder = tempfile.mkdtemp()
    for name in ENCODINGS:
        source = os.path.join(os.path.dirname(manifest), "assets", name + ".tiktoken")
        os.symlink(source, os.path.join(folder, hashlib.sha1(URL.format(name).encode()).hexdigest()))
    return folder


def files(folders):
    """Every text below the folders, each content once."""
    seen = set()
    for folder in folders:
        for path, names, entries in os.walk(folder):
            names[:] = sorted(name for name in names if name != ".git")
            for entry in sorted(entries):
                path_of = os.path.join(path, entry)
                if not os.path.isfile(path_of) or os.path.getsize(path_of) > 4 << 20:
                    continue
                with open(path_of, "rb") as file:
                    content = file.read()
                try:
                    text = content.decode()
                except UnicodeDecodeError:
                    continue
                if b"\0" not in content and content not in seen:
                    seen.add(content)
                    yield path_of, text


def fuzzed():
    """Made-up strings, the same in every run."""
    choose = random.Random(5)

    def any_character():
        while True:
            code = choose.randrange(0x110000) if choose.random() < 0.3 else choose.randrange(0x3000)
            if not 0xD800 <= code < 0xE000:
                return chr(code)

    def piece():
        if choose.random() < 0.25:
            return any_character()
        return choose.choice(FRAGMENTS) * choose.choice([1, 1, 1, 2, 5, 40])

    for number in range(FUZZED):
        yield f"fuzzed {number}", "".join(piece() for _ in range(choose.randrange(25)))


def strata():
    """A process that answers each text with its two counts."""
    command = ["cargo", "bench", "--quiet", "-p", "e2e", "--bench", "tokens", "--", "--answer"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def main(folders):
    os.environ["TIKTOKEN_CACHE_DIR"] = folder_of_vocabularies()
    import tiktoken

    encodings = [tiktoken.get_encoding(name) for name in ENCODINGS]
    different = 0
    for what, texts in (("texts", list(files(folders))), ("fuzzed strings", list(fuzzed()))):
        process = strata()

        def write():
            for _, text in texts:
                content = text.encode()
                process.stdin.write(struct.pack("<I", len(content)) + content)
            process.stdin.close()

        threading.Thread(target=write).start()
        wrong = [0] * len(ENCODINGS)
        for name, text in texts:
            answer = [int(count) for count in process.stdout.readline().split()]
            expected = [len(encoding.encode_ordinary(text)) for encoding in encodings]
            for at, (ours, theirs) in enumerate(zip(answer, expected, strict=True)):
                if ours != theirs:
                    wrong[at] += 1
                    if sum(wrong) <= SHOWN:
                        print(f"{name}: {ENCODINGS[at]} {ours}, tiktoken {theirs}")
        if process.wait() != 0:
            sys.exit("Strata did not answer")
        size = sum(len(text.encode()) for _, text in texts) / 1e6
        counted = ", ".join(f"{count} differ in {name}" for name, count in zip(ENCODINGS, wrong))
        print(f"{len(texts):,} {what}, {size:.1f} MB: {counted} (tiktoken {tiktoken.__version__})", flush=True)
        different += sum(wrong)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
