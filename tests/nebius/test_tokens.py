"""An apply that outlasts a token: real Terraform, a CLI that renews, and an API that refuses ended ones."""

from __future__ import annotations

import shlex
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.fakes import cloud as clouds
from tests.fakes import drifting
from tests.fakes.cloud import Cloud
from tests.fakes.standin import needs_terraform

from npa.errors import DestructiveError, ToolError
from npa.plan.model import Event
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.target import NebiusTarget

pytestmark = needs_terraform

LIFE = 0.7  # seconds that a token is good for
CALLS = 4  # of a script in one apply, with LIFE between two
# As the provider's CLI does it: a token in the environment first, a file that one names, then the profile.
CLI = f"""#!{sys.executable}
import os, sys, time
open(os.environ["HOME"] + "/nebius.calls", "a").write(" ".join(sys.argv[1:]) + "\\n")
given = os.environ.get("NEBIUS_IAM_TOKEN") or os.environ.get("NEBIUS_IAM_TOKEN_FILE")
print(given or f"until-{{time.time() + {LIFE}}}")
"""
SCRIPT = """\
resource "terraform_data" "long" {{
  depends_on = [terraform_data.flux_values]
  provisioner "local-exec" {{
    command = "set -e; for i in {turns}; do sleep {life}; {ask} $(nebius mk8s v1 cluster get-token); done"
  }}
}}
"""
PLUGIN = """\
resource "drifting_pool" "long" {{
  depends_on       = [module.slurm]
  name             = "long"
  fixed_node_count = 1
  turns            = {turns}
}}
"""


class Api:
    """Answers whoever has a token that has not ended."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                _, _, until = self.path.rpartition("until-")
                good = 200 not in outer.answers if until == "once" else float(until) > time.time()
                outer.answers.append(200 if good else 401)
                self.send_response(outer.answers[-1])
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@contextmanager
def api() -> Iterator[Api]:
    found = Api()
    thread = threading.Thread(target=found.server.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        found.server.shutdown()
        thread.join()
        found.server.server_close()


@pytest.fixture
def served() -> Iterator[Api]:
    with api() as found:
        yield found


@pytest.fixture(params=["script"])
def cloud(request: pytest.FixtureRequest, tmp_path: Path, served: Api) -> Iterator[Cloud]:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "nebius").write_text(CLI)
    (programs / "nebius").chmod(0o755)
    ask = programs / "ask"
    url = f"http://127.0.0.1:{served.server.server_port}/"
    ask.write_text(f"#!{sys.executable}\nimport sys, urllib.request as u\nu.urlopen('{url}' + sys.argv[1])\n")
    ask.chmod(0o755)
    turns = " ".join(map(str, range(CALLS)))
    more = {"soperator/modules/slurm/long.tf": SCRIPT.format(turns=turns, life=LIFE, ask=ask)}
    if request.param == "plugin":
        signs_in = f'  profile = "nebius mk8s v1 cluster get-token"\n  api = "{url}"\n'
        text = drifting.header(tmp_path / "truth.json", signs_in) + PLUGIN.format(turns=CALLS)
        more = {"soperator/installations/example/long.tf": text}
    with clouds.serve(tmp_path, more=more) as serving:
        serving.environ["NPA_NEBIUS_BIN"] = str(programs / "nebius")
        serving.environ["TF_CLI_CONFIG_FILE"] = str(drifting.install(tmp_path))
        yield serving


def deploy(cloud: Cloud, said: list[str], *approvals: str) -> str:
    def heard(event: Event) -> None:
        said.append(event.message)

    result = NebiusTarget(cloud.outside).deploy(
        clouds.spec(), NebiusOptions(approvals=approvals, fixes=False), lambda *_: None, heard
    )
    return str(result["status"])


@pytest.mark.parametrize("cloud", ["script", "plugin"], indirect=True)
def test_a_token_that_ends_during_an_apply_is_renewed(cloud: Cloud, served: Api) -> None:
    cloud.environ["NEBIUS_IAM_TOKEN"] = "until-0"  # a stale one of the user's

    assert deploy(cloud, []) == "ready"
    assert served.answers == [200] * CALLS
    asked = (cloud.home / "nebius.calls").read_text().splitlines()
    assert asked.count("mk8s v1 cluster get-token") == CALLS


def test_a_token_that_was_given_cannot_be_renewed_and_the_next_run_goes_on(cloud: Cloud, served: Api) -> None:
    cloud.environ |= {"NPA_REUSE_IAM_TOKEN": "1", "NEBIUS_IAM_TOKEN": "until-once"}  # then it has ended
    said: list[str] = []
    with pytest.raises(ToolError) as failed:
        deploy(cloud, said)
    assert "401" in failed.value.stderr

    assert served.answers == [200, 401]
    assert "it plans from what is there" in failed.value.hint
    assert any("cannot be renewed" in each for each in said)
    made = cloud.ids("clusters")

    del cloud.environ["NPA_REUSE_IAM_TOKEN"]
    with pytest.raises(DestructiveError, match="tainted") as refused:  # what the script did is not known
        deploy(cloud, [])
    approval = shlex.split(refused.value.hint.partition("--approve ")[2])[0]
    assert deploy(cloud, [], approval) == "ready"
    assert cloud.ids("clusters") == made
