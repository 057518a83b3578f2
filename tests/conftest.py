"""Which tests may run beside one another: `make test` has three processes, as most of it is waiting."""

from __future__ import annotations

from pathlib import Path

import pytest

TOP = Path(__file__).parent
# The tests of a group run one after another in one process. Those that wait for Slurm's own periods are apart
# from the others, so that both go on at once.
GROUPS = {
    "e2e/local/test_elastic.py": "periods",
    "e2e/local/test_controllers.py": "periods",
    "e2e/kube": "node",
    "e2e": "clusters",
    "acceptance/test_docs.py": "clusters",
    "kube": "control-plane",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        path = item.path.relative_to(TOP).as_posix()
        group = next((name for start, name in GROUPS.items() if path.startswith(start)), "")
        if group:
            item.add_marker(pytest.mark.xdist_group(group))
