"""Whatever happens to a fleet, it touches nothing of a stranger's and loses nothing of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.fleet import Killed, Life, World, fleet, outside

from npa.api.identity import Identity
from npa.errors import NpaError
from npa.fleet import plan, verbs
from npa.fleet.backends import Options
from npa.fleet.outside import Outside
from npa.fleet.select import Selection

OPTIONS = Options()
NAMES = ("alpha", "bravo")
NAME = st.sampled_from(NAMES)
WRITES = st.none() | st.integers(1, 8)
ACTION = st.one_of(
    st.tuples(st.just("deploy"), NAME | st.just("*"), WRITES),
    st.tuples(st.just("destroy"), NAME | st.just("*"), WRITES),
    st.tuples(st.just("stranger makes"), NAME, st.none()),
    st.tuples(st.just("stranger ends"), NAME, st.none()),
    st.tuples(st.just("breaks"), NAME, st.none()),
    st.tuples(st.just("mends"), NAME, st.none()),
)


class History:
    """A world, and what a stranger has made in it."""

    def __init__(self, base: Path) -> None:
        self.base, self.world = base, World()
        self.theirs: dict[str, Identity] = {}

    def act(self, what: str, name: str, writes: int | None) -> None:
        """Let one thing happen."""
        if what == "stranger makes" and name not in self.world.clusters:
            made = Identity(self.world.key("theirs"), self.world.now())
            # under a name that a killed run has claimed and not begun, nobody could tell it from ours
            record = self.given().store("lab").record(name)
            if record is None or record.identity:
                self.theirs[name] = self.world.clusters[name] = made
        elif what == "stranger ends":
            self.world.clusters.pop(name, None)
            self.theirs.pop(name, None)
        elif what == "breaks":
            self.world.fails[name] = NpaError("no")
        elif what == "mends":
            self.world.fails.pop(name, None)
        elif what in ("deploy", "destroy"):
            self.run(what, name, writes)

    def given(self, writes: int | None = None) -> Outside:
        """Return a process with so many writes left."""
        return outside(self.base, self.world, Life(writes))

    def run(self, what: str, name: str, writes: int | None) -> None:
        """Run a verb, to its end or until it is killed."""
        given, chosen = self.given(writes), Selection(clusters=(name,))
        try:
            if what == "deploy":
                shown = plan.deploy(fleet(*NAMES), chosen, OPTIONS, given)
                verbs.deploy(shown, OPTIONS, given, concurrency=2).result()
            else:
                shown = plan.destroy("lab", chosen, OPTIONS, given)
                verbs.destroy(shown, OPTIONS, given, concurrency=2).result()
        except (NpaError, Killed):
            pass

    def check(self) -> None:
        """Assert what always holds."""
        recorded = {each.claim.cluster for each in self.given().store("lab").records()[0]}
        for name, identity in self.theirs.items():
            assert self.world.clusters[name] == identity, "a stranger's cluster is as it was"
        assert set(self.world.clusters) - set(self.theirs) <= recorded, "ours are all written down"


@settings(max_examples=60, deadline=None)
@given(st.lists(ACTION, max_size=8))
def test_whatever_happens(actions: list[tuple[str, str, int | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder))
        for action in actions:
            history.act(*action)
            history.check()
        for name in NAMES:
            history.act("stranger ends", name, None)
            history.act("mends", name, None)
        history.run("deploy", "*", None)
        assert set(history.world.clusters) == set(NAMES), "without strangers and faults it is made"
        history.run("destroy", "*", None)
        assert history.world.clusters == {}
        assert not history.given().store("lab").exists()
