"""What a witness signs of a live state, and which step that is: found by its hashes, and not with a bit flipped."""

from __future__ import annotations

import base64
import errno
import hashlib
import io
import json
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterfoil.base.joberrors import RecordingError, TargetExistsError
from counterfoil.cli import main
from counterfoil.delivery import snapshots, witness, witnesscheck
from counterfoil.delivery.snapshots import make_line, open_log, sign_line, take_snapshot
from counterfoil.delivery.witness import Witness, newest_state, seconds_until_next, watch_recording
from counterfoil.delivery.witnesscheck import Belongs, By, place_snapshots
from counterfoil.signing.kinds import Ending, Line, LineKind
from counterfoil.signing.privatekeys import generate_key, key_from_seed
from counterfoil.training.recordingfolder import recording_folder
from counterfoil.training.stepfile import encode_state, read_state, state_name
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, DataError, FileWriteError, SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.parties.signatures import check_claim, subject_of
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.subject import Subject
from counterfoil_core.statement.verdict import sign_verdict
from support.jobs import Job
from support.reports import verified_report

KEY, OTHER = key_from_seed(b"\7" * 32), key_from_seed(b"\x08" * 32)


def at_once(mean: float) -> float:
    del mean
    return 0.0


def stored(job: Job) -> dict[int, dict[str, Array]]:
    with BundleReader.open(job.run) as reader:
        found = {step: dict(reader.checkpoint(step)) for step in reader.checkpoint_steps()}
        return {0: dict(reader.initial_state()), **found} if reader.holds_initial else found


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "witness.jsonl"


def witnessed(log: Path, *states: dict[str, Any]) -> bytes:
    with Witness(log, KEY, wait=at_once) as witness:
        for state in states:
            assert witness.look(state)
    return log.read_bytes()


def flipped(state: dict[str, Array]) -> dict[str, Array]:
    """The state with one bit of one element changed."""
    name = max(state, key=lambda each: state[each].nbytes)
    other = state[name].copy()
    other.reshape(-1).view(np.uint8)[0] ^= 1
    return {**state, name: other}


# Snapshots


def test_a_snapshot_is_what_a_stranger_computes() -> None:
    state = {"b": np.arange(5000, dtype=np.float32), "a": np.ones(3, np.int64)}
    # 24 bytes of a, and 20,000 of b in two chunks.
    places = ((0, "a", 0), (23, "a", 0), (24, "b", 0), (24 + 16383, "b", 0), (24 + 16384, "b", 1), (20_023, "b", 1))
    for place, tensor, chunk in (*places, (20_024, "a", 0)):
        seen = take_snapshot(state, place)
        assert (seen.tensor, seen.chunk) == (tensor, chunk)
        data = state[tensor].tobytes()[16384 * chunk : 16384 * (chunk + 1)]
        assert seen.leaf.value == hashlib.sha256(b"\0" + data).digest()  # RFC 9162, section 2.1.1
    layout = b'{"a":["int64",[3]],"b":["float32",[5000]]}'
    assert take_snapshot(state, 0).layout.value == hashlib.sha256(layout).digest()
    with pytest.raises(DataError, match="empty"):
        take_snapshot({"none": np.zeros(0, np.float32)}, 0)


def test_every_chunk_is_drawn_alike(log: Path) -> None:
    state = {"w": np.arange(4 * 4096, dtype=np.float32)}  # four chunks
    lines = open_log(witnessed(log, *[state] * 200), KEY.public).snapshots
    counts = np.bincount([line.snapshot.chunk for line in lines if line.snapshot], minlength=4)
    # Of 200 draws out of four each has 50, with a standard deviation of 6; eight of these are never seen.
    assert counts.min() > 2


def test_waits_are_exponential() -> None:
    waits = np.array([seconds_until_next(100.0) for _ in range(20_000)])
    assert waits.min() >= 0
    assert abs(waits.mean() - 100) < 5  # seven standard deviations
    assert abs((waits > 100).mean() - np.exp(-1)) < 0.025
    assert len(np.unique(waits)) > 19_900


