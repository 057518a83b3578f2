"""The tables of keys, words and plugins against the programs that they were taken from."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from npa.slurm import keys, keys_values
from npa.tools.rootfs import Image

RELEASES = ("26.05", "24.11")
PLUGINS = "usr/lib/x86_64-linux-gnu/slurm-wlm"
# s_p_options_t of parse_config.h: a key, what it is read as, and pointers; 56 bytes in both releases.
STRIDE = 56
KINDS = {1: "text", 3: "u16", 4: "u32", 5: "u64", 7: "lines", 8: "bool"}
FIRST = {
    "slurm.conf": "AccountingStorageBackupHost",
    "NodeName": "BcastAddr",
    "PartitionName": "AllocNodes",
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("section", FIRST)
def test_the_keys_are_those_of_the_parser(release: str, section: str, image: Callable[[str], Image]) -> None:
    theirs = next(table for table in _parsers(image(release).root) if FIRST[section] in table)

    ours = {key.name: key.kind for key in keys.known(section, release).values()}
    assert ours == theirs


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("section", ["gres.conf", "cgroup.conf", "slurmdbd.conf", "SwitchName"])
def test_the_other_keys_are_in_the_programs(
    release: str, section: str, image: Callable[[str], Image]
) -> None:
    blob = _programs(image(release).root)

    missing = [key.name for key in keys.known(section, release).values() if key.name.encode() not in blob]
    assert missing == []


def test_the_keys_of_mpi_are_those_of_its_plugin(image: Callable[[str], Image]) -> None:
    root = image("24.11").root  # 26.05 of Debian has no mpi/pmix
    theirs = next(table for table in _parsers(root, "mpi_pmix.so") if "PMIxEnv" in table)

    assert {key.name: key.kind for key in keys.known("mpi.conf", "24.11").values()} == theirs


@pytest.mark.parametrize("release", RELEASES)
def test_the_words_are_in_the_programs(release: str, image: Callable[[str], Image]) -> None:
    blob = _programs(image(release).root).lower()
    tables = {**keys_values.STRICT_WORDS, **keys_values.SILENT_WORDS, **keys_values.PARAMETERS}

    missing = {
        (key, word)
        for key, words in tables.items()
        for word in keys.here(words, release)
        if word.partition("=")[0].lower().encode() not in blob
    }
    assert missing == set()


@pytest.mark.parametrize("release", RELEASES)
def test_the_plugins_are_those_of_the_packages(release: str, image: Callable[[str], Image]) -> None:
    there = {path.stem for path in (image(release).root / PLUGINS).glob("*.so")}
    # Without a file of their own: built in, or an older name of another.
    built_in = {"cred_slurm", "topology_default", "job_container_tmpfs"}
    ours = {
        f"{prefix}_{name}"
        for prefix, names in keys_values.PLUGINS.items()
        for name in keys.here(names, release)
    }

    theirs = {name for name in there if any(name.startswith(f"{prefix}_") for prefix in keys_values.PLUGINS)}
    assert {name for name in ours - theirs - built_in if not name.endswith("_none")} == set()
    assert theirs - ours == set()


@lru_cache
def _programs(root: Path) -> bytes:
    found = [
        *(root / PLUGINS).glob("*.so"),
        *(root / "usr/sbin").glob("slurm*"),
        *(root / "usr/bin").glob("s*"),
    ]
    return b"\0".join(path.read_bytes() for path in found if path.is_file())


def _parsers(root: Path, library: str = "libslurmfull.so") -> Iterator[dict[str, str]]:
    """Yield the tables of keys in a library, found by the pointers that the linker would set."""
    content = (root / PLUGINS / library).read_bytes()
    sections = list(_sections(content))
    pointers = _pointers(content, sections)
    seen: set[int] = set()
    for begin in sorted(pointers):
        table, address = dict[str, str](), begin
        while address in pointers and address not in seen:
            (number,) = struct.unpack_from("<I", content, _offset(sections, address) + 8)
            start = _offset(sections, pointers[address])
            found = re.match(rb"[A-Za-z][A-Za-z0-9]*(?=\0)", content[start : start + 64])
            if not found or number not in KINDS:
                break
            table[found[0].decode()] = KINDS[number]
            seen.add(address)
            address += STRIDE
        if len(table) > 1:
            yield table


def _pointers(content: bytes, sections: list[tuple[int, int, int, int]]) -> dict[int, int]:
    found = {}
    for kind, _, offset, size in sections:
        if kind == 4:  # SHT_RELA
            for at, info, addend in struct.iter_unpack("<QQq", content[offset : offset + size]):
                if info & 0xFFFFFFFF == 8:  # R_X86_64_RELATIVE
                    found[at] = addend
    return found


def _offset(sections: list[tuple[int, int, int, int]], address: int) -> int:
    return next(
        o + address - a for kind, a, o, size in sections if kind != 8 and a and a <= address < a + size
    )


def _sections(content: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield (type, address, offset, size) of an ELF file's sections (elf(5))."""
    (start,) = struct.unpack_from("<Q", content, 0x28)
    (count,) = struct.unpack_from("<H", content, 0x3C)
    for index in range(count):
        _, kind, _, address, offset, size = struct.unpack_from("<IIQQQQ", content, start + 64 * index)
        yield kind, address, offset, size
