"""An honest recording is killed, loses power, fills the disk, or its unfinished files are changed: nothing is lost."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from benchmarks.imitations import imitated

from counterfoil.audit.overview import inspect
from counterfoil.base.joberrors import RecordingError, TargetExistsError
from counterfoil.base.wholefiles import LEFTOVER_SECONDS
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training import recording
from counterfoil.training.recipes.logistic import order_logistic, synthetic_table
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordEvent, RecordingResumed, StepRecorded, StepRestored
from counterfoil.training.recordingfolder import recording_folder
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import CheckNumber, CheckState
from support.expectations import run_root, verified
from support.fork_server import Ended, ForkServer
from support.full_disk import TESTS, can_mount, on_disk
from support.heads import heads_of
from support.interrupted import go_on, stop_after
from support.jobs import digits_order, record_run, replaced

STEPS = 20
HEADS_EVERY = 4
posix = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork and no kill -9")


@dataclass(frozen=True)
class Killing:
    """An order, its uninterrupted run, and a server that records it in processes that can be killed."""

    server: ForkServer
    folder: Path
    order: Path
    key: Path
    root: Digest
    seconds: float
    writes: int
    """How many writes the recording takes; then the run gets its name, and then the folder is removed."""

    def train(self, run: Path, *options: object, **how: object) -> Ended:
        """Record, and go on with what is unfinished."""
        heads = ("--heads", run.with_suffix(".jsonl"), "--heads-every", HEADS_EVERY)
        arguments = (self.order, "--out", run, "--key", self.key, "--threads", 1, *heads, *options)
        return self.server.run("train", *arguments, **how)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def killing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killing]:
    folder = tmp_path_factory.mktemp("killing")
    order, key = folder / "job.cfoil", folder / "trainer.pem"
    table = synthetic_table(256, 8, 0)
    settings = {"steps": STEPS, "batch_size": 16, "checkpoint_every": 7, "commit_every": 1}
    draft = order_logistic(table.features, table.labels, **settings)  # type: ignore[arg-type]
    draft.write(order, trial=False)
    writes = STEPS + draft.manifest.extent.checkpoint_count * len(draft.initial)
    generate_key(key, None)
    with ForkServer() as server:
        killing = Killing(server, folder, order, key, Digest.of(b""), 0.0, writes)
        assert killing.train(folder / "first.cfoil", fork=False).code == 0
        second = killing.train(folder / "second.cfoil")
        assert second.code == 0
        root = run_root(folder / "first.cfoil")
        assert root == run_root(folder / "second.cfoil")
        yield Killing(server, folder, order, key, root, second.seconds, writes)


def killed_until_done(killing: Killing, run: Path, kills: list[dict[str, float]]) -> int:
    """Record with ``--resume`` all the time, killed as asked for; returns how many kills came before the end."""
    done = 0
    for how in kills:
        ended = killing.train(run, "--resume", **how)
        if ended.code is None:
            done += 1
        if run.exists():
            break
        assert ended.code in (None, 0), ended.said
    if not run.exists():
        ended = killing.train(run, "--resume")
        assert ended.code == 0, ended.said
    return done


def check_run(killing: Killing, run: Path) -> None:
    """The run is the uninterrupted one, and extends every tree head that was published."""
    assert run_root(run) == killing.root
    verified(run, killing.order, heads=run.with_suffix(".jsonl"))


def random_kills(killing: Killing, folder: Path, wanted: int, seed: int) -> tuple[int, int]:
    """Kill at random times until so many processes were killed; returns how many were, and how many runs it took."""
    chosen, kills, runs = random.Random(seed), 0, 0
    while kills < wanted:
        run = folder / f"run-{runs}.cfoil"
        times = [{"kill_after": chosen.uniform(0.1, 1.0) * killing.seconds} for _ in range(chosen.randint(1, 3))]
        kills += killed_until_done(killing, run, times)
        check_run(killing, run)
        runs += 1
    return kills, runs


@posix
def test_killed_at_any_time_it_ends_with_the_same_run_root(killing: Killing, tmp_path: Path) -> None:
    kills, _ = random_kills(killing, tmp_path, 1, seed=1)
    assert kills >= 1


@posix
@pytest.mark.slow
def test_killed_two_hundred_times_it_ends_with_the_same_run_root(killing: Killing, tmp_path: Path) -> None:
    kills, _ = random_kills(killing, tmp_path, 200, seed=2)
    assert kills >= 200


@pytest.mark.sampled(1)
@posix
@pytest.mark.parametrize("write", [1, 2, 7, 8, 9, 21])
def test_killed_in_the_middle_of_a_write(killing: Killing, tmp_path: Path, write: int) -> None:
    run = tmp_path / "run.cfoil"
    assert killed_until_done(killing, run, [{"kill_at_write": write}]) == 1
    check_run(killing, run)


@posix
@pytest.mark.slow
def test_killed_in_the_middle_of_every_write(killing: Killing, tmp_path: Path) -> None:
    """Every record and state half written, the run just before and after it gets its name, the folder half removed."""
    for write in range(1, 1000):
        run = tmp_path / f"run-{write}.cfoil"
        if not killed_until_done(killing, run, [{"kill_at_write": write}]):
            break
        check_run(killing, run)
    assert write == killing.writes + 5


@posix
def test_killed_just_before_the_run_gets_its_name(killing: Killing, tmp_path: Path) -> None:
    run = tmp_path / "run.cfoil"
    assert killing.train(run, kill_at_write=killing.writes + 1).code is None
    assert not run.exists()
    (part,) = tmp_path.glob(".run.cfoil.*.part")
    a_day_ago = time.time() - LEFTOVER_SECONDS - 60
    os.utime(part, (a_day_ago, a_day_ago))
    ended = killing.train(run, "--resume")
    assert ended.code == 0
    assert f"Removed {part}, which a stopped process left behind." in ended.said.replace("\n", " ")
    assert not part.exists()
    check_run(killing, run)


@pytest.mark.sampled(1)
@posix
@pytest.mark.parametrize(
    ("later", "options", "code"),
    [(2, (), 4), (2, ("--resume",), 0), (3, ("--resume",), 0), (4, ("--resume",), 0), (4, ("--force",), 0)],
)
def test_killed_after_the_run_got_its_name(
    killing: Killing, tmp_path: Path, later: int, options: tuple[str, ...], code: int
) -> None:
    """The run is there and its recording too, or what is left of it: the next command removes that, and says so."""
    run = tmp_path / "run.cfoil"
    assert killing.train(run, kill_at_write=killing.writes + later).code is None
    before = run.read_bytes()
    assert recording_folder(run).is_dir()
    ended = killing.train(run, *options)
    assert ended.code == code, ended.said
    said = " ".join(ended.said.split())
    assert f"Removed {recording_folder(run)}, which a training left behind" in said
    assert ("exists already" in said) is (code == 4)
    assert not recording_folder(run).exists()
    assert (run.read_bytes() == before) is ("--force" not in options), "a run that is complete is not made again"
    check_run(killing, run)


@posix
def test_an_empty_folder_is_no_recording(killing: Killing, tmp_path: Path) -> None:
    """The monitor of a command in a box makes it before the command looks."""
    run = tmp_path / "run.cfoil"
    shutil.copy(killing.folder / "first.cfoil", run)
    recording_folder(run).mkdir()
    ended = killing.train(run, "--force")
    assert ended.code == 0, ended.said
    assert "Removed" not in ended.said
    check_run(killing, run)
    before = run.read_bytes()
    # So it is where a training was ended just before it removed the folder itself.
    recording_folder(run).mkdir()
    ended = killing.train(run, "--resume")
    assert ended.code == 0, ended.said
    assert f"{run} is complete." in " ".join(ended.said.split())
    assert run.read_bytes() == before


@posix
def test_a_recording_is_not_removed_for_a_run_that_is_another_one(killing: Killing, tmp_path: Path) -> None:
    run, later = tmp_path / "run.cfoil", tmp_path / "later.cfoil"
    for path, write in ((run, killing.writes), (later, 12)):
        assert killing.train(path, kill_at_write=write).code is None
    shutil.copy(killing.folder / "first.cfoil", later)
    (tmp_path / "run.cfoil").write_bytes(b"no run at all")
    for path in (run, later):
        names = sorted(each.name for each in recording_folder(path).iterdir())
        ended = killing.train(path, "--resume")
        assert ended.code == 4
        assert "exists already" in ended.said
        assert "Removed" not in ended.said
        assert sorted(each.name for each in recording_folder(path).iterdir()) == names


@posix
def test_what_is_unfinished_is_neither_thrown_away_nor_gone_on_with_unasked(killing: Killing, tmp_path: Path) -> None:
    run = tmp_path / "run.cfoil"
    killing.train(run, kill_at_write=12)
    before = sorted(path.name for path in recording_folder(run).iterdir())
    ended = killing.train(run, "--force")
    assert ended.code == 4
    assert "An unfinished recording of this run lies in" in ended.said
    assert "--resume" in ended.said
    assert "--fresh" in ended.said
    assert sorted(path.name for path in recording_folder(run).iterdir()) == before
    ended = killing.train(run, "--fresh", "--force")
    assert ended.code == 0
    assert "Tree heads of the recording that is discarded were published" in ended.said
    check_run(killing, run)


# Disks that fill up.


@posix
def test_a_disk_that_fills_up_keeps_what_was_done(killing: Killing, tmp_path: Path) -> None:
    run = tmp_path / "run.cfoil"
    for largest in (700, 3_000):
        ended = killing.train(run, "--resume", "--force", largest_file=largest)
        assert ended.code == 4
        said = " ".join(ended.said.split())
        assert "cannot be written to" in said
        assert "Make room there" in said
        assert "0x" not in said
        assert "errno" not in said
        assert not run.exists()
    assert "What was done is kept: --resume goes on from there." in said
    ended = killing.train(run, "--resume")
    assert ended.code == 0, ended.said
    check_run(killing, run)


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="this user may not mount a disk")
def test_a_small_disk_is_refused_before_the_first_step_and_a_full_one_later(killing: Killing, tmp_path: Path) -> None:
    """On a real disk of its own, in one process that sees it: too small at first, then filled up by somebody else."""
    code = f"""
