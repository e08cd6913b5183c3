"""How a step is divided: its rows among shares, and those of a share among micro-batches.

All shares of a step run one program, so that each needs batches of the same shapes. Share w has the w-th of equal
pieces of the step's row of the schedule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from counterfoil.program.aggregation import Aggregating, AggregationRule, parse_rule
from counterfoil.program.sharecapture import Buffers
from counterfoil.program.update import UpdateRule
from counterfoil.training.forms import Combination, Forms
from counterfoil.training.rows import Rows, Schedule
from counterfoil.training.tables import Kind, Shape
from counterfoil_core.base.errors import DataError
from counterfoil_core.bundle.shares import MAX_SHARES
from counterfoil_core.operators.node import TensorType


@dataclass(frozen=True)
class Division:
    """How the rows of a step are divided."""

    shares: int = 1  #: Into how many shares, whose gradients are combined exactly; an order with one share has none.
    micro_batches: int = 1  #: Into how many equal parts those of a share are split; their gradients are accumulated.
    #: What becomes of the model's floating-point buffers, such as running statistics: ``first``, those of the first
    #: share, as under DistributedDataParallel, or ``mean``, the mean of all shares'.
    buffers: Buffers = "first"
    #: The rule that makes one gradient of those of all shares; None where they are added.
    aggregation: AggregationRule | None = None

    def __post_init__(self) -> None:
        """Check the settings by themselves.

        Raises:
            DataError: One of them is out of range.
        """
        if not 1 <= self.shares <= MAX_SHARES:
            raise DataError(
                f"A step cannot have {self.shares} shares.", remedy=f"Choose 1 to {MAX_SHARES:,}; 1 is no division."
            )
        if self.micro_batches < 1:
            raise DataError(f"A batch cannot be split into {self.micro_batches} parts.", remedy="Choose 1 or more.")
        if self.buffers not in ("first", "mean"):
            raise DataError(f"The job's buffers is {self.buffers!r}.", remedy="Say 'first' or 'mean'.")
        if self.buffers == "mean" and self.aggregation is not None:
            raise DataError(
                "The mean of all shares' buffers is wanted beside a rule of aggregation: one share that lies could "
                "make of that mean what it likes.",
                remedy="Say buffers='first', or leave the rule out.",
            )

    @classmethod
    def of(
        cls,
        shares: int | None,
        micro_batches: int = 1,
        buffers: Buffers = "first",
        aggregate: str | None = None,
        faulty: int = 0,
        worker_momentum: float = 0.0,
    ) -> Division:
        """Return the division that a client describes.

        Args:
            shares: As for the class; None for a step that is one program.
            micro_batches: As for the class.
            buffers: The same.
            aggregate: The rule of aggregation: its name, and settings behind commas, ``centred-clipping,radius=5``.
            faulty: How many shares may be faulty.
            worker_momentum: The decay of worker momentum; 0 for none.

        Raises:
            DataError: One of them cannot be used, or does not go with the others.
        """
        rule = None
        if aggregate is not None:
            if shares is None:
                raise DataError(
                    f"There are no shares that the rule of aggregation {aggregate!r} could be for.",
                    remedy="Say how many shares a step has.",
                )
            name, *settings = aggregate.split(",")
            rule = parse_rule(
                name.strip(),
                shares=shares,
                faulty=faulty,
                momentum=worker_momentum,
                settings=dict(map(_setting, settings)),
            )
        elif faulty or worker_momentum:
            raise DataError(
                "Faulty shares or worker momentum are named, and no rule of aggregation that minds them.",
                remedy="Name a rule, for instance krum (docs/aggregation.md).",
            )
        return cls(1 if shares is None else shares, micro_batches, buffers, rule)

    @property
    def whole(self) -> bool:
        """Whether the step is one program, as an order without shares has it."""
        return self.shares == 1 and self.aggregation is None

    def updating(self, rule: UpdateRule) -> UpdateRule:
        """Return the update rule that is captured: behind the rule of aggregation, if there is one."""
        return rule if self.aggregation is None else Aggregating(rule, self.aggregation)

    def rows_at_once(self, batch_size: int) -> int:
        """Return how many rows of a batch go through the model at once."""
        return batch_size // (self.shares * self.micro_batches)

    def of_share(self, batch: Mapping[str, TensorType]) -> dict[str, TensorType]:
        """Return what a share reads of what a step does.

        Args:
            batch: Dtype and shape of each array, the first axis counting the rows of a step.

        Raises:
            DataError: The rows cannot be divided.
        """
        found = {}
        for name, described in batch.items():
            rows, *axes = described.shape
            if rows % self.shares:
                raise _not_divided(rows, self.shares, "Choose a number of shares that divides the batch size.")
            found[name] = TensorType(described.dtype, (rows // self.shares, *axes))
        return found

    def accumulating(self, batches: int) -> Division:
        """Return the division of a step of several batches, each of which is split into the micro-batches.

        Raises:
            DataError: Neither does each share have as many of them, nor each of them as many shares.
        """
        return replace(self, micro_batches=self.micro_batches * _per_share(batches, self.shares)[0])


WHOLE = Division()
"""Of a step that is one program."""


def _setting(text: str) -> tuple[str, float | int]:
    name, _, value = text.partition("=")
    try:
        return name.strip(), int(value) if value.strip().isdecimal() else float(value)
    except ValueError as error:
        raise DataError(
            f"{text.strip()!r} is no setting of a rule of aggregation.",
            remedy="Write name=number, for instance centred-clipping,radius=5.",
        ) from error


def _not_divided(rows: int, shares: int, remedy: str) -> DataError:
    return DataError(f"A batch of {rows} rows cannot be divided into {shares} equal shares.", remedy=remedy)


def divide(rows: Rows, schedule: Schedule, shares: int) -> tuple[Rows, Schedule]:
    """Return a client's data with the forms of a share's batches, and which rows each share of each step reads.

    Args:
        rows: The data.
        schedule: Which rows each step reads.
        shares: How many shares a step has.

    Raises:
        DataError: The batches of a step cannot be divided into shares of the same shapes.
    """
    if shares == 1 or rows.forms is None:
        return rows, schedule
    divided = [
        _divided(rows.forms, step, row.reshape(-1, rows.forms.rows), shares)
        for step, row in zip(rows.forms.steps, schedule, strict=True)
    ]
    found: dict[tuple[tuple[str, Shape], ...], int] = {}
    steps = [tuple(found.setdefault(tuple(kind.items()), len(found)) for kind in kinds) for kinds, _ in divided]
    most, longest = max(map(len, steps)), max(places.shape[2] for _, places in divided)
    made = np.zeros((len(divided), shares, most, longest), np.int64)
    for number, (_, places) in enumerate(divided):
        made[number, :, : places.shape[1], : places.shape[2]] = places
    forms = Forms(tuple(map(dict, found)), tuple(steps), longest, rows.forms.whole)
    return replace(rows, forms=forms), made.reshape(len(divided), -1)


def _divided(
    forms: Forms, step: Combination, blocks: npt.NDArray[np.int64], shares: int
) -> tuple[list[Kind], npt.NDArray[np.int64]]:
    """Return the kinds of a share's batches, and the rows of each: int64 ``[shares, batches, rows]``."""
    batches, pieces = _per_share(len(step), shares)
    groups = {step[first : first + batches] for first in range(0, len(step), batches)}
    if len(groups) > 1:
        raise DataError(
            "The batches of a step have different shapes, so that its shares would have; all shares of a step run one "
            "program.",
            remedy="Bring the batches of a step to one shape, for instance by padding, or order it without shares.",
        )
    kinds = [forms.kinds[number] for number in groups.pop()]
    if pieces == 1:
        return kinds, blocks[: len(step)].reshape(shares, batches, -1)
    if forms.whole:
        raise DataError(
            f"A batch whose arrays have no rows in common cannot be cut into {pieces} shares.",
            remedy="Let each share have whole batches: accumulate as many as there are shares.",
        )
    rows = next(iter(kinds[0].values()))[0]
    if rows % pieces:
        raise _not_divided(
            rows,
            pieces,
            "Choose a number of shares that divides the rows of every batch, or leave a shorter one out with "
            "last='drop'.",
        )
    kind = {name: (rows // pieces, *shape[1:]) for name, shape in kinds[0].items()}
    return [kind], blocks[: len(step), :rows].reshape(shares, 1, -1)


def _per_share(batches: int, shares: int) -> tuple[int, int]:
    """Return how many of so many batches each share has, and into how many pieces each batch is cut for it."""
    if batches % shares and shares % batches:
        raise DataError(
            f"The {batches} batches of a step cannot be divided among {shares} shares.",
            remedy="Choose a number of shares that divides the batches of a step, or a multiple of these.",
        )
    return max(1, batches // shares), max(1, shares // batches)
