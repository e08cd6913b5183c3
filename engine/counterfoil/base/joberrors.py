"""Errors of whoever orders, records, signs and delivers; an audit raises none of them."""

from __future__ import annotations

from counterfoil_core.base.errors import CounterfoilError, FileWriteError, GivenFileError, ObstacleError, RefusedError


class WeightsError(RefusedError):
    """Delivered weights are damaged, hostile, or in a form that is not read."""


class SignerError(CounterfoilError):
    """The process that holds the private key is gone, does not answer, or refuses to sign."""


class TargetExistsError(FileWriteError):
    """A file that must not be replaced lies where a new one should go."""


class RecordingError(CounterfoilError):
    """An unfinished recording lies in the way, or cannot be gone on with."""


class SealError(CounterfoilError):
    """The seal of what a program kept is not this user's, or the user's secret cannot be used."""


class TrustError(ObstacleError):
    """What a reader trusts is damaged, or could have been written by somebody else: nothing is concluded without it."""


class RankError(ObstacleError):
    """A rank of a recording is gone, has failed, computes otherwise, or does not go with the others."""


class UnequalStatesError(RankError):
    """Ranks that did the same have different states."""


class PartError(GivenFileError):
    """A file that was given as a part of an audit is none, is damaged, or is a part of another audit."""


class TrialError(CounterfoilError):
    """The first step of an order fails, or cannot be tried on this machine; no order was written."""


class OrderError(CounterfoilError):
    """No order was written, for a reason that another process found.

    Args:
        sentence: What happened and why, as a whole sentence.
        remedy: What the reader can do next.
        detail: Technical detail for a report.
        option: The name of the option of the order that it is about; empty where it is about none.
    """

    def __init__(self, sentence: str, *, remedy: str = "", detail: str = "", option: str = "") -> None:
        super().__init__(sentence, remedy=remedy, detail=detail)
        self.option = option
