"""Without the Kubernetes client everything else works, and what needs it says how to get it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
sys.modules["lightkube"] = None
from npa.errors import ToolMissingError
from npa.targets.nebius import fixes, gate, status, teardown
from npa.tools.kube import Access, Kube
try:
    Kube(Access("id", "https://127.0.0.1:1", "", str))
except ToolMissingError as error:
    print(error.hint)
"""


def test_a_missing_extra_is_one_clear_message() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)

    assert done.stdout == "install npa with it: pip install 'npa[kube]'\n", done.stderr
