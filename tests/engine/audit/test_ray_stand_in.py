"""Workers on a Ray cluster, with a stand-in for Ray that has its actors here: what goes to them and comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from counterfoil.audit.parts import rayexec, workplace
from counterfoil_core.values.events import WorkersReported
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.workers import RayWorkers
from support.jobs import Job
from support.resuming import anywhere, ended, request_of, same_end, whole


class _Remote:
    """An actor: each of its methods gives a handle to what it returns."""

    def __init__(self, actor: object, results: dict[int, object]) -> None:
        self._actor = actor
        self._results = results

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *arguments: self._keep(getattr(self._actor, name)(*arguments)))

    def _keep(self, result: object) -> int:
        self._results[len(self._results)] = result
        return len(self._results) - 1


class StandIn:
    """What of Ray an audit uses; everything is done at once, in this process."""

    exceptions = SimpleNamespace()

    def __init__(self) -> None:
        self.results: dict[int, object] = {}
        self.given: list[object] = []

    def is_initialized(self) -> bool:
        return True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def remote(self, **_needs: object) -> Callable[[type], Any]:
        def make(kind: type, *arguments: object) -> _Remote:
            self.given += arguments
            return _Remote(kind(*arguments), self.results)

        return lambda kind: SimpleNamespace(remote=lambda *arguments: make(kind, *arguments))

    def wait(self, asked: list[int], **_settings: object) -> tuple[list[int], list[int]]:
        return asked, []

    def get(self, handle: int) -> object:
        return self.results[handle]

    def kill(self, _actor: object) -> None:
        pass


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    made = StandIn()
    monkeypatch.setattr(rayexec, "_ray", lambda: made)
    return made


def test_an_audit_on_a_cluster_ends_as_one_here(ray: StandIn, digits_job: Job, tmp_path) -> None:
    events = whole(request_of(digits_job, workers=RayWorkers("auto")))
    same_end(anywhere(events), whole(request_of(digits_job)), tmp_path)
    workers = [event for event in events if isinstance(event, WorkersReported)][-1].workers
    assert sum(worker.segments for worker in workers) == 3
    assert {type(each) for each in (*ray.results.values(), *ray.given)} == {bytes}, "no object goes either way"


def test_a_machine_without_the_file_says_so_in_a_sentence(ray: StandIn, digits_job: Job, monkeypatch) -> None:
    opened = workplace.open_workplace
    monkeypatch.setattr(workplace, "open_workplace", lambda task: opened(replace(task, run="elsewhere.cfoil")))
    report = ended(whole(request_of(digits_job, workers=RayWorkers("auto")))).report
    assert report.outcome is Outcome.INCONCLUSIVE
    assert "There is no file elsewhere.cfoil" in report.reason
