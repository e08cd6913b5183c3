"""What is said where the process that replays does not do what it should."""

from __future__ import annotations

from counterfoil.talk.process import Words, how_ended
from counterfoil_core.base.errors import CounterfoilError, ObstacleError, WorkerError
from counterfoil_core.base.sentence import say


class ReplayWords(Words):
    """Of a replay in a box."""

    def unstarted(self, error: OSError) -> CounterfoilError:
        """The system does not start it."""
        return ObstacleError(say("No process can be started for the replay: {0}.", error.strerror or error))

    def ended(self, code: int) -> CounterfoilError:
        """It ended before its work was done."""
        return WorkerError(
            say("The process that replays the run ended: {0}. Nothing was concluded.", how_ended(code)),
            remedy=say("It may have been short of memory. What was judged is kept: go on with --resume."),
        )

    def nonsense(self, error: Exception) -> CounterfoilError:
        """It said what it may not say."""
        return CounterfoilError(
            say("The process that replays the run said what it may not say."),
            remedy=say("Do not use its results: the file that was audited may have taken it over."),
            detail=repr(error),
        )