def test_nothing_is_taken_before_its_time(log: Path) -> None:
    with Witness(log, KEY, wait=lambda mean: 1000 * mean) as witness:
        assert not witness.look({"w": np.ones(3, np.float32)})
    assert [line.kind for line in open_log(log.read_bytes(), KEY.public).lines] == [LineKind.BEGUN, LineKind.ENDED]


def test_tensors_of_torch_are_seen_as_those_of_numpy(log: Path) -> None:
    weights = torch.nn.Linear(3, 2).state_dict()
    (line,) = open_log(witnessed(log, dict(weights)), KEY.public).snapshots
    assert line.snapshot is not None
    assert line.snapshot.state_root == take_snapshot({n: t.numpy() for n, t in weights.items()}, 0).state_root


@pytest.mark.parametrize("strange", [[1.0], torch.ones(2, dtype=torch.bfloat16)])
def test_what_is_no_tensor_is_refused(log: Path, strange: object) -> None:
    with Witness(log, KEY, wait=at_once) as witness, pytest.raises(DataError):
        witness.look({"w": strange})


# The log


def test_no_witness_goes_on_with_a_log_that_lies_there(log: Path) -> None:
    log.write_bytes(b"another's")
    with pytest.raises(TargetExistsError):
        Witness(log, KEY)
    assert log.read_bytes() == b"another's"


class FullDisk(io.FileIO):
    """A file of which the first write ends in the middle, and the second writes nothing."""

    writes = 0

    def write(self, data: Any) -> int:
        self.writes += 1
        if self.writes == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(bytes(data)[:100] if self.writes == 1 else data)


def test_a_line_that_was_cut_off_by_a_full_disk_leaves_the_log_whole(log: Path) -> None:
    state = {"w": np.ones(3, np.float32)}
    with Witness(log, KEY, wait=at_once) as witness:
        own, full = witness._file, FullDisk(log, "r+")
        assert own is not None
        full.seek(0, io.SEEK_END)
        before = log.read_bytes()
        witness._file = full
        with pytest.raises(FileWriteError):
            witness.look(state)
        assert log.read_bytes() == before
        assert witness.look(state)
        own.close()
    assert len(open_log(log.read_bytes(), KEY.public).snapshots) == 1


@pytest.mark.parametrize("mean", [0, -1, 10**9])
def test_means_that_are_none(log: Path, mean: int) -> None:
    with pytest.raises(DataError, match="average"):
        Witness(log, KEY, mean)
    assert not log.exists()


