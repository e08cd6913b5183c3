"""'benchmarks gpu': it keeps to its time, does nothing twice, says what is strange, takes no CPU for a GPU."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.campaign.runner import Summary
from benchmarks.campaign.store import Store
from benchmarks.campaign.task import Ended, Result, Task
from benchmarks.cross_hardware.results import (
    Machine as CampaignMachine,
    Ordered,
    Recorded,
    Replayed,
    Trained,
    write_part,
)
from benchmarks.false_accusations import Replay
from benchmarks.forms import Forms
from benchmarks.gpu import larger, page, parts
from benchmarks.gpu.parts import NAMES, PARTS, measure, tasks
from benchmarks.gpu.settings import Scale, Settings

from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError, DeviceError
from support.jobs import digits_order

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings("cpu", Scale.SMALL, tmp_path / "results")


# The command, with a process of its own.


def test_what_is_done_is_kept_and_not_done_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results"
    command = ["gpu", "environment", "--device", "cpu", "--out", str(out)]
    assert main(command) == 0
    assert "1/1 environment, machine:" in capsys.readouterr().out
    before = (out / "results" / "environment" / "machine.json").read_bytes()
    values = json.loads(before)["values"]
    assert min(values["operations_per_second"].values()) > 0
    assert main(command) == 0
    assert "1 of 1 tasks are done already" in capsys.readouterr().out
    assert (out / "results" / "environment" / "machine.json").read_bytes() == before
    assert "This is no GPU" in (out / "report.md").read_text()
    shutil.copytree(DOCS, tmp_path / "docs")
    pages = {name: (tmp_path / "docs" / name).read_bytes() for name in (page.CROSS_HARDWARE, page.BENCHMARKS)}
    assert main(["gpu", "--out", str(out), "--write", str(tmp_path / "docs")]) == 4
    assert "no page on GPUs is written" in capsys.readouterr().err
    assert pages == {name: (tmp_path / "docs" / name).read_bytes() for name in pages}
    assert main([*command, "--scale", "full"]) == 4
    assert "Name another folder" in capsys.readouterr().err


def test_every_task_has_a_name_of_its_own_that_a_file_can_have(settings: Settings) -> None:
    for scale in Scale:
        keys = [task.key for task in tasks(replace(settings, scale=scale, device="cuda:0"))]
        assert len(set(keys)) == len(keys)
        assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") for _, name in keys)
        assert {part for part, _ in keys} == set(NAMES)
    assert [part.name for part in PARTS][:2] == ["environment", "crossing"], "the most valuable first"


def test_settings_go_to_a_process_and_back(settings: Settings) -> None:
    for one in (settings, replace(settings, threads=3, scale=Scale.FULL, device="cuda:0")):
        assert Settings.from_json(one.to_json()) == one


def test_without_the_device_nothing_begins(settings: Settings) -> None:
    with pytest.raises(DeviceError):
        measure(replace(settings, device="cuda:77"), minutes=1)
    assert not settings.out.exists()


# Time, deaths and order, with processes that only pretend.

PRETENDING = """#!{python} -S
import json, os, sys, time
with open({journal!r}, "a") as journal:
    journal.write(f"process {{os.getpid()}}\\n")
for line in sys.stdin:
    part, name = json.loads(line)
    with open({journal!r}, "a") as journal:
        journal.write("begin " + name + "\\n")
    if name.startswith("hang"):
        time.sleep(600)
    if name.startswith("die"):
        os._exit(7)
    time.sleep(0.05)
    with open({journal!r}, "a") as journal:
        journal.write("end " + name + "\\n")
    outcome = "failed" if name.startswith("fail") else "done"
    print(json.dumps(dict(part=part, task=name, outcome=outcome, said="so", seconds=0.05)), flush=True)
