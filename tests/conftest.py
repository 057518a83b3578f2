"""Which tests may run beside one another: `make test` has three processes, as most of it is waiting."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from xdist.scheduler import LoadScopeScheduling

# The tests of a group run one after another in one process. Those that wait for Slurm's own periods are apart
# from the others, so that both go on at once. Whatever is in no group goes file by file.
GROUPS = {
    "tests/e2e/local/test_elastic.py": "periods",
    "tests/e2e/local/test_controllers.py": "periods",
    "tests/e2e/kube/": "node",
    "tests/e2e/lint/": "slurmctld",
    "tests/e2e/": "clusters",
    "tests/acceptance/test_docs.py": "clusters",
    "tests/kube/": "control-plane",
}


def pytest_configure() -> None:
    """Have Ctrl-C mean what it does at a terminal: what a shell starts in the background ignores it.

    What ignores a signal hands that on to what it starts (signal(7)): to commands that tests interrupt, too.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.partition("::")[0]
            return next((name for start, name in GROUPS.items() if path.startswith(start)), path)

    return Groups(config, log)