def rewritten(change: Callable[[dict[str, Any]], None]) -> Callable[[list[bytes]], list[bytes]]:
    """Change the statement in the second line, and leave its signature."""

    def change_line(lines: list[bytes]) -> list[bytes]:
        envelope = json.loads(lines[1])
        statement = json.loads(base64.b64decode(envelope["payload"]))
        change(statement["predicate"])
        envelope["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()
        return [lines[0], json.dumps(envelope).encode(), *lines[2:]]

    return change_line


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:1] + lines[2:],
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: [*lines[:2], lines[1], *lines[2:]],
        lambda lines: lines[1:],
        lambda lines: [*lines, lines[0]],
        lambda lines: [*lines[:-1], b"{}"],
        lambda lines: [],
        rewritten(lambda predicate: predicate.update(at="2020-01-01T00:00:00Z")),
        rewritten(lambda predicate: predicate["snapshot"].update(leaf="0" * 64)),
    ],
    ids=["taken out", "moved", "twice", "no begin", "begun again", "junk", "empty", "time", "leaf"],
)
def test_a_log_that_was_changed_is_refused(log: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    data = witnessed(log, *[{"w": np.full(3, value, np.float32)} for value in range(3)])
    lines = data.removesuffix(b"\n").split(b"\n")
    assert len(open_log(data, KEY.public).snapshots) == 3
    with pytest.raises(SignatureError):
        open_log(b"".join(line + b"\n" for line in change(lines)), KEY.public)
    with pytest.raises(SignatureError, match="torn"):
        open_log(data[:-1], KEY.public)


def test_a_log_is_its_witnesss(log: Path) -> None:
    data = witnessed(log, {"w": np.ones(3, np.float32)})
    with pytest.raises(SignatureError):
        open_log(data, OTHER.public)


def test_lines_that_contradict_each_other_are_refused_though_signed() -> None:
    seen = take_snapshot({"w": np.ones(3, np.float32)}, 0)
    first = sign_line(make_line(LineKind.BEGUN, None, 0, 600), KEY)
    for line in (
        make_line(LineKind.SNAPSHOT, first, 1, 600),
        make_line(LineKind.ENDED, first, 1, 600, seen, ending=Ending.STOPPED),
        make_line(LineKind.SNAPSHOT, first, 1, 601, seen),
        make_line(LineKind.SNAPSHOT, first, 2, 600, seen),
    ):
        with pytest.raises(SignatureError):
            open_log(first + b"\n" + sign_line(line, KEY) + b"\n", KEY.public)
    open_log(first + b"\n" + sign_line(make_line(LineKind.SNAPSHOT, first, 1, 600, seen), KEY) + b"\n", KEY.public)


def test_no_line_fits_into_another_log_of_the_same_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "timestamp", lambda _: "2026-01-31T12:00:00Z")
    state = {"w": np.ones(3, np.float32)}
    one, other = (witnessed(tmp_path / name, state).splitlines(keepends=True) for name in ("one", "other"))
    assert open_log(b"".join(one), KEY.public).ending is Ending.STOPPED
    with pytest.raises(SignatureError, match="Line 2 "):
        open_log(b"".join([one[0], *other[1:]]), KEY.public)


