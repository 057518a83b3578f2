"""What a real slurmrestd answered as what Prometheus reads. NPA_GOLDEN=rewrite writes it anew."""

from __future__ import annotations

import json
import os
from pathlib import Path

from npa.metrics import seen, snapshot
from npa.metrics.snapshot import Snapshot
from npa.operator.exporter import show

HERE = Path(__file__).parent
AT = 1796070300.0  # when the answers were recorded


def answer(name: str) -> object:
    found: object = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    return found


def known() -> Snapshot:
    found = snapshot.with_nodes(Snapshot(), seen.nodes(answer("nodes")), AT)
    found = snapshot.with_jobs(found, seen.jobs(answer("jobs")), AT)
    return snapshot.with_diag(found, seen.diagnosis(answer("diag")), AT)


def test_figures_of_a_real_cluster() -> None:
    written = show.text(snapshot.families(known())).decode()
    path = HERE / "figures.txt"
    if os.environ.get("NPA_GOLDEN") == "rewrite":
        path.write_text(written, encoding="utf-8")

    assert written == path.read_text(encoding="utf-8")


def test_accounting_knows_no_user_ids_and_all_else() -> None:
    jobs = seen.accounted(answer("accounted"))

    assert not jobs.problems
    assert {(each.number, each.user, each.user_id, each.cpus, each.memory) for each in jobs} == {
        (1, "root", "", 1, 4096),
        (2, "root", "", 4, 16384),
        (3, "root", "", 1, 4096),
    }
