from __future__ import annotations

import asyncio
from typing import cast

from npa.operator.slurm_poll import Cluster, Poll, Slurm
from npa.reconcile.world import SlurmView
from npa.slurm.lookup import Found

HERE, GONE = ("ns", "here"), ("ns", "gone")


class Answers:
    """A Slurm that always answers the same."""

    def __init__(self) -> None:
        self.asked: list[Cluster] = []

    async def view(self, cluster: Cluster) -> SlurmView:
        self.asked.append(cluster)
        return SlurmView(digest=Found("d"))


def test_a_cluster_that_nobody_asked_yet_is_asked_when_it_is_looked_at_and_only_one_that_is() -> None:
    async def body() -> None:
        slurm, heard = Answers(), list[Cluster]()
        poll = Poll(cast(Slurm, slurm), lambda: [HERE], heard.append)
        for _ in range(2):
            assert poll.view(HERE) == poll.view(GONE) == SlurmView()
        while not heard:
            await asyncio.sleep(0)

        assert poll.view(HERE).digest == Found("d")
        assert (slurm.asked, heard) == ([HERE], [HERE])

    asyncio.run(asyncio.wait_for(body(), 10))