import os, shutil, sys
from pathlib import Path
from counterfoil_core.base.errors import FileWriteError
from counterfoil.signing.privatekeys import load_private_key
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import StepRecorded
disk, order = Path({str(tmp_path)!r}), Path({str(killing.order)!r})
key = load_private_key(Path({str(killing.key)!r}), None)
filling = disk / "filling"
filling.write_bytes(bytes(shutil.disk_usage(disk).free - 20_000))
try:
    list(record(order, disk / "run.cfoil", key, threads=1))
except FileWriteError as error:
    print(error)
print(sorted(path.name for path in disk.iterdir()))
filling.unlink()
try:
    for event in record(order, disk / "run.cfoil", key, threads=1):
        if isinstance(event, StepRecorded) and event.step == 10:
            filling.write_bytes(bytes(shutil.disk_usage(disk).free - 4096))
except FileWriteError as error:
    print(error)
print(sorted(path.name for path in disk.iterdir()))
filling.unlink()
print(list(record(order, disk / "run.cfoil", key, threads=1, resume=True))[-1].run_root.hex)
"""
    command = on_disk("1m", tmp_path, [sys.executable, "-c", code])
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, names, second, later, root = done.stdout.splitlines()
    assert first.startswith(f"There is no room for the recording and the run in {tmp_path}: it needs ")
    assert names == "['filling']"
    assert second.startswith(f"The recording cannot be written to {recording_folder(tmp_path / 'run.cfoil')}: ")
    assert "the disk is full" in second
    assert second.endswith("What was done is kept: --resume goes on from there.")
    assert later == "['.run.cfoil.recording', 'filling']"
    assert root == killing.root.hex


# Files of an unfinished recording that are changed.


@dataclass(frozen=True)
class Stopped:
    """A folder with an order of 8 steps and a state every third, and a recording of it that was stopped after step 7.

    Three tree heads were published: after steps 2, 4 and 6.
    """

    folder: Path
    key: SigningKey

    @property
    def order(self) -> Path:
        return self.folder / "job.cfoil"

    @property
    def run(self) -> Path:
        return self.folder / "run.cfoil"

    @property
    def heads(self) -> Path:
        return self.folder / "heads.jsonl"

    @property
    def recording(self) -> Path:
        return recording_folder(self.run)

    @property
    def straight(self) -> Path:
        """The uninterrupted run."""
        return self.folder / "straight.cfoil"

    def go_on(self, **settings: Any) -> list[RecordEvent]:
        """Go on to the end, publishing as before."""
        return go_on(self.order, self.run, self.key, **({"heads": self.heads, "heads_every": 2} | settings))

    def check(self) -> None:
        """The run is the uninterrupted one, and extends every head that was published."""
        assert run_root(self.run) == run_root(self.straight)
        check = inspect(self.run, heads=self.heads).checks[CheckNumber.COMMITMENTS - 1]
        assert check.state is CheckState.PASSED
        assert "4 tree heads that the trainer signed agree with it" in check.detail


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Stopped:
    made = Stopped(tmp_path_factory.mktemp("stopped"), trainer_key)
    # A coarse grid has so many close decisions that no two machines write the same log.
    draft = digits_order(steps=8, checkpoint_every=3, precision=PROFILES["float32-bfloat16"])
    draft.write(made.order, trial=False)
    # A file of steps for each stored state, as a long recording has.
    with replaced(recording, "ROLL_BYTES", 1):
        stop_after(7, made.order, made.run, trainer_key, heads=made.heads, heads_every=2)
    record_run(made.order, made.straight, trainer_key)
    return made


@pytest.fixture
def stopped(template: Stopped, tmp_path: Path) -> Stopped:
    shutil.copytree(template.folder, tmp_path / "stopped")
    return Stopped(tmp_path / "stopped", template.key)


def flip(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


CHANGES: dict[str, tuple[Callable[[Path], None], int, int]] = {
    "nothing": (lambda folder: None, 7, 6),
    "a bit of the last step": (lambda folder: flip(folder / "steps-00000007", -40), 6, 6),
    "a bit of a seal": (lambda folder: flip(folder / "steps-00000004", -1), 5, 3),
    "a bit of a log": (lambda folder: flip(folder / "steps-00000004", 100), 3, 3),
    "a bit of a step's numbers": (lambda folder: flip(folder / "steps-00000001", 3), 0, 0),
    "a bit of a loss": (lambda folder: flip(folder / "steps-00000001", 35), 0, 0),
    "a bit of the last state": (lambda folder: flip(folder / "state-00000006", 77), 7, 3),
    "a state is gone": (lambda folder: (folder / "state-00000003").unlink(), 7, 0),
    "steps are gone": (lambda folder: (folder / "steps-00000004").unlink(), 3, 3),
    "steps of another place": (lambda folder: shutil.copy(folder / "steps-00000001", folder / "steps-00000004"), 3, 3),
    "a torn step": (lambda folder: tear(folder / "steps-00000007", 50), 6, 6),
    "a torn state": (lambda folder: tear(folder / "state-00000006", 1), 7, 3),
    "an empty state": (lambda folder: (folder / "state-00000006").write_bytes(b""), 7, 3),
}


def tear(path: Path, lost: int) -> None:
    path.write_bytes(path.read_bytes()[:-lost])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_damaged_is_found_and_computed_again(stopped: Stopped, change: str) -> None:
    damage, kept, state = CHANGES[change]
    damage(stopped.recording)
    events = stopped.go_on()
    assert [(event.steps, event.state) for event in events if isinstance(event, RecordingResumed)] == [(kept, state)]
    assert [e.step for e in events if isinstance(e, StepRestored)] == list(range(state + 1, kept + 1))
    assert [e.step for e in events if isinstance(e, StepRecorded)] == list(range(kept + 1, 9))
    stopped.check()


def test_an_earlier_state_that_is_damaged_is_found_before_training_goes_on(stopped: Stopped) -> None:
    flip(stopped.recording / "state-00000003", 5)
    events = stopped.go_on()
    assert [event.state for event in events if isinstance(event, RecordingResumed)] == [0]
    stopped.check()


def test_a_pipe_among_the_files_of_a_recording_is_not_waited_for(stopped: Stopped) -> None:
    for name in ("state-00000003", "steps-00000001", "heads.jsonl", "recording.json"):
        path = stopped.recording / name
        aside = path.with_name("aside")
        there = path.exists()
        if there:
            path.rename(aside)
        os.mkfifo(path)
        with pytest.raises(CounterfoilError, match="regular file"):
            stopped.go_on()
        path.unlink()
        if there:
            aside.rename(path)
    stopped.go_on()
    stopped.check()


# What was published stays true.


def test_another_machine_goes_on_and_contradicts_no_published_head(stopped: Stopped) -> None:
    """Another machine logs other decisions; it follows the logs of the finished steps instead of writing its own."""
    published = stopped.heads.read_bytes()
    assert len(published.splitlines()) == 3
    stopped.go_on(machines=imitated("reversed"))
    assert stopped.heads.read_bytes().startswith(published)
    assert len(stopped.heads.read_bytes().splitlines()) == 4
    verified(stopped.run, stopped.order, heads=stopped.heads)
    # The control: recorded from the start, the other machine's history is another one, and it is accused.
    other = record_run(stopped.order, stopped.folder / "other.cfoil", stopped.key, perturbation="reversed")
    with BundleReader.open(stopped.run) as one, BundleReader.open(stopped.straight) as two:
        assert one.step_records()[:8] == two.step_records()[:8]
    rewritten = inspect(other, heads=stopped.heads).checks[CheckNumber.COMMITMENTS - 1]
    assert rewritten.state is CheckState.FAILED
    assert "signed two histories" in rewritten.detail


def test_steps_that_were_published_and_lost_are_not_made_up_again(stopped: Stopped) -> None:
    """Only a machine that comes to the same bytes may go on; another would be accused of having rewritten history."""
    (stopped.recording / "steps-00000004").unlink()
    with pytest.raises(RecordingError, match=r"The steps up to \d are not those of the tree head") as caught:
        stopped.go_on(machines=imitated("reversed"))
    assert "on the machine where the recording was begun" in caught.value.remedy
    assert not stopped.run.exists()
    stopped.go_on()
    stopped.check()


def test_heads_that_were_published_are_kept_in_mind_without_the_file(stopped: Stopped) -> None:
    (stopped.recording / "steps-00000001").unlink()
    with pytest.raises(RecordingError, match="was published"):
        stopped.go_on(machines=imitated("reversed"), heads=None)


@pytest.mark.parametrize("lost", [1, 500, 10**6], ids=["the last byte", "half a line", "all"])
def test_a_file_of_heads_that_lost_its_end_gets_it_back(stopped: Stopped, lost: int) -> None:
    published = stopped.heads.read_bytes()
    stopped.heads.write_bytes(published[:-lost])
    stopped.go_on()
    assert stopped.heads.read_bytes().startswith(published)
    stopped.check()


def test_a_file_of_other_heads_is_not_added_to(stopped: Stopped) -> None:
    stopped.heads.write_bytes(b"{}\n" + stopped.heads.read_bytes())
    before = stopped.heads.read_bytes()
    with pytest.raises(TargetExistsError, match="holds other tree heads"):
        stopped.go_on()
    assert stopped.heads.read_bytes() == before


def test_a_head_that_was_not_written_whole_was_not_published(stopped: Stopped) -> None:
    """Killed while the recording noted the head, before it was published: it is signed anew."""
    tear(stopped.recording / "heads.jsonl", 100)
    stopped.heads.write_bytes((stopped.recording / "heads.jsonl").read_bytes().rpartition(b"\n")[0] + b"\n")
    assert len(stopped.heads.read_bytes().splitlines()) == 2
    stopped.go_on()
    found = [head.size for head in heads_of(stopped.heads, stopped.key.public)]
    assert found == [3, 5, 9], "nothing is published about step 6 afterwards, and nothing wrongly"
    assert run_root(stopped.run) == run_root(stopped.straight)


def test_the_head_after_the_last_step_is_published_whenever_it_was_killed(stopped: Stopped) -> None:
    stop_after(8, stopped.order, stopped.run, stopped.key, resume=True)  # without --heads
    assert len(stopped.heads.read_bytes().splitlines()) == 3
    events = stopped.go_on()
    assert not any(isinstance(event, StepRecorded) for event in events)
    assert heads_of(stopped.heads, stopped.key.public)[-1].size == 9
    stopped.check()


def test_another_key_does_not_go_on(stopped: Stopped) -> None:
    generate_key(stopped.folder / "other.pem", None)
    other = load_private_key(stopped.folder / "other.pem", None)
    with pytest.raises(RecordingError, match="was begun with another key"):
        go_on(stopped.order, stopped.run, other)
    stopped.go_on()
    stopped.check()


def test_another_order_does_not_go_on(stopped: Stopped) -> None:
    other = stopped.folder / "other.cfoil"
    digits_order(steps=9, checkpoint_every=3).write(other, trial=False)
    with pytest.raises(RecordingError, match="is of another order"):
        go_on(other, stopped.run, stopped.key)
    stopped.go_on()
    stopped.check()


def test_two_do_not_go_on_at_once(stopped: Stopped) -> None:
    events = record(stopped.order, stopped.run, stopped.key, threads=1, resume=True)
    for event in events:
        if isinstance(event, RecordingResumed):
            break
    with pytest.raises(RecordingError, match="Another process goes on with the recording"):
        stopped.go_on()
    with pytest.raises(RecordingError, match="Another process goes on with the recording"):
        list(record(stopped.order, stopped.run, stopped.key, threads=1, fresh=True))
    list(events)
    assert run_root(stopped.run) == run_root(stopped.straight)