def test_a_clock_that_was_set_back_is_said_and_refuses_nothing(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(["2026-01-31T12:00:01Z", "2026-01-31T12:00:00Z", "2026-01-31T12:00:05Z"])
    monkeypatch.setattr(snapshots, "timestamp", lambda _: next(times))
    opened = open_log(witnessed(log, {"w": np.ones(3, np.float32)}), KEY.public)
    assert (opened.set_back, opened.ending) == (1, Ending.STOPPED)


def test_an_end_says_why_and_no_other_line_does() -> None:
    seen = take_snapshot({"w": np.ones(3, np.float32)}, 0)
    first = sign_line(make_line(LineKind.BEGUN, None, 0, 600), KEY)
    run = Subject(Digest.of(b"order"), Digest.of(b"run"), "ab" * 32)
    for line in (
        make_line(LineKind.ENDED, first, 1, 600),
        make_line(LineKind.ENDED, first, 1, 600, ending=Ending.RUN),
        make_line(LineKind.ENDED, first, 1, 600, ending=Ending.STOPPED, run=run),
        make_line(LineKind.SNAPSHOT, first, 1, 600, seen, ending=Ending.TIME),
        make_line(LineKind.ABSENT, first, 1, 600, run=run),
    ):
        with pytest.raises(SignatureError):
            sign_line(line, KEY)
    sign_line(make_line(LineKind.ENDED, first, 1, 600, ending=Ending.RUN, run=run), KEY)


def test_an_end_that_was_cut_off_is_said(log: Path) -> None:
    data = witnessed(log, {"w": np.ones(3, np.float32)})
    assert open_log(data, KEY.public).ending is Ending.STOPPED
    assert open_log(data[: data.rindex(b"\n", 0, -1) + 1], KEY.public).ending is None


# Where they belong


def test_each_snapshot_is_found_at_its_step_and_a_strange_one_at_none(digits_job: Job, log: Path) -> None:
    states = stored(digits_job)
    steps = list(states)
    data = witnessed(log, *states.values(), flipped(states[steps[-1]]))
    placed = place_snapshots(open_log(data, KEY.public), [digits_job.run]).snapshots
    assert [each.belongs for each in placed] == [Belongs.FOUND] * len(steps) + [Belongs.NONE]
    assert [[seen.step for seen in each.steps] for each in placed] == [*([step] for step in steps), []]
    assert {seen.by for each in placed for seen in each.steps} == {By.STATE}
    assert not any(each.backwards for each in placed)


def test_a_shard_is_found_where_the_witness_saw_a_part_of_the_state(digits_job: Job) -> None:
    states = stored(digits_job)
    step = max(states)
    name = max(states[step], key=lambda each: states[step][each].nbytes)
    part = {name: states[step][name]}
    lines = [sign_line(make_line(LineKind.BEGUN, None, 0, 600), KEY)]
    for number, seen in enumerate([take_snapshot(part, 0), take_snapshot(flipped(part), 0)], 1):
        lines.append(sign_line(make_line(LineKind.SNAPSHOT, lines[-1], number, 600, seen), KEY))
    log = open_log(b"".join(line + b"\n" for line in lines), KEY.public)
    true, strange = place_snapshots(log, [digits_job.run]).snapshots
    assert step in [seen.step for seen in true.steps]
    assert {seen.by for seen in true.steps} == {By.SHARD}
    # A part may be of a step that the run does not store: nobody is accused.
    assert strange.steps == ()
    assert strange.belongs is Belongs.UNKNOWN


def test_a_chunk_that_no_step_changes_is_found_in_none(digits_job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hidden training on the same frozen base shows its tensors as well."""
    states = stored(digits_job)
    name = max(states[0], key=lambda each: states[0][each].nbytes)
    frozen = {step: {**state, name: states[0][name]} for step, state in states.items()}
    monkeypatch.setattr(witnesscheck, "stored_states", lambda *_: iter(frozen.items()))
    part = {name: states[0][name]}
    lines = [sign_line(make_line(LineKind.BEGUN, None, 0, 600), KEY)]
    for number, seen in enumerate([take_snapshot(part, 0), take_snapshot(flipped(part), 0)], 1):
        lines.append(sign_line(make_line(LineKind.SNAPSHOT, lines[-1], number, 600, seen), KEY))
    log = open_log(b"".join(line + b"\n" for line in lines), KEY.public)
    assert {each.belongs for each in place_snapshots(log, [digits_job.run]).snapshots} == {Belongs.UNKNOWN}


def test_tensors_that_the_run_does_not_have_cannot_be_told(digits_job: Job, log: Path) -> None:
    seen = open_log(witnessed(log, {"w": np.ones(3, np.float32)}), KEY.public)
    placed = place_snapshots(seen, [digits_job.run]).snapshots
    assert [each.belongs for each in placed] == [Belongs.UNKNOWN]


def test_a_state_that_goes_back_is_said(digits_job: Job, log: Path) -> None:
    states = stored(digits_job)
    first, last = min(states), max(states)
    data = witnessed(log, states[last], states[first], states[last])
    placed = place_snapshots(open_log(data, KEY.public), [digits_job.run]).snapshots
    assert [each.backwards for each in placed] == [False, True, False]


# A recorder's folder


def recording(job: Job, place: Path, *steps: int) -> Path:
    """The folder of an unfinished recording with the states of some steps."""
    folder = recording_folder(place)
    folder.mkdir()
    (folder / "recording.json").write_bytes(b"{}")
    for step in steps:
        (folder / state_name(step)).write_bytes(b"".join(encode_state(stored(job)[step])))
    return folder


@pytest.fixture
def watched(digits_job: Job, tmp_path: Path, log: Path) -> Callable[..., bytes]:
    def watch(place: Path, folder: Path, snapshots: int) -> bytes:
        cancel = CancelToken()
        seen: list[object] = []

        def told(line: Any) -> None:
            seen.append(line.snapshot)
            if line.snapshot is not None and sum(each is not None for each in seen) == snapshots:
                shutil.copy(digits_job.run, tmp_path / "run.cfoil")  # the run is made
                shutil.rmtree(folder)

        timer = threading.Timer(60, cancel.cancel)
        timer.start()
        try:
            with Witness(log, KEY, wait=at_once, told=told) as witness:
                watch_recording(place, digits_job.order, witness, cancel)
        finally:
            timer.cancel()
        assert not cancel.cancelled, "it ends when the recording does"
        return log.read_bytes()

    return watch


def test_the_newest_whole_state_is_seen(digits_job: Job, tmp_path: Path, watched: Callable[..., bytes]) -> None:
    states = stored(digits_job)
    *_, before, last = sorted(states)
    place = tmp_path / "run.cfoil"
    folder = recording(digits_job, place, before, last)
    (folder / state_name(last + 1)).write_bytes(b"torn")
    found = place_snapshots(open_log(watched(place, folder, 2), KEY.public), [digits_job.run])
    assert [[seen.step for seen in each.steps] for each in found.snapshots] == [[last], [last]]
    assert found.complete


def test_an_empty_folder_gives_no_snapshot_and_ctrl_c_ends_the_log(digits_job: Job, tmp_path: Path, log: Path) -> None:
    recording(digits_job, tmp_path / "run.cfoil")
    cancel = CancelToken()
    cancel.cancel()
    with Witness(log, KEY, wait=at_once) as witness:
        watch_recording(tmp_path / "run.cfoil", digits_job.order, witness, cancel)
    opened = open_log(log.read_bytes(), KEY.public)
    assert opened.ending is Ending.STOPPED
    assert not opened.snapshots


def test_a_folder_that_is_taken_away_leaves_a_trace_and_does_not_end_the_witness(
    digits_job: Job, tmp_path: Path, log: Path
) -> None:
    place, step = tmp_path / "run.cfoil", max(stored(digits_job))
    folder = recording(digits_job, place, step)
    kinds: list[LineKind] = []

    def told(line: Line) -> None:
        kinds.append(line.kind)
        if len(kinds) == 2:
            folder.rename(tmp_path / "elsewhere")
        elif len(kinds) == 4:
            (tmp_path / "elsewhere").rename(folder)
        elif len(kinds) == 5:
            shutil.copy(digits_job.run, place)
            shutil.rmtree(folder)

    with Witness(log, KEY, wait=at_once, told=told) as witness:
        watch_recording(place, digits_job.order, witness, CancelToken(), 60)
    assert kinds == [
        LineKind.BEGUN,
        LineKind.SNAPSHOT,
        LineKind.ABSENT,
        LineKind.ABSENT,
        LineKind.SNAPSHOT,
        LineKind.ENDED,
    ]
    opened = open_log(log.read_bytes(), KEY.public)
    assert opened.absent == 2
    assert opened.ending is Ending.RUN
    assert opened.run == about(digits_job)


def about(job: Job) -> Subject:
    with BundleReader.open(job.run) as reader:
        return subject_of(check_claim(reader.claim(), reader.manifest, None, reader.extent.steps))


def test_a_pipe_in_the_folder_ends_it_as_failed(digits_job: Job, tmp_path: Path, log: Path) -> None:
    folder = recording(digits_job, tmp_path / "run.cfoil")
    os.mkfifo(folder / state_name(3))
    with pytest.raises(RecordingError), Witness(log, KEY, wait=at_once) as witness:
        watch_recording(tmp_path / "run.cfoil", digits_job.order, witness, CancelToken(), 60)
    opened = open_log(log.read_bytes(), KEY.public)
    assert (opened.ending, opened.run) == (Ending.FAILED, None)


@pytest.mark.parametrize("what", ["nothing", "the order", "another order's run"])
def test_what_is_no_run_of_the_order_completes_no_log(
    digits_job: Job, gpt2_job: Job, tmp_path: Path, log: Path, what: str
) -> None:
    place = tmp_path / "run.cfoil"
    folder = recording(digits_job, place)

    def told(line: Line) -> None:
        if line.kind is LineKind.ABSENT:
            files = {"the order": digits_job.order, "another order's run": gpt2_job.run}
            shutil.copy(files[what], place) if what in files else place.touch()
            shutil.rmtree(folder, ignore_errors=True)

    with pytest.raises(CounterfoilError), Witness(log, KEY, wait=at_once, told=told) as witness:
        watch_recording(place, digits_job.order, witness, CancelToken(), 60)
    assert open_log(log.read_bytes(), KEY.public).ending is Ending.FAILED


def test_time_that_is_over_completes_no_log(digits_job: Job, tmp_path: Path, log: Path) -> None:
    recording(digits_job, tmp_path / "run.cfoil")
    with Witness(log, KEY) as witness:
        watch_recording(tmp_path / "run.cfoil", digits_job.order, witness, CancelToken(), 0)
    opened = open_log(log.read_bytes(), KEY.public)
    assert opened.ending is Ending.TIME
    assert not place_snapshots(opened, [digits_job.run]).complete


def test_a_loop_that_fails_says_so(log: Path) -> None:
    with pytest.raises(ZeroDivisionError), Witness(log, KEY):
        raise ZeroDivisionError
    assert open_log(log.read_bytes(), KEY.public).ending is Ending.FAILED


def test_a_state_that_is_written_while_it_is_read_is_not_taken(
    digits_job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = max(stored(digits_job))
    folder = recording(digits_job, tmp_path / "run.cfoil", step)
    path = folder / state_name(step)
    with BundleReader.open(digits_job.order) as reader:
        layout = reader.state_layout()
    # The control: left alone it is.
    assert newest_state(folder, layout) is not None

    def written_meanwhile(*given: Any) -> Any:
        state = read_state(*given)
        path.write_bytes(path.read_bytes())
        os.utime(path, ns=(1, 1))
        return state

    monkeypatch.setattr(witness, "read_state", written_meanwhile)
    assert newest_state(folder, layout) is None


def test_what_is_no_state_file_is_refused(digits_job: Job, tmp_path: Path) -> None:
    folder = recording(digits_job, tmp_path / "run.cfoil")
    (folder / state_name(3)).symlink_to("/dev/zero")
    with BundleReader.open(digits_job.order) as reader, pytest.raises(RecordingError, match="no regular file"):
        newest_state(folder, reader.state_layout())


# The command


def test_the_command(digits_job: Job, tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate_key(tmp_path / "w.pem", None)
    public = str(tmp_path / "w.pub.pem")
    recording(digits_job, tmp_path / "live.cfoil", max(stored(digits_job)))
    order, run = str(digits_job.order), str(digits_job.run)
    watch = ["witness", "watch", str(tmp_path / "live.cfoil"), "--order", order, "--log", str(log)]
    assert main([*watch, "--key", str(tmp_path / "w.pem"), "--every", "1", "--for", "5"]) == 0
    capsys.readouterr()
    assert main(["witness", "check", str(log), run, "--key", public]) == 2
    said = capsys.readouterr().out
    assert "time was over" in said
    assert "FOUND" in said
    assert f"step {max(stored(digits_job)):,} of" in said
    assert main(["witness", "check", str(log), run, "--key", public, "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert (told["ending"], told["complete"]) == ("time", False)
    assert {each["belongs"] for each in told["snapshots"]} == {"FOUND"}
    log.write_bytes(log.read_bytes()[:-200] + b"\n")
    assert main(["witness", "check", str(log), run, "--key", public]) == 3


def test_exit_codes(digits_job: Job, tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "w.pub.pem").write_text(KEY.public.pem)
    check = ["witness", "check", str(log), str(digits_job.run), "--key", str(tmp_path / "w.pub.pem")]
    witnessed(log, flipped(stored(digits_job)[max(stored(digits_job))]))
    assert main(check) == 1
    assert "NONE" in capsys.readouterr().out
    log.unlink()
    witnessed(log, {"w": np.ones(3, np.float32)})
    assert main(check) == 2
    assert "CANNOT BE TOLD" in capsys.readouterr().out
    # Without the run that it became a log may lack the line that belongs to no run; and no snapshot shows nothing.
    log.unlink()
    whole = stored(digits_job)[max(stored(digits_job))]
    witnessed(log, whole)
    assert main(check) == 2
    assert "stopped before the run was made" in capsys.readouterr().out
    for states, run, code in (([whole], about(digits_job), 0), ([], about(digits_job), 2), ([whole], OTHER_RUN, 2)):
        log.unlink()
        with Witness(log, KEY, wait=at_once) as witness:
            for state in states:
                assert witness.look(state)
            witness.close(Ending.RUN, run)
        assert main(check) == code
    assert "another run than those that were given" in capsys.readouterr().out


OTHER_RUN = Subject(Digest.of(b"order"), Digest.of(b"run"), "ab" * 32)


def test_the_trainers_key_and_verdicts(
    digits_job: Job, tmp_path: Path, log: Path, trainer_key: SigningKey, capsys: pytest.CaptureFixture[str]
) -> None:
    with Witness(log, KEY, wait=at_once) as witness:
        assert witness.look(stored(digits_job)[max(stored(digits_job))])
        witness.close(Ending.RUN, about(digits_job))
    for name, key in (("w", KEY), ("trainer", trainer_key), ("other", OTHER)):
        (tmp_path / f"{name}.pub.pem").write_text(key.public.pem)
    check = ["witness", "check", str(log), str(digits_job.run), "--key", str(tmp_path / "w.pub.pem")]
    assert main([*check, "--trainer-key", str(tmp_path / "trainer.pub.pem")]) == 0
    assert main([*check, "--trainer-key", str(tmp_path / "other.pub.pem")]) == 3
    run = about(digits_job)
    named = {"run_root": run.run_root, "run_order": run.order, "order_digest": run.order}
    report = replace(verified_report(), trainer_key=run.trainer_key, **named)
    verdict = ["--verdict", str(tmp_path / "v.json"), "--auditor-key"]
    for fields, key, name, code in (
        ({}, OTHER, "other", 0),
        ({"run_order": Digest.of(b"another"), "order_digest": Digest.of(b"another")}, OTHER, "other", 2),
        ({"trainer_key": "ab" * 32}, OTHER, "other", 2),
        ({}, trainer_key, "trainer", 2),
    ):
        (tmp_path / "v.json").write_bytes(sign_verdict(replace(report, **fields), key))
        assert main([*check, *verdict, str(tmp_path / f"{name}.pub.pem")]) == code, fields
    assert "No verdict that was given verifies" in capsys.readouterr().out


def test_junk_never_leaves_our_errors() -> None:
    good = sign_line(make_line(LineKind.BEGUN, None, 0, 600), KEY) + b"\n"
    draws = np.random.default_rng(0)
    for _ in range(300):
        data = bytearray(good)
        for place in draws.integers(0, len(data) - 1, 3):
            data[place] = draws.integers(0, 256)
        if bytes(data) == good:
            continue
        try:
            open_log(bytes(data), KEY.public)
        except CounterfoilError:
            continue
        # Only what is not signed may differ: white space, or the key id's own text.
        assert json.loads(bytes(data))["payload"] == json.loads(good)["payload"]


def test_the_digest_before_the_first_line_is_zero() -> None:
    assert make_line(LineKind.BEGUN, None, 0, 600).before == Digest(bytes(32))
