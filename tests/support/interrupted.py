"""Recordings that are stopped, and gone on with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordEvent, StepRecorded
from counterfoil.training.recordingfolder import recording_folder
from counterfoil_core.signing.keys import SigningKey


def stop_after(step: int, order: Path, run: Path, key: SigningKey, **settings: Any) -> Path:
    """Record on one thread, let go of it after a step, and return the folder of the unfinished recording."""
    events = record(order, run, key, **({"threads": 1} | settings))
    for event in events:
        if isinstance(event, StepRecorded) and event.step == step:
            break
    events.close()  # type: ignore[attr-defined]
    return recording_folder(run)


def go_on(order: Path, run: Path, key: SigningKey, **settings: Any) -> list[RecordEvent]:
    """Go on with a recording to its end, on one thread; returns what happened."""
    return list(record(order, run, key, **({"threads": 1, "resume": True} | settings)))
