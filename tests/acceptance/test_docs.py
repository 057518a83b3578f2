"""Runs what the README and the tutorial tell people to type."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.acceptance import blocks

TOP = Path(__file__).parents[2]
DOCUMENTS = ("README.md", *(str(path.relative_to(TOP)) for path in sorted(TOP.glob("docs/tutorial/*.md"))))
PATIENCE = 900  # seconds for one block: the first deploy may have to build the image


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """Give clusters a place of their own, and leave none of them behind."""
    state = tmp_path / "state"
    env = {
        **os.environ,
        "PATH": f"{TOP}/.venv/bin:{os.environ['PATH']}",
        "NPA_STATE_DIR": str(state),
        "NPA_FLEET_DIR": str(tmp_path / "fleets"),
        "NO_COLOR": "1",
    }
    yield env
    for left in sorted(state.glob("local/*/record.json")):
        argv = ["npa", "soperator", "destroy", left.parent.name, "--yes", "--force"]
        subprocess.run(argv, env=env, check=True, timeout=PATIENCE)


@pytest.mark.e2e
@pytest.mark.skipif(os.geteuid() != 0, reason="clusters on this machine need root")
@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_the_document_tells_to_type_works(
    document: str, environment: Mapping[str, str], tmp_path: Path
) -> None:
    work = TOP if document == "README.md" else tmp_path / "work"
    work.mkdir(exist_ok=True)

    for block in blocks.parse((TOP / document).read_text(encoding="utf-8")):
        if block.not_run:
            continue
        at = f"{document}:{block.line}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.commands],
            cwd=work,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

        assert done.returncode == 0, f"{at} exited {done.returncode}:\n{done.stdout}"
        assert blocks.missing(block.shown, done.stdout) is None, (
            f"{at} printed something else:\n{done.stdout}"
        )
