"""Waits for a recording to begin; loads nothing that takes time, so that a command can wait outside of a box."""

from __future__ import annotations

import time
from collections.abc import Iterator

from counterfoil.audit.values.follow import FollowRequest, FollowState
from counterfoil.training.recordingfolder import HEADER
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import ObstacleError
from counterfoil_core.base.sentence import say


def wait_for_recording(request: FollowRequest, cancel: CancelToken) -> Iterator[FollowState]:
    """Wait until a recording, or its run, lies there; raises CancelledError and ObstacleError."""
    begun = time.monotonic()
    while not (request.folder / HEADER).is_file() and not request.run.is_file():
        if request.patience is not None and time.monotonic() - begun > request.patience:
            raise ObstacleError(
                say("No recording was begun in {0}.", request.folder),
                remedy=say("Give the folder of a recording that goes on, .NAME.recording beside its run."),
            )
        yield FollowState(0, 0, 1, 0, say("Waiting until the recording begins."))
        cancel.wait(request.poll)