"""


class Pretended:
    """Runs tasks that only have names."""

    def __init__(self, settings: Settings, journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.settings, self._journal, self._patch = settings, journal, monkeypatch
        self.said: list[str] = []

    def run(self, todo: Sequence[Task], minutes: float = 1.0, workers: int = 1, **others: object) -> Summary:
        self._patch.setattr(parts, "tasks", lambda _settings, _names: list(todo))
        self._journal.write_text("")
        return measure(self.settings, minutes=minutes, workers=workers, say=self.said.append, **others)  # type: ignore[arg-type]

    @property
    def journal(self) -> list[str]:
        return [line for line in self._journal.read_text().splitlines() if not line.startswith("process")]

    @property
    def processes(self) -> int:
        return self._journal.read_text().count("process")


@pytest.fixture
def pretended(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pretended:
    if os.name != "posix":
        pytest.skip("needs a script for an interpreter")
    python, journal = tmp_path / "python", tmp_path / "journal"
    python.write_text(PRETENDING.format(python=sys.executable, journal=str(journal)))
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    return Pretended(settings, journal, monkeypatch)


def task(name: str, *, seconds: float = 0.1, limit: float = 30.0, alone: bool = False) -> Task:
    return Task("part", name, seconds, limit, alone)


def outcomes(summary: Summary) -> dict[str, Ended]:
    return {result.task: result.outcome for result in summary.results}


def test_a_task_that_hangs_or_dies_or_fails_takes_no_other_with_it(pretended: Pretended) -> None:
    todo = [task("a"), task("hang", limit=0.5), task("b"), task("die"), task("fail"), task("c")]
    found = pretended.run(todo)
    assert outcomes(found) == {
        "a": Ended.DONE, "hang": Ended.TIMED_OUT, "b": Ended.DONE, "die": Ended.FAILED,
        "fail": Ended.FAILED, "c": Ended.DONE,
    }  # fmt: skip
    assert not found.undone
    assert len(found.strange) == 3
    assert pretended.processes == 4, "what went wrong in one process says nothing of the next task"
    assert any("hang: timed out: It took more than 500 ms." in line for line in pretended.said)


def test_what_failed_comes_again_after_what_is_new(pretended: Pretended) -> None:
    pretended.run([task("fail"), task("a")])
    pretended.run([task("fail"), task("a"), task("b")])
    assert pretended.journal == ["begin b", "end b", "begin fail", "end fail"]


def test_when_the_time_is_over_the_rest_is_named_and_the_next_run_goes_on(pretended: Pretended) -> None:
    todo = [task("a"), task("long", seconds=1000), task("hang"), task("b")]
    found = pretended.run(todo, minutes=1.0 / 60, workers=2)
    assert {one.name for one in found.undone} == {"long", "hang"}
    assert outcomes(found) == {"a": Ended.DONE, "b": Ended.DONE}, "what still fits is done"
    assert "begin long" not in pretended.journal
    assert any("hang: ended, the time is over" in line for line in pretended.said)
    assert not found.strange, "want of time is no failure"
    found = pretended.run([replace(one, seconds=0.1) for one in todo if one.name != "hang"])
    assert pretended.journal == ["begin long", "end long"]
    assert not found.undone


def test_what_is_timed_has_the_machine_to_itself(pretended: Pretended) -> None:
    todo = [task(f"{letter}{n}", alone=letter == "t") for n in range(4) for letter in "atb"]
    assert not pretended.run(todo, workers=3).undone
    inside: set[str] = set()
    beside = False
    for line in pretended.journal:
        what, name = line.split()
        inside = inside | {name} if what == "begin" else inside - {name}
        beside = beside or len(inside) > 1
        assert not (len(inside) > 1 and any(one.startswith("t") for one in inside)), pretended.journal
    assert beside, "others run side by side"


def test_a_run_that_is_stopped_keeps_what_is_done(pretended: Pretended) -> None:
    cancel = CancelToken()

    def stop_after_one(line: str) -> None:
        if "part, a" in line:
            cancel.cancel()

    pretended.said = type("Said", (list,), {"append": lambda self, line: stop_after_one(line)})()
    found = pretended.run([task("a"), task("hang")], cancel=cancel)
    assert outcomes(found) == {"a": Ended.DONE}
    assert [one.name for one in found.undone] == ["hang"]


# Controls.


def test_the_controls_differ_and_a_replay_does_not() -> None:
    order, machine = digits_order(steps=2), open_machine("cpu", 1)
    with ExitStack() as stack:
        trainer, auditor, other = (
            Forms(one, machine, stack.enter_context(machine.kernels()))
            for one in (order, order, larger.with_a_bit_flipped(order))
        )
        trainer.record()
        found = larger._across(trainer, auditor)
        assert found["equal"]
        assert found["entries"] > 0
        assert (found["contradictions"], found["omissions"], found["corrections"]) == (0, 0, 0)
        assert found["without_log_equal"], "on the trainer's own machine nothing hangs on the log"
        assert found["reversed_equal"] is False
        assert not larger._across(trainer, other)["equal"], "a flipped bit of the state is seen"
    states = [one.initial for one in (order, larger.with_a_bit_flipped(order))]
    bits = [np.unpackbits(np.frombuffer(b"".join(map(bytes, state.values())), np.uint8)) for state in states]
    assert np.count_nonzero(bits[0] != bits[1]) == 1


GOOD = {"equal": True, "corrections": 3, "contradictions": 0, "omissions": 0, "without_log_equal": False,
        "reversed_equal": False, "entries": 9}  # fmt: skip
VALUES = {"name": "a step", "profile": "exact-20", "values": 5, "recorded_equal": True, "bit_flipped_equal": False}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"there": GOOD | {"equal": False}}, "CPU to device: the replay is not"),
        ({"back": GOOD | {"omissions": 1}}, "device to CPU: the replay is not"),
        ({"there": GOOD | {"reversed_equal": True}}, "a direction reversed gives the same"),
        ({"there": GOOD | {"without_log_equal": True}}, "the log decides nothing"),
        ({"recorded_equal": False}, "record different steps"),
        ({"bit_flipped_equal": True}, "changes nothing"),
    ],
)
def test_what_is_strange_is_said(change: dict[str, object], said: str) -> None:
    values = VALUES | {"there": GOOD, "back": GOOD}
    assert not larger._strange("a step", "exact-20", values)
    (sentence,) = larger._strange("a step", "exact-20", values | change)
    assert said in sentence


# Pages.


def _measured(folder: Path, device: str, title: str) -> None:
    """Results as a GPU would leave them, with made-up figures."""
    store, results = Store(folder), folder / "campaign" / "results"
    store._write(folder / "about.json", {"device": device, "title": title, "host": "a host", "scale": "full"})

    def keep(part: str, name: str, values: dict[str, object], outcome: Ended = Ended.DONE) -> None:
        store.keep(Result(part, name, outcome, "said", 1.0, values, [], "", "9.9", "8.8", "2030-01-02"))

    def form(seconds: float) -> dict[str, object]:
        return {"seconds": seconds, "least": seconds, "rounds": 7, "memory": 3 * 10**9}

    keep(
        "environment",
        "machine",
        {"memory": 150 * 10**9, "driver": "777", "cuda": "13", "triton": "3", "side": 8192,
         "operations_per_second": {"float64": 6e13}, "bytes_copied_per_second": 4e12},
    )  # fmt: skip
    keep("steps", "net.eager", {"name": "a net", "form": "eager", "forms": {"eager float32": form(0.5)}})
    keep(
        "steps",
        "net.float64-24",
        {"name": "a net", "form": "float64-24", "operators": 7, "values": 1234567, "entries": 5, "log_bytes": 99,
         "flops": 2 * 10**12, "parameters": 3,
         "forms": {"unrounded float64": form(1.0), "float64-24, recorded": form(1.1)}},
    )  # fmt: skip
    keep("larger", "net.float64-24", VALUES | {"there": GOOD, "back": GOOD | {"corrections": 4}})
    clean = Replay("a job", "cpu", "device", "VERIFIED", 4, 10, 5, 1, 0, 0, 0, 4, 0)
    keep("accusations", "a-job.cpu", {"replays": [asdict(clean), asdict(replace(clean, outcome="DISPUTED"))]})
    keep("tests", "t", {"file": "t", "counts": {"passed": 3}, "failed": []})
    keep("fine-tuning", "example", {}, Ended.LEFT_OUT)
    write_part(results / "o.json", Ordered("logistic", "exact-20", "ab"))
    for machine, state in (("cpu", "11"), ("gpu-1", "22")):
        write_part(results / f"m{machine}.json", CampaignMachine(machine, title, device, "MKL", {"exact-20": "ok"}, []))
        recorded = Recorded("logistic", "exact-20", "ab", machine, False, 3, "cc", "dd", 0, 0, 1.0)
        write_part(results / f"r{machine}.json", recorded)
        write_part(results / f"t{machine}.json", Trained("logistic", "ab", machine, state, 1.0))
    there = Replayed("logistic", "exact-20", "ab", "cpu", "gpu-1", False, "cc", "VERIFIED", 3, 0, 0, 0, 0, 1.0)
    write_part(results / "p.json", there)


def test_the_sections_are_written_from_the_results_alone(tmp_path: Path) -> None:
    _measured(tmp_path / "results", "cuda", "A GPU of 2030")
    shutil.copytree(DOCS, tmp_path / "docs")
    before = {name: (DOCS / name).read_text() for name in (page.CROSS_HARDWARE, page.BENCHMARKS)}
    assert main(["gpu", "--out", str(tmp_path / "results"), "--write", str(tmp_path / "docs")]) == 0
    after = {name: (tmp_path / "docs" / name).read_text() for name in before}
    for name, text in after.items():
        assert "A GPU of 2030 beside a host" in text
        assert "Not measured yet: no GPU was at hand." not in text
        begin, end = "<!-- gpu: begin -->", "<!-- gpu: end -->"
        assert text.split(begin)[0] == before[name].split(begin)[0]
        assert text.split(end)[1] == before[name].split(end)[1]
        assert "This is no GPU" not in text
    crossed, costs = after[page.CROSS_HARDWARE], after[page.BENCHMARKS]
    assert "| logistic | 0 / -, run root |" in crossed
    row = "| a step | exact-20 | 5 | yes | yes / yes | 3 of 9 / 4 of 9 | differs / differs | differs / differs |"
    assert f"{row} differs |" in crossed
    assert "**1 of 2 replays VERIFIED" in crossed
    assert "3 passed" in crossed
    assert "| fine-tuning | example | left out | said |" in crossed
    assert "In 1 of 1 the state differs" in crossed
    assert "| float64-24, recorded | 1.1 s | 2.20 | - | 1.10 | 1.82 | 3 GB | 99 bytes, 5 entries |" in costs
    assert "driver 777, CUDA 13" in costs


def test_results_of_a_cpu_are_called_that(tmp_path: Path) -> None:
    _measured(tmp_path, "cpu", "a processor")
    assert page.write_report(tmp_path).read_text().count("**This is no GPU.**") == 2
    with pytest.raises(DataError, match="no page on GPUs"):
        page.write_pages(tmp_path, DOCS)


def test_without_results_nothing_is_written(tmp_path: Path) -> None:
    assert main(["gpu", "--out", str(tmp_path), "--write", str(tmp_path)]) == 4


# All of it.


@pytest.mark.slow
def test_everything_on_the_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results"
    assert main(["gpu", "--device", "cpu", "--out", str(out), "--minutes", "60"]) == 0
    results = Store(out).results()
    assert {part for part, _ in results} == set(NAMES)
    assert {one.outcome for one in results.values()} <= {Ended.DONE, Ended.LEFT_OUT}
    replay = ["sh", str(out / "bundles" / "replay.sh"), "--threads", "1"]
    environment = {**os.environ, "COUNTERFOIL": f"{sys.executable} -m counterfoil.cli"}
    done = subprocess.run(replay, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("as expected") == len(json.loads((out / "bundles" / "runs.json").read_text()))
    # The control: a tampered run in the place of an honest one.
    tampered = out / "bundles" / "tampered" / "digits-cnn.float64-24.tampered.cfoil"
    tampered.replace(out / "bundles" / "runs" / "digits-cnn.float64-24.cfoil")
    done = subprocess.run(replay, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "NOT as expected: runs/digits-cnn.float64-24.cfoil, exit code 1" in done.stdout
