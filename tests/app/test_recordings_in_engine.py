"""Recordings through the engine's process: made, stopped and gone on with; followed, audited, and handed over."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import counterfoil
from counterfoil import (
    AuditFinished,
    CancelToken,
    CounterfoilError,
    FollowEnded,
    FollowState,
    Outcome,
    StepFollowed,
    StepSealed,
)
from counterfoil.cli import main
from counterfoil.training.recordingfolder import recording_folder
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.engine.recordings import (
    KnownFollow,
    RecordingBegun,
    RecordingEvent,
    RecordingResumed,
    RecordingSize,
    RecordRequest,
    RunMade,
    StepMade,
    list_folder,
    size_of,
)
from counterfoil_core.signing.kinds import RUN, TREE_HEAD
from support.boxes import closed
from support.jobs import digits_order

__all__ = ["closed"]

STEPS, EVERY, LIE = 6, 2, 3


@pytest.fixture(scope="module")
def order(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ordered") / "job.cfoil"
    digits_order(steps=STEPS, checkpoint_every=EVERY).write(path, trial=False)
    return path


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[counterfoil.SignerProcess]:
    counterfoil.generate_key(tmp_path / "trainer.pem", None)
    with counterfoil.start_signer(tmp_path / "trainer.pem", "train", counterfoil.Passphrase.none()) as signer:
        yield signer


@pytest.fixture(scope="module")
def engine() -> Iterator[ProcessEngine]:
    engine = ProcessEngine()
    yield engine
    engine.close()


def request_of(order: Path, folder: Path, trainer: counterfoil.SignerProcess, **more: object) -> RecordRequest:
    return RecordRequest(order, folder / "run.cfoil", trainer.public.public, threads=1, **more)  # type: ignore[arg-type]


def follow_of(order: Path, run: Path, **more: object) -> KnownFollow:
    return KnownFollow(recording_folder(run), run, order, threads=1, poll=0.05, **more)  # type: ignore[arg-type]


def stopped_after(
    step: int, engine: ProcessEngine, request: RecordRequest, trainer: counterfoil.SignerProcess
) -> list[RecordingEvent]:
    token = CancelToken()
    said: list[RecordingEvent] = []

    def record() -> None:
        for event in engine.record_run(request, trainer.sign, token):
            said.append(event)
            if isinstance(event, StepMade) and event.step == step:
                token.cancel()

    with pytest.raises(CounterfoilError, match=r"Stopped; the first . steps are kept"):
        record()
    return said


@pytest.mark.slow
def test_a_recording_is_stopped_gone_on_with_followed_and_handed_over(
    engine: ProcessEngine,
    order: Path,
    trainer: counterfoil.SignerProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heads = tmp_path / "heads.jsonl"
    request = request_of(order, tmp_path, trainer, heads=heads, resume=True)
    said = stopped_after(3, engine, request, trainer)
    assert isinstance(said[0], RecordingBegun)
    assert (said[0].steps, said[0].public) == (STEPS, trainer.public.public)
    sizes = [event.written for event in said if isinstance(event, RecordingSize)]
    assert sizes == sorted(sizes)
    assert sizes[0] > 0
    assert size_of(recording_folder(request.run)).written >= sizes[-1]
    follower = engine.another()
    try:
        following = follower.follow(follow_of(order, request.run, trainer=trainer.public.public), CancelToken())
        seen = [next(following)]
        while not (isinstance(seen[-1], FollowState) and seen[-1].waiting and seen[-1].replayed >= EVERY):
            seen.append(next(following))
        assert [event.step for event in seen if isinstance(event, StepFollowed)][:EVERY] == [1, 2]
        said = list(engine.record_run(request, trainer.sign, CancelToken()))
        resumed = next(event for event in said if isinstance(event, RecordingResumed))
        assert resumed.steps >= 3
        made = said[-1]
        assert isinstance(made, RunMade)
        assert (made.run, made.steps, made.ordered) == (request.run, STEPS, STEPS)
        seen += list(following)
        assert isinstance(seen[-1], FollowEnded)
        assert seen[-1].outcome is None
        replayed = {event.step for event in seen if isinstance(event, StepFollowed)}
        assert {event.step for event in seen if isinstance(event, StepSealed)} >= {1, 2, 3}
        *_, finished = follower.audit_followed(follow_of(order, request.run), CancelToken())
        assert isinstance(finished, AuditFinished)
        assert finished.report.outcome is Outcome.VERIFIED, finished.report.reason
        assert finished.report.run_root == made.run_root
        assert replayed >= {1, 2}
        if sys.platform == "linux":
            assert "seccomp" in dict(finished.report.environment)["sandbox"]
    finally:
        follower.close()
    with pytest.raises(CounterfoilError, match="there is a file of this name"):
        list(engine.record_run(request, trainer.sign, CancelToken()))
    command = check_handed_over(engine, request.run, heads, trainer, tmp_path / "handed over")
    folder = tmp_path / "handed over"
    (folder / "job.cfoil").write_bytes(order.read_bytes())
    counterfoil.generate_key(folder / "auditor.pem", None)
    monkeypatch.chdir(folder)
    assert main(command[1:]) == 0
    assert (folder / "verdict.json").is_file()
    with pytest.raises(CounterfoilError, match="cannot be made"):
        engine.hand_over_run(request.run, heads, trainer.public.public, folder)


def check_handed_over(
    engine: ProcessEngine, run: Path, heads: Path, trainer: counterfoil.SignerProcess, target: Path
) -> list[str]:
    """Hand a run over, and return the command that the folder names for an audit of it."""
    folder = engine.hand_over_run(run, heads, trainer.public.public, target)
    assert {path.name for path in folder.iterdir()} == {"README.txt", "heads.jsonl", "run.cfoil", "trainer.pub.pem"}
    assert (folder / "run.cfoil").read_bytes() == run.read_bytes()
    assert counterfoil.load_public_key(folder / "trainer.pub.pem").key_id == trainer.public.key_id
    text = (folder / "README.txt").read_text()
    assert trainer.public.key_id in text
    lines = text.replace("\\\n", " ").splitlines()
    (command,) = [shlex.split(line) for line in lines if "counterfoil audit" in line]
    return command


class StoppingSigner:
    """A signer that stops the recording when it is asked for a statement of a kind, and signs it all the same."""

    def __init__(self, signer: counterfoil.SignerProcess, token: CancelToken, kind: str, size: int | None) -> None:
        self._signer, self._token, self._kind, self._size = signer, token, kind, size
        self.kinds: list[str] = []

    def sign(self, statement: bytes) -> bytes:
        said = json.loads(statement)
        self.kinds.append(said["predicateType"])
        if (said["predicateType"], said["predicate"].get("size")) == (self._kind, self._size):
            self._token.cancel()
        return self._signer.sign(statement)


def test_a_stop_that_crosses_the_end_of_a_recording_has_no_claim_signed(
    engine: ProcessEngine, order: Path, trainer: counterfoil.SignerProcess, tmp_path: Path
) -> None:
    request = request_of(order, tmp_path, trainer, heads=tmp_path / "heads.jsonl", resume=True)
    token = CancelToken()
    # The head after the last step: while it is signed here, the process waits to make the run of it.
    stopping = StoppingSigner(trainer, token, TREE_HEAD.predicate, STEPS + 1)
    with pytest.raises(CounterfoilError, match=f"Stopped; the first {STEPS} steps are kept"):
        list(engine.record_run(request, stopping.sign, token))
    assert stopping.kinds[-1] == TREE_HEAD.predicate
    assert RUN.predicate not in stopping.kinds
    assert isinstance(list(engine.record_run(request, trainer.sign, CancelToken()))[-1], RunMade)


def test_a_claim_that_is_signed_is_that_of_a_run_though_the_recording_was_stopped_meanwhile(
    engine: ProcessEngine, order: Path, trainer: counterfoil.SignerProcess, tmp_path: Path
) -> None:
    token, heads = CancelToken(), tmp_path / "heads.jsonl"
    stopping = StoppingSigner(trainer, token, RUN.predicate, None)
    request = request_of(order, tmp_path, trainer, heads=heads)
    made = list(engine.record_run(request, stopping.sign, token))[-1]
    assert isinstance(made, RunMade)
    assert (made.run.is_file(), recording_folder(made.run).exists()) == (True, False)
    assert stopping.kinds.count(RUN.predicate) == 1
    check_handed_over(engine, made.run, heads, trainer, tmp_path / "handed over")


@pytest.mark.slow
def test_a_lie_is_found_while_it_is_recorded(
    engine: ProcessEngine, order: Path, trainer: counterfoil.SignerProcess, tmp_path: Path
) -> None:
    counterfoil.generate_key(tmp_path / "liar.pem", None)
    key = counterfoil.load_private_key(tmp_path / "liar.pem", None)
    run = tmp_path / "run.cfoil"
    lying = counterfoil.record(order, run, key, threads=1, tamper=counterfoil.LabelFlip(LIE))
    for event in lying:
        if isinstance(event, counterfoil.StepRecorded) and event.step == 2 * EVERY:
            break
    lying.close()
    *_, ended = engine.follow(follow_of(order, run), CancelToken())
    assert isinstance(ended, FollowEnded)
    assert ended.outcome is Outcome.DISPUTED
    assert ended.dispute is not None
    assert ended.dispute.step == LIE


def test_a_signer_that_refuses_ends_the_recording_and_the_next_call_works(
    engine: ProcessEngine, order: Path, trainer: counterfoil.SignerProcess, tmp_path: Path
) -> None:
    def refuse(_statement: bytes) -> bytes:
        raise counterfoil.SignerError("It is gone.")

    with pytest.raises(counterfoil.SignerError, match="gone"):
        list(engine.record_run(request_of(order, tmp_path, trainer), refuse, CancelToken()))
    assert engine.list_folder(tmp_path).files.count("trainer.pem") == 1


@pytest.mark.slow
def test_a_recording_that_another_process_holds_is_not_gone_on_with(
    engine: ProcessEngine, order: Path, trainer: counterfoil.SignerProcess, tmp_path: Path
) -> None:
    request = request_of(order, tmp_path, trainer, resume=True)
    token = CancelToken()
    holding = engine.record_run(request, trainer.sign, token)
    while not isinstance(next(holding), StepMade):
        pass
    token.pause()
    other = engine.another()
    try:
        with pytest.raises(CounterfoilError, match="Another process goes on"):
            list(other.record_run(request, trainer.sign, CancelToken()))
    finally:
        token.cancel()
        other.close()
    with pytest.raises(CounterfoilError, match="Stopped"):
        list(holding)


def test_names_of_a_folder(engine: ProcessEngine, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("c.cfoil", "a.cfoil"):
        (tmp_path / name).touch()
    found = engine.list_folder(tmp_path)
    assert (found.folder, found.folders, found.files, found.more) == (tmp_path, ("b",), ("a.cfoil", "c.cfoil"), False)
    assert list_folder(Path("~")).folder == Path.home()
    with pytest.raises(CounterfoilError, match="cannot be read"):
        engine.list_folder(tmp_path / "none")


@pytest.mark.slow
def test_the_window_process_records_without_torch(
    order: Path, trainer: counterfoil.SignerProcess, tmp_path: Path
) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "import counterfoil\n"
        "from counterfoil_app.engine.process import ProcessEngine\n"
        "from counterfoil_app.engine.recordings import RecordRequest\n"
        "if __name__ == '__main__':\n"
        "    order, key, public = sys.argv[1:]\n"
        "    engine, run = ProcessEngine(), Path(key).with_name('its.cfoil')\n"
        "    with counterfoil.start_signer(key, 'train', counterfoil.Passphrase.none()) as signer:\n"
        "        asked = RecordRequest(Path(order), run, public, threads=1)\n"
        "        *_, last = engine.record_run(asked, signer.sign, counterfoil.CancelToken())\n"
        "    assert last.run == run and run.is_file(), last\n"
        "    engine.close()\n"
        "    found = {'torch', 'h5py', 'numba'} & set(sys.modules)\n"
        "    sys.exit(f'loaded: {found}' if found else 0)\n"
    )
    script = tmp_path / "record_it.py"
    script.write_text(program)
    arguments = [str(order), str(tmp_path / "trainer.pem"), trainer.public.public]
    done = subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
