"""Workers on a Ray cluster, where Ray is installed: one of two nodes on this machine, one of which goes away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from counterfoil.audit.parts.partfile import Message, Ready
from counterfoil_core.values.events import WorkersReported
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.workers import RayWorkers
from support.jobs import Job
from support.resuming import anywhere, ended, request_of, same_end, whole

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def one_node() -> Iterator[None]:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_an_audit_on_a_cluster_ends_as_one_here(one_node: None, digits_job: Job, tmp_path) -> None:
    events = whole(request_of(digits_job, workers=RayWorkers("auto")))
    same_end(anywhere(events), whole(request_of(digits_job)), tmp_path)
    assert [event for event in events if isinstance(event, WorkersReported)][-1].workers[0].segments == 3
    assert ray.is_initialized(), "whoever joined the cluster leaves it"


def test_no_cluster_to_be_reached(digits_job: Job) -> None:
    report = ended(whole(request_of(digits_job, workers=RayWorkers("127.0.0.1:1")))).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "The Ray cluster 127.0.0.1:1 cannot be reached." in report.reason


@pytest.mark.slow
def test_a_node_that_goes_away_has_its_segments_replayed_elsewhere(digits_job: Job, tmp_path) -> None:
    from ray.cluster_utils import Cluster

    from counterfoil.audit.parts import rayexec

    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    other = cluster.add_node(num_cpus=1)
    given: list[tuple[int, int]] = []

    class Losing(rayexec.RayActors):
        """Both workers are ready before either is given anything; then the second node goes away."""

        held: list[Message] | None = None

        def wait(self, seconds: float) -> list[Message]:
            said = super().wait(seconds)
            if given:
                return said
            self.held = [*(self.held or ()), *said]
            if sum(isinstance(message, Ready) for message in self.held) < 2:
                return []
            said, self.held = self.held, None
            return said

        def give(self, worker: int, number: int) -> None:
            given.append((worker, number))
            if len(given) == 2:
                cluster.remove_node(other, allow_graceful=False)
            super().give(worker, number)

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rayexec, "RayActors", Losing)
            events = whole(request_of(digits_job, workers=RayWorkers(cluster.address)))
    finally:
        ray.shutdown()
        cluster.shutdown()
    same_end(anywhere(events), whole(request_of(digits_job)), tmp_path)
    numbers = [number for _, number in given]
    assert set(numbers) == {1, 2, 3}
    assert len(numbers) > 3, "what the lost node had was given again"
