"""Imitates other hardware on one machine: every reduction in another order, every function with other last bits.

Honest hardware differs in the order in which it adds, in whether it fuses, and in the last bit of its functions. A
perturbation does the same to every operator that has such freedom, so that replay can be tested against honest
nondeterminism anywhere. Its name consists of these parts, at most one of each line, joined by ``+``:

* ``reversed``: every reduced axis is read backwards. ``shuffled-N``: in a random order keyed by N.
* ``split-K``: every reduction is computed in K parts which are added; ``split`` is ``split-2``. Reductions that cannot
  be split are reordered.
* ``rewritten-N``: every rounded operator is computed by another algorithm, of the set N, 0 or 1
  (:mod:`counterfoil_core.arithmetic.otherwise.rewriting`); ``rewritten`` is ``rewritten-0``. An order applies to what
  the algorithm reads, and a split to what is left to the device.
* ``jitter-N``: elementwise functions are off by up to one ulp in a pattern of their bits keyed by N, as other libraries
  are; ``jitter`` is ``jitter-0``.

Under an exact profile the same names stand for machines of which nothing shows
(:mod:`counterfoil_core.arithmetic.otherwise.exact_imitations`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from counterfoil_core.arithmetic.compute.operation import Compute, Operation, native, piece
from counterfoil_core.arithmetic.otherwise.exact_imitations import ExactImitation
from counterfoil_core.arithmetic.otherwise.reordering import BACKWARDS, Change, Order, in_parts, reorder_sums
from counterfoil_core.arithmetic.otherwise.rewriting import VARIANTS, rewritten
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.operators.facts import OperatorClass, Trait

PERTURBATIONS = ("reversed", "split", "jitter", "rewritten")
"""One of each sort; calibration measures with these."""

_PART = re.compile(r"(?P<sort>reversed|shuffled|split|rewritten|jitter)(?:-(?P<number>[0-9]{1,9}))?")
_LARGEST_SPLIT = 1024


def perturb(name: str) -> Compute:
    """Return the executor of a perturbation.

    Raises:
        ValueError: There is no perturbation of that name; the message says which there are.
    """
    return _Perturbation.parse(name).compute


def exactly_perturbed(name: str, profile: Profile) -> Compute:
    """Return the executor of a perturbation under an exact profile, in which it must not show.

    Functions are moved where the name has ``jitter`` or ``rewritten``: by all of the error that is allowed for.

    Args:
        name: Its name.
        profile: The profile, and the forms of products that this machine uses.

    Raises:
        ValueError: There is no perturbation of that name.
    """
    found = _Perturbation.parse(name)
    move = found.jitter if found.jitter is not None else found.rewriting
    return ExactImitation(
        profile, replace(found, jitter=None).compute, order=found.order, variant=found.rewriting, move=move
    ).compute


def kinds(name: str) -> frozenset[str]:
    """The operator kinds whose computation a perturbation reorders or rewrites."""
    perturbation = _Perturbation.parse(name)
    return frozenset(perturbation.changes) | frozenset(perturbation.rewritings)


@dataclass(frozen=True)
class _Perturbation:
    """What a name stands for."""

    order: Order | None = None  #: The order of reduced axes; None as they are.
    parts: int = 1  #: Number of parts of a reduction; 1 is whole.
    rewriting: int | None = None  #: Which set of other algorithms; None leaves them to the device.
    jitter: int | None = None  #: Key of the pattern of last bits; None leaves them.

    @classmethod
    def parse(cls, name: str) -> _Perturbation:
        found: dict[str, Any] = {}
        for part in name.split("+"):
            match = _PART.fullmatch(part)
            if match is None:
                raise _unknown(name)
            field, value = _field(match["sort"], None if match["number"] is None else int(match["number"]))
            if value is None or field in found:
                raise _unknown(name)
            found[field] = value
        return cls(**found)

    @cached_property
    def changes(self) -> Mapping[str, Change]:
        if self.parts > 1:
            return in_parts(self.parts, self.order or BACKWARDS)
        return {} if self.order is None else reorder_sums(self.order)

    @cached_property
    def rewritings(self) -> Mapping[str, Change]:
        return {} if self.rewriting is None else rewritten(self.rewriting)

    def compute(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        entry = operation.node.entry
        if entry.operator_class is not OperatorClass.ROUNDED:
            return native(operation, args, kwargs)
        form = operation.own_form(args, kwargs)
        result = self._changed(operation, args, kwargs) if form is None else form(self._piece)
        last_bits = Trait.LAST_BIT in entry.traits
        return result if self.jitter is None or not last_bits else _jittered(result, self.jitter)

    def _changed(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        kind = operation.node.entry.kind
        rewriting, change = self.rewritings.get(kind), self.changes.get(kind, native)
        if rewriting is None:
            return change(operation, args, kwargs)
        return change(replace(operation, function=_Function(operation, rewriting)), args, kwargs)

    def _piece(self, name: str, *args: Any) -> Any:
        """Compute a piece of an own form."""
        return self.compute(piece(name), list(args), {})


class _Function:
    """An operator by another algorithm, to be called like torch's."""

    def __init__(self, operation: Operation, rewriting: Change) -> None:
        self._operation = operation
        self._rewriting = rewriting
        self._schema = operation.function._schema

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._rewriting(self._operation, list(args), kwargs)


def _field(sort: str, number: int | None) -> tuple[str, Order | int | None]:
    """Return the field that a part of a name sets, and its value; None where the number is wrong."""
    if sort == "reversed":
        return "order", BACKWARDS if number is None else None
    if sort == "shuffled":
        return "order", None if number is None else Order(number)
    if sort == "split":
        parts = 2 if number is None else number
        return "parts", parts if 2 <= parts <= _LARGEST_SPLIT else None
    if sort == "rewritten":
        return "rewriting", (number or 0) if (number or 0) < VARIANTS else None
    return "jitter", number or 0


def _unknown(name: str) -> ValueError:
    return ValueError(
        f"There is no perturbation {name!r}. A name is one of reversed and shuffled-N, split-K with K from 2 to "
        f"{_LARGEST_SPLIT}, rewritten-0 and rewritten-1, and jitter-N, or several of these joined by +; for instance "
        f"{', '.join(PERTURBATIONS)} or shuffled-6+rewritten-1+jitter-4."
    )


def _jittered(result: Any, key: int) -> Any:
    """Move each element by -1, 0 or 1 ulp, as its own bits decide."""
    if not isinstance(result, Tensor) or result.dtype not in (torch.float64, torch.float32):
        return result
    bits = result.contiguous().view(torch.int64 if result.dtype == torch.float64 else torch.int32)
    # Zero and infinity are special values in every library; the low bits of the rest decide.
    ordinary = (result != 0) & torch.isfinite(result)
    shift = ((bits.long() ^ key) * -7046029254386353131 >> 61) % 3 - 1
    return torch.where(ordinary, (bits + shift.to(bits.dtype)).view(result.dtype), result)
