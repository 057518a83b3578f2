"""The operator's own image: Debian's Python, what npa needs, and npa as it is installed here."""

from __future__ import annotations

import hashlib
import importlib.metadata
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import npa
from npa.tools import oci, run, sbom
from npa.tools.oci import Content, Image, Layers

OPERATOR = "npa/operator"
SUITE, PYTHON = "trixie", "3.13"
EXTRA = "kube"
_LIB = "opt/npa"  # what is imported from
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
_USER = "65532:65532"
_STATUS = "var/lib/dpkg/status"
_TIMEOUT = 900.0  # seconds, for slow mirrors
_PROGRAM = """\
#!/usr/bin/python3
import sys
from npa.cli.main import main
sys.exit(main())
"""


@dataclass(frozen=True, slots=True)
class Made:
    """The image, and what is in it."""

    image: Image
    packages: tuple[sbom.Package, ...]


def operator(layers: Layers, sources: Path, repository: str, tag: str) -> Made:
    """Return the image of the operator; `sources` may be a checkout, whose needs are newer than our own."""
    wanted = requirements(sources / "pyproject.toml")
    base = layers.made(_key("python", _debian(Path("OUT"))), lambda out: _run(_debian(out)))
    key = _key("pip", [*_pip(Path("OUT")), *wanted])
    needs = layers.made(key, lambda out: _install(wanted, out))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "npa")
        program.write_text(_PROGRAM, encoding="utf-8")
        ours = layers.of_files([*_ours(), Content("usr/local/bin/npa", program, 0o755)])
    image = Image(
        f"{repository}/{OPERATOR}:{tag}" if repository else f"{OPERATOR}:{tag}",
        (base, needs, ours),
        ("/usr/local/bin/npa",),
        env={"PYTHONPATH": f"/{_LIB}", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/tmp"},
        labels={
            "org.opencontainers.image.title": OPERATOR,
            "org.opencontainers.image.description": "The operator of Slurm clusters",
            "org.opencontainers.image.version": npa.__version__,
        },
        user=_USER,
    )
    return Made(image, (*_debs(base.path), *_wheels(needs.path)))


def requirements(project: Path) -> tuple[str, ...]:
    """Return what npa and its operator need, from a checkout's file or from what is installed."""
    if project.exists():
        said = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        return tuple(sorted({*said["dependencies"], *said["optional-dependencies"][EXTRA]}))
    listed = importlib.metadata.requires("npa") or []
    plain = {each for each in listed if ";" not in each}
    extra = {each.partition(";")[0].strip() for each in listed if each.endswith(f"extra == '{EXTRA}'")}
    return tuple(sorted(plain | extra))


def _debian(out: Path) -> list[str]:
    return [
        "mmdebstrap",
        "--variant=essential",
        '--aptopt=Acquire::Languages "none"',
        '--aptopt=APT::Install-Recommends "false"',
        *(f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("man", "doc", "locale", "info")),
        "--include=ca-certificates,catatonit,python3",
        "--format=tar",
        SUITE,
        str(out),
    ]


def _pip(folder: Path) -> list[str]:
    platforms = (f"--platform={each}" for each in _PLATFORMS)
    return [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"),
        *(f"--python-version={PYTHON}", "--only-binary=:all:", *platforms, f"--target={folder}"),
    ]


def _install(wanted: tuple[str, ...], out: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / _LIB
        _run([*_pip(target), *wanted])
        shutil.rmtree(target / "bin", ignore_errors=True)
        _run([*oci.TAR, "--owner=0", "--group=0", "-C", folder, "-cf", str(out), "opt"])


def _ours() -> Iterator[Content]:
    package = Path(npa.__file__).parent
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield Content(f"{_LIB}/npa/{path.relative_to(package)}", path)


def _debs(layer: Path) -> Iterator[sbom.Package]:
    yield from sbom.debian(oci.read(layer, f"./{_STATUS}"))


def _wheels(layer: Path) -> Iterator[sbom.Package]:
    with tempfile.TemporaryDirectory() as folder:
        _run(["tar", "-C", folder, "-xf", str(layer), "--wildcards", "*.dist-info/METADATA"])
        yield from tuple(sbom.python(Path(folder) / _LIB))


def _key(name: str, argv: list[str]) -> str:
    told = "\0".join(each for each in argv if each != sys.executable)
    return f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:16]}"


def _run(argv: list[str]) -> None:
    run.run(argv, timeout=_TIMEOUT)
