"""Files as such: their bytes, their size, and lines that no grammar of settings covers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from npa.slurm.lint.finding import Finding, Severity

MAX_BYTES = 1 << 20  # of all files together: what a ConfigMap of Kubernetes holds
_BLANKS = str.maketrans("", "", "\t\r\n")
_DIRECTIVES = ("required", "optional", "include")


def check(files: Mapping[str, str], *, limited: bool) -> Iterator[Finding]:
    """Yield what is wrong with texts, whatever they say."""
    for name, text in files.items():
        yield from _characters(name, text)
    sizes = {name: len(text.encode("utf-8", "surrogateescape")) for name, text in files.items()}
    total = sum(sizes.values())
    if total > MAX_BYTES:
        largest = max(sizes, key=lambda name: sizes[name])
        message = (
            f"{total} bytes with the other files, and a ConfigMap holds {MAX_BYTES}; this is the largest"
        )
        severity: Severity = "error" if limited else "warning"
        hint = "write nodes as `gpu-[0-999]` on one line"
        yield Finding(largest, 0, 0, "", message, hint, severity)


def _characters(name: str, text: str) -> Iterator[Finding]:
    if text.startswith("\ufeff"):
        yield Finding(
            name, 1, 1, "", "begins with a byte order mark, which Slurm cannot read", "save it without"
        )
    if text.translate(_BLANKS).isprintable():  # one look at all of it, as most files are sound
        return
    for number, line in enumerate(text.split("\n"), 1):
        for column, character in enumerate(line.removesuffix("\r"), 1):
            if "\udc80" <= character <= "\udcff":
                message = f"byte 0x{ord(character) - 0xDC00:02x} is not UTF-8"
                yield Finding(name, number, column, "", message, "save the file as UTF-8")
                break
            if not character.isprintable() and character not in "\t\ufeff":
                yield Finding(name, number, column, "", f"control character {character!r}", "remove it")
                break


def plugstack(name: str, text: str) -> Iterator[Finding]:
    """Yield what is wrong with plugstack.conf: `required|optional PLUGIN [ARGUMENTS]`."""
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        column = line.index(words[0]) + 1
        if words[0] not in _DIRECTIVES:
            message = f"{words[0]!r} is neither required nor optional"
            yield Finding(name, number, column, words[0], message, "write `required PLUGIN.so`")
        elif len(words) == 1:
            yield Finding(name, number, column, words[0], "names no plugin", "write `required PLUGIN.so`")
        elif words[0] == "include" and words[1].startswith("/") and not words[1].startswith("/etc/slurm/"):
            message = f"{words[1]!r} is outside of the folder"
            yield Finding(name, number, column, words[0], message, "put what it holds here")
