"""Pipes that nobody writes to, endless devices, folders, sockets and huge empty files in the place of every input."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from counterfoil.audit.hearings import adjudicate
from counterfoil.cli import main
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import open_input, read_input
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.events import AdjudicationFinished, CheckChanged
from counterfoil_core.values.outcome import Outcome
from support.jobs import Job

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files as POSIX knows them")

SECONDS = 20
HUGE = 100 * 2**30
KINDS = ("pipe", "device", "folder", "socket", "sparse")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Path]]:
    """One of each, and somebody who looks at the clock."""
    found = {kind: tmp_path / f"a.{kind}" for kind in KINDS}
    os.mkfifo(found["pipe"])
    found["device"] = Path("/dev/zero")
    found["folder"].mkdir()
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(found["socket"].name)
    with found["sparse"].open("wb") as file:
        file.truncate(HUGE)

    def give_up(*_: object) -> None:
        raise TimeoutError(f"it took more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    yield found
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    listening.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, digits_job: Job) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    found = {"run": digits_job.run, "order": digits_job.order, "key": folder / "auditor.pem"}
    found["public"], found["verdict"] = folder / "auditor.pub.pem", folder / "verdict.json"
    assert main(["keygen", str(found["key"]), "--no-passphrase"]) == 0
    found["outside"], found["data"] = folder / "outside.cfoil", folder / "outside.cfdata"
    write = ["order", "digits-cnn", "--out", str(found["outside"]), "--external-data", str(found["data"])]
    assert main([*write, "--steps", "1", "--width", "2", "--no-trial"]) == 0
    audit = ["audit", str(found["run"]), "--segments", "1", "--verdict", str(found["verdict"])]
    assert main([*audit, "--key", str(found["key"])]) == 0
    return found


COMMANDS = {
    "verify": "verify {x} --key {public}",
    "verify key": "verify {verdict} --key {x}",
    "verify bundle": "verify {verdict} {x} --key {public}",
    "inspect": "inspect {x}",
    "inspect order": "inspect {run} --order {x}",
    "inspect heads": "inspect {run} --heads {x}",
    "inspect trainer": "inspect {run} --trainer-key {x}",
    "audit": "audit {x}",
    "audit key": "audit {run} --verdict v.json --key {x}",
    "audit order": "audit {run} --order {x}",
    "adjudicate": "adjudicate {x}",
    "plan": "plan {x}",
    "referee": "referee {run} {x}",
    "panel": "panel {x} {x}",
    "calibrate": "calibrate {x}",
    "train": "train {x} --out new.cfoil --key {key}",
    "train key": "train {order} --out new.cfoil --key {x}",
    "train data": "train {outside} --out new.cfoil --key {key} --data {x}",
    "sign": "sign {x} --key {key} --out v.json",
    "text": "order gpt2 --text {x} --out new.cfoil",
    "tokenizer": "order gpt2 --text {public} --tokenizer {x} --out new.cfoil",
    "weights": "order gpt2 --text {public} --weights {x} --size 124M --out new.cfoil",
    "table": "order logistic --data {x} --out new.cfoil",
}
# A file of this size may be what a verdict is about: it is hashed to its end, with progress, until one stops it.
HASHED = {("verify bundle", "sparse"), ("audit", "sparse"), ("adjudicate", "sparse")}
# The message is of the option itself: it takes a folder, or the file is named otherwise.
CASES = [(name, kind) for name in COMMANDS for kind in KINDS if (name, kind) not in HASHED]


@pytest.mark.parametrize(("name", "kind"), CASES, ids=lambda value: value)
def test_in_the_place_of_every_input(
    files: dict[str, Path], places: dict[str, Path], capsys: pytest.CaptureFixture[str], name: str, kind: str
) -> None:
    arguments = [part.format(x=places[kind], **files) for part in COMMANDS[name].split(" ")]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = main(arguments)
    caught = capsys.readouterr()
    # Whoever names no file at all made a slip; what a huge file holds may be refused.
    codes = {Outcome.ERROR.exit_code} | ({Outcome.REFUSED.exit_code} if kind == "sparse" else set())
    assert code in codes, caught.out + caught.err
    assert "This is a bug" not in caught.err
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 * 1024  # kB
    assert not Path("new.cfoil").exists()
    assert not Path("v.json").exists()


def test_a_huge_empty_capsule_is_hashed_with_words_and_no_capsule(tmp_path: Path) -> None:
    """What is judged is what was hashed, also where it is none: meanwhile it is said how far that is."""
    path = tmp_path / "capsule.cfoil"
    with path.open("wb") as file:
        file.truncate(2**28 + 1)
    *events, last = adjudicate(path, threads=1)
    assert isinstance(last, AdjudicationFinished)
    told = [event.check.detail for event in events if isinstance(event, CheckChanged)]
    assert any("Hashing the file" in each for each in told)
    assert last.report.outcome is AdjudicationOutcome.REFUSED
    assert last.report.capsule_digest == Digest.of(bytes(2**28 + 1))


def test_it_ends_at_once_when_that_is_stopped(tmp_path: Path) -> None:
    path, cancel = tmp_path / "capsule.cfoil", CancelToken()
    with path.open("wb") as file:
        file.truncate(HUGE)
    events = adjudicate(path, cancel=cancel, threads=1)
    assert isinstance(next(event for event in events if isinstance(event, CheckChanged)), CheckChanged)
    cancel.cancel()
    *_, last = events
    assert isinstance(last, AdjudicationFinished)
    assert (last.report.outcome, last.report.capsule_digest) == (AdjudicationOutcome.INCONCLUSIVE, None)


@pytest.mark.parametrize("command", ["verify {x}", "inspect {x}", "facts {x}", "sign {x} --key {key} --out v.json"])
@pytest.mark.parametrize("link", ["/proc/self/environ", "/proc/self/mem", "/proc/self/fd", "/proc/kmsg"])
@pytest.mark.skipif(sys.platform != "linux", reason="Linux has /proc")
def test_a_link_into_the_system(
    files: dict[str, Path], places: dict[str, Path], capsys: pytest.CaptureFixture[str], command: str, link: str
) -> None:
    (path := places["folder"].with_name("linked.json")).symlink_to(link)
    code = main([part.format(x=path, **files) for part in command.split()])
    said = capsys.readouterr().err
    assert code in (Outcome.ERROR.exit_code, Outcome.REFUSED.exit_code, Outcome.INCONCLUSIVE.exit_code), said
    assert said.strip()
    assert "This is a bug" not in said


@pytest.mark.parametrize("command", ["verify {x} --key {public}", "inspect {x}", "audit {x}", "adjudicate {x}"])
def test_a_file_that_vanishes_before_it_is_opened(
    files: dict[str, Path],
    places: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    """It was there when the command began."""
    path = places["folder"].with_name("vanishing.cfoil")
    path.write_bytes(files["run"].read_bytes())
    real: Callable[..., int] = os.open

    def opened(name: object, *rest: object, **more: object) -> int:
        if str(name) == str(path):
            path.unlink(missing_ok=True)
        return real(name, *rest, **more)

    monkeypatch.setattr(os, "open", opened)
    code = main([part.format(x=path, **files) for part in command.split()])
    said = capsys.readouterr().err
    assert (code, "This is a bug" in said) == (Outcome.ERROR.exit_code, False), said
    assert "There is no" in said


@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize("name", ["data_batch_1.bin", "train-images-idx3-ubyte", "train-images-idx3-ubyte.gz"])
def test_in_a_folder_of_images(places: dict[str, Path], kind: str, name: str) -> None:
    folder = Path("images")
    folder.mkdir()
    for other in ("data_batch_1.bin", "data_batch_2.bin", "train-labels-idx1-ubyte"):
        (folder / other).write_bytes(b"")
    (folder / name).unlink(missing_ok=True)
    places[kind].rename(folder / name)
    assert main(["order", "resnet", "--data", str(folder), "--out", "new.cfoil"]) == Outcome.ERROR.exit_code


def test_a_file_that_becomes_a_pipe_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was looked at first is not what is opened: it is looked at again, and opening it did not wait."""
    path, pipe = tmp_path / "a", tmp_path / "pipe"
    path.write_bytes(b"x")
    os.mkfifo(pipe)
    real: Callable[..., int] = os.open
    monkeypatch.setattr(os, "open", lambda name, *rest: real(pipe if name == path else name, *rest))
    done: list[Exception] = []

    def attempt() -> None:
        try:
            open_input(path, "a verdict", DataError)
        except DataError as error:
            done.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert [str(error) for error in done] == [f"{path} is a pipe, where a verdict should be. Give the name of a file."]


def test_a_file_that_grows_or_says_that_it_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)
    assert read_input(path, "a verdict", DataError, most=100) == b"x" * 100
    with pytest.raises(DataError, match="larger than 99 bytes, too large for a verdict"):
        read_input(path, "a verdict", DataError, most=99)
    if sys.platform == "linux":  # such a file has the size 0, and contents
        with pytest.raises(DataError, match="larger than 10 bytes"):
            read_input("/proc/self/maps", "a verdict", DataError, most=10)
