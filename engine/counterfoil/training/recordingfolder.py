"""The folder of an unfinished recording: where it lies, the names in it, and how one is found, refused and removed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from counterfoil.base.joberrors import RecordingError
from counterfoil.base.wholefiles import lock, remove_folder, write_errors
from counterfoil_core.base.obstacles import read_failure
from counterfoil_core.base.sentence import say

HEADER = "recording.json"
HEADS = "heads.jsonl"
ACCEPTANCE = "acceptance.json"
OURS = re.compile(
    r"recording\.json|acceptance\.json|heads\.jsonl|(steps|state)-[0-9]{8}|"
    r"\.(recording|acceptance)\.json\.[0-9a-f]{16}\.part"
)
WHAT = say("the recording")
_NAME = re.compile(r"\.(.+)\.recording", re.DOTALL)


def recorded_run(place: str | os.PathLike[str]) -> Path:
    """Return the run of which a folder is the unfinished recording; what is named otherwise is a run itself."""
    path = Path(place)
    found = _NAME.fullmatch(path.name)
    return path if found is None else path.with_name(found[1])


def recording_folder(run_path: str | os.PathLike[str]) -> Path:
    """Return where the unfinished recording of a run lies."""
    run = Path(run_path)
    return run.with_name(f".{run.name}.recording")


def is_unfinished(run_path: str | os.PathLike[str]) -> bool:
    """Whether an unfinished recording of a run lies beside it."""
    return (recording_folder(run_path) / HEADER).is_file()


def has_published(run_path: str | os.PathLike[str]) -> bool:
    """Whether tree heads of the unfinished recording of a run were published."""
    heads = recording_folder(run_path) / HEADS
    return is_unfinished(run_path) and heads.is_file() and heads.stat().st_size > 0


def check_files(folder: Path) -> None:
    """Refuse what would make the program wait for ever: a pipe, or a device, under a name of a recording's."""
    with reading_recording(folder), os.scandir(folder) as entries:
        for entry in entries:
            if OURS.fullmatch(entry.name) and not entry.is_file(follow_symlinks=False):
                raise RecordingError(
                    say("{0} is no regular file, and no part of a recording.", entry.path),
                    remedy=say("Remove it. What of the recording it stood for is computed again with --resume."),
                )


def discard_recording(run_path: str | os.PathLike[str]) -> None:
    """Remove the unfinished recording of a run, if there is one.

    Raises:
        RecordingError: Somebody goes on with it right now.
        FileWriteError: It cannot be removed.
    """
    folder = recording_folder(run_path)
    if not folder.is_dir():
        return
    check_files(folder)
    with ExitStack() as stack:
        if is_unfinished(run_path):
            with write_errors(folder, WHAT):
                held = stack.enter_context((folder / HEADER).open("rb"))
            if not lock(held.fileno()):
                raise in_use(folder)
        with write_errors(folder, WHAT):
            (folder / HEADER).unlink(missing_ok=True)
            clear(folder)
            remove_folder(folder)


def in_use(folder: Path) -> RecordingError:
    """The error that says that somebody goes on with a recording."""
    return RecordingError(
        say("Another process goes on with the recording in {0} right now.", folder),
        remedy=say("Wait for it, or stop it, or give the run another name."),
    )


def clear(folder: Path) -> None:
    """Remove our files from a folder, but for the header."""
    for path in folder.iterdir():
        if OURS.fullmatch(path.name) and path.name != HEADER:
            path.unlink()


@contextmanager
def reading_recording(path: Path) -> Iterator[None]:
    """Turn what the operating system raises while reading into a FileReadError or a RecordingError."""
    try:
        yield
    except OSError as error:
        raise read_failure(str(path), error) or RecordingError(
            say("The recording's file {0} cannot be read.", path),
            remedy=say("Check that it is there, and that you have permission to read it."),
            detail=f"{type(error).__name__}: {error}",
        ) from error
