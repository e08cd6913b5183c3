"""Records a run for the window, and puts together what is handed over of it.

It works in the engine's process, with the trainer's own order and files. The private key is not there: each statement
goes to whoever asked, whose signer signs it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from shlex import quote

import counterfoil
from counterfoil import CancelToken, CounterfoilError
from counterfoil.base.wholefiles import check_target, whole_file, write_whole
from counterfoil.training.recording import remove_finished
from counterfoil.training.recordingfolder import has_published, recording_folder
from counterfoil_app.engine.recordings import (
    HEADS_EVERY,
    InsideStep,
    RecordingBegun,
    RecordingEvent,
    RecordingResumed,
    RecordingSize,
    RecordingWork,
    RecordRequest,
    RunMade,
    Sign,
    StepMade,
    size_of,
)
from counterfoil_core.base.inputs import open_plain
from counterfoil_core.base.sentence import say

_PIECE_BYTES = 2**23
_TEXT = "handed-run.txt"
"""The text that goes with a run that is handed over, for people of any language: in English."""


@dataclass(frozen=True)
class _AskedKey:
    """A key whose private half lies elsewhere."""

    public: counterfoil.PublicKey
    ask: Sign

    def sign(self, payload: bytes) -> bytes:
        """Have a statement signed; returns the envelope."""
        return self.ask(payload)


def record_run(request: RecordRequest, sign: Sign, cancel: CancelToken) -> Iterator[RecordingEvent]:
    """Record a run, or go on with one.

    Args:
        request: What to record.
        sign: Has a statement signed with the trainer's key.
        cancel: Stops it; finished steps stay.

    Raises:
        CounterfoilError: As :func:`counterfoil.record`; or a run lies there already.
    """
    remove_finished(request.run)
    check_target(request.run, what=say("the run"), replace=False)
    if request.heads is not None and not (request.resume and has_published(request.run)):
        check_target(request.heads, what=say("the tree heads"), replace=False)
    key = _AskedKey(counterfoil.PublicKey.from_pem(counterfoil.pem_of(request.public).encode()), sign)
    events = counterfoil.record(
        request.order,
        request.run,
        key,
        data=request.data,
        device=request.device,
        threads=request.threads,
        cancel=cancel,
        heads=request.heads,
        heads_every=HEADS_EVERY,
        resume=request.resume,
        limits=request.limits,
    )
    yield from _told(events, request)


def _told(events: Generator[object, None, None], request: RecordRequest) -> Iterator[RecordingEvent]:
    folder, known = recording_folder(request.run), RecordingSize(0, 0)
    try:
        for event in events:
            match event:
                case counterfoil.RecordStarted():
                    client = event.client_key or ""
                    yield RecordingBegun(event.steps, event.device, client, request.public)
                case counterfoil.DataChecked():
                    yield RecordingWork(say("The data file is checked."), event.done, event.total)
                case counterfoil.RecordingChecked():
                    yield RecordingWork(say("What was recorded is checked."), event.done, event.total)
                case counterfoil.RecordingResumed():
                    yield RecordingResumed(event.steps, event.state)
                case counterfoil.StepRestored():
                    yield RecordingWork(say("Finished steps are computed again."), event.step, event.steps)
                case counterfoil.OperatorRecorded():
                    yield InsideStep(event.step, event.done, event.total)
                case counterfoil.StepRecorded():
                    yield StepMade(event.step, event.steps, event.loss)
                    if (size := size_of(folder)) != known:
                        known = size
                        yield size
                case counterfoil.RunAssembled():
                    yield RecordingWork(say("The run is written."), event.done, event.total)
                case counterfoil.RecordFinished():
                    yield RunMade(event.path, event.run_root, event.steps, event.steps_ordered)
    finally:
        events.close()


def hand_over_run(run: Path, heads: Path | None, public: str, folder: Path) -> Path:
    """Copy a run, its tree heads and the public key into a folder of its own, with a text that says how it is checked.

    Args:
        run: The run.
        heads: The file of tree heads; None where none were published.
        public: The public key that signed it, as 64 hexadecimal digits.
        folder: The folder, which is made.

    Returns:
        The folder.

    Raises:
        CounterfoilError: It is there already, or cannot be made or written, or a file cannot be read.
    """
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise CounterfoilError(
            say("The folder {0} cannot be made: {1}.", folder, error.strerror or error),
            remedy=say("Give it another name: nothing is put among other files."),
        ) from error
    _copy(run, folder / run.name, say("the run"))
    if heads is not None:
        _copy(heads, folder / heads.name, say("the tree heads"))
    key = "trainer.pub.pem"
    write_whole(folder / key, counterfoil.pem_of(public).encode(), what=say("the public key"))
    text = (
        resources.files("counterfoil_resources")
        .joinpath("texts", _TEXT)
        .read_text("utf-8")
        .format(
            run=quote(run.name),
            key=key,
            key_id=counterfoil.key_id_of(public),
            heads="" if heads is None else f"tree heads   {quote(heads.name)}\n",
            heads_option="" if heads is None else f" --heads {quote(heads.name)}",
        )
    )
    write_whole(folder / "README.txt", text.encode(), what=say("the text"))
    return folder


def _copy(source: Path, target: Path, what: str) -> None:
    try:
        reading = open_plain(source)
    except (OSError, ValueError) as error:
        raise CounterfoilError(
            say("{0} cannot be read: {1}.", source, getattr(error, "strerror", None) or error),
            remedy=say("Look whether it is there."),
        ) from error
    with reading, whole_file(target, what=what) as writing:
        while piece := reading.read(_PIECE_BYTES):
            writing.write(piece)
