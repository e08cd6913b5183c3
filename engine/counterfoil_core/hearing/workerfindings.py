"""What somebody else found in a segment, or that nobody did."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.hearing.result import SegmentResult
from counterfoil_core.values.workers import Place, ReplayedBy


@dataclass(frozen=True)
class Found:
    """What somebody found in a segment."""

    result: SegmentResult  #: What the replay gave.
    place: Place  #: Where it was replayed, as that one says.
    by: ReplayedBy  #: Who it was.


@dataclass(frozen=True)
class Missing:
    """Nobody's word on a segment can be taken."""

    why: str  #: Why, as a sentence; empty where it is nothing that anybody need be told.
    left_out: bool = False  #: Whether the audit is not to replay it either: it ended those who tried.
